"""Every kind of result that has a page gets its own, written whole or not at all."""

import pytest

pytest.importorskip("jinja2")

from nlgauge.core.errors import InputError
from nlgauge.core.result import Result
from nlgauge.report.pages import page, write_html


@pytest.mark.parametrize(
    ("kind", "heading"),
    [
        ("score", "Scores of 0 systems"),
        ("audit", "Errors that this metric does not punish as people do"),
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


def test_a_page_names_files_without_the_folders_of_its_author():
    inputs = [{"path": "/home/ann/private/a.jsonl", "sha256": "ab" * 32}]
    spec = 'scores:file="/home/ann/theirs.tsv",column=ter'
    rows = [{"system": "s", "metric": spec, "value": 1.0, "low": None, "high": None, "n": 1, "n_undefined": 0}]
    metrics = [{"spec": spec, "signature": f"metric:{spec}", "higher_is_better": False}]
    shown = page(Result("score", rows, inputs, metrics, ["read /home/ann/theirs.tsv"]))
    assert "/home" not in shown
    assert "ann" not in shown.replace("annot", "")
    assert "a.jsonl" in shown
    assert "theirs.tsv" in shown
    assert "1.0000" in shown  # rows still belong to their metric
