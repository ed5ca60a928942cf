from __future__ import annotations

import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.marks import ErrorSpan
from nlgauge.io.marked.tables import read_span_table, write_span_table
from nlgauge.io.marked.texts import MarkedText

TEXT = "The cat sat on the hat."


def written(path, *lines):
    path.write_text("\n".join("\t".join(line) for line in lines) + "\n")
    return path


def test_a_table_of_quality_estimation(tmp_path):
    path = written(
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
    path = written(
        tmp_path / "t.tsv",
        ("doc_id", "segment_id", "system_id", "hypothesis_segment", "start_indices", "end_indices", "error_types"),
        ("d", "3", "A", TEXT, "missing 0 4", "missing 3 7", "major critical undecided"),
    )
    (one,) = read_span_table(path)
    assert one.spans == (ErrorSpan(23, 23, "major", missing=True), ErrorSpan(0, 3, "major"))
    assert one.key == ("A", "d:3")


def test_what_is_written_is_read(tmp_path):
    texts = [
        MarkedText("1", "A", (ErrorSpan(4, 7, "minor"), ErrorSpan(23, 23, "major", missing=True)), TEXT),
        MarkedText("2", "A", (), TEXT),
    ]
    write_span_table(texts, tmp_path / "t.tsv")
    assert read_span_table(tmp_path / "t.tsv") == texts
    with pytest.raises(InputError, match="fits into one cell"):
        write_span_table([MarkedText("1", "A", (), "a\tb")], tmp_path / "t.tsv")


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
    path = written(tmp_path / "t.tsv", ("mt", "start_ids", "end_ids", "errors"), (TEXT, *cells))
    with pytest.raises(InputError, match=message) as found:
        read_span_table(path)
    assert "t.tsv:2" in str(found.value)


def test_columns_and_cells_must_be_there(tmp_path):
    with pytest.raises(InputError, match="no column 'end_indices'"):
        read_span_table(written(tmp_path / "t.tsv", ("start_ids", "errors"), ("0", "major")))
    with pytest.raises(InputError, match="2 cells, expected 4"):
        read_span_table(written(tmp_path / "t.tsv", ("mt", "start_ids", "end_ids", "errors"), (TEXT, "0")))
