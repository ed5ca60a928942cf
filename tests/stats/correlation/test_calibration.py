import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.stats.correlation import calibration
from nlgauge.stats.correlation.calibration import agreement, calibrate, calibrate_entries, calibrate_held_out
from nlgauge.stats.correlation.coefficients import acc_eq
from nlgauge.stats.correlation.entries import Entries

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
    assert found.epsilon == min(e for e, accuracy in tried.items() if accuracy >= best - 1e-12)


@given(grouped)
def test_bins_cannot_be_seen_from_outside(groups):
    # 1 pair held at once: portions, fine bins, a second pass
    entries = laid(groups)
    with pytest.MonkeyPatch.context() as patch:
        plain = calibrate_entries(entries)
        patch.setattr(calibration, "_PAIRS", 1)
        found = calibrate_entries(entries)
    assert repr(found) == repr(plain)  # NaN is not equal to itself, and dataclasses from Python 3.13 on say so


@given(grouped)
def test_fractions_instead_of_whole_weights_find_the_same(groups):
    entries = laid(groups)
    with pytest.MonkeyPatch.context() as patch:
        plain = calibrate_entries(entries)[0]
        patch.setattr(calibration, "_EXACT", 0.0)
        found = calibrate_entries(entries)[0]
    assert found.epsilon == plain.epsilon or np.isnan(found.epsilon)
    assert found.accuracy == pytest.approx(plain.accuracy, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("portion", [1, 1 << 21])
def test_differences_of_any_size_are_told_apart(portion, monkeypatch):
    # human ties 1e-40 and 1e-30 apart, concordant pairs 2e-30 and 1 apart: all but the last are below 2 ** -64 of the
    # largest
    monkeypatch.setattr(calibration, "_PAIRS", portion)
    groups = [[(0, 0), (1e-40, 0)], [(0, 0), (1e-30, 0)], [(0, 0), (2e-30, 1)], [(0, 0), (1, 1)]]
    assert calibrate_entries(laid(groups), exact=True)[0] == calibration.Threshold(1e-30, 1.0, True)
    # two of the pairs differ by rounding alone, beside 1
    assert calibrate_entries(laid(groups))[0] == calibration.Threshold(0.0, 0.75, True)


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
    assert calibrate_entries(laid([[(1, 0), (1, 0), (1, 1)]]))[0] == calibration.Threshold(0.0, 1 / 3, True)


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
    assert found.values.shape == (5, 60)
    assert (~np.isnan(found.values)).sum(axis=0).tolist() == [1] * 60  # every item is evaluated once
    fold = 3
    elsewhere = np.isnan(found.values[fold])
    only = Entries(
        entries.x, entries.z, entries.keep & elsewhere[entries.groups], entries.groups, entries.labels, entries.units
    )
    assert found.epsilons[fold] == calibrate_entries(only)[0].epsilon


def test_calibrating_on_the_data_reported_favours_the_metric():
    # noise: in-sample accuracy exceeds held-out accuracy in nearly every data set; 40 of 40 measured
    rng = np.random.default_rng(1)
    gains = []
    for _ in range(40):
        entries = noise(rng, items=15)
        gains.append(calibrate_entries(entries)[0].accuracy - np.nanmean(calibrate_held_out(entries, 5, rng)[0].values))
    assert np.mean(np.array(gains) >= 0) >= 0.9
    assert np.mean(gains) > 0.005


def test_folds_follow_the_seed():
    entries = noise(np.random.default_rng(2))
    first, again, other = (calibrate_held_out(entries, 4, seed)[0].values for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(np.isnan(first), np.isnan(other))


@pytest.mark.parametrize("folds", [1, 61, -2])
def test_folds_are_refused_beyond_the_items(folds):
    with pytest.raises(InputError, match=f"folds is {folds}, expected a number from 2 to that of the items \\(60\\)"):
        calibrate_held_out(noise(np.random.default_rng(0)), folds, 0)


def test_agreement_is_acc_eq_as_a_ratio():
    ratio = agreement([1, 2, 2, 3], [1, 3, 2, 2])
    assert (float(ratio.numerator), float(ratio.denominator), float(ratio.ties)) == (3, 6, 1)
