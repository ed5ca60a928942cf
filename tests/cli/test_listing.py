"""`list` tells what is there, one line each, and one thing in full."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.cli.command import write

import nlgauge as ng
from nlgauge.audits.suites import KINDS
from nlgauge.cli.main import main
from nlgauge.io.formats import FORMATS
from nlgauge.io.results import result_schema
from nlgauge.io.suites.suites import LAYOUTS
from nlgauge.metrics.registry import METRICS, SUMS
from nlgauge.perturbations.checklist import select_rows
from nlgauge.perturbations.perturb import PERTURBATIONS, info


def lines(capsys, *arguments):
    assert main(["list", *arguments]) == 0
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("width", [80, 120])
def test_every_metric_has_an_entry_with_all_that_is_known_of_it(capsys, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    shown = lines(capsys, "metrics")
    assert max(map(len, shown)) <= width
    by_name: dict[str, str] = {}
    name = ""
    for line in shown[: shown.index("", 5)]:  # an entry begins at the left
        name = line.split()[0] if line and line[0] != " " else name
        by_name[name] = f"{by_name.get(name, '')} {line.removeprefix(name).strip()}".strip()
    assert {*METRICS.names(), *SUMS} <= by_name.keys()
    assert by_name["ter"] == (
        "edits with shifts per reference word mt, d2t; needs references; 0 to inf, lower is better; runs with no model;"
        " Snover et al. (2006)"
    )
    assert by_name["chrf++"] == "= chrf:word_order=2"
    assert by_name["qnist"] == "= qmetric:base=nist; 0 to inf, higher is better"
    assert by_name["paper/nli-d"] == "= nli:model=microsoft/deberta-large-mnli; runs with this model of the hub"
    assert by_name["paper/menli-r"].startswith(f"= {SUMS['paper/menli-r']}; a sum of its paper, in which each term is")
    assert by_name["regressor"].endswith("higher is better; runs with a model of yours")  # and no paper
    assert "runs with Unbabel/wmt22-comet-da of the hub; Rei et al. (2020)" in by_name["comet"]


def test_metrics_are_written_as_json(capsys, tmp_path):
    assert main(["list", "metrics", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["kind"] == "list"
    assert [row["metric"] for row in told["rows"]] == [*METRICS.names(), *SUMS]
    assert main(["list", "metrics", "ter", "--json", str(tmp_path / "ter.json")]) == 0
    (row,) = json.loads((tmp_path / "ter.json").read_text())["rows"]
    assert row == next(row for row in told["rows"] if row["metric"] == "ter")


def test_the_schema_of_results_is_printed_whole_or_by_kind(capsys):
    assert json.loads("\n".join(lines(capsys, "schema"))) == result_schema()
    assert json.loads("\n".join(lines(capsys, "schema", "gate"))) == result_schema("gate")


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
    (line,) = lines(capsys, "metrics", "paper/menli-r")
    assert line.startswith(f"paper/menli-r: {SUMS['paper/menli-r']}; a sum of its paper, in which each term is scaled")


def test_formats(capsys):
    assert main(["list", "formats"]) == 0
    out = capsys.readouterr().out
    named = [line.split()[0] for line in out.splitlines() if line]
    assert {one.name for one in FORMATS.values() if one.name} <= set(named)
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
        (["suites", "menli"], "'nlgauge list suites' takes no name; metrics, perturbations and schema do"),
        (["schema", "compare"], "there is no result of kind 'compare'"),
        (["schema", "--json", "-"], "--json goes with 'nlgauge list metrics'"),
        (["metrics", "blue"], "unknown metric"),
        (["perturbations", "negatoin"], "did you mean 'negation'"),
        (["perturbations", "negation", "--task", "mt"], "list a checklist; negation is shown without them"),
        (["suites", "--task", "mt"], "go with 'nlgauge list perturbations'"),
        (["suites", "--json", "-"], "--json goes with 'nlgauge list metrics'"),
        (["perturbations", "--criterion", "fluency"], "--criterion needs --task"),
        (["perturbations", "--task", "mtt"], "unknown task 'mtt'; did you mean 'mt'"),
        (["perturbations", "--task", "mt", "--criterion", "fluncy"], "did you mean 'fluency'"),
        (["runs"], "which runs? name the folders of 'nlgauge score --engine'"),
        (["metrics", "bleu", "chrf"], "'nlgauge list metrics' shows one in full, and 2 names are given"),
        (["formats", "--total"], "--total goes with 'nlgauge list runs'"),
    ],
)
def test_what_cannot_be_listed_is_one_line(capsys, arguments, part):
    assert main(["list", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert part in err
    assert err.count("\n") == 1


def test_tests_are_listed_for_metrics_and_for_systems(capsys, tmp_path):
    assert main(["list", "statistics"]) == 0
    of_metrics, _, of_systems = capsys.readouterr().out.partition("tests between systems")
    assert "  williams: " in of_metrics
    names = re.findall("^  (paired_[a-z]+): ", of_systems, flags=re.M)
    data = tmp_path / "data.jsonl"
    rows = [{"system": s, "seg": i, "hyp": f"a {i} {s}", "refs": ["a 1"]} for s in "ab" for i in (1, 2)]
    write(data, rows)
    assert [main(["score", str(data), "--significance", name, "-n", "9"]) for name in names] == [0, 0]


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


def test_the_list_of_metrics_says_what_to_begin_with(capsys):
    """Whoever looks for a metric should not have to read two hundred lines to find the one that the pages recommend."""
    assert main(["list", "metrics"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    begin = re.search(
        r"begin with (\S+) beside (\S+), for several translations of one text with (\S+),"
        r" where they are very poor with (\S+), .*"
        r" for summaries with (\S+), and for their facts with (\S+) beside it\.",
        told,
    )
    assert begin is not None
    names = [ng.metric(spec).info.name for spec in begin.groups()]
    assert names == ["rated", "chrf", "gauge-rated", "gauge", "bertscore", "faithful"]
    page = (Path(__file__).parents[2] / "docs" / "guides" / "choose.md").read_text(encoding="utf-8")
    assert [spec for spec in begin.groups() if spec not in page] == []
