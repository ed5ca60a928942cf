import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.stats.differences.multiplicity import benjamini_hochberg, holm

BOTH = pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
shares = st.lists(st.floats(0, 1), min_size=1, max_size=12)


def test_four_tests_by_hand():
    p = np.array([0.03, 0.01, 0.04, 0.02])
    # Holm: .01 x 4 = .04, .02 x 3 = .06, .03 x 2 = .06, .04 x 1 = .04, raised to .06 by the one before
    np.testing.assert_allclose(holm(p), [0.06, 0.04, 0.06, 0.06])
    # Benjamini-Hochberg: .01 x 4/1 = .04, .02 x 4/2 = .04, .03 x 4/3 = .04, .04 x 4/4 = .04
    np.testing.assert_allclose(benjamini_hochberg(p), [0.04] * 4)
    # .005 x 3 = .015; .01 x 3/2 = .015; .5 x 3/3 = .5
    np.testing.assert_allclose(benjamini_hochberg(np.array([0.5, 0.005, 0.01])), [0.5, 0.015, 0.015])


@BOTH
@given(shares)
def test_adjusting_keeps_the_order_and_never_helps(adjust, values):
    p = np.array(values)
    adjusted = adjust(p)
    assert (adjusted >= p).all()
    assert (adjusted <= 1).all()
    assert (np.diff(adjusted[np.argsort(p, kind="stable")]) >= 0).all()


@given(shares)
def test_holm_is_bonferroni_at_the_smallest_and_hochberg_never_above_holm(values):
    p = np.array(values)
    assert holm(p).min() == pytest.approx(min(1, len(p) * p.min()))
    assert (benjamini_hochberg(p) <= holm(p) + 1e-15).all()  # products in another order


@BOTH
def test_tests_not_made_do_not_count(adjust):
    square = np.array([[np.nan, 0.01], [0.99, np.nan]])
    adjusted = adjust(square)
    assert adjusted.shape == (2, 2)
    assert adjusted[0, 1] == pytest.approx(0.02)
    assert np.isnan(np.diag(adjusted)).all()
    assert np.isnan(adjust(np.full(3, np.nan))).all()


def test_holm_keeps_the_chance_of_any_false_finding():
    # 10 true nulls, uniform p: P(any adjusted <= .05) = 1 - (1 - .005)^10 = .049; 4000 families: sd .0034, five of them
    # allowed
    p = np.random.default_rng(0).random((4000, 10))
    assert np.mean([(holm(row) <= 0.05).any() for row in p]) == pytest.approx(0.049, abs=0.017)


@BOTH
def test_no_share_is_refused(adjust):
    with pytest.raises(InputError, match=r"a p-value is 5\.0"):
        adjust(np.array([0.1, 5.0]))
