import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.stats.differences.clusters import not_outperformed, rank_clusters


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
    assert rank_clusters(values, p, rule="wmt").tolist() == rank_clusters(values, p, compat="mt-metrics-eval").tolist()
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


def test_a_p_at_alpha_is_a_break_in_mt_metrics_eval_only():
    values, p = np.array([0.5, 0.4]), square(2, p12=0.05)
    assert rank_clusters(values, p).tolist() == [1, 1]
    assert rank_clusters(values, p, compat="mt-metrics-eval").tolist() == [1, 2]


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
