"""The program of the study judges many samples at once, and just as the gate does."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from nlgauge.stats.gates import bound_difference

PROGRAM = Path(__file__).parents[2] / "recipes" / "studies" / "gate.py"
pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="the recipes are not beside the tests")
RNG = np.random.default_rng(0)
TAIL = np.where(RNG.random(500) < 0.3, 0.05 - RNG.exponential(0.2, 500), 0.0)


@pytest.fixture(scope="module")
def study():
    spec = spec_from_file_location("gate_study", PROGRAM)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("kind", ["rate", "items", "same", "clusters"])
@pytest.mark.parametrize("n", [30, 60])
def test_it_decides_as_the_gate_does(study, kind, n):
    rates = RNG.choice([-1.0, 0.0, 1.0], 400, p=[0.2, 0.7, 0.1])
    of = {
        "rate": lambda: study.of_items(rates, True, 1.0),
        "items": lambda: study.of_items(TAIL, False, 2.0),
        "same": lambda: study.of_same(TAIL, 2.0),
        "clusters": lambda: study.of_clusters(TAIL, 2.0),
    }[kind]()
    samples = of.draw(np.random.default_rng(1), 25, n)
    clusters = None if of.cluster == 1 else [i // of.cluster for i in range(n)]
    found = [
        bound_difference(
            one,
            clusters,
            allow=-of.mean,
            is_rate=of.is_rate,
            largest=of.largest,
            most=of.largest,
            draws=study.DRAWS,
            seed=7,
            has_power=False,
        ).verdict
        for one in samples
    ]
    shares = study.gated(samples, -of.mean, of, 7)
    assert shares == (found.count("PASS") / 25, found.count("FAIL") / 25)


def test_repeats_are_means_of_runs(study):
    old, new = np.ones((50, 4)), np.tile([0.0, 0.0, 1.0, 1.0], (50, 1))
    of = study.of_repeats(old, new)
    assert of.mean == -0.5
    assert {*np.unique(np.round(3 * of.draw(np.random.default_rng(0), 5, 40)))} == {-2.0, -1.0}
