from __future__ import annotations

import random
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError, MissingExtra
from nlgauge.io.files.files import InputFile
from nlgauge.io.parquet import ParquetRows

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


@pytest.mark.parametrize("content", [b"PAR1", b"hello", b"x" * 100])
def test_what_is_no_parquet_is_one_line(put, content):
    pytest.importorskip("pyarrow")
    with pytest.raises(InputError, match=r"^a\.parquet: cannot be read as Parquet \(") as error:
        ng.read(put("a.parquet", content))
    assert "\n" not in str(error.value)


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
    monkeypatch.setattr("nlgauge.io.parquet._batches", lambda opened, groups, columns: opened.iter_batches(2, [0]))
    with pytest.raises(InputError, match=r"row 3: pyarrow ends there, and the file says that it has 3 rows"):
        ng.read(tmp_path / "a.parquet")
