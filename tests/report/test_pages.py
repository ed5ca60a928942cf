"""Every kind of result that has a page gets its own, written whole or not at all."""

import pytest

pytest.importorskip("jinja2")

from nlgauge.core.errors import InputError
from nlgauge.core.result import Result
from nlgauge.report.pages import page, write_html


@pytest.mark.parametrize(
    ("kind", "heading"),
    [
        ("score", "Scores"),
        ("audit", "What this metric cannot see"),
        ("meta", "Metrics against people"),
        ("select", "Which model is the best?"),
        ("sweep", "What metrics gain from each other"),
    ],
)
def test_each_kind_has_its_page(kind, heading, tmp_path):
    result = Result(kind, [])
    assert f"<h1>{heading}</h1>" in page(result)
    write_html(result, tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page(result)


def test_a_folder_that_is_missing_is_said(tmp_path):
    with pytest.raises(InputError, match="there is no folder"):
        write_html(Result("score", []), tmp_path / "no" / "page.html")
