"""What `nlgauge score` is given to break it: each is one line on stderr, exit 2, and nothing is left behind."""

from __future__ import annotations

import gzip
import json
import os
import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from nlgauge.cli.main import main

ROW = b'{"hyp": "a cat", "ref": "the cat"}\n'
DIGITS = b"9" * 5000  # more than Python reads into one number
OUTPUTS = ["--json", "r.json", "--html", "r.html", "--segments", "s.tsv"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NLGAUGE_CACHE", str(tmp_path / "cache"))
    return tmp_path


def refused(capsys, *arguments):
    """The line of the refusal; no output file and no part of one is left."""
    before = sorted(os.listdir())
    code = main(["score", "-m", "chrf", *arguments])
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert err.startswith("nlgauge: ")
    assert err.count("\n") == 1
    assert err.endswith("\n")
    assert sorted(os.listdir()) == before
    return err


def packed(times=2000):
    rng = random.Random(0)  # without noise so little is left after packing that a cut takes everything
    return gzip.compress(b"".join(b'{"hyp": "a %d", "ref": "a"}\n' % rng.getrandbits(60) for _ in range(times)))


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("d.jsonl", b"\xef\xbb\xbf", "d.jsonl is empty"),
        ("d.jsonl", b"\0" * 5000, "d.jsonl:1: not valid JSON"),
        (
            "d.jsonl",
            ROW + b'{"hyp": "a\0b", "ref": "c"}\n',
            "d.jsonl:2: not valid JSON (Invalid control character, character 11)",
        ),
        ("d.jsonl", ROW.replace(b"\n", b"\r") * 2, "d.jsonl:1: not valid JSON (Extra data"),  # lone CRs end no line
        ("d.jsonl", b"[" + ROW + b"3]", "d.jsonl: not valid JSON (JSON is malformed"),
        ("d.jsonl", b"[" * 100_000, "d.jsonl: nested too deeply"),
        ("d.jsonl", b'{"hyp": "a", "table": ' + b"[" * 9000 + b"]" * 9000 + b"}", "d.jsonl:1: nested too deeply"),
        ("d.jsonl", b'{"hyp": "a", "ref": "b", "id": ' + DIGITS + b"}\n", "d.jsonl:1: not valid JSON"),
        ("d.jsonl", ROW + b'{"hyp": "a"}\n', "chrf needs references; segment '2' has none"),
        ("d.tsv", b"a cat\tthe cat\n", "d.tsv:1: the header has no column 'hyp'; columns found: 'a cat', 'the cat'"),
        ("d.jsonl.gz", b"", "d.jsonl.gz is empty"),
        ("d.jsonl.gz", packed()[:7], "d.jsonl.gz: damaged gzip data (Compressed file ended"),
        ("d.jsonl.gz", packed() + b"more", "d.jsonl.gz: damaged gzip data"),
        ("d.parquet", b"", "d.parquet is empty"),
    ],
)
def test_a_data_file(capsys, name, content, says):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    Path(name).write_bytes(content)
    assert says in refused(capsys, name, *OUTPUTS)


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"h": b"a\nb\nc\n", "r": b"a\nb\n"}, "h has 3 lines but r has 2 lines"),
        ({"h": b"a\rb\n", "r": b"a\nb\n"}, "h has 1 line but r has 2 lines"),  # a lone CR ends no line
        ({"h": "a\u2028b\n".encode(), "r": b"a\nb\n"}, "h has 1 line but r has 2 lines"),  # nor does U+2028
        ({"h": b"", "r": b""}, "h is empty"),
        ({"h": b"a\n", "r": b"\xff\n"}, "r:1: not UTF-8"),
        ({"h": b"a\n"}, "r: no such file"),
    ],
)
def test_text_files(capsys, files, says):
    for name, content in files.items():
        Path(name).write_bytes(content)
    assert says in refused(capsys, "--hyp", "h", "--ref", "r", *OUTPUTS)


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("", "'': no such file"),
        (".", "is a folder"),
        ("absent.jsonl", "absent.jsonl: no such file"),
        ("below.txt/d.jsonl", "no such file"),
        ("n" * 300 + ".jsonl", "File name too long"),
        ("loop.jsonl", "cannot be read (Too many levels of symbolic links)"),
    ],
)
@pytest.mark.skipif(os.name != "posix", reason="messages of POSIX")
def test_a_path_that_leads_nowhere(capsys, path, says):
    Path("below.txt").write_text("")
    os.symlink("loop.jsonl", "loop.jsonl")
    assert says in refused(capsys, "--hyp", path, "--ref", "below.txt")
    if path != ".":  # a folder may be a test set
        assert says in refused(capsys, path)


def test_what_may_not_be_read(capsys, monkeypatch):
    # as root everything may be read, so the refusal comes from here
    Path("d.jsonl").write_bytes(ROW)

    def forbidden(path, *rest, **options):
        if path == "d.jsonl":
            raise PermissionError(13, "Permission denied")
        return stat(path, *rest, **options)

    stat = os.stat
    monkeypatch.setattr("nlgauge.io.files.open", forbidden, raising=False)
    assert "d.jsonl: cannot be read (Permission denied)" in refused(capsys, "d.jsonl")
    monkeypatch.setattr("os.stat", forbidden)  # a folder whose files may not be looked at
    assert "'d.jsonl': cannot be read (Permission denied)" in refused(capsys, "d.jsonl")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize(
    ("content", "says"),
    [(b"", "pipe is empty"), (b"{", "pipe:1: not valid JSON"), (packed()[:-9], "pipe: damaged gzip data")],
)
def test_a_named_pipe(capsys, content, says):
    os.mkfifo("pipe")
    writer = threading.Thread(target=lambda: Path("pipe").write_bytes(content))
    writer.start()
    assert says in refused(capsys, "pipe", *OUTPUTS)
    writer.join()


@pytest.mark.parametrize(
    ("outputs", "says"),
    [
        (["--json", "absent/r.json"], "cannot write absent/r.json: there is no folder"),
        (["--segments", "s.tsv", "--json", "absent/r.json"], "cannot write absent/r.json"),
        (["--html", "."], ". is a folder, expected a file to write"),
        (["--json", ""], "'' is no name of a file"),
        (["--segments", ""], "'' is no name of a file"),
        (["--segments", "s.xlsx"], "s.xlsx: cannot tell what to write from the name"),
        (["--json", "r", "--html", "./r"], "--html ./r would be written over --json r; name another file"),
        (["--segments", "d.jsonl"], "--segments d.jsonl would be written over the input d.jsonl; name another file"),
    ],
)
def test_a_place_for_the_result_is_refused_before_anything_is_scored(capsys, monkeypatch, outputs, says):
    Path("d.jsonl").write_bytes(ROW)
    monkeypatch.setattr(
        "nlgauge.metrics.run.score_segments", lambda *_: pytest.fail("scored before the outputs were tried")
    )
    assert says in refused(capsys, "d.jsonl", *outputs)
    assert Path("d.jsonl").read_bytes() == ROW


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full, a disk without room")
@pytest.mark.parametrize("name", ["s.tsv", "s.tsv.gz", "s.jsonl", "s.jsonl.gz", "s.parquet", "r.json", "r.html"])
def test_a_full_disk(capsys, name):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    Path("d.jsonl").write_bytes(ROW)
    os.symlink("/dev/full", name)
    option = {"r.json": "--json", "r.html": "--html"}.get(name, "--segments")
    assert refused(capsys, "d.jsonl", option, name) == f"nlgauge: cannot write {name}: No space left on device\n"


@pytest.mark.skipif(os.name != "posix", reason="file names are bytes on POSIX")
@pytest.mark.parametrize("segments", ["s.tsv", "s.jsonl", "s.parquet"])
def test_a_file_name_that_is_no_utf_8_harms_no_output(capsys, segments):
    if segments.endswith("parquet"):
        pytest.importorskip("pyarrow")
    for name in (b"w\xff.txt", b"ref"):
        Path(os.fsdecode(name)).write_bytes(b"a\r\n")
    command = ["score", "--hyp", os.fsdecode(b"w\xff.txt"), "--ref", "ref", "-m", "chrf"]
    command += ["--json", "r.json", "--html", "r.html", "--segments", segments]
    if segments == "s.tsv":  # a command line and a standard output of its own, once
        alone = [sys.executable, "-m", "nlgauge", *command, "-f", "json"]
        told = json.loads(subprocess.run(alone, capture_output=True, check=True).stdout)
    else:
        assert main(command) == 0
        told = None
    result = json.loads(Path("r.json").read_text(encoding="utf-8"))
    assert told in (None, result)
    assert result["rows"][0]["system"] == "w\\xff"
    assert result["inputs"][0]["path"] == os.fsdecode(b"w\xff.txt")


def test_a_terminal_that_lacks_a_letter_shows_its_number(capsys):
    Path("d.jsonl").write_text('{"hyp": "a", "ref": "a", "system": "Ωmega"}\n', encoding="utf-8")
    command = [sys.executable, "-m", "nlgauge", "score", "d.jsonl", "-m", "chrf", "-q"]
    done = subprocess.run(
        command, capture_output=True, check=True, env={**os.environ, "PYTHONIOENCODING": "latin-1:strict"}
    )
    assert b"\\u03a9mega" in done.stdout


@pytest.mark.parametrize("locked", ["set", "set/sources", "set/references", "set/human-scores"])
def test_a_folder_that_may_not_be_read_is_no_empty_one(capsys, monkeypatch, locked):
    for name in (
        "sources/en-de.txt",
        "references/en-de.refA.txt",
        "system-outputs/en-de/A.txt",
        "human-scores/other.txt",
    ):
        Path("set", name).parent.mkdir(parents=True, exist_ok=True)
        Path("set", name).write_text("a\n")
    assert main(["score", "set", "-m", "chrf", "-q"]) == 0
    capsys.readouterr()

    def forbidden(path="."):
        if os.fspath(path) == locked:
            raise PermissionError(13, "Permission denied")
        return listdir(path)

    listdir = os.listdir
    monkeypatch.setattr("os.listdir", forbidden)
    assert refused(capsys, "set") == f"nlgauge: {locked}: cannot be read (Permission denied)\n"


def test_fields_with_other_names(capsys):
    Path("d.json").write_text('[{"prediction": "a cat", "references": ["the cat"]}]')
    Path("d.jsonl").write_text('{"hyp": "a cat", "refs": ["the cat"]}')
    assert main(["score", "d.jsonl", "-m", "chrf", "-b"]) == 0
    expected = capsys.readouterr().out
    assert main(["score", "d.json", "-m", "chrf", "-b", "--columns", "hyp=prediction,ref=references"]) == 0
    assert capsys.readouterr().out == expected
    assert main(["score", "d.json", "-m", "chrf", "-b"]) == 0  # their names leave no doubt
    assert capsys.readouterr().out == expected
    assert "--columns 'hyp': expected FIELD=NAME" in refused(capsys, "d.json", "--columns", "hyp")
    twice = refused(capsys, "d.json", "--columns", "ref=a", "--columns", "ref=b")
    assert "--columns names 'ref' twice, expected once; several references are ref1, ref2, ..." in twice
    assert "--columns names fields of a data file" in refused(capsys, "-i", "d.json", "--columns", "hyp=a")


def test_one_data_file_for_each_system(capsys):
    for name, text in (("bart", "the cat"), ("t5", "a dog")):
        Path(f"{name}.jsonl").write_text(json.dumps({"id": "d1", "summary": text, "highlights": "the cat"}) + "\n")
    assert main(["score", "bart.jsonl", "t5.jsonl", "-m", "chrf", "-f", "json"]) == 0
    assert [(row["system"], row["n"]) for row in json.loads(capsys.readouterr().out)["rows"]] == [
        ("bart", 1),
        ("t5", 1),
    ]
    assert "there is no 'lost.jsonl'; is it a misspelt metric" in refused(capsys, "bart.jsonl", "lost.jsonl")
    assert "did you mean 'chrf'" in refused(capsys, "bart.jsonl", "-m", "bleu", "chrff")


def test_a_column_for_each_system(capsys):
    Path("wide.csv").write_text("doc_id,article,highlights,bart,t5\n1,x,the cat,the cat,a dog\n")
    line = refused(capsys, "wide.csv")
    option = "--columns hyp=bart,hyp=t5,ref=highlights,src=article"
    assert f"give {option} (each hyp is a system)" in line
    assert main(["score", "wide.csv", "-m", "chrf", "-f", "json", *option.split()]) == 0
    assert [row["system"] for row in json.loads(capsys.readouterr().out)["rows"]] == ["bart", "t5"]


LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n"


@pytest.mark.parametrize("name", ["d.jsonl", "d.csv", "d.tsv", "d.parquet", "d.csv.gz", "d.eval", "d.json", "d"])
@pytest.mark.parametrize(
    ("content", "get"), [(LFS, "git lfs pull"), ("/annex/objects/MD5E-s9--1.csv\n", "git annex get")]
)
def test_a_pointer_is_told_from_data_by_every_reader(folder, capsys, name, content, get):
    (folder / name).write_text(content)
    given = ["-i", name, "-r", name] if name == "d" else [name]
    assert f"'{get}' fetches" in refused(capsys, *given)
    assert get in refused(capsys, "-i", name, "-r", name)


def test_a_text_that_begins_as_a_pointer_does_is_a_text(folder, capsys):
    (folder / "d").write_text("version https://git-lfs.github.com/spec/v1\nanother text\n")
    assert main(["score", "-i", "d", "-r", "d", "-m", "chrf"]) == 0
    assert "100" in capsys.readouterr().out


TMX = '<?xml version="1.0"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx version="1.4">\n<body/></tmx>\n'


@pytest.mark.parametrize("content", [TMX, TMX.split("\n", 2)[2], TMX.replace("tmx", "xliff")])
@pytest.mark.parametrize("given", [["x"], ["-i", "x", "-r", "x"], ["x.csv"], ["x.xml"], ["x.json"]])
def test_xml_that_is_not_read_is_named_and_no_command_is_offered(folder, capsys, content, given):
    for name in {*given} - {"-i", "-r"}:
        (folder / name).write_text(content)
    line = refused(capsys, *given)
    assert "is XML, of which WMT's alone is read" in line
    assert "nlgauge score" not in line


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("d.csv", "| hyp | ref |\n| a | b |\n", "the cells stand between '|', expected commas"),
        ("d.csv", "# made by hand\nhyp,ref\na,b\n", "a line that begins with '#'"),
        ("d.tsv", "hyp,ref\na,b\n", "the cells stand between ',', expected tabs"),
        ("d.tsv", "hyp|ref\na|b\n", "the cells stand between '|', expected tabs"),
    ],
)
def test_what_parts_cells_is_named(folder, capsys, name, content, said):
    (folder / name).write_text(content)
    assert said in refused(capsys, name)


def test_cells_between_bars_are_read(folder, capsys):
    (folder / "d.csv").write_text("hyp|ref\na b, c|a b, c\n")
    assert main(["score", "d.csv", "-m", "exact_match", "-b"]) == 0
    assert float(capsys.readouterr().out) == 1


@pytest.mark.parametrize(
    ("given", "command"), [(["a.de", "b.de"], "-i a.de -r b.de"), (["a.de", "-r", "b.de"], "-i a.de -r b.de")]
)
def test_files_with_a_text_a_line_get_the_command_that_reads_them(folder, capsys, given, command):
    for name in ("a.de", "b.de"):
        (folder / name).write_text("x y\n")
    assert refused(capsys, *given).endswith(f": nlgauge score {command}\n")
    assert main(["score", *command.split(), "-m", "chrf"]) == 0


UNREFERENCED = [{"hyp": "Paris", "refs": ["Paris"]}, {"hyp": "", "refs": []}, {"hyp": "Rome", "ref": None}]


@pytest.mark.parametrize(("way", "value", "n"), [("empty", 2 / 3, 3), ("leave-out", 1, 1)])
def test_segments_without_references_are_left_out_or_should_be_empty(folder, capsys, way, value, n):
    (folder / "d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in UNREFERENCED))
    assert "--unreferenced empty takes" in refused(capsys, "d.jsonl", "-m", "exact_match")
    assert main(["score", "d.jsonl", "-m", "exact_match", "--unreferenced", way, "--json", "-"]) == 0
    result = json.loads(capsys.readouterr().out)
    (row,) = result["rows"]
    assert (row["value"], row["n"]) == (pytest.approx(value), n)
    assert any(note.startswith("2 segments without references: ") for note in result["notes"])


def test_the_column_that_may_hold_references_is_named(folder, capsys):
    (folder / "d.csv").write_text("output,golden\na b c,a b d\n")
    line = refused(capsys, "d.csv")
    assert line.endswith("; if 'golden' holds them, give --columns ref=golden\n")
    assert main(["score", "d.csv", "-m", "chrf", "--columns", "ref=golden"]) == 0


def test_ratings_are_a_metric(folder, capsys):
    rows = [{"hyp": "a", "system": s, "seg": str(i), "human.ok": i + n} for i in range(2) for n, s in enumerate("AB")]
    (folder / "d.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["score", "d.jsonl", "-m", "human.ok", "--json", "-"]) == 0
    assert [row["value"] for row in json.loads(capsys.readouterr().out)["rows"]] == [0.5, 1.5]


@pytest.mark.parametrize("words", [["--significance", "bootstrap"], ["--significance", "randomization", "--pairs"]])
def test_files_whose_rows_are_in_another_order_are_not_paired_by_row_number(words, folder, capsys):
    texts = [f"a {word} is seen here" for word in ("fir", "oak", "yew", "elm")]
    for name, some in (("A", texts), ("B", texts[::-1])):
        rows = (json.dumps({"hyp": text[len(name) :], "ref": text}) + "\n" for text in some)
        (folder / f"{name}.jsonl").write_text("".join(rows))
    assert main(["score", "A.jsonl", "B.jsonl", "-m", "chrf"]) == 0  # each number is a system's own
    assert "input" not in capsys.readouterr().err
    told = refused(capsys, "A.jsonl", "B.jsonl", *words)
    assert "item '1' has other references in system 'B' than in system 'A', and 3 more" in told
    assert "the same in another order; give each an id (seg), or sort them alike" in told


def test_a_run_in_parts_refuses_other_inputs_before_it_scores(folder, capsys):
    rows = [
        {"hyp": word, "ref": word, "system": system, "seg": str(place)}
        for system, words in (("A", "fir oak yew"), ("B", "yew fir oak"))
        for place, word in enumerate(words.split())
    ]
    (folder / "merged.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["--engine", "pool", "-o", "out", "--significance", "bootstrap"]
    assert "item '0' has other references in system 'B'" in refused(capsys, "merged.jsonl", *words)
