"""The items that lost most, and those that break a limit of their own."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nlgauge.core.segment import Segment
from nlgauge.gating.losses import broken, flaky, worst_items
from nlgauge.gating.outputs import Outputs
from nlgauge.gating.scored import Differences


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


def test_no_more_than_asked_for():
    n = 9
    rows = worst_items("m", found([[1]] * n, [[0]] * n), side(*[["a"]] * n), side(*[["b"]] * n), most=4)
    assert len(rows) == 4


def test_items_break_a_limit():
    own = found([[1], [1], [1]], [[0.5], [0.2], [1]])
    assert broken(own, ["a", "b", "c"], 0.5) == ["b"]
    assert broken(own, ["a", "b", "c"], 0.4) == ["b", "a"]
    assert broken(own, ["a", "b", "c"], None) == []


def test_runs_without_a_score_do_not_pass():
    own = found([[1]] * 2, [[0] * 8 + [math.nan] * 2, [1] * 10])
    assert flaky(own, ["a", "b"], (8, 10), 0.05) == ["a"]
    assert flaky(own, ["a", "b"], None, 0.05) == []
