"""Blanks around an edit, as a writer sets them; everything goes through the edits that need them."""

import pytest

from nlgauge.perturbations.spacing import is_mark
from nlgauge.perturbations.synthesis.stratum import Stratum

RAIN = "The rain, it fell (hard) today."
#       1   2   3 4  5    6 7  8 9    10


def after(text, operation, *arguments):
    stratum = Stratum(text)
    getattr(stratum, operation)(*arguments)
    return stratum.text


@pytest.mark.parametrize(
    ("start", "phrase", "expected"),
    [
        (2, "heavy", "The rain heavy, it fell (hard) today."),  # no blank before the comma that was there
        (1, ",", "The, rain, it fell (hard) today."),  # nor before one that comes in
        (0, "Then", "Then The rain, it fell (hard) today."),
        (6, "very", "The rain, it fell (very hard) today."),  # behind a bracket that opens
        (7, "indeed", "The rain, it fell (hard indeed) today."),  # before one that closes
        (8, ",", "The rain, it fell (hard), today."),
        (9, "or tomorrow", "The rain, it fell (hard) today or tomorrow."),
        (5, "(they say)", "The rain, it fell (they say) (hard) today."),
    ],
)
def test_what_comes_in_is_parted_by_blanks_as_words_and_marks_are(start, phrase, expected):
    assert after(RAIN, "insert", start, phrase) == expected


@pytest.mark.parametrize(
    ("start", "span", "expected"),
    [
        (1, 1, "The, it fell (hard) today."),
        (2, 1, "The rain it fell (hard) today."),
        (0, 1, "rain, it fell (hard) today."),
        (9, 1, "The rain, it fell (hard) today"),
        (8, 2, "The rain, it fell (hard)"),
        (5, 3, "The rain, it fell today."),
        (5, 1, "The rain, it fell hard) today."),
    ],
)
def test_where_words_go_no_blank_is_left_twice(start, span, expected):
    assert after(RAIN, "delete", start, span) == expected


@pytest.mark.parametrize(
    ("start", "phrase", "expected"),
    [
        (1, "snow", "The snow, it fell (hard) today."),
        (2, "and", "The rain and it fell (hard) today."),  # a word for a mark
        (3, ";", "The rain,; fell (hard) today."),  # a mark for a word
        (9, "again", "The rain, it fell (hard) today again"),
        (6, "very hard", "The rain, it fell (very hard) today."),
    ],
)
def test_a_word_in_the_place_of_a_mark_gets_a_blank_and_a_mark_loses_it(start, phrase, expected):
    assert after(RAIN, "replace", start, 1, phrase) == expected


@pytest.mark.parametrize(
    ("start", "distance", "expected"),
    [
        (0, 1, "rain The, it fell (hard) today."),
        (2, 1, "The rain it, fell (hard) today."),
        (8, 1, "The rain, it fell (hard). today"),
        (0, 4, "fell rain, it The (hard) today."),
    ],
)
def test_tokens_that_change_places_leave_the_blanks_but_those_of_marks(start, distance, expected):
    assert after(RAIN, "swap", start, distance) == expected


@pytest.mark.parametrize(
    ("text", "operation", "arguments", "expected"),
    [
        (
            '"Go," he said.',
            "insert",
            (1, "Please"),
            '"Please Go," he said.',
        ),  # a plain quote opens where a word follows at once
        ('"Go," he said.', "insert", (3, "then"), '"Go, then" he said.'),  # and closes where it touches what is before
        ('"Go," he said.', "insert", (0, "So"), 'So "Go," he said.'),
        ('"Go," he said.', "delete", (2, 1), '"Go" he said.'),
        ("rain--snow", "delete", (1, 1), "rain snow"),  # two words never become one
        ("One line\nand another", "delete", (1, 1), "One\nand another"),  # a line that ended still does
        ("  indented text here", "delete", (0, 1), "  text here"),
        ("  indented text here", "insert", (0, "some"), "  some indented text here"),
        ("ends in blanks  ", "delete", (2, 1), "ends in  "),
        ("a b  c\td", "insert", (1, "x"), "a x b  c\td"),  # elsewhere blanks stay as they are
        ("今天下雨，路滑。", "insert", (2, "又"), "今天又下雨，路滑。"),  # no blanks where the script has none
        ("今天下雨，路滑。", "delete", (4, 1), "今天下雨路滑。"),
        ("今天下雨，路滑。", "replace", (4, 1, "又"), "今天下雨又路滑。"),
        ("今天下雨，路滑。", "swap", (0, 2), "下天今雨，路滑。"),
        ("今天 GDP 增长", "insert", (2, "新"), "今天 新GDP 增长"),
        ("السفينة غادرت، ثم عادت", "insert", (2, "أمس"), "السفينة غادرت أمس، ثم عادت"),
    ],
)
def test_quotes_lines_and_other_scripts(text, operation, arguments, expected):
    assert after(text, operation, *arguments) == expected


def test_a_mark_has_neither_letters_nor_digits():
    assert [t for t in ("a", "5%", ",", "—", "€", "今", "。") if is_mark(t)] == [",", "—", "€", "。"]
