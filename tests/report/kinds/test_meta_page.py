"""The page of a meta-evaluation: every number stands on it, and no text of the user's is taken for markup."""

from __future__ import annotations

import pytest

pytest.importorskip("jinja2")

from nlgauge.core.errors import InputError
from nlgauge.core.result import Result
from nlgauge.report.kinds.meta_page import meta_html, selection_html
from nlgauge.report.pages import write_html

NAN = float("nan")


def row(metric, value, group="mean", **more):
    base = {
        "metric": metric,
        "criterion": "adequacy",
        "level": "item",
        "averaging": "item",
        "stat": "acc_eq",
        "group": group,
        "value": value,
        "low": value - 0.1,
        "high": value + 0.1,
        "n_used": 12,
        "n_undefined": 1,
        "ties": None,
        "chance": 0.4321,
    }
    return {**base, **more}


def versus(metric, against, p, value):
    about = {
        "metric": metric,
        "criterion": "adequacy",
        "level": "item",
        "stat": "acc_eq",
        "group": "mean",
        "value": value,
    }
    return {
        **about,
        "against": against,
        "delta": 0.1,
        "p": p,
        "p_adjusted": None,
        "test": "item_swap",
        "alternative": "greater",
    }


def result(name="chrf"):
    rows = [
        row(name, 0.5123, "en-de", rank=2, not_outperformed=False),
        row(name, 0.6001, "zh-en"),
        row(name, 0.5562, rank=2, not_outperformed=False),
        row("bleu", 0.7, "en-de"),
        row("bleu", NAN, "zh-en", low=NAN, high=NAN),
        row("bleu", 0.7777, rank=1, not_outperformed=True),
        versus("bleu", name, 0.0123, 0.7777),
        versus(name, "bleu", 0.9877, 0.5562),
    ]
    metrics = [{"spec": n, "signature": f"metric:{n}|beta:2", "higher_is_better": True} for n in (name, "bleu")]
    return Result("meta", rows, [{"path": "a.jsonl", "sha256": "ab" * 32}], metrics, ["3 of 9 are odd"])


def test_every_number_of_the_result_is_on_the_page():
    page = meta_html(result())
    parts = (
        "acc_eq with adequacy",
        "level item",
        "chance 0.432",
        "0.512",
        "0.600",
        "0.556",
        "0.456 to 0.656",
        "<strong>0.778</strong>",
        "0.012 *",
    )
    for part in (
        *parts,
        "undefined",
        "a.jsonl",
        "beta:2",
        "3 of 9 are odd",
        "p of row better than column: acc_eq with adequacy, level item, item_swap; * p &lt; 0.05",
    ):
        assert part in page


def test_tested_metrics_stand_with_the_best_first():
    page = meta_html(result())
    assert page.index("0.778") < page.index("0.556")


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
    rows = [row(metric, value, criterion=name) for (metric, name), value in values.items()]
    rows = [{**r, "group": group} for r in rows for group in (None, "mean")]
    rows += [
        row(metric, value, criterion="mean", low=None, high=None, n_used=n)
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
        row(metric, value, group, stat=stat, chance=chance, n_used=200, **about) | rest
        for stat, chance, values in (("mrr", 0.2, (0.3, 0.5)), ("diff", 0.8, (0.6, 0.4)))
        for metric, value in zip(("chrf", "bleu"), values, strict=True)
        for group in ("g", "mean")
    ]
    page = selection_html(Result("select", rows, (), result().metrics)).partition("</style>")[2]
    mrr, diff = page.split("<h2>")[1:3]
    assert "higher is better" in mrr
    assert "lower is better" in diff
    for part in (mrr, diff):
        assert part.index("<bdi>bleu") < part.index("<bdi>chrf")  # better on both
        assert part.count('class="base"') == 2
        assert "Dashed: chance" in part


def test_one_group_counts_its_segments():
    rows = [row("m", 0.5, "g", n_used=345), row("m", 0.5, n_used=1)]
    page = meta_html(Result("meta", rows, (), [{"spec": "m", "signature": "m", "higher_is_better": True}]))
    assert "345" in page
    assert ">n<" in page


def test_names_are_text_and_never_markup():
    page = meta_html(result('<script>alert("x")</script>'))
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_the_page_stands_alone():
    page = meta_html(result())
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "<script" not in page


def test_a_result_without_any_value_is_a_page_too():
    nothing = row("m", NAN, low=NAN, high=NAN, chance=NAN)
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


def test_the_page_is_written_whole_or_not_at_all(tmp_path):
    write_html(result(), tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text(encoding="utf-8").endswith("</html>\n")
    with pytest.raises(InputError, match="there is no folder"):
        write_html(result(), tmp_path / "no" / "r.html")


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
    rows = [row(metric, value, criterion=name) for (metric, name), value in values.items()]
    rows += [{**r, "group": "g"} for r in rows]
    rows.append(row("chrf", 0.54, criterion="mean"))
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
