"""Rule-made pairs for the robust NLI head:

    python rules.py OUT SEED --texts FILE ... --pairs FILE ... --held-out FILE ... --keep N --kept FILE ...

Texts: raw sentences, one per line. Pairs: JSON lines that may be trained on; their premises serve as texts, and what
rules do to a hypothesis that follows from its premise gives pairs that differ in more than one word. Sentences that
occur in a held-out file are left out. Kept: JSON lines of which N are taken as they are, so that what was learnt from
them is not lost.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

from frames import frames, named
from structures import fronted, passive, swapped

from nlgauge import perturb
from nlgauge.core.result import replacing

E, N, C = "entailment", "neutral", "contradiction"
LONGEST, LONGEST_PAIR = (
    180,
    240,
)  # characters of a text, and of both texts of a pair: what is longer costs time and teaches little more

# Template -> pairs wanted. The text with the change, beside the text as it was, in either order:
WRONG = {  # one says what the other denies
    "number_error": 1800,
    "change_numbers": 800,
    "number_and_negation": 400,
    "negation": 3000,
    "pronoun_error": 1200,
    "name_error": 1600,
    "antonyms:pos=any": 1800,
    "antonyms": 1200,
    "mismatch_noun": 1200,
    "mismatch_verb": 1200,
    "mismatch_adj": 1000,
    "change_attributes": 1200,
    "change_gender": 800,
    "hyponyms:relation=sibling": 3500,
}
LESS = {
    "omission": 1500,
    "drop_adjectives": 1200,
    "hyponyms:relation=hypernym": 1500,
}  # follows from the text; the text does not follow from it
MORE = {"addition": 1500, "hyponyms": 1200}  # the other way round
SAME = {
    "synonyms": 2500,
    "synonyms_objects": 1000,
    "numbers_to_words": 1800,
    "contractions": 400,
    "expansions": 500,
}  # each follows from the other
OPEN = {"swap_objects": 1200}  # neither follows from the other
STRUCTURES = {"passive": 1200, "swapped": 1500, "fronted": 1000, "itself": 4000, "unrelated": 600}
FRAMES, NAMED = 5000, 1500
ON_PARAPHRASES = {
    "number_error": 700,
    "negation": 1200,
    "name_error": 300,
    "antonyms": 700,
    "mismatch_noun": 600,
    "mismatch_verb": 500,
    "hyponyms:relation=sibling": 900,
    "change_attributes": 500,
    "pronoun_error": 300,
}

# Words that turn round what follows from what: there, a sentence with less in it does not follow from one with more.
DOWN = re.compile(
    r"\b(no|not|never|none|nobody|nothing|neither|nor|without|few|fewer|less|least|most|if|unless|whether|every|each|all|any|only|hardly|barely|"
    r"rarely|seldom|deny|denied|denies|refuse\w*|fail\w*|cannot|almost|exactly|before|than|too|until|lack\w*|prevent\w*|avoid\w*|doubt\w*)\b|n['’]t\b|\?",
    re.IGNORECASE,
)
Row = tuple[str, str, str, str]  # premise, hypothesis, label, rule


def lines(path: str) -> list[str]:
    data = Path(path).read_bytes()
    return (gzip.decompress(data) if path.endswith(".gz") else data).decode("utf-8").split("\n")


def rows(path: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in lines(path) if line.strip()]


def folded(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


class Texts:
    """Sentences in a random order that each rule goes through from a place of its own."""

    def __init__(self, texts: list[str], rng: random.Random) -> None:
        self.texts, self.rng = texts, rng
        rng.shuffle(texts)

    def changed(
        self, template: str, wanted: int, fits: Callable[[str], bool] = lambda text: True
    ) -> Iterator[tuple[str, str]]:
        """Texts that a template applies to, and what becomes of them."""
        start = self.rng.randrange(len(self.texts))
        order = self.texts[start:] + self.texts[:start]
        found = 0
        for at in range(0, len(order), 500):
            block = [text for text in order[at : at + 500] if fits(text)]
            for text, made in zip(block, perturb(template, block), strict=True):
                if made is not None and found < wanted:
                    found += 1
                    yield text, made.text
            if found >= wanted:
                return


def is_upward(text: str) -> bool:
    return not DOWN.search(text)


def generate(texts: list[str], paraphrases: list[tuple[str, str]], seed: int, share: float) -> Iterator[Row]:
    rng = random.Random(seed)
    pool = Texts(texts, rng)
    for template, wanted in WRONG.items():
        for text, made in pool.changed(template, wanted):
            yield (*rng.choice([(text, made), (made, text)]), C, template)
    for template, wanted in SAME.items():
        for text, made in pool.changed(template, wanted):
            yield (*rng.choice([(text, made), (made, text)]), E, template)
    for template, wanted in OPEN.items():
        for text, made in pool.changed(template, wanted):
            yield text, made, N, template
    for less, table in ((True, LESS), (False, MORE)):
        for template, wanted in table.items():
            for text, made in pool.changed(template, wanted, is_upward):
                whole, part = (text, made) if less else (made, text)
                yield rng.choice([(whole, part, E, template), (part, whole, N, template)])
    yield from structures(pool.texts, rng)
    yield from frames(pool.texts, rng, int(FRAMES * share))
    yield from named(rng, int(NAMED * share))
    known = dict(paraphrases)
    premise_of = {hypothesis: premise for premise, hypothesis in known.items()}
    others = Texts(sorted(premise_of), rng)
    for template, wanted in ON_PARAPHRASES.items():
        for text, made in others.changed(template, wanted):
            yield premise_of[text], made, C, f"{template} on a paraphrase"


def kept(paths: list[str], wanted: int, seed: int) -> Iterator[Row]:
    found = [row for path in paths for row in rows(path)]
    for row in random.Random(seed).sample(found, wanted):
        yield row["premise"], row["hypothesis"], row["label"], "kept"


def structures(texts: list[str], rng: random.Random) -> Iterator[Row]:
    made: Counter[str] = Counter()
    for text in texts:
        turned = passive(text)
        if turned and made["passive"] < STRUCTURES["passive"]:
            made["passive"] += 1
            yield (*rng.choice([(text, turned), (turned, text)]), E, "passive")
        other = swapped(text)
        if other and made["swapped"] < STRUCTURES["swapped"]:
            made["swapped"] += 1
            yield text, (passive(other) if made["swapped"] % 3 == 0 else None) or other, N, "swapped"
        moved = fronted(text)
        if moved and made["fronted"] < STRUCTURES["fronted"]:
            made["fronted"] += 1
            yield (*rng.choice([(text, moved), (moved, text)]), E, "fronted")
        if all(made[rule] >= STRUCTURES[rule] for rule in ("passive", "swapped", "fronted")):
            break
    for text in rng.sample(texts, STRUCTURES["itself"]):
        yield text, text, E, "itself"
    for _ in range(STRUCTURES["unrelated"]):
        yield (*rng.sample(texts, 2), N, "unrelated")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out")
    parser.add_argument("seed", type=int)
    parser.add_argument("--keep", type=int, default=0)
    parser.add_argument("--share", type=float, default=1.0, help="of the pairs wanted of each rule")
    for option in ("--texts", "--pairs", "--held-out", "--kept"):
        parser.add_argument(option, nargs="*", default=[])
    given = parser.parse_args()
    for table in (WRONG, LESS, MORE, SAME, OPEN, STRUCTURES, ON_PARAPHRASES):
        table.update({rule: int(wanted * given.share) for rule, wanted in table.items()})
    held = {folded(row[side]) for path in given.held_out for row in rows(path) for side in ("premise", "hypothesis")}
    raw = [text for path in given.texts for text in lines(path)]
    trained = [row for path in given.pairs for row in rows(path)]
    texts = sorted(
        {t for t in (*raw, *(row["premise"] for row in trained)) if 20 <= len(t) <= LONGEST and folded(t) not in held}
    )
    paraphrases = sorted(
        (row["premise"], row["hypothesis"])
        for row in trained
        if row["label"] == E
        and len(row["premise"]) + len(row["hypothesis"]) <= 2 * LONGEST
        and not {folded(row["premise"]), folded(row["hypothesis"])} & held
    )
    counts: Counter[tuple[str, str]] = Counter()
    with replacing(given.out, "wb") as file, gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0) as packed:
        made = generate(texts, paraphrases, given.seed, given.share)
        for premise, hypothesis, label, rule in chain(made, kept(given.kept, given.keep, given.seed)):
            if len(premise) + len(hypothesis) > LONGEST_PAIR:
                continue
            counts[rule, label] += 1
            row = {"premise": premise, "hypothesis": hypothesis, "label": label, "rule": rule}
            packed.write((json.dumps(row, ensure_ascii=False) + "\n").encode())
    for (rule, label), n in sorted(counts.items()):
        print(f"{n:6d}  {label:13s}  {rule}")
    print(
        f"{counts.total():6d}  pairs of {len(texts)} texts and {len(paraphrases)} paraphrases -> {Path(given.out).name}"
    )


if __name__ == "__main__":
    main()
