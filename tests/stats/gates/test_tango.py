"""Tango's interval: the published one, McNemar at 0, and how often it is wrong, by full enumeration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from nlgauge.core.errors import InputError
from nlgauge.stats.gates.tango import tango_bounds, tango_interval, tango_statistic


def test_the_published_interval():
    # Tango (1998), b = 1, c = 7, n = 21
    found = tango_interval(1, 7, 21)
    assert (found.low, found.high) == pytest.approx((-0.5172, -0.0260), abs=5e-5)
    assert found.delta == pytest.approx(-6 / 21)


def test_at_no_difference_it_is_mcnemars_statistic():
    # (b - c) / sqrt(b + c)
    assert tango_statistic(3, 9, 50, 0.0) == pytest.approx((3 - 9) / math.sqrt(12))
    assert tango_statistic(0, 0, 50, 0.0) == 0


def test_without_any_change_the_bound_is_no_point():
    # Z(D) = z with b = c = 0 is n |D| = z^2 (1 - |D|)
    found = tango_interval(0, 0, 40, level=0.9)
    z = stats.norm.ppf(0.95)
    assert found.low == pytest.approx(-(z**2) / (40 + z**2))
    assert found.high == pytest.approx(-found.low)


@given(b=st.integers(0, 30), c=st.integers(0, 30), rest=st.integers(0, 60), level=st.sampled_from([0.8, 0.9, 0.99]))
def test_the_interval_holds_what_was_seen_and_turns_with_the_sides(b, c, rest, level):
    if b + c + rest == 0:
        return
    one, other = (tango_interval(*pair, b + c + rest, level=level) for pair in ((b, c), (c, b)))
    assert -1 <= one.low <= one.delta <= one.high <= 1
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=1e-9)
    z = stats.norm.ppf((1 + level) / 2)
    if one.low > -1:
        assert tango_statistic(b, c, b + c + rest, one.low) == pytest.approx(z, abs=1e-4)


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


@pytest.mark.parametrize("counts", [(3, 3, 5), (-1, 0, 5), (0, 0, 0)])
def test_impossible_counts_are_refused(counts):
    with pytest.raises(InputError, match="expected at most as many as items"):
        tango_interval(*counts)
