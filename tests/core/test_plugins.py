"""Entry points of third parties: found by group and name; one that is broken is an error of one line."""

from __future__ import annotations

from importlib import metadata

import pytest

from nlgauge.core import plugins
from nlgauge.core.errors import SpecError
from nlgauge.core.plugins import broken_plugin, find_plugin, load_plugin, plugin_names


def point(name, value, group="nlgauge.toys"):
    return metadata.EntryPoint(name=name, value=value, group=group)


@pytest.fixture
def installed(monkeypatch):
    points = [point("fine", "decimal:Decimal"), point("gone", "no_such_module:Thing")]
    monkeypatch.setattr(plugins.metadata, "entry_points", lambda group: points if group == "nlgauge.toys" else [])


def test_names_are_those_of_the_group(installed):
    assert plugin_names("nlgauge.toys") == ["fine", "gone"]
    assert plugin_names("nlgauge.others") == []


def test_a_name_is_found_or_is_not_there(installed):
    from decimal import Decimal

    assert load_plugin(find_plugin("nlgauge.toys", "fine"), "toy") is Decimal
    assert find_plugin("nlgauge.toys", "other") is None


def test_what_cannot_be_imported_is_one_line_with_the_reason(installed):
    with pytest.raises(SpecError) as caught:
        load_plugin(find_plugin("nlgauge.toys", "gone"), "toy")
    assert str(caught.value) == (
        "toy 'gone' of an installed package cannot be loaded (ModuleNotFoundError: No module named 'no_such_module');"
        " repair or uninstall that package"
    )


def test_the_distribution_is_named():
    class Point:
        name = "x"

        class dist:  # noqa: N801 - as importlib.metadata has it
            name, version = "their-package", "1.2"

    assert "toy 'x' of their-package 1.2 is odd" in str(broken_plugin(Point(), "toy", "is odd"))
