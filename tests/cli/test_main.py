"""The command itself: light to start, one line for a mistake, its own exit codes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

import nlgauge as ng
from nlgauge.cli import main as cli


def test_version(capsys):
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"nlgauge {ng.__version__}\n"


def test_help_names_every_verb(capsys):
    assert cli.main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(verb in out for verb in ("score", "align", "train", "list", "doctor"))


def test_help_of_every_verb_shows_defaults_and_options(capsys):
    assert cli.main(["score", "--help"]) == 0
    out = capsys.readouterr().out
    short = "-i -r -m -b -w -f -q"
    long = "--hyp --ref --json --html --segments --seed --device --dtype --cache --no-cache"
    assert [flag for flag in f"{short} {long}".split() if flag not in out] == []


@pytest.mark.parametrize(
    "arguments",
    [["scor"], ["score", "--no-such"], ["align", "--hyp", "a"], ["list"], ["list", "metrix"], ["train", "nothing"]],
)
def test_a_mistake_is_one_line_and_exit_2(capsys, arguments):
    assert cli.main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("nlgauge: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "nlgauge: what to do? see nlgauge --help\n"),
        (["train"], "nlgauge: what to do? see nlgauge train --help\n"),
        (["score", "--seed"], "nlgauge: Option '--seed' requires an argument.\n"),
    ],
)
def test_a_command_without_words_says_where_to_look_and_not_the_whole_help(capsys, arguments, told):
    assert cli.main(arguments) == 2
    assert capsys.readouterr() == ("", told)


def test_interrupted_is_130(monkeypatch, capsys):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("nlgauge.io.read.open_data", interrupt)
    assert cli.main(["score", "x.jsonl"]) == 130
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("nlgauge: interrupted; ")
    assert err.count("\n") == 1


def test_a_bug_is_a_traceback_not_a_message(monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr("nlgauge.io.read.open_data", fail)
    with pytest.raises(ZeroDivisionError):
        cli.main(["score", "x.jsonl"])


def test_a_reader_that_goes_away_is_no_error():
    with subprocess.Popen(
        [sys.executable, "-m", "nlgauge", "list", "metrics"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as command:
        command.stdout.close()  # before the first line comes
        assert command.stderr.read() == b""
    assert command.returncode == 0


@pytest.mark.parametrize("arguments", ["list metrics", "--help", "doctor"])
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full, a disk without room")
def test_a_full_disk_behind_standard_output_is_one_line_and_exit_2(arguments):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "nlgauge", *arguments.split()], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert (done.returncode, done.stderr) == (2, "nlgauge: cannot write: No space left on device; is the disk full?\n")


@pytest.mark.skipif(os.name != "posix", reason="a shell of POSIX")
@pytest.mark.parametrize(("arguments", "code"), [("--version", 0), ("scor", 2)])
def test_a_closed_standard_error_changes_neither_output_nor_code(arguments, code):
    command = [sys.executable, "-m", "nlgauge", *arguments.split()]
    done = subprocess.run(["sh", "-c", 'exec "$@" 2>&-', "sh", *command], stdout=subprocess.PIPE, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (code, f"nlgauge {ng.__version__}\n" if code == 0 else "")


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_an_interrupt_while_the_command_is_imported_is_one_line():
    interrupted = "import os, signal; from importlib.abc import MetaPathFinder\n"
    interrupted += "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell's background job ignores it
    interrupted += "class Finder(MetaPathFinder):\n"
    interrupted += "    def find_spec(self, name, path, target=None):\n"
    interrupted += "        if name == 'nlgauge.cli.main': os.kill(os.getpid(), signal.SIGINT)\n"
    interrupted += "import sys; sys.meta_path.insert(0, Finder()); from nlgauge.__main__ import run; run()"
    done = subprocess.run([sys.executable, "-c", interrupted], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout) == (130, b"")
    assert done.stderr == b"nlgauge: interrupted; nothing was written\n"


ENDED = """
import os, signal, sys
signal.signal(int(os.environ["SIGNAL"]), signal.SIG_DFL)  # nohup ignores SIGHUP
from nlgauge.cli import main as cli
from nlgauge.core.result import replacing
from nlgauge.io import read
def wait(*_, **__):
    with replacing(sys.argv[2]) as file:
        file.write("half")
        os.kill(os.getpid(), int(os.environ["SIGNAL"]))
        while True: pass
read.open_data = wait
cli.run()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_run_that_is_ended_cleans_up_behind_itself(tmp_path, number, code):
    output = tmp_path / "out"
    output.write_text("old")
    command = [sys.executable, "-c", ENDED, "score", str(output)]
    environment = {**os.environ, "SIGNAL": str(int(number))}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, output.read_text()) == (code, "old")
    assert done.stderr.startswith(f"nlgauge: ended by {number.name}; ")
    assert done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("score x.jsonl --significance bootstrap --compat nonsense", "--compat is 'nonsense'; known: sacrebleu"),
        ("score x.jsonl --segments out.xls", "out.xls: cannot tell what to write from the name"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_is_read(capsys, arguments, message):
    assert cli.main(arguments.split()) == 2  # there is no x.jsonl
    assert capsys.readouterr().err.startswith(f"nlgauge: {message}")
