"""What reaches a terminal, seen through a pseudo-terminal: a pipe would hide it."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from select import select

import pytest
from tests.cli.command import write

import nlgauge as ng
from nlgauge.cli.main import main
from nlgauge.cli.terminal import as_typed, echo, typed
from nlgauge.core.result import Result
from nlgauge.core.spec import quote
from nlgauge.metrics.stored import Stored

pty = pytest.importorskip("pty")  # not on Windows
NAME = "sys\x1b]0;owned\x07\x9b2J\u202e"
OBEYED = {"\x07", "\x9b", "\u202e"}


@pytest.fixture
def on_terminal():
    """A function that runs a command whose outputs are a terminal, and returns its exit code and what was shown."""
    ours, theirs = pty.openpty()
    os.set_blocking(ours, False)

    def run(*arguments: str) -> tuple[int, str]:
        with (
            open(theirs, "w", encoding="utf-8", closefd=False) as shown,
            redirect_stdout(shown),
            redirect_stderr(shown),
        ):
            code = main(arguments)
        parts = []
        while select([ours], [], [], 0)[0]:  # a terminal gives some thousand bytes at a time
            parts.append(os.read(ours, 1 << 16))
        return code, b"".join(parts).decode()

    yield run
    os.close(ours)
    os.close(theirs)


@pytest.mark.parametrize("form", ["text", "json", "tsv", "markdown", "latex"])
def test_names_and_notes_control_no_terminal(tmp_path, on_terminal, form):
    path = tmp_path / "data.jsonl"
    rows = [{"id": f"{NAME}{i}", "system": f"{NAME}{i}", "lp": NAME, "hyp": "", "refs": ["a"]} for i in range(2)]
    write(path, rows)
    code, shown = on_terminal("score", str(path), "-m", "chrf", "--by-group", "--no-cache", "-f", form)
    assert code == 0
    assert "sys" in shown
    assert "\x1b]0;" not in shown
    assert not OBEYED & set(shown)


def test_an_error_controls_no_terminal(tmp_path, on_terminal):
    code, shown = on_terminal("score", str(tmp_path / f"{NAME}.jsonl"), "-m", "chrf")
    assert code == 2
    assert "no such file" in shown
    assert not {"\x1b", *OBEYED} & set(shown)


def test_a_pipe_gets_what_is_printed_as_it_is(capsys):
    echo(NAME)
    assert capsys.readouterr().out == f"{NAME}\n"


def test_a_result_names_the_command_that_made_it():
    with typed(["score", "a b.txt", "-m", "0.5*bleu + 0.5*chrf"]):
        made = as_typed(Result("score", []))
    assert shlex.split(made.command) == ["nlgauge", "score", "a b.txt", "-m", "0.5*bleu + 0.5*chrf"]
    assert as_typed(made).command == "nlgauge"  # outside nothing is kept


NAMES = ["bläh ü", "\udcfc", "a\nb", """q"u'o\\te""", "a,b[1](2)=x+1*y", "p|q", "-m"]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_the_command_of_a_result_runs_again_whatever_its_files_are_called(tmp_path, monkeypatch, name):
    folder = tmp_path / name
    folder.mkdir()
    data, table, made = folder / f"{name}.jsonl", folder / f"{name}.tsv", folder / "made.json"
    data.write_text('{"id": "1", "hyp": "a b", "ref": "a b c"}\n', encoding="utf-8")
    table.write_text("id\tgröße\n1\t0.5\n", encoding="utf-8")
    monkeypatch.chdir(folder)
    words = ["score", str(data), "-m", f"scores:file={quote(str(table))},column=größe", "-m", "chrf", "--no-cache"]
    assert main([*words, "--json", str(made), "--html", "page.html", "--segments", "rows.tsv"]) == 0
    first = made.read_bytes()
    command = json.loads(first)["command"]
    assert main([*shlex.split(command)[1:], "--no-cache", "--json", str(made)]) == 0
    assert made.read_bytes() == first
    spec = json.loads(first)["metrics"][0]["spec"]
    assert ng.metric(spec) == Stored(file=str(table), column="größe")
    assert main(["report", str(made), "--segments", "rows.tsv", "--data", str(data), "-o", "report.html"]) == 0


ASCII = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}  # without them Python reads UTF-8 even here


def in_ascii(tmp_path, *words):
    command = [sys.executable, "-m", "nlgauge", *words]
    return subprocess.run(command, capture_output=True, cwd=tmp_path, env=os.environ | ASCII, check=False)


def test_where_python_reads_ascii_alone_other_arguments_are_refused(tmp_path):
    ran = in_ascii(tmp_path, "align", "--hyp", "schön", "--ref", "a")
    assert (ran.returncode, ran.stdout) == (2, b"")
    told = (
        "nlgauge: Python takes arguments and names of files as ascii here, which {} is not; unset PYTHONUTF8, or set it"
        " to 1"
    )
    assert ran.stderr.decode().splitlines() == [told.format("'sch\\xf6n'")]
    (tmp_path / "data.jsonl").write_text('{"id": "1", "hyp": "a", "ref": "b"}\n', encoding="utf-8")
    ran = in_ascii(tmp_path, "score", "data.jsonl", "-m", r'scores:file="\u00fc.tsv"', "--no-cache")
    assert (ran.returncode, ran.stdout) == (2, b"")
    assert ran.stderr.decode().splitlines() == [told.format("'\\xfc.tsv'")]


def test_where_python_writes_ascii_alone_tables_and_files_are_utf_8(tmp_path):
    row = {"id": "ä", "system": "schön", "hyp": "schön", "ref": "ü"}
    (tmp_path / "data.jsonl").write_text(json.dumps(row, ensure_ascii=False) + "\n", encoding="utf-8")
    words = ["score", "data.jsonl", "-m", "chrf", "--no-cache"]
    ran = in_ascii(tmp_path, *words)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert "schön" in ran.stdout.decode()
    ran = in_ascii(tmp_path, *words, "-f", "json", "--html", "page.html", "--segments", "rows.tsv")
    assert json.loads(ran.stdout.decode())["rows"][0]["system"] == "schön"
    for file in ("page.html", "rows.tsv"):
        assert "schön" in (tmp_path / file).read_text(encoding="utf-8")


def test_where_a_result_is_kept_is_no_part_of_its_command():
    with typed(["meta", "d", "--json", "a.json", "-q", "--html=b.html", "--no-cache", "--cache", "c", "--seed", "1"]):
        assert as_typed(Result("meta", [])).command == "nlgauge meta d --seed 1"
