"""Environments are made, recognised, checked and removed; a script stands in for Python, venv and pip."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import zipfile
from dataclasses import replace

import pytest

import nlgauge as ng
from nlgauge.metrics.external import environments
from nlgauge.metrics.external.environments import Environment, default_folder, recipe_of, recipes
from nlgauge.metrics.registry import METRICS

# Called as `python -I ...`: it makes a folder with itself in it, "installs" by leaving a note, and answers as Python.
PYTHON = """#!/bin/sh
case "$2$3$4" in
*sys.version_info*) echo {version} ;;
-mvenv*) {venv}mkdir -p "$4/bin" && cp "$0" "$4/bin/python" ;;
-mpip*) {pip}echo "$@" > "$(dirname "$0")/../installed" ;;
*) exec {python} "$@" ;;
esac
"""


@pytest.fixture
def base(tmp_path, monkeypatch):
    """A function that writes a script that stands in for Python."""
    toy = replace(recipe_of("comet"), name="comet", imports="json", signed=("numpy",))
    monkeypatch.setattr(environments, "recipes", lambda: {"comet": toy})

    def write(version="3.11", venv="", pip=""):
        path = tmp_path / "python"
        own = shlex.quote(sys.executable)  # which may stand in a folder with a blank
        path.write_text(PYTHON.format(version=version, venv=venv, pip=pip, python=own), encoding="utf-8")
        path.chmod(0o755)
        return str(path)

    return write


@pytest.fixture
def made(base, tmp_path):
    environment = Environment("comet", tmp_path / "envs")
    environment.make(lambda line: None, python=base())
    return environment


def test_what_the_table_says_is_whole():
    for name, recipe in recipes().items():
        kind, _ = METRICS.lookup(recipe.metric)
        assert kind.environment == name
        assert recipe.packages
        assert recipe.troubles
        assert recipe.licence
        assert environments._number(recipe.python[0]) < environments._number(recipe.python[1])
        assert all("==" in package or ">" in package or "<" in package for package in recipe.packages)
        assert any(package.startswith(f"{recipe.signed[0]}==") for package in recipe.packages)  # pinned


def test_an_environment_is_made_and_recognised(base, tmp_path):
    environment, said = Environment("comet", tmp_path / "envs"), []
    assert environment.state == "absent"
    assert environment.make(said.append, python=base(), more=["torch==9"])
    assert said == [
        f"comet: virtual environment in {tmp_path}/envs/comet",
        "comet: pip installs unbabel-comet==2.2.7, setuptools<81, torch>=2,<3, torch==9",
    ]
    assert environment.state == "whole"
    assert environment.ready() == environment.python
    assert environment.versions.keys() == {"numpy"}
    assert (environment.folder / "installed").read_text().endswith("torch>=2,<3 torch==9\n")
    said.clear()
    assert not environment.make(said.append)
    assert said == []


def test_other_requirements_than_those_of_this_release_are_old_and_made_anew(made, base, monkeypatch):
    newer = replace(made.recipe, packages=("unbabel-comet==3",))
    monkeypatch.setattr(environments, "recipes", lambda: {"comet": newer})
    again, said = Environment("comet", made.folder.parent), []
    assert again.state == "old"
    assert again.ready() == made.python  # it serves until it is made anew
    assert again.make(said.append, python=base())
    assert said[0] == f"comet: {made.folder} is old; it is made anew"
    assert again.state == "whole"


LEFT = [
    "",
    *(json.dumps({"state": "making", "process": process}) for process in (0, 99999999, 2**70)),
    '{"state": "whole"}',
    "[" * 5000,
]


@pytest.mark.parametrize("left", LEFT)
def test_one_that_was_left_half_made_is_made_anew(made, base, left):
    (made.folder / "nlgauge.json").write_text(left)
    if "whole" in left:
        made.python.unlink()
    assert made.state == "half made"
    with pytest.raises(ng.InputError, match=r"unbabel-comet needs .* it is half made in .*; run: nlgauge env comet$"):
        made.ready()
    stray = made.folder / "stray"
    stray.touch()
    assert made.make(lambda line: None, python=base())
    assert not stray.exists()
    assert made.state == "whole"


def test_versions_of_another_type_are_none(made):
    for versions in ("a\rb", [1], None, 3):
        (made.folder / "nlgauge.json").write_text(json.dumps({"state": "whole", "versions": versions}))
        assert made.versions == {}


def test_one_that_another_process_makes_is_left_alone(made, base):
    mark = {"state": "making", "process": os.getppid()}
    (made.folder / "nlgauge.json").write_text(json.dumps(mark))
    assert made.state == "being made"
    for action in (lambda: made.make(print, python=base()), made.remove):
        with pytest.raises(ng.InputError, match=rf"^environment comet: process {os.getppid()} makes it; wait until"):
            action()


@pytest.mark.parametrize(
    ("how", "told"),
    [
        (
            {"pip": "echo ERROR: first; echo 'ERROR: No matching distribution found for x'; exit 1; "},
            "pip failed; is the package index within reach?; it said: No matching distribution found for x; all of it"
            " is in {folder}/install.log",
        ),
        (
            {"venv": "echo ensurepip is not available; exit 1; "},
            "venv failed; is the package python3-venv installed?; all of it is in {folder}/install.log",
        ),
    ],
)
def test_a_step_that_fails_is_one_line_and_leaves_it_half_made(base, tmp_path, how, told):
    environment = Environment("comet", tmp_path / "envs")
    with pytest.raises(ng.InputError) as caught:
        environment.make(lambda line: None, python=base(**how))
    assert str(caught.value) == f"environment comet: {told.format(folder=environment.folder)}"
    assert environment.state == "half made"
    assert environment.make(lambda line: None, python=base())


def test_packages_that_cannot_be_imported_are_told(made, monkeypatch):
    made.recipe = replace(made.recipe, imports="no_such_module")
    with pytest.raises(ng.InputError, match=r"^environment comet: the worker failed: ModuleNotFoundError: No module"):
        made.check()
    made.recipe = replace(made.recipe, program="no-such-program")
    with pytest.raises(ng.InputError, match=r"^environment comet needs the program no-such-program, and there is none"):
        made.check()


@pytest.mark.parametrize(
    ("version", "told"),
    [
        ("3.7", r"^environment comet needs Python 3\.9 to 3\.12, .* is 3\.7; name another with --python$"),
        ("3.13", r"needs Python 3\.9 to 3\.12, .* is 3\.13;"),
        ("what", r"^.* cannot be run, expected a Python$"),
    ],
)
def test_a_python_without_the_packages_is_refused(base, tmp_path, version, told):
    with pytest.raises(ng.InputError, match=told):
        Environment("comet", tmp_path / "envs").make(print, python=base(version))
    with pytest.raises(ng.InputError, match="cannot be run, expected a Python"):
        Environment("comet", tmp_path / "envs").make(print, python=str(tmp_path / "none"))
    assert not (tmp_path / "envs").exists()


def test_one_is_removed_and_nothing_else(made, tmp_path):
    made.remove()
    assert not made.folder.exists()
    with pytest.raises(ng.InputError, match=r"^there is no environment 'comet' in "):
        made.remove()
    made.folder.mkdir()
    (made.folder / "thesis.tex").touch()
    with pytest.raises(ng.InputError, match=r"is no environment that nlgauge made; move it away, or name another"):
        made.remove()
    assert (made.folder / "thesis.tex").exists()


def test_one_that_was_removed_in_part_is_not_whole(made, monkeypatch):
    def interrupted(folder):
        raise KeyboardInterrupt

    monkeypatch.setattr(environments.shutil, "rmtree", interrupted)
    with pytest.raises(KeyboardInterrupt):
        made.remove()
    assert made.state == "half made"


def test_unknown_names_get_the_nearest():
    with pytest.raises(ng.InputError, match=r"^unknown environment 'commet'; did you mean 'comet'\?$"):
        Environment("commet")


def test_the_folder_is_the_users(tmp_path, monkeypatch):
    monkeypatch.delenv("NLGAUGE_ENVIRONMENTS", raising=False)
    monkeypatch.setenv("NLGAUGE_CACHE", str(tmp_path))
    assert default_folder() == tmp_path / "environments"
    monkeypatch.setenv("NLGAUGE_ENVIRONMENTS", str(tmp_path / "mine"))
    assert default_folder() == tmp_path / "mine"


@pytest.mark.slow  # a real virtual environment with pip takes seconds
def test_a_real_one_is_made_of_a_package_on_disk(tmp_path, monkeypatch):
    wheel = tmp_path / "toy_metric-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as packed:
        packed.writestr("toy_metric.py", "PACKAGES = ['toy-metric']\ndef score(rows): return [1.0 for _ in rows]\n")
        about = "toy_metric-1.0.dist-info/"
        packed.writestr(about + "METADATA", "Metadata-Version: 2.1\nName: toy-metric\nVersion: 1.0\n")
        packed.writestr(about + "WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        packed.writestr(about + "RECORD", "")
    toy = replace(recipe_of("comet"), packages=(str(wheel),), imports="toy_metric", signed=("toy-metric",))
    toy = replace(toy, name="toy", python=("3.9", "3.99"))
    monkeypatch.setattr(environments, "recipes", lambda: {"toy": toy})
    environment = Environment("toy", tmp_path / "envs")
    assert environment.make(lambda line: None)
    assert environment.versions == {"toy-metric": "1.0"}
    metric = f"external:python={environment.python},module=toy_metric"
    found = ng.score(["a"], ["b"], metrics=metric, runtime=ng.Runtime())[metric]
    assert found.values.tolist() == [1]
    asked = subprocess.run([environment.python, "-I", "-c", "import nlgauge"], capture_output=True, cwd=tmp_path)
    assert asked.returncode != 0  # nothing of ours is in it
