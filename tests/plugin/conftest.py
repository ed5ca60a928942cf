"""Tests that are run by pytest inside of tests."""

from importlib.metadata import entry_points

import pytest

_IS_INSTALLED = any(one.value == "nlgauge.plugin.hooks" for one in entry_points(group="pytest11"))
PLUGIN = () if _IS_INSTALLED else ("-p", "nlgauge.plugin.hooks")

TEXTS = """
import random

REFS = [f"On day {i} it rains in the north and the sun shines in the south." for i in range(60)]
BASE = [one.replace("rains", "pours") for one in REFS]

def worse(share):
    rng = random.Random(0)
    return [one.replace("north", "nth") if rng.random() < share else one for one in BASE]
"""


@pytest.fixture
def inside(pytester):
    """A function that runs pytest on `test_outputs.py` with this body, in a process of its own.

    What numpy loads can be loaded once in a process, and pytester would forget it after each run in this one.
    """
    pytester.makeini("[pytest]\nfilterwarnings =\n    ignore::nlgauge.ScoreWarning\n")
    pytester.makepyfile(texts=TEXTS)

    def run(body, *options):
        pytester.makepyfile(test_outputs=f"from texts import *\n{body}")
        return pytester.runpytest_subprocess(*PLUGIN, "-p", "no:cacheprovider", *options)

    return run
