"""The level of one system: direction, words and the worst items."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nlgauge import InputError, metric
from nlgauge.gating.level import level
from nlgauge.gating.outputs import Outputs, from_texts
from nlgauge.gating.scored import Scored
from nlgauge.stats.gates import bound_level


def side(*scores, groups=None):
    texts = [f"text {i}" for i in range(len(scores))]
    outputs = Outputs.of(from_texts(texts, "run", groups=groups), "run")
    return Scored(outputs, {"m": [np.atleast_1d(np.asarray(one, dtype=float)) for one in scores]}, {"m": "m"})


SCORES = np.random.default_rng(0).normal(0.8, 0.05, 60)


def test_the_lower_bound_decides():
    rouge = metric("rouge1")
    assert level("m", rouge, side(*SCORES), 0.75).verdict == "PASS"
    assert level("m", rouge, side(*SCORES), 0.85).verdict == "FAIL"
    found = level("m", rouge, side(*SCORES), float(SCORES.mean()) - 0.002)
    assert found.verdict == "INCONCLUSIVE"
    assert "you have 60 items; a mean like this one needs about" in found.text


def test_lower_is_better_asks_for_at_most():
    ter = metric("ter")
    found = level("m", ter, side(*(100 * SCORES)), 90)
    assert found.verdict == "PASS"
    assert found.low < found.mean < found.high
    bad = level("m", ter, side(*(100 * SCORES)), 70)
    assert "expected at most 70" in bad.text
    assert bad.text.splitlines()[2].startswith(f"  {int(SCORES.argmax()) + 1}  ")


def test_passes_without_a_failure_are_no_proof():
    found = level("m", metric("rouge1"), side(*[1.0] * 12), 0.85)
    # .85^n <= .05 from 19 on
    assert (found.verdict, "needs about 19" in found.text) == ("INCONCLUSIVE", True)
    assert level("m", metric("rouge1"), side(*[1.0] * 19), 0.85).verdict == "PASS"


def test_an_item_without_a_score_fails():
    found = level("m", metric("rouge1"), side(*SCORES, math.nan), 0.5)
    assert found.verdict == "FAIL"
    assert "1 of 61 items have no score (61)" in found.text
    with pytest.raises(InputError, match="no item has a score"):
        level("m", metric("rouge1"), side(math.nan), 0.5)


def test_an_item_keeps_its_group_where_others_have_no_score():
    groups = [i // 5 for i in range(60)]
    scores = np.repeat(SCORES[:12], 5)
    scores[[0, 30]] = math.nan
    known = np.delete(np.arange(60), [0, 30])
    plain = bound_level(scores[known], 0.8, [groups[i] for i in known], least=0.0)
    assert level("m", metric("rouge1"), side(*scores, groups=groups), 0.8).high == pytest.approx(plain.high)


def test_few_groups_never_pass():
    found = level("m", metric("rouge1"), side(*SCORES, groups=[i // 20 for i in range(60)]), 0.5)
    assert "3 groups are too few to pass" in found.text
