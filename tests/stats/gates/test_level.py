"""Bounds of a level: rates by hand, shifts, and scores that are nearly all alike."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from nlgauge.stats.gates.level import bound_level


def test_a_rate_has_the_exact_interval():
    found = bound_level(np.array([1.0] * 17 + [0.0] * 3), 0.6, is_rate=True)
    exact = stats.binomtest(17, 20).proportion_ci(0.9, "exact")
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high))
    assert found.p_pass == pytest.approx(stats.binom.sf(16, 20, 0.6))
    assert found.p_fail == pytest.approx(stats.binom.cdf(17, 20, 0.6))


def test_a_level_moves_with_its_scores():
    scores = np.random.default_rng(1).normal(0.8, 0.1, 50)
    one, other = bound_level(scores, 0.75), bound_level(scores + 3, 3.75)
    assert one.low < one.delta < one.high
    assert (one.low + 3, one.high + 3, one.p_pass) == pytest.approx((other.low, other.high, other.p_pass))
    assert one.delta == pytest.approx(scores.mean())


def test_scores_that_are_alike_are_not_certain():
    found = bound_level(np.full(12, 0.9), 0.85, least=0.0)
    # at worst the share p with (1 - p)^12 = .05 has 0
    assert found.low == pytest.approx(0.9 * 0.05 ** (1 / 12))
    assert found.verdict == "INCONCLUSIVE"


@pytest.mark.parametrize(("value", "verdict"), [(0.7, "PASS"), (0.9, "FAIL")])
def test_clear_levels(value, verdict):
    assert bound_level(np.random.default_rng(2).normal(0.8, 0.1, 60), value, least=0.0).verdict == verdict


def test_a_loss_that_a_sample_may_miss_is_reckoned_with():
    # .05 of the scores are 0, and thirty have none of them with .95^30 = .21
    scores = np.random.default_rng(3).normal(0.8, 0.02, 30)
    found = bound_level(scores, 0.8 * 0.95, least=0.0)
    assert (found.method, found.verdict) == ("unseen", "INCONCLUSIVE")
    assert bound_level(scores, 0.7, least=0.0).verdict == "PASS"
