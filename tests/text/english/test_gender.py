import pytest

from nlgauge.text.english.gender import _table, counterpart, possessive_mark, pronoun_of_other_gender
from nlgauge.text.languages import language


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("girls", "boys"),
        ("women", "men"),
        ("gentleman", "lady"),
        ("policemen", "policewomen"),
        ("countess", "count"),
        ("ox", "cow"),
    ],
)
def test_counterparts_agree_in_number(word, other):
    assert counterpart(word).word == other


@pytest.mark.parametrize("word", ["count", "host", "god", "child", "human", "fox"])
def test_words_that_mean_more_have_none(word):
    assert counterpart(word) is None


def test_no_noun_is_its_own_counterpart_and_genders_differ():
    for word, other in _table().items():
        assert word != other.word
        back = counterpart(other.word)
        assert back is None or back.was != other.was


@pytest.mark.parametrize(
    ("word", "plural", "mark", "expected"),
    [
        ("gentlemen", True, "'", "'s"),
        ("ladies", True, "’s", "’"),
        ("actor", False, "'s", "'s"),
        ("boys", True, "'", "'"),
    ],
)
def test_possessive_marks(word, plural, mark, expected):
    assert possessive_mark(word, plural, mark) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He saw her.", ["she", None, "him", None]),
        ("She lost her hat.", ["he", None, "his", None, None]),
        ("It is his.", [None, None, "hers", None]),
        ("his dog", ["her", None]),
        ("They saw himself", [None, None, "herself"]),
    ],
)
def test_pronouns_go_by_what_follows(text, expected):
    doc = language().analyse(text)
    assert [pronoun_of_other_gender(doc, t) for t in doc.tokens] == expected
