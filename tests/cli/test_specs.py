"""What stands behind -m: lists with commas, options from other flags, and functions and classes of one's own."""

from __future__ import annotations

import sys

import pytest
import typer

from nlgauge.cli import specs
from nlgauge.cli.main import main
from nlgauge.core.errors import InputError, SpecError
from nlgauge.metrics.registry import METRICS, metric, own_names

OWN = '''
from dataclasses import dataclass
from typing import ClassVar
import numpy as np
import nlgauge as ng
from nlgauge.core import ids, signature_of


@dataclass(frozen=True, kw_only=True)
class Words:
    """The number of words."""

    least: int = 0
    info: ClassVar = ng.MetricInfo("words-of-mine", needs=set(), range=(0.0, 1e9))

    def score(self, segments, runtime):
        values = np.array([max(len(s.hypothesis.split()), self.least) for s in segments], dtype=float)
        return ng.Scores(signature_of(self, runtime), ids(segments), values)


@dataclass(frozen=True)
class Bleu(Words):
    info: ClassVar = ng.MetricInfo("bleu")


def nothing():
    pass


def chrf(hypothesis):
    return 1


def count(hypothesis, references):
    return len(hypothesis.split())


NUMBER = 1
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(OWN)
    (tmp_path / "broken.py").write_text("x = 1 / 0\n")
    (tmp_path / "leaving.py").write_text("import sys\n\nsys.exit(0)\n")
    (tmp_path / "needy.py").write_text("import nothing_of_that_name\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(METRICS, "entries", dict(METRICS.entries))
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for module in ("mine", "broken", "leaving", "needy"):
        sys.modules.pop(module, None)


def typed(*values):
    context = typer.Context(typer.main.get_command(typer_app()))
    return specs.typed(context, list(values))


def typer_app():
    app = typer.Typer()
    app.command()(lambda: None)
    return app


def test_a_list_with_commas_is_several_metrics():
    assert typed("bleu,chrf:beta=1,word_order=2", "ter") == ["bleu", "chrf:beta=1,word_order=2", "ter"]


def test_a_class_of_ones_own_is_known_by_its_name(folder):
    assert typed("mine:Words", "0.5*words-of-mine + 0.5*bleu") == ["words-of-mine", "0.5*words-of-mine + 0.5*bleu"]
    assert typed("mine:Words:least=3") == ["words-of-mine:least=3"]
    assert metric("words-of-mine:least=3").least == 3


def test_a_function_is_known_by_its_name(folder):
    assert typed("mine:count", "0.5*count + 0.5*bleu", "mine:count:higher_is_better=false") == [
        "count",
        "0.5*count + 0.5*bleu",
        "count:higher_is_better=false",
    ]
    assert metric("count").info.needs == {"references"}
    assert str(metric("count").function) == "mine:count"
    assert own_names() == ["count"]


def test_no_file_of_the_folder_hides_a_library(folder):
    typed("mine:Words")
    assert sys.path[-1] == str(folder)


@pytest.mark.parametrize(
    "spec", ["bleu", "bleu:lowercase=true", "0.5*bleu + 0.5*chrf", "bleu:lowercase", "BLEU:lowercase"]
)
def test_nothing_is_imported_for_a_name_that_is_known_or_has_no_class(folder, spec):
    before = list(sys.path)
    assert typed(spec) == [spec]
    assert sys.path == before


@pytest.mark.parametrize(
    ("spec", "error", "said"),
    [
        ("blue:lowercase", SpecError, r"unknown metric 'blue:lowercase': no module 'blue' .*; did you mean 'bleu'"),
        ("nowhere:count", SpecError, r"no module 'nowhere' is installed or in .* folder; put nowhere.py there"),
        ("mine:x", InputError, r"mine:x: the module has no 'x'; known: Bleu, ClassVar"),
        ("mine:Wrods", InputError, r"mine:Wrods: the module has no 'Wrods'; did you mean 'Words'"),
        ("mine:NUMBER", InputError, r"mine:NUMBER is no metric, expected def NUMBER\(hypothesis, references\), or a"),
        ("mine:nothing", SpecError, r"mine:nothing has no argument 'hypothesis'"),
        ("mine:chrf", SpecError, r"mine:chrf: another metric is called 'chrf'; give the function another name"),
        ("mine:Bleu", InputError, r"mine:Bleu calls itself 'bleu', as another metric does"),
        ("broken:Words", InputError, r"broken:Words cannot be imported: ZeroDivisionError: division by zero"),
        ("leaving:Words", InputError, r"leaving:Words cannot be imported: SystemExit: 0"),
        ("needy:Words", InputError, r"needy:Words cannot be imported: it needs the module 'nothing_of_that_name'"),
    ],
)
def test_what_cannot_be_a_metric_is_refused_in_a_line(folder, spec, error, said):
    with pytest.raises(error, match=said) as refused:
        typed(spec)
    assert "\n" not in str(refused.value)


def test_options_of_another_flag_are_those_of_the_metric():
    lower = {"lowercase": ("-lc", "true")}
    assert specs.with_options(["bleu", "chrf"], "bleu", lower) == ["bleu:lowercase=true", "chrf"]
    assert specs.with_options(["bleu:tokenize=zh"], "bleu", lower) == ["bleu:tokenize=zh,lowercase=true"]
    assert specs.with_options(["bleu:lowercase=true"], "bleu", lower) == ["bleu:lowercase=true"]
    with pytest.raises(InputError, match="bleu:lowercase=false and -lc give two values for lowercase"):
        specs.with_options(["bleu:lowercase=false"], "bleu", lower)
    with pytest.raises(InputError, match="-lc is an option of bleu, which is not among the metrics"):
        specs.with_options(["chrf", "0.5*bleu + 0.5*chrf"], "bleu", lower)


def test_names_of_metrics_are_completed():
    assert specs.complete("chr") == ["chrf", "chrf++"]


def test_other_processes_do_not_know_a_function_and_say_so_before_anything_is_read(folder, capsys):
    (folder / "d.jsonl").write_text('{"hyp": "a", "ref": "b"}\n')
    command = ["score", "d.jsonl", "-m", "mine:count", "-m", "0.5*count + 0.5*chrf", "--engine", "pool", "-o", "run"]
    assert main(command) == 2
    assert capsys.readouterr().err.startswith("nlgauge: count: 'count' is known in this process alone, and --engine")
    assert not (folder / "run").exists()
