"""A row per rating, of files and frames: one segment for each output, with the ratings of all of its rows."""

from __future__ import annotations

import json

import pytest

import nlgauge as ng
from nlgauge.core.segment import Segment
from nlgauge.io.raters import Raters

ROWS = [
    {"seg": 1, "system": "A", "rater": "ann", "hyp": "it rains", "ref": "rain", "human.fluency": 4},
    {"seg": 1, "system": "A", "rater": "bob", "hyp": "it rains", "ref": "rain", "human.fluency": 5},
    {"seg": 2, "system": "A", "rater": "ann", "hyp": "a cat", "ref": "cat", "human.fluency": 1},
]
FOUND = [("A:1", "it rains", ("rain",), {"fluency": [4.0, 5.0]}), ("A:2", "a cat", ("cat",), {"fluency": 1.0})]


def cells(delimiter):
    rows = [list(ROWS[0]), *([str(cell) for cell in row.values()] for row in ROWS)]
    return "".join(delimiter.join(row) + "\n" for row in rows)


def told(data):
    return [(s.id, s.hypothesis, s.references, dict(s.human)) for s in data]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", cells(",")), ("a.tsv", cells("\t")), ("a.json", json.dumps(ROWS)),
        ("a.jsonl", "".join(json.dumps(row) + "\n" for row in ROWS)),
    ],
)  # fmt: skip
def test_the_ratings_of_an_output_are_together_in_every_format(put, name, content):
    data = ng.read(put(name, content))
    assert told(data) == FOUND
    assert f"{name}: 3 ratings of 2 outputs by 2 raters; a human score is their mean" in data.notes


def test_ratings_of_comets_columns_are_together_too(put):
    path = put("a.csv", "src,mt,ref,score,seg,system,rater\ns,m,r,1,1,A,x\ns,m,r,2,1,A,y\n")
    assert [s.human for s in ng.read(path)] == [{"score": [1.0, 2.0]}]


def test_a_rater_may_have_another_name_and_rows_may_have_ids_of_their_own(put):
    rows = [{("who" if key == "rater" else key): cell for key, cell in row.items()} for row in ROWS]
    rows = [{**row, "id": f"r{number}"} for number, row in enumerate(rows)]
    path = put("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    assert len(ng.read(path)) == 3  # nothing says that they are ratings of one output
    assert [s.human for s in ng.read(path, columns={"rater": "who"})] == [human for *_, human in FOUND]
    assert ng.read(path, columns={"who": "rater"}).segments[0].id == "A:1"


def test_a_frame_and_parquet_are_read_alike(put):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS)
    assert told(ng.read(frame)) == FOUND
    assert ng.read(frame).notes == ("DataFrame: 3 ratings of 2 outputs by 2 raters; a human score is their mean",)
    pytest.importorskip("pyarrow")
    frame.to_parquet(put("a.parquet", ""))
    assert told(ng.read("a.parquet")) == FOUND


def test_ratings_of_other_texts_are_refused_and_a_second_one_of_a_rater_is_told(put):
    other = "".join(json.dumps(row) + "\n" for row in [ROWS[0], {**ROWS[1], "hyp": "it pours"}])
    with pytest.raises(ng.InputError, match=r"^a.jsonl:2: field 'hyp' is another than at a.jsonl:1, a rating of the"):
        ng.read(put("a.jsonl", other))
    raters = Raters()
    for rating in (1.0, 2.0):
        raters.add("x", Segment("1", "a", human={"q": rating}), "ann")
    assert [s.human for s in raters.segments()] == [{"q": [1.0, 2.0]}]
    assert [*raters.notes("f")][1:] == ["f: 1 rows are by a rater who rated the same output before, all kept"]
