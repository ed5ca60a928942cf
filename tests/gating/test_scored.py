"""Scores of both sides: directions, rates, runs, and scores that are undefined."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.gating.sides import BASE, REFS, worse

from nlgauge import Runtime, metric
from nlgauge.core.errors import InputError
from nlgauge.gating.outputs import Outputs, from_texts
from nlgauge.gating.scored import Scored, differences, score_side, score_sides


def side(hyps, name="BASE"):
    return Outputs.of(from_texts(hyps, name, REFS[: len(hyps)]), name)


def scored(*runs):
    """A side with these scores."""
    return Scored(side([["a"] * len(one) for one in runs]), {"m": [np.array(one) for one in runs]}, {"m": "m"})


def test_lower_is_better_turns_round():
    base, new = score_sides(side(BASE), side(worse(0.5)), {"ter": metric("ter")}, Runtime())
    found = differences("ter", metric("ter"), base, new, "fail")
    assert (found.values <= 0).all()
    assert found.falls
    assert found.values == pytest.approx(found.base - found.new)
    assert found.largest is None or found.largest > 0


def test_a_pooled_metric_sees_both_sides_in_one_call():
    metrics = {"cider": metric("cider"), "chrf": metric("chrf")}
    base, new = score_sides(side(BASE), side(BASE, "NEW"), metrics, Runtime())
    assert [*base.runs] == ["cider", "chrf"]
    assert base.signatures == new.signatures
    assert np.array_equal(np.concatenate(base.runs["cider"]), np.concatenate(new.runs["cider"]))


def test_runs_are_averaged_before_items_are():
    found = differences("m", metric("chrf"), scored([0.0, 10.0], [4.0]), scored([7.0], [1.0, 3.0]), "fail")
    assert found.values.tolist() == [2.0, -2.0]
    assert not found.is_rate


def test_zeros_and_ones_are_a_rate_on_a_scale_of_one():
    rates = scored([1.0], [0.0])
    assert differences("m", metric("rouge1"), rates, rates, "fail").is_rate
    assert not differences("m", metric("chrf"), rates, rates, "fail").is_rate  # of 100
    assert not differences("m", metric("rouge1"), scored([1.0, 0.0], [0.0]), rates, "fail").is_rate


def test_undefined_scores_are_never_dropped_silently():
    base, new = scored([1.0], [1.0], [math.nan], [math.nan]), scored([1.0], [math.nan], [1.0], [math.nan])
    found = differences("m", metric("rouge1"), base, new, "fail")
    assert found.lost.tolist() == [False, True, False, False]  # what neither side has is not lost
    assert np.isnan(found.values).tolist() == [False, True, True, True]
    assert differences("m", metric("rouge1"), base, new, "worst").values.tolist()[:2] == [0.0, -1.0]
    with pytest.raises(InputError, match="has no worst score"):
        differences("m", metric("ter"), base, new, "worst")


def test_what_an_item_has_to_lose_is_at_stake():
    # .5 and 1 above the worst score: (.25 + 1) / 1.5; a pass has 1 to lose, and a failure cannot show a loss
    known = [scored([0.5], [1.0]), scored([1.0], [0.0], [1.0])]
    stakes = [differences("m", metric("rouge1"), one, one, "fail").at_stake for one in known]
    assert stakes == pytest.approx([1.25 / 1.5, 1.0])
    lost = differences("m", metric("rouge1"), scored([0.5], [1.0]), scored([0.5], [0.0]), "fail")
    assert lost.at_stake == 1.0  # no less than was lost
    falling = differences("m", metric("mer"), scored([0.2]), scored([0.2]), "fail")
    assert falling.at_stake == pytest.approx(0.8)
    assert differences("m", metric("ter"), scored([0.2]), scored([0.3]), "fail").at_stake is None


def test_one_run_without_a_score_leaves_an_item_without_one():
    found = differences("m", metric("chrf"), scored([1.0, math.nan]), scored([1.0, math.nan]), "fail")
    assert found.base.tolist() == [1.0]
    assert found.lost.tolist() == [True]


def test_what_a_metric_needs_is_asked_for():
    alone = Outputs.of(from_texts(["a"], "NEW"), "NEW")
    with pytest.raises(InputError, match="chrf needs references"):
        score_side(alone, {"chrf": metric("chrf")}, Runtime())
