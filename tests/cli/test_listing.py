"""`list` tells what is there, one line each, and one thing in full."""

from __future__ import annotations

import re

import pytest

from nlgauge.audits.suite import KINDS
from nlgauge.cli.main import main
from nlgauge.io.read import FORMATS, TABLES
from nlgauge.io.suites.suites import LAYOUTS
from nlgauge.metrics.registry import METRICS, SUMS
from nlgauge.perturbations.checklist import select_rows
from nlgauge.perturbations.registry import PERTURBATIONS, info


def lines(capsys, *arguments):
    assert main(["list", *arguments]) == 0
    return capsys.readouterr().out.splitlines()


def test_every_metric_has_a_line(capsys):
    head, _, *table = lines(capsys, "metrics")
    assert head.split() == "metric what it is paper tasks needs range better runs with".split()
    by_name = {line.split()[0]: line for line in table if line}
    assert {*METRICS.names(), *SUMS} <= by_name.keys()
    assert re.search(r"references +0 to inf +lower +no model$", by_name["ter"])
    assert by_name["summac"].endswith("the embedded models")
    assert re.search(r"Snover et al\. \(2006\) +mt, d2t +references", by_name["ter"])
    assert re.search(r"Popović \(2015\) +all +references", by_name["chrf"])
    assert re.search(r"source +-1 to 0 +higher +ynie/roberta-large\S+ of the hub$", by_name["paper/nli-r-src"])
    assert by_name["regressor"].endswith("a model of yours")
    assert by_name["scores"].endswith("a file of yours")
    assert by_name["paper/menli-r"].endswith("R3-nli of the hub, roberta-large of the hub")


@pytest.mark.parametrize("name", METRICS.names())
def test_a_metric_that_is_named_is_shown_with_its_options(capsys, name):
    shown = lines(capsys, "metrics", name)
    first, *paper, tasks, needs, options, model = (line for line in shown if not line.startswith(" " * 8))
    told = re.findall(r"^ {8}(\w+): \S", "\n".join(shown), re.MULTILINE)
    # Every option is explained, whether the class itself or one that it is made from says it.
    assert told == [o.partition("=")[0] for o in options.removeprefix("    options ").split(", ") if "=" in o]
    assert first.startswith(f"{name}: ")
    assert [line.startswith("    from ") for line in paper] == [True] * len(paper)
    assert tasks.startswith("    for ")
    assert " is better" in needs
    assert options.startswith("    options ")
    assert model.startswith("    runs with ")


def test_presets_show_what_they_set_and_sums_what_they_are(capsys):
    assert "word_order=2" in lines(capsys, "metrics", "chrf++")[4]
    assert lines(capsys, "metrics", "paper/menli-r") == [f"paper/menli-r: the sum {SUMS['paper/menli-r']}"]


def test_formats(capsys):
    assert main(["list", "formats"]) == 0
    out = capsys.readouterr().out
    named = [line.split()[0] for line in out.splitlines() if line]
    assert set(FORMATS) | set(TABLES) | {"text", "written"} <= set(named)
    assert all(extension in out for extension in (".jsonl", ".tsv", ".csv", ".parquet", ".gz", "--hyp"))


def test_every_perturbation_has_a_line_with_an_example(capsys):
    head, _, *table = lines(capsys, "perturbations")
    assert head.split() == "perturbation what it does a score should be example".split()
    for name in PERTURBATIONS.names():
        before, after = info(name).example
        (line,) = (line for line in table if line.startswith(f"{name} "))
        assert line.endswith(f"{before!r} -> {after!r}")


def test_a_perturbation_that_is_named_is_shown_with_its_options_and_checklists(capsys):
    shown = lines(capsys, "perturbations", "synonyms")
    assert shown[0].startswith("synonyms: ")
    assert shown[1] == "    expect same (a score should stay the same)"
    assert "options pos=any" in shown[2]
    assert shown[3].startswith("        pos: the part of speech.")
    assert "mt/invariance" in shown[-1]


@pytest.mark.parametrize("task", ["mt", "as", "qg", "dg", "ic", "d2t"])
def test_the_checklist_of_a_task_is_listed_by_criterion_with_what_people_take_off(capsys, task):
    assert main(["list", "perturbations", "--task", task]) == 0
    out = capsys.readouterr().out
    for row in select_rows(task):
        assert f"\n  {row.template}: " in out
        assert f": {row.criterion}\n" in out
    assert "people take off " in out


def test_only_the_criterion_that_is_named_is_listed(capsys):
    assert main(["list", "perturbations", "--task", "mt", "--criterion", "fluency"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("machine translation: fluency\n")
    assert "negation" not in out


def test_every_suite_that_is_made_or_read_is_listed(capsys):
    assert main(["list", "suites"]) == 0
    out = capsys.readouterr().out
    for name in (*KINDS, *LAYOUTS):
        assert f"\n  {name} " in out


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["perturbation"], "unknown list 'perturbation'; did you mean 'perturbations'"),
        (["suites", "menli"], "'nlgauge list suites' takes no name; metrics and perturbations do"),
        (["metrics", "blue"], "unknown metric"),
        (["perturbations", "negatoin"], "did you mean 'negation'"),
        (["perturbations", "negation", "--task", "mt"], "list a checklist; negation is shown without them"),
        (["suites", "--task", "mt"], "go with 'nlgauge list perturbations'"),
        (["perturbations", "--criterion", "fluency"], "--criterion needs --task"),
        (["perturbations", "--task", "mtt"], "unknown task 'mtt'; did you mean 'mt'"),
        (["perturbations", "--task", "mt", "--criterion", "fluncy"], "did you mean 'fluency'"),
    ],
)
def test_what_cannot_be_listed_is_one_line(capsys, arguments, part):
    assert main(["list", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert part in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("kind", "own"), [("metrics", "bleu"), ("perturbations", "negation"), ("statistics", "  pearson:")]
)
def test_one_broken_package_is_a_line_and_the_others_are_listed(monkeypatch, capsys, kind, own):
    class Point:
        name = "broken"

        class dist:  # noqa: N801 - as importlib.metadata has it
            name, version = "their-package", "0.3"

        def load(self):
            raise SyntaxError("invalid syntax")

    monkeypatch.setattr(
        "importlib.metadata.entry_points", lambda group: [Point()] if group == f"nlgauge.{kind}" else []
    )
    assert main(["list", kind]) == 0
    out, err = capsys.readouterr()
    assert any(line.startswith(own) for line in out.splitlines())
    assert "broken" not in out
    told = (
        f"nlgauge: {kind[:-1]} 'broken' of their-package 0.3 cannot be loaded (SyntaxError: invalid syntax); repair or"
    )
    assert err == f"{told} uninstall that package\n"


def test_a_broken_metric_that_is_named_ends_with_2(monkeypatch, capsys, tmp_path):
    class Point:
        name = "broken"

        def load(self):
            raise ImportError("no such module")

    monkeypatch.setattr(
        "importlib.metadata.entry_points", lambda group: [Point()] if group == "nlgauge.metrics" else []
    )
    data = tmp_path / "data.jsonl"
    data.write_text('{"hyp": "a", "ref": "a"}\n')
    assert main(["score", str(data), "-m", "broken"]) == 2
    err = capsys.readouterr().err
    assert err.startswith(
        "nlgauge: metric 'broken' of an installed package cannot be loaded (ImportError: no such module)"
    )
    assert err.count("\n") == 1
