from __future__ import annotations

import json

import pytest

import nlgauge as ng


def line(item, body, status=200, **more):
    return json.dumps({"id": "r", "custom_id": item, "response": {"status_code": status, "body": body}, **more}) + "\n"


def test_answers_of_both_endpoints_are_read_and_failures_counted(put):
    chat = {"model": "m", "choices": [{"message": {"content": "hi"}}]}
    response = {"model": "m", "output": [{"type": "reasoning"}, {"type": "message", "content": [{"text": "ho"}]}]}
    refused = {"model": "m", "choices": [{"message": {"content": None}}]}
    data = ng.read(put("a.jsonl", line("2", chat) + line("1", response) + line("3", refused) + line("4", chat, 500)))
    assert [(s.id, s.hypothesis) for s in data] == [("m:2", "hi"), ("m:1", "ho")]
    assert [note.removeprefix("a.jsonl: ") for note in data.notes] == [
        "1 requests were done and have no text",
        "2 of 4 samples have no answer and are left out",
    ]


def test_a_line_without_its_id_is_refused(put):
    with pytest.raises(ng.InputError, match="'custom_id' is missing"):
        ng.read(put("a.jsonl", line(None, {})))


SPEC = {"spec": {"completion_fns": ["gpt-x"], "eval_name": "keys.test.v0", "run_id": "r1", "split": "test"}}
END = {"final_report": {"accuracy": 0.5}, "run_id": "r1"}
CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Capital of Chile?"}, {"role": "assistant", "content": "Santiago"},
    {"role": "user", "content": "Capital of Peru?"},
]  # fmt: skip


def event(number, item, kind, run="r1", **data):
    return {"run_id": run, "event_id": number, "sample_id": item, "type": kind, "data": data, "created_by": ""}


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def notes(data):
    return [note.partition(": ")[2] for note in data.notes]


def test_events_are_joined_by_sample_in_any_order(put):
    rows = [
        event(3, "k.1", "match", correct=False, expected="Quito", picked=None, sampled="Lima"),
        event(0, "k.0", "sampling", prompt=CHAT, sampled=["Lima."]),
        event(2, "k.1", "sampling", prompt="Capital of Ecuador?", sampled=["Lima"]),
        event(1, "k.0", "match", correct=True, expected=["Lima", 5], picked="Lima", sampled="Lima."),
        event(4, "k.1", "metrics", f1=0.25, choice="B", ok=True),
    ]
    data = ng.read(put("a.jsonl", lines(SPEC, *rows, END)))
    assert [(s.id, s.hypothesis, s.references, s.source, s.group, s.human) for s in data] == [
        ("gpt-x:k.1", "Lima", ("Quito",), "Capital of Ecuador?", "keys.test.v0", {"match": 0.0, "f1": 0.25, "ok": 1.0}),
        ("gpt-x:k.0", "Lima.", ("Lima", "5"), "Capital of Peru?", "keys.test.v0", {"match": 1.0}),
    ]
    assert notes(data) == ["1 of 2 scores 'f1' undefined", "1 of 2 scores 'ok' undefined"]
    whole = ng.read("a.jsonl", columns={"src": "prompt"}).segments[1].source
    assert whole == "Be brief.\nCapital of Chile?\nSantiago\nCapital of Peru?"


def test_the_answer_is_sampled_before_its_judge(put):
    rows = [
        event(1, "k", "sampling", prompt="grade: It is Lima", sampled=["Y"]),
        event(0, "k", "sampling", prompt="Peru?", sampled="It is Lima"),
        event(2, "k", "metrics", choice="Y", score=1.0),
    ]
    data = ng.read(put("a.jsonl", lines(SPEC, *rows, END)))
    assert [(s.hypothesis, s.source, s.human) for s in data] == [("It is Lima", "Peru?", {"score": 1.0})]
    assert notes(data) == [
        "1 samples were sampled several times, of which the first is read; for the last --columns hyp=last"
    ]
    for which, said in (("first", "It is Lima"), ("last", "Y")):
        assert ng.read("a.jsonl", columns={"hyp": which}).segments[0].hypothesis == said


def test_an_unread_judge_stands_as_the_lowest_score_and_is_undefined(put):
    rows = [event(2 * n, item, "sampling", prompt="p", sampled="s") for n, item in enumerate("ab")]
    rows += [event(1, "a", "metrics", choice="__invalid__", score=0.0), event(3, "b", "metrics", choice="N", score=0.0)]
    data = ng.read(put("a.jsonl", lines(SPEC, *rows, END)))
    assert [s.human for s in data] == [{}, {"score": 0.0}]
    assert notes(data) == [
        "1 answers of a judge could not be read, for which evals stores the lowest score",
        "1 of 2 scores 'score' undefined",
    ]


def test_errors_nan_and_absent_scores_are_undefined(put):
    rows = [event(n, item, "sampling", prompt=item, sampled=["s", "t"]) for n, item in enumerate("abcd")]
    rows += [event(5, "a", "metrics", score=0), event(5, "b", "metrics", score=float("nan"))]
    rows += [event(5, "c", "metrics", score=0), event(6, "c", "error", type="RateLimit", message="x")]
    rows += [event(5, "d", "metrics", score=None), event(0, "e", "error", type="RateLimit", message="x")]
    data = ng.read(put("a.jsonl", lines(SPEC, *rows, END)))
    assert [s.human for s in data] == [{"score": 0.0}, {}, {}, {}]
    assert notes(data) == [
        "4 samplings have several completions, of which the first is read",
        "2 samples had an error, their scores undefined",
        "1 of 5 samples have no answer and are left out",
        "3 of 4 scores 'score' undefined",
    ]


def test_a_score_that_was_given_twice_is_averaged(put):
    rows = [event(n, "a", "match", correct=bool(n), sampled="s") for n in (0, 1)]
    assert ng.read(put("a.jsonl", lines(SPEC, *rows, END))).segments[0].human == {"match": 0.5}


def test_a_killed_run_is_read_and_the_note_says_so(put):
    whole = lines(SPEC, event(0, "a", "sampling", prompt="p", sampled="s")) + '{"run_id": "r1", "even'
    assert notes(ng.read(put("a.jsonl", whole))) == [
        "line 3, the last, breaks off and is skipped",
        "a run has no final report, so it did not come to its end",
    ]


def test_runs_in_one_file_stay_apart(put):
    other = {"spec": {**SPEC["spec"], "run_id": "r2", "completion_fns": ["gpt-y"]}}
    rows = [event(0, "a", "sampling", run, prompt="p", sampled=run) for run in ("r1", "r2")]
    data = ng.read(put("a.jsonl", lines(SPEC, rows[0], END, other, rows[1], END, {"x": 1})))
    assert [(s.id, s.hypothesis) for s in data] == [("gpt-x:a", "r1"), ("gpt-y:a", "r2")]
    assert notes(data) == ["1 lines are no events and are left out"]


def test_events_alone_are_known_and_other_rows_with_a_spec_are_not(put):
    assert len(ng.read(put("a.jsonl", lines(event(0, "a", "sampling", prompt="p", sampled="s"))))) == 1
    data = ng.read(put("b.jsonl", lines({"spec": "x", "answer": "z"})), columns={"hyp": "answer"})
    assert data.segments[0].hypothesis == "z"


@pytest.mark.parametrize(
    ("rows", "columns", "says"),
    [
        ([event(0, None, "match")], None, r"^a.jsonl:2: field 'sample_id' is missing"),
        ([], None, "no sample in it"),
        ([event(0, "a", "match")], None, "all 1 sample failed"),
        ([event(0, "a", "match")], {"hyp": "second"}, "columns name 'second' as hyp, expected first or last"),
        ([event(0, "a", "match")], {"src": "x"}, "columns name 'x' as src, expected prompt"),
    ],
)
def test_what_is_wrong_is_one_line(put, rows, columns, says):
    with pytest.raises(ng.InputError, match=says):
        ng.read(put("a.jsonl", lines(SPEC, *rows)), columns=columns)


TABLE = {
    "columns": ["question", "outputs", "targets", "toxicity/v1/score", "toxicity/v1/justification"],
    "data": [["Q", "A", "B", 0.01, "fine"], ["R", "C", "D", None, None]],
}


def test_a_table_becomes_segments(put):
    data = ng.read(put("eval_results_table.json", json.dumps(TABLE)))
    assert [(s.id, s.hypothesis, s.references, s.source, s.human) for s in data] == [
        ("1", "A", ("B",), "Q", {"toxicity": 0.01}), ("2", "C", ("D",), "R", {})
    ]  # fmt: skip
    assert data.notes == ("eval_results_table.json: 1 of 2 scores 'toxicity' undefined",)
    assert ng.read("eval_results_table.json", columns={"hyp": "targets"}).segments[0].hypothesis == "B"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"columns": ["question", "text"], "data": []}, "no column 'outputs'; columns found: 'question', 'text'"),
        ({"data": [["Q"]]}, "row 1: expected 5 cells"),
        ({"columns": 3}, "expected lists 'columns' and 'data'"),
    ],
)
def test_mlflow_what_is_wrong_is_one_line(put, change, says):
    with pytest.raises(ng.InputError, match=says):
        ng.read(put("a.json", json.dumps({**TABLE, **change})))


def test_two_versions_of_a_metric_have_two_columns_and_two_columns_of_one_name_are_refused(put):
    columns = ["outputs", "toxicity/v1/score", "toxicity/v2/score"]
    data = ng.read(put("a.json", json.dumps({"columns": columns, "data": [["A", 0.1, 0.2]]})))
    assert data.segments[0].human == {"toxicity": 0.1, "toxicity#2": 0.2}
    with pytest.raises(ng.InputError, match=r"^b.json: two columns are called 'outputs', expected one"):
        ng.read(put("b.json", json.dumps({"columns": ["outputs", "outputs"], "data": [["A", "B"]]})))


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


def mlflow_traces_lines(*traces):
    return "".join(json.dumps(one) + "\n" for one in traces)


def test_a_trace_becomes_a_segment(put):
    expected = {"assessment_name": "expected_response", "source": OUTSIDE, "expectation": {"value": "B"}}
    whole = trace(
        expected, feedback("fluent", 4.0), feedback("safe", "Yes"), given={"question": "Q?"}, said={"response": "A."},
        trace_metadata={"mlflow.modelId": "m-7"},
    )  # fmt: skip
    for path in (
        put("t.jsonl", mlflow_traces_lines(whole)),
        put("t.json", json.dumps([whole])),
        put("u.json", json.dumps(whole, indent=2)),
        put("v.json", json.dumps({"traces": [whole], "next_page_token": None}, indent=2)),
        put("w.json", json.dumps({"traces": [whole]})),
        put("x.jsonl", mlflow_traces_lines({"trace_id": "tr-1", "trace": json.dumps(whole), "assessments": []})),
    ):
        data = ng.read(path)
        assert [(s.id, s.hypothesis, s.references, s.source, s.system, s.human) for s in data] == [
            ("m-7:Q?", "A.", ("B",), "Q?", "m-7", {"fluent": 4.0, "safe": 1.0})
        ]
        assert data.notes == ()


def test_other_rows_with_these_fields_are_no_traces(put):
    rows = mlflow_traces_lines({"info": "x", "data": "y", "answer": "z"})
    assert ng.read(put("a.jsonl", rows), columns={"hyp": "answer"}).segments[0].hypothesis == "z"


def test_feedback_that_failed_or_is_missing_is_undefined_and_counted(put):
    failed = {"assessment_name": "fluent", "source": JUDGE, "feedback": {"error": {"error_code": "RATE"}}}
    stored = {"assessment_name": "fluent", "source": JUDGE, "feedback": {"value": 0.0, "error": {"error_code": "RATE"}}}
    rows = [trace(feedback("fluent", 0), given="0"), trace(failed, given="1"), trace(stored, given="2")]
    rows += [trace(feedback("fluent", value), given=str(value)) for value in ("unknown", None, float("nan"))]
    data = ng.read(put("t.jsonl", mlflow_traces_lines(*rows, trace(given="none"))))
    assert [s.human for s in data] == [{"fluent": 0.0}] + [{}] * 6
    assert notes(data) == ["6 of 7 scores 'fluent' undefined"]


def test_overridden_feedback_does_not_count(put):
    old, new = feedback("right", True, assessment_id="a-1"), feedback("right", False, overrides="a-1")
    data = ng.read(put("t.jsonl", mlflow_traces_lines(trace({**old, "valid": False}, new), trace(old, new, given="R"))))
    assert [s.human for s in data] == [{"right": 0.0}, {"right": 0.0}]
    assert notes(data) == ["2 assessments were overridden by later ones and are left out"]


def test_feedback_on_the_root_is_of_the_whole_trace(put):
    # 2b3358eea177f3ee is KzNY7qF38+4= in base64: spans have the one, assessments the other
    part = span("q", "r", span_id="E5hqCjXTz00=", parent_span_id="KzNY7qF38+4=")
    given = [feedback("right", 1, span_id="2b3358eea177f3ee"), feedback("found", 1, span_id="13986a0a35d3cf4d")]
    data = ng.read(put("t.jsonl", mlflow_traces_lines(trace(*given, spans=[part, span("Q", "A")]))))
    assert (data.segments[0].hypothesis, data.segments[0].human) == ("A", {"right": 1.0})
    assert notes(data) == ["1 assessments are of a part of a trace and are left out"]


def test_people_and_judges_have_columns_of_their_own(put):
    given = [feedback("right", True), feedback("right", "no", OUTSIDE), feedback("right", "yes", OUTSIDE)]
    data = ng.read(put("t.jsonl", mlflow_traces_lines(trace(*given, feedback("tone", {"warm": 2, "calm": "no"})))))
    assert data.segments[0].human == {"right.llm_judge": 1.0, "right.human": 0.5, "tone.warm": 2.0, "tone.calm": 0.0}
    assert notes(data) == ["1 traces have the same feedback several times; its mean is taken"]


def test_failed_traces_are_left_out_and_the_same_inputs_are_runs(put):
    data = ng.read(
        put("t.jsonl", mlflow_traces_lines(trace(), trace(state="ERROR"), trace(said="B")) + '{"info": {"trace_id": "t')
    )
    assert [(s.id, s.hypothesis) for s in data] == [("Q", "A"), ("Q#2", "B")]
    assert notes(data) == [
        "line 4, the last, breaks off and is skipped",
        "1 of 3 samples have no answer and are left out",
        "up to 2 runs of an item; they are repeats, never items",
    ]


def test_previews_are_read_with_a_note_where_there_are_no_spans(put):
    data = ng.read(
        put(
            "t.jsonl", mlflow_traces_lines(trace(spans=[], request_preview='{"q": "Q"}', response_preview="A long ans"))
        )
    )
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
    assert ng.read(put("t.jsonl", mlflow_traces_lines(trace(said=said)))).segments[0].hypothesis == "A"


def test_fields_can_be_named(put):
    listed = {"serialized_value": {"serialization_format": "JSON_FORMAT", "value": '["B", "C"]'}}
    golds = {"assessment_name": "golds", "source": OUTSIDE, "expectation": listed}
    path = put(
        "t.jsonl", mlflow_traces_lines(trace(golds, given={"a": "x", "b": {"c": "y"}}, said={"d": "A", "e": "Z"}))
    )
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
    assert ng.read(put("t.jsonl", mlflow_traces_lines(trace(*both)))).segments[0].references == ("B", "C")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (
            mlflow_traces_lines({"info": 3, "data": {}}),
            r"^t.json:1: field 'info' is missing, expected a trace of MLflow$",
        ),
        ('{"traces": 3}', "'traces' is no list"),
        ('{\n"info": {},', "not valid JSON"),
    ],
)
def test_mlflow_traces_what_is_wrong_is_one_line(put, content, says):
    with pytest.raises(ng.InputError, match=says) as error:
        ng.read(put("t.json", content), "mlflow-traces")
    assert "\n" not in str(error.value)
