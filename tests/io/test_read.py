"""Every format has a reader, ours and those of installed packages, and gives the same segments by every door."""

from __future__ import annotations

import gzip
import json
import os
import sys
from importlib import metadata
from pathlib import Path
from types import ModuleType

import pytest

import nlgauge as ng
from nlgauge import io
from nlgauge.cli.main import main
from nlgauge.core import options
from nlgauge.core.errors import InputError
from nlgauge.core.segment import Dataset, Segment
from nlgauge.io import Limits
from nlgauge.io.parallel import open_parallel, read_raw
from nlgauge.io.read import by_fields, by_name, expected_names, open_data, read
from nlgauge.io.wmt.annotations import NEEDS

REAL_DATA = pytest.mark.skipif(
    "NLGAUGE_DATA" not in os.environ, reason="NLGAUGE_DATA names no folder with evaluation data"
)


def blocks(file):
    """Texts with a line of equal signs above each."""
    for number, line in io.Lines(file):
        if not line.startswith("="):
            yield number, {"hyp": line, "ref": "the cat sat"}


def fails(file):
    yield 1, {"hyp": "x"}
    raise KeyError("no such key")


def refuses(file):
    raise ng.InputError(f"{file.name}:1: not of this kind")
    yield


def bare(file):
    yield {"hyp": "x"}


def faulty(file):
    yield 4, {"hyp": 1}
    yield 9, ["x"]


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """Entry points of a package that is not there, and a folder to write in."""
    theirs = ModuleType("theirs")
    readers = {reader.__name__: reader for reader in (blocks, fails, refuses, bare, faulty)}
    vars(theirs).update(readers, number=3, jsonl=fails)
    monkeypatch.setitem(sys.modules, "theirs", theirs)
    points = [
        metadata.EntryPoint(name=name, value=f"theirs:{name}", group="nlgauge.formats")
        for name in (*readers, "number", "gone", "jsonl")
    ]
    monkeypatch.setattr(options.metadata, "entry_points", lambda group: points if group == "nlgauge.formats" else [])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_formats_of_one_extension_are_told_apart_by_fields():
    assert by_fields("tsv", ["sentence1", "sentence2", "label"]) == "paws"
    assert by_fields("tsv", ["sentence1", "sentence2", "label", "hyp"]) == "tsv"
    assert by_fields("csv", ["sentence1", "sentence2", "label"]) == "csv"
    assert by_fields("tsv", [*NEEDS, "seg_id"]) == "mqm"
    assert by_fields("jsonl", ["decoded", "model_id", "id"]) == "summeval"


def test_an_extension_of_a_package_is_read(installed):
    for name, pack in (("a.blocks", bytes), ("a.BLOCKS.gz", gzip.compress)):
        (installed / name).write_bytes(pack(b"==\nthe cat\n==\na dog\n"))
        data = ng.read(name)
        assert [(s.id, s.hypothesis, s.references) for s in data] == [
            ("1", "the cat", ("the cat sat",)),
            ("2", "a dog", ("the cat sat",)),
        ]
    (installed / "texts").write_text("==\nthe cat\n")
    assert ng.read("texts", format="blocks").segments[0].hypothesis == "the cat"
    assert ng.read("texts", format="blocks", columns={"hyp": "ref", "src": "hyp"}).segments[0].source == "the cat"
    assert by_name("a.blocks") == "blocks"
    assert by_name("a.other") is None
    assert read_raw("a.blocks").texts == ("the cat sat",)


def test_the_command_line_reads_and_lists_it(installed, capsys):
    (installed / "a.blocks").write_text("the cat\n")
    assert main(["score", "a.blocks", "-m", "chrf", "-f", "json"]) == 0
    capsys.readouterr()
    assert main(["list", "formats"]) == 0
    out, err = capsys.readouterr()
    assert "blocks           Texts with a line of equal signs above each.\n" in out
    assert "nlgauge: format 'gone' of an installed package cannot be loaded (AttributeError:" in err
    assert out.count("\njsonl ") == 1
    assert main(["score", "a.gone", "-m", "chrf"]) == 2
    assert "no such file" in capsys.readouterr().err
    (installed / "a.gone").write_text("x\n")
    assert main(["score", "a.gone", "-m", "chrf"]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert err.startswith("nlgauge: format 'gone' of an installed package cannot be loaded (AttributeError:")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("number", "format 'number' of an installed package is int 3, expected a function of a file; repair or"),
        ("fails", "format 'fails' of an installed package cannot read a.fails (KeyError: 'no such key'); repair or"),
        ("bare", "format 'bare' of an installed package gives {'hyp': 'x'} for a row, expected (line number, fields)"),
        ("refuses", "a.refuses:1: not of this kind"),
        ("faulty", "a.faulty:4: field 'hyp' is a number (1), expected a string; 2 rows are bad: 4, 9"),
        ("other", "a.other: the format cannot be told from the name, expected .jsonl, .tsv, .csv, .parquet,"),
    ],
)
def test_what_is_broken_is_refused_in_one_line(installed, name, says):
    (installed / f"a.{name}").write_text("x\n")
    with pytest.raises((ng.InputError, ng.SpecError)) as caught:
        ng.read(f"a.{name}")
    assert str(caught.value).startswith(says)
    assert "\n" not in str(caught.value)


def test_our_names_come_first(installed):
    (installed / "a.jsonl").write_text('{"hyp": "x"}\n')
    assert ng.read("a.jsonl").segments[0].hypothesis == "x"


def test_an_unknown_name_suggests_theirs(installed):
    (installed / "a").write_text("x\n")
    with pytest.raises(ng.InputError, match=r"^unknown format 'bloks'; did you mean 'blocks'"):
        ng.read("a", format="bloks")


ROWS = [
    {
        "id": "a",
        "system": "s",
        "seg": "1",
        "lp": "xx-yy",
        "src": "in",
        "refs": ["r"],
        "hyp": "out",
        "human": {"f": 0.1},
    },
    {"id": "b", "system": "s", "seg": "2", "lp": "xx-yy", "src": "in", "refs": ["r2"], "hyp": "", "human": {"f": -1.0}},
]
EXPECTED = (
    Segment("a", "out", ("r",), "in", "s", "1", "xx-yy", {"f": 0.1}),
    Segment("b", "", ("r2",), "in", "s", "2", "xx-yy", {"f": -1.0}),
)


def as_jsonl(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def as_tsv(rows):
    cells = [
        [row["id"], row["system"], row["seg"], row["lp"], row["src"], *row["refs"], row["hyp"], repr(row["human"]["f"])]
        for row in rows
    ]
    header = ["id", "system", "seg", "lp", "src", "ref", "hyp", "human.f"]
    return "".join("\t".join(line) + "\n" for line in [header, *cells])


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.ndjson", "a.JSONL", "a.jsonl.gz", "a.tsv", "a.tsv.gz"])
def test_every_format_gives_the_same_segments(put, name):
    content = as_tsv(ROWS) if ".tsv" in name else as_jsonl(ROWS)
    put(name, gzip.compress(content.encode()) if name.endswith(".gz") else content)
    data = ng.read(name)
    assert data.segments == EXPECTED
    assert data.name == name
    assert data.notes == ()
    assert tuple(s for block in open_data(name).blocks(1) for s in block) == EXPECTED


@pytest.mark.parametrize("name", ["a.txt", "a", "a.gz", "a.txt.gz"])
def test_an_unknown_format_is_refused_with_the_known(put, name):
    with pytest.raises(ng.InputError) as error:
        ng.read(put(name, gzip.compress(as_jsonl(ROWS).encode()) if name.endswith(".gz") else as_jsonl(ROWS)))
    assert str(error.value).startswith(f"{name}: the format cannot be told from the name, expected {expected_names()} ")


def test_packed_parquet_is_refused(put):
    with pytest.raises(ng.InputError, match=r"^a\.parquet\.gz: Parquet is compressed inside"):
        ng.read(put("a.parquet.gz", b""))


@pytest.mark.parametrize("name", ["a.jsonl", "a.tsv", "a.jsonl.gz", "a.parquet"])
def test_an_empty_file_is_refused(put, name):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    with pytest.raises(ng.InputError, match=f"^{name} is empty: no row in it, expected at least one segment$"):
        ng.read(put(name, b""))


def test_a_folder_is_refused(put, tmp_path):
    put("other", "")
    (tmp_path / "a.jsonl").mkdir()
    with pytest.raises(ng.InputError, match=r"^a\.jsonl is a folder, expected a file, or a folder with sources/"):
        ng.read("a.jsonl")


OTHER_NAMES = [
    {"prediction": "a cat", "references": ["the cat", "one cat"], "hyp_id": 1},
    {"prediction": "a dog", "references": ["the dog"], "hyp_id": 2},
]
COLUMNS = {"hyp": "prediction", "ref": "references"}


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("form", [as_jsonl, json.dumps, lambda rows: json.dumps(rows, indent=1)])
def test_json_with_other_names_and_as_one_array(tmp_path, form, turned):
    path = tmp_path / "data.json"
    path.write_text(form(OTHER_NAMES))
    columns = {name: field for field, name in COLUMNS.items()} if turned else COLUMNS
    data = read(path, columns=columns)
    assert [(s.hypothesis, s.references) for s in data] == [("a cat", ("the cat", "one cat")), ("a dog", ("the dog",))]
    assert any("fields ignored: 'hyp_id'" in note for note in data.notes)


def test_a_name_that_a_column_takes_over_is_not_read_as_itself(tmp_path):
    (tmp_path / "d.jsonl").write_text('{"hyp": "old", "new": "text", "score": 3, "ref": "r"}\n')
    (segment,) = read(tmp_path / "d.jsonl", columns={"hyp": "new", "human.quality": "score"})
    assert (segment.hypothesis, segment.human, segment.references) == ("text", {"quality": 3.0}, ("r",))


@pytest.mark.parametrize(
    ("text", "columns", "said"),
    [
        ('{"prediction": "a", "target": "b", "output": "c"}', None, "give --columns hyp=prediction,ref=target$"),
        ('[{"hyp": "a"}, {"hypothesis": "b"}]', None, "entry 2: field 'hyp' is missing.*found: 'hypothesis'$"),
        ('{"prediction": "a"}', {"hyp": "prediciton"}, "1: there is no 'prediciton', which columns name as 'hyp'"),
        ('{"prediction": "a"}', {"prediction": "hypo"}, "columns name a field 'hypo', expected hyp, ref"),
        ('[{"hyp": "a"}, 3]', None, "entry 2: the row is a number"),
        ('[{"hyp": "a"}, ]', None, "not valid JSON .*, expected an array of objects"),
        ('[{"hyp": "a"},', None, "not valid JSON .*, expected an array of objects"),
        ("[]", None, "is empty"),
    ],
)
def test_what_names_do_not_fit_is_refused_with_a_way_out(tmp_path, text, columns, said):
    (tmp_path / "d.json").write_text(text + "\n")
    with pytest.raises(InputError, match=said):
        read(tmp_path / "d.json", columns=columns)


def test_an_array_too_large_to_be_held_is_refused_with_a_way_out(tmp_path):
    (tmp_path / "d.json").write_text("[" + " " * (1 << 21) + "]")
    with pytest.raises(InputError, match=r"one JSON array of at least 1,048,576 bytes .* makes JSON lines of it"):
        read(tmp_path / "d.json", limits=Limits(array=1 << 19))


def test_a_format_may_be_named_whatever_the_file_is_called(put):
    row = {"id": "d", "model_id": "M", "decoded": "t", "expert_annotations": [{"fluency": 1}]}
    put("data.txt", json.dumps(row) + "\n")
    assert ng.read("data.txt", format="summeval").segments[0].human == {"fluency": [1.0]}
    put("table.txt", "hyp\tref\nx\ty\n")
    assert ng.read("table.txt", format="tsv").segments[0].references == ("y",)
    assert ng.read("table.txt", format="tsv", columns={"ref": "src"}).segments[0].source == "y"


def test_our_own_names_win_over_a_likeness(put):
    put("a.jsonl", '{"hyp": "x", "decoded": "y", "model_id": "M"}\n')
    assert ng.read("a.jsonl").segments[0].hypothesis == "x"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"format": "jsnol"}, "unknown format 'jsnol'; did you mean 'jsonl'?"),
        ({"format": "wmt17-da"}, "format 'wmt17-da' holds no texts; read it with read_da_scores"),
        (
            {"format": "mqm", "columns": {"a": "hyp"}},
            "columns are named for JSON, CSV, TSV, Parquet and logs of some tools, the format of a.jsonl is 'mqm'",
        ),
        ({"format": "mtme"}, "a.jsonl: no sources/SRC-TGT.txt in it"),
    ],
)
def test_a_format_that_does_not_fit_is_refused(put, options, says):
    put("a.jsonl", '{"hyp": "x"}\n')
    with pytest.raises(ng.InputError) as error:
        ng.read("a.jsonl", **options)
    assert str(error.value).startswith(says)


def test_annotations_on_standard_input(put, feed):
    put("other", "")
    header = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
    feed(header + "A\td\t1\t1\tr\tin\tout\tAccuracy\tMajor\n")
    source = open_data("-", format="mqm")
    assert source.data.segments[0].human == {"mqm": -5.0}
    assert [entry["path"] for entry in source.check().inputs] == ["-"]


@REAL_DATA
@pytest.mark.parametrize(
    ("name", "n", "n_systems", "n_items", "criteria"),
    [
        # counts as the data's own pages give them
        pytest.param("wmt15-da-seg/segments", 2000, 1, 2000, {"da_z"}, marks=pytest.mark.slow),
        ("summeval/segments", 1600, 16, 100, {"coherence", "consistency", "fluency", "relevance"}),
        ("wmt16-da-seg/segments_from_en", 560, 1, 560, {"da_z"}),
        ("bagel/segments", 404, 1, 202, {"informativeness", "naturalness", "quality"}),
        ("sfhot/segments", 875, 1, 398, {"informativeness", "naturalness", "quality"}),
        ("rank19/segments", 746, 2, 373, {"fact"}),
        ("qags-cnn/segments", 235, 1, 235, {"fact"}),
        pytest.param(
            "webnlg2020-humaneval/segments",
            2847,
            16,
            178,
            {"Correctness", "DataCoverage", "Fluency", "Relevance", "TextStructure"},
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "answerability-qg/segments",
            2734,
            1,
            2734,
            {"answerability", "rater1", "rater2"},
            marks=pytest.mark.slow,
        ),
        pytest.param("coco-val-refs/segments", 1945, 1, 1945, set(), marks=pytest.mark.slow),
        ("comet-samples/segments", 400, 1, 400, {"da_z"}),
        ("comet-samples/segments_mqm", 198, 1, 198, {"score"}),
        ("comet-samples/segments_rank", 129, 1, None, set()),
    ],
)
def test_real_data_of_every_kind_is_read(name, n, n_systems, n_items, criteria):
    path = Path(os.environ["NLGAUGE_DATA"], f"{name}.jsonl.gz")
    summary, data = open_data(path).check(), ng.read(path)
    assert (len(data), len(data.systems), set(summary.criteria)) == (n, n_systems, criteria)
    assert n_items is None or len(data.items) == n_items


def test_a_folder_of_several_test_sets_names_them(tmp_path):
    for name in ("wmt22", "wmt23"):
        (tmp_path / name / "sources").mkdir(parents=True)
    with pytest.raises(ng.InputError, match=r"holds 2 test sets; name one of them: wmt22, wmt23$"):
        ng.read(tmp_path)


def test_post_edit_sets_are_read_in_their_own_columns(tmp_path):
    """MLQE-PE's TSV: quotes stand for themselves, and single ratings stand beside their mean."""
    header = "index\toriginal\ttranslation\tscores\tmean\tz_scores\tz_mean\tmodel_scores\n"
    row = '0\tTere "maailm\tHello "world\t[100, 90, 80]\t90.0\t[1.0, 0.5, 0.1]\t0.53\t-0.2\n'
    path = tmp_path / "test.eten.df.short.tsv"
    path.write_text(header + row, encoding="utf-8")
    columns = {"hyp": "translation", "src": "original", "human.da": "mean", "id": "index"}
    (segment,) = ng.read(path, columns=columns)
    assert (segment.hypothesis, segment.source, segment.human) == ('Hello "world', 'Tere "maailm', {"da": 90.0})
    (segment,) = ng.read(path, columns={**columns, "human.da": "scores"})
    assert segment.human == {"da": [100.0, 90.0, 80.0]}


PADDED = [("one", ["a", "", " "]), ("two", ["", "b", "c"]), ("three", ["", "", ""])]


@pytest.mark.parametrize("door", ["lines", "jsonl", "json", "tsv", "csv", "parquet", "pandas", "python"])
def test_blank_references_beside_others_are_none_by_every_door(put, door):
    """Files of references are filled up with blank lines, as those of WebNLG are."""
    if door == "lines":
        put("hyp", "one\ntwo\nthree\n")
        for place, name in enumerate(("ref0", "ref1", "ref2")):
            put(name, "".join(f"{refs[place]}\n" for _, refs in PADDED))
        source = open_parallel(["hyp"], ["ref0", "ref1", "ref2"])
        segments = [segment for block in source.blocks() for segment in block]
    elif door == "python":
        segments = Dataset.from_texts([hyp for hyp, _ in PADDED], [refs for _, refs in PADDED]).segments
    elif door in ("pandas", "parquet"):
        frame = pytest.importorskip("pandas").DataFrame({"hyp": [h for h, _ in PADDED], "refs": [r for _, r in PADDED]})
        if door == "parquet":
            frame.to_parquet(put("x.parquet", ""))
        segments = read("x.parquet" if door == "parquet" else frame).segments
    elif door in ("tsv", "csv"):
        mark = "\t" if door == "tsv" else ","
        rows = [["hyp", "ref1", "ref2", "ref3"], *([hyp, *refs] for hyp, refs in PADDED)]
        segments = read(put(f"x.{door}", "".join(mark.join(row) + "\n" for row in rows))).segments
    else:
        rows = [{"hyp": hyp, "refs": refs} for hyp, refs in PADDED]
        segments = read(put(f"x.{door}", as_jsonl(rows) if door == "jsonl" else json.dumps(rows))).segments
    assert [segment.references for segment in segments] == [("a",), ("b", "c"), ("",)]


def test_blank_references_that_were_left_out_are_noted_once():
    scores = ng.score(["one", "two"], [["one", ""], ["two", "2"]], metrics=["chrf", "wer"])
    assert [note for note in scores["wer"].notes if "reference" in note] == [
        "input: 1 of 2 segments (1) have a reference without text"
    ]


def test_a_folder_with_one_data_file_is_that_file(put):
    put("a/README.md", "# About")
    put("a/segments.jsonl.gz", gzip.compress(as_jsonl(ROWS).encode()))
    assert ng.read("a").segments == EXPECTED
    put("a/segments_ref-B.jsonl", as_jsonl(ROWS[:1]))
    assert ng.read("a").segments == EXPECTED  # the one that is named so
    put("b/one.tsv", as_tsv(ROWS))
    put("b/two.jsonl", as_jsonl(ROWS))
    with pytest.raises(InputError, match=r"^b holds 2 data files; name one of them: b/one\.tsv, b/two\.jsonl$"):
        ng.read("b")
