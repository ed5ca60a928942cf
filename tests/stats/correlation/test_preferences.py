import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.stats.correlation.correlate import correlation
from nlgauge.stats.correlation.preferences import (
    accuracy_of,
    darr_pairs,
    kendall_like,
    outcomes,
    preference,
    preference_accuracy,
    rr_kendall,
    tau_of,
)
from nlgauge.stats.shares import clopper_pearson

points = st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 100)), min_size=2, max_size=10)


def value(ratio):
    return float(ratio.value)


def test_by_hand_with_a_metric_tie():
    # judgements 90 60 40 10, scores 4 3 3 1: all six pairs are 25 or more apart except 60-40. C: 90-60 90-40 90-10
    # 60-10 40-10: all five
    assert value(kendall_like([4, 3, 3, 1], [90, 60, 40, 10])) == 1.0
    # scores 4 4 3 1: 90-60 is a metric tie, a loss for WMT: (4 - 1) / 5; other policies: 4/5 (half and zero), 4/4
    scores = [4, 4, 3, 1]
    found = {
        ties: value(kendall_like(scores, [90, 60, 40, 10], ties=ties)) for ties in ("loss", "half", "zero", "exclude")
    }
    assert found == {"loss": 3 / 5, "half": 4 / 5, "zero": 4 / 5, "exclude": 1.0}


@pytest.mark.parametrize(("gap", "counted"), [(24.9, 0), (25, 1), (25.1, 1)])
def test_the_threshold_is_inclusive(gap, counted):
    assert kendall_like([1, 0], [50 + gap, 50]).denominator == counted


def test_a_threshold_met_but_for_rounding_is_met():
    assert 75.1 - 50.1 < 25  # 24.999999999999993 in float64
    assert kendall_like([1, 0], [75.1, 50.1]).denominator == 1
    assert len(darr_pairs(np.array([75.1, 50.1]), np.zeros(2, int))[0]) == 1


def test_human_ties_at_threshold_zero_count_only_where_asked_for():
    # judgements 1 1 2, scores 0 1 2: of three pairs one is tied by people
    assert kendall_like([0, 1, 2], [1, 1, 2], threshold=0).denominator == 2
    assert value(kendall_like([0, 1, 2], [1, 1, 2], threshold=0)) == 1.0
    released = kendall_like([0, 1, 2], [1, 1, 2], threshold=0, human_ties_lose=True)
    assert (float(released.denominator), value(released)) == (3, 1 / 3)


def test_no_pair_is_undefined():
    assert np.isnan(value(kendall_like([1, 2], [50, 60])))
    assert np.isnan(value(rr_kendall([1.0], [1.0], ties="exclude")))


@given(points, st.sampled_from([0, 1, 25, 100]), st.sampled_from(["loss", "half", "exclude", "zero"]))
def test_kendall_like_follows_its_definition(data, threshold, ties):
    wins = losses = tied = 0
    for (a, h), (b, k) in combinations(data, 2):
        if abs(h - k) >= threshold and h != k:
            sign = np.sign(a - b) * np.sign(h - k)
            wins, losses, tied = wins + (sign > 0), losses + (sign < 0), tied + (sign == 0)
    expected = {
        "loss": (wins - losses - tied, wins + losses + tied),
        "exclude": (wins - losses, wins + losses),
        "half": (wins + tied / 2 - losses - tied / 2, wins + losses + tied),
        "zero": (wins - losses, wins + losses + tied),
    }[ties]
    x, z = np.array(data, dtype=float).T
    found = kendall_like(x, z, threshold=threshold, ties=ties)
    assert (float(found.numerator), float(found.denominator), float(found.ties)) == (*expected, tied)


@given(points, st.sampled_from([1, 25, 60]))
def test_darr_pairs_scored_as_better_and_worse_give_the_kendall_like_statistic(data, threshold):
    x, z = np.array(data, dtype=float).T
    better, worse = darr_pairs(z, np.zeros(len(z), int), threshold=threshold)
    assert (z[better] - z[worse] >= threshold).all()
    pairs, direct = rr_kendall(x[better], x[worse]), kendall_like(x, z, threshold=threshold)
    assert (float(pairs.numerator), float(pairs.denominator)) == (float(direct.numerator), float(direct.denominator))


def test_darr_pairs_stay_inside_their_source_and_skip_what_nobody_judged():
    z = np.array([90, 10, 50, np.nan, 0])
    better, worse = darr_pairs(z, np.array([0, 1, 0, 0, 1]))
    assert list(zip(better.tolist(), worse.tolist(), strict=True)) == [(0, 2)]


def test_better_worse_by_hand():
    # five pairs: three won, one lost, one tied
    better, worse = [2, 2, 2, 1, 1], [1, 1, 1, 2, 1]
    assert [value(rr_kendall(better, worse, ties=t)) for t in ("loss", "half", "exclude", "zero")] == [
        1 / 5,
        2 / 5,
        2 / 4,
        2 / 5,
    ]
    assert [value(preference(better, worse, ties=t)) for t in ("loss", "half", "exclude", "zero")] == [
        3 / 5,
        3.5 / 5,
        3 / 4,
        3 / 5,
    ]


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=12),
    st.sampled_from(["loss", "half", "exclude"]),
)
def test_tau_is_twice_the_accuracy_less_one(data, ties):
    better, worse = np.array(data, dtype=float).T
    tau, accuracy = rr_kendall(better, worse, ties=ties), preference(better, worse, ties=ties)
    assert value(tau) == pytest.approx(2 * value(accuracy) - 1, nan_ok=True)


def test_a_missing_score_is_a_loss_in_the_count():
    assert [int(count) for count in outcomes([1, np.nan, 2], [0, 0, np.nan])] == [1, 2, 0]


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


def test_an_accuracy_of_one_hundred_percent_still_has_an_interval():
    # z^2 = 3.8415: n / (n + z^2) with n = 20
    found = preference_accuracy(np.ones(20), np.zeros(20))
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(20 / (20 + 3.841459))


def test_refusals():
    with pytest.raises(InputError, match="ties is 'lose'; did you mean 'loss'"):
        tau_of(np.array(1), np.array(1), np.array(1), "lose")
    with pytest.raises(InputError, match="ties is 'wrong'"):
        accuracy_of(np.array(1), np.array(1), np.array(1), "wrong")
    with pytest.raises(InputError, match="threshold is -1"):
        kendall_like([1, 2], [1, 2], threshold=-1)


def test_the_exact_interval_is_an_option():
    exact = preference_accuracy([1, 1, 0], [0, 0, 1], interval="clopper-pearson")
    assert (exact.low, exact.high) == clopper_pearson(2, 3)
    with pytest.raises(InputError, match="interval"):
        preference_accuracy([1], [0], interval="exact")


def test_pairs_that_count_are_the_same_by_either_name():
    better, worse = [1, 1, 1, 0], [0, 1, 2, 0]  # a win, a tie, a loss, a tie
    whole = preference_accuracy(better, worse, ties="exclude")
    found = correlation("preference_accuracy", better, worse, ties="exclude")
    assert (found.n_used, found.n_undefined) == (whole.n_used, whole.n_undefined) == (2, 2)
    tau = correlation("rr_kendall", better, worse, ties="exclude")
    assert (tau.n_used, tau.n_undefined) == (2, 2)
