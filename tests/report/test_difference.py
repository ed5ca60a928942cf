"""Differences of texts: what is new is marked, and the pieces make up the newer text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.report.difference import difference, marked, pieces


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("It rains.", "It rains.", "It rains."),
        ("He came in May.", "She came in May.", "[She] came in May."),
        ("It was red.", "It was not red.", "It was [not ]red."),
        ("A big house.", "A house.", "A[] house."),
        ("A cat sat on the old mat.", "A big dog sat on the mat.", "A [big dog] sat on the []mat."),
    ],
)
def test_marks(before, after, shown):
    assert marked(before, after) == shown


def test_texts_that_share_little_stand_side_by_side():
    assert difference("It rains in May.", "It rains in June.", 400) == "It rains in [June]."
    assert difference("It rains.", "I cannot help with that.", 10) == "It rains. → I cannot h…"


@given(st.text(), st.text())
def test_pieces_make_up_the_newer_text(before, after):
    assert "".join(text for text, _ in pieces(before, after)) == after


@given(st.text())
def test_a_text_does_not_differ_from_itself(text):
    assert not any(new for _, new in pieces(text, text))
