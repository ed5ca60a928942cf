import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr

from nlgauge.core.errors import InputError
from nlgauge.stats.tests import (
    benjamini_hochberg,
    holm,
    mcnemar,
    mcnemar_test,
    not_outperformed,
    rank_clusters,
    williams,
    williams_test,
)

BOTH = pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])


def test_four_tests_by_hand():
    p = np.array([0.03, 0.01, 0.04, 0.02])
    # Holm: .01 x 4 = .04, .02 x 3 = .06, .03 x 2 = .06, .04 x 1 = .04, raised to .06 by the one before
    np.testing.assert_allclose(holm(p), [0.06, 0.04, 0.06, 0.06])
    # Benjamini-Hochberg: .01 x 4/1 = .04, .02 x 4/2 = .04, .03 x 4/3 = .04, .04 x 4/4 = .04
    np.testing.assert_allclose(benjamini_hochberg(p), [0.04] * 4)
    # .005 x 3 = .015; .01 x 3/2 = .015; .5 x 3/3 = .5
    np.testing.assert_allclose(benjamini_hochberg(np.array([0.5, 0.005, 0.01])), [0.5, 0.015, 0.015])


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


def square(n, **below):
    """p-values of n metrics, 0.5 but for those given as p12=0.01 (the first better than the second).

    The turned one is 1 - p.
    """
    p = np.full((n, n), 0.5)
    np.fill_diagonal(p, np.nan)
    for name, value in below.items():
        i, j = int(name[1]) - 1, int(name[2]) - 1
        p[i, j], p[j, i] = value, 1 - value
    return p


def test_three_metrics_of_which_only_the_outer_two_differ():
    values, p = np.array([0.5, 0.4, 0.3]), square(3, p12=0.2, p23=0.2, p13=0.01)
    # nobody beats the first two; greedy ranks put the second beside the first, a break between all above and all below
    # finds none
    assert not_outperformed(p).tolist() == [True, True, False]
    assert rank_clusters(values, p, rule="any").tolist() == [1, 1, 2]
    assert rank_clusters(values, p).tolist() == [1, 1, 1]


def test_wmts_rule_takes_a_p_that_equals_alpha():
    values, p = np.array([0.5, 0.4]), square(2, p12=0.05)
    assert rank_clusters(values, p, rule="wmt").tolist() == [1, 2]
    assert rank_clusters(values, p, rule="any").tolist() == [1, 1]


def test_two_groups_well_apart():
    values, p = np.array([0.1, 0.5, 0.2, 0.6]), square(4, p23=0.01, p21=0.01, p43=0.01, p41=0.01, p42=0.4, p31=0.3)
    assert rank_clusters(values, p).tolist() == [2, 1, 2, 1]
    assert rank_clusters(values, p, rule="any").tolist() == [2, 1, 2, 1]
    assert not_outperformed(p).tolist() == [False, True, False, True]


def test_one_that_beats_all_and_a_chain():
    values = np.array([0.9, 0.8, 0.7])
    assert rank_clusters(values, square(3, p12=0.01, p13=0.01, p23=0.01)).tolist() == [1, 2, 3]
    # the first beats the second only: a break after the first needs it to beat the third as well
    p = square(3, p12=0.01, p13=0.2)
    assert rank_clusters(values, p).tolist() == [1, 1, 1]
    assert rank_clusters(values, p, rule="any").tolist() == [1, 2, 2]


def test_undefined_metrics_have_no_rank_and_are_not_marked():
    p = square(3, p12=0.01)
    p[2] = p[:, 2] = np.nan
    assert rank_clusters(np.array([0.5, 0.4, np.nan]), p).tolist() == [1, 2, 0]
    assert not_outperformed(p).tolist() == [True, False, False]
    assert not_outperformed(np.array([[np.nan]])).tolist() == [True]


@given(st.integers(1, 7), st.integers(0, 2**32 - 1), st.sampled_from(["all", "any"]))
def test_ranks_follow_the_values_and_have_no_gaps(n, seed, rule):
    rng = np.random.default_rng(seed)
    values, p = rng.normal(size=n), rng.random((n, n))
    ranks = rank_clusters(values, p, rule=rule, alpha=0.4)
    ordered = ranks[np.argsort(-values)]
    assert ordered[0] == 1
    assert set(np.diff(ordered)) <= {0, 1}


@given(st.integers(2, 7), st.integers(0, 2**32 - 1))
def test_a_break_between_all_is_a_break_of_the_greedy_rule_too(n, seed):
    rng = np.random.default_rng(seed)
    values, p = -np.arange(n, dtype=float), rng.random((n, n))
    wide, greedy = rank_clusters(values, p, alpha=0.6), rank_clusters(values, p, alpha=0.6, rule="any")
    assert set(np.flatnonzero(np.diff(wide))) <= set(np.flatnonzero(np.diff(greedy)))


def test_what_does_not_fit_is_refused():
    with pytest.raises(InputError, match=r"expected \(metrics, metrics\)"):
        not_outperformed(np.zeros(3))
    with pytest.raises(InputError, match=r"values have shape \(2,\)"):
        rank_clusters(np.zeros(2), np.zeros((3, 3)))
    with pytest.raises(InputError, match="alpha is 5"):
        not_outperformed(np.zeros((2, 2)), alpha=5)
    with pytest.raises(InputError, match="rule is 'greedy'"):
        rank_clusters(np.zeros(2), np.zeros((2, 2)), rule="greedy")


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


def test_mcnemar_p_is_never_0():
    # 0.5 ** 2000 is below what a float64 holds
    better, worse = np.array([[1.0] * 2000, [0.0] * 2000]), np.array([[0.0] * 2000, [1.0] * 2000])
    assert 0 < mcnemar_test(better, worse).p[0, 1] < 1e-300
    assert 0 < mcnemar(better[0], worse[0], better[1], worse[1]).p < 1e-300
