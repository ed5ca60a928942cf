"""Parts of speech: sentences that templates hang on, what holds for any words, and agreement with tagged English."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.text.tagging.tagging import tag
from nlgauge.text.words import word_spans

DATA = os.environ.get("NLGAUGE_DATA")
TAGS = frozenset(
    "# $ '' , -LRB- -RRB- . : ADD AFX CC CD DT EX FW GW HYPH IN JJ JJR JJS LS MD NFP NN NNP NNPS NNS PDT POS PRP PRP$"
    " RB RBR RBS RP SYM TO UH VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB XX ``".split()
)


def tags_of(text: str) -> list[str]:
    return tag([text[start:end] for start, end in word_spans(text)])


# Written word/TAG where the tag matters; other words are not asked about.
@pytest.mark.parametrize(
    "marked",
    [
        # 's: is, has, a possessive
        "It 's/VBZ raining .",
        "He 's/VBZ gone and Ann 's/POS cat is/VBZ here .",
        "What 's/VBZ that/DT man/NN 's/POS name ?",
        "The girls '/POS team won .",
        "The dog 's/VBZ barking/VBG .",
        "They 'd/VBD been/VBN there ; she 'd/MD never/RB do/VB that/DT .",
        # that
        "The/DT girl/NN that/WDT you/PRP saw/VBD said/VBD that/IN that/DT book/NN is/VBZ hers .",
        # verbs behind modals and auxiliaries, with words between
        "They might/MD not/RB have/VB been/VBN told/VBN .",
        "He has/VBZ n't/RB yet/RB eaten/VBN .",
        "She will/MD never/RB ever/RB leave/VB .",
        "Do/VBP you know/VB him ?",
        "She did/VBD not/RB see/VB what he had/VBD done/VBN .",
        "You ca/MD n’t/RB swim/VB here .",
        # agreement
        "The dogs/NNS bark/VBP and the cat/NN sleeps/VBZ .",
        "He works/VBZ for the U.S./NNP Army/NNP and plays/VBZ well .",
        "Her/PRP$ brother saw/VBD her/PRP .",
        # the first word, captions, headlines
        "Dogs/NNS like/VBP bones .",
        "Will/MD they/PRP come/VB ?",
        "a/DT man/NN riding/VBG a/DT bike/NN down/IN the/DT street/NN",
        "two/CD dogs/NNS are/VBP playing/VBG with/IN a/DT red/JJ ball/NN",
        "TWO/CD MEN/NNS WERE/VBD SEEN/VBN IN/IN LONDON/NNP",
    ],
)
def test_words_that_templates_ask_about(marked):
    pairs = [word.rpartition("/") if "/" in word else (word, "", None) for word in marked.split()]
    found = tag([word for word, _, _ in pairs])
    wrong = [
        (word, mine, asked) for (word, _, asked), mine in zip(pairs, found, strict=True) if asked not in (None, mine)
    ]
    assert wrong == []


@pytest.mark.parametrize("words", [[], [""], ["."], ["\ud800"], ["字"], ["-"], ["'"], ["’s"], ["…", "…"], ["<s>"]])
def test_sentences_of_hardly_anything(words):
    assert len(tag(words)) == len(words)


def test_a_text_without_sentences_is_read_in_pieces():
    piece = ["the", "dog", "barks", "."] * 250
    assert tag(piece * 3) == tag(piece) * 3


@given(text=st.text(st.one_of(st.characters(), st.sampled_from("aeiou nst' ’.9-"))))
def test_every_word_gets_a_tag_of_the_treebank(text):
    found = tags_of(text)
    assert len(found) == len(word_spans(text))
    assert set(found) <= TAGS


@given(
    sentences=st.lists(
        st.lists(st.sampled_from("the The a dog dogs runs ran did not n't ’s to and . LONDON 7".split()), max_size=9),
        max_size=4,
    )
)
def test_a_sentence_is_tagged_alike_whatever_came_before(sentences):
    assert [tag(words) for words in sentences] == [tag(words) for words in reversed(sentences)][::-1]


@given(
    words=st.lists(
        st.sampled_from(["he", "’s", "n’t", "do", "Ann", "’", "dogs", "“", "”", "would", "’d", "gone"]), max_size=8
    )
)
def test_the_kind_of_apostrophe_does_not_matter(words):
    assert tag(words) == tag([word.replace("’", "'") for word in words])


def test_importing_reads_no_table():
    program = """if True:
        import gzip
        gzip.decompress = None
        import nlgauge.text.tagging.brill, nlgauge.text.tagging.tagging, nlgauge.text.words
    """
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.skipif(DATA is None, reason="NLGAUGE_DATA is not set")
@pytest.mark.parametrize(
    ("file", "least"), [("pud.test.jsonl.gz", 0.95), ("ewt.test.jsonl.gz", 0.95)]
)  # measured: 0.954, 0.955
def test_tags_agree_with_treebanks(file, least):
    right = asked = 0
    with gzip.open(Path(DATA, "ud", file), "rt", encoding="utf-8") as lines:
        for line in lines:
            tokens = json.loads(line)["tokens"]
            found = tag([form for form, *_ in tokens])
            right += sum(mine == theirs for mine, (_, _, _, theirs, _) in zip(found, tokens, strict=True))
            asked += len(tokens)
    assert right / asked >= least
