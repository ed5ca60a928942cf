"""Where baselines lie, and how they are written."""

from __future__ import annotations

from pathlib import Path

import pytest

from nlgauge.core.errors import InputError
from nlgauge.plugin.saved import baseline_path, write_all


def test_they_lie_beside_the_test():
    assert baseline_path(Path("tests/test_a.py"), "summaries") == Path("tests/__nlgauge__/summaries.json")


@pytest.mark.parametrize("name", ["test_a[x-1]", "Zusammenfassung_ä", "сводки", "हिन्दी"])
def test_tests_with_parameters_and_letters_of_any_script_have_names(name):
    assert baseline_path(Path("tests/test_a.py"), name) == Path(f"tests/__nlgauge__/{name}.json")


def test_one_name_has_one_file_however_its_letters_are_stored():
    assert baseline_path(Path("a.py"), "a\u0308") == baseline_path(Path("a.py"), "ä")


@pytest.mark.parametrize("name", ["../up", "a/b", "", ".hidden", "a b"])
def test_names_lead_nowhere_else(name):
    with pytest.raises(InputError, match="is no name of a baseline"):
        baseline_path(Path("tests/test_a.py"), name)


def test_folders_are_made(tmp_path):
    write_all({str(tmp_path / "__nlgauge__" / "a.json"): "{}\n"})
    assert (tmp_path / "__nlgauge__" / "a.json").read_text() == "{}\n"
