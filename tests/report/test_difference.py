"""Differences of texts: what is new is marked, and the pieces make up the newer text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.report.difference import marked, pieces, shared


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


def test_what_is_alike_far_from_a_difference_changes_nothing():
    far = "and so it goes, " * 100
    for before, after in (("A big house.", "A house."), ("He came.", "She came."), ("It is red.", "It is red.")):
        near = pieces(f"x {before} x", f"x {after} x")
        assert [p for p, new in pieces(far + f"x {before} x" + far, far + f"x {after} x" + far) if new] == [
            p for p, new in near if new
        ]
        assert marked(far + before + far, far + after + far) == far + marked(before, after) + far
    # 3,000 words, one of which differs: without the ends 0.01 s
    assert pieces("word " * 3000 + "old", "word " * 3000 + "new") == [("word " * 3000, False), ("new", True)]


def test_how_much_is_shared():
    assert shared("It rains in May.", "It rains in June.") == 10 / 14  # It, rains, in and . of fourteen letters
    assert shared("", " ") == 1
    assert shared("It rains.", "") == 0


@given(st.text(), st.text())
def test_pieces_make_up_the_newer_text(before, after):
    assert "".join(text for text, _ in pieces(before, after)) == after


@given(st.text())
def test_a_text_does_not_differ_from_itself(text):
    assert not any(new for _, new in pieces(text, text))
