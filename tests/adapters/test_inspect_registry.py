"""The entry point by which inspect_ai finds the scorer: it names this module, which registers it."""

from __future__ import annotations

import importlib
import tomllib
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


@pytest.mark.skipif(not PROJECT.is_file(), reason="no checkout")
def test_the_entry_point_names_a_module_that_registers_the_scorer():
    points = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["entry-points"]["inspect_ai"]
    assert points == {"nlgauge": "nlgauge.adapters.inspect_registry"}
    pytest.importorskip("inspect_ai")
    from inspect_ai._util.registry import registry_lookup

    importlib.import_module(points["nlgauge"])
    # the package stands before the name where nlgauge is installed, and not in a bare checkout
    assert registry_lookup("scorer", "nlgauge/nlgauge") or registry_lookup("scorer", "nlgauge")
