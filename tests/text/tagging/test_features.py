"""What the tagger looks at: words folded, and what they say of themselves and of those beside them."""

import pytest

from nlgauge.text.tagging import features
from nlgauge.text.tagging.features import EDGE, Word, sentence_case


@pytest.mark.parametrize(
    ("words", "case"),
    [
        ("two dogs bark", "L"),
        ("TWO DOGS BARK", "U"),
        ("TWO DOGS DON n't BARK", "U"),
        ("Two Dogs Bark Loudly Today", "T"),
        ("Two dogs bark", "N"),
        ("The dog saw Anna", "N"),
        ("12 , 13", "L"),
    ],
)
def test_how_a_sentence_is_written(words, case):
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
    assert "c London" in features.own(Word("London", "N"))
    assert not any(f.startswith("c ") for f in features.own(Word("london", "N")))


def test_neighbours_are_named_by_their_distance():
    word = Word("dogs", "N")
    assert "w- dogs" in features.before(word)
    assert "w-- dogs" in features.before2(word)
    assert "w+ dogs" in features.after(word)
    assert "w++ dogs" in features.after2(word)
    assert features.kinds_around("DT", "NN", "VBZ") == ["kk DT NN", "kk+ NN VBZ", "k-k+ DT VBZ"]
    assert features.of_clitic("'s", "dog", "NN") == ["cw 's dog", "ck 's NN", "cs 's og"]
