"""Shares with intervals that know where trials come from."""

import math

import numpy as np
import pytest

from nlgauge.choosing.evidence import CRITERIA, DRAWS, Evidence, interval_of, share
from nlgauge.stats.draws import wilson


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
    row = Evidence("chrf", "copies", 0.5, 0.4, 0.6, 12, "your references").as_row(2.0)
    assert row == {
        **{"metric": "chrf", "criterion": "copies", "value": 0.5, "low": 0.4, "high": 0.6, "n": 12},
        **{"weight": 2.0, "source": "your references"},
    }
    assert row["criterion"] in CRITERIA


def test_what_few_texts_say_has_no_weight():
    # six of six errors seen: by chance alone it happens once in 64 tries, for one of the dozens of shares of a table
    six, ten = (Evidence("chrf", "errors.facts", 1.0, 0.5, 1.0, n, "your outputs") for n in (6, 10))
    assert (six.is_few, six.as_row(2.0)["weight"]) == (True, 0.0)
    assert (ten.is_few, ten.as_row(2.0)["weight"]) == (False, 2.0)
    assert not Evidence("chrf", "apart", 1.0, 0.5, 1.0, 1, "your systems").is_few  # it counts pairs of systems


def test_no_draws_have_no_interval():
    assert all(math.isnan(end) for end in interval_of(np.empty(0)))
    assert interval_of(np.linspace(0, 1, 41)) == pytest.approx((0.025, 0.975))
