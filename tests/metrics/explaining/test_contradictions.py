"""Numbers, days and months that contradict are told by rule, and other ways to write the same are none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.metrics.explaining.contradictions import contradicted
from nlgauge.metrics.explaining.marks import Worded


def words(hyp, *refs):
    text = Worded.of(hyp)
    marked = contradicted(text, [Worded.of(ref) for ref in refs])
    return [word for word, is_marked in zip(text.words, marked, strict=True) if is_marked]


@pytest.mark.parametrize(
    ("hyp", "ref", "found"),
    [
        ("He bought three red apples.", "He bought five red apples.", ["three"]),
        ("Sales rose by 15 % in 2019.", "In 2019 sales rose by 25 %.", ["15"]),
        ("It is a hundred thousand years old.", "It is ten thousand years old.", ["a", "hundred", "thousand"]),
        ("They met on Tuesday in May.", "On Thursday they met, in May.", ["Tuesday"]),
        ("They met in March.", "They met in April.", ["March"]),
    ],
)
def test_another_number_day_or_month_contradicts(hyp, ref, found):
    assert words(hyp, ref) == found


@pytest.mark.parametrize(
    ("hyp", "ref"),
    [
        ("It costs 1,500 euros.", "It costs 1500 euros."),
        ("It costs $3.5 million.", "It costs 3,500,000 dollars."),
        ("The 21st century", "the twenty-first century"),
        ("On Tue, 3 May", "On Tuesday, May 3rd"),
        ("It ends at 5 pm.", "It ends at 17:00."),  # no number: a time is written in two ways
        ("Three people died in 2019.", "In 2019 people died."),  # the other text may have left it out
        ("He may march.", "He might go in April."),  # no month without a capital
        ("No one came.", "One came."),  # "one" is mostly no number
    ],
)
def test_what_is_written_in_another_way_or_left_out_does_not(hyp, ref):
    assert words(hyp, ref) == []


def test_one_reference_that_bears_a_number_out_is_enough():
    assert words("He has two sons.", "He has three sons.") == ["two"]
    assert words("He has two sons.", "He has three sons.", "He has 2 sons.") == []
    assert words("He has two sons.", "He has three sons.", "He has sons.") == []  # which of them is right?


@given(st.text(alphabet="0123456789., abcMayTue-", max_size=40), st.text(alphabet="0123456789., Mon", max_size=40))
def test_no_text_contradicts_itself_or_nothing(text, other):
    assert words(text, text) == []
    assert words(text, text, other) == []
    assert words(text, "") == []
