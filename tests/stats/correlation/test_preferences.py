import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.stats.correlation.preferences import auc, mcnemar, preference_accuracy, wilson

pairs = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=20)


def test_wins_ties_and_losses_by_hand():
    found = preference_accuracy([3, 2, 1, 5], [1, 2, 2, 4])
    assert (found.wins, found.n_ties, found.losses, found.n_used, found.n_undefined) == (2, 1, 1, 4, 0)
    assert found.value == 0.5
    assert found.chance == 0.375  # three pairs guessed right half of the time, the tie lost: 1.5 of 4


@pytest.mark.parametrize(
    ("ties", "value", "chance", "n_used"),
    [
        ("loss", 2 / 4, 1.5 / 4, 4),
        ("zero", 2 / 4, 1.5 / 4, 4),
        ("half", 2.5 / 4, 2 / 4, 4),
        ("exclude", 2 / 3, 1 / 2, 3),
    ],
)
def test_ties_are_settled_as_asked(ties, value, chance, n_used):
    found = preference_accuracy([3, 2, 1, 5], [1, 2, 2, 4], ties=ties)
    assert (found.value, found.chance, found.n_used) == (pytest.approx(value), pytest.approx(chance), n_used)
    assert found.n_undefined == 4 - n_used
    assert found.n_ties == 1


def test_phenomena_are_averaged_not_pooled():
    # negation 1 of 1, typos 1 of 3: the mean is 2/3, the pool would say 1/2
    found = preference_accuracy([2, 2, 1, 1], [1, 1, 2, 2], ["negation", "typos", "typos", "typos"])
    assert found.value == pytest.approx((1 + 1 / 3) / 2)
    assert {label: part.value for label, part in found.groups.items()} == {
        "negation": 1.0,
        "typos": pytest.approx(1 / 3),
    }
    assert (found.n_used, found.averaging, found.wins) == (2, "item", 2)
    assert math.isnan(found.low)


def test_a_group_without_a_pair_left_is_counted_as_undefined():
    found = preference_accuracy([2, 1], [1, 1], ["a", "b"], ties="exclude")
    assert (found.value, found.n_used, found.n_undefined) == (1.0, 1, 1)


def test_missing_scores():
    better, worse = [2, None, 2], [1, 1, math.nan]
    with pytest.raises(InputError, match=r"a score is missing in 2 of 3 pairs \(first: pair 1\)"):
        preference_accuracy(better, worse)
    assert preference_accuracy(better, worse, missing="drop").value == 1.0
    assert preference_accuracy(better, worse, missing="drop").n_undefined == 2
    assert preference_accuracy(better, worse, missing="worst").value == pytest.approx(1 / 3)


@given(st.integers(0, 30), st.integers(1, 30), st.sampled_from([0.8, 0.95, 0.99]))
def test_wilson_agrees_with_scipy(successes, more, confidence):
    n = successes + more
    theirs = scipy.stats.binomtest(successes, n).proportion_ci(confidence, method="wilson")
    assert [float(end) for end in wilson(successes, n, confidence)] == pytest.approx(
        [theirs.low, theirs.high], abs=1e-12
    )


def test_an_accuracy_of_one_hundred_percent_still_has_an_interval():
    # z^2 = 3.8415: n / (n + z^2) with n = 20
    found = preference_accuracy(np.ones(20), np.zeros(20))
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(20 / (20 + 3.841459))
    assert [float(end) for end in wilson(0, 20)] == [0.0, pytest.approx(3.841459 / 23.841459)]
    assert np.isnan(wilson(0, 0)).all()


def test_wilson_covers_where_the_usual_interval_does_not():
    # exact coverage over all outcomes of n = 30 at a share of 0.9: p +- 1.96 sqrt(p q / n) holds it 81 % of the time
    k = np.arange(31)
    chance = scipy.stats.binom.pmf(k, 30, 0.9)
    low, high = wilson(k, 30)
    assert chance[(low <= 0.9) & (high >= 0.9)].sum() > 0.93
    half = 1.96 * np.sqrt(k / 30 * (1 - k / 30) / 30)
    assert chance[np.abs(k / 30 - 0.9) <= half].sum() < 0.82


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
