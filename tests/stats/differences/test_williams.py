import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr

from nlgauge.core.errors import InputError
from nlgauge.stats.differences.williams import williams, williams_test


def student_8(t):
    """P(T > t) for 8 degrees of freedom.

    1/2 - sin a (1 + cos^2 a / 2 + 3 cos^4 a / 8 + 5 cos^6 a / 16) / 2 with tan a = t / sqrt 8.
    """
    cos2 = 8 / (8 + t * t)
    return 0.5 - np.sqrt(1 - cos2) * np.sign(t) * (1 + cos2 / 2 + 3 * cos2**2 / 8 + 5 * cos2**3 / 16) / 2


def test_eleven_systems_by_hand():
    # r12 = .8, r13 = .6, r23 = .5, n = 11: k = 1 - .64 - .36 - .25 + .48 = .23; mean r = .7;
    # t = .2 sqrt(10 x 1.5) / sqrt(2 x 10 / 8 x .23 + .49 x .125) = .774597 / sqrt(.63625) = .971096 with 8 degrees of
    # freedom
    t = 0.2 * np.sqrt(15) / np.sqrt(0.63625)
    assert t == pytest.approx(0.971096, abs=1e-6)
    assert williams(0.8, 0.6, 0.5, 11) == pytest.approx(student_8(t))
    assert williams(0.6, 0.8, 0.5, 11) == pytest.approx(1 - student_8(t))
    assert williams(0.6, 0.8, 0.5, 11, alternative="two-sided") == pytest.approx(2 * student_8(t))


def test_the_package_that_takes_sizes_loses_the_direction():
    worse = williams(0.6, 0.8, 0.5, 11, compat="mt-metrics-eval")
    assert worse == pytest.approx(williams(0.8, 0.6, 0.5, 11))  # there the worse metric looks as good as the better one
    turned = williams(-0.8, 0.6, -0.5, 11, compat="nlpstats")
    assert turned == pytest.approx(williams(0.8, 0.6, 0.5, 11))  # there a metric that is wrong throughout is a good one
    assert williams(-0.8, 0.6, -0.5, 11) > 0.99


def test_identical_metrics_get_p_one_and_turned_ones_none():
    assert williams(0.7, 0.7, 1.0, 20) == 1
    assert williams(0.7, 0.7, 1.0, 20, alternative="two-sided") == 1
    assert williams(0.7, 0.7 + 1e-15, 1 - 1e-16, 20) == 1  # the same metric on another scale, up to rounding
    assert np.isnan(williams(0.7, -0.7, -1.0, 20))


def test_metrics_of_equal_correlation_are_even():
    assert williams(0.7, 0.7, 0.5, 20) == pytest.approx(0.5)
    assert williams(0.7, 0.7, 0.5, 20, alternative="two-sided") == pytest.approx(1)


def test_three_points_say_nothing():
    assert np.isnan(williams(0.7, 0.6, 0.5, 3))
    assert np.isnan(williams(np.array([0.7, 0.2]), 0.6, 0.5, 2)).all()


def test_a_determinant_that_rounding_makes_negative():
    # three vectors in a plane at angles 0, .3 and .8: the determinant is 0 on paper
    r12, r13, r23 = np.cos(0.3), np.cos(0.8), np.cos(0.5)
    assert 0 < williams(r12, r13, r23, 30) < 0.5


@given(st.integers(0, 2**32 - 1), st.integers(4, 40))
def test_directions_add_up_and_sides_are_twice_the_smaller(seed, n):
    rows = np.random.default_rng(seed).normal(size=(3, n))
    r = np.corrcoef(rows)
    up, down = williams(r[0, 1], r[0, 2], r[1, 2], n), williams(r[0, 2], r[0, 1], r[1, 2], n)
    assert up + down == pytest.approx(1)
    assert williams(r[0, 1], r[0, 2], r[1, 2], n, alternative="two-sided") == pytest.approx(2 * min(up, down))


def test_all_pairs_at_once_are_the_pairs_one_by_one():
    rng = np.random.default_rng(1)
    human = rng.normal(size=12)
    scores = human + rng.normal(size=(4, 12)) * np.array([[0.3], [1], [1], [3]])
    found = williams_test(human, scores)
    for i in range(4):
        for j in range(4):
            if i == j:
                assert np.isnan(found.p[i, j])
                continue
            r = pearsonr(human, scores[i])[0], pearsonr(human, scores[j])[0], pearsonr(scores[i], scores[j])[0]
            assert found.p[i, j] == pytest.approx(williams(*r, 12))
            assert found.deltas[i, j] == pytest.approx(r[0] - r[1])
    assert (found.test, found.generalise_to, found.draws) == ("williams", "systems", None)


def test_same_and_constant_metrics_and_missing_judgements():
    rng = np.random.default_rng(2)
    human = rng.normal(size=(4, 6))
    metric = human + rng.normal(size=(4, 6))
    found = williams_test(human, np.stack([metric, 3 * metric - 1, np.full((4, 6), 0.1)]))
    assert found.p[0, 1] == found.p[1, 0] == 1
    assert np.isnan(found.p[2]).all()
    assert np.isnan(found.p[:, 2]).all()
    assert found.n_undefined.tolist() == [0, 0, 1]
    human[1] = np.nan
    other = rng.normal(size=(4, 6))
    dropped = williams_test(human, np.stack([metric, other]))
    kept = [0, 2, 3]
    assert dropped.p[0, 1] == pytest.approx(williams_test(human[kept], np.stack([metric[kept], other[kept]])).p[0, 1])


def test_scores_in_place_of_correlations_are_refused():
    with pytest.raises(InputError, match=r"outside \[-1, 1\]"):
        williams(31.4, 0.6, 0.5, 11)
    with pytest.raises(InputError, match="alternative is 'less'"):
        williams(0.4, 0.6, 0.5, 11, alternative="less")


@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_p_is_never_0(alternative):
    assert 0 < williams(0.99, 0.1, 0.1, 100_000, alternative=alternative) < 1e-300
