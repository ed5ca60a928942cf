from __future__ import annotations

import csv
import gzip
import os
from pathlib import Path

import pytest

import nlgauge as ng
from nlgauge.io.delimited import tab_rows
from nlgauge.io.files.files import InputFile

COMET = (
    'src,mt,ref,score,lp,annotators\nein Haus,"a <v>hut</v>, small",a house,-0.5,de-en,3\nzwei,two,two,None,de-en,1\n'
)
RATED = (
    '"dataset","system","mr","sys_ref","TER","informativeness","naturalness","quality"\n'
    '"BAGEL","one","inform(name=X)","x is a place.",0.5,6,5.5,4\n'
    '"BAGEL","one","inform(name=X)","it is x.",0.5,2,NA,4\n'
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


def test_rated_outputs_of_one_input_stay_apart(put):
    data = ng.read(put("a.csv.gz", gzip.compress(RATED.encode())))
    assert [(s.id, s.item, s.source, s.system, s.group, s.hypothesis) for s in data] == [
        ("1", "inform(name=X)", "inform(name=X)", "one", "BAGEL", "x is a place."),
        ("2", "inform(name=X)", "inform(name=X)", "one", "BAGEL", "it is x."),
    ]
    assert [dict(s.human) for s in data] == [
        {"informativeness": 6.0, "naturalness": 5.5, "quality": 4.0},
        {"informativeness": 2.0, "quality": 4.0},
    ]


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


def test_our_own_names_in_csv(put):
    (segment,) = ng.read(put("a.csv", "id,hyp,ref2,ref1,human.fluency,system\nk,x,b,a,2,S\n"))
    assert (segment.id, segment.references, segment.human, segment.system) == ("k", ("a", "b"), {"fluency": 2.0}, "S")


def test_columns_of_other_names_are_named(put):
    names = {"output": "hyp", "gold": "ref", "stars": "human.overall", "model": "system", "n": "seg"}
    text = "n,model,output,gold,stars\n1,A,x,y,5\n"
    for name, content in (("a.csv", text), ("a.tsv", text.replace(",", "\t"))):
        (segment,) = ng.read(put(name, content), columns=names)
        assert segment == ng.Segment("A:1", "x", ("y",), None, "A", "1", None, {"overall": 5.0})


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (
            "a,b\n1,2\n",
            "a.csv:1: no layout has these columns: 'a', 'b'; expected at least: hyp; mt, src; informativeness, mr",
        ),
        (
            "src,ref,pos,neg\na,b,c,d\n",
            "a.csv:1: pairs of a better and a worse text, expected one text per row; read_ranking reads them",
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


def test_a_column_that_is_named_must_be_there(put):
    put("a.csv", "out,ref\nx,y\n")
    with pytest.raises(
        ng.InputError, match=r"^a\.csv:1: the header has no column 'output'; columns found: 'out', 'ref'$"
    ):
        ng.read("a.csv", columns={"output": "hyp"})
    with pytest.raises(ng.InputError, match=r"^columns name a field 'hypothesis', expected hyp, ref"):
        ng.read("a.csv", columns={"out": "hypothesis", "ref": "hyp"})
    with pytest.raises(ng.InputError, match=r"^columns name 'src' twice, expected one column for each field$"):
        ng.read("a.csv", columns={"out": "src", "ref": "src", "x": "hyp"})


@pytest.mark.skipif("NLGAUGE_DATA" not in os.environ, reason="NLGAUGE_DATA names no folder with evaluation data")
@pytest.mark.parametrize(
    ("folder", "file", "n", "criteria"),
    # counts as the data's own pages give them
    [
        ("bagel", "segments", 404, {"informativeness", "naturalness", "quality"}),
        ("sfhot", "segments", 875, {"informativeness", "naturalness", "quality"}),
        ("comet-samples", "segments", 400, {"da_z"}),
        ("comet-samples", "segments_mqm", 198, {"score"}),
    ],
)
def test_real_texts_survive_csv(folder, file, n, criteria, tmp_path):
    data = ng.read(Path(os.environ["NLGAUGE_DATA"], folder, f"{file}.jsonl.gz"))
    path = tmp_path / "a.csv"
    names = sorted({criterion for segment in data for criterion in segment.human})
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["id", "src", "mt", "ref", *names])
        writer.writerows(
            [s.id, s.source, s.hypothesis, s.references[0], *[repr(s.human[name]) for name in names]] for s in data
        )
    back = ng.read(path, columns={name: f"human.{name}" for name in names})
    assert (len(back), set(names)) == (n, criteria)
    assert [(s.id, s.hypothesis, s.source, s.references, s.human) for s in back] == [
        (s.id, s.hypothesis, s.source, s.references[:1], s.human) for s in data
    ]


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


def test_byte_order_mark_and_crlf(put):
    found, rows = cells_of(put("a.tsv", "\ufeffhyp\tref\r\na\tb\r\n"))
    assert found == [{"hyp": "a", "refs": ["b"]}]
    assert rows.notes() == []


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
