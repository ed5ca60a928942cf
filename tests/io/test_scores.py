"""Tables of scores of any program, and what stands beside them: the direction and signature of each metric."""

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.core.scores import Scores
from nlgauge.core.segment import Segment
from nlgauge.core.spec import Signature
from nlgauge.core.suite import Pair, ScoredPair, Suite
from nlgauge.core.tables import Key, Origin
from nlgauge.io.files import InputFile
from nlgauge.io.parallel import open_parallel
from nlgauge.io.scores import SUFFIX, read_beside, read_scored_pairs, read_scores, write_beside
from nlgauge.io.write import segment_columns, writing

TER = {"spec": "ter", "signature": "metric:ter|nlgauge:1", "higher_is_better": False, "flags": {}}


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.tsv"
    path.write_text("id\tter\tmine\na\t10.0\t1\n")
    write_beside(path, [TER])
    return path


def test_direction_and_signature_come_back(rows):
    assert read_beside(InputFile(rows)) == ({"ter": Origin(False, "metric:ter|nlgauge:1")}, [])
    table = read_scores(rows)
    assert table.origins == {"ter": Origin(False, "metric:ter|nlgauge:1")}
    assert table.notes == ()
    about = json.loads((rows.parent / f"rows.tsv{SUFFIX}").read_text())
    assert about["metrics"] == [{key: TER[key] for key in ("spec", "signature", "higher_is_better")}]
    assert about["sha256"] == InputFile(rows).entry["sha256"]


def test_parts_have_directions_of_their_own_and_what_is_no_score_is_left_out(tmp_path):
    path = tmp_path / "rows.tsv"
    path.write_text("id\tnli\tnli.c\tnli.n\na\t0.9\t0.1\t0.2\n")
    write_beside(path, [{"spec": "nli", "signature": "s", "higher_is_better": True}], {"nli": {"c": False, "n": None}})
    table = read_scores(path)
    assert table.origins["nli.c"] == Origin(False, "s|part:c")
    assert list(table.columns) == ["nli", "nli.c"]
    assert table.notes[0].endswith("rows.tsv: column 'nli.n' left out: neither higher nor lower is better")
    assert list(read_scores(path, columns=["nli.n"]).columns) == ["nli.n"]  # but who names it gets it


def test_of_a_file_that_has_changed_the_direction_holds_and_the_signature_does_not(rows):
    rows.write_text("id\tter\na\t12.0\n")
    table = read_scores(rows)
    assert table.origins == {"ter": Origin(False)}
    assert table.notes[0].endswith("its directions are used, its signatures are not")


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"sha256": "", "metrics": [{"spec": "ter", "signature": "", "higher_is_better": 0}]}']
)
def test_what_something_else_wrote_is_refused(rows, content):
    (rows.parent / f"rows.tsv{SUFFIX}").write_text(content)
    with pytest.raises(InputError, match=r"rows.tsv.meta.json is not what nlgauge writes beside .*; delete it"):
        read_scores(rows)


def test_beside_a_pipe_nothing_is_written(tmp_path):
    write_beside(tmp_path / "not_there.tsv", [TER])
    assert list(tmp_path.iterdir()) == []


ROWS = [
    {"id": "a", "system": "S", "seg": "1", "lp": "x-y", "m": 0.5, "n": None},
    {"id": "b", "system": "T", "seg": "1", "lp": "x-y", "m": -1, "n": 2},
]


def as_jsonl(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def as_cells(rows, delimiter):
    lines = [list(rows[0]), *[["None" if value is None else str(value) for value in row.values()] for row in rows]]
    return "".join(delimiter.join(line) + "\n" for line in lines)


@pytest.mark.parametrize(
    "name", ["a.jsonl", "a.jsonl.gz", "a.json", "a.tsv", "a.tsv.gz", "a.csv", "a.csv.gz", "a.parquet"]
)
def test_every_format_gives_the_same_scores(put, name):
    if name.endswith(".parquet"):
        pyarrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        put("other", "")
        parquet.write_table(pyarrow.Table.from_pylist([{**row, "m": float(row["m"])} for row in ROWS]), name)
    else:
        content = (as_jsonl(ROWS) if "json" in name else as_cells(ROWS, "," if "csv" in name else "\t")).encode()
        put(name, gzip.compress(content) if name.endswith(".gz") else content)
    table = read_scores(name)
    assert [tuple(key) for key in table.keys] == [("a", "S", "1", "x-y"), ("b", "T", "1", "x-y")]
    assert table.column("m").tolist() == [0.5, -1]
    assert np.isnan(table.column("n")).tolist() == [True, False]
    assert (table.level, table.name, list(table.columns)) == ("segment", name, ["m", "n"])
    assert table.notes == (f"{name}: column 'n' has no number in 1 of 2 rows",)


def test_keys_without_ids_and_a_task_for_the_group(put):
    table = read_scores(put("a.tsv", "system\tseg\ttask\tm\nS\t1\tsum\t2\n"))
    assert table.of([ng.Segment("k", "t", system="S", item="1", group="sum")]).tolist() == [2]


def test_names_may_come_from_the_caller(put):
    names = {"sys_id": "system", "line": "seg"}
    table = read_scores(put("a.csv", "sys_id,line,m\nS,3,2\n"), names=names)
    assert tuple(table.keys[0]) == (None, "S", "3", None)
    with pytest.raises(
        ng.InputError,
        match=r"^column 'line' cannot be 'segment', expected one of id, system, seg, lp, task, rater, criterion$",
    ):
        read_scores("a.csv", names={"line": "segment"})


def test_systems_alone_are_scores_of_systems(put):
    table = read_scores(put("a.tsv", "system\tlp\tm\nS\tx-y\t2\nT\tx-y\t3\n"))
    assert table.level == "system"
    assert table.by_system() == {"S": 2, "T": 3}


def test_scores_in_one_field_and_nested(put):
    rows = [
        {"id": "a", "hyp": "text", "scores": {"m": 1, "rouge": {"1": {"f": 0.25}}}},
        {"id": "b", "scores": {"m": 2}},
    ]
    table = read_scores(put("a.jsonl", as_jsonl(rows)))
    assert {name: np.nan_to_num(values, nan=9).tolist() for name, values in table.columns.items()} == {
        "m": [1, 2],
        "rouge_1_f": [0.25, 9],
    }
    table = read_scores(put("a.jsonl", '{"id": "a", "m": NaN}\n\n{"id": "b", "m": 1}\n{"id": "c", "m": "nan"}\n'))
    assert np.isnan(table.column()).tolist() == [True, False, True]
    assert table.notes == ("a.jsonl: 1 blank line skipped", "a.jsonl: column 'm' has no number in 2 of 3 rows")


def test_sacrerouges_lines_without_those_about_references(put):
    rows = [
        {"instance_id": "d1", "summarizer_id": "S", "summarizer_type": "peer", "metrics": {"rouge-1": {"f1": 30.5}}},
        {"instance_id": "d1", "summarizer_id": "A", "summarizer_type": "reference", "metrics": {"rouge-1": {"f1": 50}}},
    ]
    table = read_scores(put("a.jsonl", as_jsonl(rows)))
    assert [tuple(key) for key in table.keys] == [(None, "S", "d1", None)]
    assert table.column("rouge-1_f1").tolist() == [30.5]
    assert table.notes == ("a.jsonl: 1 row about a reference left out",)


def test_columns_that_begin_with_text_are_left_out_and_told(put):
    table = read_scores(put("a.tsv", "id\tdomain\tm\ta\tNAME\nr\tnews\t1\t\tx\ns\t3\t2\tlate\ty\n"))
    assert list(table.columns) == ["m"]
    assert [note.split(":")[1].strip() for note in table.notes] == [
        "column 'domain' left out",
        "column 'NAME' left out",
        "column 'a' left out",
    ]
    assert table.notes[0] == "a.tsv: column 'domain' left out: 'news', expected a number or None in a.tsv:2"


def test_items_and_systems_by_other_names_are_guessed_where_rows_have_no_id(put):
    table = read_scores(put("a.csv", "item,model,m\n1,A,2\n2,A,3\n"))
    assert [(key.system, key.item) for key in table.keys] == [("A", "1"), ("A", "2")]
    assert [*table.columns] == ["m"]
    assert table.notes == ("a.csv: taken by their names: 'model' for system, 'item' for seg",)
    assert [*read_scores(put("b.csv", "id,item,m\nx,1,2\n")).columns] == ["item", "m"]  # may be a number of items
    assert [key.item for key in read_scores(put("c.csv", "seg,item,m\nx,1,2\n")).keys] == ["x"]


def test_columns_asked_for_are_the_only_ones(put):
    put("a.tsv", "id\tdomain\tm\thuman.f\nr\tnews\t1\t5\n")
    assert {name: v.tolist() for name, v in read_scores("a.tsv", ["human.f"]).columns.items()} == {"human.f": [5]}
    with pytest.raises(ng.InputError, match=r"^a\.tsv:2: column 'domain' is 'news', expected a number or None$"):
        read_scores("a.tsv", ["domain"])
    with pytest.raises(
        ng.InputError, match=r"^a\.tsv:2: no column 'k'; columns found: 'id', 'domain', 'm', 'human\.f'$"
    ):
        read_scores("a.tsv", ["k"])


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        (
            "a.txt",
            "x",
            (
                "a.txt: the format cannot be told from the name, expected .jsonl, .tsv, .csv, .parquet, .seg.score or"
                " .sys.score"
            ),
        ),
        ("a.tsv", "", "a.tsv is empty: no row in it, expected scores"),
        ("a.tsv", "id\tm\n", "a.tsv is empty: no row in it, expected scores"),
        ("a.tsv", "id\tm\nr\n", "a.tsv:2: 1 cell, expected 2 as in the header"),
        ("a.tsv", "id\tm\tm\nr\t1\t2\n", "a.tsv:1: the header names column 'm' twice"),
        (
            "a.tsv",
            "id\tm\nr\t1\ns\t0,5\n",
            "a.tsv:3: column 'm' is '0,5', expected a number or None; write the decimal mark as a dot",
        ),
        ("a.tsv", "id\tm\nr\tx\n", "a.tsv: no column of scores ('m' is 'x', expected a number or None in a.tsv:2)"),
        ("a.tsv", "name\tm\nr\t1\n", "a.tsv:2: neither 'id' nor 'seg' nor 'system'; fields found: 'name', 'm'"),
        (
            "a.tsv",
            "system\tm\nr\t1\nr\t2\n",
            "a.tsv:3: a second row about system 'r', the first is a.tsv:2; rows about items",
        ),
        ("a.tsv", "id\tm\nr\t1\nr\t2\n", "a.tsv:3: a second row about segment 'r', the first is a.tsv:2"),
        (
            "a.tsv",
            "system\tseg\tm\nS\t1\t1\nS\t\t2\n",
            "a.tsv:3: about a system, the rows before it about segments; expected one level per file",
        ),
        ("a.jsonl", "[1]\n", "a.jsonl, entry 1: not an object, expected one with 'id' and scores"),
        ("a.jsonl", "{\n", "a.jsonl:1: not valid JSON"),
        (
            "a.jsonl",
            '{"id": "a", "m": 1}\n{"id": "b", "m": Infinity}\n',
            "a.jsonl:2: column 'm' is inf, expected a finite number",
        ),
        (
            "a.jsonl",
            '{"id": "a", "m": 1}\n{"id": "b", "m": 1' + "0" * 400 + "}\n",
            "a.jsonl:2: column 'm' is 10000000000000000000, expected a finite",
        ),
        (
            "a.jsonl",
            '{"id": "a", "m": 1}\n{"id": "b", "m": true}\n',
            "a.jsonl:2: column 'm' is true, expected a number or null",
        ),
        ("a.jsonl", '{"id": ["a"], "m": 1}\n', "a.jsonl:1: field 'id' is ['a'], expected a string"),
        ("a.parquet", "x", "a.parquet: cannot be read as Parquet"),
        (
            "m.score",
            "S 1\n",
            "m.score: the level cannot be told from the name, expected NAME.seg.score or NAME.sys.score",
        ),
        ("m.seg.score", "", "m.seg.score is empty: no line in it, expected SYSTEM SCORE"),
        ("m.sys.score", "S 1\nS 2\n", "m.sys.score:2: a second score of system 'S', expected one"),
    ],
)
def test_what_cannot_be_read_is_refused_by_line(put, name, content, says):
    if name == "a.parquet":
        pytest.importorskip("pyarrow")
    with pytest.raises(ng.InputError) as error:
        read_scores(put(name, content))
    assert str(error.value).startswith(says)


@given(
    values=st.lists(st.floats(allow_infinity=False), min_size=1, max_size=5),
    extension=st.sampled_from([".tsv", ".jsonl", ".tsv.gz", ".jsonl.gz"]),
)
def test_what_the_command_writes_of_segments_is_read_back(values, extension, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / f"segments{extension}"
    segments = [ng.Segment(f"s{i}", "t", system="S", item=str(i)) for i in range(len(values))]
    scores = Scores(Signature("m", ()), tuple(s.id for s in segments), np.array(values), {"part": np.array(values) / 2})
    with writing(path) as write:
        write(segment_columns(segments, {"m:x=1": scores}))
    table = read_scores(path)
    np.testing.assert_array_equal(table.of(segments, "m:x=1", missing="nan"), values)
    np.testing.assert_array_equal(table.of(segments, "m:x=1.part", missing="nan"), np.array(values) / 2)


@pytest.mark.skipif("NLGAUGE_DATA" not in os.environ, reason="NLGAUGE_DATA names no folder with evaluation data")
def test_real_scores_join_their_segments():
    # 2000 rows, scores between 0 and 1: sentence BLEU as shipped with the data
    folder = Path(os.environ["NLGAUGE_DATA"], "wmt15-da-seg")
    table = read_scores(folder / "metric_scores.jsonl.gz")
    values = table.of(ng.read(folder / "segments.jsonl.gz").segments)
    assert (len(table), list(table.columns), values.shape) == (2000, ["sentBLEU-moses"], (2000,))
    assert ((values >= 0) & (values <= 1)).all()


@pytest.mark.parametrize("cells", [[b"\xff", b"1"], [{"a": b"x"}, None], [[b"x"], [b"y"]]])
def test_a_parquet_column_that_is_no_text_and_no_number_is_told_in_one_line(put, cells):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"id": ["1", "2"], "m": cells}), put("s.parquet", ""))
    with pytest.raises(ng.InputError, match=r"^s\.parquet: ") as told:
        read_scores("s.parquet")
    assert "\n" not in str(told.value)


def test_damaged_text_in_parquet_is_told_in_one_line(put):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    damaged = pyarrow.array([b"\xff\xfe", b"a"]).view(pyarrow.string())
    parquet.write_table(pyarrow.table({"id": damaged, "m": [1.0, 2.0]}), put("s.parquet", ""))
    with pytest.raises(ng.InputError, match=r"^s\.parquet: cannot be read as Parquet \(") as told:
        read_scores("s.parquet")
    assert "\n" not in str(told.value)


def test_rows_of_several_raters_are_averaged(put):
    path = put("s.csv", "id,item,system,who,q\n7,1,A,ann,1\n8,1,A,bob,4\n9,2,A,ann,\n")
    table = read_scores(path, names={"item": "seg", "who": "rater"})
    assert [(key.id, key.item) for key in table.keys] == [(None, "1"), (None, "2")]
    assert table.column("q").tolist() == pytest.approx([2.5, np.nan], nan_ok=True)
    assert table.ratings == {"q": [(("ann", 1.0), ("bob", 4.0)), ()]}
    assert table.notes[-1] == "s.csv: 3 ratings of 2 segments by 2 raters; a number is their mean"
    with pytest.raises(ng.InputError, match=r"s.csv:3: a second row about .*--columns rater=NAME"):
        read_scores(put("s.csv", "seg,system,who,q\n1,A,ann,1\n1,A,bob,4\n"))
    with pytest.raises(ng.InputError, match=r"s.csv:3: a second rating by 'ann' of .*s.csv:2; keep one"):
        read_scores(put("s.csv", "seg,system,rater,q\n1,A,ann,1\n1,A,ann,4\n"))


@pytest.mark.parametrize(
    "content",
    [
        '[{"system": "A", "seg": "1", "m": 0.5}, {"system": "A", "seg": "2", "m": NaN}]',
        '[\n {"system": "A", "seg": "1", "m": 0.5},\n {"system": "A", "seg": "2", "m": NaN}\n]\n',
        '\n{"system": "A", "seg": "1", "m": 0.5}\n{"system": "A", "seg": "2", "m": NaN}\n',
        '{"system": {"0": "A", "1": "A"}, "seg": {"0": "1", "1": "2"}, "m": {"0": 0.5, "1": null}}',
        '{"columns": ["system", "seg", "m"],\n "data": [["A", 1, 0.5], ["A", 2, null]]}',
    ],
)
def test_json_is_lines_an_array_or_a_table(put, content):
    table = read_scores(put("a.json", content))
    assert table.keys == (Key(None, "A", "1"), Key(None, "A", "2"))
    np.testing.assert_array_equal(table.column("m"), [0.5, np.nan])


PRINTED = "out/h.de\tSegment 0\tscore: 0.8123\nout/h.de\tSegment 1\tscore: -0.1\nout/h.de\tscore: 0.3562\n"
OLDER = "Segment 0\tscore: 0.8123\nSegment 1\tscore: -0.1\nSystem score: 0.3562\n"
AS_JSON = json.dumps({"out/h.de": [{"src": "s", "mt": "h", "COMET": 0.8123}, {"src": "s", "mt": "i", "COMET": -0.1}]})


@pytest.mark.parametrize(
    ("name", "content", "column"),
    [
        ("comet.A", "0.8123\n-0.1\n", "comet"),  # one number on each line, as BLEURT and the QE tasks of WMT have it
        ("comet.txt", PRINTED, "COMET"),
        ("comet", OLDER, "COMET"),
        ("comet.json", AS_JSON, "COMET"),
        ("comet.json", json.dumps(json.loads(AS_JSON), indent=4), "COMET"),  # as --to_json writes it
    ],
)
def test_what_comet_and_bleurt_write_fits_the_lines_of_texts(put, name, content, column):
    put("h.de", "a\nb\n")
    table = read_scores(put(name, content))
    segments = [segment for block in open_parallel(["h.de"]).blocks() for segment in block]
    assert table.of(segments, column).tolist() == [0.8123, -0.1]


def test_numbers_without_a_system_fit_one_system_alone(put):
    table = read_scores(put("numbers", "1\nnan\n"))
    assert table.of([Segment("1", "a")]).tolist() == [1.0]  # without an item, the id is that of the line
    both = [Segment("x:1", "a", system="x", item="1"), Segment("y:1", "b", system="y", item="1")]
    with pytest.raises(ng.InputError, match=r"'x:1' and 'y:1' both fit item '1'; give the rows a 'system'"):
        table.of(both)
    with pytest.raises(ng.InputError, match=r"^numbers:2: column 'numbers' is 'word', expected a number"):
        read_scores(put("numbers", "1\nword\n"))
    with pytest.raises(ng.InputError, match=r"^texts: the format cannot be told .* one number on each line"):
        read_scores(put("texts", "some words\n1\n"))


def test_ratings_of_wmt22_lie_between_blanks(put):
    table = read_scores(put("ad-seg-scores.csv", "SYS SID RAW.SCR Z.SCR N \nA.0 121 76.6 0.075 18 \n"))
    assert table.keys == (Key(None, "A.0", "121"),)
    assert table.column("Z.SCR").tolist() == [0.075]


# --- Rows of an audit come back as they were written, in every format; rows of another kind are none

PAIRS = (
    Pair(
        id="a/negation", phenomenon="negation", better="the cat sat", worse="the cat not sat", references=("the cat",)
    ),
    Pair(id="b", phenomenon="typos", better='a, "b"', worse="=c", references=("a",)),
    Pair(id="c", phenomenon="typos", better="x", worse="y", source="z", setup="src"),
)


@pytest.mark.parametrize("ending", ["tsv", "csv", "jsonl", "jsonl.gz", "parquet"])
def test_what_audit_writes_is_read(tmp_path, ending):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    found = ng.audit(Suite(PAIRS), "chrf")
    with writing(tmp_path / f"rows.{ending}") as write:
        write(found.pair_columns())
    first, second, third = read_scored_pairs(tmp_path / f"rows.{ending}")
    better, worse = (float(side[0]) for side in (found.sides["chrf"].better, found.sides["chrf"].worse))
    assert first == ScoredPair(
        "a/negation", "negation", "the cat sat", "the cat not sat", {"chrf": (better, worse, 1.0)}
    )
    assert (second.better, second.worse) == ('a, "b"', "=c")
    assert third.scores == {}  # made for metrics without references


@pytest.mark.parametrize("name", ["rows.tsv", "BLEU.seg.score"])
def test_other_rows_are_none(tmp_path, name):
    (tmp_path / name).write_text("id\tm\tm.won\na\t1\t1\n")
    assert read_scored_pairs(tmp_path / name) is None


def test_rows_without_texts_have_empty_ones(tmp_path):
    (tmp_path / "r.tsv").write_text("id\tphenomenon\tm.better\tm.worse\tm.won\na\ttypos\t1\t0.5\t1\n")
    assert read_scored_pairs(tmp_path / "r.tsv") == [ScoredPair("a", "typos", "", "", {"m": (1.0, 0.5, 1.0)})]


def test_a_score_that_is_no_number_is_refused_with_its_line(tmp_path):
    (tmp_path / "r.tsv").write_text("id\tphenomenon\tm.better\tm.worse\tm.won\na\ttypos\tone\t0.5\t1\n")
    with pytest.raises(InputError, match=r"r\.tsv:2: a score of m is 'one'"):
        read_scored_pairs(tmp_path / "r.tsv")
    row = {"id": "a", "phenomenon": "typos", "m.better": 10**400, "m.worse": 0, "m.won": 1}
    (tmp_path / "r.jsonl").write_text(json.dumps(row))
    with pytest.raises(InputError, match=r"r\.jsonl:1: a score of m is "):
        read_scored_pairs(tmp_path / "r.jsonl")


def test_ratings_with_a_criterion_a_row_are_columns(put):
    """The mean over criteria, 3 and 3, is what nobody said."""
    rows = "seg,aspect,who,q\n1,fluency,ann,5\n1,adequacy,ann,1\n2,fluency,ann,2\n2,adequacy,ann,4\n2,adequacy,bob,\n"
    for lines in (rows, rows.replace("1,adequacy,ann", "1,adequacy,bob")):  # by one person, and by one for each
        with pytest.raises(InputError, match=r"^j\.csv:3: a second rating of one output; 'aspect' was .*criterion=asp"):
            read_scores(put("j.csv", lines), names={"who": "rater"})
    path = put("j.csv", rows)
    table = read_scores(path, names={"who": "rater", "aspect": "criterion"})
    assert [key.item for key in table.keys] == ["1", "2"]
    assert {name: values.tolist() for name, values in table.columns.items()} == {"fluency": [5, 2], "adequacy": [1, 4]}
    assert table.notes[0] == "j.csv: column 'q' has no number in 1 of 5 rows"
    alone = read_scores(put("k.csv", rows.replace("2,adequacy,bob,\n", "")), names={"aspect": "criterion"})
    assert alone.column("adequacy").tolist() == [1, 4]
    sure = put("l.jsonl", '{"id": "a", "criterion": "x", "q": 1, "sure": 2}\n{"id": "a", "criterion": "y", "q": 3}\n')
    columns = read_scores(sure).columns
    assert [*columns] == ["x.q", "y.q", "x.sure", "y.sure"]
    assert np.concatenate([*columns.values()]).tolist() == pytest.approx([1, 3, 2, np.nan], nan_ok=True)


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "frame"])
def test_truth_values_are_scores_where_there_are_no_others(put, form):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": ["a", "b"], "ok": [True, False]})

    def table(frame, **options):
        if form == "frame":
            return read_scores(frame, **options)
        put(f"s.{form}", "")
        if form == "csv":
            frame.to_csv("s.csv", index=False)
        elif form == "jsonl":
            frame.to_json("s.jsonl", orient="records", lines=True)
        else:
            pytest.importorskip("pyarrow")
            frame.to_parquet("s.parquet")
        return read_scores(f"s.{form}", **options)

    assert table(frame).column("ok").tolist() == [1, 0]
    beside = table(frame.assign(m=[0.5, 0.25]))
    assert list(beside.columns) == ["m"]
    assert "column 'ok' left out: " in beside.notes[0]
    assert table(frame.assign(m=[0.5, 0.25]), columns=["ok"]).column("ok").tolist() == [1, 0]
