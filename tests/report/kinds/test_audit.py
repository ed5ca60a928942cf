"""Tables of an audit: what stands where, worked on rows written out."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import pytest

from nlgauge.core.result import Result
from nlgauge.report.kinds.audit import audit_html, audit_tables

pytest.importorskip("jinja2")


NAN = math.nan


def share(metric, phenomenon, accuracy, group=None, n=4, ties=0, **more):
    about = {"metric": metric, "phenomenon": phenomenon, "group": group, "n": n, "ties": ties}
    return {**about, "accuracy": accuracy, "low": 0.1, "high": 0.9, **more}


def drop(metric, template, deviation, criterion="fluency", task="mt", **more):
    about = {"metric": metric, "task": task, "criterion": criterion, "template": template, "n": 3}
    known = {"n_not_applicable": 1, "drop": 0.5, "penalty": 0.5 - deviation, "certainty": "high"}
    return {**about, **known, "deviation": deviation, "low": deviation - 0.1, "high": deviation + 0.1, **more}


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


# --- The page of an audit: every number stands on it, and no text of the user's is taken for markup


def preferred(metric, phenomenon, accuracy, group=None, **more):
    known = {"n": 40, "wins": 31, "ties": 2, "losses": 7, "low": accuracy - 0.125, "high": accuracy + 0.125}
    return share(metric, phenomenon, accuracy, group, **{**known, **more})


def deviating(metric, template, deviation, criterion="fluency", **more):
    known = {"n": 33, "n_not_applicable": 17, "certainty": "medium"}
    return drop(metric, template, deviation, criterion, **{**known, **more})


def result(*rows, notes=("something is odd",)):
    metrics = [
        {"spec": m, "signature": f"metric:{m}|beta:2", "higher_is_better": m != "ter"}
        for m in dict.fromkeys(r["metric"] for r in rows)
    ]
    return Result("audit", list(rows), [{"path": "a.jsonl", "sha256": "ab" * 32}], metrics, list(notes))


def case(**more):
    texts = {"reference": "the cat sat", "better": "a cat was sitting", "worse": "the cat sat not"}
    scores = {"score_better": 20.25, "score_worse": 80.5, "margin": -60.25}
    return {"id": "s1/negation", "phenomenon": "negation", **texts, **scores, **more}


def pictures(page):
    return [ElementTree.fromstring("<svg" + part.partition("</svg>")[0] + "</svg>") for part in page.split("<svg")[1:]]


def test_every_number_of_a_checklist_is_on_the_page():
    page = audit_html(result(deviating("chrf", "typos", -0.25), deviating("bleu", "typos", 0.125)))
    numbers = ("-0.250", "+0.125", "-0.350 to -0.150", "0.500", "0.75", ">33<", ">17<", "-0.25", "+0.12")
    assert all(part in page for part in (*numbers, "medium", "task mt"))
    assert 'title="drop 0.50, people 0.75, n 33"' in page
    assert 'title="drop 0.50, people 0.38, n 33"' in page


def test_worst_cases_show_both_texts_with_the_edit_marked():
    page = audit_html(result(preferred("chrf", "negation", 0.5)), {"chrf": [case()], "bleu": []})
    assert "Worst cases of <bdi>chrf</bdi>" in page
    assert "Worst cases of <bdi>bleu</bdi>" not in page
    assert "the cat sat<mark> not</mark>" in page
    assert "a cat was sitting" in page
    assert "20.25" in page
    assert "80.5" in page


def test_a_pair_without_reference_or_scores_is_shown_too():
    page = audit_html(result(preferred("chrf", "x", 0.5)), {"chrf": [case(reference=None, score_better=NAN, worse="")]})
    assert "∅" in page
    assert "undefined" in page


@pytest.mark.parametrize("absent", [NAN, None])
def test_what_is_undefined_is_told(absent):
    gone = {"low": absent, "high": absent}
    page = audit_html(result({**preferred("chrf", "typos", 0.5), "accuracy": absent, **gone}))
    assert "undefined" in page
    assert "nan" not in page
    rows = [
        {**deviating("chrf", "add_nonsense", 0.0), "penalty": absent, "deviation": absent, **gone},
        {**deviating("chrf", "never", 0.0), "n": 0, "drop": absent, "deviation": absent, **gone},
        {**deviating("chrf", "flat", 0.0), "drop": absent, "deviation": absent, **gone},
    ]
    page = audit_html(result(*rows))
    shown = re.findall(r'<td class="number">([^<]*)</td>', page.partition("<details>")[0])
    assert [cell for cell in shown if cell in ("drop 0.50", "–", "undefined")][:3] == ["drop 0.50", "–", "undefined"]
    assert "– It applies to none of the texts." in page
    assert "nan" not in page
    assert "None" not in page


def test_an_audit_without_rows_is_a_page_too():
    assert audit_html(result()).endswith("</html>\n")


def test_bars_are_as_long_as_accuracies_with_a_line_for_each_interval():
    first, second = pictures(audit_html(result(preferred("a", "typos", 0.25), preferred("b", "typos", 0.75))))
    assert [bar.find("rect").get("width") for bar in (first, second)] == ["25.0%", "75.0%"]
    assert sum(line.get("class") is None for line in first.iter("line")) == 1
    assert [line.get("x1") for line in first.iter("line") if line.get("class") == "base"] == ["50.0%"]


def test_a_metric_without_a_phenomenon_leaves_its_place_free():
    assert len(pictures(audit_html(result(preferred("a", "typos", 0.5), preferred("b", "negation", 0.5))))) == 2
    page = audit_html(result(deviating("a", "typos", 0.1), deviating("b", "negation", 0.1)))
    assert page.partition("<details>")[0].count('<td class="number"></td>') == 2


def test_the_number_of_texts_stands_in_every_line():
    page = audit_html(result(deviating("a", "typos", 0.1, n=2), deviating("b", "typos", 0.1, n=40)))
    assert '<td class="number quiet">2/40</td>' in page


def test_a_metric_is_summed_up_by_its_mean_deviation_and_its_mean_distance():
    # deviations -0.3 and +0.5: the mean is (-0.3 + 0.5) / 2 = 0.1, the mean distance (0.3 + 0.5) / 2 = 0.4
    page = audit_html(result(deviating("a", "typos", -0.3), deviating("a", "negation", 0.5)))
    assert ">mean deviation<" in page
    assert ">+0.10</td>" in page
    assert ">0.40</td>" in page


def test_what_the_model_was_trained_on_is_marked_and_so_are_means_over_it():
    page = audit_html(result(deviating("a", "typos", -0.3, trained_on=True), deviating("b", "typos", 0.2)))
    assert "no blind test" in page
    assert page.count("-0.30†") == 2  # the cell and the mean
    assert "+0.20†" not in page
    page = audit_html(result(preferred("a", "typos", 0.5, trained_on=True), preferred("a", "mean-all", 0.5)))
    assert page.count("0.50†") == 2
    assert page.count('class="seen"') == 1
    assert "no blind test" not in audit_html(result(deviating("b", "typos", 0.2)))


def test_colours_are_explained():
    assert 'class="ramp"' in audit_html(result(deviating("a", "typos", -0.3)))
