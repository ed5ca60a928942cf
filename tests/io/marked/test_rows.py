from __future__ import annotations

import json

import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.marks import ErrorSpan
from nlgauge.io.marked.rows import read_marked_rows, read_rating_spans, write_rating_spans
from nlgauge.io.marked.texts import MarkedText

SPAN = {"start": 0, "end": 3, "severity": "major"}


def test_rows_of_several_makers(tmp_path):
    path = tmp_path / "rows.jsonl"
    rows = [
        {"id": "a", "system": "S", "hyp": "The cat", "spans": [SPAN]},
        {"hypothesis": "The cat", "errors": [], "segment_id": 4, "system_id": "T", "rater_id": "r1"},
        {"errors": None},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert read_marked_rows(path) == [
        MarkedText("a", "S", (ErrorSpan(0, 3, "major"),), "The cat", None, None, "a"),
        MarkedText("4", "T", (), "The cat", None, "r1", None),
        MarkedText("3", None, None),
    ]


def test_a_row_without_errors_and_a_damaged_one_are_named(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"hyp": "a"}\n{"hyp": "a", "spans": [{"start": 0, "end": 2, "severity": "major"}]}\n')
    with pytest.raises(InputError) as found:
        read_marked_rows(path)
    assert "rows.jsonl:1" in str(found.value)
    assert "2 rows are bad: 1, 2" in str(found.value)


def test_ratings_are_written_and_read(tmp_path):
    path = tmp_path / "en-de.mqm.seg.rating"
    texts = [
        MarkedText("1", "A", (ErrorSpan(0, 3, "major", category="Accuracy"),), rater="r1"),
        MarkedText("2", "A", (), rater="r1"),
        MarkedText("1", "B", None),
    ]
    write_rating_spans(texts, path)
    assert read_rating_spans(path) == texts
    assert read_rating_spans(path, "en-de")[0].group == "en-de"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("A", "1 cells, expected system, rating"),
        ("A\t[]", "neither None nor a JSON object"),
        ("A\t{", "neither None nor a JSON object"),
        ('A\t{"errors": [{"start": 2, "end": 1, "severity": "major"}]}', "goes from 2 to 1"),
    ],
)
def test_damaged_ratings_are_named(tmp_path, line, message):
    path = tmp_path / "x.seg.rating"
    path.write_text(f'A\t{{"errors": []}}\n{line}\n')
    with pytest.raises(InputError, match=message) as found:
        read_rating_spans(path)
    assert "x.seg.rating:2" in str(found.value)


def test_a_rating_needs_a_system(tmp_path):
    with pytest.raises(InputError, match="expected a name without tabs"):
        write_rating_spans([MarkedText("1", None, ())], tmp_path / "a")
    with pytest.raises(InputError, match="expected a name without tabs"):
        write_rating_spans([MarkedText("1", "a\tb", ())], tmp_path / "a")
