"""From scores to the verdict of the gate: rows, reasons, and what fails whatever the mean does."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from nlgauge import metric
from nlgauge.core.errors import InputError
from nlgauge.gating.outputs import Outputs, from_texts
from nlgauge.gating.rules import Rules
from nlgauge.gating.scored import Scored
from nlgauge.gating.verdicts import decide
from nlgauge.stats.gates import bound_difference

METRIC = {"m": metric("rouge1")}  # from 0 to 1


def scored(runs, name="BASE", groups=None):
    """A side with these scores by a metric `m`; texts are the scores in words."""
    runs = [np.atleast_1d(one) for one in runs]
    texts = [[f"score {x}" for x in one] for one in runs]
    outputs = Outputs.of(from_texts(texts, name, groups=groups), name)
    return Scored(outputs, {"m": [np.asarray(one, dtype=float) for one in runs]}, {"m": "m"})


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
    assert judge(new, groups=groups, clusters="none").rows[0]["n_clusters"] is None


def test_an_item_keeps_its_group_where_others_have_no_score():
    groups = [str(i // 4) for i in range(80)]
    change = np.repeat(RNG.normal(0, 0.05, 20), 4)  # one for each group
    base = OLD.copy()
    base[[0, 40]] = math.nan
    row = judge(OLD + change, base, groups=groups).rows[0]
    known = np.delete(np.arange(80), [0, 40])
    plain = bound_difference(change[known], [groups[i] for i in known], allow=0.05, largest=1.0, draws=4000)
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
