"""The score page: every number of the result stands on it, and nothing of the user's is taken for markup."""

from __future__ import annotations

import pytest

pytest.importorskip("jinja2")

from nlgauge.core.errors import InputError
from nlgauge.core.result import Result
from nlgauge.report.kinds.score_page import score_html
from nlgauge.report.pages import write_html


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
        "0.0123 †",
        "undefined",
        "a.jsonl",
        "tokenize:13a",
        "7 of 7 are odd",
    ):
        assert part in page


def test_the_axis_is_round_and_holds_all_intervals_of_a_metric():
    # 27.0 is the lowest end and 32.5 the highest: the axis goes from 26 to 34, so 27 stands at one eighth
    page = score_html(result())
    assert '<span class="axis"><span>26</span><span>34</span></span>' in page
    assert 'x1="12.5%" x2="50.0%" y1="50%"' in page


def test_the_baseline_is_a_dashed_line_through_every_row():
    # the baseline has 31.25: (31.25 - 26) / 8 = 65.6 %
    page = score_html(result())
    assert page.count('class="base" x1="65.6%" x2="65.6%"') == 2
    assert "Dashed: the baseline" in page


def test_values_without_intervals_are_drawn_too():
    plain = [{**row, "low": None, "high": None, "baseline": None} for row in result().rows]
    page = score_html(Result("score", plain, (), result().metrics))
    assert page.count("<circle") == 2  # the third is undefined
    assert "baseline" not in page.partition("</style>")[2]
    assert "95 % interval" not in page


def test_the_page_says_what_it_is():
    page = score_html(result())
    assert "<h1>Scores of 3 systems</h1>" in page
    assert "<title>Scores of 3 systems: bleu, chrf</title>" in page


def test_names_are_escaped():
    page = score_html(result("<script>alert(1)</script>"))
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_a_folder_that_is_missing_is_refused_and_leaves_nothing(tmp_path):
    with pytest.raises(InputError, match="cannot write"):
        write_html(result(), tmp_path / "no" / "page.html")
    assert list(tmp_path.iterdir()) == []
