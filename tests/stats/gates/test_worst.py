"""The worst case: by hand, and in accord with its p-value."""

from __future__ import annotations

import pytest

from nlgauge.stats.gates.worst import items_without_loss, worst_case_bound, worst_case_p


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
