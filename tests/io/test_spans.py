"""Whoever reads a file in parts must see the same segments as whoever reads it whole."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.io.spans import InputPart, Inputs, cut, read_span


def whole(inputs):
    source = inputs.opened()
    try:
        return [segment for block in source.blocks() for segment in block]
    finally:
        source.close()


def in_spans(inputs, spans):
    return [segment for span in spans for segment in read_span(inputs, span)]


def test_json_lines_with_blank_lines_a_byte_order_mark_and_no_ids(put):
    rows = [json.dumps({"hyp": f"ünï {i}", "refs": ["r"], "system": "s"}) for i in range(7)]
    put("a.jsonl", "\ufeff" + rows[0] + "\r\n \n" + "\n".join(rows[1:4]) + "\n\n\n" + "\n".join(rows[4:]))
    inputs = Inputs("a.jsonl")
    spans = cut(inputs, 2)
    assert [(span.first, span.rows) for span in spans] == [(0, 2), (2, 2), (4, 2), (6, 1)]
    assert in_spans(inputs, spans) == whole(inputs)
    # Files that were put together bring the marks of each; also where a part begins with one, or is nothing else
    put("hyp.txt", "\ufeffone\n\ufefftwo\n\ufeff")
    put("ref.txt", "one\ntwo\nthree\n")
    inputs = Inputs(None, None, ("hyp.txt",), ("ref.txt",))
    assert [segment.hypothesis for segment in in_spans(inputs, cut(inputs, 1))] == ["one", "\ufefftwo", "\ufeff"]
    assert in_spans(inputs, cut(inputs, 1)) == whole(inputs)
    put("a.jsonl", "\ufeff\n" + "".join(json.dumps({"hyp": f"h{i}"}) + "\n" for i in range(4)))
    inputs = Inputs("a.jsonl")
    assert [segment.id for segment in in_spans(inputs, cut(inputs, 2))] == ["1", "2", "3", "4"]
    assert in_spans(inputs, cut(inputs, 2)) == whole(inputs)


@given(
    texts=st.lists(
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\r\ufeff"), min_size=1, max_size=4),
        min_size=1,
        max_size=9,
    ),
    rows=st.integers(1, 12),
)
def test_parallel_texts_of_two_systems(texts, rows, tmp_path_factory):
    folder = tmp_path_factory.mktemp("parallel")
    for name in ("one", "two", "ref"):
        (folder / name).write_bytes("".join(f"{name} {text}\n" for text in texts).encode())
    inputs = Inputs(None, None, (str(folder / "one"), str(folder / "two")), (str(folder / "ref"),))
    spans = cut(inputs, rows)
    assert sum(span.rows for span in spans) == len(texts)  # a row is an item with all its systems
    assert in_spans(inputs, spans) == whole(inputs)


def test_texts_of_unequal_length_are_refused_before_a_part_is_read(put):
    put("hyp.txt", "one\ntwo\n")
    put("ref.txt", "one\n")
    with pytest.raises(InputError, match=r"hyp\.txt has 2 lines but ref\.txt has 1 line"):
        Inputs(None, None, ("hyp.txt",), ("ref.txt",)).opened().check()


def test_sgm_has_no_parts(put):
    put("hyp.sgm", '<tstset><doc docid="d"><seg>one</seg><seg>two</seg></doc></tstset>')
    inputs = Inputs(None, None, ("hyp.sgm",))
    assert inputs.opened().check().n == 2
    with pytest.raises(InputError, match=r"cannot be read in parts; write Parquet, JSON lines or one text per line"):
        cut(inputs, 1)


def test_the_first_row_of_the_file_says_which_names_are_columns(put):
    """Where it has an `id`, that is the item; a part whose own first row has none does not read it the other way."""
    rows = [{"id": "i", "seg": "s", "hyp": "h"}] * 2 + [{"seg": f"s{i}", "hyp": "h"} for i in range(2)]
    put("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    inputs = Inputs("a.jsonl", {"id": "seg"})
    assert [segment.id for segment in in_spans(inputs, cut(inputs, 2))] == ["1", "2", "3", "4"]
    assert in_spans(inputs, cut(inputs, 2)) == whole(inputs)


@pytest.mark.parametrize(("group", "rows"), [(1, 3), (3, 3), (4, 3), (5, 100), (50, 2)])
def test_parquet_by_row_groups_and_shares_of_large_ones(put, group, rows):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    put("other", "")
    table = arrow.table({"output": [f"h{i}" for i in range(23)], "refs": [[f"r{i}", "x"] for i in range(23)]})
    parquet.write_table(table, "a.parquet", row_group_size=group)
    inputs = Inputs("a.parquet", {"hyp": "output"})
    spans = cut(inputs, rows)
    assert [span.first for span in spans] == [sum(before.rows for before in spans[:i]) for i in range(len(spans))]
    assert all(span.rows <= max(rows, group) for span in spans)
    assert in_spans(inputs, spans) == whole(inputs)


def test_a_large_row_group_is_read_at_most_sixteen_times(put):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    put("other", "")
    parquet.write_table(arrow.table({"hyp": ["h"] * 100}), "a.parquet", row_group_size=100)
    assert cut(Inputs("a.parquet"), 1) == [InputPart(i, min(7, 100 - i)) for i in range(0, 100, 7)]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl.gz", b"\x1f\x8b\x08\x00", "is compressed"),
        ("a.json", b'[{"hyp": "h"}]', "cannot be read in parts; write Parquet"),
        ("a.tsv", b"hyp\nh\n", "cannot be read in parts; write Parquet"),
    ],
)
def test_what_cannot_be_read_from_the_middle_is_refused(put, name, content, said):
    put(name, content)
    with pytest.raises(InputError, match=said):
        cut(Inputs(name), 2)
