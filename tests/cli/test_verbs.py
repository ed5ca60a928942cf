"""The table of verbs: it says of each what the verb itself says, and only the verb that is typed is imported."""

import inspect
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from nlgauge.cli import main as cli
from nlgauge.cli.verbs import TRAIN, VERBS, _is_file, _is_metric, group_of, left_of, spread

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize(("name", "verb"), [*VERBS.items(), *TRAIN.items()])
def test_a_summary_is_the_first_line_of_the_verb_itself(name, verb):
    loaded = verb.load()
    own = loaded.info.help if isinstance(loaded, typer.Typer) else inspect.getdoc(loaded)
    assert own.split("\n")[0] == verb.summary


def imported(*arguments):
    code = (
        "import sys\nfrom nlgauge.cli.main import main\n"
        f"main({list(arguments)!r})\n"
        "print('loaded', *(m for m in sys.modules if m.startswith('nlgauge.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.rpartition("loaded")[2].split())


def test_help_imports_no_verb_and_nothing_of_results():
    homes = {verb.home.partition(":")[0] for verb in VERBS.values()}
    assert not imported("--help") & {*homes, "nlgauge.core.result", "nlgauge.core.metric"}


def test_a_verb_imports_no_other():
    loaded = imported("score", "--help")
    assert "nlgauge.cli.score" in loaded
    assert not any(name.startswith(("nlgauge.metaeval.", "nlgauge.audits.", "nlgauge.cli.meta")) for name in loaded)


def test_groups_may_stand_in_groups(capsys):
    app = group_of({"inner": VERBS["train"]}, help="Outer.")
    typer.main.get_command(app).main(args=["inner", "--help"], standalone_mode=False)
    assert "baseline" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("typed", "left"),
    [
        ("score data.jsonl -m bertscore", "scores of models made so far are in the cache"),
        ("score data.jsonl -m bertscore --no-cache", "nothing was written"),
        ("-V", "nothing was written"),
        ("perturb data.jsonl -p typos -o x.jsonl", "nothing was written"),
        ("synth texts -o triples.jsonl", "the same command goes on where this one stopped"),
        ("train sescore triples.jsonl -o x.safetensors", "the same command goes on where this one stopped"),
        ("train layers data.jsonl", "scores of models made so far are in the cache"),
        ("train baseline texts -o x.csv", "nothing was written"),
    ],
)
def test_an_interrupted_command_says_what_is_left_of_it(typed, left):
    assert left_of(typed.split()).startswith(left)


FLAGS = {**dict.fromkeys(("-i", "--hyp", "-r", "--ref"), _is_file), "-m": _is_metric}
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
        ("-i a.txt - -m bleu chrf", "-i a.txt -i - -m bleu -m chrf"),  # a metric is no file
        (
            "-m bleu comet chrff 0.5*ter+0.5*wer mine:own x.y",
            "-m bleu -m comet -m chrff -m 0.5*ter+0.5*wer -m mine:own x.y",
        ),
        ("-m bleu data.jsonl ROUGE1,ter other.jsonl", "-m bleu data.jsonl -m ROUGE1,ter other.jsonl"),
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
    (page,) = re.findall(r"^Page of the documentation:\n  ([a-z_/]+)$", text, flags=re.M)
    docs = ROOT / "docs"
    assert not docs.is_dir() or f"nlgauge {verb}" in (docs / f"{page}.md").read_text(encoding="utf-8")


def test_the_help_shows_choices_and_takes_the_width_of_the_terminal(capsys, monkeypatch):
    wide = helped(capsys, monkeypatch, "meta", 150)
    assert "--adjust none|holm|bh" in wide
    assert "--ties loss|half|exclude|zero" in wide
    assert max(map(len, wide.splitlines())) > 110
    assert max(map(len, helped(capsys, monkeypatch, "list", 90).splitlines())) <= 90


def test_many_options_stand_under_headings(capsys, monkeypatch):
    text = helped(capsys, monkeypatch, "score")
    heads = ["Arguments", "Input", "Metrics", "Tests", "Output", "Scale", "Options"]
    assert re.findall(r"^([A-Z]\w+):$", text, flags=re.M)[:-1] == heads
    parts = dict(re.findall(r"^(\w+):\n(.*?)(?=^\S|\Z)", text, flags=re.M | re.S))
    for head, option in zip(heads[1:], ("--hyp", "--metric", "--pairs", "--json", "--engine", "--device"), strict=True):
        assert option in parts[head]


@pytest.mark.parametrize("typed", ["--install-completion bash --help", "--help --show-completion"])
def test_help_beside_completion_installs_nothing(capsys, monkeypatch, typed):
    monkeypatch.setattr("typer.completion.install", lambda **_: pytest.fail("installed"))
    assert cli.main(typed.split()) == 0
    assert capsys.readouterr().out.startswith("Usage: nlgauge [OPTIONS] COMMAND")


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
        ("nlgauge s", ["score", "status", "select", "sweep", "synth"]),
        ("nlgauge score --sign", ["--significance"]),
        ("nlgauge score -m bertsc", ["bertscore"]),
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


IN_SHELLS = {  # shell -> what completes `nlgauge score --signi` in it with the script that --show-completion prints
    "bash": "source comp.bash; COMP_WORDS=(nlgauge score --signi); COMP_CWORD=2; _nlgauge_completion nlgauge;"
    ' echo "$COMPREPLY"',
    "fish": "source comp.fish; complete -C 'nlgauge score --signi'",
    "zsh": r"""
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'autoload -Uz compinit; compinit -u -D; source comp.zsh'
zpty -w -n z $'nlgauge score --signi\t'
for i in {1..300}; do
  sleep 0.1
  while zpty -r -t z line; do print -rn -- "$line"; [[ $line == *--significance* ]] && { zpty -d z; exit }; done
done
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("shell", IN_SHELLS)
def test_the_shell_itself_completes(capsys, monkeypatch, tmp_path, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    monkeypatch.setattr("typer.completion._get_shell_name", lambda: shell)
    monkeypatch.setattr("sys.stderr", io.StringIO())
    assert cli.main(["--show-completion"]) == 0
    (tmp_path / f"comp.{shell}").write_text(capsys.readouterr().out)
    command = tmp_path / "nlgauge"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m nlgauge "$@"\n')
    command.chmod(0o755)
    alone = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    own = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path)}
    told = subprocess.run(
        [shell, *alone, "-c", IN_SHELLS[shell]], cwd=tmp_path, env=own, capture_output=True, text=True, timeout=120
    )
    assert "--significance" in told.stdout, told.stderr


def test_a_shell_without_completion_is_an_error_of_the_users(capsys, monkeypatch):
    monkeypatch.setattr("typer.completion._get_shell_name", lambda: "ksh")
    assert cli.main(["--show-completion"]) == 2
    assert "ksh" in capsys.readouterr().err


def loaded_by(*words):
    """All modules that a whole run of the command has imported."""
    code = (
        f"import gc, sys; sys.argv = ['nlgauge', *{list(words)!r}]\n"
        "from nlgauge.__main__ import run\n"
        "try: run()\n"
        "except SystemExit: print('loaded', *sys.modules, f'gc={gc.isenabled()}')"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return {*done.stdout.rpartition("loaded")[2].split()}


NOT_FOR_WORDS = {"py3langid", "pydantic", "rich", "jinja2", "torch", "pandas", "lemminflect", "scipy.stats"}
NOT_FOR_LINES = {f"nlgauge.{name}" for name in ("io.wmt.mtme", "io.spans", "io.parquet", "io.write", "report.pages")}


def test_scoring_a_plain_file_imports_no_more_than_it_needs():
    loaded = loaded_by("score", "examples/weather.jsonl", "-m", "bleu", "--no-cache")
    assert "gc=True" in loaded  # __main__ stops it while modules are imported
    assert "nlgauge.metrics.guards" in loaded
    assert loaded & {*NOT_FOR_WORDS, *NOT_FOR_LINES, "rapidfuzz", "scipy", "nlgauge.stats"} == set()
    assert "nlgauge.scoring.thresholds" not in loaded


def test_a_gate_imports_no_more_than_it_needs():
    weather = "examples/weather.jsonl"
    systems = ("--base-system", "template", "--new-system", "careless")
    loaded = loaded_by("gate", weather, weather, *systems, "-m", "chrf", "--no-cache")
    assert "nlgauge.stats.gates" in loaded
    unused = {*NOT_FOR_WORDS, *NOT_FOR_LINES, "rapidfuzz", "nlgauge.report.junit", "nlgauge.gating.outputs"}
    assert loaded & unused == {"nlgauge.io.frames"}  # of frames, which the gate takes; it loads no library


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["-w", "16"], "less than or equal to 15"),
        (["-w", "two"], "valid integer"),
        (["--draws", "1.5"], "valid integer"),
    ],
)
def test_what_is_typed_is_still_converted_and_refused(words, told, capsys):
    # what is text, or was not typed, skips typer's conversion; numbers do not
    assert cli.main(["gate", "old.jsonl", "new.jsonl", "-m", "chrf", *words]) == 2
    assert told in capsys.readouterr().err


def test_an_option_that_must_be_typed_is_asked_for(capsys):
    assert cli.main(["gate", "old.jsonl", "new.jsonl"]) == 2
    assert "Missing option '--metric'" in capsys.readouterr().err
