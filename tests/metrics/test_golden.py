"""Golden scores of a release: the same numbers under every Python and every version of the libraries it runs with."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from nlgauge.core.errors import MissingExtra, NlgaugeError
from nlgauge.metrics.registry import METRICS, metric
from nlgauge.runtime.runtime import Runtime

ROOT = Path(__file__).parents[2]
RECIPE = ROOT / "recipes" / "golden" / "scores.py"
GOLDEN = json.loads((ROOT / "tests" / "golden" / "scores.json").read_text(encoding="utf-8"))

pytestmark = pytest.mark.skipif(not RECIPE.exists(), reason="the recipes are not beside the tests")


@pytest.fixture(scope="module")
def recipe():
    spec = importlib.util.spec_from_file_location("golden_scores", RECIPE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def runtime():
    return Runtime(device="cpu", dtype="float32")


@pytest.mark.parametrize("name", GOLDEN)
def test_scores_are_those_of_the_release(name, recipe, runtime, rounding):
    try:
        found = recipe.scored(name, runtime)
    except MissingExtra as lacking:
        pytest.skip(str(lacking))
    golden, margin = GOLDEN[name], rounding(name)
    assert found["values"] == pytest.approx(golden["values"], rel=margin, abs=margin)
    assert found["system"] == pytest.approx(golden["system"], rel=margin, abs=margin)


def needs_nothing(name):
    """Whether a metric is made without options, and is no preset of a paper, whose model is on the hub."""
    try:
        metric(name)
    except NlgaugeError:
        return False
    return not name.startswith("paper/")


@pytest.mark.slow  # for the release: metrics come in before their golden scores
def test_every_metric_that_needs_neither_options_nor_a_network_has_golden_scores():
    lacking = {name for name in METRICS.names() if needs_nothing(name)} - GOLDEN.keys()
    assert sorted(lacking) == [], "run python recipes/golden/scores.py"


WITHOUT_TORCH = """
import sys, runpy
sys.modules["torch"] = None
recipe = runpy.run_path(sys.argv[1])
import nlgauge as ng
for name in sys.argv[2:]:
    try:
        recipe["scored"](name, ng.Runtime())
    except ng.MissingExtra:
        pass
"""


@pytest.mark.slow  # every metric in a new process
def test_without_torch_a_metric_is_scored_or_names_the_extra():
    done = subprocess.run([sys.executable, "-c", WITHOUT_TORCH, str(RECIPE), *GOLDEN], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
