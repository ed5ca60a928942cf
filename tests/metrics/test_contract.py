"""Every metric of the package keeps the contract: its own test file checks it."""

from __future__ import annotations

import runpy
import shutil
from pathlib import Path

import pytest

from nlgauge.metrics.registry import METRICS

HERE = Path(__file__).parent
NO_CONTRACT = {
    "scores": "its numbers come by id from a file: other texts give the same",
    "rated": "a blank text gets the lowest rating of its training, and unrelated texts can fall below",
    "sentinel": "a control of one side: it does not see a blank text of another side, and a blank text is a short one",
}
CLASSES = {entry.target: name for name, entry in reversed(METRICS.entries.items())}


def test_the_test_file_of_a_metric_checks_its_contract():
    """A metric touches one file, one row of the registry, one test file of the same name, and one page."""
    for target in (target for target, name in CLASSES.items() if name not in NO_CONTRACT):
        module, _, kind = target.removeprefix("nlgauge.metrics.").partition(":")
        *room, name = module.split(".")
        path = HERE.joinpath(*room, f"test_{name}.py")
        assert path.exists(), f"{module} has no test file; expected {path}"
        text = path.read_text(encoding="utf-8")
        named = kind in text or f'"{CLASSES[target]}' in text
        assert named and "check_metric(" in text, f"{path} does not call check_metric on {kind}"  # noqa: PT018


ROOT = HERE.parents[1]
RECIPE = ROOT / "recipes" / "tools" / "metrics" / "rows.py"


@pytest.mark.skipif(not RECIPE.exists(), reason="the recipes are not beside the tests")
def test_rows_of_a_new_metric_are_made_of_what_it_says(tmp_path):
    add_rows = runpy.run_path(str(RECIPE))["add_rows"]
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    table = ROOT / "docs" / "metrics.md"
    assert [row for row in table.read_text(encoding="utf-8").splitlines() if "](metrics/ter.md" in row]
    kept = [row for row in table.read_text(encoding="utf-8").splitlines(True) if "metrics/ter.md" not in row]
    (tmp_path / "docs" / "metrics.md").write_text("".join(kept), encoding="utf-8")  # as if ter were new
    assert add_rows(tmp_path) == ["| [`ter`](metrics/ter.md) | edits with shifts per reference word | references |"]
    assert add_rows(tmp_path) == []
    assert "](metrics/ter.md) | edits with shifts" in (tmp_path / "docs" / "metrics.md").read_text(encoding="utf-8")
