import unicodedata
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.report.labels import clean, clusters, columns, ems, fold, number, shorten, visible

anything = st.text(st.characters(), max_size=12)  # lone surrogates and control characters too
FAMILY, FLAG, SNOWFLAKE = "👨\u200d👩\u200d👧", "🇯🇵", "❄\ufe0f"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("abc", 3),
        ("今日は", 6),  # East Asian wide: 2 each
        ("Ａ", 2),  # full width
        ("ｶ", 1),  # half width
        ("e\u0301te\u0301", 3),  # accents stand on their letters
        ("a\u200bb", 2),  # zero-width space
        (FAMILY, 2),  # one picture, drawn over two cells
        (FLAG, 2),
        (SNOWFLAKE, 2),
        ("👍🏽", 2),
        ("가", 2),  # one syllable of two jamo
        ("", 0),
    ],
)
def test_columns_are_terminal_cells(text, expected):
    assert columns(text) == expected


@given(st.text(st.characters(codec="ascii", categories=["L", "N", "P", "S"])))
def test_ascii_takes_one_column_a_character(text):
    assert columns(text) == len(text)


def test_a_wide_character_is_an_em_and_a_latin_letter_less():
    assert ems("今") == 1.0
    assert 0 < ems("i") < ems("n") < ems("m") <= 1.0
    assert ems("n\u0301") == ems("n")


@given(anything)
def test_a_clean_word_is_legal_in_xml_harmless_on_a_terminal_and_visible(text):
    shown = clean(text)
    assert (
        ElementTree.fromstring(ElementTree.tostring(_with_text(shown), encoding="utf-8")).text == shown
    )  # also raises on what XML forbids
    assert not any(unicodedata.category(char) in ("Cc", "Cs") for char in shown)
    assert columns(shown.strip()) > 0
    assert clean(shown) == shown


def _with_text(text):
    element = ElementTree.Element("t")
    element.text = text
    return element


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("word", "word"),
        ("a\nb", "a↵b"),
        ("\t", "⇥"),
        ("\x1b[31m", "\ufffd[31m"),
        ("", "␣"),
        (" \u200b", "␣"),
        ("\u0301", "◌\u0301"),
        ("\u202eabc", "\ufffdabc"),
    ],
)
def test_what_cannot_be_shown_has_a_stand_in(text, expected):
    assert clean(text) == expected


@given(anything.map(clean), st.integers(1, 10))
def test_a_shortened_text_fits_and_says_that_it_was_cut(text, limit):
    short = shorten(text, limit)
    assert columns(short) <= limit
    assert short == text if columns(text) <= limit else short.endswith("…")


def test_nothing_is_cut_in_two():
    assert clusters(f"e\u0301{FAMILY}{FLAG}{FLAG}x") == ["e\u0301", FAMILY, FLAG, FLAG, "x"]
    assert shorten(f"{FLAG}{FLAG}{FLAG}", 5) == f"{FLAG}{FLAG}…"
    assert shorten("cafe\u0301s", 5) == "cafe\u0301s"
    assert shorten("cafe\u0301s au", 5) == "cafe\u0301…"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.874, ".87"),
        (1.0, "1.00"),
        (-0.05, "−.05"),
        (-0.001, ".00"),
        (0.0, ".00"),
        (0.999, "1.00"),
        (float("nan"), "–"),
    ],
)
def test_numbers_have_no_zero_before_the_point(value, expected):
    assert number(value) == expected


def test_a_signature_breaks_after_its_bars():
    assert fold("metric:bertscore|layer:4|idf:true", 20) == ["metric:bertscore|", "layer:4|idf:true"]


@given(st.text("ab|:今", max_size=60), st.integers(2, 20))
def test_folding_loses_nothing_and_fits(signature, width):
    lines = fold(signature, width)
    assert "".join(lines) == clean(signature)
    assert all(columns(line) <= width for line in lines)


def test_what_a_terminal_would_obey_is_seen():
    text = "a\x1b[31m\x1b]0;title\x07\x9b2J\u202eb\u2066\0\r\n\tc\u2028"
    assert visible(text) == "a\ufffd[31m\ufffd]0;title\ufffd\ufffd2J\ufffdb\ufffd\ufffd↵↵⇥c↵"
    assert visible("two\nlines\t1", "\n\t") == "two\nlines\t1"
    for kept in ("می\u200cخواهم", "👩\u200d👧", "e\u0301", "\u3000今"):
        assert visible(kept) == kept
