"""Tables of scores: what a cell says, how many digits it has, and what stands beside it."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from nlgauge.core.result import Result
from nlgauge.report.kinds.score import (
    agreement_tables,
    metric_rows,
    pair_tables,
    score_html,
    score_only,
    score_table,
    star_of,
    system_name,
)

pytest.importorskip("jinja2")


METRIC = {"spec": "bleu", "signature": "metric:bleu", "higher_is_better": True}


def made(value=12.345, system="a_b & c|d", **more):
    row = {"system": system, "metric": "bleu", "value": value, "low": None, "high": None, "n": 3, "n_undefined": 0}
    return Result("score", [{**row, **more}], metrics=[METRIC])


def test_latex_and_markdown_escape_names():
    assert r"a\_b \& c\textbar{}d & 12.35" in score_table(made(12.346)).latex()
    assert r"a_b & c\|d" in score_table(made()).markdown()


def test_digits_follow_the_scale_or_the_width():
    assert score_only(made(0.123456)) == "0.1235"
    assert score_only(made(12.3456)) == "12.35"
    assert score_only(made(12.3456), 0) == "12"


def test_digits_follow_the_scale_of_the_metric_where_a_value_is_0():
    def shown(value, *ends):
        return score_only(replace(made(value), metrics=[{**METRIC, "range": list(ends)}]))

    assert [shown(0.0, 0, 100), shown(0.0, 0, None), shown(0.0, 0, 1), shown(-1.7, -2, 1)] == [
        "0.00",
        "0.00",
        "0.0000",
        "-1.7000",
    ]


def test_undefined_is_said():
    assert score_only(made(float("nan"))) == "undefined"


@pytest.mark.parametrize(("p", "mark"), [(0.0499, "*"), (0.05, " ")])
def test_the_star_is_below_five_percent(p, mark):
    table = score_table(made(low=10.0, high=14.0, baseline="z", delta=1.0, p=p))
    assert table.body[0][1] == f"12.35 [10.00, 14.00] p={p:.4f}{mark}"


def test_the_baseline_is_named_and_groups_stand_before_systems():
    table = score_table(made(system="z", baseline="z", group="en-de"))
    assert table.header == ("group", "system", "bleu", "n")
    assert table.body == (("en-de", "z (baseline)", "12.35", "3"),)
    assert table.left == 2


def test_segments_without_a_system_have_a_dash():
    assert (system_name(None), system_name("s")) == ("-", "s")
    assert score_table(made(system=None)).body[0][0] == "-"


def test_a_turned_table_has_a_line_per_metric_and_names_groups_and_systems_above():
    rows = [{**value(system), "group": group} for group in ("de-en", "ru-en") for system in ("A", None)]
    table = metric_rows(score_table(Result("score", rows, metrics=[about("bleu", False)])))
    assert table.header == ("metric", "de-en A", "de-en", "ru-en A", "ru-en")
    assert [line[0] for line in table.body] == ["bleu ↓", "n"]
    assert table.left == 1
    alone = metric_rows(score_table(Result("score", [value(None)], metrics=[about("bleu", True)])))
    assert alone.header == ("metric", "score")


def about(spec, higher_is_better):
    return {"spec": spec, "signature": f"metric:{spec}", "higher_is_better": higher_is_better}


def test_only_the_metrics_asked_for_have_a_column():
    assert score_table(made(), only=[]).header == ("system", "n")


def compared(delta, higher_is_better, p=0.01):
    """A system beside its baseline."""
    base = {"system": "base", "metric": "m", "value": 10.0, "low": None, "high": None, "n": 3, "n_undefined": 0}
    other = {**base, "system": "other", "value": 10 + delta, "delta": delta, "p": p, "baseline": "base"}
    metric = {"spec": "m", "signature": "metric:m", "higher_is_better": higher_is_better}
    return Result("score", [{**base, "baseline": "base"}, other], metrics=[metric])


@pytest.mark.parametrize(
    ("delta", "higher_is_better", "mark"), [(2, True, "*"), (-2, True, "†"), (2, False, "†"), (-2, False, "*")]
)
def test_a_significant_difference_is_marked_by_its_direction(delta, higher_is_better, mark):
    table = score_table(compared(delta, higher_is_better))
    assert table.body[1][1].endswith(f"p=0.0100{mark}")
    assert ("† p < 0.05 against the baseline, and worse" in table.legend) == (mark == "†")
    assert "†" not in score_table(compared(delta, higher_is_better, p=0.2)).text()


@pytest.mark.parametrize("higher_is_better", [True, False])
def test_an_undefined_p_has_no_mark(higher_is_better):
    table = score_table(compared(math.nan, higher_is_better, p=math.nan))
    assert "p=" not in table.body[1][1]
    assert not {"*", "†"} & {line[0] for line in table.legend}
    assert star_of({"p": math.nan, "delta": math.nan}, higher_is_better) == ""


def test_a_metric_of_which_lower_is_better_has_an_arrow():
    table = score_table(compared(2, False))
    assert table.header == ("system", "m ↓", "n")
    assert "↓ lower is better" in table.legend
    assert r"$\downarrow$" in table.latex()
    assert r"\dag{}" in table.latex()
    assert "↓" not in score_table(compared(2, True)).text()


def test_undefined_scores_are_counted_beside_the_value_they_are_left_out_of():
    rows = [
        {"system": name, "metric": "m", "value": value, "low": None, "high": None, "n": 3, "n_undefined": undefined}
        for name, value, undefined in (("a", 0.75, 1), ("b", 0.5, 0), ("c", float("nan"), 3))
    ]
    table = score_table(Result("score", rows, (), [{"spec": "m", "higher_is_better": True, "range": (0.0, 1.0)}]))
    assert [line[1:] for line in table.body] == [("0.7500 (1 undefined)", "3"), ("0.5000", "3"), ("undefined", "3")]


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


@pytest.mark.parametrize(
    ("share", "said"),
    [
        ((0.712, 0.638, 0.773), "71 % [64, 77] of such pairs"),
        ((0.999, 0.96, 1.0), ">99 % [96, >99] of such pairs"),
        ((None, None, None), "more than 2.5: no such pairs seen"),
    ],
)
def test_how_often_people_agree(share, said):
    ends = dict(zip(("agreement", "agreement_low", "agreement_high"), share, strict=True))
    (table,) = agreement_tables(made(baseline="z", delta=3.0, p=0.01, agreement_seen=2.5, **ends))
    assert table.body == (("bleu", "a_b & c|d", "z", "+3.00", said),)
    assert agreement_tables(made(baseline="z", delta=3.0, p=0.01)) == []


def test_too_few_segments_are_said():
    unknown = dict.fromkeys(("agreement", "agreement_low", "agreement_high"))
    (table,) = agreement_tables(made(baseline="z", delta=1.0, p=0.01, agreement_seen=2.5, **unknown))
    assert table.body[0][-1] == "so few segments: none seen"


def scored(spec, *values, ranks=None, group=None):
    rows = [
        {"system": name, "metric": spec, "value": value, "low": None, "high": None, "n": 3, "n_undefined": 0}
        | ({"rank": ranks[i]} if ranks else {})
        | ({"group": group} if group else {})
        for i, (name, value) in enumerate(zip("abc", values, strict=True))
    ]
    return rows


def test_the_best_in_the_direction_of_the_metric_is_marked_and_what_reads_alike_is_too():
    rows = [*scored("bleu", 10.004, 10.001, 9.0), *scored("ter", 50.0, 40.0, float("nan")), *scored("m", 1.0, 1.0, 1.0)]
    metrics = [about("bleu", True), about("ter", False), about("m", True)]
    table = score_table(Result("score", rows, metrics=metrics), best=True)
    assert table.marked == {(0, 1), (1, 1), (1, 2)}  # both show 10.00; nothing is best by m
    assert "| **10.00** | 50.00 |" in table.markdown()
    assert r"\textbf{40.00}" in table.latex()
    assert metric_rows(table).marked == {(0, 1), (0, 2), (1, 2)}
    assert not score_table(Result("score", rows, metrics=metrics)).marked


def test_where_systems_are_ranked_all_of_the_first_rank_are_marked():
    result = Result("score", scored("bleu", 12.0, 11.0, 9.0, ranks=(1, 1, 2)), metrics=[about("bleu", True)])
    table = score_table(result, best=True)
    assert table.marked == {(0, 1), (1, 1)}
    assert table.marked_as == "the first rank: no other system is significantly better"


def test_every_group_has_a_best():
    rows = [*scored("bleu", 1.0, 2.0, 3.0, group="de-en"), *scored("bleu", 3.0, 2.0, 1.0, group="zh-en")]
    table = score_table(Result("score", rows, metrics=[about("bleu", True)]), best=True)
    assert table.marked == {(2, 2), (3, 2)}


def test_what_a_test_does_not_tell_apart_from_the_best_has_a_double_dagger():
    rows = scored("ter", 40.0, 41.0, 50.0, ranks=(1, 1, 3))
    tests = [pair(*names, p, adjusted) for *names, p, adjusted in (("a", "b", 0.04, 0.06), ("a", "c", 0.01, 0.02))]
    tests = [{**row, "metric": "ter"} for row in [*tests, pair("b", "c", 0.5, 0.5)]]
    result = Result("score", [*rows, *tests], metrics=[about("ter", False)])
    table = score_table(result, best=True)
    assert [line[1] for line in table.body] == ["40.00 rank 1", "41.00 rank 1 ‡", "50.00 rank 3"]  # by the adjusted p
    assert table.legend[0] == "‡ not significantly different from the best (p >= 0.05)"
    assert r"\textbf{41.00 rank 1 \ddag{}}" in table.latex()
    assert "‡" not in score_table(result).text()  # what is printed stays as it is
    assert metric_rows(table).body[0][2] == "41.00 rank 1 ‡"


@pytest.mark.parametrize(
    ("delta", "p", "cells"),
    [
        (2, 0.2, ["10.00 ‡", "12.00 p=0.2000"]),  # the baseline ties with the best
        (-2, 0.2, ["10.00", "8.00 p=0.2000 ‡"]),
        (-2, 0.01, ["10.00", "8.00 p=0.0100†"]),
    ],
)
def test_with_a_baseline_only_what_was_tested_against_the_best_can_tie(delta, p, cells):
    table = score_table(compared(delta, True, p), best=True)
    assert [line[1].rstrip() for line in table.body] == cells


# --- The score page: every number of the result stands on it, and nothing of the user's is taken for markup


def result(system: str = "one") -> Result:
    compared = {"metric": "bleu", "n": 7, "baseline": system}
    first = {"value": 31.25, "low": 30.0, "high": 32.5, "n_undefined": 0, "delta": None, "p": None}
    second = {"value": 28.5, "low": 27.0, "high": 30.0, "n_undefined": 1, "delta": -2.75, "p": 0.0123}
    rows = [
        {"system": system, **compared, **first},
        {"system": "two", **compared, **second},
        {"system": None, "metric": "chrf", "value": float("nan"), "low": None, "high": None, "n": 7, "n_undefined": 7},
    ]
    metrics = [
        {"spec": "bleu", "signature": "metric:bleu|tokenize:13a", "higher_is_better": True},
        {"spec": "chrf", "signature": "metric:chrf", "higher_is_better": True},
    ]
    return Result("score", rows, [{"path": "a.jsonl", "sha256": "ab" * 32}], metrics, ["7 of 7 are odd"])


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


def test_what_judges_nothing_gets_no_signs():
    rows = [
        {"system": system, "metric": spec, "value": value, "low": None, "high": None, "n": 9, "n_undefined": 0}
        | ({"baseline": "old", "delta": 1.0, "p": 0.01} if system == "new" else {"baseline": "old"})
        for spec in ("ter", "length")
        for system, value in (("old", 1.0), ("new", 2.0))
    ]
    metrics = [{"spec": spec, "signature": f"metric:{spec}", "higher_is_better": False} for spec in ("ter", "length")]
    result = Result("score", rows, metrics=[metrics[0], {**metrics[1], "judges": False}])
    table = score_table(result, best=True)
    assert table.header == ("system", "ter \u2193", "length", "n")
    assert [line[2].split() for line in table.body] == [["1.00"], ["2.00", "p=0.0100"]]
    assert "\u2020" in table.body[1][1]
    assert table.marked == frozenset({(0, 1)})  # the best by TER alone
    assert "lower is better" not in score_table(replace(result, metrics=result.metrics[1:], rows=rows[2:])).text()
    page = score_html(result)
    assert "neither end is better" in page
    assert "Says nothing here: it describes outputs, and judges none" in page


@pytest.mark.parametrize("by", ["system", "group"])
def test_the_rows_are_gone_through_as_often_however_many_there_are(by):
    class Rows(tuple):
        times = 0

        def __iter__(self):
            Rows.times += 1
            return super().__iter__()

    def times(n):
        others = {"low": 1.0, "high": 2.0, "n": 3, "n_undefined": 0, "metric": "bleu", "p": 0.5, "baseline": "0"}
        rows = [{**others, "system": str(i), "group": None, "value": float(i)} for i in range(n)]
        if by == "group":
            rows = [{**row, "system": str(i % 2), "group": str(i // 2)} for i, row in enumerate(rows)]
        result = Result("score", rows, metrics=[METRIC])
        object.__setattr__(result, "rows", Rows(rows))
        Rows.times = 0
        for lean in (False, True):
            score_table(result, best=True, lean=lean)
        score_only(result)
        pair_tables(result)
        return Rows.times

    assert times(40) == times(4)
