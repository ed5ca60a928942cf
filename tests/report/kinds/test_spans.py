"""Marked errors against people as tables and as a page."""

import pytest

from nlgauge.core.result import Result
from nlgauge.report.kinds.spans import span_tables, spans_html
from nlgauge.report.text import render

STATS = ("one_to_one_f1", "character_f1", "segment_f1", "left_clean")


def value(method, stat, number, threshold=None, **more):
    parts = {"precision": 0.2, "recall": 0.4} if stat.endswith("f1") and stat != "segment_f1" else {}
    return {
        "metric": method, "stat": stat, "threshold": threshold, "against": None, "value": number,
        "low": number - 0.1, "high": number + 0.1, "precision": None, "recall": None, **parts, "n": 9, **more,
    }  # fmt: skip


def test(method, other, stat, delta, p):
    return {
        "metric": method, "stat": stat, "threshold": None, "against": other, "value": 0.3, "delta": delta,
        "delta_low": delta - 0.1, "delta_high": delta + 0.1, "p": p, "p_adjusted": None, "alternative": "two-sided",
    }  # fmt: skip


test.__test__ = False  # a row, no test
ROWS = [
    *(value(method, stat, number) for method, number in (("a", 0.3), ("<b>", 0.2)) for stat in STATS),
    *(test("<b>", "a", stat, -0.1, 0.01) for stat in STATS),
    *(test("a", "<b>", stat, 0.1, 0.01) for stat in STATS[:1]),
    *(test("a", "<b>", stat, -0.05, 0.2) for stat in STATS[1:]),
    *(value("a", stat, 0.25, t, n_marks=n) for t, n in ((0.5, 8), (0.75, 4)) for stat in STATS[::3]),
]
METRICS = tuple({"spec": m, "signature": f"marks:{m}", "higher_is_better": True, "flags": {}} for m in ("a", "<b>"))


def test_tables():
    agreement, differences, curve = span_tables(Result("spans", ROWS, metrics=METRICS), 2)
    assert agreement.header == (
        "method", "one to one F", "precision", "recall", "characters F", "segments F", "left clean",
    )  # fmt: skip
    assert agreement.body[0] == ("a", "0.30 [0.20, 0.40]", "0.20", "0.40", *["0.30 [0.20, 0.40]"] * 3)
    assert agreement.title == "errors against those that people marked: 9 texts, 9 of them without an error"
    assert [line[:3] for line in differences.body] == [
        ("a", "<b>", name) for name in ("one to one F", "characters F", "segments F", "left clean")
    ]  # each pair once, the better one first
    assert differences.body[0][3:] == ("+0.10 [+0.00, +0.20]", "0.01")
    assert differences.marked == {(0, 4)}
    assert curve.body == (("0.5", "8", "0.20", "0.40", "0.25", "0.25"), ("0.75", "4", "0.20", "0.40", "0.25", "0.25"))


def test_two_that_are_equal_stand_once():
    rows = [*(test(a, b, stat, 0.0, 1.0) for a, b in ("xy", "yx") for stat in STATS)]
    (differences,) = span_tables(Result("spans", rows))
    assert [line[:2] for line in differences.body] == [("x", "y")] * 4


def test_the_page_draws_precision_over_recall_and_escapes_names():
    pytest.importorskip("jinja2")
    page = spans_html(Result("spans", ROWS, metrics=METRICS))
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert page.count("<svg") == 3  # the curve, and a swatch for each of two methods
    assert "precision over recall" in page
    assert "a from 0.75: precision 0.200, recall 0.400" in page


def test_without_confidences_nothing_is_drawn():
    pytest.importorskip("jinja2")
    rows = [row for row in ROWS if row["threshold"] is None]
    assert "<svg" not in spans_html(Result("spans", rows, metrics=METRICS))


def test_each_form_of_a_paper():
    result = Result("spans", ROWS, metrics=METRICS)
    assert r"0.010\textbf" in render(result, "latex") or r"\textbf{0.010}" in render(result, "latex")
    assert "**0.010**" in render(result, "markdown")
    assert render(result, "tsv").count("\n") == len(ROWS)
