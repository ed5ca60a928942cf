"""Tables of an audit: what stands where, worked on rows written out."""

from __future__ import annotations

import math

import pytest

from nlgauge.core.result import Result
from nlgauge.report.kinds.audit import audit_tables

NAN = math.nan


def share(metric, phenomenon, accuracy, group=None, n=4, ties=0, **more):
    return {
        "metric": metric,
        "phenomenon": phenomenon,
        "group": group,
        "n": n,
        "ties": ties,
        "accuracy": accuracy,
        "low": 0.1,
        "high": 0.9,
        **more,
    }


def drop(metric, template, deviation, criterion="fluency", task="mt", **more):
    row = {
        "metric": metric,
        "task": task,
        "criterion": criterion,
        "template": template,
        "n": 3,
        "n_not_applicable": 1,
        "drop": 0.5,
        "penalty": 0.5 - deviation,
        "deviation": deviation,
        "low": deviation - 0.1,
        "high": deviation + 0.1,
        "certainty": "high",
    }
    return {**row, **more}


def tables(*rows, **options):
    return audit_tables(Result("audit", list(rows)), **options)


def test_accuracies_stand_by_phenomenon_with_means_last():
    rows = [
        share("a", "typos", 0.25),
        share("a", "mean-all", 0.75),
        share("b", "typos", 1.0, ties=2),
        share("b", "negation", 0.5),
    ]
    (table,) = tables(*rows)
    assert table.header == ("phenomenon", "n", "a", "ties", "b", "ties")
    assert table.body == (
        ("typos", "4", "0.250", "0", "1.000", "2"),
        ("negation", "4", "", "", "0.500", "0"),
        ("mean-all", "4", "0.750", "0", "", ""),
    )


def test_a_table_a_group():
    found = tables(share("a", "typos", 0.5, "x"), share("a", "typos", 1.0, "y"), share("a", "typos", 0.75, "all"))
    assert [t.title for t in found] == ["accuracy, group x", "accuracy, group y", "accuracy, group all"]
    assert tables(share("a", "typos", 0.5))[0].title == "accuracy"


def test_metrics_with_pairs_of_their_own_have_counts_of_their_own():
    (table,) = tables(share("a", "typos", 0.5, n=4), share("b", "typos", 0.5, n=7), share("c", "typos", 0.5, n=4))
    assert table.body[0][1] == "4/7"


def test_deviations_stand_by_criterion_and_template():
    rows = [
        drop("a", "typos", -0.25),
        drop("a", "negation", 0.125, "adequacy"),
        drop("b", "typos", 0.0),
        drop("b", "negation", 0.5, "adequacy"),
    ]
    (table,) = tables(*rows)
    assert table.header == ("criterion", "template", "n", "n/a", "people", "a", "b")
    assert table.body[0] == ("fluency", "typos", "3", "1", "0.75", "-0.250", "+0.000")
    assert table.body[1] == ("adequacy", "negation", "3", "1", "0.38", "+0.125", "+0.500")  # 0.375, to even
    assert "task mt" in table.title


def test_a_table_a_task():
    assert len(tables(drop("a", "typos", 0.1), drop("a", "typos", 0.1, task="qg"))) == 2


@pytest.mark.parametrize(
    ("certainty", "shown"), [("high", "0.50"), ("user", "0.50"), ("medium", "0.50~"), ("low", "0.50~")]
)
def test_penalties_that_are_not_certain_bear_a_sign(certainty, shown):
    assert tables(drop("a", "typos", 0.0, certainty=certainty))[0].body[0][4] == shown


def test_without_a_penalty_the_drop_is_shown():
    (table,) = tables(drop("a", "typos", NAN, penalty=NAN, certainty="none", low=NAN, high=NAN))
    assert table.body[0][4:] == ("-", "drop 0.500")


def test_a_row_that_never_applied_is_a_dash_and_one_without_a_number_undefined():
    (never,) = tables(drop("a", "typos", NAN, n=0, drop=NAN, low=NAN, high=NAN, penalty=0.5))
    (undefined,) = tables(drop("a", "typos", NAN, n=2, drop=NAN, low=NAN, high=NAN, penalty=0.5))
    assert (never.body[0][5], undefined.body[0][5]) == ("-", "undefined")
    assert tables(share("a", "typos", NAN, low=NAN, high=NAN))[0].body[0][2] == "undefined"


def test_what_was_read_from_a_file_has_null_for_nan():
    row = {**drop("a", "typos", 0.5), "penalty": None, "deviation": None, "low": None, "high": None}
    assert tables(row, intervals=True)[0].body[0][4:] == ("-", "drop 0.500")
    assert tables(share("a", "typos", None, low=None, high=None), intervals=True)[0].body[0][2] == "undefined"


def test_digits_and_intervals_are_those_asked_for():
    (table,) = tables(share("a", "typos", 0.5), digits=1, intervals=True)
    assert table.body[0][2] == "0.5 [0.1, 0.9]"
    (table,) = tables(drop("a", "typos", -0.25), digits=2, intervals=True)
    assert table.body[0][5] == "-0.25 [-0.35, -0.15]"


def test_no_rows_no_table():
    assert tables() == []


def test_names_with_pipes_and_underscores_survive_markdown_and_latex():
    (table,) = tables(share("a|b_c", "change_names", 0.5))
    assert r"a\|b_c" in table.markdown()
    assert r"change\_names" in table.latex()


def test_statistics_of_a_published_suite_stand_below():
    statistics = [
        {"metric": "a", "statistic": "tau", "part": "omission", "value": 0.25, "low": 0.1, "high": 0.4, "n": 9},
        {"metric": "b", "statistic": "tau", "part": "omission", "value": NAN, "low": NAN, "high": NAN, "n": 9},
        {"metric": "a", "statistic": "ACES-Score", "part": "all", "value": 3.5, "low": NAN, "high": NAN, "n": 9},
    ]
    result = Result("audit", [share("a", "typos", 0.5), share("b", "typos", 0.5)], statistics=statistics)
    _, table = audit_tables(result, intervals=True)
    assert table.header == ("statistic", "part", "n", "a", "b")
    assert table.body == (
        ("tau", "omission", "9", "0.250 [0.100, 0.400]", "undefined"),
        ("ACES-Score", "all", "9", "3.500", ""),
    )


def test_scales_that_differ_stand_in_the_heads():
    # drops of a metric against a copy and between the least and the greatest score cannot be compared
    rows = [drop("chrf", "typos", 0.1, norm="self"), drop("jaccard", "typos", 0.2, norm="minmax")]
    (table,) = tables(*rows)
    assert table.header[-2:] == ("chrf [self]", "jaccard [minmax]")
    assert any("--normalise" in line for line in table.legend)
    (table,) = tables(*({**row, "norm": "minmax"} for row in rows))
    assert table.header[-2:] == ("chrf", "jaccard")
    assert table.legend == ()
