"""The table of verbs: it says of each what the verb itself says, and only the verb that is typed is imported."""

import errno
import inspect
import io
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from select import select

import numpy as np
import pytest
import typer
from tests.cli.command import write

import nlgauge as ng
from nlgauge.cli import main as cli
from nlgauge.cli.main import (
    INNER,
    TRAIN,
    VERBS,
    _is_file,
    _is_metric,
    as_typed,
    echo,
    group_of,
    left_of,
    main,
    spread,
    typed,
)
from nlgauge.core.result import Result
from nlgauge.core.spec import quote
from nlgauge.metrics.stored import Stored
from nlgauge.runtime import cache
from nlgauge.runtime.cache import ScoreCache

pty = pytest.importorskip("pty")  # not on Windows


ROOT = Path(__file__).parent.parent.parent


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("name", "verb"), [*VERBS.items(), *INNER.items(), *TRAIN.items()])
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


@pytest.mark.usefixtures("files")
def test_help_imports_no_verb_and_nothing_of_results():
    homes = {verb.home.partition(":")[0] for verb in VERBS.values()}
    assert not imported("--help") & {*homes, "nlgauge.core.result", "nlgauge.core.metric"}


@pytest.mark.usefixtures("files")
def test_a_verb_imports_no_other():
    loaded = imported("score", "--help")
    assert "nlgauge.cli.score" in loaded
    assert not any(name.startswith(("nlgauge.metaeval.", "nlgauge.audits.", "nlgauge.cli.meta")) for name in loaded)


@pytest.mark.usefixtures("files")
def test_groups_may_stand_in_groups(capsys):
    app = group_of({"inner": VERBS["train"]}, help="Outer.")
    typer.main.get_command(app).main(args=["inner", "--help"], standalone_mode=False)
    assert "baseline" in capsys.readouterr().out


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("typed", "left"),
    [
        ("score data.jsonl -m chrf", "nothing was written"),
        ("-V", "nothing was written"),
        ("perturb data.jsonl -p typos -o x.jsonl", "nothing was written"),
        ("synth texts -o triples.jsonl", "the same command goes on where this one stopped"),
        ("train sescore triples.jsonl -o x.safetensors", "the same command goes on where this one stopped"),
        ("train baseline texts -o x.csv", "nothing was written"),
    ],
)
def test_an_interrupted_command_says_what_is_left_of_it(monkeypatch, typed, left):
    monkeypatch.setattr(cache, "_kept", 0)  # other tests in this process have stored some
    assert left_of(typed.split()).startswith(left)


def test_an_interrupted_command_says_what_was_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "_kept", 0)
    full = tmp_path / "file"
    full.write_text("")
    told = []
    for path, left in (
        (full / "c", "nothing was written"),
        (tmp_path / "c", "2 scores of models are in the cache, and"),
    ):
        ScoreCache(path, optional=True, tell=told.append).put("s", ["x"], [b"a", b"b"], np.ones((2, 1)))
        assert left_of(["score", "data.jsonl", "-m", "bertscore"]).startswith(left)
        assert left_of(["perturb", "data.jsonl"]) == "nothing was written"
    assert len(told) == 1  # the one cache that cannot be written


FLAGS = {**dict.fromkeys(("-i", "--hyp", "-r", "--ref"), _is_file), "-m": _is_metric}
EXAMPLES = {
    f"{group}{name}": verb.example
    for group, verbs in (("", VERBS), ("", INNER), ("train ", TRAIN))
    for name, verb in verbs.items()
}


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.txt", "b.txt", "r0", "r1", "data.jsonl"):
        (tmp_path / name).write_text("x\n")


@pytest.mark.usefixtures("files")
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


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("verb", [verb for verb in EXAMPLES if verb != "train"])
def test_the_help_of_a_verb_names_no_type_and_ends_in_an_example(capsys, monkeypatch, verb):
    text = helped(capsys, monkeypatch, verb)
    assert not re.search("<[a-z]", text)
    assert "[[" not in text
    assert text.endswith(f"Example:\n  {EXAMPLES[verb]}\n")
    (page,) = re.findall(r"^Page of the documentation:\n  ([a-z_/]+)$", text, flags=re.M)
    assert page == f"reference/verbs/{verb.split()[0]}"
    docs = ROOT / "docs"
    assert not docs.is_dir() or f"nlgauge {verb}" in (docs / f"{page}.md").read_text(encoding="utf-8")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("verb", ["score", "train beer"])
def test_the_help_has_the_first_line_of_a_verb_and_its_page_the_others(capsys, monkeypatch, verb):
    about = TRAIN[verb.split()[-1]] if verb.startswith("train ") else {**VERBS, **INNER}[verb]
    first, _, others = inspect.getdoc(about.load()).partition("\n\n")
    text = " ".join(helped(capsys, monkeypatch, verb).split())
    assert first in text
    assert " ".join(others.split())[:40] not in text


@pytest.mark.usefixtures("files")
def test_the_help_shows_choices_and_takes_the_width_of_the_terminal(capsys, monkeypatch):
    wide = helped(capsys, monkeypatch, "meta", 150)
    assert "--adjust none|holm|bh" in wide
    assert "--intervals auto|fisher|bootstrap|none" in wide
    assert max(map(len, wide.splitlines())) > 110
    assert max(map(len, helped(capsys, monkeypatch, "list", 90).splitlines())) <= 90


@pytest.mark.usefixtures("files")
def test_many_options_stand_under_headings(capsys, monkeypatch):
    text = helped(capsys, monkeypatch, "score")
    heads = ["Arguments", "Input", "Metrics", "Tests", "Output", "Scale", "Options"]
    assert re.findall(r"^([A-Z]\w+):$", text, flags=re.M)[:-1] == heads
    parts = dict(re.findall(r"^(\w+):\n(.*?)(?=^\S|\Z)", text, flags=re.M | re.S))
    for head, option in zip(heads[1:], ("--hyp", "--metric", "--pairs", "--json", "--engine", "--device"), strict=True):
        assert option in parts[head]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("typed", ["--install-completion bash --help", "--help --show-completion"])
def test_help_beside_completion_installs_nothing(capsys, monkeypatch, typed):
    monkeypatch.setattr("typer.completion.install", lambda **_: pytest.fail("installed"))
    assert cli.main(typed.split()) == 0
    assert capsys.readouterr().out.startswith("Usage: nlgauge [OPTIONS] COMMAND")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("verb", [verb for verb in EXAMPLES if verb != "train"])
def test_examples_are_read_without_an_error(verb):
    """Words of the command line, not what they do: that costs time, and pages show most of it."""
    program, *words = shlex.split(EXAMPLES[verb])
    assert program == "nlgauge"
    group = typer.main.get_command(cli.app)
    for _ in [verb] if verb in INNER else verb.split():
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


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("nlgauge s", ["score", "select", "sweep", "synth"]),
        ("nlgauge score --sign", ["--significance"]),
        ("nlgauge score -m bertsc", ["bertscore"]),
        ("nlgauge score --significance ", ["bootstrap", "randomization"]),
        ("nlgauge meta x.jsonl --adjust h", ["holm"]),
        ("nlgauge list p", ["perturbations"]),
    ],
)
def test_the_shell_completes_verbs_options_metrics_and_choices(capsys, monkeypatch, line, words):
    assert completed(capsys, monkeypatch, line) == words


@pytest.mark.usefixtures("files")
def test_completion_runs_no_module_of_the_folder(capsys, monkeypatch, tmp_path):
    (tmp_path / "trap.py").write_text("raise SystemExit('imported')\n")
    assert completed(capsys, monkeypatch, "nlgauge score -m trap:Metric --sign") == ["--significance"]


@pytest.mark.usefixtures("files")
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


@pytest.mark.usefixtures("files")
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


@pytest.mark.usefixtures("files")
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
NOT_FOR_LINES = {f"nlgauge.{name}" for name in ("io.wmt.mtme", "io.spans", "io.write", "report.figures")}


@pytest.mark.usefixtures("files")
def test_scoring_a_plain_file_imports_no_more_than_it_needs():
    loaded = loaded_by("score", "examples/weather.jsonl", "-m", "bleu", "--no-cache")
    assert "gc=True" in loaded  # __main__ stops it while modules are imported
    assert "nlgauge.metrics.guards" in loaded
    assert loaded & {*NOT_FOR_WORDS, *NOT_FOR_LINES, "rapidfuzz", "scipy", "nlgauge.stats"} == set()
    assert "nlgauge.scoring.thresholds" not in loaded


@pytest.mark.usefixtures("files")
def test_a_gate_imports_no_more_than_it_needs():
    weather = "examples/weather.jsonl"
    systems = ("--base-system", "template", "--new-system", "careless")
    loaded = loaded_by("gate", weather, weather, *systems, "-m", "chrf", "--no-cache")
    assert "nlgauge.stats.gates" in loaded
    unused = {*NOT_FOR_WORDS, *NOT_FOR_LINES, "rapidfuzz"}
    assert loaded & unused == set()


@pytest.mark.usefixtures("files")
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
    assert cli.main(["score", "old.jsonl", "-m", "chrf", *words]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.usefixtures("files")
def test_an_option_that_must_be_typed_is_asked_for(capsys):
    assert cli.main(["gate", "old.jsonl", "new.jsonl"]) == 2
    assert "Missing option '--metric'" in capsys.readouterr().err


def test_what_is_listed_is_no_command(capsys):
    assert cli.main(["metrics"]) == 2
    assert capsys.readouterr().err == "nlgauge: no such command 'metrics'; it is 'nlgauge list metrics'\n"


# --- What reaches a terminal, seen through a pseudo-terminal: a pipe would hide it

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
    ran = in_ascii(tmp_path, *words, "--json", "r.json", "--html", "page.html", "--segments", "rows.tsv")
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert "schön" in ran.stdout.decode()
    for file in ("r.json", "page.html", "rows.tsv"):
        assert "schön" in (tmp_path / file).read_text(encoding="utf-8")


def test_where_a_result_is_kept_is_no_part_of_its_command():
    with typed(["meta", "d", "--json", "a.json", "-q", "--html=b.html", "--no-cache", "--cache", "c", "--seed", "1"]):
        assert as_typed(Result("meta", [])).command == "nlgauge meta d --seed 1"


# --- The command itself: light to start, one line for a mistake, its own exit codes


def test_version(capsys):
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"nlgauge {ng.__version__}\n"


def test_help_names_every_verb(capsys):
    assert cli.main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(verb in out for verb in ("score", "align", "train", "list", "doctor"))


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


@pytest.mark.skipif(os.name != "posix", reason="folders of POSIX")
@pytest.mark.parametrize("words", [["--json=~/s.json"], ["--json", "~/s.json"]])
def test_a_path_at_home_is_one_where_no_shell_says_so(monkeypatch, tmp_path, capsys, words):
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "x.jsonl", [{"hyp": "a ~/b", "ref": "a c"}])
    assert cli.main(["score", "x.jsonl", "-m", "chrf", *words]) == 0
    assert os.listdir(tmp_path / "home") == ["s.json"]
    assert str(tmp_path) not in json.loads((tmp_path / "home" / "s.json").read_text())["command"]


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


def no_room(error, wrapped_by=None):
    """A reader that has no memory; what it raises may be told in other words by whoever called it."""

    def fail(*_, **__):
        try:
            raise error
        except Exception as caught:
            if wrapped_by is None:
                raise
            raise wrapped_by("weights are not readable") from caught

    return fail


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (MemoryError(), "out of memory; "),
        (MemoryError("Unable to allocate 8 EiB\nfor x"), "out of memory (Unable to allocate 8 EiB); "),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "out of memory ([Errno 12] Cannot allocate memory); "),
        (
            RuntimeError("unable to mmap 9 bytes from file <x>: Cannot allocate memory (12)"),
            "out of memory (unable to ",
        ),
        (RuntimeError("CUDA out of memory. Tried to allocate 2 GiB."), "out of memory (CUDA out of memory. Tried to "),
        (RuntimeError("[enforce fail at alloc_cpu.cpp] DefaultCPUAllocator: can't allocate memory"), "out of memory ("),
        (ImportError("libtorch_cpu.so: failed to map segment from shared object"), "out of memory (libtorch_cpu.so"),
    ],
)
@pytest.mark.parametrize("wrapped_by", [None, ng.InputError])
def test_out_of_memory_is_one_line_and_exit_2(monkeypatch, capsys, error, told, wrapped_by):
    monkeypatch.setattr("nlgauge.io.read.open_data", no_room(error, wrapped_by))
    assert cli.main(["score", "x.jsonl"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith(f"nlgauge: {told}")
    assert err.endswith("or take fewer texts at a time or a smaller model\n")


def test_a_file_whose_name_speaks_of_memory_is_not_memory(capsys):
    assert cli.main(["score", "out of memory.jsonl"]) == 2
    assert "ulimit" not in capsys.readouterr().err


def test_a_reader_that_goes_away_is_no_error():
    with subprocess.Popen(
        [sys.executable, "-m", "nlgauge", "list", "metrics"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as command:
        command.stdout.close()  # before the first line comes
        assert command.stderr.read() == b""
    assert command.returncode == 0


@pytest.mark.parametrize("arguments", ["list metrics", "--help"])
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
        ("score x.jsonl --significance bootstrap:compat=nonsense", "compat is 'nonsense'; known: sacrebleu"),
        ("score x.jsonl --segments out.xls", "out.xls: cannot tell what to write from the name"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_is_read(capsys, arguments, message):
    assert cli.main(arguments.split()) == 2  # there is no x.jsonl
    assert capsys.readouterr().err.startswith(f"nlgauge: {message}")
