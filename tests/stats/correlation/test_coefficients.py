import warnings

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.stats.correlation.coefficients import (
    acc_eq,
    auc,
    average_ranks,
    is_constant,
    kendall_b,
    kendall_c,
    pearson,
    spearman,
    tau_eq,
)

CORRELATIONS = [pearson, spearman, kendall_b, kendall_c]
THEIRS = {
    pearson: lambda x, z: scipy.stats.pearsonr(x, z)[0],
    spearman: lambda x, z: scipy.stats.spearmanr(x, z)[0],
    kendall_b: lambda x, z: scipy.stats.kendalltau(x, z)[0],
    kendall_c: lambda x, z: scipy.stats.kendalltau(x, z, variant="c")[0],
}
EACH = pytest.mark.parametrize("coefficient", CORRELATIONS)
tied = st.integers(2, 30).flatmap(lambda n: st.tuples(*[st.lists(st.integers(-5, 5), min_size=n, max_size=n)] * 2))
real = st.integers(3, 20).flatmap(
    lambda n: st.tuples(*[st.lists(st.floats(-1, 1).map(lambda v: round(v, 6)), min_size=n, max_size=n)] * 2)
)


def test_pearson_by_hand():
    # means 2 and 2; deviations (-1, 0, 1) and (-1, 1, 0): 1 / sqrt(2 x 2)
    assert pearson([1, 2, 3], [1, 3, 2]) == pytest.approx(1 / 2)


def test_spearman_by_hand_with_a_tie():
    # ranks 1 2.5 2.5 4 and 1 2 3 4: deviations (-1.5 0 0 1.5), (-1.5 -.5 .5 1.5): 4.5 / sqrt(4.5 x 5).
    # The short form 1 - 6 sum d^2 / (n^3 - n) would say 0.95.
    assert spearman([10, 20, 20, 90], [1, 2, 3, 4]) == pytest.approx(4.5 / np.sqrt(22.5))
    assert spearman([10, 20, 20, 90], [1, 2, 3, 4]) != pytest.approx(0.95, abs=1e-3)


def test_kendall_by_hand():
    # pairs of (1 2 2 3) with (1 3 2 2): C 12 13 14, D 24, tied in x 23, tied in z 34.
    # b: (3 - 1) / sqrt(5 x 5); c: three distinct values on either side: 2 x 2 / (16 x 2/3)
    x, z = [1, 2, 2, 3], [1, 3, 2, 2]
    assert kendall_b(x, z) == pytest.approx(2 / 5)
    assert kendall_c(x, z) == pytest.approx(4 / (16 * 2 / 3))


def test_acc_eq_by_hand():
    # the same pairs: 3 of 6 agree; tau_eq = (3 - 3) / 6. With epsilon 1 only 14 is left untied in x and concordant, 34
    # ties in both: 2 of 6
    x, z = [1, 2, 2, 3], [1, 3, 2, 2]
    assert (float(acc_eq(x, z)), float(tau_eq(x, z))) == (0.5, 0.0)
    assert acc_eq(x, z, epsilon=1) == pytest.approx(2 / 6)
    assert tau_eq(x, z, epsilon=1) == pytest.approx(-2 / 6)


@EACH
@given(xz=st.one_of(tied, real))
def test_agrees_with_scipy(coefficient, xz):
    assume(len(set(xz[0])) > 1 and len(set(xz[1])) > 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = THEIRS[coefficient](*xz)
    # rounding of a dozen float64 operations; Pearson of values as close as 1e-6 loses six of sixteen digits on scipy's
    # side
    assert coefficient(*xz) == pytest.approx(theirs, abs=1e-9)


@EACH
@given(xz=tied)
def test_symmetric_bounded_and_free_of_order_and_scale(coefficient, xz):
    x, z = (np.array(v, dtype=float) for v in xz)
    value = coefficient(x, z)
    order = np.random.default_rng(0).permutation(len(x))
    for other in (coefficient(z, x), coefficient(x[order], z[order]), coefficient(3 * x + 7, z), -coefficient(-x, z)):
        assert other == pytest.approx(float(value), abs=1e-12, nan_ok=True)  # the same sums in another order
    assert np.isnan(value) or -1 <= value <= 1


@EACH
def test_a_constant_side_or_a_single_entry_is_undefined(coefficient):
    assert np.isnan(coefficient([2, 2, 2], [1, 2, 3]))
    assert np.isnan(coefficient([1, 2, 3], [2, 2, 2]))
    assert np.isnan(coefficient([1], [1]))
    assert np.isnan(coefficient([], []))


@EACH
def test_a_constant_that_was_computed_is_a_constant(coefficient):
    # 0.1 + 0.2 is 0.30000000000000004: scipy finds r = 0.1195 here, made of rounding alone
    assert np.isnan(coefficient([0.1 + 0.2, 0.3, 0.3, 0.1 + 0.2], [1, 2, 3, 5]))


@EACH
def test_two_entries_give_exactly_one(coefficient):
    assert coefficient([0.1, 0.3], [1 / 3, 7.7]) == 1
    assert coefficient([0.1, 0.3], [7.7, 1 / 3]) == -1


@EACH
def test_an_offset_of_1e9_costs_no_digits(coefficient):
    rng = np.random.default_rng(0)
    x, z = rng.integers(0, 1 << 20, size=(2, 50)) / 1024  # sums with 1e9 are exact
    assert coefficient(x + 1e9, z - 1e9) == pytest.approx(float(coefficient(x, z)), abs=1e-13)


def test_values_of_1e200_do_not_overflow():
    x = np.array([1.0, 3, 2, 5])
    assert pearson(x * 1e200, [1, 2, 3, 4]) == pytest.approx(float(pearson(x, [1, 2, 3, 4])), abs=1e-15)
    assert pearson(x * 1e-200, [1, 2, 3, 4]) == pytest.approx(float(pearson(x, [1, 2, 3, 4])), abs=1e-15)


@EACH
def test_a_nan_among_the_entries_makes_its_vector_undefined_and_no_other(coefficient):
    x = np.array([[1, 2, np.nan, 4], [1, 3, 2, 4]])
    values = coefficient(x, [1, 2, 3, 4])
    assert np.isnan(values[0])
    assert values[1] == coefficient(x[1], [1, 2, 3, 4])
    assert np.isnan(acc_eq(x, [1, 2, 3, 4])[0])


@EACH
@pytest.mark.parametrize("n", [5, 250])
def test_many_vectors_at_once_give_what_each_gives_alone(coefficient, n):
    rng = np.random.default_rng(1)
    x, z = rng.integers(0, 9, size=(3, 4, n)), rng.integers(0, 5, size=(4, n))
    together = coefficient(x, z)
    assert together.shape == (3, 4)
    # sums along another axis order may differ in the last digit
    np.testing.assert_allclose(together, [[coefficient(x[i, j], z[j]) for j in range(4)] for i in range(3)], atol=1e-14)


@pytest.mark.parametrize("near", [0.0, 0.25, 0.5])
def test_a_threshold_at_equality_ties(near):
    # 0.75 - 0.5 and 0.5 are exact in binary: 0.25 ties at 0.25
    tied_pairs = sum(d <= near for d in (0.25, 0.25, 0.5))
    assert acc_eq([0.5, 0.75, 0.25], [1, 1, 1], epsilon=near) == pytest.approx(tied_pairs / 3)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=20))
def test_ranks_agree_with_scipy(values):
    assert average_ranks(values).tolist() == scipy.stats.rankdata(values).tolist()


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=9), st.floats(1e-3, 1e3))
def test_constancy_does_not_depend_on_scale(values, scale):
    v = np.array(values)
    assume(np.ptp(v) == 0 or np.ptp(v) > 1e-6)
    assert is_constant(v) == (np.ptp(v) == 0)
    assert is_constant(v * scale) == is_constant(v)


def test_auc_by_hand():
    # positives 3 and 1 against negatives 2, 1, 0: wins 3 + 1, one tie: (4 + 0.5) / 6
    assert auc([3, 1, 2, 1, 0], [1, 1, 0, 0, 0]) == pytest.approx(4.5 / 6)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 1)), min_size=2, max_size=20))
def test_auc_is_the_scaled_rank_sum(data):
    x, z = np.array(data, dtype=float).T
    good, bad = x[z == 1], x[z == 0]
    if not len(good) or not len(bad):
        assert np.isnan(auc(x, z))
        return
    u = scipy.stats.mannwhitneyu(good, bad).statistic
    assert auc(x, z) == pytest.approx(u / (len(good) * len(bad)))
    assert auc(np.stack([x, -x]), z).sum() == pytest.approx(1)


def test_auc_takes_two_classes():
    with pytest.raises(InputError, match="classes 0 and 1, got 2"):
        auc([1, 2, 3], [0, 1, 2])
