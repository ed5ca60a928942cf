"""The pages: their links lead somewhere, their options exist, and the metric of the page on metrics of one's own works when it is installed."""

from __future__ import annotations

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from nlgauge.cli.main import app, main

ROOT = Path(__file__).parent.parent
PAGES = sorted(path for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")] if path.exists())
VERBS = ["score", "align", "perturb", "audit", "meta", "select", "sweep", "synth", "train baseline", "list", "doctor"]

pytestmark = pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="the pages are not beside the tests")


@pytest.fixture(scope="module")
def helps():
    """Verb -> its options, from its help."""
    found = {}
    for verb in VERBS:
        done = subprocess.run(
            [sys.executable, "-m", "nlgauge", *verb.split(), "--help"], capture_output=True, text=True, check=True
        )
        found[verb] = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", done.stdout))
    return found


def test_links_between_pages_lead_somewhere():
    lost = []
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if "://" not in target and not (page.parent / target).exists():
                lost.append(f"{page.relative_to(ROOT)}: {target}")
    assert not lost


def test_options_on_the_page_of_the_command_exist(helps):
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")))
    assert named - set().union(*helps.values()) - {"--version"} == set()


def test_options_of_score_are_on_the_page_of_the_command(helps):
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert {option for option in helps["score"] if not re.search(rf"(?<![\w-]){option}(?![\w-])", page)} <= {"--help"}


def test_verbs_are_on_the_page_of_the_command():
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    names = [command.name for command in app.registered_commands] + [group.name for group in app.registered_groups]
    assert [name for name in names if f"nlgauge {name}" not in page] == []


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A function that runs Python where `pip install` left what the page shows: two modules, and a folder of metadata with the entry points."""
    folder = tmp_path_factory.mktemp("site")
    page = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    metric, perturbation = page.split("# A perturbation of your own")
    (folder / "mypackage").mkdir()
    for part, name, stop in ((metric, "token_f1", "scores ="), (perturbation, "drop_degree", "changed =")):
        lines = ["from dataclasses import dataclass\nfrom typing import ClassVar\n"]
        for example in doctest.DocTestParser().get_examples(part):
            if example.source.startswith(stop):
                break
            lines.append(example.source)
        (folder / "mypackage" / f"{name}.py").write_text("".join(lines), encoding="utf-8")
    metadata = folder / "mypackage-0.1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: mypackage\nVersion: 0.1\n")
    entries = re.findall(r'^\[project\.entry-points\."(.+)"\]\n(.+) = "(.+)"$', page, flags=re.M)
    assert len(entries) == 2
    (metadata / "entry_points.txt").write_text("".join("[{}]\n{} = {}\n".format(*entry) for entry in entries))

    def run(*command):
        environment = {**os.environ, "PYTHONPATH": str(folder)}
        return subprocess.run(
            [sys.executable, *command], capture_output=True, text=True, check=True, env=environment, cwd=folder
        ).stdout

    return run


def test_the_metric_of_the_page_works_when_its_package_is_installed(installed, tmp_path):
    data = tmp_path / "data.jsonl"
    data.write_text('{"hyp": "The cat sat", "ref": "the dog sat"}\n{"hyp": "a", "ref": "a b"}\n')
    # (2/3 + 2/3) / 2 with case folded, (1/3 + 2/3) / 2 as they are
    specs = ["-m", "token-f1", "-m", "token-f1:lowercase=false", "-m", "1*token-f1 + 1*chrf[norm=none]"]
    out = installed("-m", "nlgauge", "score", str(data), *specs, "--score-only")
    assert out.split()[:2] == ["0.6667", "0.5000"]
    assert "token-f1: F1 of words" in installed("-m", "nlgauge", "list", "metrics")
    installed(
        "-c", "import nlgauge.testing, nlgauge; nlgauge.testing.check_metric(nlgauge.metric('token-f1'))"
    )  # registered, as the page says


def test_the_perturbation_of_the_page_works_when_its_package_is_installed(installed):
    code = "import nlgauge; print(nlgauge.perturb('drop_degree:which=all', ['very very cold'])[0].text)"
    assert installed("-c", code) == "cold\n"
    held = "from nlgauge.testing import check_perturbation; from nlgauge.perturbations.registry import perturbation"
    installed("-c", f"{held}; check_perturbation(perturbation('drop_degree'))")


def test_the_refusal_on_the_page_of_the_command_is_what_it_says(capsys):
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    command, said, code = re.search(r"^\$ nlgauge (.+)\n(.+)\n\$ echo \$\?\n(\d)$", page, flags=re.M).groups()
    assert main(command.split()) == int(code)
    assert capsys.readouterr().err == f"{said}\n"
