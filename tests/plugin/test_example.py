"""The workflow of `examples/gate`: its commands are run, and its runs end in what they say, for that reason."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.plugin.conftest import PLUGIN

EXAMPLE = Path(__file__).parents[2] / "examples" / "gate"
CODES = {"PASS": 0, "FAIL": 3, "INCONCLUSIVE": 4}
WHY = {"PASS": "lost no more than", "FAIL": "surely more than", "INCONCLUSIVE": "an allowance of 1 needs about"}
pytestmark = pytest.mark.skipif(not EXAMPLE.is_dir(), reason="the examples are not beside the tests")


def matrix():
    text = (EXAMPLE / "workflow.yml").read_text(encoding="utf-8")
    return [dict(re.findall(r"(\w+): (\w+)", line)) for line in re.findall(r"^ +- \{(.+)\}$", text, flags=re.M)]


def commands(run):
    """The commands of one run of the matrix."""
    for line in re.findall(r"^ +- run: (.+)$", (EXAMPLE / "workflow.yml").read_text(encoding="utf-8"), flags=re.M):
        if not line.startswith(("pip ", "cat ")):
            yield re.sub(r"\$\{\{ matrix\.(\w+) \}\}", lambda found: run[found[1]], line)


@pytest.mark.parametrize("run", matrix(), ids=lambda run: run["verdict"])
def test_each_run_ends_as_it_says(run, tmp_path):
    folder = shutil.copytree(EXAMPLE, tmp_path / "gate", ignore=shutil.ignore_patterns("__*__"))
    names = {
        "python": sys.executable,
        "nlgauge": f"{sys.executable} -m nlgauge",
        "pytest": f"{sys.executable} -m pytest",
    }
    codes = {}
    for command in commands(run):
        typed = re.sub(r"\b(python|nlgauge|pytest)(?= )", lambda found: names[found[1]], command + " ", count=1)
        typed += " ".join([*PLUGIN, "-p no:cacheprovider"]) if "pytest" in command else ""
        done = subprocess.run(["bash", "-c", typed], cwd=folder, capture_output=True, text=True, env={**os.environ})
        codes[re.sub(r"^(\w+=\w+ )+", "", command).strip()] = done.returncode
        if "pytest" in command and "update" not in command:
            assert WHY[run["verdict"]] in done.stdout or run["verdict"] == "PASS"
    assert [*codes.values()] == [0, 0, CODES[run["verdict"]], 0, 0 if run["verdict"] == "PASS" else 1], codes
    told = (folder / "gate.md").read_text(encoding="utf-8")
    assert f"{run['verdict']}: " in told
    assert WHY[run["verdict"]] in told


def test_there_is_a_run_for_each_verdict():
    assert [run["verdict"] for run in matrix()] == [*CODES]
