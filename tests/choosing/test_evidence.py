"""Shares with intervals that know where trials come from."""

import math

import numpy as np
import pytest

from nlgauge.choosing.evidence import CRITERIA, DRAWS, Evidence, interval_of, share
from nlgauge.stats.shares import wilson


def test_a_share_of_trials_of_their_own_has_wilsons_interval():
    won = np.array([1.0, 1, 1, 0])
    found = share(won, ["a", "b", "c", "d"])
    assert (found.value, found.n) == (0.75, 4)
    assert (found.low, found.high) == pytest.approx(wilson(3, 4))
    assert found.draws.shape == (DRAWS,)


def test_trials_of_one_text_say_less_than_trials_of_many():
    won = np.array([1.0, 1, 1, 1, 0, 0, 0, 0])
    one, many = share(won, list("aaaabbbb")), share(won, list("abcdefgh"))
    assert one.high - one.low > many.high - many.low


def test_what_does_not_count_is_left_out():
    assert share(np.array([1.0, np.nan, 0.0]), ["a", "b", "c"]).n == 2
    assert share(np.array([np.nan]), ["a"]) is None


def test_the_same_resamples_serve_every_metric():
    won = np.array([1.0, 0, 1, 0, 1, 1])
    one, other = share(won, list("abcdef"), 7), share(1 - won, list("abcdef"), 7)
    np.testing.assert_allclose(one.draws + other.draws, 1)


def test_a_row_has_every_number():
    row = Evidence("chrf", "copies", 0.5, 0.4, 0.6, 9, "your references").as_row(2.0)
    assert row == {
        **{"metric": "chrf", "criterion": "copies", "value": 0.5, "low": 0.4, "high": 0.6, "n": 9},
        **{"weight": 2.0, "source": "your references"},
    }
    assert row["criterion"] in CRITERIA


def test_no_draws_have_no_interval():
    assert all(math.isnan(end) for end in interval_of(np.empty(0)))
    assert interval_of(np.linspace(0, 1, 41)) == pytest.approx((0.025, 0.975))
