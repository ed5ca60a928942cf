"""Spans of edits: by hand, and what must hold of any edits."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.perturbations.base import apply_edits
from nlgauge.scoring.explaining import Worded
from nlgauge.training.edited import PlacedEdit, spans_of_edits

TEXT = "The cat sat on the mat."


def marked(text, *edits):
    made, spans = spans_of_edits(text, [PlacedEdit(*edit) for edit in edits])
    return made, [("+" if s.missing else made[s.start : s.end], s.start, s.severity) for s in spans]


@pytest.mark.parametrize(
    ("edit", "made", "spans"),
    [
        ((4, 7, "dog"), "The dog sat on the mat.", [("dog", 4, "major")]),
        ((12, 14, "in"), "The cat sat in the mat.", [("in", 12, "minor")]),  # a function word for another
        ((12, 14, "in", "major"), "The cat sat in the mat.", [("in", 12, "major")]),
        ((8, 11, "did not sit"), "The cat did not sit on the mat.", [("did not sit", 8, "major")]),
        ((8, 11, "not sat"), "The cat not sat on the mat.", [("not", 8, "major")]),  # a negation turns it round
        ((8, 14, "lay on"), "The cat lay on the mat.", [("lay", 8, "major")]),  # "on" was there before
        ((8, 15, ""), "The cat the mat.", [("+", 8, "major")]),
        ((11, 23, "."), "The cat sat.", [("+", 11, "major")]),  # the mark stays, what stood before it is gone
        ((0, 0, "Well, "), "Well, The cat sat on the mat.", [("Well,", 0, "major")]),
        ((3, 4, "  "), "The  cat sat on the mat.", []),  # blanks are no words
        ((8, 11, "sat"), TEXT, []),
        ((18, 23, ""), "The cat sat on the", [("+", 18, "major")]),
    ],
)
def test_one_edit_by_hand(edit, made, spans):
    assert marked(TEXT, edit) == (made, spans)


def test_edits_one_after_another_have_their_places_in_what_came_before():
    made, spans = marked(TEXT, (4, 8, ""), (4, 7, "stood", "minor"), (0, 3, "A", "minor"))
    # "cat" is gone before "stood", which moves to the left when "The" becomes "A"
    assert made == "A stood on the mat."
    assert spans == [("A stood", 0, "minor"), ("+", 2, "major")]


def test_neighbours_of_two_severities_are_two_spans():
    assert marked(TEXT, (4, 7, "dog", "major"), (8, 11, "sit", "minor"))[1] == [
        ("dog", 4, "major"),
        ("sit", 8, "minor"),
    ]


def test_what_is_put_where_text_is_gone_keeps_the_worse_of_both():
    made, spans = marked(TEXT, (8, 12, "", "minor"), (8, 11, "", "major"))
    assert (made, spans) == ("The cat the mat.", [("+", 8, "major")])


def test_an_edit_beyond_the_text_is_refused():
    with pytest.raises(InputError, match="an edit from 20 to 30 of a text of 23 characters"):
        marked(TEXT, (20, 30, "x"))


WORDS = st.text("ab .", max_size=12)


@given(st.text("abc d.", max_size=30), st.lists(st.tuples(st.integers(0, 30), st.integers(0, 6), WORDS), max_size=4))
def test_any_edits(text, drawn):
    """The text is that of the edits; spans lie in it, in order and apart; unchanged text has none."""
    at, edits = 0, []
    for start, size, new in sorted(drawn):
        if start >= at and start + size <= len(text):
            edits.append((start, start + size, new))
            at = start + size + 1
    made, spans = spans_of_edits(text, [PlacedEdit(*edit) for edit in reversed(edits)])
    assert made == apply_edits(text, edits)
    places = Worded.of(made).places
    starts, ends = {start for start, _ in places}, {end for _, end in places}
    for span in spans:
        assert span.start in starts | {len(made)} if span.missing else span.start in starts and span.end in ends
    runs = [span for span in spans if not span.missing]
    assert all(one.end <= two.start for one, two in pairwise(runs))
    if not edits:
        assert not spans
