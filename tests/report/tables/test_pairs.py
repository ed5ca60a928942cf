"""Triangles of p-values: the order of the systems, the adjusted p, the marks."""

from __future__ import annotations

from nlgauge.core.result import Result
from nlgauge.report.tables.pairs import pair_tables
from nlgauge.report.tables.score import score_only, score_table


def value(system, metric="bleu"):
    return {"system": system, "metric": metric, "value": 1.0, "low": None, "high": None, "n": 2, "n_undefined": 0}


def pair(system, other, p, adjusted):
    test = {"delta": 1.0, "p": p, "p_adjusted": adjusted, "test": "paired_bootstrap"}
    return {**value(system), "against": other, **test}


def test_each_pair_stands_once_with_its_adjusted_p():
    rows = [value("a"), value("b"), value("c"), pair("a", "b", 0.01, 0.03), pair("a", "c", 0.02, 0.06)]
    (table,) = pair_tables(Result("score", [*rows, pair("b", "c", 0.5, 0.5)]))
    assert table.title == "p of bleu: row and column differ, paired bootstrap, adjusted"
    assert table.header == ("", "b", "c")
    assert table.body == (("a", "0.0300", "0.0600"), ("b", "", "0.5000"))
    assert table.marked == {(0, 1)}


def test_p_values_that_were_not_adjusted_are_shown_as_they_are():
    (table,) = pair_tables(Result("score", [value("a"), value("b"), pair("a", "b", 0.01, None)]))
    assert table.title == "p of bleu: row and column differ, paired bootstrap"
    assert table.body == (("a", "0.0100"),)


def test_scores_without_pairs_have_no_table():
    assert pair_tables(Result("score", [value("a")])) == []


def test_rows_about_pairs_are_no_scores_of_systems():
    rows = [value("a"), value("b"), pair("a", "b", 0.01, None)]
    result = Result("score", rows, (), [{"spec": "bleu", "higher_is_better": True}])
    assert score_only(result, 1) == "1.0\n1.0"
    assert [line[0] for line in score_table(result).body] == ["a", "b"]
