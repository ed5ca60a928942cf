"""The command itself: light to start, one line for a mistake, its own exit codes."""

from __future__ import annotations

import os
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
