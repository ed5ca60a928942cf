from __future__ import annotations

import json

import pytest

import nlgauge as ng

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
