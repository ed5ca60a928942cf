"""Rules: what each metric may lose, and what is refused before anything is scored."""

from __future__ import annotations

import math
import re
from dataclasses import fields, replace
from inspect import signature

import numpy as np
import pytest
from scipy import stats

import nlgauge as ng
from nlgauge import metric
from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment
from nlgauge.gating.outputs import Differences, Outputs, ScoredSide, from_texts
from nlgauge.gating.verdicts import (
    SAME_TEXTS,
    Rules,
    broken,
    decide,
    flaky,
    flickers,
    level,
    m_of_n,
    reason,
    rounded,
    worst_items,
)
from nlgauge.metrics.function import RatingColumn
from nlgauge.plugin.runs import Run
from nlgauge.stats.gates import Bound, bound_difference, bound_level


def test_drops_are_for_all_or_by_metric():
    assert Rules(allow=2).allowed("chrf") == 2
    mixed = Rules(allow={"chrf": 1, "": 0.5}, allow_item={"chrf": 9})
    assert (mixed.allowed("chrf"), mixed.allowed("ter")) == (1, 0.5)
    assert (mixed.allowed_item("chrf"), mixed.allowed_item("ter")) == (9, None)
    with pytest.raises(InputError, match="no drop is allowed or forbidden for ter"):
        Rules(allow={"chrf": 1}).allowed("ter")


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"allow": -1}, "allow is -1"),
        ({"allow": math.nan}, "allow is nan"),
        ({"allow": {"chfr": 1}}, "did you mean 'chrf'"),
        ({"allow_item": -0.1}, "allow_item is -0.1"),
        ({"alpha": 0.7}, "alpha is 0.7"),
        ({"alpha": "0.05"}, "alpha is '0.05'"),
        ({"allow": "1"}, "allow is '1'"),
        ({"min_pass": "8/10"}, "min_pass is '8/10'"),
        ({"undefined": "skip"}, "undefined"),
        ({"min_pass": (9, 8)}, "min_pass is"),
        ({"report_only": frozenset({"chrf"})}, "every metric is only reported"),
    ],
)
def test_rules_out_of_range_are_refused(rules, message):
    with pytest.raises(InputError, match=message):
        Rules(**rules).check(["chrf"])


@pytest.mark.parametrize("door", [ng.gate, Run.no_worse_than])
def test_every_door_has_the_defaults_of_the_rules(door):
    # The command line takes Rules itself; functions spell their keywords out, so that editors show them.
    usual = {one.name: one.default for one in fields(Rules) if one.name != "report_only"}
    spelt = {name: one.default for name, one in signature(door).parameters.items() if name in usual}
    assert spelt == {name: usual[name] for name in spelt}
    assert set(usual) - set(spelt) <= {"draws", "seed"}  # a test in pytest draws as usual


def test_m_of_n():
    assert m_of_n("8/10") == (8, 10)
    for typed in ("8", "0/10", "11/10", "a/b"):
        with pytest.raises(InputError, match="expected M/N"):
            m_of_n(typed)


# --- Sentences about a verdict: what was lost, what is allowed, and what would decide

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
        ({"n_clusters": 4}, "INCONCLUSIVE", "4 groups are too few to pass, expected 30 or more"),
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


# --- The items that lost most, and those that break a limit of their own


def found(base, new, falls=False):
    runs = [np.array(one, dtype=float) for one in base], [np.array(one, dtype=float) for one in new]
    before, after = (np.array([one.mean() for one in side]) for side in runs)
    values = before - after if falls else after - before
    return Differences(before, after, values, np.isnan(after), False, None, falls, runs)


def side(*texts):
    return Outputs("x", {str(i): tuple(Segment(f"{i}{k}", t, ("r",)) for k, t in enumerate(own)) for i, own in
                         enumerate(texts)})  # fmt: skip


def test_the_worst_come_first_with_the_texts_of_their_runs():
    base, new = side(["a"], ["b"], ["c", "C"]), side(["d"], ["e"], ["f", "F"])
    rows = worst_items("m", found([[1], [1], [0, 1]], [[0.5], [1], [0.2, -1]]), base, new)
    assert [(row["seg"], row["base_hyp"], row["new_hyp"]) for row in rows] == [("2", "C", "F"), ("0", "a", "d")]
    assert (rows[0]["delta"], rows[0]["ref"]) == (pytest.approx(-0.9), "r")


def test_where_lower_is_better_the_highest_run_is_shown():
    rows = worst_items("m", found([[1, 5]], [[3, 9]], falls=True), side(["a", "A"]), side(["b", "B"]))
    assert (rows[0]["base_hyp"], rows[0]["new_hyp"]) == ("a", "B")


def test_a_lost_score_comes_first():
    rows = worst_items("m", found([[1], [1]], [[0.5], [math.nan]]), side(["a"], ["b"]), side(["c"], ["d"]))
    assert [row["seg"] for row in rows] == ["1", "0"]


def test_no_more_than_five():
    n = 9
    rows = worst_items("m", found([[1]] * n, [[0]] * n), side(*[["a"]] * n), side(*[["b"]] * n))
    assert len(rows) == 5


def test_items_break_a_limit():
    own = found([[1], [1], [1]], [[0.5], [0.2], [1]])
    assert broken(own, ["a", "b", "c"], 0.5) == ["b"]
    assert broken(own, ["a", "b", "c"], 0.4) == ["b", "a"]
    assert broken(own, ["a", "b", "c"], None) == []


def test_runs_without_a_score_do_not_pass():
    own = found([[1]] * 2, [[0] * 8 + [math.nan] * 2, [1] * 10])
    assert flaky(own, ["a", "b"], (8, 10), 0.05) == ["a"]
    assert flaky(own, ["a", "b"], None, 0.05) == []


# --- From scores to the verdict of the gate: rows, reasons, and what fails whatever the mean does

METRIC = {"m": metric("rouge1")}  # from 0 to 1


def scored(runs, name="BASE", groups=None):
    """A side with these scores by a metric `m`; texts are the scores in words."""
    runs = [np.atleast_1d(one) for one in runs]
    texts = [[f"score {x}" for x in one] for one in runs]
    outputs = Outputs.of(from_texts(texts, name, groups=groups), name)
    return ScoredSide(outputs, {"m": [np.asarray(one, dtype=float) for one in runs]}, {"m": "m"})


RNG = np.random.default_rng(6)
OLD = RNG.uniform(0.4, 0.6, 80)


def judge(new, base=OLD, groups=None, **rules):
    return decide(METRIC, scored(base, groups=groups), scored(new, "NEW", groups), Rules(**{"allow": 0.05, **rules}))


def test_small_changes_pass_and_large_losses_fail():
    found = judge(OLD + RNG.normal(0, 0.02, 80))
    assert found.verdict == "PASS"
    assert found.reasons[0].startswith("m: the mean ")
    found = judge(OLD - 0.2 + RNG.normal(0, 0.02, 80))
    assert (found.verdict, found.rows[0]["verdict"], found.rows[0]["n_changed"]) == ("FAIL", "FAIL", 80)
    assert len(found.items) == 5


def test_the_same_texts_pass_without_a_test():
    found = judge(OLD, allow=0.0)
    assert (found.verdict, found.rows[0]["method"]) == ("PASS", "same texts")
    assert judge([0.5], [0.5]).verdict == "PASS"


def test_the_same_texts_pass_whatever_the_last_bits_are():
    groups = [str(i // 2) for i in range(80)]
    for rules in ({}, {"groups": groups}, {"items": "fixed"}, {"sequential": True}, {"allow_item": 0.0}):
        moved = scored(OLD, "NEW", rules.get("groups"))
        moved.runs["m"][:] = [one + 1e-8 * (-1) ** i for i, one in enumerate(moved.runs["m"])]
        plain = {name: value for name, value in rules.items() if name != "groups"}
        found = decide(METRIC, scored(OLD, groups=rules.get("groups")), moved, Rules(allow=0.0, **plain))
        row = found.rows[0]
        assert (found.verdict, row["method"], row["n_changed"], row["delta"]) == ("PASS", "same texts", 0, 0.0)
        assert (row["base"], found.items) == (row["new"], ())
        # 1 - .05^(1/80)
        assert row["reason"] == "the texts are the same; 80 items may miss what breaks up to 3.7 % of others"


def test_a_text_that_stays_is_no_changed_item_beside_others():
    new = OLD.copy()
    new[:23] -= 0.1
    moved = scored(new, "NEW")
    moved.runs["m"][23:] = [one - 1e-7 for one in moved.runs["m"][23:]]
    row = decide(METRIC, scored(OLD), moved, Rules(allow=0.05)).rows[0]
    assert row["n_changed"] == 23


RATED = {"human.q": RatingColumn(criterion="q")}


def judge_ratings(old, new, groups=None, **rules):
    sides = [
        ScoredSide(scored(one, name, groups).outputs, {"human.q": [np.array([x]) for x in one]}, {"human.q": "q"})
        for one, name in ((old, "BASE"), (new, "NEW"))
    ]
    return decide(RATED, *sides, Rules(**rules))


def test_thirty_ratings_do_not_pass_for_what_they_may_miss():
    # .05 of the outputs fall from .9 to 0, and thirty have none of them with .95^30 = .21
    old = np.linspace(0.8, 0.99, 30)
    found = judge_ratings(old, old - 0.01 * (-1) ** np.arange(30), allow=0.045)
    assert (found.verdict, found.rows[0]["method"]) == ("INCONCLUSIVE", "unseen")
    assert found.notes == (
        "human.q: its scale is not known, and is taken to be 0 to 1; name it with --scale LOW:HIGH (scale=(LOW, HIGH))",
    )
    named = judge_ratings(old, old - 0.01 * (-1) ** np.arange(30), allow=0.045, scale=(0.75, 1))
    assert (named.verdict, named.notes) == ("PASS", ())
    fixed = judge_ratings(old, old - 0.01 * (-1) ** np.arange(30), allow=0.045, items="fixed")
    assert (fixed.verdict, fixed.notes) == ("PASS", ())
    assert judge_ratings(old, old, allow=0.045).notes == ()


def test_a_scale_gives_the_default_allowance_and_room_for_bets():
    old, new = np.full(60, 4.0), np.tile([4.0, 5.0, 3.0], 20)
    assert judge_ratings(old, new, scale={"human.q": (1, 5)}).rows[0]["allow"] == pytest.approx(0.04)
    assert judge_ratings(old, new).rows[0]["allow"] == 0.01
    assert judge_ratings(old, new, scale=(1, 5), sequential=True).rows[0]["method"] == "betting"
    with pytest.raises(InputError, match="the metric has none; name its --scale LOW:HIGH"):
        judge_ratings(old, new, sequential=True)


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"scale": (5, 1)}, r"scale is \(5, 1\), expected the lowest and the highest score"),
        ({"scale": (0, math.inf)}, r"scale is \(0, inf\)"),
        ({"scale": "0:1"}, "scale is '0:1'"),
        ({"scale": {"human.p": (0, 1)}}, "scale names 'human.p', which is not among the metrics"),
    ],
)
def test_scales_that_are_none_are_refused(rules, message):
    with pytest.raises(InputError, match=message):
        Rules(**rules).check(["human.q"])


def test_a_scale_is_for_metrics_without_one():
    assert Rules(scale=(0, 1)).scales({**RATED, **METRIC}) == {"human.q": (0, 1), "m": None}
    for scale, metrics in (((0, 1), METRIC), ({"m": (0, 1), "human.q": (0, 1)}, {**RATED, **METRIC})):
        with pytest.raises(InputError, match="has limits of its own; name it for metrics without"):
            Rules(scale=scale).scales(metrics)


def test_one_bad_item_fails():
    new = OLD.copy()
    new[7] = 0.0
    assert judge(new, allow_item=0.5).verdict == judge(new).verdict
    found = judge(new, allow_item=0.3)
    assert found.verdict == "FAIL"
    assert "1 item has lost more than 0.3 (8)" in found.reasons[0]
    assert found.items[0]["seg"] == "8"


def test_scores_that_are_gone_fail_unless_told_otherwise():
    new = OLD + RNG.normal(0, 0.02, 80)
    new[3] = math.nan
    found = judge(new)
    assert found.verdict == "FAIL"
    assert "1 item has no score in NEW and had one in BASE (4)" in found.reasons[0]
    dropped = judge(new, undefined="drop")
    assert (dropped.verdict, dropped.rows[0]["n"], dropped.rows[0]["n_undefined"]) == ("PASS", 79, 1)
    assert "they are left out" in dropped.notes[0]
    worst = judge(new, undefined="worst")
    assert (worst.rows[0]["n"], worst.items[0]["seg"]) == (80, "4")
    assert judge(np.full(80, math.nan)).verdict == "FAIL"


def test_items_without_a_score_in_base_are_counted():
    base = OLD.copy()
    base[:2] = math.nan
    found = judge(OLD + RNG.normal(0, 0.02, 80), base)
    assert found.rows[0]["n_left_out"] == 2
    assert "2 of 80 items have no score in BASE" in found.notes[0]
    with pytest.raises(InputError, match="m: no item has scores in BASE and in NEW"):
        judge(OLD, np.full(80, math.nan))


def test_groups_are_clusters_unless_told_otherwise():
    groups = [str(i // 4) for i in range(80)]
    new = OLD + RNG.normal(0, 0.02, 80)
    assert judge(new, groups=groups).rows[0]["n_clusters"] == 20
    assert judge(new, groups=groups, items="independent").rows[0]["n_clusters"] is None


def test_an_item_keeps_its_group_where_others_have_no_score():
    groups = [str(i // 4) for i in range(80)]
    change = np.repeat(RNG.normal(0, 0.05, 20), 4)  # one for each group
    base = OLD.copy()
    base[[0, 40]] = math.nan
    row = judge(OLD + change, base, groups=groups).rows[0]
    known = np.delete(np.arange(80), [0, 40])
    room = 1 - OLD[known]  # up to the best score
    most = (room**2).sum() / room.sum()
    plain = bound_difference(change[known], [groups[i] for i in known], allow=0.05, largest=1.0, most=most, draws=4000)
    assert row["high"] == pytest.approx(plain.high)


def test_fixed_items_are_judged_by_what_they_lost():
    new = OLD.copy()
    new[:3] -= 0.4  # 1.2 / 80 = .015 of the mean
    assert judge(new, allow=0.02).verdict == "INCONCLUSIVE"
    found = judge(new, allow=0.02, items="fixed")
    assert (found.verdict, found.rows[0]["method"]) == ("PASS", "fixed")
    assert found.reasons == ("m: the mean of these items lost 0.015; 0.02 is allowed",)
    assert judge(new, allow=0.015, items="fixed").verdict == "PASS"  # no more than is allowed
    assert judge(new, allow=0.014, items="fixed").verdict == "FAIL"
    with pytest.raises(InputError, match="with items fixed there are none"):
        Rules(items="fixed", sequential=True).check(["m"])


def test_fixed_items_are_as_open_as_their_runs():
    base = [np.array([one - 0.1, one + 0.1]) for one in OLD]  # a variance of .02, .01 of the mean of two runs
    row = judge(OLD, base, allow=0.02, items="fixed").rows[0]
    error = math.sqrt(80 * 0.01) / 80
    assert row["low"] == pytest.approx(stats.t.ppf(0.05, 80) * error)
    assert row["verdict"] == "PASS"
    assert judge(OLD - 0.02, base, allow=0.02, items="fixed").verdict == "INCONCLUSIVE"


def test_the_default_allowance_is_a_hundredth_of_the_scale():
    assert judge(OLD - 0.1, allow=None).rows[0]["allow"] == 0.01
    rows = decide({"m": metric("chrf")}, scored(OLD), scored(OLD - 0.1, "NEW"), Rules()).rows
    assert rows[0]["allow"] == 1.0
    assert decide({"m": metric("ter")}, scored(OLD), scored(OLD - 0.1, "NEW"), Rules()).rows[0]["allow"] == 0.01


def test_runs_of_an_item_are_not_items():
    base = [RNG.normal(one, 0.05, 3) for one in OLD]
    new = [RNG.normal(one, 0.05, 3) for one in OLD]
    row = judge(new, base).rows[0]
    assert (row["n"], row["repeats"]) == (80, 3)
    assert 0.7 < row["flicker"] <= 1  # nothing but flicker differs


def test_items_that_rarely_pass_fail_the_gate():
    base = [np.ones(10)] * 30
    new = [np.zeros(10)] + [np.ones(10)] * 29
    found = judge(new, base, allow=0.2, min_pass=(8, 10))
    assert found.verdict == "FAIL"
    assert "1 item has clearly passed fewer than 8 of 10 runs (1)" in found.reasons[0]
    with pytest.raises(InputError, match="m: min_pass counts runs that pass"):
        judge(OLD / 2, min_pass=(8, 10))


def test_a_metric_that_is_only_reported_decides_nothing():
    metrics = {"m": METRIC["m"], "r": METRIC["m"]}
    base, new = scored(OLD), scored(OLD + RNG.normal(0, 0.01, 80), "NEW")
    base.runs["r"], new.runs["r"] = base.runs["m"], [one - 0.3 for one in new.runs["m"]]
    found = decide(metrics, base, new, Rules(allow=0.05, report_only=frozenset({"r"})))
    assert (found.verdict, [row["verdict"] for row in found.rows]) == ("PASS", ["PASS", "FAIL"])
    assert decide(metrics, base, new, Rules(allow=0.05)).verdict == "FAIL"


# --- The level of one system: direction, words and the worst items


def level_side(*scores, groups=None):
    texts = [f"text {i}" for i in range(len(scores))]
    outputs = Outputs.of(from_texts(texts, "run", groups=groups), "run")
    return ScoredSide(outputs, {"m": [np.atleast_1d(np.asarray(one, dtype=float)) for one in scores]}, {"m": "m"})


SCORES = np.random.default_rng(0).normal(0.8, 0.05, 60)


def test_the_lower_bound_decides():
    rouge = metric("rouge1")
    assert level("m", rouge, level_side(*SCORES), 0.75)[0] == "PASS"
    assert level("m", rouge, level_side(*SCORES), 0.85)[0] == "FAIL"
    verdict, text = level("m", rouge, level_side(*SCORES), float(SCORES.mean()) - 0.002)
    assert verdict == "INCONCLUSIVE"
    assert "you have 60 items; a mean like this one needs about" in text


def test_lower_is_better_asks_for_at_most():
    ter = metric("ter")
    verdict, text = level("m", ter, level_side(*(100 * SCORES)), 90)
    mean, low, high = map(float, re.findall(r"[\d.]+", text.partition("expected")[0]))
    assert verdict == "PASS"
    assert low < mean < high
    _, text = level("m", ter, level_side(*(100 * SCORES)), 70)
    assert "expected at most 70" in text
    assert text.splitlines()[2].startswith(f"  {int(SCORES.argmax()) + 1}  ")


def test_passes_without_a_failure_are_no_proof():
    verdict, text = level("m", metric("rouge1"), level_side(*[1.0] * 12), 0.85)
    # .85^n <= .05 from 19 on
    assert (verdict, "needs about 19" in text) == ("INCONCLUSIVE", True)
    assert level("m", metric("rouge1"), level_side(*[1.0] * 19), 0.85)[0] == "PASS"


def test_an_item_without_a_score_fails():
    verdict, text = level("m", metric("rouge1"), level_side(*SCORES, math.nan), 0.5)
    assert verdict == "FAIL"
    assert "1 of 61 items have no score (61)" in text
    with pytest.raises(InputError, match="no item has a score"):
        level("m", metric("rouge1"), level_side(math.nan), 0.5)


def test_level_an_item_keeps_its_group_where_others_have_no_score():
    groups = [i // 5 for i in range(60)]
    scores = np.repeat(SCORES[:12], 5)
    scores[[0, 30]] = math.nan
    known = np.delete(np.arange(60), [0, 30])
    plain = bound_level(scores[known], 0.8, [groups[i] for i in known], least=0.0, best=1.0)
    _, text = level("m", metric("rouge1"), level_side(*scores, groups=groups), 0.8)
    assert f", {plain.high:.4g}], expected at least 0.8" in text


def test_few_groups_never_pass():
    _, text = level("m", metric("rouge1"), level_side(*SCORES, groups=[i // 20 for i in range(60)]), 0.5)
    assert "3 groups are too few to pass" in text
