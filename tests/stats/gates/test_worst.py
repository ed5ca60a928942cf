"""The worst case, and what a sample can miss: by hand, and in accord with their p-values."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from nlgauge.stats.gates.worst import (
    believed_loss,
    items_without_loss,
    unseen_bound,
    unseen_p,
    worst_case_bound,
    worst_case_p,
)
from nlgauge.stats.shares import clopper_pearson


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
