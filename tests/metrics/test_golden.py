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
# Metrics of words are sums of float64. Models add in float32, in an order that processors and releases of torch choose:
# seven digits through up to six layers leave six. Under 27 settings of ATEN_CPU_CAPABILITY, MKL_ENABLE_INSTRUCTIONS,
# ONEDNN_MAX_CPU_ISA and threads, 6e-7 was seen of probabilities and 2.1e-7 of similarities.
TOLERANCE = 1e-6
# A sum whose terms cancel is as sure as its terms, not as its result: two roundings of float32 (2.4e-7) for each unit.
# Here the terms of the last layer of `sescore` add up to 55 without their signs (seen: 2.5e-6), those of the two
# networks of `rated` to 8.5 and 1.7 (9.4e-7). Logits of `fluency` reach 20 and pass a logarithm (6.1e-6).
WIDER = {"sescore": 55 * 2.4e-7, "rated": 10.2 * 2.4e-7, "fluency": 2e-5}

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
def test_scores_are_those_of_the_release(name, recipe, runtime):
    try:
        found = recipe.scored(name, runtime)
    except MissingExtra as lacking:
        pytest.skip(str(lacking))
    golden, margin = GOLDEN[name], WIDER.get(name, TOLERANCE)
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
