"""Bets: wealth by hand, the level at any time, and bounds in accord with p-values."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from nlgauge.core.errors import InputError
from nlgauge.stats.draws import clopper_pearson
from nlgauge.stats.gate_bounds import (
    Bets,
    Studentized,
    believed_loss,
    cluster_error,
    clustered,
    items_without_loss,
    studentized,
    tango_bounds,
    tango_statistic,
    unseen_bound,
    unseen_p,
    worst_case_bound,
    worst_case_p,
)


def test_the_first_bet_by_hand():
    # one difference of 1 in [-1, 1] is 1 in [0, 1]; against a mean of 1/2 the bet is
    # min(sqrt(2 ln 20 / (1/4 * 1 * ln 2)), .75 / .5) = 1.5, so that 1 becomes 1 + 1.5 / 2
    assert Bets.on(np.array([1.0]), 1.0).p_above(0.0) == pytest.approx(1 / 1.75)


def test_a_small_cluster_is_half_a_bet_by_hand():
    # half as large as the largest: 1 becomes 1 + 1.5 * .5 / 2; the second lies on the mean, and wins nothing
    assert Bets.on(np.array([1.0, 0.0]), 1.0, np.array([1.0, 2.0])).p_above(0.0) == pytest.approx(1 / 1.375)


def test_looking_after_every_item_is_paid_for():
    # 400 runs of 200 items without a difference: the share in which any look rejects is at most .05 (+ 3 errors, .033)
    rng = np.random.default_rng(4)
    hits = [Bets.on(rng.choice([-1.0, 0.0, 1.0], 200), 1.0).p_above(0.0) <= 0.05 for _ in range(400)]
    assert np.mean(hits) < 0.083


def test_bounds_and_p_values_agree():
    values = np.random.default_rng(0).normal(0.02, 0.1, 300).clip(-1, 1)
    bets = Bets.on(values, 1.0)
    low, high = bets.bounds()
    assert low < values.mean() < high
    for value in (low - 0.01, low + 0.01):
        assert (bets.p_above(value) <= 0.05) == (value < low)
    for value in (high - 0.01, high + 0.01):
        assert (bets.p_below(value) <= 0.05) == (value > high)


def test_the_sides_are_alike():
    values = np.random.default_rng(1).uniform(-1, 1, 50)
    one, other = Bets.on(values, 1.0).bounds(), Bets.on(-values, 1.0).bounds()
    assert one == pytest.approx((-other[1], -other[0]))


@pytest.mark.parametrize("largest", [0.5, math.inf, 0.0])
def test_without_limits_there_are_no_bets(largest):
    with pytest.raises(InputError, match="lie outside"):
        Bets.on(np.array([1.0]), largest)


# --- The bootstrap-t: its standard errors by hand, its draws by enumeration, and its rule for resamples without spread


def test_single_items_have_the_usual_error():
    values = np.array([1.0, 2.0, 4.0, 7.0])
    sums, sizes = clustered(values, None)
    assert cluster_error(sums, sizes)[0] == pytest.approx(values.std(ddof=1) / 2)


def test_clusters_count_as_one():
    # mean 3; cluster sums of residuals: a (1 - 3) + (3 - 3) = -2, b 5 - 3 = 2; sqrt(2 (4 + 4)) / 3
    sums, sizes = clustered(np.array([1.0, 3.0, 5.0]), ["a", "a", "b"])
    assert sizes.tolist() == [2, 1]
    assert cluster_error(sums, sizes)[0] == pytest.approx(math.sqrt(2 * 8) / 3)
    assert math.isnan(cluster_error(*clustered(np.array([1.0, 3.0]), ["a", "a"]))[0])


def t_of(values):
    values = np.asarray(values, dtype=float)
    error = values.std(ddof=1) / math.sqrt(len(values))
    moved = values.mean() - 7 / 3
    if error == 0:
        return math.copysign(math.inf, moved) if abs(moved) > 1e-12 else 0.0
    return moved / error


def test_draws_are_those_of_all_resamples():
    # three items have 27 resamples; with many draws each share is near its own
    values = [0.0, 2.0, 5.0]
    whole = np.sort([t_of([values[i] for i in drawn]) for drawn in itertools.product(range(3), repeat=3)])
    found = studentized(np.array(values), draws=20_000).t[:, 0]
    for q in (0.3, 0.5, 0.7):  # five standard errors of a share of 20,000 draws are .016
        at = whole[int(q * 27)]
        share, drawn = (whole <= at + 1e-9).mean(), (found <= at + 1e-9).mean()
        assert drawn == pytest.approx(share, abs=0.018)
    assert np.isinf(found).mean() == pytest.approx(3 / 27, abs=0.012)


def test_studentized_bounds_and_p_values_agree():
    rng = np.random.default_rng(3)
    found = studentized(rng.normal(0.1, 1, (5, 40)), draws=999)
    low, high = found.bounds(0.05)
    for value in (-0.3, 0.0, 0.2):
        assert ((found.p_above(value) <= 0.05) == (low > value)).all()
        assert ((found.p_below(value) <= 0.05) == (high < value)).all()


def test_items_that_are_their_own_clusters_change_nothing():
    values = np.random.default_rng(1).normal(size=30)
    alone, own = studentized(values, draws=500), studentized(values, list(range(30)), draws=500)
    assert alone.t == pytest.approx(own.t, rel=1e-9)


def test_differences_that_are_all_alike_are_a_point():
    found = studentized(np.full(20, -0.5), draws=100)
    assert [end[0] for end in found.bounds(0.05)] == [-0.5, -0.5]
    assert found.p_below(-0.4)[0] == pytest.approx(1 / 101)
    assert found.p_above(-0.5)[0] == 1


def test_many_metrics_share_their_draws():
    values = np.random.default_rng(2).normal(size=(3, 25))
    together = studentized(values, draws=300)
    for i, one in enumerate(values):
        assert together.t[:, i] == pytest.approx(studentized(one, draws=300).t[:, 0], rel=1e-9)


def test_what_cannot_be_resampled_is_refused():
    with pytest.raises(InputError, match="2 items or clusters or more, got 1"):
        studentized(np.array([1.0]))
    with pytest.raises(InputError, match="not finite"):
        studentized(np.array([1.0, math.nan]))
    with pytest.raises(InputError, match="3 items but 2 clusters"):
        studentized(np.zeros(3), ["a", "b"])
    with pytest.raises(InputError, match="too few for a level"):
        Studentized(np.zeros(1), np.ones(1), np.zeros((10, 1))).bounds(0.05)


# --- The worst case, and what a sample can miss: by hand, and in accord with their p-values


def test_no_losing_item_by_hand():
    # the share p with (1 - p)^40 = .05
    assert worst_case_bound(0, 40, 2.0) == pytest.approx(-2 * (1 - 0.05 ** (1 / 40)))


@pytest.mark.parametrize(("losing", "allow"), [(0, 0.05), (2, 0.1), (5, 0.3), (40, 0.5)])
def test_bound_and_p_value_agree(losing, allow):
    assert (worst_case_p(losing, 40, 1.0, -allow) < 0.05) == (worst_case_bound(losing, 40, 1.0) > -allow)


def test_an_allowance_beyond_the_scale_is_kept_and_none_at_all_is_not():
    assert worst_case_p(3, 10, 1.0, -1.0) == 0
    assert worst_case_p(0, 10, 1.0, 0.0) == 1


def test_so_many_items_without_a_loss_are_enough():
    n = items_without_loss(1.0, 0.05)
    assert worst_case_bound(0, n, 1.0) > -0.05 >= worst_case_bound(0, n - 1, 1.0)
    assert items_without_loss(1.0, 0.0) is None
    assert items_without_loss(1.0, 1.0) == 1


def test_what_a_sample_can_miss_lies_between_students_bound_and_the_worst_case():
    # without spread: a share p with (1 - p)^n = .05 loses 1, the rest .01
    p = 1 - 0.05 ** (1 / 40)
    still = float(unseen_bound(np.array(-0.01), np.array(0.0), 40, np.array(1.0)))
    assert still == pytest.approx(-0.01 * (1 - p) - p, rel=0.02)  # the grid of chances goes in steps of .035
    # with a spread beside which one lost item is nothing, Student's bound
    wide = float(unseen_bound(np.array(0.0), np.array(1.0), 40, np.array(1.0)))
    assert wide == pytest.approx(stats.t.ppf(0.05, 39), rel=0.01)


@pytest.mark.parametrize(("mean", "error"), [(-0.02, 0.01), (0.0, 0.05), (0.1, 0.001)])
@pytest.mark.parametrize("weight", [1.0, 4.0])
def test_its_p_value_says_what_the_bound_says(mean, error, weight):
    low = float(unseen_bound(np.array(mean), np.array(error), 30, np.array(1.0), 0.05, weight))
    assert (
        unseen_p(mean, error, 30, 1.0, low - 1e-6, weight) <= 0.05 < unseen_p(mean, error, 30, 1.0, low + 1e-3, weight)
    )


def test_missed_clusters_count_by_the_size_of_the_largest():
    # 2 of 20 documents lose: with the share .283 of documents five times the mean size, q = 1.414 / (.717 + 1.414)
    share = clopper_pearson(2, 20, 0.9)[1]
    assert worst_case_bound(2, 20, 1.0, weight=5.0) == pytest.approx(-5 * share / (1 + 4 * share))
    assert worst_case_p(2, 20, 1.0, -5 * share / (1 + 4 * share), weight=5.0) == pytest.approx(0.05)


def test_items_that_all_lose_the_same_start_from_there():
    low = worst_case_bound(0, 30, 1.0, common=-0.01)
    assert low == pytest.approx(-0.01 - (1 - 0.05 ** (1 / 30)) * 0.99)
    assert worst_case_p(0, 30, 1.0, low, common=-0.01) == pytest.approx(0.05)


@pytest.mark.parametrize(("values", "loss"), [((-3, 2), 4.5), ((-3, 3), 3), ((-1, 5), 1), ((-3, -1), 6), ((1, 2), 0)])
def test_a_tail_of_losses_is_believed_to_go_on(values, loss):
    # -3 beside a gain of 2: 3/2 times as far; never more than twice
    assert believed_loss(np.array(values, dtype=float)) == pytest.approx(loss)


# --- Tango's interval: the published one, McNemar at 0, and how often it is wrong, by full enumeration


def test_the_published_interval():
    # Tango (1998), b = 1, c = 7, n = 21
    low, high = tango_bounds(1, 7, 21, stats.norm.ppf(0.975))
    assert (float(low), float(high)) == pytest.approx((-0.5172, -0.0260), abs=5e-5)


def test_at_no_difference_it_is_mcnemars_statistic():
    # (b - c) / sqrt(b + c)
    assert tango_statistic(3, 9, 50, 0.0) == pytest.approx((3 - 9) / math.sqrt(12))
    assert tango_statistic(0, 0, 50, 0.0) == 0


def test_without_any_change_the_bound_is_no_point():
    # Z(D) = z with b = c = 0 is n |D| = z^2 (1 - |D|)
    z = stats.norm.ppf(0.95)
    low, high = tango_bounds(0, 0, 40, z)
    assert low == pytest.approx(-(z**2) / (40 + z**2))
    assert high == pytest.approx(-low)


@given(b=st.integers(0, 30), c=st.integers(0, 30), rest=st.integers(0, 60), level=st.sampled_from([0.8, 0.9, 0.99]))
def test_the_interval_holds_what_was_seen_and_turns_with_the_sides(b, c, rest, level):
    if b + c + rest == 0:
        return
    z, n = stats.norm.ppf((1 + level) / 2), b + c + rest
    (low, high), (other_low, other_high) = tango_bounds(b, c, n, z), tango_bounds(c, b, n, z)
    assert -1 <= low <= (b - c) / n <= high <= 1
    assert (float(low), float(high)) == pytest.approx((-float(other_high), -float(other_low)), abs=1e-9)
    if low > -1:
        assert tango_statistic(b, c, n, low) == pytest.approx(z, abs=1e-4)


def test_arrays_go_together():
    low, high = tango_bounds([1, 0], [7, 0], 21, stats.norm.ppf(0.975))
    assert low[0] == pytest.approx(-0.5172, abs=5e-5)
    assert low[1] == pytest.approx(-high[1])


@pytest.mark.parametrize(("n", "allow"), [(30, 0.05), (100, 0.05), (60, 0.02)])
def test_a_drop_equal_to_the_allowance_rarely_passes(n, allow):
    # all tables of n items; a score test may be above its level, but by little
    b, c = (one[np.add(*np.indices((n + 1, n + 1))) <= n] for one in np.indices((n + 1, n + 1)))
    z = tango_statistic(b, c, n, -allow)
    for gains in (0.01, 0.05, 0.2):
        share = stats.multinomial.pmf(
            np.stack([b, c, n - b - c], axis=1), n, [gains, gains + allow, 1 - 2 * gains - allow]
        )
        assert share[z > stats.norm.ppf(0.95)].sum() < 0.06
