"""Tests that are run by pytest inside of tests."""

import sys
from importlib import import_module

import pytest

import nlgauge

# Nothing else that is installed is loaded: Hypothesis and others take a second of each run.
ALONE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
PLUGIN = ("-p", "nlgauge.plugin.hooks")

TEXTS = """
import random

REFS = [f"On day {i} it rains in the north and the sun shines in the south." for i in range(60)]
BASE = [one.replace("rains", "pours") for one in REFS]

def worse(share):
    rng = random.Random(0)
    return [one.replace("north", "nth") if rng.random() < share else one for one in BASE]
"""


@pytest.fixture(scope="session")
def loaded():
    """All that a run inside needs, imported before: numpy can be loaded once, and pytester forgets what a run loads."""
    import_module("nlgauge.plugin.runs")
    nlgauge.gate(["a b"] * 3, ["a c"] * 3, ["a b"] * 3, metrics=["chrf", "ter", "cer"], items="independent")


@pytest.fixture
def inside(pytester, loaded, monkeypatch):
    """A function that runs pytest on `test_outputs.py` with this body; workers of xdist are processes of their own."""
    pytester.makeini("[pytest]\nfilterwarnings =\n    ignore::nlgauge.ScoreWarning\n")
    pytester.makepyfile(texts=TEXTS)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # one file is written several times in a second
    for name, value in ALONE.items():
        monkeypatch.setenv(name, value)

    def run(body, *options):
        pytester.makepyfile(test_outputs=f"from texts import *\n{body}")
        if "-n" in options:
            return pytester.runpytest_subprocess(*PLUGIN, "-p", "xdist.plugin", "-p", "no:cacheprovider", *options)
        return pytester.runpytest_inprocess(*PLUGIN, "-p", "no:cacheprovider", *options)

    return run
