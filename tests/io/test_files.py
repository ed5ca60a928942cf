"""Bytes: read within limits, again, packed or piped; as lines; what is wrong is told in one line."""

import gzip
import hashlib
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.io import Limits, files, limited, read_scores
from nlgauge.io.files import (
    Faults,
    InputFile,
    Lines,
    check_file_name,
    counted,
    entries,
    make_folder,
    number_in,
    ordinal,
    parse_limits,
    write_bytes,
)
from nlgauge.io.marked import read_marked
from nlgauge.io.parallel import open_parallel, read_raw
from nlgauge.io.ratings import read_relative_ranks
from nlgauge.io.read import read
from nlgauge.io.rows import Records
from nlgauge.io.suites.suites import read_suite
from nlgauge.io.wmt.annotations import read_da_scores, read_esa_scores, read_mqm, read_mqm_averages

ROW = {"id": "a", "hyp": "it rains", "refs": ["rain"]}


def refused(path, limits, said, reader=None):
    """The refusal is one line, and names the place, the limit and the way to raise it; just below it is read."""
    with limited(limits), pytest.raises(InputError) as caught:
        (reader or read)(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(os.fspath(path))
    assert re.search(said, message), message
    assert "raise the limit with NLGAUGE_LIMITS=" in message
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


def test_limits_hold_for_files_opened_inside_the_block(tmp_path):
    path = written(tmp_path / "p.jsonl", json.dumps({"better": LONG, "worse": "b", "ref": "c"}) + "\n")
    refused(path, Limits(segment=150), "p.jsonl:1: a text of 200 characters", read_suite)
    with limited(Limits(segment=150)):
        rows = Records(InputFile(written(tmp_path / "r.csv", f"{LONG}\n")))
    with pytest.raises(InputError, match="a text of 200 characters"):
        list(rows)


def test_texts_one_per_line(tmp_path):
    path = written(tmp_path / "t.txt", f"a\n{LONG}\nb\n")
    said = r"t.txt:2: a text of 200 characters, expected at most 150; .* NLGAUGE_LIMITS=segment=400 "
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
    path = written(tmp_path / "e.jsonl", '{"hyp": "a", "table": ' + "[" * 150 + "]" * 150 + "}\n")
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
    refused(path, Limits(file=100), r"d.parquet: at least 1,[0-9]+ bytes .* NLGAUGE_LIMITS=file=[23][0-9]{3} ")
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
    monkeypatch.setattr("nlgauge.io.frames.RATIO_FROM", 1 << 18)
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
import numpy, msgspec, pyarrow.parquet, pyarrow.compute, nlgauge.io.read, nlgauge.io.frames
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
    names, cells = ",".join(f"c{i}" for i in range(n)), ",".join(["x"] * n)
    assert len(read(written(tmp_path / "d.csv", f"hyp,{names}\na,{cells}\n"))) == 1
    names, cells = "\t".join(f"ref{i}" for i in range(n)), "\t".join(["1"] * n)
    assert len(read(written(tmp_path / "d.tsv", f"hyp\t{names}\na\t{cells}\n")).segments[0].references) == n
    names = names.replace("ref", "m")
    assert len(read_scores(written(tmp_path / "s.tsv", f"id\t{names}\na\t{cells}\n")).columns) == n
    assert time.process_time() - start < 10  # half a second


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
    assert parse_limits("segment=20M, line=1G,depth=7") == Limits(segment=20_000_000, line=10**9, depth=7)
    for typed, said in {
        "segmant=2": "unknown limit 'segmant'; did you mean 'segment'",
        "line=1GB": "expected line=SIZE with a whole number from 1, as in 500k, 20M, 1G",
        "line=0": "expected line=SIZE",
        "line": "expected line=SIZE",
        "line=1,line=2": "names 'line' twice",
    }.items():
        with pytest.raises(InputError, match=re.escape(said)):
            parse_limits(typed)
    with pytest.raises(InputError, match="limit 'line' is 0, expected a whole number from 1"):
        Limits(line=0)


def test_the_same_content_gives_the_same_bytes_at_any_time_and_under_any_name(tmp_path, monkeypatch):
    write_bytes(tmp_path / "a.gz", b"text")
    monkeypatch.setattr("time.time", lambda: 1e9)
    write_bytes(tmp_path / "b.gz", b"text")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.gz").read_bytes()) == b"text"
    write_bytes(tmp_path / "a.txt", b"text")
    assert (tmp_path / "a.txt").read_bytes() == b"text"


def test_nothing_is_left_where_a_file_cannot_be_written(tmp_path):
    with pytest.raises(InputError, match="there is no folder"):
        write_bytes(tmp_path / "absent" / "a.txt", b"text")
    assert os.listdir(tmp_path) == []


def test_a_folder_is_made_with_those_above_it_unless_a_file_is_in_the_way(tmp_path):
    for _ in range(2):
        make_folder(tmp_path / "b" / "c")
    assert (tmp_path / "b" / "c").is_dir()
    Path(tmp_path, "a").write_text("")
    with pytest.raises(InputError, match=r"^cannot make the folder .*a: File exists$"):
        make_folder(tmp_path / "a")
    with pytest.raises(InputError, match=r"^cannot make the folder .*b: Not a directory$"):
        make_folder(tmp_path / "a" / "b")


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../evil", "a/b", "/etc/x", "..\\x", "a\nb", "a\0b", "\x1b[2J", "\udc80"]
)
def test_a_name_that_leads_elsewhere_or_cannot_be_shown_is_no_file(name):
    for may_hold_blanks in (False, True):
        with pytest.raises(InputError, match=r"expected one without .*it becomes the name of a file") as refused:
            check_file_name(name, "criterion", may_hold_blanks=may_hold_blanks)
        assert "\n" not in str(refused.value)


def test_names_of_all_languages_are_files_and_blanks_are_where_they_may_be():
    for name in ("mqm.v2", "...", "Größe", "评分", "می‌خواهم", "bertscore:layer=3"):
        check_file_name(name, "criterion")
    check_file_name("overall quality", "criterion", may_hold_blanks=True)
    with pytest.raises(InputError, match="without blanks"):
        check_file_name("overall quality", "metric name")


TEXT = b"one\ntwo\n"


def content(file):
    return b"".join(file.chunks())


def test_plain_and_gzip_give_the_same_content(put):
    assert content(InputFile(put("a.txt", TEXT))) == TEXT
    assert content(InputFile(put("a.txt.gz", gzip.compress(TEXT)))) == TEXT


def test_packed_data_are_known_by_their_content(put, monkeypatch):
    monkeypatch.setattr(files, "_CHUNK", 1 << 14)
    long = random.Random(0).randbytes(1 << 17)  # more than is unpacked at once
    assert content(InputFile(put("a.txt", gzip.compress(TEXT) + gzip.compress(long)))) == TEXT + long
    assert content(InputFile(put("b.txt", gzip.compress(b"")))) == b""


def test_packed_data_that_are_wrong_are_refused(put):
    packed = gzip.compress(random.Random(0).randbytes(5000))
    damaged = bytearray(packed)
    damaged[2500] ^= 1
    for wrong in (packed[:-6], packed[:300], bytes(damaged), packed + b"junk"):
        with pytest.raises(InputError, match=r"^a\.gz: damaged gzip data"):
            content(InputFile(put("a.gz", wrong)))
    with pytest.raises(InputError, match=r"^a\.gz is named \.gz but holds no gzip data$"):
        content(InputFile(put("a.gz", "BZh is how a text may begin")))
    assert content(InputFile(put("a.txt", "BZh is how a text may begin"))) == b"BZh is how a text may begin"


@pytest.mark.parametrize(("pack", "tool"), [("bz2", "bzcat"), ("lzma", "xzcat")])
def test_what_others_packed_is_refused_with_the_way(put, pack, tool):
    packed = import_module(pack).compress(TEXT)
    with pytest.raises(InputError, match=rf"^a\.txt is packed, and not by gzip; unpack it: {tool} FILE > PLAIN$"):
        content(InputFile(put("a.txt", packed)))


def test_a_file_of_the_hub_is_fetched_first():
    with pytest.raises(InputError, match=r"no such file; fetch it: hf download --repo-type dataset OWNER/NAME PATH"):
        InputFile("hf://datasets/owner/name/data.jsonl")


def test_digest_is_that_of_the_bytes_on_disk(put):
    packed = gzip.compress(TEXT)
    file = InputFile(put("a.gz", packed))
    assert file.sha256 is None
    content(file)
    assert file.entry == {"path": "a.gz", "sha256": hashlib.sha256(packed).hexdigest()}
    assert InputFile("a.gz").entry == file.entry  # also without a pass before


def test_standard_input_serves_everybody_who_reads_it(feed):
    """It can be read once; its copy has the content for whoever comes next, and its digest is known after `close`."""
    feed(TEXT)
    assert InputFile("-").head(3) == b"one"
    second = InputFile("-")
    assert content(second) == TEXT
    second.close()
    assert InputFile("-").entry == {"path": "-", "sha256": hashlib.sha256(TEXT).hexdigest()}
    feed(gzip.compress(b"other\n"))
    assert content(InputFile("-")) == b"other\n"


def test_a_pipe_can_be_read_twice_and_its_digest_outlives_the_one_that_read_it(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(TEXT,))
    writer.start()
    file = InputFile(path)
    assert content(file) == content(file) == TEXT
    writer.join()
    assert InputFile(path).entry["sha256"] == hashlib.sha256(TEXT).hexdigest()  # does not wait for another writer


def test_a_pass_that_stops_early_leaves_no_digest(put):
    file = InputFile(put("a.txt", b"x" * (3 << 20)))
    next(file.chunks())
    assert file.sha256 is None


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: None, "data.txt: no such file"),
        (lambda: os.mkdir("data.txt"), "data.txt is a folder, expected a file"),
        (lambda: Path("dato.txt").touch(), "data.txt: no such file; did you mean 'dato.txt'?"),
        (lambda: os.symlink("gone", "data.txt"), "data.txt: no such file; it is a link to gone, which is not there"),
    ],
)
def test_what_is_no_file_is_refused_at_once(put, make, says):
    put("other.txt", "x")
    make()
    with pytest.raises(InputError) as error:
        InputFile("data.txt")
    assert str(error.value) == says
    with pytest.raises(InputError, match=r"^no/such/data\.txt: no such file; there is no folder no/such$"):
        InputFile("no/such/data.txt")


@pytest.mark.parametrize("path", ["", "file.txt/below", "nul\0byte"])
def test_odd_paths_are_one_line(put, path):
    put("file.txt", "x")
    with pytest.raises(InputError) as error:
        InputFile(path)
    assert "\n" not in str(error.value)


def test_two_passes_at_once_do_not_disturb_each_other(feed):
    feed(bytes(range(256)) * 20_000)  # 5 MB: several chunks
    file = InputFile("-")
    both = list(zip(file.chunks(), file.chunks(), strict=True))
    assert all(one == other for one, other in both)
    assert b"".join(one for one, _ in both) == bytes(range(256)) * 20_000


def test_standard_input_leaves_no_file(feed, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    feed(TEXT)
    file = InputFile("-")
    content(file)
    on_posix = os.name == "posix"
    assert not on_posix or list(tmp_path.iterdir()) == []  # it has no name there, even while in use
    file.close()
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_changes_between_passes_is_refused(put):
    file = InputFile(put("a.txt", TEXT))
    content(file)
    put("a.txt", TEXT + b"three\n")
    with pytest.raises(InputError, match=r"^a\.txt changed while it was being read"):
        content(file)


def test_seeking_in_a_copy(feed):
    feed(b"0123456789")
    with InputFile("-").open() as raw:
        assert raw.seek(-3, os.SEEK_END) == 7
        assert raw.read() == b"789"
        assert raw.seek(2) == 2
        assert raw.read(1) == b"2"
        assert raw.seek(1, os.SEEK_CUR) == 4
        assert raw.read(1) == b"4"


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="needs a file that opens and cannot be read")
def test_a_file_that_opens_and_cannot_be_read_is_told_in_one_line():
    # what a disk or a network share that fails answers too
    with pytest.raises(InputError, match=r"^/proc/self/mem: cannot be read \(Input/output error\)$"):
        content(InputFile("/proc/self/mem"))
    with pytest.raises(InputError, match=r"^/proc/self/mem: cannot be read \(Input/output error\)$"):
        _ = InputFile("/proc/self/mem").entry


class TestEntries:
    def test_what_lies_in_a_folder_comes_by_name(self, put):
        for name in ("f/b.txt", "f/a.txt", "f/a.score", "f/.hidden"):
            put(name, "")
        assert [path.name for path in entries("f")] == [".hidden", "a.score", "a.txt", "b.txt"]
        assert [str(path) for path in entries("f", "a.*")] == [os.path.join("f", "a.score"), os.path.join("f", "a.txt")]

    def test_a_folder_that_is_not_there_holds_nothing(self, put):
        put("file", "")
        assert entries("absent") == entries("file") == []

    def test_a_folder_that_may_not_be_read_is_no_empty_one(self, put, monkeypatch):
        put("f/a.txt", "")

        def forbid(_):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("os.listdir", forbid)  # as root everything may be read
        with pytest.raises(InputError, match=r"^f: cannot be read \(Permission denied\)$"):
            entries("f")


characters = st.characters(exclude_categories=["Cs"])  # surrogates are no UTF-8


def lines_of(name):
    lines = Lines(InputFile(name))
    return [text for _, text in lines], lines


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", []),
        ("\n", [""]),
        ("a", ["a"]),
        ("a\n", ["a"]),
        ("a\n\n", ["a", ""]),
        ("\na", ["", "a"]),
        ("a\nb", ["a", "b"]),
    ],
)
def test_the_last_line_may_end_or_not(put, content, expected):
    texts, lines = lines_of(put("a.txt", content))
    assert texts == expected
    assert lines.count == len(expected)
    assert lines.notes() == []


@pytest.mark.parametrize(
    "kept", ["\r", "\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\0", "\ufeff"]
)
def test_only_lf_splits(put, kept):
    texts, lines = lines_of(put("a.txt", f"a{kept}b\nc\n"))
    assert texts == [f"a{kept}b", "c"]
    assert lines.notes() == []


def test_one_cr_before_lf_is_dropped(put):
    # the second line keeps the first of its two CR, the last CR stands before no LF
    texts, lines = lines_of(put("a.txt", "a\r\nb\r\r\nc\nd\r"))
    assert texts == ["a", "b\r", "c", "d\r"]
    assert lines.notes() == []  # nothing is wrong with it


def test_byte_order_mark_is_dropped_once(put):
    texts, lines = lines_of(put("a.txt", "\ufeff\ufeffa\n\ufeffb\n"))
    assert texts == ["\ufeffa", "\ufeffb"]
    assert lines.notes() == []
    assert lines_of(put("a.txt", "\ufeff"))[0] == []


def test_numbers_start_at_one_and_passes_repeat(put):
    lines = Lines(InputFile(put("a.txt", "a\r\nb\n")))
    assert list(lines) == list(lines) == [(1, "a"), (2, "b")]
    assert lines.count == 2  # not summed over passes


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 1 << 20])
@pytest.mark.parametrize(
    ("content", "line", "offset"),
    [
        (b"ab\n\xff\n", 2, 3),
        (b"\xff", 1, 0),
        (b"a\nb\n\xc3\xa9\xc3\n", 3, 6),  # a lead byte whose second byte is missing
        (b"a\nb\xe2\x82", 2, 3),  # the file ends inside a character
        (b"a\n\xed\xa0\x80", 2, 2),  # an encoded surrogate
    ],
)
def test_not_utf8_is_named_by_line_and_byte(put, monkeypatch, chunk, content, line, offset):
    monkeypatch.setattr(files, "_CHUNK", chunk)
    with pytest.raises(InputError) as error:
        lines_of(put("a.txt", content))
    told = f"a.txt:{line}: not UTF-8 (byte 0x{content[offset]:02x} at offset {offset}); it "
    assert str(error.value).startswith(told)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", ["\ufefftext", "no mark, but every second byte is 0"])
def test_utf16_is_recognised(put, encoding, text):
    with pytest.raises(InputError, match=r"^a\.txt:1: not UTF-8.* iconv -f UTF-16 -t UTF-8 a\.txt > utf8-a\.txt$"):
        lines_of(put("a.txt", text.encode(encoding)))


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("naïve café", "WINDOWS-1252"),
        ("Сегодня идёт дождь", "WINDOWS-1251"),
        ("Сегодня идёт дождь", "KOI8-R"),
        ("今日はあめがふっています", "SHIFT_JIS"),
        ("오늘은 비가 많이 옵니다", "EUC-KR"),
        ("今天下雨了，我们回家吧", "GB18030"),
    ],
)
def test_a_file_that_is_no_utf8_names_the_command_that_converts_it(put, text, encoding):
    with pytest.raises(InputError) as error:
        lines_of(put("a b.txt", (text + "\n").encode(encoding)))
    assert str(error.value).endswith(
        f"it may be {encoding}: convert it with iconv -f {encoding} -t UTF-8 'a b.txt' > utf8-'a b.txt'"
    )


def test_bad_rows_are_counted_and_the_first_five_named():
    faults = Faults("a.tsv")
    faults.check()
    faults.add("a.tsv:3", "2 cells, expected 3")
    with pytest.raises(InputError, match=r"^a\.tsv:3: 2 cells, expected 3$"):
        faults.check()
    for line in (5, 6, 9, 12, 40, 41):
        faults.add(f"a.tsv:{line}", "4 cells, expected 3")
    with pytest.raises(InputError, match=r"^a\.tsv:3: 2 cells, expected 3; 7 rows are bad: 3, 5, 6, 9, 12, \.\.\.$"):
        faults.check()
    for line in range(50, 1042):
        faults.add(f"a.tsv:{line}", "no")  # a file of another kind is not read to its end for a number
    with pytest.raises(InputError, match=r"; 1000 rows and perhaps more are bad: 3, 5, 6, 9, 12, \.\.\.$"):
        faults.add("a.tsv:2000", "no")


@given(
    texts=st.lists(st.text(characters.filter(lambda c: c not in "\n\r"), max_size=12), max_size=8),
    ended=st.booleans(),
    chunk=st.integers(1, 9),
)
def test_lines_come_back_as_written(texts, ended, chunk):
    # whatever the size of the pieces read; only a byte order mark at the very beginning is not text
    if texts and texts[0].startswith("\ufeff"):
        texts[0] = "x" + texts[0]
    if texts and not ended and not texts[-1]:
        ended = True  # "a\n" + "" without its LF is "a\n": nothing shows that an empty line was meant
    content = "\n".join(texts) + ("\n" if texts and ended else "")
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "_CHUNK", chunk)
        path = Path(folder, "a.txt")
        path.write_bytes(content.encode())
        assert lines_of(path)[0] == texts


@pytest.mark.parametrize("cell", ["", " ", "None", "none", "nan", "NaN", "NA", "null", "None\r"])
def test_what_stands_for_no_number(cell):
    assert math.isnan(number_in(cell))


@pytest.mark.parametrize(
    ("cell", "value"), [("1", 1.0), ("-0.5", -0.5), ("+.5e-3", 0.0005), ("5.", 5.0), (" 2\r", 2.0), ("1E2", 100.0)]
)
def test_numbers(cell, value):
    assert number_in(cell) == value


# Python's float() takes every one of these but "0,5", "x" and "1e999"
@pytest.mark.parametrize("cell", ["1_000", "inf", "-Infinity", "١", "0x1p3", "1e999", "0,5", "x", "1 2", "--1"])
def test_what_is_neither_is_refused(cell):
    with pytest.raises(ValueError, match=r"expected a (finite )?number|too large"):
        number_in(cell)
    with pytest.raises(ValueError, match=r"^'0,5', expected a number or None; write the decimal mark as a dot$"):
        number_in("0,5")


@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_what_repr_writes_is_the_same_float(value):
    assert number_in(repr(value)) == value


@pytest.mark.parametrize("cell", ["0", "-1", "1.0", "", "٣", "+1", "x"])
def test_ordinals_count_from_one(cell):
    assert ordinal("12") == 12
    with pytest.raises(ValueError, match="expected a whole number from 1"):
        ordinal(cell)


def test_counts_in_words():
    assert [counted(n, "line") for n in (0, 1, 2)] == ["0 lines", "1 line", "2 lines"]
    assert counted(2, "entry", "entries") == "2 entries"


DA = "LP DATA SYSTEM SID HUMAN\ncs-en nt A 1 0.5\ncs-en nt B 1 0.6\n"
MQM = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\nA\td\t1\t1\tr\tin\tout\tStyle\tMajor\n"
SPANS = "segment_id\tstart_indices\tend_indices\terror_types\n1\t-1\t-1\tno-error\n"


@pytest.mark.parametrize(
    ("name", "text", "read"),
    [
        ("DA-seglevel.csv", DA, lambda path: read_da_scores(path).keys),
        (
            "RR-seglevel.csv",
            "LP DATA SID BETTER WORSE\ncs-en nt 1 A B 9\n",
            lambda path: read_relative_ranks(path).pairs,
        ),
        ("mqm.avg", "system mqm_avg_score seg_id\nA -1 1\n", lambda path: read_mqm_averages(path).keys),
        ("mqm.tsv", MQM, lambda path: [mark.target for mark in read_mqm(path).marks]),
        ("en-de.mqm.seg.rating", 'A\t{"errors": []}\n', read_marked),
        ("BLEU-refA.seg.score", "A 1\nA 2\nB 3\nB 4\n", lambda path: read_scores(path).keys),
        ("BLEU-refA.sys.score", "A\t1\nB\t3\n", lambda path: read_scores(path).keys),
        ("m.seg.score", "m\tcs-en\tnt\tA\t1\t0.5\n", lambda path: read_scores(path).keys),
        ("esa.csv", "r,A,1,TGT,eng,jpn,50,doc,False,[],1,2\n", lambda path: read_esa_scores(path).keys),
        ("spans.tsv", SPANS, read_marked),
        ("spans.seg.rating", 'A\t{"errors": []}\n', read_marked),
    ],
)
def test_blank_lines_in_the_files_of_shared_tasks_say_nothing(put, name, text, read):
    first, _, rest = text.partition("\n")
    plain = read(put(name, text))
    for padded in (text + "\n", text + " \t\n\n", f"\n{first}\n\n{rest}"):
        assert read(put(name, padded)) == plain
