import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.stats.differences.mcnemar import mcnemar, mcnemar_test

pairs = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=20)


def test_mcnemar_by_hand():
    # ten pairs: both right 3, first only 5, second only 1, neither 1. p = 2 (C(6,0) + C(6,1)) / 64 = 14 / 64
    first = np.array([1] * 8 + [0] * 2)
    second = np.array([1] * 3 + [0] * 5 + [1, 0])
    found = mcnemar(first, 0.5 * np.ones(10), second, 0.5 * np.ones(10))
    assert (found.both, found.first_only, found.second_only, found.neither, found.n_used) == (3, 5, 1, 1, 10)
    assert found.p == pytest.approx(14 / 64)
    assert found.delta == pytest.approx(0.4)


@given(pairs)
def test_mcnemar_of_a_metric_with_itself_finds_nothing(data):
    better, worse = np.array(data, dtype=float).T
    assert (mcnemar(better, worse, better, worse).p, mcnemar(better, worse, better, worse).delta) == (1.0, 0.0)


def test_mcnemar_ties_and_missing():
    # pair 2 tied by the first metric: wrong under `loss`, left out under `exclude`
    first, second = ([1, 1, 1], [0, 1, 0]), ([0, 1, 1], [1, 0, 0])
    assert mcnemar(*first, *second).second_only == 1
    assert (mcnemar(*first, *second, ties="exclude").n_used, mcnemar(*first, *second, ties="exclude").n_undefined) == (
        2,
        1,
    )
    with pytest.raises(InputError, match="a score is missing in 1 of 2 pairs"):
        mcnemar([None, 1], [0, 0], [1, 1], [0, 0])
    assert mcnemar([None, 1], [0, 0], [1, 1], [0, 0], missing="drop").n_used == 1
    with pytest.raises(InputError, match="expected four vectors of equal lengths"):
        mcnemar([1], [0, 0], [1, 1], [0, 0])


def test_every_metric_against_every_other_by_hand():
    # the pairs of `test_mcnemar_by_hand`; one-sided p of five wins or more among six coins is 7 / 64
    first = np.array([1] * 8 + [0] * 2)
    second = np.array([1] * 3 + [0] * 5 + [1, 0])
    better, worse = np.stack([first, second]), np.full((2, 10), 0.5)
    found = mcnemar_test(better, worse)
    assert found.values.tolist() == [0.8, 0.4]
    assert found.p[0, 1] == pytest.approx(7 / 64)
    assert found.p[1, 0] == pytest.approx(scipy.stats.binom.sf(0, 6, 0.5))
    assert mcnemar_test(better, worse, alternative="two-sided").p[1, 0] == pytest.approx(14 / 64)
    assert mcnemar_test(better, worse, ties="zero").p[0, 1] == found.p[0, 1]
    with pytest.raises(InputError, match="mcnemar settles ties as 'loss' or 'exclude', got 'half'"):
        mcnemar_test(better, worse, ties="half")


def test_p_is_never_0():
    # 0.5 ** 2000 is below what a float64 holds
    better, worse = np.array([[1.0] * 2000, [0.0] * 2000]), np.array([[0.0] * 2000, [1.0] * 2000])
    assert 0 < mcnemar_test(better, worse).p[0, 1] < 1e-300
    assert 0 < mcnemar(better[0], worse[0], better[1], worse[1]).p < 1e-300
