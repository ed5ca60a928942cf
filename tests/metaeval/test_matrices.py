"""Control rows of official tables, by hand."""

import numpy as np
import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.scores import Scores
from nlgauge.core.segment import Dataset, Segment
from nlgauge.core.spec import Signature
from nlgauge.metaeval.evaluate import meta_evaluate
from nlgauge.metaeval.joined import JoinedScores
from nlgauge.metaeval.matrices import (
    ITEM_MEAN,
    criteria_matrix,
    criteria_rows,
    with_controls,
)
from nlgauge.metaeval.measure import Task
from nlgauge.metaeval.tasks import Protocol

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
    rows, notes = with_controls([own(0.9), own(1.1)], held(values, higher), Protocol(tasks=(TASK,)))
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
    rows, _ = with_controls([], JoinedScores(bare, RATINGS, {"m": scores}), Protocol(tasks=(TASK,)))
    assert {row["metric"] for row in rows} == {"sentinel:side=hypothesis"}


def test_a_metric_without_interval_is_held_against_its_value():
    rows = [{**own(np.nan), "value": 0.9}, {**own(np.nan), "value": 1.1, "metric": "better"}]
    _, (note,) = with_controls(rows, held([3, 2, 0, 3, 2, 2]), Protocol(tasks=(TASK,)))
    assert "which is not below the value of m; such" in note


def test_controls_leave_out_the_systems_that_metrics_leave_out():
    # six systems, of which f is far off by ratings
    segments = tuple(Segment(s, "x" * (i + 1), ("x",), "s", s, "1", "de-en") for i, s in enumerate("abcdef"))
    ratings = {"mqm": np.array([1.0, 2, 3, 2.5, 1.5, 90])}
    data = JoinedScores(segments, ratings, {"m": Scores(Signature("m", ()), tuple("abcdef"), np.arange(6.0))})
    task = Task("pearson", "system")
    for outliers, n in ((None, 6), ("mad", 5)):
        rows, _ = with_controls([], data, Protocol(tasks=(task,), outliers=outliers))
        assert {row["n_used"] for row in rows if row["metric"] == "sentinel:side=hypothesis"} >= {n}


# --- Criteria with each other, metrics with each other, metrics with criteria

NAN = float("nan")


def evaluation(human, scores, stats="pearson", level="segment", **options):
    """Criterion -> ratings of six outputs, two systems on three items; None where nobody rated."""
    segments = tuple(
        Segment(
            str(i),
            "x",
            system="ab"[i // 3],
            item=str(i % 3),
            human={c: v[i] for c, v in human.items() if v[i] is not None},
        )
        for i in range(6)
    )
    return meta_evaluate(
        Dataset(segments), scores=scores, criterion="all", stats=stats, level=level, intervals="none", **options
    )


HUMAN = {"fluency": [1, 2, 3, 4, 5, 6], "adequacy": [2, 1, 3, 4, 6, 5], "style": [6, 5, 4, 3, 2, 1]}
SCORES = {"m": [1, 2, 3, 4, 5, 7], "error": [5, 4, 3, 2, 1, 0]}


def test_a_criterion_agrees_with_itself_and_both_ways_alike():
    names, values = criteria_matrix(evaluation(HUMAN, SCORES).held, "pearson")
    assert names == ["fluency", "adequacy", "style"]
    np.testing.assert_allclose(np.diag(values), 1)
    np.testing.assert_allclose(values, values.T)
    assert values[0, 1] == pytest.approx(np.corrcoef(HUMAN["fluency"], HUMAN["adequacy"])[0, 1])
    assert values[0, 2] == pytest.approx(-1)


def test_segments_rated_for_both_count():
    human = {"a": [1, 2, 3, 4, 5, 6], "b": [1, 2, 9, None, None, None], "c": [None, None, None, 1, 3, 2]}
    _, values = criteria_matrix(evaluation(human, {"m": range(6)}).held, "pearson")
    assert values[0, 1] == pytest.approx(np.corrcoef([1, 2, 3], [1, 2, 9])[0, 1])
    assert np.isnan(values[1, 2])  # no segment is rated for both


def test_one_criterion_has_nothing_to_agree_with():
    with pytest.raises(InputError, match="'a' is the only criterion"):
        criteria_matrix(evaluation({"a": range(6)}, SCORES).held)


def test_the_same_numbers_make_rows_without_the_diagonal():
    rows = criteria_rows(evaluation(HUMAN, SCORES).held, "kendall_b", "segment")
    assert len(rows) == 6
    assert rows[0]["metric"] == "human.fluency"
    assert rows[0]["criterion"] == "adequacy"
    assert rows[0]["value"] == pytest.approx(11 / 15)  # 15 pairs, 2 of them turned round


def test_what_is_constant_correlates_with_nothing():
    # the two criteria are both rated where one of them is always 3
    human = {"fluency": [1, 2, 3, 4, None, None], "adequacy": [3, 3, 3, 3, 1, 2]}
    values = criteria_matrix(evaluation(human, SCORES).held, "pearson")[1]
    np.testing.assert_allclose(values, [[1, NAN], [NAN, 1]])
