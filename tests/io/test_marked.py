import gzip
import json

import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.marks import ErrorSpan
from nlgauge.io.files import InputFile
from nlgauge.io.marked import (
    MarkedText,
    error,
    errors_of,
    marked_places,
    read_marked,
    read_marked_rows,
    read_mqm_spans,
    read_rating_spans,
    read_span_table,
)


def test_spans_of_mt_metrics_eval():
    cells = [
        {"start": 4, "end": 7, "severity": "Major", "category": "Accuracy", "score": -5, "is_source_error": False},
        {"start": 0, "end": 2, "severity": "minor", "category": None, "is_source_error": True},
        {"start": 1, "end": 2, "severity": "Neutral", "category": "Style"},
        {"start": None, "end": None, "severity": "major", "category": "Omission"},
    ]
    assert errors_of(cells, "f:1", 10) == (
        ErrorSpan(4, 7, "major", category="Accuracy"),
        ErrorSpan(0, 2, "minor", "src"),
    )


def test_spans_of_esa_with_either_end():
    cells = [{"start_i": 4, "end_i": 6, "severity": "major", "error_type": None}]
    assert errors_of(cells, "f:1", 10) == (ErrorSpan(4, 6, "major"),)
    assert errors_of(cells, "f:1", 10, inclusive=True) == (ErrorSpan(4, 7, "major"),)
    gone = [{"start_i": "missing", "end_i": "missing", "severity": "minor"}]
    assert errors_of(gone, "f:1", 10) == (ErrorSpan(10, 10, "minor", missing=True),)
    assert errors_of([{"start_i": 0, "end_i": 1, "severity": "undecided"}], "f:1") == ()


def test_our_own_spans_come_back():
    spans = (ErrorSpan(1, 3, "major", category="name"), ErrorSpan(5, 5, "minor", category="omission", missing=True))
    assert errors_of([span.as_row() for span in spans], "f:1", 9) == spans


def test_critical_is_major_and_no_error_is_none():
    assert error(0, 1, "Critical", "", "hyp", "f:1", 3) == ErrorSpan(0, 1, "major")
    assert error(0, 1, "no-error", "", "hyp", "f:1", 3) is None


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({}, "f:3: errors are {}, expected a list"),
        ([3], "f:3: an error is 3, expected an object"),
        ([{"start": 0, "end": 1}], "expected an object with start, end and severity"),
        ([{"start": 0, "end": 1, "severity": "bad"}], "f:3: severity 'bad', expected minor, major or critical"),
        ([{"start": 0, "end": 9, "severity": "major"}], "ends at character 9 of a text of 5"),
        ([{"start": 3, "end": 2, "severity": "major"}], "f:3: a span goes from 3 to 2"),
        ([{"start": "0", "end": 2, "severity": "major"}], "expected whole numbers"),
        ([{"start": 0, "end": 2, "severity": "major", "side": "both"}], "expected hyp, ref or src"),
    ],
)
def test_damaged_errors_are_refused_with_their_place(cells, message):
    with pytest.raises(InputError, match=message):
        errors_of(cells, "f:3", 5)


def test_the_key_is_the_id_or_system_and_item():
    assert MarkedText("3", "A", ()).key == ("A", "3")
    assert MarkedText("3", "A", (), id="x").key == ("x",)
    assert MarkedText("3", None, ()).key == ("", "3")


HEADER = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"


def written(path, *rows):
    path.write_text("\n".join([HEADER, *("\t".join(row) for row in rows)]) + "\n")
    return path


def test_places_are_those_of_the_text_without_signs():
    assert marked_places("The <v>cat</v> sat on <v>it</v>.") == [(4, 7), (15, 17)]
    assert marked_places("The cat") == []


@pytest.mark.parametrize("text", ["a <v>b", "a</v> b", "<v>a <v>b</v></v>"])
def test_signs_come_in_pairs(text):
    with pytest.raises(InputError, match="without its partner"):
        marked_places(text)


def test_rows_of_a_rater_are_one_marked_text(tmp_path):
    path = written(
        tmp_path / "mqm.tsv",
        ("A", "d", "1", "1", "r1", "x y", "The <v>cat</v> sat", "Accuracy/Mistranslation", "Major"),
        ("A", "d", "1", "1", "r1", "<v>x</v> y", "The cat sat", "Accuracy/Omission", "Minor"),
        ("A", "d", "1", "1", "r2", "x y", "The cat sat", "No-error", "No-error"),
        ("A", "d", "1", "1", "r3", "x y", "The cat sat", "Style", "Minor"),
    )
    first, second, third = read_mqm_spans(path)
    assert first.spans == (
        ErrorSpan(4, 7, "major", category="Accuracy/Mistranslation"),
        ErrorSpan(0, 1, "minor", "src", category="Accuracy/Omission"),
    )
    assert (first.hypothesis, first.system, first.item, first.rater) == ("The cat sat", "A", "1", "r1")
    assert (second.spans, third.spans) == ((), ())


def test_a_text_that_changes_is_refused(tmp_path):
    path = written(
        tmp_path / "mqm.tsv",
        ("A", "d", "1", "1", "r1", "x", "one", "No-error", "No-error"),
        ("A", "d", "1", "1", "r1", "x", "two", "No-error", "No-error"),
    )
    with pytest.raises(InputError, match="another text than in an earlier row"):
        read_mqm_spans(path)


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


def test_ratings_are_read(tmp_path):
    path = tmp_path / "en-de.mqm.seg.rating"
    error = {"start": 0, "end": 3, "category": "Accuracy", "severity": "major", "is_source_error": False}
    path.write_text(f'A\t{json.dumps({"errors": [error]})}\tr1\nA\t{{"errors": []}}\tr1\nB\tNone\n')
    assert read_rating_spans(path) == [
        MarkedText("1", "A", (ErrorSpan(0, 3, "major", category="Accuracy"),), rater="r1"),
        MarkedText("2", "A", (), rater="r1"),
        MarkedText("1", "B", None),
    ]


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


TEXT = "The cat sat on the hat."


def tables_written(path, *lines):
    path.write_text("\n".join("\t".join(line) for line in lines) + "\n")
    return path


def test_a_table_of_quality_estimation(tmp_path):
    path = tables_written(
        tmp_path / "t.tsv",
        ("lp", "source", "target", "start_ids", "end_ids", "errors"),
        ("zh-en", "x", TEXT, "19 4", "22 7", "major minor"),
        ("zh-en", "x", TEXT, "-1", "-1", "no-error"),
        ("zh-en", "x", TEXT, "", "", ""),
    )
    first, second, third = read_span_table(path)
    assert first.spans == (ErrorSpan(19, 22, "major"), ErrorSpan(4, 7, "minor"))
    assert (first.item, first.group, first.hypothesis) == ("1", "zh-en", TEXT)
    assert (second.spans, third.spans) == ((), ())


def test_a_table_of_wmt25(tmp_path):
    path = tables_written(
        tmp_path / "t.tsv",
        ("doc_id", "segment_id", "system_id", "hypothesis_segment", "start_indices", "end_indices", "error_types"),
        ("d", "3", "A", TEXT, "missing 0 4", "missing 3 7", "major critical undecided"),
    )
    (one,) = read_span_table(path)
    assert one.spans == (ErrorSpan(23, 23, "major", missing=True), ErrorSpan(0, 3, "major"))
    assert one.key == ("A", "d:3")


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (("1 2", "3", "major"), "2, 1, 1 starts, ends and severities"),
        (("a", "3", "major"), "goes from 'a' to '3'"),
        (("0", "9" * 5000, "major"), "goes from '0' to '999"),
        (("²", "3", "major"), "goes from '²' to '3'"),  # a digit to Python, and no number
        (("0", "99", "major"), "ends at character 99 of a text of 23"),
        (("0", "3", "bad"), "severity 'bad'"),
    ],
)
def test_damaged_rows_are_named(tmp_path, cells, message):
    path = tables_written(tmp_path / "t.tsv", ("mt", "start_ids", "end_ids", "errors"), (TEXT, *cells))
    with pytest.raises(InputError, match=message) as found:
        read_span_table(path)
    assert "t.tsv:2" in str(found.value)


def test_columns_and_cells_must_be_there(tmp_path):
    with pytest.raises(InputError, match="no column 'end_indices'"):
        read_span_table(tables_written(tmp_path / "t.tsv", ("start_ids", "errors"), ("0", "major")))
    with pytest.raises(InputError, match="2 cells, expected 4"):
        read_span_table(tables_written(tmp_path / "t.tsv", ("mt", "start_ids", "end_ids", "errors"), (TEXT, "0")))


# --- Which reader a file wants is told by how it begins

READ_SPAN = ErrorSpan(4, 7, "major")
MQM = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
FILES = {
    "rows.jsonl": '{"id": "1", "hyp": "The cat", "spans": [{"start": 4, "end": 7, "severity": "major"}]}\n',
    "array.json": '[{"hyp": "The cat", "errors": [{"start_i": 4, "end_i": 7, "severity": "Critical"}]}]',
    "xx.seg.rating": 'A\t{"errors": [{"start": 4, "end": 7, "severity": "major"}]}\n',
    "wmt25.tsv": "segment_id\thypothesis_segment\tstart_indices\tend_indices\terror_types\n1\tThe cat\t4\t7\tmajor\n",
    "qe.tsv": "index\tmt\tstart_ids\tend_ids\terrors\n1\tThe cat\t4\t7\tmajor\n",
    "mqm.tsv": f"{MQM}A\td\t1\t1\tr\tDie Katze\tThe <v>cat</v>\tAccuracy\tMajor\n",
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_finds_its_reader(tmp_path, name):
    path = tmp_path / name
    path.write_text(FILES[name])
    for given in (path, str(path), InputFile(path)):
        (text,) = read_marked(given)
        assert [(span.start, span.end, span.severity) for span in text.spans] == [(4, 7, "major")]


def test_a_packed_file_and_a_first_line_without_errors(tmp_path):
    path = tmp_path / "xx.seg.rating.gz"
    path.write_bytes(gzip.compress(b'A\tNone\nA\t{"errors": []}\n'))
    assert [text.spans for text in read_marked(path)] == [None, ()]


def test_confidences_come_along(tmp_path):
    path = tmp_path / "rows.jsonl"
    errors = [{"start": 0, "end": 3, "severity": "minor", "confidence": 0.25, "text": "The"}]  # as xCOMET has them
    path.write_text(json.dumps({"hyp": "The cat", "errors": errors}) + "\n")
    ((span,),) = (text.spans for text in read_marked(path))
    assert span.confidence == 0.25
    path.write_text(json.dumps({"hyp": "The cat", "errors": [{**errors[0], "confidence": "high"}]}) + "\n")
    with pytest.raises(InputError, match=r"rows.jsonl:1: confidence of a span is 'high', expected a number"):
        read_marked(path)


def test_ends_that_are_included_are_of_json_alone(tmp_path):
    path = tmp_path / "array.json"
    path.write_text(FILES["array.json"].replace('"end_i": 7', '"end_i": 6'))
    assert read_marked(path, inclusive=True)[0].spans == (READ_SPAN,)
    table = tmp_path / "qe.tsv"
    table.write_text(FILES["qe.tsv"])
    with pytest.raises(InputError, match="inclusive is about the ends of ESA's JSON"):
        read_marked(table, inclusive=True)


@pytest.mark.parametrize("content", ["", "a\tb\n", "just a line\n", "system\tscore\nA\t1\n"])
def test_a_file_of_another_kind_is_refused_with_what_is_read(tmp_path, content):
    path = tmp_path / "other.tsv"
    path.write_text(content)
    with pytest.raises(InputError, match=r"other.tsv holds no marked errors that can be read, expected JSON lines"):
        read_marked(path)
