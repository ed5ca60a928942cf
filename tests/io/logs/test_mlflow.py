from __future__ import annotations

import json

import pytest

import nlgauge as ng

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
def test_what_is_wrong_is_one_line(put, change, says):
    with pytest.raises(ng.InputError, match=says):
        ng.read(put("a.json", json.dumps({**TABLE, **change})))


def test_two_versions_of_a_metric_have_two_columns_and_two_columns_of_one_name_are_refused(put):
    columns = ["outputs", "toxicity/v1/score", "toxicity/v2/score"]
    data = ng.read(put("a.json", json.dumps({"columns": columns, "data": [["A", 0.1, 0.2]]})))
    assert data.segments[0].human == {"toxicity": 0.1, "toxicity#2": 0.2}
    with pytest.raises(ng.InputError, match=r"^b.json: two columns are called 'outputs', expected one"):
        ng.read(put("b.json", json.dumps({"columns": ["outputs", "outputs"], "data": [["A", "B"]]})))
