from __future__ import annotations

import random
import subprocess
import sys
import tracemalloc
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError, MissingExtra
from nlgauge.core.result import Result
from nlgauge.core.segment import Segment, column, column_names
from nlgauge.io.files import InputFile
from nlgauge.io.frames import ParquetRows, dataset_of, read_frame, to_arrow, to_frame
from nlgauge.io.scores import read_scores

pandas = pytest.importorskip("pandas")


ROWS = [
    {
        "id": "a",
        "system": "s",
        "seg": 1,
        "src": None,
        "refs": ["x", "y"],
        "hyp": "out\n\t",
        "human": {"f": 1.5, "g": None},
    },
    {"id": "b", "system": "s", "seg": 2, "src": "in", "refs": [], "hyp": "", "human": None},
]


@pytest.fixture
def write(put):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    put("other", "")

    def table(columns, name="a.parquet", **options):
        parquet.write_table(columns if isinstance(columns, arrow.Table) else arrow.table(columns), name, **options)
        return name

    return table


def test_nested_columns(write):
    import pyarrow

    first, second = ng.read(write(pyarrow.Table.from_pylist(ROWS)))
    assert (first.id, first.system, first.item, first.source, first.references, first.hypothesis) == (
        "a",
        "s",
        "1",
        None,
        ("x", "y"),
        "out\n\t",
    )
    assert first.human == {"f": 1.5}
    assert (second.source, second.references, second.hypothesis, second.human) == ("in", (), "", {})


def test_flat_columns_and_categories(write):
    import pyarrow

    columns = {
        "hyp": pyarrow.array(["p", "p", "q"]).dictionary_encode(),
        "ref2": ["b", None, "d"],
        "ref1": ["a", "c", None],
        "human.f": [1.0, float("nan"), None],
        "domain": [1, 2, 3],
    }
    data = ng.read(write(columns, row_group_size=2))
    assert [s.hypothesis for s in data] == ["p", "p", "q"]
    assert [s.references for s in data] == [("a", "b"), ("c",), ("d",)]
    assert [s.human for s in data] == [{"f": 1.0}, {}, {}]
    assert "a.parquet: fields ignored: 'domain'" in data.notes


def test_human_as_a_map(write):
    import pyarrow

    human = pyarrow.array([[("f", 1.0), ("g", 2.0)], None, []], pyarrow.map_(pyarrow.string(), pyarrow.float64()))
    assert [s.human for s in ng.read(write({"hyp": ["a", "b", "c"], "human": human}))] == [{"f": 1.0, "g": 2.0}, {}, {}]


def test_from_standard_input(write, feed):
    with open(write({"hyp": ["a", "b"]}), "rb") as file:
        feed(file.read())
    assert [s.hypothesis for s in ng.read("-")] == ["a", "b"]


def test_what_is_wrong_is_named_by_row(write):
    with pytest.raises(InputError, match=r"^a\.parquet: row 2: field 'hyp' is null"):
        ng.read(write({"hyp": ["a", None]}))
    with pytest.raises(InputError, match=r"^a\.parquet: row 1: field 'refs\[0\]' is a number"):
        ng.read(write({"hyp": ["a"], "refs": [[1]]}))
    with pytest.raises(InputError, match=r"^a\.parquet has no column 'hyp'; columns found: 'text'; if"):
        ng.read(write({"text": ["a"]}))
    with pytest.raises(InputError, match=r"^a\.parquet is empty"):
        ng.read(write({"hyp": []}))


def test_a_damaged_schema_does_not_end_the_process(write):
    # one bit says that the column may repeat; pyarrow ends the process when it is asked about such a column
    content = Path(write({"hyp": ["a"], "refs": [["x"]]})).read_bytes()
    place = content.index(b"\x18\x03hyp", content.rindex(b"PAR1", 0, -4)) - 1
    content = content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :]
    Path("b.parquet").write_bytes(content)
    ended = subprocess.run(
        [sys.executable, "-m", "nlgauge", "score", "b.parquet", "-m", "chrf"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr.count("\n")) in ((0, 0), (2, 1)), ended.stderr


def test_without_pyarrow_the_extra_is_named(put, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)  # what makes `import pyarrow` fail
    with pytest.raises(MissingExtra, match=r"pip install 'nlgauge\[parquet\]'"):
        ng.read(put("a.parquet", b"PAR1"))


def test_memory_does_not_hold_the_file(write):
    # 8 MB of text in 40 row groups of 0.2 MB, in memory of the interpreter or of Arrow; a few groups may be held, not
    # all
    import pyarrow

    rng = random.Random(0)
    name = write({"hyp": [rng.randbytes(100).hex() for _ in range(40_000)]}, row_group_size=1000, compression="none")
    arrow_before = pyarrow.total_allocated_bytes()
    most = 0
    tracemalloc.start()
    try:
        for number, _ in ParquetRows(InputFile(name)):
            if number % 500 == 0:
                most = max(most, pyarrow.total_allocated_bytes() - arrow_before + tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert most < 3_000_000


@pytest.mark.parametrize("group", [1, 3, 10])
def test_texts_of_lists_may_stand_in_dictionaries(tmp_path, group):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    refs = [[f"r{i % 3}", "x"] for i in range(10)]
    kind = pyarrow.list_(pyarrow.dictionary(pyarrow.int32(), pyarrow.string()))
    table = pyarrow.table({"hyp": [f"h{i}" for i in range(10)], "refs": pyarrow.array(refs, kind)})
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=group)
    assert [list(segment.references) for segment in ng.read(tmp_path / "a.parquet").segments] == refs


def test_rows_that_are_not_read_are_missed(tmp_path, monkeypatch):
    """pyarrow 26 gives no row at all of some files with dictionaries in lists, and no error."""
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"hyp": ["a", "b", "c"]}), tmp_path / "a.parquet", row_group_size=2)
    monkeypatch.setattr("nlgauge.io.frames._batches", lambda opened, groups, columns: opened.iter_batches(2, [0]))
    with pytest.raises(InputError, match=r"row 3: pyarrow ends there, and the file says that it has 3 rows"):
        ng.read(tmp_path / "a.parquet")


# --- Segments from tables in memory: the same fields, ids and errors as from a file, by row

COLUMNS = {
    "id": ["a", "b"],
    "system": ["s", "s"],
    "seg": [1, 2],
    "lp": ["xx-yy", "xx-yy"],
    "src": ["in", None],
    "refs": [["r", "r2"], np.array(["r3"], dtype=object)],
    "hyp": ["out", ""],
    "human.f": [0.5, float("nan")],
    "note": ["x", "y"],
}
SEGMENTS = (
    Segment("a", "out", ("r", "r2"), "in", "s", "1", "xx-yy", {"f": 0.5}),
    Segment("b", "", ("r3",), None, "s", "2", "xx-yy"),
)


def test_a_frame_has_the_fields_of_a_file():
    data = read_frame(pandas.DataFrame(COLUMNS))
    assert data.segments == SEGMENTS
    assert data.notes == ("DataFrame: fields ignored: 'note'",)
    assert ng.read(pandas.DataFrame(COLUMNS)) == data == dataset_of(pandas.DataFrame(COLUMNS))


@pytest.mark.parametrize("library", ["polars", "datasets", "pyarrow"])
def test_other_frames_give_the_same_segments(library):
    module = pytest.importorskip(library)
    columns = {**COLUMNS, "refs": [["r", "r2"], ["r3"]], "human.f": [0.5, None]}
    make = {"polars": "DataFrame", "datasets": "Dataset.from_dict", "pyarrow": "table"}[library]
    assert read_frame(attrgetter(make)(module)(columns)).segments == SEGMENTS


def test_a_printed_list_of_references_is_refused_and_one_reference_of_it_is_noted():
    printed = pandas.DataFrame({"hyp": ["it rains"], "refs": ["['it is raining', 'rain falls']"]})
    with pytest.raises(ng.InputError, match=r"row 1: field 'refs' is a list that was written as a text .*literal_eval"):
        ng.read(printed)
    (scored,) = ng.score(printed, metrics="chrf", columns={"ref": "refs"}).values()
    assert scored.notes == (
        "input: 1 of 1 segments (1) have a reference that is a list written as text, ['a', 'b'] (are these several"
        " references?)",
    )


def test_a_row_without_an_id_is_numbered_from_1_as_on_the_command_line():
    assert [s.id for s in read_frame(pandas.DataFrame({"hyp": ["a", "b"]}, index=[7, 7]))] == ["1", "2"]
    named = pandas.DataFrame({"hyp": ["a", "b"], "system": ["s", "t"], "seg": [1, 1]})
    assert [s.id for s in read_frame(named)] == ["s:1", "t:1"]


def test_one_reference_may_stand_in_refs():
    assert read_frame(pandas.DataFrame({"hyp": ["a"], "refs": ["x"]})).segments[0].references == ("x",)


@pytest.mark.parametrize(
    ("columns", "named", "message"),
    [
        (
            {"hyp": ["a", None]},
            None,
            r"^DataFrame, row 2: field 'hyp' is null, expected a string; write \"\" for an empty hypothesis$",
        ),
        ({"hyp": ["a", 3]}, None, r"^DataFrame, row 2: field 'hyp' is a number \(3\), expected a string$"),
        ({"hyp": ["a"], "refs": [["x", None]]}, None, r"^DataFrame, row 1: field 'refs\[1\]' is null, expected a"),
        (
            {"hyp": ["a"], "human.f": ["good"]},
            None,
            r"^DataFrame, row 1: field 'human.f' is a string \('good'\), expected a",
        ),
        ({"hyp": []}, None, "^DataFrame is empty: no row in it, expected at least one segment$"),
        (
            {"text": ["a"]},
            None,
            r"^DataFrame has no column 'hyp'; columns found: 'text'; if these are the texts, give columns={",
        ),
        ({"hyp": ["a"]}, {"ref": "gold"}, "^DataFrame has no column 'gold'; columns found: 'hyp'$"),
        ({"hyp": ["a"], "x": ["b"]}, {"x": "refz"}, "^columns name a field 'refz', expected hyp, ref, refs, src, id"),
        ({"hyp": ["a"]}, {"src": "hyp", "ref": "hyp"}, "^column 'hyp' is named for 'src' and 'ref', expected one"),
        ({"hyp": ["a", "b"], "id": ["x", "x"]}, None, "^duplicate id 'x'; ids must be unique, one per segment$"),
    ],
)
def test_a_fault_is_named_with_its_row_and_field(columns, named, message):
    with pytest.raises(ng.InputError, match=message):
        read_frame(pandas.DataFrame(columns), named)


def test_what_is_no_frame_and_no_data_set_is_refused_with_the_way_out():
    with pytest.raises(
        ng.InputError, match=r"^expected a Dataset or a frame, got str; nlgauge\.read reads a file into"
    ):
        dataset_of("data.jsonl")
    with pytest.raises(ng.InputError, match=r"^columns are named for a frame; a Dataset has none$"):
        dataset_of(ng.Dataset.from_texts(["a"]), {"hyp": "x"})
    with pytest.raises(ng.InputError, match=r"^format 'csv' is that of a file; a DataFrame has none$"):
        ng.read(pandas.DataFrame({"hyp": ["a"]}), format="csv")


def test_functions_take_a_frame_where_they_take_a_data_set():
    texts, ratings = ["the cat sat on a mat", "it rains", "a dog"], [3.0, 2.0, 1.0]
    frame = pandas.DataFrame({"hyp": texts, "ref": [texts[0]] * 3, "human.f": ratings})
    data = ng.read(frame)
    assert ng.gate(frame, frame, metrics="chrf").rows == ng.gate(data, data, metrics="chrf").rows
    assert ng.meta_evaluate(frame, ["chrf"]).value("chrf") == ng.meta_evaluate(data, ["chrf"]).value("chrf")
    assert ng.suite("menli", frame, perturbations=["jumble_words"]).pairs == (
        ng.suite("menli", data, perturbations=["jumble_words"]).pairs
    )


LIBRARIES = ("pandas", "polars", "pyarrow", "datasets")
SYSTEMS = ng.Dataset(
    tuple(
        Segment(f"{system}:{i}", text, (ref, f"{ref} today"), f"source {i}", system, str(i), "news", {"f": float(mark)})
        for system, texts, marks in (
            ("s", ["the cat sat on a mat", "it rains", "a dog"], [3, 2, 1]),
            ("t", ["the cat is on the mat", "it is raining", "one dog"], [1, 3, 2]),
        )
        for i, (text, mark, ref) in enumerate(
            zip(texts, marks, ["the cat sat on the mat", "it is raining", "the dog"], strict=True), 1
        )
    )
)


@pytest.mark.parametrize("library", LIBRARIES)
def test_columns_become_a_frame_of_each_library(library):
    module = pytest.importorskip(library)
    columns = {"id": ["a", "b"], "value": np.array([0.5, np.nan]), "empty": np.array([True, False]), "low": [1, 0.5]}
    frame = to_frame(columns, library)
    assert type(frame).__module__.split(".")[0] == module.__name__
    assert column_names(frame) == list(columns)
    read = {name: column(frame, name) for name in columns}
    assert read == {"id": ["a", "b"], "value": [0.5, None], "empty": [True, False], "low": [1, 0.5]}


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_data_set_is_the_same_after_a_way_through_a_frame(library):
    pytest.importorskip(library)
    mixed = ng.Dataset(
        (
            Segment("a", "x", (), None, None, "1", None, {"f": [1.0, 2.0], "g": 1.0}),
            Segment("b", "", ("r",), "in", "s", None, "g", {"f": [3.0]}, ({"speaker": "A", "text": "why?"},)),
        )
    )
    for data in (SYSTEMS, mixed):
        assert ng.read(data.to_frame(library)).segments == data.segments
    bare = ng.Dataset.from_texts(["a", "b"]).to_frame(library)
    assert column_names(bare) == ["id", "seg", "hyp"]  # no column of which nothing is known


def test_a_rating_beside_lists_of_ratings_is_a_list_of_one():
    columns = ng.Dataset((Segment("a", "x", human={"f": 1.0}), Segment("b", "y", human={"f": [2.0, 3.0]}))).as_columns()
    assert columns == {"id": ["a", "b"], "human.f": [[1.0], [2.0, 3.0]], "hyp": ["x", "y"]}


def test_a_column_of_several_types_is_refused_where_a_library_has_none():
    pytest.importorskip("pyarrow")
    data = ng.Dataset((Segment("a", "x", table=(("name", 3), "loose")),))
    assert list(data.to_frame("pandas").columns) == ["id", "hyp", "table"]
    with pytest.raises(ng.InputError, match=r"^an Arrow table cannot hold column 'table', whose cells are of several"):
        data.to_arrow()
    pytest.importorskip("polars")
    with pytest.raises(ng.InputError, match=r"^a frame of polars cannot hold column 'table', whose cells are of"):
        data.to_frame("polars")  # it would make texts of the number and of the list
    records = ng.Dataset((Segment("a", "x", table=({"n": 1},)), Segment("b", "y", table=({"m": "z"},))))
    both = [s.table for s in ng.read(records.to_frame("polars"))]
    assert both == [({"n": 1, "m": None},), ({"n": None, "m": "z"},)]  # nothing is lost
    assert to_frame({"p": [1, 0.5], "q": [1, "x"]}, "polars").to_dict(as_series=False) == {
        "p": [1, 0.5],
        "q": ["1", "x"],
    }


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_text_that_utf8_cannot_write_is_named_with_its_column(library):
    pytest.importorskip(library)
    data = ng.Dataset((Segment("a", "x\ud800"),))
    if library == "pandas":
        assert ng.read(data.to_frame("pandas")).segments == data.segments
    else:
        with pytest.raises(ng.InputError, match=r"^column 'hyp' holds a text with half a surrogate pair"):
            data.to_frame(library)


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_frame_and_its_columns_score_as_a_data_set(library):
    """Every function reads a frame as `nlgauge.read` does, so that one of them stands for all."""
    pytest.importorskip(library)
    frame, whole = SYSTEMS.to_frame(library), ng.score(SYSTEMS, metrics="chrf")["chrf"]
    found = ng.score(frame, metrics="chrf")["chrf"]
    assert (found.values.tolist(), found.systems, found.items) == (whole.values.tolist(), whole.systems, whole.items)
    assert ng.score(frame["hyp"], frame["refs"], metrics="chrf")["chrf"].values.tolist() == whole.values.tolist()


@pytest.mark.parametrize("library", LIBRARIES)
def test_results_come_back_as_frames(library):
    pytest.importorskip(library)
    scores = ng.score(SYSTEMS, metrics="chrf")["chrf"]
    frame = scores.to_frame(library)
    assert column(frame, "value") == scores.values.tolist()
    assert column(frame, "id") == list(scores.ids)
    rows = [{"system": "s", "value": 1.0, "note": None}, {"system": "t", "value": float("nan"), "note": "x"}]
    frame = Result("score", rows).to_frame(library)
    assert [column(frame, name) for name in rows[0]] == [["s", "t"], [1.0, None], [None, "x"]]


def test_columns_become_an_arrow_table_without_nan():
    pytest.importorskip("pyarrow")
    table = to_arrow({"id": ["a", None], "value": np.array([0.5, np.nan]), "high": [1, float("nan")]})
    assert table.to_pydict() == {"id": ["a", None], "value": [0.5, None], "high": [1, None]}


def test_a_library_that_is_not_known_or_not_installed_is_named(monkeypatch):
    with pytest.raises(ng.InputError, match=r"^library is 'panda'; did you mean 'pandas'?"):
        to_frame({}, "panda")
    monkeypatch.setitem(sys.modules, "polars", None)  # as if it were not installed
    with pytest.raises(ng.InputError, match=r"^polars is not installed; install it, or ask for another library$"):
        to_frame({}, "polars")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ng.MissingExtra, match=r"^a frame needs packages .* pip install 'nlgauge\[frames\]'"):
        to_frame({})


def test_scores_of_others_may_stand_in_a_frame():
    texts, ratings = ["the cat sat on a mat", "it rains", "a dog"], [3.0, 2.0, 1.0]
    data = ng.Dataset.from_texts({"s": texts}, [texts[0]] * 3)
    frame = pandas.DataFrame({"id": ["s:1", "s:2", "s:3"], "human.f": ratings, "hyp": texts})
    theirs = ng.score(data, metrics="chrf")["chrf"].to_frame().rename(columns={"value": "theirs"})
    table = read_scores(theirs)
    assert (table.level, list(table.columns)) == ("segment", ["theirs"])
    found = ng.meta_evaluate(frame, scores=theirs)
    assert found.value("theirs") == pytest.approx(np.corrcoef(ratings, theirs["theirs"])[0, 1])
    with pytest.raises(ng.InputError, match=r"^DataFrame, row 1: neither 'id' nor 'seg' nor 'system'"):
        read_scores(pandas.DataFrame({"comet": [1.0]}))


def test_a_frame_of_pairs_is_a_suite():
    frame = pandas.DataFrame({"better": ["a cat"], "worse": ["a dog"], "ref": ["the cat"], "phenomenon": ["name"]})
    (pair,) = ng.read_suite(frame).pairs
    assert (pair.id, pair.phenomenon, pair.references) == ("1", "name_error", ("the cat",))
    assert ng.audit(frame, ["chrf"]).rows == ng.audit(ng.read_suite(frame), ["chrf"]).rows
    with pytest.raises(ng.InputError, match=r"^DataFrame, row 1: no field 'worse'"):
        ng.read_suite(pandas.DataFrame({"better": ["a"], "worse": [None]}))
    with pytest.raises(ng.InputError, match=r"^DataFrame is empty: no pair in it$"):
        ng.read_suite(pandas.DataFrame({"better": [], "worse": []}))
