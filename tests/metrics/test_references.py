from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.scores import Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.core.spec import Signature
from nlgauge.metrics.references import over_references

TOY = Signature("toy", (("metric", "toy"),))
POLICIES = ["best", "best_each", "mean", "first"]
numbers = st.lists(st.lists(st.integers(-3, 3) | st.none(), min_size=1, max_size=4), min_size=1, max_size=5)


def single(segments, higher_is_better=True):
    """References of toys are numbers: value v, part p = -v, flag where v is above 1; "nan" is undefined."""
    assert all(len(s.references) == 1 for s in segments)
    values = np.array([float(s.references[0]) for s in segments])
    return Scores(
        TOY, ids(segments), values, {"p": -values}, flags={"high": values > 1}, higher_is_better=higher_is_better
    )


def fold(rows, policy, **options):
    segments = [Segment(f"s{i}", "h", tuple("nan" if r is None else str(r) for r in row)) for i, row in enumerate(rows)]
    return over_references(segments, policy, lambda s: single(s, **options))


def test_a_flag_of_any_reference_is_set_where_it_leaves_the_score_undefined():
    assert fold([[2, None], [2, 1]], "mean").flags["high"].tolist() == [True, False]  # the first mean is undefined
    assert fold([[2, None], [2, 1]], "best_each").flags["high"].tolist() == [False, False]


@pytest.mark.parametrize(
    ("policy", "values", "parts"),
    [
        ("best", [3, 2], [-3, -2]),  # the parts of the reference chosen
        ("best_each", [3, 2], [-1, -2]),  # the best of each column by itself
        ("mean", [2, 2], [-2, -2]),  # (1 + 3 + 2) / 3
        ("first", [1, 2], [-1, -2]),
    ],
)
def test_policies_worked_by_hand(policy, values, parts):
    found = fold([[1, 3, 2], [2]], policy)
    np.testing.assert_array_equal(found.values, values)
    np.testing.assert_array_equal(found.parts["p"], parts)
    assert found.ids == ("s0", "s1")


def test_the_best_reference_is_named_and_among_equals_it_is_the_first():
    np.testing.assert_array_equal(fold([[1, 3, 3], [2], [0, 0]], "best").parts["reference"], [1, 0, 0])
    np.testing.assert_array_equal(
        fold([[1], [2]], "best").parts["reference"], [0, 0]
    )  # also where every segment has one
    assert fold([], "best").parts["reference"].shape == (0,)
    assert all("reference" not in fold([[1, 2]], policy).parts for policy in POLICIES[1:])


def test_the_best_of_an_error_rate_is_the_lowest():
    found = fold([[1, 3, 2]], "best", higher_is_better=False)
    assert (found.values[0], found.parts["reference"][0], found.higher_is_better) == (1, 0, False)
    assert fold([[1, 3, 2]], "best_each", higher_is_better=False).values[0] == 1


def test_a_flag_is_up_where_it_is_up_for_the_reference_chosen_or_for_all():
    rows = [[0, 3], [2, 3]]
    assert fold(rows, "best").flags["high"].tolist() == [True, True]
    assert fold(rows, "best", higher_is_better=False).flags["high"].tolist() == [False, True]
    assert fold(rows, "first").flags["high"].tolist() == [False, True]
    assert fold(rows, "mean").flags["high"].tolist() == [False, True]
    assert fold(rows, "best_each").flags["high"].tolist() == [False, True]


def test_the_undefined_loses_against_any_number_and_makes_a_mean_undefined():
    rows = [[None, -3], [None, None]]
    for policy in ("best", "best_each"):
        np.testing.assert_array_equal(fold(rows, policy).values, [-3, np.nan])
        np.testing.assert_array_equal(fold(rows, policy, higher_is_better=False).values, [-3, np.nan])
    assert np.isnan(fold(rows, "mean").values).all()
    assert np.isnan(fold(rows, "first").values).all()


@pytest.mark.parametrize("policy", POLICIES)
def test_one_reference_each_is_scored_as_it_is(policy):
    segments = [Segment("a", "h", ("1",)), Segment("b", "h", ("2",))]
    asked = []
    over_references(segments, policy, lambda s: asked.append(list(s)) or single(s))
    assert asked == [segments]


@pytest.mark.parametrize("policy", POLICIES)
def test_the_metric_is_asked_once_for_all(policy):
    calls = []
    segments = [Segment("a", "h", ("1", "2")), Segment("b", "h", ("3",))]
    over_references(segments, policy, lambda s: calls.append([(x.id, x.references) for x in s]) or single(s))
    pairs = [("a", ("1",)), ("b", ("3",))] if policy == "first" else [("a", ("1",)), ("a", ("2",)), ("b", ("3",))]
    assert calls == [pairs]


@given(numbers, st.sampled_from(POLICIES), st.booleans())
def test_a_segment_scores_the_same_alone_as_among_others(rows, policy, higher):
    together = fold(rows, policy, higher_is_better=higher)
    alone = [fold([row], policy, higher_is_better=higher) for row in rows]
    np.testing.assert_array_equal(together.values, [a.values[0] for a in alone])
    for name, column in together.parts.items():
        np.testing.assert_array_equal(column, [a.parts[name][0] for a in alone])
    assert together.flags["high"].tolist() == [bool(a.flags["high"][0]) for a in alone]


@given(numbers)
def test_folding_is_what_python_says_of_each_row(rows):
    defined = [[v for v in row if v is not None] for row in rows]
    best = [max(row) if row else np.nan for row in defined]
    np.testing.assert_array_equal(fold(rows, "best").values, best)
    np.testing.assert_array_equal(fold(rows, "best_each").values, best)
    means = [sum(row) / len(row) if None not in row else np.nan for row in rows]
    np.testing.assert_allclose(fold(rows, "mean").values, means, rtol=1e-15)  # up to four small whole numbers
