"""Meta-evaluation: what stands in its tables and on its page, in which order, and what is marked."""

from dataclasses import replace

import pytest

from nlgauge.core.result import Result
from nlgauge.report.kinds.meta import criteria_tables, meta_html, official_tables, triangles, value_tables
from nlgauge.report.kinds.select import KIND as SELECT
from nlgauge.report.text import render

pytest.importorskip("jinja2")


NAN = float("nan")


def row(metric, value, group="mean", criterion="q", stat="pearson", level="segment", **more):
    about = {"metric": metric, "criterion": criterion, "level": level, "averaging": "none", "stat": stat}
    known = {"low": NAN, "high": NAN, "n_used": 9, "n_undefined": 0, "ties": None, "chance": 0.0, "raw": value}
    return {**about, "group": group, "value": value, **known, **more}


def versus_row(metric, against, p, value, **more):
    about = {"metric": metric, "criterion": "q", "level": "segment", "stat": "pearson", "group": "mean", "value": value}
    test = {"against": against, "p": p, "p_adjusted": None, "test": "perm_both", "alternative": "greater"}
    return {**about, **test, **more}


def test_one_group_is_one_column_with_interval_and_count():
    rows = [row("m", 0.51234, group="g", low=0.4, high=0.6, n_used=30), row("m", 0.51234, low=0.4, high=0.6, n_used=1)]
    (table,) = value_tables(Result("meta", rows))
    assert table.header == ("metric", "pearson", "n")
    assert table.body == (("m", "0.512 [0.400, 0.600]", "30"),)
    assert table.title == "pearson with q: level segment, averaging none, g"


def test_intervals_can_be_left_out():
    rows = [row("m", 0.5, group="g", low=0.4, high=0.6), row("m", 0.5)]
    assert value_tables(Result("meta", rows), digits=2, intervals=False)[0].body == (("m", "0.50", "9"),)


def test_several_groups_are_columns_with_their_mean():
    rows = [row("m", 0.2, group="g"), row("m", 0.4, group="h"), row("m", 0.3)]
    (table,) = value_tables(Result("meta", rows), 1)
    assert table.header == ("metric", "g", "h", "mean")
    assert table.body == (("m", "0.2", "0.4", "0.3"),)


def test_several_criteria_are_columns():
    rows = [row("m", v, group=g, criterion=c) for c, v in (("a", 0.1), ("b", 0.2)) for g in ("g", "mean")] + [
        row("m", 0.15, criterion="mean")
    ]
    (table,) = value_tables(Result("meta", rows), 2)
    assert table.header == ("metric", "a", "b", "mean")
    assert table.title.startswith("pearson with 2 criteria")


def test_each_statistic_and_level_has_its_table():
    rows = [row("m", 0.1, stat=s, level=lv) for s in ("pearson", "auc") for lv in ("segment", "item")]
    assert len(value_tables(Result("meta", [*rows, *[{**r, "group": None} for r in rows]]))) == 4


def test_chance_and_ties_are_shown_where_they_matter():
    rows = [row("m", 0.6, group=g, stat="acc_eq", chance=0.4321, ties="loss") for g in (None, "mean")]
    (table,) = value_tables(Result("meta", rows))
    assert table.header == ("metric", "acc_eq", "chance", "n")
    assert table.body[0][2] == "0.432"
    assert "ties loss" in table.title


def test_tested_metrics_stand_by_rank_and_the_best_are_marked():
    rows = [
        row("worse", 0.2, group="g", rank=2, not_outperformed=False),
        row("worse", 0.2, rank=2, not_outperformed=False),
        row("better", 0.5, group="g", rank=1, not_outperformed=True),
        row("better", 0.5, rank=1, not_outperformed=True),
        row("lost", NAN, group="g", rank=None, not_outperformed=False),
        row("lost", NAN, rank=None, not_outperformed=False),
    ]
    (table,) = value_tables(Result("meta", rows))
    assert [line[0] for line in table.body] == ["better", "worse", "lost"]
    assert [line[2] for line in table.body] == ["1", "2", "-"]
    assert table.marked == {(0, 1)}
    assert "0.500*" in table.text()
    assert table.text().endswith(  # where no notes are printed, too
        "rank: a new rank begins where every metric above is significantly better than every metric below"
    )


def test_a_triangle_holds_p_of_the_better_against_the_others():
    rows = [row("a", 0.1), row("b", 0.5), row("c", 0.3)]
    rows += [versus_row("b", "c", 0.2, 0.5), versus_row("b", "a", 0.01, 0.5), versus_row("c", "a", 0.04, 0.3)]
    rows += [versus_row("a", "b", 0.99, 0.1), versus_row("a", "c", 0.96, 0.1), versus_row("c", "b", 0.8, 0.3)]
    (table,) = triangles(Result("meta", rows))
    assert table.header == ("", "c", "a")
    assert table.body == (("b", "0.200", "0.010"), ("c", "", "0.040"))
    assert table.marked == {(0, 2), (1, 2)}
    assert table.title == "p of row better than column: pearson with q, level segment, perm_both"


def test_adjusted_p_values_are_shown_in_place_of_raw_ones():
    rows = [versus_row("b", "a", 0.01, 0.5, p_adjusted=0.2), versus_row("a", "b", 0.99, 0.1, p_adjusted=1.0)]
    (table,) = triangles(Result("meta", rows))
    assert table.body == (("b", "0.200"),)
    assert "adjusted" in table.title


def test_power_stands_beside_what_was_not_found():
    rows = [versus_row("b", "a", 0.3, 0.5, power=0.156), versus_row("a", "b", 0.9, 0.1)]
    assert triangles(Result("meta", rows))[0].body == (("b", "0.300 (power 0.16)"),)


def test_without_a_test_of_the_mean_every_group_has_its_triangle():
    rows = [
        versus_row(m, o, p, v, group=g)
        for g in ("g", "h")
        for m, o, p, v in (("b", "a", 0.01, 0.5), ("a", "b", 0.9, 0.1))
    ]
    assert [", g," in t.title or ", h," in t.title for t in triangles(Result("meta", rows))] == [True, True]


def test_criteria_stand_against_each_other_with_shares_of_strong_pairs():
    values = {("a", "b"): 0.25, ("a", "c"): 0.4, ("b", "c"): NAN}
    rows = [
        {"metric": f"human.{one}", "criterion": other, "level": "item", "stat": "pearson", "group": "mean", "value": v}
        for (first, second), v in values.items()
        for one, other in ((first, second), (second, first))
    ]
    (table,) = criteria_tables(Result("meta", [row("m", 0.5), *rows]), 2)
    assert (
        table.title
        == "pearson of criteria with each other: level item; 50% of the pairs below 0.3, 50% to 0.5, 0% above"
    )
    assert table.body == (
        ("a", "1.00", "0.25", "0.40"),
        ("b", "0.25", "1.00", "undefined"),
        ("c", "0.40", "undefined", "1.00"),
    )
    assert [line[0] for line in value_tables(Result("meta", [row("m", 0.5, group="g"), *rows]))[0].body] == ["m"]


def test_groups_that_were_tested_have_their_triangle_and_the_mean_comes_last():
    rows = [
        versus_row(m, o, p, v, group=g)
        for g in ("g", "mean", "h")
        for m, o, p, v in (("b", "a", 0.01, 0.5), ("a", "b", 0.9, 0.1))
    ]
    titles = [table.title for table in triangles(Result("meta", rows))]
    assert [title.split(", ")[2] for title in titles] == ["g", "h", "mean of groups"]
    alone = [row for row in rows if row["group"] in ("g", "mean")]
    assert len(triangles(Result("meta", alone))) == 1  # the mean of one group repeats it


def test_groups_of_several_criteria_have_tables_of_their_own():
    rows = [row("m", 0.5, group=g, criterion=c) for c in ("a", "b") for g in ("g", "h", "mean")]
    headers = [table.header for table in value_tables(Result("meta", rows))]
    assert headers == [("metric", "a", "b"), ("metric", "g", "h", "mean"), ("metric", "g", "h", "mean")]


def test_undefined_values_are_counted_where_there_are_some():
    rows = [row("m", 0.5, group=g, n_undefined=3) for g in ("g", "mean")]
    assert value_tables(Result("meta", rows))[0].header == ("metric", "pearson", "n", "undefined")


# --- The page of a meta-evaluation: every number stands on it, and no text of the user's is taken for markup


def judged(metric, value, group="mean", **more):
    """A row of values as `meta --level item` has it."""
    about = {"criterion": "adequacy", "level": "item", "averaging": "item", "stat": "acc_eq", "chance": 0.4321}
    known = {"low": value - 0.1, "high": value + 0.1, "n_used": 12, "n_undefined": 1}
    return row(metric, value, group, **{**about, **known, **more})


def versus(metric, against, p, value):
    about = {"criterion": "adequacy", "level": "item", "stat": "acc_eq", "test": "item_swap", "delta": 0.1}
    return versus_row(metric, against, p, value, **about)


def result(name="chrf"):
    rows = [
        judged(name, 0.5123, "en-de", rank=2, not_outperformed=False),
        judged(name, 0.6001, "zh-en"),
        judged(name, 0.5562, rank=2, not_outperformed=False),
        judged("bleu", 0.7, "en-de"),
        judged("bleu", NAN, "zh-en", low=NAN, high=NAN),
        judged("bleu", 0.7777, rank=1, not_outperformed=True),
        versus("bleu", name, 0.0123, 0.7777),
        versus(name, "bleu", 0.9877, 0.5562),
    ]
    metrics = [{"spec": n, "signature": f"metric:{n}|beta:2", "higher_is_better": True} for n in (name, "bleu")]
    return Result("meta", rows, [{"path": "a.jsonl", "sha256": "ab" * 32}], metrics, ["3 of 9 are odd"])


@pytest.mark.parametrize(
    "part",
    [
        *("acc_eq with adequacy", "level item", "chance 0.432", "0.512", "0.600", "0.556", "0.456 to 0.656"),
        *("<strong>0.778</strong>", "0.012 *", "undefined", "a.jsonl", "beta:2", "3 of 9 are odd"),
        "p of row better than column: acc_eq with adequacy, level item, item_swap; * p &lt; 0.05",
    ],
)
def test_every_number_of_the_result_is_on_the_page(part):
    assert part in meta_html(result())


def test_without_tests_the_best_is_first_too_and_there_is_no_triangle():
    plain = Result("meta", [r for r in result().rows if "against" not in r], (), result().metrics)
    page = meta_html(plain)
    assert page.index("0.778") < page.index("0.556")
    assert "row better than column" not in page


def test_ranks_and_bold_are_explained_where_they_stand():
    page = meta_html(result())
    assert "Rank: a new rank begins where" in page
    assert "Bold: no other metric is significantly better" in page
    plain = [{k: v for k, v in r.items() if k not in ("rank", "not_outperformed")} for r in result().rows]
    page = meta_html(Result("meta", [r for r in plain if "against" not in r], (), result().metrics))
    assert "Rank" not in page
    assert "Bold" not in page


def test_several_criteria_have_a_summary_first_then_one_order_and_one_axis():
    # means over criteria: bleu (0.1 + 0.5) / 2 = 0.3, chrf (0.2 + 0.2) / 2 = 0.2
    values = {("chrf", "adequacy"): 0.2, ("chrf", "fluency"): 0.2, ("bleu", "adequacy"): 0.1, ("bleu", "fluency"): 0.5}
    rows = [judged(metric, value, criterion=name) for (metric, name), value in values.items()]
    rows = [{**r, "group": group} for r in rows for group in (None, "mean")]
    rows += [
        judged(metric, value, criterion="mean", low=None, high=None, n_used=n)
        for metric, value, n in (("chrf", 0.2, 2), ("bleu", 0.3, 1))
    ]
    page = meta_html(Result("meta", rows, (), result().metrics)).partition("</style>")[2]
    summary, adequacy, fluency = page.split("<h2>")[1:4]
    assert summary.startswith("Summary")
    assert "mean of 2" in summary
    assert "<small>of 1</small>" in summary  # one of the two is missing
    assert "0.100 to 0.300" in summary
    assert "The mean has no interval" in summary
    for part in (summary, adequacy, fluency):
        assert part.index("<bdi>bleu") < part.index("<bdi>chrf")
    ends = '<span class="axis"><span>0</span><span>0.6</span></span>'  # of 0.0 to 0.6, in both
    assert ends in adequacy
    assert ends in fluency


def test_a_choice_of_models_says_which_way_is_better_and_draws_chance():
    about = {"criterion": "adequacy", "level": "system", "averaging": "none", "low": None, "high": None}
    rest = {"pool": 20, "simulated": None, "draws": None, "n_tied": 0, "ties": "expected"}
    rows = [
        judged(metric, value, group, stat=stat, chance=chance, n_used=200, **about) | rest
        for stat, chance, values in (("mrr", 0.2, (0.3, 0.5)), ("diff", 0.8, (0.6, 0.4)))
        for metric, value in zip(("chrf", "bleu"), values, strict=True)
        for group in ("g", "mean")
    ]
    page = SELECT.page(Result("select", rows, (), result().metrics)).partition("</style>")[2]
    mrr, diff = page.split("<h2>")[1:3]
    assert "higher is better" in mrr
    assert "lower is better" in diff
    for part in (mrr, diff):
        assert part.index("<bdi>bleu") < part.index("<bdi>chrf")  # better on both
        assert part.count('class="base"') == 2
        assert "Dashed: chance" in part


def test_one_group_counts_its_segments():
    rows = [judged("m", 0.5, "g", n_used=345), judged("m", 0.5, n_used=1)]
    page = meta_html(Result("meta", rows, (), [{"spec": "m", "signature": "m", "higher_is_better": True}]))
    assert "345" in page
    assert ">n<" in page


def test_a_result_without_any_value_is_a_page_too():
    nothing = judged("m", NAN, low=NAN, high=NAN, chance=NAN)
    page = meta_html(
        Result(
            "meta",
            [{**nothing, "group": None}, nothing],
            (),
            [{"spec": "m", "signature": "m", "higher_is_better": False}],
        )
    )
    assert "undefined" in page
    assert "lower is better" in page


def criteria():
    """Two metrics and two criteria, and the criteria with each other as `--criteria` adds them."""
    rest = dict.fromkeys(("averaging", "low", "high", "n_used", "n_undefined", "ties"))
    between = {"level": "item", "stat": "acc_eq", "group": "mean", **rest}
    values = {
        ("chrf", "adequacy"): 0.21,
        ("chrf", "fluency"): -0.32,
        ("bleu", "adequacy"): 0.43,
        ("bleu", "fluency"): NAN,
    }
    rows = [judged(metric, value, criterion=name) for (metric, name), value in values.items()]
    rows += [{**r, "group": "g"} for r in rows]
    rows.append(judged("chrf", 0.54, criterion="mean"))
    rows += [
        {"metric": f"human.{a}", "criterion": b, "value": 0.65, **between}
        for a, b in (("adequacy", "fluency"), ("fluency", "adequacy"))
    ]
    return Result("meta", rows, (), result().metrics)


def test_criteria_are_held_against_each_other_and_against_metrics_in_two_maps():
    page = meta_html(criteria())
    each_other, metrics = page.split("<h2>Criteria with each other")[1].split("<h2>Metrics with criteria")
    assert each_other.count(">0.65<") == each_other.count(">1.00<") == 2
    for number in ("0.21", "-0.32", "0.43", "undefined", "0.54"):
        assert f">{number}<" in metrics
    assert page.count("<h2>acc_eq with") == 2  # a criterion is no metric of the tables, and the mean is in the summary


def test_without_a_comparison_of_criteria_there_are_no_maps():
    assert "Criteria with each other" not in meta_html(result())


def test_a_metric_whose_name_begins_like_a_criterion_is_a_metric():
    page = meta_html(result("human.score"))
    assert "Criteria with each other" not in page
    assert "0.556" in page


# --- The table of a shared task: it comes first, and stands for the triangles

TASK_METRICS = [
    {"spec": name, "signature": f"{kind}:{name}", "higher_is_better": True}
    for name, kind in (("chrf", "metric"), ("Good", "scores"), ("Far", "scores"))
]


def of_task(metric, stat, value, task, group="mean", **more):
    known = {"low": None, "high": None, "chance": None, "n_used": 3, "task": task}
    weight = None if task is None else 1.0
    return row(metric, value, group, "mqm", stat, **{"level": "system", **known, "weight": weight, **more})


def shared_task(groups=("de-en",)):
    values = {"chrf": 0.5, "Good": 0.9, "Far": 0.7}
    ranks = {"Good": 1, "Far": 2, "chrf": 2}
    rows = [
        of_task(m, "pearson", v, 1, group=g, rank=ranks[m], not_outperformed=m == "Good")
        for g in (*groups, "mean")
        for m, v in values.items()
    ]
    rows += [of_task(m, "pairwise_accuracy", v - 0.1, 2, group=g) for g in (*groups, "mean") for m, v in values.items()]
    rows += [of_task(m, "pairwise_accuracy", v - 0.2, 2, group="pooled") for m, v in values.items()]
    rows += [of_task(m, "weighted_mean", v / 2, None, level="tasks") for m, v in values.items()]
    rows += [
        of_task(
            a, "pearson", values[a], None, against=b, p=p, p_adjusted=None, test="t", alternative="greater", delta=0.1
        )
        for a, b, p in (("Good", "Far", 0.01), ("Far", "chrf", 0.3), ("Good", "chrf", 0.001))
    ]
    return Result("meta", rows, [], TASK_METRICS, (), {})


def test_metrics_by_task_and_how_firm_their_ranks_are():
    metrics, tasks = official_tables(shared_task())
    assert metrics.title == "official table: metrics against mqm, de-en"
    assert metrics.header == ("metric", "scores", "average", "r sys", "PA sys")
    assert metrics.body == (
        ("Good", "official", "0.450", "0.900 (1)", "0.700"),  # pooled pairs of systems, not their mean
        ("Far", "official", "0.350", "0.700 (2)", "0.500"),
        ("chrf", "ours", "0.250", "0.500 (2)", "0.300"),
    )
    # of the neighbours Good and Far, Far and chrf, the second two are not told apart
    assert tasks.body == (
        ("r sys", "pearson (system)", "1", "2", "1 of 2"),
        ("PA sys", "pairwise_accuracy (system)", "1", "-", "-"),
    )
    assert official_tables(shared_task(("de-en", "zh-en")))[0].title.endswith("mqm, mean of 2 language pairs")


def test_the_official_table_comes_first_and_stands_for_the_triangles():
    text = render(shared_task(), "text", quiet=True)
    assert text.startswith("official table: metrics against mqm, de-en\n")
    assert "weighted_mean with mqm" not in text
    assert "row better than column" not in text
    assert text.endswith("--format markdown")
    assert "row better than column" in render(shared_task(), "markdown", quiet=True)


def test_the_legend_of_ranks_is_that_of_the_rule():
    greedy = "a metric opens a new rank as soon as one metric of the rank above beats it (p <= alpha), as in WMT's task"
    made = replace(shared_task(), notes=[f"rank: {greedy}"])
    for form in ("text", "latex"):
        shown = render(made, form, quiet=True)
        assert shown.count("a metric opens a new rank") == 1
        assert "every metric above" not in shown
        assert "every metric above is significantly better" in render(shared_task(), form, quiet=True)
    page = meta_html(made)
    assert "every metric above" not in page
    assert "Rank: a metric opens a new rank as soon as" in page
    assert "Rank: a new rank begins where every metric above" in meta_html(shared_task())


def test_the_page_begins_with_the_official_table():
    files = [{"path": f"{i}.score", "sha256": f"{i:064}"} for i in range(69)]
    page = meta_html(replace(shared_task(), inputs=files))
    head, _, rest = page.partition("official table: metrics against mqm")
    assert head.count("<h2") == 1  # its own
    assert "<summary>69 files</summary>" in head
    assert "weighted_mean" not in rest  # the average stands in the table
    assert "By group" not in rest  # de-en and pooled are one group
    assert ">undefined</th>" not in rest


def test_other_results_have_none():
    rows = [{key: cell for key, cell in one.items() if key not in ("task", "weight")} for one in shared_task().rows]
    assert official_tables(Result("meta", rows, [], TASK_METRICS, (), {})) == []
