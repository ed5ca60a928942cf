"""The score page: every number of the result stands on it, and nothing of the user's is taken for markup."""

from __future__ import annotations

import pytest

pytest.importorskip("jinja2")

from nlgauge.core.errors import InputError
from nlgauge.core.result import Result
from nlgauge.report.pages import write_html
from nlgauge.report.score import score_html


def result(system: str = "one") -> Result:
    compared = {"metric": "bleu", "n": 7, "baseline": system}
    rows = [
        {
            "system": system,
            **compared,
            "value": 31.25,
            "low": 30.0,
            "high": 32.5,
            "n_undefined": 0,
            "delta": None,
            "p": None,
        },
        {
            "system": "two",
            **compared,
            "value": 28.5,
            "low": 27.0,
            "high": 30.0,
            "n_undefined": 1,
            "delta": -2.75,
            "p": 0.0123,
        },
        {"system": None, "metric": "chrf", "value": float("nan"), "low": None, "high": None, "n": 7, "n_undefined": 7},
    ]
    metrics = [
        {"spec": "bleu", "signature": "metric:bleu|tokenize:13a", "higher_is_better": True},
        {"spec": "chrf", "signature": "metric:chrf", "higher_is_better": True},
    ]
    return Result("score", rows, [{"path": "a.jsonl", "sha256": "ab" * 32}], metrics, ["7 of 7 are odd"])


def test_every_number_of_the_result_is_on_the_page():
    page = score_html(result())
    for part in (
        "31.25",
        "30.00 to 32.50",
        "-2.75",
        "0.0123 *",
        "undefined",
        "a.jsonl",
        "tokenize:13a",
        "7 of 7 are odd",
    ):
        assert part in page


def test_the_axis_spans_all_intervals_of_a_metric():
    # 27.0 is the lowest end and 32.5 the highest: the first starts at the left edge (x = 5), the last ends at the right
    # (x = 215)
    page = score_html(result())
    assert 'x1="5.0"' in page
    assert 'x2="215.0"' in page


def test_names_are_escaped():
    page = score_html(result("<script>alert(1)</script>"))
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_a_folder_that_is_missing_is_refused_and_leaves_nothing(tmp_path):
    with pytest.raises(InputError, match="cannot write"):
        write_html(result(), tmp_path / "no" / "page.html")
    assert list(tmp_path.iterdir()) == []
