import itertools
import math
from dataclasses import replace
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.stats import preferences
from nlgauge.stats.coefficients import acc_eq
from nlgauge.stats.correlate import correlation, correlations
from nlgauge.stats.draws import clopper_pearson
from nlgauge.stats.entries import Entries, by_group
from nlgauge.stats.preferences import (
    accuracy_of,
    agreement,
    calibrate,
    calibrate_entries,
    calibrate_held_out,
    darr_pairs,
    kendall_like,
    mean_of_system_pairs,
    outcomes,
    pairwise,
    preference,
    preference_accuracy,
    rr_kendall,
    sign_flip_p,
    soft_pairwise,
    tau_of,
    within_items,
)

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


values = st.one_of(st.integers(-4, 4).map(float), st.floats(-1, 1).map(lambda v: round(v, 3)))
grouped = st.lists(st.lists(st.tuples(values, st.integers(0, 3)), min_size=1, max_size=7), min_size=1, max_size=5)


def laid(groups):
    x, z = (np.array([pair[side] for group in groups for pair in group], dtype=float) for side in (0, 1))
    code = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    return Entries(x[None], z, np.ones((1, len(x)), bool), code, tuple(range(len(groups))), code)


def mean_accuracy(groups, epsilon):
    found = [float(acc_eq(*np.array(group, dtype=float).T, epsilon=epsilon)) for group in groups if len(group) > 1]
    return np.mean(found)


def thresholds(groups):
    """0 and every difference of scores inside a group."""
    return sorted({0.0, *(abs(a[0] - b[0]) for group in groups for a in group for b in group)})


def test_by_hand():
    # judgements 0 0 1, scores 0 0.2 0.3. Differences 0.2 (people tie: a gain), 0.3 (concordant: a loss), 0.1
    # (concordant: a loss). epsilon 0: 2 of 3; 0.1: 1; 0.2: 2; 0.3: 1. Two thresholds are best: the smaller one, and not
    # unique.
    found = calibrate_entries(laid([[(0, 0), (0.2, 0), (0.3, 1)]]))[0]
    assert (found.epsilon, found.unique) == (0.0, False)
    assert found.accuracy == pytest.approx(2 / 3)
    # scores 0 0.2 1: 0.2 is a gain, 1 and 0.8 are losses: 3 of 3 at 0.2
    found = calibrate_entries(laid([[(0, 0), (0.2, 0), (1, 1)]]))[0]
    assert (found.epsilon, found.accuracy, found.unique) == (0.2, 1.0, True)


@given(grouped)
def test_no_threshold_is_better_and_none_as_good_is_smaller(groups):
    found = calibrate_entries(laid(groups), exact=True)[0]
    if all(len(group) < 2 for group in groups):
        assert np.isnan(found.epsilon)
        assert np.isnan(found.accuracy)
        return
    tried = {epsilon: mean_accuracy(groups, epsilon) for epsilon in thresholds(groups)}
    best = max(tried.values())
    assert found.accuracy == pytest.approx(best, abs=1e-12)  # means of fractions, summed in another order
    # differences of decimals that are equal on paper differ in their last bits
    assert found.epsilon == pytest.approx(
        min(e for e, accuracy in tried.items() if accuracy >= best - 1e-12), abs=1e-12
    )


@given(grouped)
def test_bins_cannot_be_seen_from_outside(groups):
    # 1 pair held at once: portions, fine bins, a second pass
    entries = laid(groups)
    with pytest.MonkeyPatch.context() as patch:
        plain = calibrate_entries(entries)
        patch.setattr(preferences, "_PAIRS", 1)
        found = calibrate_entries(entries)
    assert repr(found) == repr(plain)  # NaN is not equal to itself, and dataclasses from Python 3.13 on say so


@given(grouped)
def test_fractions_instead_of_whole_weights_find_the_same(groups):
    entries = laid(groups)
    with pytest.MonkeyPatch.context() as patch:
        plain = calibrate_entries(entries)[0]
        patch.setattr(preferences, "_EXACT", 0.0)
        found = calibrate_entries(entries)[0]
    assert found.epsilon == plain.epsilon or np.isnan(found.epsilon)
    assert found.accuracy == pytest.approx(plain.accuracy, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("portion", [1, 1 << 21])
def test_differences_of_any_size_are_told_apart(portion, monkeypatch):
    # human ties 1e-40 and 1e-30 apart, concordant pairs 2e-30 and 1 apart: all but the last are below 2 ** -64 of the
    # largest
    monkeypatch.setattr(preferences, "_PAIRS", portion)
    groups = [[(0, 0), (1e-40, 0)], [(0, 0), (1e-30, 0)], [(0, 0), (2e-30, 1)], [(0, 0), (1, 1)]]
    assert calibrate_entries(laid(groups), exact=True)[0] == preferences.Threshold(1e-30, 1.0, True)
    # two of the pairs differ by rounding alone, beside 1
    assert calibrate_entries(laid(groups))[0] == preferences.Threshold(0.0, 0.75, True)


@given(grouped)
def test_scores_times_ten_have_ten_times_the_threshold(groups):
    """In float64 0.3 - 0.1 and 0.7 - 0.5 are two differences, 3 - 1 and 7 - 5 are one."""
    found = calibrate_entries(laid(groups))[0]
    for scale in (10.0, 0.1):
        scaled = calibrate_entries(laid([[(x * scale, z) for x, z in group] for group in groups]))[0]
        assert scaled.accuracy == pytest.approx(found.accuracy, abs=1e-15, nan_ok=True)  # one division
        assert scaled.unique == found.unique
        assert scaled.epsilon == pytest.approx(found.epsilon * scale, rel=1e-14, nan_ok=True)


def test_a_group_of_one_entry_is_left_out():
    with_single = calibrate_entries(laid([[(0, 0), (0.2, 0), (1, 1)], [(5, 5)]]))[0]
    assert with_single.accuracy == 1.0


def test_metric_that_ties_all_pairs_scores_the_share_of_human_ties():
    assert calibrate_entries(laid([[(1, 0), (1, 0), (1, 1)]]))[0] == preferences.Threshold(0.0, 1 / 3, True)


def test_human_ties_may_be_given_a_width():
    # judgements 0 and 0.4 tie at 0.5, so the threshold that ties the scores wins
    x, z, index = np.array([0.0, 1.0]), np.array([0.0, 0.4]), [np.array([[0, 1]])]
    assert calibrate(x, z, index, human_epsilon=0.5).epsilon == 1.0
    assert calibrate(x, z, index).epsilon == 0.0


def noise(rng, items=60, systems=6, metrics=1):
    z = rng.integers(0, 3, size=(systems, items)).astype(float).ravel()
    x = rng.normal(size=(metrics, systems * items))
    item = np.tile(np.arange(items), systems)
    return Entries(x, z, np.ones(x.shape, bool), item, tuple(range(items)), item)


def test_held_out_thresholds_come_from_the_other_folds():
    entries = noise(np.random.default_rng(0))
    found = calibrate_held_out(entries, 5, 0)[0]
    assert found.shape == (5, 60)
    assert (~np.isnan(found)).sum(axis=0).tolist() == [1] * 60  # every item is evaluated once
    fold = 3
    here = ~np.isnan(found[fold])
    kept = entries.keep & ~here[entries.groups]
    (elsewhere,) = calibrate_entries(replace(entries, keep=kept))
    near = by_group(agreement, entries, options={"epsilon": elsewhere.epsilon}).values[0]
    assert found[fold][here].tolist() == near[here].tolist()


def test_calibrating_on_the_data_reported_favours_the_metric():
    # noise: in-sample accuracy exceeds held-out accuracy in nearly every data set; 40 of 40 measured
    rng = np.random.default_rng(1)
    gains = []
    for _ in range(40):
        entries = noise(rng, items=15)
        gains.append(calibrate_entries(entries)[0].accuracy - np.nanmean(calibrate_held_out(entries, 5, rng)[0]))
    assert np.mean(np.array(gains) >= 0) >= 0.9
    assert np.mean(gains) > 0.005


def test_folds_follow_the_seed():
    entries = noise(np.random.default_rng(2))
    first, again, other = (calibrate_held_out(entries, 4, seed)[0] for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(np.isnan(first), np.isnan(other))


@pytest.mark.parametrize("folds", [1, 61, -2])
def test_folds_are_refused_beyond_the_items(folds):
    with pytest.raises(InputError, match=f"folds is {folds}, expected a number from 2 to that of the items \\(60\\)"):
        calibrate_held_out(noise(np.random.default_rng(0)), folds, 0)


def test_agreement_is_acc_eq_as_a_ratio():
    ratio = agreement([1, 2, 2, 3], [1, 3, 2, 2])
    assert (float(ratio.numerator), float(ratio.denominator), float(ratio.ties)) == (3, 6, 1)


# --- Pairwise difference Pearson: the closed forms against loops over all pairs


def looped(x, z, items):
    """Pearson's r over the differences of every ordered pair of outputs for one item."""
    pairs = [(a, b) for a, b in itertools.permutations(range(len(x)), 2) if items[a] == items[b]]
    return np.corrcoef([x[a] - x[b] for a, b in pairs], [z[a] - z[b] for a, b in pairs])[0, 1]


def looped_by_pair(x, z, judged):
    found = []
    for a, b in itertools.combinations(range(len(z)), 2):
        both = judged[a] & judged[b]
        left, right = (v[a, both] - v[b, both] for v in (x, z))
        if both.sum() > 1 and np.ptp(left) > 0 and np.ptp(right) > 0:
            found.append(np.corrcoef(left, right)[0, 1])
    return float(np.mean(found)) if found else None, len(found)


def test_differences_by_hand():
    # item 1: differences of scores 1, 2, 1 against judgements 1, 1, 0; item 2 has one output and no pair.
    # sum of products 1 + 2 + 0 = 3; sums of squares 6 and 2: 3 / sqrt(12)
    found = correlation("pdp", [1, 2, 3, 7], [0, 1, 1, 5], groups=["1", "1", "1", "2"])
    assert found.value == pytest.approx(3 / 12**0.5, abs=1e-15)
    assert (found.n_used, found.n_pairs, found.averaging) == (4, 3, "none")


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(2, 12))
def test_the_closed_form_is_the_loop(seed, n_systems, n_items):
    rng = np.random.default_rng(seed)
    items = rng.integers(n_items, size=n_systems * n_items)
    x, z = rng.normal(size=(2, len(items))) + items  # hard items
    if len(set(items.tolist())) == len(items):
        return
    # 1e-12: sums of some hundred products in another order
    assert correlation("pdp", x, z, groups=items.tolist()).value == pytest.approx(looped(x, z, items), abs=1e-12)


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(3, 12))
def test_the_mean_over_pairs_of_systems_is_the_loop(seed, n_systems, n_items):
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, n_systems, n_items)) + 50
    judged = rng.random((n_systems, n_items)) < 0.8
    expected, n = looped_by_pair(x, z, judged) if judged.sum() > 4 else (None, 0)
    if not n:
        return
    values, used = mean_of_system_pairs(x[None], z, judged)
    assert used[0] == n
    # 1e-6: pairs with two shared items have r of 1 or -1 from differences of nearly equal sums
    assert values[0] == pytest.approx(expected, abs=1e-6)


def test_an_offset_of_an_item_changes_nothing_and_a_grid_is_its_vectors():
    rng = np.random.default_rng(1)
    x, z = rng.normal(size=(2, 4, 30))
    hard = 100 * rng.normal(size=30)
    plain, moved = (correlation("pdp", x + shift, z - shift).value for shift in (0, hard))
    assert moved == pytest.approx(plain, abs=1e-10)
    items = np.tile(np.arange(30), 4).tolist()
    assert correlation("pdp", x.ravel(), z.ravel(), groups=items).value == pytest.approx(plain, abs=1e-12)
    # which items are hard decides
    assert correlation("pearson", x + hard, z - hard, averaging="none").value < -0.9


def test_missing_judgements_leave_their_pairs_out():
    x, z = [[1.0, 2, 4], [3, 1, 2], [2, 5, 1]], [[0.0, 1, 1], [2, None, 3], [1, 4, None]]
    kept = [(i, j) for i in range(3) for j in range(3) if z[i][j] is not None]
    expected = looped([x[i][j] for i, j in kept], [z[i][j] for i, j in kept], [j for _, j in kept])
    assert correlation("pdp", x, z).value == pytest.approx(expected, abs=1e-12)


def test_what_is_constant_within_items_is_undefined():
    x = [[1.0, 2, 3], [1, 2, 3]]
    for name in ("pdp", "pdp_pairs"):
        found = correlations(name, [x, [[1, 2, 3], [3, 2, 1]]], [[1, 2, 3], [2, 2, 1]])
        assert np.isnan(found[0].value)
        assert found[1].value > 0


def test_items_must_be_known():
    with pytest.raises(InputError, match="pdp needs groups, the item of each entry"):
        correlation("pdp", [1, 2, 3], [1, 2, 3])
    with pytest.raises(InputError, match="pdp_pairs needs a grid of systems by items"):
        correlation("pdp_pairs", [1, 2, 3], [1, 2, 3])


def test_pearson_of_what_is_centred_is_the_statistic():
    rng = np.random.default_rng(2)
    x, z, items = rng.normal(size=40), rng.normal(size=40), rng.integers(8, size=40)
    scores, judgements, n_pairs = within_items(x[None], z, items)
    assert np.corrcoef(scores[0], judgements)[0, 1] == pytest.approx(looped(x, z, items), abs=1e-12)
    assert n_pairs == sum(n * (n - 1) // 2 for n in np.bincount(items).tolist())


def test_a_metric_that_knows_the_item_alone_is_undefined():
    rng = np.random.default_rng(3)
    items = np.repeat(np.arange(40), 3)
    assert np.isnan(
        correlation("pdp", rng.normal(size=40)[items] / 3, rng.normal(size=120), groups=items.tolist()).value
    )


@given(st.integers(0, 10**6), st.integers(2, 5))
def test_with_many_items_pairs_of_systems_agree_to_twelve_digits(seed, n_systems):
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, n_systems, 40))
    judged = rng.random((n_systems, 40)) < 0.8  # some 25 shared items: no difference of nearly equal sums
    values, _ = mean_of_system_pairs(x[None], z, judged)
    assert values[0] == pytest.approx(looped_by_pair(x, z, judged)[0], abs=1e-12)


system_scores = st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2)), min_size=2, max_size=8)
ALL_SIGNS = np.array(list(product([-1.0, 1.0], repeat=4)))


def test_pairwise_accuracy_by_hand():
    # people 3 2 1 1, metric 3 1 2 2: pairs 12 agree, 13 agree, 14 agree, 23 and 24 disagree, 34 tied by both: agree
    assert value(pairwise([3, 1, 2, 2], [3, 2, 1, 1])) == 4 / 6


@pytest.mark.parametrize(("ties", "expected"), [("loss", 1 / 3), ("zero", 1 / 3), ("half", 2 / 3), ("exclude", 1.0)])
def test_a_tie_on_one_side_is_settled_as_asked(ties, expected):
    # people 2 1 0, metric 2 2 1 would tie one pair; people 2 2 0 and metric 2 1 1: 12 tied by people, 13 agrees, 23
    # tied by the metric
    ratio = pairwise([2, 1, 1], [2, 2, 0], ties=ties)
    assert value(ratio) == pytest.approx(expected)
    assert ratio.ties == 2


@given(system_scores)
def test_pairwise_accuracy_is_the_share_of_equal_signs(data):
    agree = [np.sign(a - b) == np.sign(h - k) for (a, h), (b, k) in combinations(data, 2)]
    assert value(pairwise(*np.array(data, dtype=float).T)) == pytest.approx(np.mean(agree))


def full_enumeration(x, y):
    """Mid p of "x beats y" over all sixteen sign patterns."""
    gaps = np.array(x) - np.array(y)
    null = ALL_SIGNS @ gaps
    return np.mean((null > gaps.sum() + 1e-9) + 0.5 * (np.abs(null - gaps.sum()) < 1e-9))


def test_sign_flips_by_full_enumeration():
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 4, size=(2, 3, 4)) / 10  # tenths: sums tie up to rounding only
    p = sign_flip_p(scores, np.ones((3, 4), bool), ALL_SIGNS)
    for m, i, j in product(range(2), range(3), range(3)):
        if i != j:
            assert p[m, i, j] == pytest.approx(full_enumeration(scores[m, i], scores[m, j]), abs=1e-12)


def test_gaps_in_the_judgements_leave_each_pair_the_segments_both_have():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(1, 3, 4))
    judged = np.array([[1, 1, 1, 0], [1, 1, 0, 1], [1, 1, 1, 1]], bool)
    p = sign_flip_p(scores, judged, ALL_SIGNS)[0]
    for i, j in combinations(range(3), 2):
        common = judged[i] & judged[j]
        assert p[i, j] == pytest.approx(
            full_enumeration(np.where(common, scores[0, i], 0), np.where(common, scores[0, j], 0))
        )


def test_systems_without_a_common_segment_are_counted_as_undefined():
    judged = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]], bool)
    found = soft_pairwise(np.zeros((1, 3, 4)), np.zeros((3, 4)), judged, draws=10)
    assert (found.n_pairs, found.n_undefined) == (2, 1)
    assert np.isnan(found.human_p[0, 1])
    assert np.isnan(soft_pairwise(np.zeros((1, 2, 4)), np.zeros((2, 4)), judged[:2], draws=10).values[0])


def soft(x, z, **options):
    x, z = np.asarray(x, dtype=float), np.asarray(z, dtype=float)
    return soft_pairwise(x[None], z, np.ones(z.shape, bool), **options)


def test_the_order_of_the_systems_does_not_matter_though_systems_tie():
    # three systems on eight segments, two of them tied under the metric; the released p-values give another number in
    # another order
    rng = np.random.default_rng(3)
    z = rng.integers(0, 3, size=(3, 8)).astype(float)
    x = z[[0, 0, 2]] + np.array([[0.0], [0.0], [0.1]])
    orders = [list(order) for order in permutations(range(3))]
    ours = {round(float(soft(x[o], z[o]).values[0]), 12) for o in orders}
    released = {round(float(soft(x[o], z[o], as_released=True).values[0]), 12) for o in orders}
    assert len(ours) == 1
    assert len(released) > 1


def test_p_values_of_a_pair_add_up_to_one():
    found = soft(np.random.default_rng(0).normal(size=(4, 30)), np.random.default_rng(1).integers(0, 3, size=(4, 30)))
    upper = np.triu_indices(4, 1)
    np.testing.assert_allclose((found.human_p + found.human_p.T)[upper], 1, atol=1e-15)


def test_a_metric_that_equals_the_judgements_scores_one_and_its_negative_little():
    z = np.random.default_rng(0).normal(size=(5, 200)) + np.arange(5)[:, None]
    assert soft(z, z).values[0] == 1
    assert soft(-z, z).values[0] < 0.1


def test_draws_approach_full_enumeration():
    # 20,000 draws: sd of p at most 0.0035; the mean of three differences of two p-values stays within 0.02
    rng = np.random.default_rng(5)
    x, z = rng.normal(size=(3, 4)), rng.normal(size=(3, 4))
    exact = 1 - np.mean(
        [abs(full_enumeration(x[i], x[j]) - full_enumeration(z[i], z[j])) for i, j in combinations(range(3), 2)]
    )
    assert soft(x, z, draws=20000).values[0] == pytest.approx(exact, abs=0.02)


def test_many_metrics_share_the_draws_and_an_offset_costs_nothing():
    rng = np.random.default_rng(6)
    x, z = rng.integers(0, 1 << 16, size=(3, 4, 50)) / 1024, rng.integers(0, 4, size=(4, 50)).astype(float)
    judged = np.ones(z.shape, bool)
    together = soft_pairwise(x, z, judged).values
    assert together.tolist() == [soft_pairwise(x[[m]], z, judged).values[0] for m in range(3)]
    assert soft_pairwise(x + 1e9, z, judged).values.tolist() == together.tolist()


def test_the_released_procedure_is_followed():
    # written out from its description: one float32 mask of signs, `>=`, upper triangle only
    rng = np.random.default_rng(7)
    x, z = rng.integers(0, 9, size=(2, 4, 12)).astype(float)
    signs = 2 * np.rint(np.random.default_rng(11).random((100, 12), dtype=np.float32)) - 1
    apart = []
    for i, j in combinations(range(4), 2):
        p = [np.mean(signs @ (v[i] - v[j]).astype(np.float32) >= (v[i] - v[j]).sum()) for v in (x, z)]
        apart.append(abs(p[0] - p[1]))
    assert soft(x, z, draws=100, seed=11, as_released=True).values[0] == pytest.approx(1 - np.mean(apart))


def test_what_soft_accuracy_cannot_take_is_refused():
    with pytest.raises(InputError, match="compares systems in pairs, got 1"):
        soft([[1, 2]], [[1, 2]])
    with pytest.raises(InputError, match="needs a judgement for every segment"):
        soft_pairwise(np.zeros((1, 2, 2)), np.zeros((2, 2)), np.array([[True, False], [True, True]]), as_released=True)
    with pytest.raises(InputError, match="draws is 0"):
        soft(np.zeros((2, 2)), np.zeros((2, 2)), draws=0)
