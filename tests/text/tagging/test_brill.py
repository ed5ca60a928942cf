"""The lexicon of Brill's tagger: which tags are on record for a word."""

import pytest

from nlgauge.text.doc import Token
from nlgauge.text.tagging.brill import is_name_like, keeps_capital, known_tags, noun_or_verb, words_by_tag

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


@pytest.mark.parametrize(
    ("text", "tag", "expected"),
    [
        ("Anna", "NNP", True),
        ("I", "PRP", True),
        ("NATO", "NN", True),
        ("German", "JJ", True),
        ("House", "NN", False),
        ("A", "DT", False),
        ("the", "DT", False),
    ],
)
def test_what_keeps_its_capital_inside_a_sentence(text, tag, expected):
    assert is_name_like(Token(0, 0, len(text), text, tag)) is expected
