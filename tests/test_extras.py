"""What each extra installs: packages that somebody looked at, and no others."""

from __future__ import annotations

import json
import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ALLOWED = {e: set(names.split()) for e, names in json.loads((ROOT / "tests/golden/extras.json").read_text()).items()}
# Extras whose packages the tests run with, so that what these ask for can be read.
INSTALLED = ("neural", "train", "parquet", "frames", "logs", "hf", "polars", "torchmetrics", "dev", "all")


def name(package: str) -> str:
    return re.sub(r"[-_.]+", "-", package).lower()


def brought(requirements: list[str]) -> set[str]:
    """All packages that requirements ask for, directly or not, as the installed ones say."""
    packaging = pytest.importorskip("packaging.requirements")
    todo, seen = [(packaging.Requirement(text), "") for text in requirements], set()
    while todo:
        wanted, extra = todo.pop()
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": extra}):
            continue
        for asked in ("", *sorted(wanted.extras)):
            if (name(wanted.name), asked) not in seen:
                seen.add((name(wanted.name), asked))
                todo += [(packaging.Requirement(text), asked) for text in metadata.requires(wanted.name) or ()]
    return {package for package, _ in seen} - {"nlgauge"}


def extras() -> dict[str, list[str]]:
    project = ROOT / "pyproject.toml"
    if not project.is_file():
        pytest.skip("no checkout")
    found: dict[str, list[str]] = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    return found


def test_every_extra_has_its_list():
    # a new extra, or a new requirement of one: python recipes/tools/extras.py, then read what comes in
    assert ALLOWED.keys() == extras().keys()
    for extra, requirements in extras().items():
        direct = {name(re.split(r"[<>=!~\[ ]", text)[0]) for text in requirements} - {"nlgauge"}
        assert direct <= ALLOWED[extra]


@pytest.mark.parametrize("extra", INSTALLED)
def test_an_extra_brings_only_packages_of_its_list(extra):
    of_gpus = {package for package in brought(extras()[extra]) if package.startswith(("cuda-", "nvidia-", "triton"))}
    assert brought(extras()[extra]) - of_gpus <= ALLOWED[extra]  # torch brings them where it is built for a GPU


def test_no_package_that_was_refused_is_on_a_list():
    # they came with pieces of weights: source archives, and PyMuPDF under the AGPL
    refused = {"aait", "categorit", "gputil", "pymupdf", "spacy", "onnxruntime", "optuna"}
    assert not {extra: names & refused for extra, names in ALLOWED.items() if extra != "spacy" and names & refused}
