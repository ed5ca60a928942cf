"""`list` and `doctor` tell what is there."""

from __future__ import annotations

import pytest

from nlgauge.audits.suite import KINDS
from nlgauge.cli.main import main
from nlgauge.io.formats import FORMATS, TABLES
from nlgauge.io.suites.suites import LAYOUTS
from nlgauge.metrics.registry import METRICS
from nlgauge.perturbations.checklist import select_rows
from nlgauge.perturbations.registry import PERTURBATIONS, info


def test_every_metric_is_listed_with_its_options(capsys):
    assert main(["list", "metrics"]) == 0
    out = capsys.readouterr().out
    for name in METRICS.names():
        assert f"\n{name}: " in f"\n{out}"
    assert "word_order=2" in out  # chrf++ shows what its preset sets
    assert "lower is better" in out


def test_formats(capsys):
    assert main(["list", "formats"]) == 0
    out = capsys.readouterr().out
    named = [line.split()[0] for line in out.splitlines() if line]
    assert set(FORMATS) | set(TABLES) | {"text", "written"} <= set(named)
    assert all(extension in out for extension in (".jsonl", ".tsv", ".csv", ".parquet", ".gz", "--hyp"))


def test_doctor_names_versions_device_and_cache(tmp_path, capsys):
    assert main(["doctor", "--cache", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    for word in ("nlgauge", "sacrebleu", "embedded", "device", "cache"):
        assert word in out
    assert "nothing kept yet" in out


def test_every_perturbation_is_listed_with_an_example(capsys):
    assert main(["list", "perturbations"]) == 0
    out = capsys.readouterr().out
    for name in PERTURBATIONS.names():
        assert f"\n{name}: " in f"\n{out}"
        before, after = info(name).example
        assert f"{before!r} -> {after!r}" in out
    assert "mode=" in out
    assert "mt/adequacy" in out
    assert "expect same (a score should stay the same)" in out


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
