"""Tables: what stands in them, in which order, and what is marked; three forms of one table."""

from nlgauge.core.result import Result
from nlgauge.report.kinds.meta import criteria_tables, triangles, value_tables
from nlgauge.report.table import Table

NAN = float("nan")


def row(metric, value, group="mean", criterion="q", stat="pearson", level="segment", **more):
    base = {
        "metric": metric,
        "criterion": criterion,
        "level": level,
        "averaging": "none",
        "stat": stat,
        "group": group,
        "value": value,
        "low": NAN,
        "high": NAN,
        "n_used": 9,
        "n_undefined": 0,
        "ties": None,
        "chance": 0.0,
        "raw": value,
    }
    return {**base, **more}


def versus_row(metric, against, p, value, **more):
    about = {"metric": metric, "criterion": "q", "level": "segment", "stat": "pearson", "group": "mean", "value": value}
    return {
        **about,
        "against": against,
        "p": p,
        "p_adjusted": None,
        "test": "perm_both",
        "alternative": "greater",
        **more,
    }


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


def test_a_table_reads_in_text():
    table = Table("title", ("metric", "value"), (("m", "0.50"), ("longer", "-0.25")), frozenset({(0, 1)}))
    assert table.text().split("\n") == ["title", "metric   value", "------  ------", "m        0.50*", "longer  -0.25"]


def test_a_table_reads_in_markdown_and_a_bar_in_a_name_is_no_column():
    table = Table("t", ("metric", "value"), (("a|b", "1"),), frozenset({(0, 1)}))
    assert table.markdown().split("\n")[-1] == "| a\\|b | **1** |"


def test_a_table_reads_in_latex_with_its_names_escaped():
    table = Table("", ("metric", "value"), (("chrf:word_order=2", "50 %"),), frozenset({(0, 1)}))
    assert r"chrf:word\_order=2 & \textbf{50 \%} \\" in table.latex()
    assert table.latex().startswith(r"\begin{tabular}{lr}")


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
