"""Control rows of official tables, by hand."""

import numpy as np
import pytest

from nlgauge.core.scores import Scores
from nlgauge.core.segment import Segment
from nlgauge.core.spec import Signature
from nlgauge.metaeval.align import JoinedScores
from nlgauge.metaeval.protocols.controls import ITEM_MEAN, with_controls
from nlgauge.metaeval.protocols.presets import Task
from nlgauge.metaeval.tasks import Plan

# Two systems on three items. The sources get longer as ratings fall, so their length alone orders the items.
SEGMENTS = tuple(
    Segment(f"{system}{item}", "abc", ("x",), "s" * (item + 1), system, str(item), "de-en")
    for system in "AB"
    for item in range(3)
)
RATINGS = {"mqm": np.array([0.0, -1.0, -2.0, 0.0, -1.0, -2.0])}
TASK = Task("pearson", "segment", "none")


def held(values, higher=True):
    names = tuple(s.id for s in SEGMENTS)
    scores = Scores(Signature("m", ()), names, np.array(values, dtype=float), higher_is_better=higher)
    return JoinedScores(SEGMENTS, RATINGS, {"m": scores})


def own(low):
    return {"metric": "m", "criterion": "mqm", "stat": "pearson", "level": "segment", "group": "mean", "low": low}


@pytest.mark.parametrize(("values", "higher"), [([3, 2, 0, 3, 2, 2], True), ([-3, -2, 0, -3, -2, -2], False)])
def test_controls_by_hand(values, higher):
    rows, notes = with_controls([own(0.9), own(1.1)], held(values, higher), [TASK], Plan())
    found = {row["metric"]: row for row in rows if row["group"] == "mean"}
    # -1, -2, -3 characters against 0, -1, -2
    assert found["sentinel:side=source"]["value"] == pytest.approx(1)
    assert np.isnan(found["sentinel:side=hypothesis"]["value"])  # of one length
    # the means of m by item are 3, 2, 1, which any scaling of m leaves in line with the ratings
    assert found[ITEM_MEAN]["value"] == pytest.approx(1)
    assert all(row["control"] for row in rows)
    (note,) = notes
    assert note.startswith("pearson at level segment: sentinel:")
    assert "gets 1.000 without comparing texts, which is within or above the interval of m;" in note


def test_without_sources_or_items_there_are_fewer():
    bare = tuple(Segment(s.id, s.hypothesis, system=s.system, group=s.group) for s in SEGMENTS)
    scores = Scores(Signature("m", ()), tuple(s.id for s in bare), np.arange(6.0))
    rows, _ = with_controls([], JoinedScores(bare, RATINGS, {"m": scores}), [TASK], Plan())
    assert {row["metric"] for row in rows} == {"sentinel:side=hypothesis"}


def test_a_metric_without_interval_is_held_against_its_value():
    rows = [{**own(np.nan), "value": 0.9}, {**own(np.nan), "value": 1.1, "metric": "better"}]
    _, (note,) = with_controls(rows, held([3, 2, 0, 3, 2, 2]), [TASK], Plan())
    assert "which is not below the value of m; such" in note


def test_controls_leave_out_the_systems_that_metrics_leave_out():
    # six systems, of which f is far off by ratings
    segments = tuple(Segment(s, "x" * (i + 1), ("x",), "s", s, "1", "de-en") for i, s in enumerate("abcdef"))
    ratings = {"mqm": np.array([1.0, 2, 3, 2.5, 1.5, 90])}
    data = JoinedScores(segments, ratings, {"m": Scores(Signature("m", ()), tuple("abcdef"), np.arange(6.0))})
    task = Task("pearson", "system")
    for outliers, n in ((None, 6), ("mad", 5)):
        rows, _ = with_controls([], data, [task], Plan(outliers=outliers))
        assert {row["n_used"] for row in rows if row["metric"] == "sentinel:side=hypothesis"} >= {n}
