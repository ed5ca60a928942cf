from __future__ import annotations

import json

import pytest

import nlgauge as ng

OUTSIDE, JUDGE = {"source_type": "HUMAN", "source_id": "p"}, {"source_type": "LLM_JUDGE", "source_id": "m"}


def span(given, said, **more):
    """A span as MLflow 3 stores it: inputs and outputs are texts of JSON, its id is base64."""
    attributes = {"mlflow.spanInputs": json.dumps(given), "mlflow.spanOutputs": json.dumps(said)}
    return {"span_id": "KzNY7qF38+4=", "parent_span_id": None, "attributes": attributes, **more}


def feedback(name, value, source=JUDGE, **more):
    return {"assessment_name": name, "source": source, "feedback": {"value": value}, "valid": True, **more}


def trace(*assessments, given="Q", said="A", spans=None, **info):
    about = {"trace_id": "tr-1", "state": "OK", "assessments": [*assessments], **info}
    return {"info": about, "data": {"spans": [span(given, said)] if spans is None else spans}}


def lines(*traces):
    return "".join(json.dumps(one) + "\n" for one in traces)


def notes(data):
    return [note.partition(": ")[2] for note in data.notes]


def test_a_trace_becomes_a_segment(put):
    expected = {"assessment_name": "expected_response", "source": OUTSIDE, "expectation": {"value": "B"}}
    whole = trace(
        expected, feedback("fluent", 4.0), feedback("safe", "Yes"), given={"question": "Q?"}, said={"response": "A."},
        trace_metadata={"mlflow.modelId": "m-7"},
    )  # fmt: skip
    for path in (
        put("t.jsonl", lines(whole)),
        put("t.json", json.dumps([whole])),
        put("u.json", json.dumps(whole, indent=2)),
        put("v.json", json.dumps({"traces": [whole], "next_page_token": None}, indent=2)),
        put("w.json", json.dumps({"traces": [whole]})),
        put("x.jsonl", lines({"trace_id": "tr-1", "trace": json.dumps(whole), "assessments": []})),
    ):
        data = ng.read(path)
        assert [(s.id, s.hypothesis, s.references, s.source, s.system, s.human) for s in data] == [
            ("m-7:Q?", "A.", ("B",), "Q?", "m-7", {"fluent": 4.0, "safe": 1.0})
        ]
        assert data.notes == ()


def test_other_rows_with_these_fields_are_no_traces(put):
    rows = lines({"info": "x", "data": "y", "answer": "z"})
    assert ng.read(put("a.jsonl", rows), columns={"hyp": "answer"}).segments[0].hypothesis == "z"


def test_feedback_that_failed_or_is_missing_is_undefined_and_counted(put):
    failed = {"assessment_name": "fluent", "source": JUDGE, "feedback": {"error": {"error_code": "RATE"}}}
    stored = {"assessment_name": "fluent", "source": JUDGE, "feedback": {"value": 0.0, "error": {"error_code": "RATE"}}}
    rows = [trace(feedback("fluent", 0), given="0"), trace(failed, given="1"), trace(stored, given="2")]
    rows += [trace(feedback("fluent", value), given=str(value)) for value in ("unknown", None, float("nan"))]
    data = ng.read(put("t.jsonl", lines(*rows, trace(given="none"))))
    assert [s.human for s in data] == [{"fluent": 0.0}] + [{}] * 6
    assert notes(data) == ["6 of 7 scores 'fluent' undefined"]


def test_overridden_feedback_does_not_count(put):
    old, new = feedback("right", True, assessment_id="a-1"), feedback("right", False, overrides="a-1")
    data = ng.read(put("t.jsonl", lines(trace({**old, "valid": False}, new), trace(old, new, given="R"))))
    assert [s.human for s in data] == [{"right": 0.0}, {"right": 0.0}]
    assert notes(data) == ["2 assessments were overridden by later ones and are left out"]


def test_feedback_on_the_root_is_of_the_whole_trace(put):
    # 2b3358eea177f3ee is KzNY7qF38+4= in base64: spans have the one, assessments the other
    part = span("q", "r", span_id="E5hqCjXTz00=", parent_span_id="KzNY7qF38+4=")
    given = [feedback("right", 1, span_id="2b3358eea177f3ee"), feedback("found", 1, span_id="13986a0a35d3cf4d")]
    data = ng.read(put("t.jsonl", lines(trace(*given, spans=[part, span("Q", "A")]))))
    assert (data.segments[0].hypothesis, data.segments[0].human) == ("A", {"right": 1.0})
    assert notes(data) == ["1 assessments are of a part of a trace and are left out"]


def test_people_and_judges_have_columns_of_their_own(put):
    given = [feedback("right", True), feedback("right", "no", OUTSIDE), feedback("right", "yes", OUTSIDE)]
    data = ng.read(put("t.jsonl", lines(trace(*given, feedback("tone", {"warm": 2, "calm": "no"})))))
    assert data.segments[0].human == {"right.llm_judge": 1.0, "right.human": 0.5, "tone.warm": 2.0, "tone.calm": 0.0}
    assert notes(data) == ["1 traces have the same feedback several times; its mean is taken"]


def test_failed_traces_are_left_out_and_the_same_inputs_are_runs(put):
    data = ng.read(put("t.jsonl", lines(trace(), trace(state="ERROR"), trace(said="B")) + '{"info": {"trace_id": "t'))
    assert [(s.id, s.hypothesis) for s in data] == [("Q", "A"), ("Q#2", "B")]
    assert notes(data) == [
        "line 4, the last, breaks off and is skipped",
        "1 of 3 samples have no answer and are left out",
        "up to 2 runs of an item; they are repeats, never items",
    ]


def test_previews_are_read_with_a_note_where_there_are_no_spans(put):
    data = ng.read(put("t.jsonl", lines(trace(spans=[], request_preview='{"q": "Q"}', response_preview="A long ans"))))
    assert (data.segments[0].source, data.segments[0].hypothesis) == ("Q", "A long ans")
    assert notes(data) == ["1 traces have no spans; their previews, which may be cut, are read"]


@pytest.mark.parametrize(
    "said",
    [
        "A", ["A"], {"answer": "A", "id": "7"}, {"anything": "A", "n": 3},
        {"choices": [{"message": {"content": "A"}}]}, {"messages": [{"role": "assistant", "content": "A"}]},
        {"output": [{"type": "message", "content": [{"text": "A"}]}]},
    ],
)  # fmt: skip
def test_answers_stand_in_many_places(put, said):
    assert ng.read(put("t.jsonl", lines(trace(said=said)))).segments[0].hypothesis == "A"


def test_fields_can_be_named(put):
    listed = {"serialized_value": {"serialization_format": "JSON_FORMAT", "value": '["B", "C"]'}}
    golds = {"assessment_name": "golds", "source": OUTSIDE, "expectation": listed}
    path = put("t.jsonl", lines(trace(golds, given={"a": "x", "b": {"c": "y"}}, said={"d": "A", "e": "Z"})))
    one = ng.read(path, columns={"hyp": "outputs.d", "src": "b.c", "ref": "golds"}).segments[0]
    assert (one.hypothesis, one.source, one.references) == ("A", "y", ("B", "C"))
    for field, there in (("src", "'a', 'b'"), ("ref", "'golds'")):
        with pytest.raises(ng.InputError, match=rf"no row has 'gone', which columns name as {field}; found: {there}$"):
            ng.read(path, columns={"hyp": "d", field: "gone"})
    with pytest.raises(ng.InputError, match=r"^t.jsonl:1: the outputs have no text 'f'; found: 'd', 'e'$"):
        ng.read(path, columns={"hyp": "f"})
    with pytest.raises(ng.InputError, match=r"the outputs are no text; found: 'd', 'e'; name one: --columns hyp=FIELD"):
        ng.read(path)


def test_expectations_of_two_people_are_two_references(put):
    both = [{"assessment_name": "expected_response", "expectation": {"value": said}} for said in ("B", "C")]
    assert ng.read(put("t.jsonl", lines(trace(*both)))).segments[0].references == ("B", "C")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (lines({"info": 3, "data": {}}), r"^t.json:1: field 'info' is missing, expected a trace of MLflow$"),
        ('{"traces": 3}', "'traces' is no list"),
        ('{\n"info": {},', "not valid JSON"),
    ],
)
def test_what_is_wrong_is_one_line(put, content, says):
    with pytest.raises(ng.InputError, match=says) as error:
        ng.read(put("t.json", content), "mlflow-traces")
    assert "\n" not in str(error.value)
