"""The command line of a verb: files that follow an option, and a help that shows choices and one example."""

from __future__ import annotations

import io
import re
import shlex
from pathlib import Path

import pytest
import typer

from nlgauge.cli import main as cli
from nlgauge.cli.commands import spread
from nlgauge.cli.verbs import TRAIN, VERBS

FLAGS = {"-i", "--hyp", "-r", "--ref"}
EXAMPLES = {
    f"{group}{name}": verb.example for group, verbs in (("", VERBS), ("train ", TRAIN)) for name, verb in verbs.items()
}


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.txt", "b.txt", "r0", "r1", "data.jsonl"):
        (tmp_path / name).write_text("x\n")


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("-i a.txt b.txt -r r0 r1", "-i a.txt -i b.txt -r r0 -r r1"),
        ("--hyp a.txt --hyp b.txt", "--hyp a.txt --hyp b.txt"),
        ("-i a.txt - -m bleu chrf", "-i a.txt -i - -m bleu chrf"),  # a metric is no file
        ("data.jsonl -m bleu", "data.jsonl -m bleu"),
        ("-m bleu data.jsonl", "-m bleu data.jsonl"),
        ("-i a.txt -q b.txt", "-i a.txt -q b.txt"),  # another option stands between
        ("-i a.txt lost.txt b.txt", "-i a.txt lost.txt -i b.txt"),
        ("-i a.txt -- b.txt", "-i a.txt -- b.txt"),
    ],
)
def test_files_follow_the_value_of_an_option(typed, read):
    assert spread(typed.split(), FLAGS) == read.split()


def helped(capsys, monkeypatch, verb, columns=100):
    monkeypatch.setenv("COLUMNS", str(columns))
    assert cli.main([*verb.split(), "--help"]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("verb", [verb for verb in EXAMPLES if verb != "train"])
def test_the_help_of_a_verb_names_no_type_and_ends_in_an_example(capsys, monkeypatch, verb):
    text = helped(capsys, monkeypatch, verb)
    assert not re.search("<[a-z]", text)
    assert "[[" not in text
    assert text.endswith(f"Example:\n  {EXAMPLES[verb]}\n")


def test_the_help_shows_choices_and_takes_the_width_of_the_terminal(capsys, monkeypatch):
    wide = helped(capsys, monkeypatch, "meta", 150)
    assert "--adjust none|holm|bh" in wide
    assert "--ties loss|half|exclude|zero" in wide
    assert max(map(len, wide.splitlines())) > 110
    assert max(map(len, helped(capsys, monkeypatch, "list", 90).splitlines())) <= 90


@pytest.mark.parametrize("verb", [verb for verb in EXAMPLES if verb != "train"])
def test_examples_are_read_without_an_error(verb):
    """Words of the command line, not what they do: that costs time, and pages show most of it."""
    program, *words = shlex.split(EXAMPLES[verb])
    assert program == "nlgauge"
    group = typer.main.get_command(cli.app)
    for _ in verb.split():
        context = group.make_context("nlgauge", list(words), resilient_parsing=True)
        _, group, words = group.resolve_command(context, list(words))
    group.make_context(verb, list(words))
    root = Path(cli.__file__).parents[3]
    if (root / "examples").is_dir():
        assert [word for word in words if word.startswith("examples/") and not (root / word).exists()] == []


def completed(capsys, monkeypatch, line):
    monkeypatch.setenv("_NLGAUGE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(line.count(" ")))
    monkeypatch.setattr("sys.stderr", io.StringIO())  # the command closes it behind itself
    assert cli.main([]) == 0
    return capsys.readouterr().out.split()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("nlgauge s", ["score", "select", "sweep", "synth"]),
        ("nlgauge score --sign", ["--significance"]),
        ("nlgauge score -m ble", ["bleu"]),
        ("nlgauge score --significance ", ["bootstrap", "randomization"]),
        ("nlgauge meta x.jsonl --adjust h", ["holm"]),
        ("nlgauge list p", ["perturbations"]),
    ],
)
def test_the_shell_completes_verbs_options_metrics_and_choices(capsys, monkeypatch, line, words):
    assert completed(capsys, monkeypatch, line) == words


def test_completion_runs_no_module_of_the_folder(capsys, monkeypatch, tmp_path):
    (tmp_path / "trap.py").write_text("raise SystemExit('imported')\n")
    assert completed(capsys, monkeypatch, "nlgauge score -m trap:Metric --sign") == ["--significance"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_for_a_shell_is_printed(capsys, monkeypatch, shell):
    monkeypatch.setattr("typer.completion._get_shell_name", lambda: shell)
    monkeypatch.setattr("sys.stderr", io.StringIO())
    assert cli.main(["--show-completion"]) == 0
    assert f"_NLGAUGE_COMPLETE=complete_{shell}" in capsys.readouterr().out


def test_a_shell_without_completion_is_an_error_of_the_users(capsys, monkeypatch):
    monkeypatch.setattr("typer.completion._get_shell_name", lambda: "ksh")
    assert cli.main(["--show-completion"]) == 2
    assert "ksh" in capsys.readouterr().err
