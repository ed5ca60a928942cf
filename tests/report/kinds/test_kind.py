"""The table of kinds: each has a module that shows it, and every form is there or refused."""

from __future__ import annotations

import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.result import KINDS, Result
from nlgauge.report import page
from nlgauge.report.kinds.kind import Kind, kind_of
from nlgauge.report.text import parts_of, printed, render


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_has_tables_or_a_page_of_its_own(name):
    kind = kind_of(name)
    assert kind.parts or kind.page
    assert bool(kind.page) is not bool(kind.heading)  # what has a page of its own says its heading there


@pytest.mark.parametrize("name", [name for name in KINDS if kind_of(name).parts])
def test_a_result_without_rows_is_shown_too(name):
    pytest.importorskip("jinja2")
    empty = Result(name, [], notes=["a note"])
    assert "a note" in render(empty, "markdown")
    assert "<h1>" in page(empty)
    assert isinstance(printed(empty), str)


def test_what_is_of_no_kind_shows_nothing():
    assert kind_of("list") == Kind()
    listed = Result("list", [{"metric": "bleu"}])
    with pytest.raises(InputError, match="a result of kind 'list' has no tables"):
        render(listed)
    assert printed(listed) == "metric\nbleu"
    (table,) = parts_of(listed)
    assert table.body == (("bleu",),)
