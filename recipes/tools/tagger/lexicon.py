"""Pack the lexicon of Brill's tagger, as textblob 0.20.1 carries it, into one line of words per part of speech.

python recipes/tools/tagger/lexicon.py textblob/en/en-lexicon.txt src/nlgauge/data/language/brill.txt.gz
"""

import gzip
import re
import sys
from collections import defaultdict
from pathlib import Path

# Words the tokeniser can give: letters, with periods for abbreviations and apostrophes inside. No entries with hyphens,
# digits or marks.
WORD = re.compile(r"[^\W\d_]+(?:['.][^\W\d_]+)*\.?")
TAGS = frozenset(
    "CC CD DT EX FW IN JJ JJR JJS MD NN NNP NNPS NNS PDT PRP PRP$ RB RBR RBS RP SYM TO UH VB VBD VBG VBN VBP VBZ WDT WP"
    " WP$ WRB".split()
)


def main(source: str, target: str) -> None:
    words = defaultdict(list)
    for line in Path(source).read_text(encoding="utf-8").splitlines():
        word, _, tag = line.partition(" ")
        if not line.startswith(";;;") and WORD.fullmatch(word) and tag.strip() in TAGS:
            words[tag.strip()].append(word)
    lines = [" ".join([tag, *sorted(set(words[tag]))]) + "\n" for tag in sorted(words)]
    with (
        open(target, "wb") as raw,
        gzip.GzipFile("", "wb", 9, raw, mtime=0) as packed,
    ):  # no name and no time: the same bytes every time
        packed.write("".join(lines).encode())
    print(sum(map(len, words.values())), "words")


if __name__ == "__main__":
    main(*sys.argv[1:])
