"""The workflow of `examples/gate`: its commands are run, and its runs end in what they say, for that reason."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.plugin.conftest import ALONE, PLUGIN

from nlgauge.cli.main import main

pytest_plugins = ["pytester"]

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


@pytest.mark.usefixtures("loaded")
@pytest.mark.parametrize("run", matrix(), ids=lambda run: run["verdict"])
def test_each_run_ends_as_it_says(run, pytester, monkeypatch):
    shutil.copytree(EXAMPLE, pytester.path, ignore=shutil.ignore_patterns("__*__"), dirs_exist_ok=True)
    codes = []
    for command in commands(run):
        given, program, words = re.fullmatch(r"((?:\w+=\w+ )*)(\w+)(.*)", command).groups()
        for name, value in [*ALONE.items(), *(pair.split("=") for pair in given.split())]:
            monkeypatch.setenv(name, value)
        if program == "nlgauge":
            codes.append(main(shlex.split(words)))
        elif program == "python":
            codes.append(subprocess.run(["bash", "-c", sys.executable + words]).returncode)
        else:
            done = pytester.runpytest_inprocess(*PLUGIN, "-p", "no:cacheprovider", *shlex.split(words))
            codes.append(done.ret)
    assert WHY[run["verdict"]] in done.stdout.str() or run["verdict"] == "PASS"
    assert codes == [0, 0, CODES[run["verdict"]], 0, 0 if run["verdict"] == "PASS" else 1]
    told = (pytester.path / "gate.md").read_text(encoding="utf-8")
    assert f"{run['verdict']}: " in told
    assert WHY[run["verdict"]] in told


def test_there_is_a_run_for_each_verdict():
    assert [run["verdict"] for run in matrix()] == [*CODES]
