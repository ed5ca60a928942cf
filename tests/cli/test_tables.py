"""Table forms: what a cell says and how it is escaped."""

from __future__ import annotations

import pytest

from nlgauge.cli import tables
from nlgauge.core.result import Result


def made(value=12.345, system="a_b & c|d", **more):
    row = {
        "system": system,
        "metric": "bleu",
        "value": value,
        "low": None,
        "high": None,
        "n": 3,
        "n_undefined": 0,
        **more,
    }
    return Result("score", [row], metrics=[{"spec": "bleu", "signature": "metric:bleu", "higher_is_better": True}])


def test_latex_and_markdown_escape_names():
    assert r"a\_b \& c|d & 12.35" in tables.render(made(12.346), "latex", None, True)
    assert r"a_b & c\|d" in tables.render(made(), "markdown", None, True)


def test_digits_follow_the_scale_or_the_width():
    assert tables.score_only(made(0.123456), None) == "0.1235"
    assert tables.score_only(made(12.3456), None) == "12.35"
    assert tables.score_only(made(12.3456), 0) == "12"


def test_undefined_is_said():
    assert tables.score_only(made(float("nan")), None) == "undefined"


@pytest.mark.parametrize(("p", "mark"), [(0.0499, "*"), (0.05, " ")])
def test_the_star_is_below_five_percent(p, mark):
    assert f"p={p:.4f}{mark}" in tables.render(
        made(low=10.0, high=14.0, baseline="z", delta=1.0, p=p), "text", None, False
    )


def test_a_table_wider_than_the_terminal_is_set_metric_by_metric(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    names = ("first-long-name", "second-long-name", "x")
    rows = [
        {"system": "s", "metric": m, "value": 1.0, "low": None, "high": None, "n": 1, "n_undefined": 0} for m in names
    ]
    result = Result(
        "score", rows, metrics=[{"spec": r["metric"], "signature": "", "higher_is_better": True} for r in rows]
    )
    text = tables.render(result, "text", None, True)
    assert text.count("system") == 3
    assert max(map(len, text.splitlines())) <= 40
