"""The table of verbs: it says of each what the verb itself says, and only the verb that is typed is imported."""

import inspect
import subprocess
import sys

import pytest
import typer

from nlgauge.cli.verbs import TRAIN, VERBS, group_of, left_of


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


def test_help_imports_no_verb():
    homes = {verb.home.partition(":")[0] for verb in VERBS.values()}
    assert not imported("--help") & homes


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
