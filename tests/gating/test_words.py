"""Sentences about a verdict: what was lost, what is allowed, and what would decide."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nlgauge.gating.words import SAME_TEXTS, flickers, reason, rounded
from nlgauge.stats.gates import Bound

BOUND = Bound(
    method="bootstrap-t", delta=-0.02, error=0.01, low=-0.04, high=-0.005, p_pass=0.5, p_fail=0.5, allow=0.01,
    alpha=0.05, n=40, n_changed=20, n_clusters=None, smallest_drop=0.025, items_needed=870,
)  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "verdict", "told"),
    [
        ({}, "INCONCLUSIVE", "you have 40 items; an allowance of 0.01 needs about 870"),
        ({"items_needed": 30}, "INCONCLUSIVE", "you have 40 items, and the change is too close to the allowance"),
        ({"items_needed": None}, "INCONCLUSIVE", "how many would do is not known"),
        ({"method": "worst-case", "n_changed": 3}, "INCONCLUSIVE", "only 3 of 40 items changed"),
        ({"n_clusters": 4}, "INCONCLUSIVE", "4 groups are too few to pass, expected 10 or more"),
        ({"allow": 0.0}, "INCONCLUSIVE", "so allow a drop"),
        ({"n": 1, "items_needed": None}, "INCONCLUSIVE", "you have 1 item,"),
        ({"high": -0.015}, "FAIL", "the mean lost 0.02, surely more than 0.015; 0.01 is allowed"),
        ({"low": -0.009}, "PASS", "the mean lost 0.02 and lost no more than 0.009; 0.01 is allowed"),
        ({"delta": 0.2, "low": 0.1}, "PASS", "the mean gained 0.2, surely at least 0.1"),
        ({"method": SAME_TEXTS}, "PASS", "the texts are the same"),
    ],
)
def test_each_verdict_says_why(changes, verdict, told):
    assert told in reason(replace(BOUND, **changes), verdict)


@pytest.mark.parametrize(("n", "shown"), [(7, 7), (42, 42), (867, 870), (9001, 9100), (123_456, 130_000)])
def test_numbers_of_items_have_two_digits_and_are_never_too_few(n, shown):
    assert rounded(n) == shown


def test_flicker_asks_for_runs_or_for_items():
    assert flickers(0.8).startswith("80 % of the variance of differences is flicker")
    assert flickers(0.8).endswith("; more runs narrow the bounds")
    assert "more items, rather than runs, narrow" in flickers(0.2)
