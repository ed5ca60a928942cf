from __future__ import annotations

import math

import pytest

import nlgauge as ng

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

NAME = "details_gsm8k|5_2026-11-01T10-00-00.123456.parquet"


def row(number, said, metric, processed=None, logprobs=(), **doc):
    """A row as lighteval 0.11 and later write it, with some of the fields that are not read."""
    return {
        "doc": {
            "query": "2 and 2?", "choices": ["4", "four", "5"], "gold_index": [0, 1], "id": str(number),
            "task_name": "gsm8k|5", "specific": {"n": 1}, **doc,
        },
        "metric": metric,
        "model_response": {
            "input": "Q", "input_tokens": [1, 2], "text": said, "text_post_processed": processed,
            "logprobs": [*logprobs], "output_tokens": [[3]],
        },
    }  # fmt: skip


@pytest.fixture
def store(put, tmp_path):
    def write(rows, name=NAME):
        path = put(name, b"")
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / path)
        return path

    return write


def notes(data):
    return [note.rpartition("parquet: ")[2] for note in data.notes]


def test_rows_become_segments(store):
    rows = [row(0, ["It is 4"], {"em": 1.0, "f1": 0.5}), row(1, ["5"], {"em": 0.0, "f1": None}, gold_index=[2])]
    data = ng.read(store(rows, f"details/owner/model/2026-11-01T10-00-00.123456/{NAME}"))
    assert [(s.id, s.hypothesis, s.references, s.source, s.group, s.human) for s in data] == [
        ("owner/model:0", "It is 4", ("4", "four"), "2 and 2?", "gsm8k|5", {"em": 1.0, "f1": 0.5}),
        ("owner/model:1", "5", ("5",), "2 and 2?", "gsm8k|5", {"em": 0.0}),
    ]
    assert notes(data) == ["1 of 2 scores 'f1' undefined"]


def test_scores_that_are_missing_or_nan_are_undefined(store):
    # rows of a table share their fields, so that a score which only some rows have is null in the others
    rows = [row(0, ["a"], {"em": 0.0}), row(1, ["a"], {"em": math.nan}), row(2, ["a"], {"other": 1.0})]
    data = ng.read(store(rows))
    assert [s.human for s in data] == [{"em": 0.0}, {}, {"other": 1.0}]
    assert notes(data) == ["2 of 3 scores 'em' undefined", "2 of 3 scores 'other' undefined"]


def test_several_answers_are_runs_and_reasoning_is_cut_as_lighteval_does(store):
    path = store([row(0, ["so 4", "so 5"], {"pass@2": 1.0}, processed=["4", "5"])])
    data = ng.read(path)
    assert [(s.id, s.hypothesis) for s in data] == [("0", "4"), ("0#2", "5")]
    assert notes(data)[0] == "scores are of all responses to an item together, and stand beside each of them"
    assert [s.hypothesis for s in ng.read(path, columns={"hyp": "text"})] == ["so 4", "so 5"]


def test_an_index_outside_the_choices_is_no_reference(store):
    rows = [row(n, ["a"], {"em": 1.0}, gold_index=index) for n, index in enumerate((-1, 3, 1))]
    assert [s.references for s in ng.read(store(rows))] == [(), (), ("four",)]


def test_an_answer_that_is_missing_is_counted(store):
    data = ng.read(store([row(0, [], {"em": 0.0}), row(1, ["", "b"], {"em": 0.0})]))
    assert [s.hypothesis for s in data] == ["", "b"]
    assert "1 of 3 samples have no answer and are left out" in notes(data)


def test_corpus_metrics_are_left_out(store):
    data = ng.read(store([row(0, ["a"], {"em": 1.0, "bleu": {"golds": ["4"], "preds": ["a"]}})]))
    assert data.segments[0].human == {"em": 1.0}
    assert notes(data) == ["'bleu' is a number of the whole corpus, of which rows hold only a part: left out"]


def test_versions_before_0_11_have_columns_side_by_side(store):
    flat = {"example": "2 and 2?", "gold": ["4"], "predictions": ["so 4"], "metrics": {"em": 1.0}, "full_prompt": "x"}
    data = ng.read(store([flat, {**flat, "predictions": ["5"], "metrics": {"em": 0.0}}]))
    assert [(s.id, s.hypothesis, s.references, s.source, s.group, s.human) for s in data] == [
        ("1", "so 4", ("4",), "2 and 2?", "gsm8k|5", {"em": 1.0}),
        ("2", "5", ("4",), "2 and 2?", "gsm8k|5", {"em": 0.0}),
    ]


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([row(0, [], {"acc": 1.0}, logprobs=[-1.5, -2.5])], r"row 1: responses are likelihoods of choices"),
        ([{"predictions": "['4']", "gold": "['4']", "metrics": "{}"}], "as lighteval writes from 0.11 on"),
        ([{"doc": "x", "model_response": "y", "metric": "z"}], "expected objects 'doc', 'model_response' and 'metric'"),
        ([row(0, [], {"em": 1.0})], "all 1 sample failed"),
    ],
)
def test_what_is_wrong_is_one_line(store, rows, says):
    with pytest.raises(ng.InputError, match=says):
        ng.read(store(rows))


def test_what_is_no_parquet_is_refused(put):
    for content in (b"PAR1", b"", b"PAR1" + b"x" * 100 + b"PAR1"):
        with pytest.raises(ng.InputError):
            ng.read(put("a.parquet", content), "lighteval")


def test_long_texts_are_refused(store):
    with pytest.raises(ng.InputError, match="a text of 50 characters, expected at most 20"):
        ng.read(store([row(0, ["a" * 50], {"em": 1.0})]), limits=ng.io.Limits(segment=20))
