"""The plugin as pytest sees it: options, baselines in one process and in many, and no cost where nobody asks for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from tests.plugin.conftest import ALONE, PLUGIN

pytest_plugins = ["pytester"]

ONE = """
def test_one(nlgauge):
    assert nlgauge.run(NEW, refs=REFS).no_worse_than("one", metrics=["chrf"], allow=1)
"""
TWO = """
def test_two(nlgauge):
    assert nlgauge.run(NEW[:30], refs=REFS[:30]).no_worse_than("two", metrics=["chrf", "ter"], allow=1)
"""


def test_the_first_run_fails_with_the_command_and_the_update_writes(inside, pytester):
    found = inside(f"NEW = BASE\n{ONE}")
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(
        ["*there is no baseline*one.json yet; write it with: pytest*test_one* --nlgauge-update*"]
    )
    assert not (pytester.path / "__nlgauge__").exists()
    found = inside(f"NEW = BASE\n{ONE}", "--nlgauge-update")
    found.assert_outcomes(passed=1)
    found.stdout.fnmatch_lines(["nlgauge: wrote baseline __nlgauge__*one.json"])
    inside(f"NEW = BASE\n{ONE}").assert_outcomes(passed=1)
    found = inside(f"NEW = worse(.9)\n{ONE}")
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(["*FAIL: the change loses more than is allowed*", "*surely more than*", "*[[]nth]*"])


def test_workers_send_and_the_controller_writes_though_one_crashes(inside, pytester):
    pytest.importorskip("xdist")
    crash = "\ndef test_three():\n    import os\n    os._exit(1)\n"
    found = inside(f"NEW = BASE\n{ONE}{TWO}{crash}", "--nlgauge-update", "-n", "1")
    found.assert_outcomes(passed=2, failed=1)
    found.stdout.fnmatch_lines(["nlgauge: wrote baseline __nlgauge__*one.json"])
    folder = pytester.path / "__nlgauge__"
    assert sorted(path.name for path in folder.iterdir()) == ["one.json", "two.json"]
    assert len(json.loads((folder / "two.json").read_text())["items"]) == 30
    inside(f"NEW = BASE\n{ONE}{TWO}").assert_outcomes(passed=2)


def test_one_name_for_two_tests_is_refused(inside):
    body = "NEW = BASE\n" + ONE + TWO.replace('"two"', '"one"')
    found = inside(body, "--nlgauge-update")
    found.assert_outcomes(passed=1, failed=1)
    found.stdout.fnmatch_lines(["*is the baseline of *test_one, too; give each test its own name*"])


def test_one_name_for_two_tests_on_two_workers_is_refused(inside, pytester):
    pytest.importorskip("xdist")
    pytester.makepyfile(test_other="from texts import *\nNEW = BASE\n" + TWO.replace('"two"', '"one"'))
    found = inside(f"NEW = BASE\n{ONE}", "--nlgauge-update", "-n", "2", "--dist", "loadfile")
    found.assert_outcomes(passed=2)
    assert found.ret != 0
    found.stdout.fnmatch_lines(["*one.json is the baseline of *; give each its own name; no baseline was written*"])
    assert not (pytester.path / "__nlgauge__").exists()


def test_inconclusive_fails_or_warns(inside):
    body = "NEW = worse(.3)\n" + ONE.replace("allow=1", "allow=2")
    inside(f"NEW = BASE\n{ONE}", "--nlgauge-update")
    found = inside(body)
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(["*INCONCLUSIVE: too few items to tell*", "*you have 60 items*"])
    found = inside(body, "--nlgauge-inconclusive=pass")
    found.assert_outcomes(passed=1, warnings=1)
    found.stdout.fnmatch_lines(["*InconclusiveWarning: nlgauge:*", "*INCONCLUSIVE: too few items to tell*"])


def test_an_option_that_is_no_choice_is_refused(inside):
    assert inside(ONE, "--nlgauge-inconclusive=maybe").ret == pytest.ExitCode.USAGE_ERROR


def test_nothing_is_loaded_for_tests_that_do_not_ask(pytester):
    path = pytester.makepyfile("""
        import sys
        def test_nothing():
            assert not {"numpy", "scipy", "torch", "nlgauge.gating"} & set(sys.modules)
    """)
    words = [sys.executable, "-m", "pytest", *PLUGIN, "-p", "no:cacheprovider", path]
    done = subprocess.run(words, capture_output=True, text=True, cwd=pytester.path, env={**os.environ, **ALONE})
    assert "1 passed" in done.stdout


def test_the_module_is_light():
    # Every run of pytest imports it, also where nobody uses it: beside pytest's own modules only these may come.
    code = (
        "import sys, pytest; before = set(sys.modules); import nlgauge.plugin.hooks; print(*set(sys.modules) - before)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    light = {"nlgauge", "nlgauge.core", "nlgauge.core.doors", "nlgauge.plugin", "nlgauge.plugin.hooks"}
    assert set(done.stdout.split()) <= light


def test_the_package_names_the_plugin():
    project = Path(__file__).parents[2] / "pyproject.toml"
    if not project.exists():
        pytest.skip("the project file is not beside the tests")
    entries = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["entry-points"]["pytest11"]
    assert hasattr(import_module(entries["nlgauge"]), "pytest_addoption")
