"""The lexicon of Brill's tagger: which tags are on record for a word."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.text import tagging
from nlgauge.text.doc import Token
from nlgauge.text.tagging import (
    EDGE,
    Word,
    is_name_like,
    keeps_capital,
    known_tags,
    noun_or_verb,
    sentence_case,
    tag,
    words_by_tag,
)
from nlgauge.text.tokenize import word_spans

TAGS = frozenset(
    "# $ '' , -LRB- -RRB- . : CC CD DT EX FW IN JJ JJR JJS LS MD NN NNP NNPS NNS PDT POS PRP PRP$ RB RBR RBS RP SYM TO"
    " UH VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB ``".split()
)


def test_known_words():
    assert known_tags("table") == ("NN",)
    assert known_tags("house") == ("NN", "NNP")  # the House
    assert known_tags("May") == ("NNP", "MD")
    assert known_tags("london") == ("NNP",)
    assert known_tags("didn’t") == known_tags("didn't")
    assert known_tags("hosue") == ()
    assert known_tags("") == ()


@pytest.mark.parametrize(
    ("word", "kinds"),
    [("bark", "vn"), ("ends", "ZS"), ("happily", ""), ("tables", "ZS"), ("hope", "vn"), ("", ""), ("7", "")],
)
def test_nouns_and_verbs_are_told_by_their_forms(word, kinds):
    assert noun_or_verb(word) == kinds


def test_words_stand_in_order_under_one_tag_each():
    table = words_by_tag()
    assert set(table) <= TAGS
    words = [word for listed in table.values() for word in listed]
    assert len(set(words)) == len(words) > 70_000
    assert all(list(listed) == sorted(listed) for listed in table.values())
    assert "quickly" in table["RB"]


def test_words_with_a_capital_of_their_own():
    assert keeps_capital("German")
    assert keeps_capital("Monday")
    assert not keeps_capital("House")
    assert not keeps_capital("german")
    assert not keeps_capital("Hosue")
    assert not keeps_capital("")


def test_what_keeps_its_capital_inside_a_sentence(cases):
    for text, its_tag, expected in cases:
        assert is_name_like(Token(0, 0, len(text), text, its_tag)) is (expected == "yes")


# --- What the tagger looks at: words folded, and what they say of themselves and of those beside them


def test_how_a_sentence_is_written(cases):
    for words, case in cases:
        assert sentence_case(words.split()) == case


def test_words_are_folded():
    word = Word("McDonald’s", "N")
    assert (word.form, word.lower, word.shape) == ("McDonald's", "mcdonald's", "NXxXx'x")
    assert Word("1,250.5", "N").lower == "0,000.0"
    assert Word("1,250.5", "N").shape == "N0,0.0"
    assert Word("a" * 50, "N").lower == "a" * 32


def test_what_is_known_of_a_word_is_its_tags_and_its_other_uses():
    assert Word("table", "N").known == "NN/vn"
    assert Word("hosue", "N").known == "?"
    assert Word(EDGE, "N").known == EDGE
    assert Word("LONDON", "U").known == Word("london", "N").known


def test_finite_verbs_and_borders_are_marked():
    assert Word("went", "N").finite
    assert not Word("dog", "N").finite
    assert Word("because", "N").borders
    assert Word(",", "N").borders
    assert not Word("dog", "N").borders


def test_a_capital_inside_counts_as_its_own_feature():
    assert "c London" in tagging.own(Word("London", "N"))
    assert not any(f.startswith("c ") for f in tagging.own(Word("london", "N")))


def test_neighbours_are_named_by_their_distance():
    word = Word("dogs", "N")
    assert "w- dogs" in tagging.before(word)
    assert "w-- dogs" in tagging.before2(word)
    assert "w+ dogs" in tagging.after(word)
    assert "w++ dogs" in tagging.after2(word)
    assert tagging.kinds_around("DT", "NN", "VBZ") == ["kk DT NN", "kk+ NN VBZ", "k-k+ DT VBZ"]
    assert tagging.of_clitic("'s", "dog", "NN") == ["cw 's dog", "ck 's NN", "cs 's og"]


# --- Parts of speech: sentences that templates hang on, what holds for any words, and agreement with tagged English

DATA = os.environ.get("NLGAUGE_DATA")
TAGGING_TAGS = frozenset(
    "# $ '' , -LRB- -RRB- . : ADD AFX CC CD DT EX FW GW HYPH IN JJ JJR JJS LS MD NFP NN NNP NNPS NNS PDT POS PRP PRP$"
    " RB RBR RBS RP SYM TO UH VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB XX ``".split()
)


def tags_of(text: str) -> list[str]:
    return tag([text[start:end] for start, end in word_spans(text)])


# Written word/TAG where the tag matters; other words are not asked about.
def test_words_that_templates_ask_about(cases):
    for marked in cases:
        pairs = [word.rpartition("/") if "/" in word else (word, "", None) for word in marked.split()]
        found = tag([word for word, _, _ in pairs])
        wrong = [
            (word, mine, asked)
            for (word, _, asked), mine in zip(pairs, found, strict=True)
            if asked not in (None, mine)
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
    assert set(found) <= TAGGING_TAGS


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
        import nlgauge.text.tagging, nlgauge.text.tagging, nlgauge.text.tokenize
    """
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.skipif(DATA is None, reason="NLGAUGE_DATA is not set")
@pytest.mark.parametrize(
    ("file", "least"), [("pud.test.jsonl.gz", 0.95), pytest.param("ewt.test.jsonl.gz", 0.95, marks=pytest.mark.slow)]
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
