"""Where gaps are, what can stand there, and with which capitals."""

import numpy as np
import pytest

from nlgauge.models.infill.gaps import Gap
from nlgauge.models.infill.pieces import PieceTokenizer
from nlgauge.models.infill.spelling import Spelling, stands
from nlgauge.models.locate import locate

torch = pytest.importorskip("torch")


@pytest.mark.parametrize(
    ("before", "old", "after", "place", "sentence"),
    [
        ("", "The", " cat", "first", True),
        (" ", "The", " cat", "first", True),
        ("A ", "cat", " sat.", "word", False),
        ("It rained. ", "We", " slept.", "word", True),
        ('It rained." ', "We", " slept.", "word", True),
        ("Rain\n", "Snow", "", "word", True),
        ('He said "', "Go", '"', "inside", False),
        ('"', "Go", '", he said', "inside", True),
        ("(", "maybe", ")", "inside", True),
        ("A cat", ".", "", "behind", False),
        ("They did", "n't", " come", "behind", False),
        ("A cat", "", " sat", "word", False),  # put in between: a word of its own, on whichever side of the blank
        ("A cat ", "", "sat", "word", False),
        ("A cat", "", "", "word", False),
        ("A cat.", "", " It sat", "word", True),
        ("", "", "A cat", "first", True),
    ],
)
def test_where_a_gap_is(before, old, after, place, sentence):
    assert stands(Gap(before + old + after, len(before), len(before) + len(old))) == (place, sentence)


def words(spelling, place):
    return {spelling.bare[i] for i in np.flatnonzero(spelling.fit[place])}


def test_of_wordpiece_all_but_continuations_fit_everywhere(tiny_model):
    spelling = Spelling.of(PieceTokenizer(locate(str(tiny_model("bert")))))
    for place in ("first", "word", "inside", "behind"):
        assert {"cat", "the", ",", "今"} <= words(spelling, place)
        assert not {"", "[MASK]", "##a"} & words(spelling, place)


def test_with_marked_blanks_the_place_says_which_pieces_fit(tiny_model):
    roberta = Spelling.of(PieceTokenizer(locate(str(tiny_model("roberta")))))
    assert {"cat", "the", "t", ","} <= words(roberta, "word")  # Ġcat, Ġthe, Ġt and the signs
    assert "h" not in words(roberta, "word")  # goes on a word
    assert {"h", "cat"} <= words(roberta, "inside") & words(
        roberta, "first"
    )  # after a bracket or at the start there is no blank
    assert "," in words(roberta, "behind")
    assert "cat" not in words(roberta, "behind")
    xlm = Spelling.of(PieceTokenizer(locate(str(tiny_model("xlm-roberta")))))
    assert words(xlm, "first") == words(xlm, "word") >= {"cat", "."}  # its texts begin with a marked piece


def of(bare, capital=None, uncased=True):
    fit = dict.fromkeys(("first", "word", "inside", "behind"), np.ones(len(bare), dtype=bool))
    return Spelling(bare, fit, uncased, None if capital is None else np.array(capital, dtype=bool))


def test_the_best_come_first_each_word_once():
    spelling = of(["cat", "dog", "cat", "rug"])  # the first and the third are cat with and without a blank before it
    said = torch.tensor([-1.0, -3.0, -2.0, -4.0])
    assert spelling.best(said, stands(Gap("a cat", 2, 5)), 3)[0] == [(0, -1.0), (1, -3.0), (3, -4.0)]
    assert spelling.best(said, stands(Gap("a cat", 2, 5)), 1)[0] == [(0, -1.0)]


@pytest.mark.parametrize(("k", "least"), [(1, 3.0), (2, 2.0), (3, 2.0), (4, 1.0)])
def test_the_closest_call_is_told(k, least):
    spelling = of(["cat", "dog", "rug", "mat", "sun"])
    # 3, 2, 9 and 1 apart; the last word asked for is held against the next
    said = torch.tensor([-1.0, -4.0, -6.0, -16.0, -15.0])
    assert spelling.best(said, stands(Gap("a cat", 2, 5)), k)[1] == least


def test_a_call_without_another_choice_is_never_close():
    assert of(["cat"]).best(torch.tensor([-1.0]), stands(Gap("a cat", 2, 5)), 3) == ([(0, -1.0)], float("inf"))


@pytest.mark.parametrize(
    ("word", "text", "old", "written"),
    [
        ("town", "London is big.", "London", "Town"),  # a sentence begins
        ("town", "He saw London.", "London", "town"),  # which words are names is known, and this is none
        ("paris", "He saw a town.", "town", "Paris"),
        ("eu", "He saw the town.", "town", "EU"),
        ("town", "HE SAW LONDON", "LONDON", "TOWN"),
        ("town", "it rained", "it", "town"),
        ("town", "Yes! Cats came", "Cats", "Town"),
    ],
)
def test_a_model_without_capitals_gets_them(word, text, old, written):
    bare = ["town", "paris", "eu"]
    spelling = of(bare, [[False, True, True], [False, False, True]])
    gap = Gap(text, text.index(old), text.index(old) + len(old))
    assert spelling.written(bare.index(word), gap, stands(gap)) == written


def test_where_names_are_not_known_the_word_before_tells():
    gap = Gap("He saw London.", 7, 13)
    assert of(["paris"]).written(0, gap, stands(gap)) == "Paris"
    assert of(["paris"], uncased=False).written(0, gap, stands(gap)) == "paris"  # this model writes capitals itself
    between = Gap("He saw London.", 6, 6)
    assert of(["great"]).written(0, between, stands(between)) == "great"
    start = Gap("Boats sailed.", 0, 0)
    assert of(["great"]).written(0, start, stands(start)) == "Great"
