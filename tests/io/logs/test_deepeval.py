from __future__ import annotations

import json

import pytest

import nlgauge as ng

METRIC = {"name": "Faithfulness", "threshold": 0.5, "success": True, "score": 0.9}


def case(**more):
    return {
        "name": "test_case_0", "input": "Q", "actualOutput": "A", "expectedOutput": "B", "retrievalContext": ["d", "e"],
        "success": True, "order": 0, "metricsData": [METRIC], **more,
    }  # fmt: skip


def test_cases_become_segments_also_wrapped(put):
    run = {"testCases": [case()], "metricsScores": []}
    for content in (run, {"testRunData": run}):
        (segment,) = ng.read(put("a.json", json.dumps(content, indent=1))).segments
        assert (segment.hypothesis, segment.references, segment.source) == ("A", ("B",), "Q")
        assert segment.human == {"Faithfulness": 0.9, "Faithfulness.pass": 1.0, "pass": 1.0}
    assert ng.read("a.json", columns={"src": "retrievalContext"}).segments[0].source == "d\ne"


def test_absent_keys_are_undefined(put):
    bare = {"name": "test_case_1", "input": "Q2", "actualOutput": "A", "metricsData": [{"name": "Bias", "error": "x"}]}
    data = ng.read(
        put("a.json", json.dumps({"testCases": [bare, case(metricsData=[METRIC, {**METRIC, "flaky": True}])]}))
    )
    assert data.segments[0].human == {}
    assert data.segments[0].references == ()
    assert "a.json: 2 of 2 scores 'Bias' undefined" in data.notes
    assert "a.json: 'Faithfulness' is marked flaky: deepeval does not let it decide" in data.notes


def test_items_are_told_by_their_texts_and_retries_are_runs(put):
    data = ng.read(put("a.json", json.dumps({"testCases": [case(), case(name="test_case_7"), case(input="R " * 60)]})))
    assert [s.item for s in data][:2] == [data.segments[0].item] * 2
    assert data.segments[1].id.endswith("#2")
    assert data.segments[2].item.startswith("R R R")
    assert len(data.segments[2].item) < 60


def test_another_source_is_refused(put):
    with pytest.raises(ng.InputError, match="columns name 'contxt' as src, expected input or context or"):
        ng.read(put("a.json", json.dumps({"testCases": [case()]})), columns={"src": "contxt"})


def test_what_is_no_list_is_refused(put):
    with pytest.raises(ng.InputError, match="'testCases' is no list"):
        ng.read(put("a.json", json.dumps({"testCases": {}})))


def test_two_metrics_of_one_name_have_two_columns(put):
    strict = {**METRIC, "threshold": 1.0, "success": False, "score": 0.2}
    data = ng.read(put("a.json", json.dumps({"testCases": [case(metricsData=[METRIC, strict])]})))
    assert data.segments[0].human == {
        **{"Faithfulness": 0.9, "Faithfulness.pass": 1.0, "Faithfulness#2": 0.2, "Faithfulness.pass#2": 0.0},
        "pass": 1.0,
    }
