"""What is larger than a limit is refused in one line before it is held; what is not is read as ever."""

import gzip
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nlgauge.core.errors import InputError
from nlgauge.io import Limits, limited, read_scores
from nlgauge.io.files import files
from nlgauge.io.files.files import InputFile
from nlgauge.io.files.limits import parse_limits
from nlgauge.io.files.records import Records
from nlgauge.io.parallel import open_parallel
from nlgauge.io.raw import read_raw
from nlgauge.io.read import read
from nlgauge.io.suites.suites import read_suite

ROW = {"id": "a", "hyp": "it rains", "refs": ["rain"]}


def refused(path, limits, said, reader=None):
    """The refusal is one line, and names the place, the limit and the way to raise it; just below it is read."""
    with limited(limits), pytest.raises(InputError) as caught:
        (reader or read)(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(os.fspath(path))
    assert re.search(said, message), message
    assert "raise the limit with --limits " in message
    (reader or read)(path)


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


LONG = "x" * 200


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("d.jsonl", f'{json.dumps(ROW)}\n{{"hyp": "a", "refs": ["{LONG}"]}}\n'),
        ("d.json", f'[{json.dumps(ROW)}, {{"hyp": "a", "context": [{{"speaker": "A", "text": "{LONG}"}}]}}]'),
        ("d.tsv", f"hyp\tref\na\tb\n{LONG}\tb\n"),
        ("d.csv", f'hyp,ref\na,b\n"{LONG}\n2",b\n'),
    ],
)
def test_a_text_longer_than_a_segment_may_be(tmp_path, name, text):
    where = ", entry 2" if name == "d.json" else ":3" if name != "d.jsonl" else ":2"
    path = written(tmp_path / name, text)
    refused(path, Limits(segment=150), f"{re.escape(name + where)}: a text of 20[02] characters, expected at most 150")
    assert len(read(path, limits=Limits(segment=202))) == 2


def test_texts_one_per_line(tmp_path):
    path = written(tmp_path / "t.txt", f"a\n{LONG}\nb\n")
    said = r"t.txt:2: a text of 200 characters, expected at most 150; .* --limits segment=400 "
    refused(path, Limits(segment=150), said, read_raw)
    refused(path, Limits(segment=150), said, lambda p: open_parallel([p], [p]).check())


@pytest.mark.parametrize("end", ["\n", ""])
def test_a_line_that_is_too_long(tmp_path, end):
    path = written(tmp_path / "d.jsonl", f"{json.dumps(ROW)}\n{json.dumps(ROW | {'id': 'b' * 200})}{end}")
    refused(path, Limits(line=150), "d.jsonl:2: a line of 2[0-9]{2} characters, expected at most 150")


def test_a_row_of_csv_that_runs_over_many_lines(tmp_path):
    path = written(tmp_path / "d.csv", 'hyp\n"' + "it rains\n" * 40 + '"\n')
    refused(path, Limits(line=150), "d.csv:2: a line of at least [0-9]+ characters")


def test_columns(tmp_path):
    for name, delimiter in (("d.csv", ","), ("d.tsv", "\t")):
        path = written(tmp_path / name, delimiter.join(["hyp", *map(str, range(60))]) + "\na" + delimiter * 60 + "\n")
        refused(path, Limits(columns=60), f"{name}:1: 61 columns, expected at most 60")


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"k":', "}")])
def test_depth(tmp_path, opening, closing):
    nested = opening * 9 + "1" + closing * 9
    path = written(tmp_path / "d.jsonl", json.dumps(ROW) + f'\n{{"hyp": "[[[[[[[[[[[[", "table": [{nested}]}}\n')
    refused(path, Limits(depth=10), "d.jsonl:2: JSON that is at least 11 levels deep, expected at most 10")
    assert len(read(path, limits=Limits(depth=11))) == 2  # object, list, nine more; brackets in texts do not count


def test_a_deeper_nesting_than_the_default_is_refused(tmp_path):
    path = written(tmp_path / "d.jsonl", '{"hyp": "a", "table": ' + "[" * 150 + "]" * 150 + "}\n")
    with pytest.raises(InputError, match="JSON that is at least 101 levels deep, expected at most 100"):
        read(path)


def test_packed_data_that_become_too_large(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "RATIO_FROM", 1000)
    path = tmp_path / "d.jsonl.gz"
    rows = "".join(json.dumps(ROW | {"id": str(i)}) + "\n" for i in range(2000)).encode()
    path.write_bytes(gzip.compress(rows))
    refused(path, Limits(file=len(rows) - 1), f"at least {len(rows):,} bytes unpacked, expected at most")
    ratio = len(rows) // path.stat().st_size
    refused(path, Limits(ratio=ratio - 1), f"unpacked it is {ratio} times larger, expected at most {ratio - 1}")


# Sixteen times the limit and no more; opened without O_CREAT, so that nothing but the pipe can be written to.
WRITER = "import os, sys; pipe = os.open(sys.argv[1], os.O_WRONLY); [os.write(pipe, bytes(1 << 20)) for _ in range(64)]"


def test_a_pipe_is_not_copied_without_end(tmp_path):
    folder = tmp_path / "a blank, ü"
    folder.mkdir()
    os.mkfifo(folder / "pipe")
    endless = subprocess.Popen([sys.executable, "-I", "-c", WRITER, folder / "pipe"], stderr=subprocess.DEVNULL)
    said = r"pipe: at least [0-9,]+ bytes unpacked"
    with endless, limited(Limits(file=1 << 22)), pytest.raises(InputError, match=said):
        read(folder / "pipe")


def test_parquet(tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "d.parquet"
    parquet.write_table(pyarrow.table({"hyp": ["a", "x" * 200, "b"], "refs": [["a"], ["b", "y" * 300], []]}), path)
    refused(path, Limits(segment=250), "d.parquet: row 1 or one of the 2 after it, column 'refs': a text of 300 char")
    refused(path, Limits(segment=150), "column 'hyp': a text of 200 characters")
    refused(path, Limits(columns=1), "d.parquet: 2 columns, expected at most 1")
    refused(path, Limits(file=100), r"d.parquet: at least 1,[0-9]+ bytes unpacked, .* --limits file=[23][0-9]{3} ")
    assert [s.references for s in read(path)] == [("a",), ("b", "y" * 300), ()]
    scores = tmp_path / "s.parquet"
    parquet.write_table(pyarrow.table({"id": ["a"], "x": [1.0]}), scores)
    refused(scores, Limits(file=10), "s.parquet: .*[0-9]+ bytes unpacked", read_scores)


def test_a_text_that_stands_once_in_parquet_is_held_once(tmp_path):
    # 600 rows of a million characters: twice 600 MB where each row has its own
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    text = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 600, pyarrow.int32()), ["x" * 1_000_000])
    parquet.write_table(pyarrow.table({"hyp": text}, metadata={}), tmp_path / "d.parquet", store_schema=False)
    within = "from nlgauge.io import Limits, limited; from nlgauge.io.read import open_data; import sys\n"
    within += "with limited(Limits(ratio=10**9)): source = open_data(sys.argv[1])\nprint(source.check().n)"
    assert bounded(within, tmp_path / "d.parquet", 400).stdout == "600\n"


def test_a_small_parquet_file_whose_dictionary_stands_for_texts_without_end(tmp_path, monkeypatch):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr("nlgauge.io.parquet.RATIO_FROM", 1 << 18)
    text = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * 5000, pyarrow.int32()), ["x" * 200])
    ids = pyarrow.array([str(i) for i in range(5000)])
    parquet.write_table(
        pyarrow.table({"id": ids, "hyp": text, "m": pyarrow.array([0.5] * 5000)}),
        tmp_path / "d.parquet",
        compression="zstd",
    )
    for reader in (read, read_scores):
        refused(tmp_path / "d.parquet", Limits(ratio=20), "unpacked it is at least [0-9]+ times larger", reader)


def bounded(code, path, megabytes):
    """Run code on a file, in a process that may take so much memory besides what its imports take."""
    head = f"""
import resource, sys
import numpy, msgspec, pyarrow.parquet, pyarrow.compute, nlgauge.io.read, nlgauge.io.parquet
size = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + {megabytes << 20},) * 2)
"""
    arguments = [sys.executable, "-c", head + code, path]
    return subprocess.run(arguments, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("packed", [True, False])
def test_memory_is_not_gone_before_the_refusal(tmp_path, packed):
    pytest.importorskip("pyarrow")
    path = tmp_path / ("d.jsonl.gz" if packed else "d.jsonl")
    open_ = gzip.open if packed else open
    with open_(path, "wb") as file:
        file.write(b'{"hyp": "')
        for _ in range(2000):
            file.write(b"a" * 1_000_000)
        file.write(b'"}\n')
    ended = bounded("import nlgauge\nnlgauge.read(sys.argv[1])", path, 700)
    assert ended.returncode == 1
    assert "MemoryError" not in ended.stderr
    last = ended.stderr.splitlines()[-1]
    assert re.search(r"d.jsonl(.gz)?:1: a line of at least 5[0-9,]+ characters, expected at most 50,000,000", last)


def test_wide_tables_take_time_like_their_width(tmp_path):
    # 100,000 columns took minutes, 10,000 references over a second
    n = 30_000
    start = time.process_time()
    for delimiter, name in ((",", "d.csv"), ("\t", "d.tsv")):
        written(tmp_path / name, delimiter.join(["hyp", *(f"c{i}" for i in range(n))]) + "\na" + delimiter * n + "\n")
        assert len(read(tmp_path / name)) == 1
        header = delimiter.join(["hyp", *(f"ref{i}" for i in range(n))])
        written(tmp_path / name, header + "\n" + delimiter.join(["x"] * (n + 1)) + "\n")
        assert len(read(tmp_path / name).segments[0].references) == n
        written(
            tmp_path / name,
            header.replace("hyp", "id").replace("ref", "m") + "\n" + delimiter.join(["1"] * (n + 1)) + "\n",
        )
        assert len(read_scores(tmp_path / name).columns) == n
    assert time.process_time() - start < 20  # half a second


def test_a_quote_that_is_never_closed_takes_time_like_the_file(tmp_path):
    text = 'hyp,ref\n"never closed\n' + "one more line of this row\n" * 9_000
    path = written(tmp_path / "d.csv", text)
    start = time.process_time()
    with pytest.raises(InputError, match=r"d.csv:2: a double quote that begins a cell in this row is never closed"):
        list(Records(InputFile(path)))
    assert time.process_time() - start < 10


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('a,"b\n""c""\nd",e\nf,g,h\n', [["a", 'b\n"c"\nd', "e"], ["f", "g", "h"]]),
        ('a,"b\nc","d\n\ne"\n', [["a", "b\nc", "d\n\ne"]]),
        ('6" pipe,a\nb,c\n', [['6" pipe', "a"], ["b", "c"]]),
        ('"a\nb",6" pipe\nc,d\n', [["a\nb", '6" pipe'], ["c", "d"]]),
    ],
)
def test_rows_over_several_lines_are_read_as_before(tmp_path, text, rows):
    assert [cells for _, cells in Records(InputFile(written(tmp_path / "d.csv", text)))] == rows


def test_limits_as_typed():
    assert parse_limits(["segment=20M, line=1G", "depth=7"]) == Limits(segment=20_000_000, line=10**9, depth=7)
    for typed, said in {
        "segmant=2": "unknown limit 'segmant'; did you mean 'segment'",
        "line=1GB": "expected line=SIZE with a whole number from 1, as in 500k, 20M, 1G",
        "line=0": "expected line=SIZE",
        "line": "expected line=SIZE",
        "line=1,line=2": "--limits names 'line' twice",
    }.items():
        with pytest.raises(InputError, match=re.escape(said)):
            parse_limits([typed])
    with pytest.raises(InputError, match="limit 'line' is 0, expected a whole number from 1"):
        Limits(line=0)


def test_limits_hold_for_files_opened_inside_the_block(tmp_path):
    path = written(tmp_path / "p.jsonl", json.dumps({"better": LONG, "worse": "b", "ref": "c"}) + "\n")
    refused(path, Limits(segment=150), "p.jsonl:1: a text of 200 characters", read_suite)
    with limited(Limits(segment=150)):
        rows = Records(InputFile(written(Path(tmp_path, "r.csv"), f"{LONG}\n")))
    with pytest.raises(InputError, match="a text of 200 characters"):
        list(rows)
