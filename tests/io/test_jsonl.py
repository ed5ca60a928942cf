from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.io.files.files import InputFile
from nlgauge.io.jsonl import JsonRows
from nlgauge.io.jsonl import rows_of as table_of

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


def rows_of(name):
    rows = JsonRows(InputFile(name))
    return list(rows), rows


@given(written=st.lists(st.dictionaries(texts, values, max_size=4), max_size=4), ascii_only=st.booleans())
def test_what_the_standard_library_writes_is_read_back(written, ascii_only):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.jsonl")
        path.write_bytes("".join(json.dumps(row, ensure_ascii=ascii_only) + "\n" for row in written).encode())
        table = table_of(written[0]) if len(written) == 1 else None  # one object alone may be a table
        assert [row for _, row in rows_of(path)[0]] == (written if table is None else table)


def test_blank_lines_are_skipped_and_counted(put):
    found, rows = rows_of(put("a.jsonl", '{"a": 1}\n\n \t\r\n{"a": 2}\n\n'))
    assert found == [(1, {"a": 1}), (4, {"a": 2})]
    assert rows.notes() == ["a.jsonl: 3 blank lines skipped"]


def test_u2028_inside_a_string_does_not_split(put):
    assert rows_of(put("a.jsonl", '{"a": "x\u2028y\x85z"}\n'))[0] == [(1, {"a": "x\u2028y\x85z"})]


@pytest.mark.parametrize(
    ("second", "says"),
    [
        ('{"a": 1', r"not valid JSON \(Expecting ',' delimiter, character 8\)$"),
        ("{'a': 1}", r"not valid JSON \(Expecting property name enclosed in double quotes, character 2\)$"),
        ("hello", r"not valid JSON \(Expecting value, character 1\)$"),
        ('{"a": 1} {"a": 2}', r"not valid JSON \(Extra data, character 10\)$"),
        ('{"a": NaN}', "not valid JSON; what is missing is null"),
        ('{"a": 1e999}', "not valid JSON; .*numbers must be finite"),
        ('{"a": "\\ud800"}', "not valid JSON; .*surrogates paired"),
        ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}", "not valid JSON"),
    ],
)
def test_what_is_not_json_is_named_by_line(put, second, says):
    with pytest.raises(InputError, match=r"^a\.jsonl:2: " + says):
        rows_of(put("a.jsonl", '{"a": 0}\n' + second + "\n"))


def test_an_object_over_several_lines_gets_advice(put):
    with pytest.raises(InputError, match=r"^a\.jsonl: one object over .*expected one whole object on each line"):
        rows_of(put("a.jsonl", '{\n"hyp": "a"\n}\n'))


@pytest.mark.parametrize(
    "content", ['[\n{"a": 1},\n{"a": 2}\n]\n', '\ufeff [{"a": 1}, {"a": 2}]', '[{"a": 1},{"a": 2}]']
)
def test_an_array_holds_one_value_per_entry(put, content):
    found, rows = rows_of(put("a.json", content))
    assert found == [(1, {"a": 1}), (2, {"a": 2})]
    assert rows.notes() == []


@pytest.mark.parametrize(
    ("content", "where"),
    [
        ('{"hyp":"x"}\n{"hyp":"a","hyp":"b","refs":["b"]}\n', "rows.json:2"),
        ('[{"hyp":"x"},{"hyp":"a","refs":["b"],"hyp":"b"}]', "rows.json, entry 2"),
    ],
)
def test_a_field_that_stands_twice_is_refused(put, content, where):
    put("rows.json", content)
    with pytest.raises(InputError, match=f"^{where}: field 'hyp' stands twice in one object, expected once$"):
        list(JsonRows(InputFile("rows.json")))


WIDE = [{"hyp": "a", "ref": "b"}, {"hyp": "c", "ref": "d"}]


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("orient", ["columns", "index", "split", "records", "table", "list", "data", "values", "odd"])
def test_a_table_as_one_object_is_read(put, orient, indent):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(WIDE)
    if orient in ("list", "data", "values", "odd"):
        whole = {"list": frame.to_dict("list"), "data": {"data": WIDE, "version": 1}}.get(orient, {orient: WIDE})
        content = json.dumps(whole, indent=indent)
    else:
        content = frame.to_json(orient=orient, indent=indent)
    path = put("a.json", content)
    assert [(s.id, s.hypothesis, s.references) for s in ng.read(path)] == [("1", "a", ("b",)), ("2", "c", ("d",))]


@pytest.mark.parametrize("orient", ["columns", "index"])
def test_an_index_of_names_is_the_id(put, orient):
    frame = pytest.importorskip("pandas").DataFrame(WIDE, index=["x", "y"])
    assert [s.id for s in ng.read(put("a.json", frame.to_json(orient=orient)))] == ["x", "y"]


@pytest.mark.parametrize(
    "row",
    [
        {"hyp": "a", "refs": ["b", "c"]},
        {"hyp": "a", "context": [{"speaker": "x", "text": "y"}]},
        {"hyp": "a", "human": {"0": 1}},
        {"refs": ["b"], "hyp": "a", "table": [["x"]]},
    ],
)
def test_one_row_is_a_row(put, row):
    assert [s.hypothesis for s in ng.read(put("a.jsonl", json.dumps(row)))] == ["a"]


def test_another_object_over_several_lines_is_refused_for_what_it_is(put):
    with pytest.raises(InputError, match=r"^a\.json: one object over several lines, expected one whole object on each"):
        ng.read(put("a.json", json.dumps({"name": "x", "texts": 3}, indent=1)))
    with pytest.raises(InputError, match=r"^a\.json:1: field 'hyp' is a list"):  # two tables are none
        ng.read(put("a.json", 2 * '{"hyp": ["a"], "ref": ["b"]}\n'))
    with pytest.raises(InputError, match=r"^a\.json: field 'hyp' stands twice"):
        ng.read(put("a.json", '{"hyp": ["a"], "hyp": ["b"]}'))
