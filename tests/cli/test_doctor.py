"""`doctor` tells what is installed."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

from nlgauge.cli.main import main
from nlgauge.runtime.cache import ScoreCache


def test_doctor_names_versions_device_and_cache(tmp_path, capsys):
    assert main(["doctor", "--cache", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    for word in ("nlgauge", "sacrebleu", "embedded", "device", "cache"):
        assert word in out
    assert "nothing kept yet" in out


def test_a_cache_that_holds_something_is_counted(tmp_path, capsys):
    ScoreCache(tmp_path / "scores.sqlite").put("signature", ["value"], [b"key"], np.array([[1.0]]))
    assert main(["doctor", "--cache", str(tmp_path)]) == 0
    assert "1 scores, " in capsys.readouterr().out


def test_every_extra_is_shown_with_what_it_brings(tmp_path, capsys):
    project = Path(__file__).parents[2] / "pyproject.toml"
    if not project.is_file():
        pytest.skip("no checkout")
    extras = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert main(["doctor", "--cache", str(tmp_path)]) == 0
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    for extra in extras.keys() - {"all", "dev"}:
        packages = {re.split(r"[<>=\[]", package)[0] for package in extras[extra]} - {"nlgauge"}
        assert [package for package in packages if package not in lines[extra]] == []
