import math
from itertools import combinations, permutations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.stats.ratings.agreement import krippendorff, split_half

N = None
# The reliability data of Krippendorff (2011), section C: four observers, twelve units, gaps
PAPER = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, N, N, N],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, N, 3],
    [N, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, N],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, N],
]
tables = st.tuples(st.integers(2, 4), st.integers(1, 6)).flatmap(
    lambda shape: st.lists(
        st.lists(st.one_of(st.none(), st.integers(0, 4)), min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    )
)


def by_pairs(ratings, scale):
    """The definition: mean distance of the pairs inside units, over that of all pairs of paired ratings."""
    units = [[r for r in unit if r is not None] for unit in zip(*ratings, strict=True)]
    units = [unit for unit in units if len(unit) > 1]
    every = [r for unit in units for r in unit]
    counts = {v: every.count(v) for v in set(every)}

    def distance(a, b):
        if scale == "nominal":
            return float(a != b)
        if scale == "interval":
            return (a - b) ** 2
        if scale == "ratio":
            return ((a - b) / (a + b)) ** 2 if a + b else 0.0
        low, high = min(a, b), max(a, b)
        return (
            (sum(n for v, n in counts.items() if low <= v <= high) - (counts[a] + counts[b]) / 2) ** 2
            if a != b
            else 0.0
        )

    n = len(every)
    if not n:
        return math.nan
    observed = sum(distance(a, b) / (len(unit) - 1) for unit in units for a, b in permutations(unit, 2)) / n
    expected = sum(distance(a, b) for a, b in permutations(every, 2)) / (n * (n - 1))
    return 1 - observed / expected if expected > 0 else math.nan


@pytest.mark.parametrize(
    ("scale", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_the_paper_s_own_example(scale, alpha):
    found = krippendorff(PAPER, scale)
    assert found.value == pytest.approx(alpha, abs=5e-4)  # printed to three digits
    assert (found.n_used, found.n_undefined, found.n_ratings) == (11, 1, 40)


@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval", "ratio"])
@given(table=tables)
def test_alpha_follows_its_definition(scale, table):
    assert krippendorff(table, scale).value == pytest.approx(by_pairs(table, scale), abs=1e-9, nan_ok=True)


def test_agreement_disagreement_and_nothing_to_agree_about():
    assert krippendorff([[1, 2, 3], [1, 2, 3]]).value == 1
    assert krippendorff([[1, 2], [2, 1]]).value < 0
    assert math.isnan(krippendorff([[2, 2], [2, 2]]).value)
    nothing = krippendorff([[1, N], [N, 2]])
    assert (math.isnan(nothing.value), nothing.n_used, nothing.n_undefined) == (True, 0, 2)


def test_an_interval_alpha_does_not_feel_an_offset():
    table = np.array([[1.0, 2, 3, 3], [1, 3, 3, 4]])
    assert krippendorff(table + 1e9).value == pytest.approx(krippendorff(table).value, abs=1e-12)


def test_all_splits_of_four_annotators():
    # three ways to halve four; the coefficient of the halves' means in each
    ratings = np.array([[1.0, 2, 3, 4], [1, 3, 2, 4], [2, 1, 3, 4], [1, 2, 4, 3]])
    values = []
    for other in (1, 2, 3):
        first = ratings[[0, other]].mean(axis=0)
        second = np.delete(ratings, [0, other], axis=0).mean(axis=0)
        values.append(scipy.stats.kendalltau(first, second)[0])
    found = split_half(ratings)
    assert found.value == pytest.approx(np.mean(values))
    assert (found.draws, found.exhaustive, found.n_used, found.stat) == (3, True, 4, "kendall_b")
    assert found.full == pytest.approx(2 * np.mean(values) / (1 + np.mean(values)))


def test_all_splits_of_three_annotators_set_one_against_two():
    ratings = np.array([[1.0, 2, 3, 5], [1, 3, 2, 4], [3, 2, 1, 4]])
    values = [np.corrcoef(ratings[i], np.delete(ratings, i, axis=0).mean(axis=0))[0, 1] for i in range(3)]
    found = split_half(ratings, stat="pearson")
    assert (found.value, found.draws) == (pytest.approx(np.mean(values)), 3)


def test_drawn_splits_approach_all_splits():
    # ten annotators have 126 splits; 100 of them drawn: the mean has an sd of about a tenth of that of a split
    rng = np.random.default_rng(0)
    ratings = rng.normal(size=30) + rng.normal(size=(10, 30))
    every, some = split_half(ratings, stat="pearson"), split_half(ratings, stat="pearson", draws=100)
    assert (every.exhaustive, every.draws, some.exhaustive, some.draws) == (True, 126, False, 100)
    sd = (every.high - every.low) / 4
    assert some.value == pytest.approx(every.value, abs=5 * sd / 10)


def test_gaps_leave_a_unit_out_where_a_half_lacks_it():
    # unit 3 was rated by the first annotator alone
    ratings = [[1, 2, 3, 9], [1, 3, 2, N], [2, 1, 3, N], [1, 2, 4, N]]
    found = split_half(ratings, stat="pearson")
    assert (found.n_used, found.n_undefined) == (3, 1)
    assert found.value == pytest.approx(split_half([row[:3] for row in ratings], stat="pearson").value)


def test_splits_without_a_value_are_counted():
    found = split_half([[1, 1, 1], [2, 2, 2]])
    assert (math.isnan(found.value), found.n_undefined_draws, found.draws) == (True, 1, 1)


def test_refusals():
    with pytest.raises(InputError, match=r"ratings have shape \(3,\), expected \(annotators, units\)"):
        krippendorff([1, 2, 3])
    with pytest.raises(InputError, match="scale is 'ordnial'; did you mean 'ordinal'"):
        krippendorff(PAPER, "ordnial")
    with pytest.raises(InputError, match="no negative ratings"):
        krippendorff([[1, -1], [1, 1]], "ratio")
    with pytest.raises(InputError, match="acc_eq_calibrated is no coefficient of two vectors"):
        split_half(PAPER, stat="acc_eq_calibrated")


def test_combinations_cover_each_split_once():
    for n in (2, 3, 4, 5, 6):
        found = split_half(np.random.default_rng(n).normal(size=(n, 7)), stat="pearson")
        assert found.draws == len(
            {frozenset((frozenset(c), frozenset(range(n)) - set(c))) for c in combinations(range(n), n // 2)}
        )
