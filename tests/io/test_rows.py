from __future__ import annotations

import csv
import io
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.io.files import InputFile
from nlgauge.io.rows import JsonRows, Records, cells_between_tabs, first_fields, tab_rows
from nlgauge.io.rows import rows_of as table_of

ROW = {"a": [{"x": 1}], "b:": 'c": {', "d": {"e": 1}, "f": None}


@pytest.mark.parametrize("indent", [None, 2])
def test_fields_of_the_first_object_are_found(indent):
    names = ["a", "b:", "d", "f"]
    assert first_fields(json.dumps(ROW, indent=indent)) == names
    assert first_fields(json.dumps([ROW, {"g": 1}], indent=indent)) == names


def test_a_text_may_end_anywhere():
    assert first_fields('{"a": 1, "b": "no end') == ["a", "b"]
    assert first_fields('{"a": {"c": 1') == ["a"]
    assert first_fields("text") == first_fields("") == []


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


@pytest.mark.parametrize(
    ("second", "says"),
    [
        ('{"a": 1', r"not valid JSON \(Expecting ',' delimiter, character 8\)$"),
        ("{'a': 1}", r"not valid JSON \(Expecting property name enclosed in double quotes, character 2\)$"),
        ("hello", r"not valid JSON \(Expecting value, character 1\)$"),
        ('{"a": 1} {"a": 2}', r"not valid JSON \(Extra data, character 10\)$"),
        ('{"a": NaN}', "not valid JSON; what is missing is null"),
        ('{"a": 1e999}', "not valid JSON; .*numbers must be finite"),
        ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}", "not valid JSON"),
    ],
)
def test_what_is_not_json_is_named_by_line(put, second, says):
    with pytest.raises(InputError, match=r"^a\.jsonl:2: " + says):
        rows_of(put("a.jsonl", '{"a": 0}\n' + second + "\n"))


HALVES = [
    ("\\ud83d", "\ufffd"),
    ("\\ude00 \\ud83d", "\ufffd \ufffd"),
    ("\\ud83d\\ude00", "\U0001f600"),
    ("\\ud83d\\ud83d\\ude00\\ude00", "\ufffd\U0001f600\ufffd"),
    ("\\\\ud83d", "\\ud83d"),  # a backslash and letters
    ("\\\\\\ud83d", "\\\ufffd"),
]


@pytest.mark.parametrize(
    "form", ['{{"hyp": "{}"}}\n{{"hyp": "x"}}\n', '[{{"hyp": "{}"}}]', '{{"data": [\n{{"hyp": "{}"}}]}}']
)
@pytest.mark.parametrize(("written", "text"), HALVES)
def test_half_of_a_surrogate_pair_is_a_replacement_character(put, form, written, text):
    assert rows_of(put("a.json", form.format(written)))[0][0][1] == {"hyp": text}


def test_half_of_a_surrogate_pair_in_a_cell_is_a_replacement_character(put):
    assert cells_of(put("a.tsv", 'hyp\trefs\na\t["b \\ud83d"]\n'))[0][0]["refs"] == ["b \ufffd"]


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


cells = st.lists(st.text(st.sampled_from('ab ",\n\t|é'), max_size=6), min_size=2, max_size=4).filter(any)


def records(put, name, content, delimiter=","):
    return Records(InputFile(put(name, content)), delimiter)


@given(rows=st.lists(cells, min_size=1, max_size=4), mark=st.sampled_from(",;\t"))
def test_records_what_the_standard_library_writes_is_read_back(rows, mark, tmp_path_factory):
    written = io.StringIO()
    csv.writer(written, lineterminator="\n", delimiter=mark).writerows([["hyp", "ref"], *rows])
    path = tmp_path_factory.getbasetemp() / "records.csv"
    path.write_text(written.getvalue(), encoding="utf-8")
    kept = [row for row in rows if "".join(row).strip(" \t")]  # others are rows of separators, or of blanks
    assert [row for _, row in Records(InputFile(path)) if "".join(row).strip(" \t")] == [["hyp", "ref"], *kept]


def test_quotes_inside_an_unquoted_cell_are_text_and_line_numbers_count_lines(put):
    found = records(put, "a.csv", 'a,5" disk\n"b\nc",d\n\n"e ""f""",g\n')
    assert list(found) == [(1, ["a", '5" disk']), (2, ["b\nc", "d"]), (5, ['e "f"', "g"])]
    assert found.notes() == ["a.csv: 1 blank line skipped"]


@pytest.mark.parametrize(("name", "mark"), [("a.csv", ","), ("a.csv", ";"), ("a.tsv", "\t")])
def test_rows_of_separators_alone_are_skipped_as_blank_lines_are(put, name, mark):
    content = f"hyp{mark}ref\r\na{mark}b\r\n{mark}\r\n{mark}{mark} \r\nc{mark}d\r\n{mark}\r\n"
    found = records(put, name, content, "\t" if mark == "\t" else ",")
    assert list(found) == [(1, ["hyp", "ref"]), (2, ["a", "b"]), (5, ["c", "d"])]
    assert found.notes() == [f"{name}: 3 blank lines skipped"]


@pytest.mark.parametrize(
    "content",
    [
        "hyp,ref\nit rains; a lot,yes\n",
        'hyp;ref\n"it rains; a lot";yes\n',
        'sep=;\r\nhyp;ref\r\n"it rains; a lot";yes\r\n',
        '"sep=;"\nhyp;ref\n"it rains; a lot";yes\n',
        "sep=,\nhyp,ref\nit rains; a lot,yes\n",
        "hyp\tref\nit rains; a lot\tyes\n",
        "hyp,ref\rit rains; a lot,yes\r",
        "hyp, ref\nit rains; a lot, yes\n",
        'hyp, ref\n"it rains; a lot", "yes"\n',
        " hyp ,ref\r\rit rains; a lot,yes",
        "\ufeffsep=|\nhyp|ref\nit rains; a lot|yes\n",
    ],
)
def test_the_header_tells_how_a_spreadsheet_parted_the_cells(put, content):
    assert [cells for _, cells in records(put, "a.csv", content)] == [["hyp", "ref"], ["it rains; a lot", "yes"]]


def test_lines_that_end_in_cr_are_numbered(put):
    assert list(records(put, "a.csv", 'h,"r"\r"a\rb",c\r')) == [(1, ["h", "r"]), (2, ["a\nb", "c"])]
    with pytest.raises(InputError, match=r"^a\.csv:3: a double quote that begins a cell in this row is never closed"):
        list(records(put, "a.csv", 'h,r\rb,c\r"a,c\r'))
    assert list(records(put, "a.tsv", "hyp\tref\na\rb\tc\n", "\t")) == [(1, ["hyp", "ref"]), (2, ["a\rb", "c"])]


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ('"the ""safe"" bridge"', 'the "safe" bridge'),
        ('"""Hi"""', '"Hi"'),
        ('""""', '"'),
        ('"so" it rains', '"so" it rains'),  # the others are texts of a file without quoting
        ('"so it rains"', '"so it rains"'),
        ('""so"" it rains', '""so"" it rains'),
        ('""so""', '""so""'),
        ('a ""b"" c', 'a ""b"" c'),
        ('"a ""b" c"', '"a ""b" c"'),
        ('""', '""'),
        ('"', '"'),
    ],
)
def test_a_cell_between_tabs_is_unquoted_where_the_sign_is_sure(cell, text):
    assert cells_between_tabs(f"x\t{cell}\t") == ["x", text, ""]


def test_cells_between_tabs_are_all_quoted_where_the_header_is(put):
    content = '"hyp"\t"ref"\n"it rains"\t"a\tb ""c"""\n"d\ne"\tf\n'
    assert [row for _, row in records(put, "a.tsv", content, "\t")] == [
        ["hyp", "ref"],
        ["it rains", 'a\tb "c"'],
        ["d\ne", "f"],
    ]


COMET = (
    'src,mt,ref,score,lp,annotators\nein Haus,"a <v>hut</v>, small",a house,-0.5,de-en,3\nzwei,two,two,None,de-en,1\n'
)


def test_comets_columns_become_segments(put):
    data = ng.read(put("a.csv", COMET))
    first, second = data.segments
    assert (first.hypothesis, first.source, first.references, first.group, first.human) == (
        "a hut, small",
        "ein Haus",
        ("a house",),
        "de-en",
        {"score": -0.5},
    )
    assert (second.id, second.human) == ("2", {})
    assert data.notes == (
        "a.csv: <v> marks taken out of 1 hypothesis",
        "a.csv: fields ignored: 'annotators'",
    )


def test_more_references_and_criteria_beside_comets_columns(put):
    (segment,) = ng.read(put("a.csv", "src,mt,ref,ref2,human.fluency,context\ns,h,r,q,3,c\n"))
    assert (segment.references, segment.human, segment.context) == (("r", "q"), {"fluency": 3.0}, ())


PAWS = "id\tsentence1\tsentence2\tlabel\n1\ta to b\tb to a\t0\n2\ta to b\tto b from a\t1\n"


def test_the_header_of_paws_is_read_as_it_is(put):
    read = {name: ng.read(put(name, text)) for name, text in (("a.tsv", PAWS), ("a.csv", PAWS.replace("\t", ",")))}
    for data in read.values():
        assert [(s.id, s.references, s.hypothesis, s.human) for s in data] == [
            ("1", ("a to b",), "b to a", {"label": 0.0}),
            ("2", ("a to b",), "to b from a", {"label": 1.0}),
        ]
    found = ng.meta_evaluate(read["a.tsv"], scores={"other": [0.25, 0.75]}, preset="paws-auc")
    assert {row["value"] for row in found.rows} == {1.0}  # the paraphrase has the higher score
    named = ng.read("a.tsv", columns={"sentence1": "hyp", "sentence2": "ref", "label": "human.same"})
    first = named.segments[0]
    assert (first.references, first.hypothesis, first.human) == (("b to a",), "a to b", {"same": 0.0})
    own = "hyp\tsentence1\tsentence2\tlabel\nx\ta\tb\t0\n"  # a column hyp says whose names they are
    assert [s.hypothesis for s in ng.read(put("own.tsv", own))] == ["x"]


def test_columns_of_other_names_are_named(put):
    names = {"output": "hyp", "gold": "ref", "stars": "human.overall", "model": "system", "n": "seg"}
    text = "n,model,output,gold,stars\n1,A,x,y,5\n"
    for name, content in (("a.csv", text), ("a.tsv", text.replace(",", "\t"))):
        (segment,) = ng.read(put(name, content), columns=names)
        assert segment == ng.Segment("A:1", "x", ("y",), None, "A", "1", None, {"overall": 5.0})
    put("a.csv", "out,ref\nx,y\n")
    with pytest.raises(
        ng.InputError, match=r"^a\.csv:1: the header has no column 'output'; columns found: 'out', 'ref'$"
    ):
        ng.read("a.csv", columns={"output": "hyp"})
    with pytest.raises(ng.InputError, match=r"^columns name a field 'hypothesis', expected hyp, ref"):
        ng.read("a.csv", columns={"out": "hypothesis", "ref": "hyp"})
    with pytest.raises(ng.InputError, match=r"^columns name 'src' twice, expected one column for each field$"):
        ng.read("a.csv", columns={"out": "src", "ref": "src", "x": "hyp"})


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (
            "a,b\n1,2\n",
            "a.csv:1: no layout has these columns: 'a', 'b'; expected at least: hyp; mt, src; label, sent",
        ),
        (
            "src,ref,pos,neg\na,b,c,d\n",
            "a.csv:1: pairs of a better and a worse text, expected one text per row; 'nlgauge audit --suite FILE",
        ),
        ("hyp,ref\nx\n", "a.csv:2: 1 cell, expected 2 as in the header"),
        ("hyp,hyp\nx,y\n", "a.csv:1: the header names column 'hyp' twice"),
        ('hyp,ref\nx,"y\nz\n', "a.csv:2: a double quote that begins a cell in this row is never closed"),
        ('hyp,ref\n"x" y,z\n', "a.csv:2: cell 1: text after the closing quote; a quote inside a cell is written twice"),
        (
            'src,mt,score\na,b,"0,5"\n',
            "a.csv:2: field 'human.score' is '0,5', expected a number or None; write the decimal mark as a dot",
        ),
        ("src,mt\n", "a.csv is empty: no row in it"),
        ("hyp,table\nx,y\n", "a.csv:1: field 'table' cannot be a column of CSV"),
    ],
)
def test_bad_csv_is_refused_by_line(put, content, says):
    with pytest.raises(ng.InputError) as error:
        ng.read(put("a.csv", content))
    assert str(error.value).startswith(says)


def cells_of(name):
    rows = tab_rows(InputFile(name))
    return [row for _, row in rows], rows


def test_cells_are_taken_as_they_are(put):
    # no quoting, no escapes, no trimming; a lone CR and U+2028 are text
    found, _ = cells_of(put("a.tsv", 'hyp\tref\n "a ""b\\t \t x\ry\u2028z\n'))
    assert found == [{"hyp": ' "a ""b\\t ', "refs": [" x\ry\u2028z"]}]


def test_empty_cells_are_absent_but_for_the_hypothesis_and_an_only_reference(put):
    found, _ = cells_of(put("a.tsv", "id\tsystem\tseg\tlp\tsrc\thyp\tref\thuman.x\n\t\t\t\t\t\t\t5\n"))
    assert found == [
        {
            "id": None,
            "system": None,
            "seg": None,
            "lp": None,
            "src": None,
            "hyp": "",
            "refs": [""],
            "human": {"x": 5.0},
        }
    ]


def test_items_may_have_unequal_numbers_of_references(put):
    found, _ = cells_of(put("a.tsv", "hyp\tref2\tref\tref10\nx\tb\ta\tc\nx\tb\t\t\nx\t\t\t\n"))
    assert [row["refs"] for row in found] == [["a", "b", "c"], ["b"], [""]]


def test_lists_are_json_in_a_cell(put):
    found, _ = cells_of(
        put(
            "a.tsv",
            'hyp\trefs\tcontext\ttable\thuman\thuman.b\nx\t["a\\tb"]\t[{"speaker":"A","text":"t"}]\t[1]\t{"a":1}\t[1,2]\n',
        )
    )
    assert found == [
        {
            "hyp": "x",
            "refs": ["a\tb"],
            "context": [{"speaker": "A", "text": "t"}],
            "table": [1],
            "human": {"a": 1, "b": [1, 2]},
        }
    ]


@pytest.mark.parametrize(
    ("cell", "number"),
    [("1", 1.0), ("-2.5e3", -2500.0), ("", None), ("nan", None), ("None", None), ("[1,null]", [1, None])],
)
def test_ratings(put, cell, number):
    assert cells_of(put("a.tsv", f"hyp\thuman.x\na\t{cell}\n"))[0] == [{"hyp": "a", "human": {"x": number}}]


def test_unknown_columns_are_left_out_and_told(put):
    found, rows = cells_of(put("a.tsv", "hyp\tdomain\t\t\nx\ty\tz\tz\n"))
    assert found == [{"hyp": "x"}]
    assert rows.ignored == ["domain", "", ""]


def test_blank_lines(put):
    found, rows = cells_of(put("a.tsv", "hyp\tref\na\tb\n\n\n"))
    assert len(found) == 1
    assert rows.notes() == ["a.tsv: 2 blank lines skipped"]
    assert cells_of(put("b.tsv", "hyp\na\n\nb\n"))[0] == [
        {"hyp": "a"},
        {"hyp": ""},
        {"hyp": "b"},
    ]  # with one column it is an empty hypothesis


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (
            "hypothesis\toutput\tref\nx\ty\tz\n",
            "a.tsv:1: the header has no column 'hyp'; columns found: 'hypothesis', 'output', 'ref'"
            "; if these are the texts, give --columns hyp=hypothesis",
        ),
        ("\nx\n", "a.tsv:1: the header has no column 'hyp'; columns found: ''"),
        ("hyp\tref\tref\nx\ty\tz\n", "a.tsv:1: the header names column 'ref' twice"),
        ("hyp\thuman.a\thuman.a\nx\t1\t2\n", "a.tsv:1: the header names column 'human.a' twice"),
        (
            "hyp\tref\nx\ty\nx\n",
            "a.tsv:3: 1 cell, expected 2 as in the header; a text must hold no tab and no line break",
        ),
        (
            "hyp\tref\nx\ty\tz\n",
            "a.tsv:2: 3 cells, expected 2 as in the header; a text must hold no tab and no line break",
        ),
        ("hyp\thuman.x\nx\tgood\n", "a.tsv:2: field 'human.x' is 'good', expected a number or None"),
        (
            "hyp\thuman.x\nx\t[1\n",
            "a.tsv:2: field 'human.x' is not valid JSON, expected a number or a list of numbers in the cell",
        ),
        (
            "hyp\trefs\nx\ta text\n",
            (
                "a.tsv:2: field 'refs' is not valid JSON, expected a list of strings in the cell; write a single"
                " reference into a column 'ref'"
            ),
        ),
        ('hyp\trefs\tref1\nx\t["a"]\tb\n', "a.tsv:2: fields 'refs' and 'ref1' are both given, expected one of them"),
        ("hyp\tcontext\nx\thi\n", "a.tsv:2: field 'context' is not valid JSON, expected a list of turns in the cell"),
    ],
)
def test_what_is_wrong_is_named_by_line(put, content, says):
    with pytest.raises(ng.InputError) as error:
        cells_of(put("a.tsv", content))
    assert str(error.value) == says
