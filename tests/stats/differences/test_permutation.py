import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau, pearsonr

from nlgauge.core.errors import InputError
from nlgauge.stats.differences.permutation import permutation_test

LEVELS = pytest.mark.parametrize(
    "where",
    [{"averaging": "none"}, {"averaging": "item"}, {"averaging": "sys"}, {"level": "system"}],
    ids=["none", "item", "sys", "system"],
)
STATISTICS = pytest.mark.parametrize("statistic", ["pearson", "spearman", "kendall_b"])
POPULATIONS = pytest.mark.parametrize("population", ["both", "inputs", "systems"])


def alike(rng, n_systems, n_items, n_metrics=2, noise=1.5):
    """Metrics of equal quality: judgements with system and item effects, and each metric the judgements with noise of
    its own.
    """
    human = (
        0.5 * rng.normal(size=(n_systems, 1))
        + 0.5 * rng.normal(size=(1, n_items))
        + rng.normal(size=(n_systems, n_items))
    )
    return human, human + noise * rng.normal(size=(n_metrics, n_systems, n_items))


def test_four_systems_by_full_enumeration():
    # System scores alone: 16 ways to swap, each scored by scipy. 20,000 draws: sd of p at most 0.0035, five of them
    # allowed.
    human = np.array([1.0, 2.0, 4.0, 3.0])
    scores = np.array([[0.2, 0.1, 0.9, 0.5], [0.3, 0.8, 0.4, 0.6]])
    a, b = (scores - scores.mean(axis=1, keepdims=True)) / scores.std(axis=1, keepdims=True)
    differences = []
    for swapped in itertools.product([False, True], repeat=4):
        one, two = np.where(swapped, b, a), np.where(swapped, a, b)
        differences.append(pearsonr(human, one)[0] - pearsonr(human, two)[0])
    found = permutation_test(human, scores, level="system", draws=20000)
    assert found.test == "perm_systems"
    assert found.deltas[0, 1] == pytest.approx(differences[0])
    assert found.p[0, 1] == pytest.approx(np.mean(np.array(differences) >= differences[0] - 1e-12), abs=0.018)
    assert found.p[1, 0] == pytest.approx(np.mean(np.array(differences) <= differences[0] + 1e-12), abs=0.018)
    two_sided = permutation_test(human, scores, level="system", draws=20000, alternative="two-sided")
    assert (
        two_sided.p[1, 0]
        == two_sided.p[0, 1]
        == pytest.approx(np.mean(np.abs(differences) >= differences[0] - 1e-12), abs=0.018)
    )


def test_three_items_of_two_systems_by_hand():
    # Two systems an item: tau is 1 where the metric orders them as people do, else -1. The first metric is right on all
    # three items, the second on none: d = 2. Swapping items gives d* = 2, 2/3 (three ways), -2/3 (three) and -2: p =
    # 1/8 for d* >= 2.
    # 20,000 draws: sd 0.0023, five of them allowed. Differences of sums tie here: a strict > would say 0.
    human = np.array([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]])
    scores = np.stack([human, -human])
    found = permutation_test(human, scores, generalise_to="inputs", statistic="kendall_b", draws=20000)
    assert found.values.tolist() == [1.0, -1.0]
    assert found.p[0, 1] == pytest.approx(1 / 8, abs=0.012)
    assert found.p[1, 0] == 1.0


@LEVELS
@STATISTICS
@POPULATIONS
def test_identical_metrics_get_p_one(where, statistic, population):
    human, scores = alike(np.random.default_rng(0), 5, 6, n_metrics=1)
    twice = np.concatenate([scores, scores, 100 * scores + 3])  # on another scale it is still the same metric
    found = permutation_test(human, twice, generalise_to=population, statistic=statistic, draws=50, **where)
    off_diagonal = ~np.eye(3, dtype=bool)
    assert (found.p[off_diagonal] == 1).all()
    assert np.isnan(np.diag(found.p)).all()


@LEVELS
@STATISTICS
def test_a_constant_metric_has_no_p(where, statistic):
    human, scores = alike(np.random.default_rng(0), 5, 6)
    scores[1] = 0.1 + 0.2
    found = permutation_test(human, scores, statistic=statistic, draws=50, **where)
    assert np.isnan(found.p).all()
    assert np.isnan(found.values[1])
    assert not np.isnan(found.values[0])
    assert (found.n_used[0] > 0, found.n_undefined[0]) == (True, 0)
    assert (found.n_used[1], found.n_undefined[1] > 0) == (0, True)


@LEVELS
@STATISTICS
def test_company_order_and_scale_change_nothing(where, statistic):
    human, scores = alike(np.random.default_rng(1), 5, 8, n_metrics=4)
    together = permutation_test(human, scores, statistic=statistic, draws=200, seed=3, **where)
    alone = permutation_test(human, scores[[1, 3]], statistic=statistic, draws=200, seed=3, **where)
    turned = permutation_test(
        human, scores[[3, 1]] * [[[5.0]], [[0.01]]] - 7, statistic=statistic, draws=200, seed=3, **where
    )
    assert together.p[1, 3] == alone.p[0, 1] == turned.p[1, 0]
    assert together.p[3, 1] == alone.p[1, 0] == turned.p[0, 1]
    assert together.deltas[1, 3] == pytest.approx(turned.deltas[1, 0])


@LEVELS
@POPULATIONS
def test_the_two_directions_and_the_two_sides_agree(where, population):
    human, scores = alike(np.random.default_rng(2), 6, 7)
    options = {"generalise_to": population, "draws": 999, "seed": 5, **where}
    directed, both_sides = (
        permutation_test(human, scores, **options),
        permutation_test(human, scores, alternative="two-sided", **options),
    )
    # every draw is on one side or the other or ties with d, and the null is even about 0 in the limit
    assert directed.p[0, 1] + directed.p[1, 0] >= 1 + 1 / 1000
    assert both_sides.p[0, 1] == pytest.approx(2 * min(directed.p[0, 1], directed.p[1, 0]), abs=0.15)
    assert both_sides.p[0, 1] >= min(directed.p[0, 1], directed.p[1, 0])


def test_a_clear_difference_is_found_and_p_is_never_zero():
    rng = np.random.default_rng(3)
    human, scores = alike(rng, 8, 60)
    scores[1] = human + 6 * rng.normal(size=human.shape)
    found = permutation_test(human, scores, draws=199)
    assert found.p[0, 1] == pytest.approx(1 / 200)
    assert found.p[1, 0] == 1.0


def test_one_metric_has_a_value_and_nobody_to_beat():
    human, scores = alike(np.random.default_rng(3), 4, 5, n_metrics=1)
    for options in ({}, {"averaging": "none"}, {"level": "system"}, {"statistic": "kendall_b"}):
        found = permutation_test(human, scores, draws=9, **options)
        assert np.isfinite(found.values).all()
        assert np.isnan(found.p).all()


def test_missing_judgements_drop_their_entries():
    human, scores = alike(np.random.default_rng(4), 5, 12)
    human[1, :4] = human[3, 7] = np.nan
    human[1:, 11] = np.nan  # one system left: no correlation there
    spoilt = scores.copy()
    spoilt[:, np.isnan(human)] = 1e9  # what nobody judged does not matter, whatever the metric says
    for averaging in ("none", "item", "sys"):
        plain, other = (permutation_test(human, m, averaging=averaging, draws=100) for m in (scores, spoilt))
        assert plain.p[0, 1] == other.p[0, 1]
        assert plain.values.tolist() == other.values.tolist()
    by_item = permutation_test(human, scores, draws=10)
    assert (by_item.n_used.tolist(), by_item.n_undefined.tolist()) == ([11, 11], [1, 1])
    by_hand = [
        pearsonr(h[~np.isnan(h)], m[~np.isnan(h)])[0] for h, m in zip(human.T[:11], scores[0].T[:11], strict=True)
    ]
    assert by_item.values[0] == pytest.approx(np.mean(by_hand))


def test_a_score_may_be_missing_where_nobody_judged():
    human, scores = alike(np.random.default_rng(4), 5, 12)
    human[1, :4] = np.nan
    gaps = scores.copy()
    gaps[:, 1, :4] = np.nan
    for options in ({}, {"level": "system"}):
        full, lacking = (permutation_test(human, m, draws=50, **options) for m in (scores, gaps))
        np.testing.assert_array_equal(full.p, lacking.p)
    with pytest.raises(InputError, match="metric 0 has no finite score for system 1, item 0"):
        permutation_test(human, gaps, level="system", system_scores="all", draws=50)


def test_system_scores_over_rated_or_all_segments():
    human, scores = alike(np.random.default_rng(5), 4, 10)
    human[:, 5:] = np.nan
    rated = permutation_test(human, scores, level="system", draws=10)
    every = permutation_test(human, scores, level="system", draws=10, system_scores="all")
    people = human[:, :5].mean(axis=1)
    assert rated.values[0] == pytest.approx(pearsonr(people, scores[0][:, :5].mean(axis=1))[0])
    assert every.values[0] == pytest.approx(pearsonr(people, scores[0].mean(axis=1))[0])


def test_a_system_nobody_judged_is_left_out():
    human, scores = alike(np.random.default_rng(6), 5, 10)
    human[2] = np.nan
    kept = np.array([0, 1, 3, 4])
    with_it = permutation_test(human, scores, level="system", statistic="kendall_b", draws=1)
    assert with_it.values[1] == pytest.approx(kendalltau(human[kept].mean(axis=1), scores[1][kept].mean(axis=1))[0])


def test_draws_without_a_value_are_counted():
    # Two systems, one item: people tell them apart, metric 1 does, metric 2 does not; a mixture of (1, 2) and (0, 0)
    # standardised is constant never or always by pattern: over the four patterns the values are r = 1 or undefined, so
    # no difference is ever defined.
    human = np.array([[1.0], [2.0], [3.0]])
    scores = np.array([[[1.0], [2.0], [4.0]], [[0.0], [0.0], [1.0]]])
    # standardised, metric 2 is (-.71, -.71, 1.41) and metric 1 (-1.07, -.27, 1.34): no mixture of three is constant
    found = permutation_test(human, scores, draws=64)
    assert found.n_undefined_draws.tolist() == [[0, 0], [0, 0]]
    # coarse metrics on two items: swapping makes some mixture constant on both
    people = np.array([[1.0, 1.0], [2.0, 2.0]])
    coarse = np.array([[[0.0, 0.0], [1.0, 1.0]], [[1.0, 1.0], [0.0, 0.0]]])
    # (0, 1) against (1, 0) in both items: swapping one system of an item leaves (1, 1) and (0, 0). Undefined on both
    # items with chance 1/4; 4000 draws: sd 0.007, five of them allowed
    for statistic in ("pearson", "kendall_b", "spearman"):
        found = permutation_test(people, coarse, draws=4000, statistic=statistic)
        assert found.n_undefined_draws[0, 1] / 4000 == pytest.approx(0.25, abs=0.035)
        # of the 12 patterns left, d* = 2 where no defined item is swapped: (stay, stay), (stay, undefined) and its
        # turn: 1 + 2 + 2 = 5
        assert found.p[0, 1] == pytest.approx(5 / 12, abs=0.05)


@settings(max_examples=30, deadline=None)
@given(
    st.integers(3, 5),
    st.integers(2, 5),
    st.integers(0, 2**32 - 1),
    st.sampled_from(["pearson", "spearman", "kendall_b"]),
    st.sampled_from(["none", "item", "sys"]),
    st.sampled_from(["both", "inputs", "systems"]),
    st.booleans(),
)
def test_p_is_a_share_and_undefined_only_with_the_difference(
    n_systems, n_items, seed, statistic, averaging, population, coarse
):
    rng = np.random.default_rng(seed)
    human, scores = alike(rng, n_systems, n_items, n_metrics=3)
    if coarse:
        human, scores = np.rint(human), np.rint(scores)
    human[rng.random(human.shape) < 0.2] = np.nan
    human[0, :2] = [0.0, 1.0]
    found = permutation_test(
        human, scores, generalise_to=population, averaging=averaging, statistic=statistic, draws=19
    )
    known = ~np.isnan(found.p)
    assert ((found.p[known] >= 1 / 20) & (found.p[known] <= 1)).all()
    lost = np.isnan(found.deltas) | np.eye(3, dtype=bool) | (found.n_undefined_draws == 19)
    np.testing.assert_array_equal(~known, lost)


@pytest.mark.parametrize(
    ("human", "scores", "options", "says"),
    [
        (np.zeros((3, 2)), np.zeros((2, 3, 4)), {}, r"judgements have shape \(3, 2\) and scores \(2, 3, 4\)"),
        (np.zeros((3, 2)), np.full((2, 3, 2), np.nan), {}, "metric 0 has no finite score for system 0, item 0"),
        (np.full((3, 2), np.inf), np.zeros((2, 3, 2)), {}, "infinite"),
        (np.zeros((2, 5)), np.ones((2, 2, 5)), {"level": "system"}, "2 systems have judgements, expected 3"),
        (np.zeros((3, 2)), np.ones((2, 3, 2)), {"draws": 0}, "draws is 0"),
        (
            np.zeros((3, 2)),
            np.ones((2, 3, 2)),
            {"generalise_to": "items"},
            "generalise_to is 'items'; did you mean .*'inputs'",
        ),
        (np.zeros((3, 2)), np.ones((2, 3, 2)), {"statistic": "kendall"}, "did you mean 'kendall_b'"),
        (np.zeros((3, 2)), np.ones((2, 3, 2)), {"averaging": "system"}, "averaging is 'system'"),
        (np.zeros((3, 2)), np.ones((2, 3, 2)), {"alternative": "less"}, "alternative is 'less'"),
        (np.zeros((3, 2)), np.ones((2, 3, 2)), {"seed": -1}, "seed is -1"),
    ],
)
def test_what_cannot_be_tested_is_refused(human, scores, options, says):
    with pytest.raises(InputError, match=says):
        permutation_test(human, scores, **options)
