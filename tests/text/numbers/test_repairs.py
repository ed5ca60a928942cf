import pytest

from nlgauge.text.numbers.repairs import is_attributive, is_hyphenated, with_article, with_capital


@pytest.mark.parametrize(
    ("text", "edit", "expected"),
    [
        ("an 8 here", (3, 4, "5"), [(0, 2, "a"), (3, 4, "5")]),
        ("a 5 here", (2, 3, "8"), [(0, 1, "an"), (2, 3, "8")]),
        ("A 5 here", (2, 3, "11"), [(0, 1, "An"), (2, 3, "11")]),
        ("an 8 here", (3, 4, "eight"), [(3, 4, "eight")]),
        ("a 100 here", (2, 5, "one hundred"), [(2, 5, "one hundred")]),
        ("the 8 here", (4, 5, "5"), [(4, 5, "5")]),
        ("vista 8", (6, 7, "5"), [(6, 7, "5")]),
        ("a (8) here", (3, 4, "5"), [(3, 4, "5")]),
        ("an “8” here", (4, 5, "5"), [(0, 2, "a"), (4, 5, "5")]),
    ],
)
def test_an_article_before_a_number_follows_its_sound(text, edit, expected):
    assert with_article(text, edit, edit[0]) == expected


def test_an_article_stands_before_the_sign_of_a_currency():
    assert with_article("an $8 bill", (4, 5, "5"), 3) == [(0, 2, "a"), (4, 5, "5")]


def test_a_sentence_begins_with_a_capital_and_its_middle_does_not():
    text = "8 left. 8 of 8 stayed. “8 came,” he said: “8 went.” 8"
    places = [i for i, c in enumerate(text) if c == "8"]
    edits = with_capital(text, [(i, i + 1, "eight") for i in places])
    assert [new for *_, new in edits] == ["Eight", "Eight", "eight", "Eight", "Eight", "Eight"]


def test_what_trails_off_goes_on():
    assert with_capital("Well... 8 left.", [(8, 9, "eight")]) == [(8, 9, "eight")]


@pytest.mark.parametrize(
    ("text", "attributive"),
    [
        ("the $5 bill", True),
        ("a $5 fine", True),
        ("its whole $5 budget", True),
        ("the $5 of it", False),
        ("the $5 collected", False),
        ("the $5 yesterday", False),
        ("the $5 Monday", False),
        ("spent $5 badly", False),
        ("spent $5 here", False),
        ("the $5", False),
        ("the $5, bill", False),
        ("the $5 x", False),
    ],
)
def test_without_tags_a_determiner_and_the_next_word_tell_what_an_amount_describes(text, attributive):
    start = text.index("$")
    assert is_attributive(text, start, start + 2, {}) == attributive


@pytest.mark.parametrize(
    ("text", "tags", "attributive"),
    [
        ("spent $5 money", {9: "NN"}, True),
        ("spent $5 lost", {9: "VBD"}, False),
        ("the $5 lost", {7: "VBN"}, False),
        ("the $5 ride", {7: "VB"}, True),
        ("the $5 fast ride", {7: "JJ", 12: "NN"}, True),
        ("paid $5 fast ride", {8: "JJ", 13: "NN"}, False),
        ("the $5 fast", {7: "JJ"}, False),
    ],
)
def test_tags_tell_better(text, tags, attributive):
    start = text.index("$")
    assert is_attributive(text, start, start + 2, tags) == attributive


@pytest.mark.parametrize(
    ("text", "hyphenated"), [("8-year", True), ("8-", False), ("8- to", False), ("8-9", False), ("8 year", False)]
)
def test_a_hyphen_before_a_letter_binds(text, hyphenated):
    assert is_hyphenated(text, 1) == hyphenated
