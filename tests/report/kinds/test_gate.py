"""Verdicts as text, Markdown and a page: the verdict first, items with what is new, every text escaped."""

from __future__ import annotations

import math
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.result import Result
from nlgauge.report.kinds.gate import allowances, change, gate_table, head, junit, power
from nlgauge.report.pages import page
from nlgauge.report.text import render

ROW = {
    "metric": "ter", "verdict": "INCONCLUSIVE", "decides": True, "base": 10.0, "new": 12.0, "delta": -2.0, "low": -5.0,
    "high": 1.0, "allow": 1.0, "alpha": 0.05, "method": "bootstrap-t", "n": 40, "n_changed": 12, "n_clusters": None,
    "n_undefined": 0, "n_left_out": 0, "repeats": 1, "flicker": math.nan, "smallest_drop": 4.5, "items_needed": 800,
    "p_pass": 0.7, "p_fail": 0.2, "reason": "you have 40 items; an allowance of 1 needs about 800",
}  # fmt: skip
ITEM = {
    "metric": "ter", "seg": "<7>", "group": None, "delta": -30.0, "base": 0.0, "new": 30.0, "base_hyp": "it rains <b>",
    "new_hyp": "it pours <b>", "ref": "it rains",
}  # fmt: skip
RESULT = Result(
    "gate",
    [ROW, {**ROW, "metric": "chrf", "decides": False, "low": math.nan, "n_clusters": 20}],
    metrics=[{"spec": "ter", "signature": "metric:ter", "higher_is_better": False},
             {"spec": "chrf", "signature": "metric:chrf", "higher_is_better": True}],
    verdict="INCONCLUSIVE",
    reasons=["ter: you have 40 items; an allowance of 1 needs about 800"],
    items=[ITEM],
)  # fmt: skip


def test_the_text_says_the_verdict_then_why_then_what_can_be_seen():
    text = render(RESULT)
    places = [text.index(part) for part in ("INCONCLUSIVE: too few", "needs about 800", "40 items can show drops")]
    assert places == sorted(places)
    assert "  <7>  -30.000  it [pours] <b>" in text
    assert "ter↓" in text


def test_the_table_shows_bounds_clusters_and_what_only_is_reported():
    table = gate_table(RESULT)
    assert table.body[0][4] == "-2.000 [-5.000, +1.000]"
    assert (table.body[0][5], table.body[0][8]) == ("-1", "-4.500")  # one sign: below 0 is worse
    assert table.body[1][1] == "(INCONCLUSIVE, only reported)"
    assert table.body[1][6] == "40 in 20 groups"
    assert change({**ROW, "low": math.nan}) == "-2.000 [, +1.000]"
    assert change({**ROW, "low": math.nan, "high": math.nan}) == "-2.000"


def test_a_text_that_was_written_anew_stands_beside_the_old_one():
    anew = {**ITEM, "base_hyp": "it rains", "new_hyp": "I cannot help with that."}
    assert "  <7>  -30.000  it rains → I cannot help with that." in render(replace(RESULT, items=[anew]))


def test_markdown_is_for_a_pull_request():
    text = render(RESULT, "markdown")
    assert "| ter↓ | INCONCLUSIVE | 10.000 |" in text
    assert "it [pours] \\<b>" in text


def test_the_page_escapes_texts_and_marks_what_is_new():
    html = page(RESULT)
    assert "<mark>pours</mark>" in html
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
    assert 'class="verdict INCONCLUSIVE"' in html


@pytest.mark.parametrize("verdict", ["PASS", "FAIL", "INCONCLUSIVE"])
def test_every_verdict_has_its_words(verdict):
    assert head(replace(RESULT, verdict=verdict)).startswith(f"{verdict}: ")


def test_nothing_can_be_said_of_what_was_not_tested():
    unknown = {**ROW, "smallest_drop": math.nan}
    assert power(replace(RESULT, rows=[{**unknown, "method": "betting"}])) == ""
    few = {**unknown, "metric": "few", "method": "worst-case"}
    assert power(replace(RESULT, rows=[ROW, few])).endswith(
        "from 4.5 by ter on, with probability .8. No drop is seen with probability .8 by few: too few items differ from"
        " the rest."
    )
    grouped = {**unknown, "method": "t", "n_clusters": 2}  # all 40 items may differ, each in its way
    assert power(replace(RESULT, rows=[grouped])).endswith("by ter: there are too few groups.")


# --- Verdicts as JUnit XML: well-formed, whatever the texts are, with one test per metric


def cases(*rows):
    root = ElementTree.fromstring(junit(replace(RESULT, rows=rows)))
    return root, {case.get("name"): [child.tag for child in case] for case in root.iter("testcase")}


def test_each_verdict_has_its_element():
    rows = [{**ROW, "metric": v, "verdict": v} for v in ("PASS", "FAIL", "INCONCLUSIVE")]
    root, found = cases(*rows, {**ROW, "metric": "told", "decides": False})
    assert found == {"PASS": ["system-out"], "FAIL": ["failure"], "INCONCLUSIVE": ["error"], "told": ["skipped"]}
    assert {name: root.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "4",
        "failures": "1",
        "errors": "1",
        "skipped": "1",
    }


def test_where_no_metric_decides_no_test_is_only_skipped():
    root, found = cases({**ROW, "metric": "length_ratio", "decides": False})
    assert (found, root.get("errors"), root.get("skipped")) == ({"length_ratio": ["error"]}, "1", "0")


@pytest.mark.parametrize(
    ("said", "element", "count"), [("pass", "skipped", "skipped"), ("fail", "failure", "failures")]
)
def test_inconclusive_is_what_the_exit_code_says(said, element, count):
    root = ElementTree.fromstring(junit(replace(RESULT, rows=[{**ROW, "verdict": "INCONCLUSIVE"}]), said))
    assert [child.tag for child in root.find(".//testcase")] == [element]
    assert (root.get(count), root.get("errors")) == ("1", "0")


def test_signs_and_control_characters_do_no_harm():
    root, found = cases({**ROW, "metric": 'a<"b">&\x00', "verdict": "FAIL", "reason": "]]> <x> & \x1b[0m"})
    assert [*found] == ['a<"b">&\ufffd']
    assert "<x> &" in root.find(".//failure").text


def test_other_results_have_no_verdict():
    with pytest.raises(InputError, match="kind 'score' has no verdict"):
        junit(Result("score", []))


def test_runs_that_fail_by_another_rule_or_move_as_a_whole_have_no_allowance():
    plain = {
        "metric": "a",
        "decides": True,
        "fail_otherwise": 0.0,
        "q_p": 0.5,
        "allow_few_fail": 0.0,
        "allow_most_pass": 2.0,
    }
    whole = {**plain, "metric": "the whole gate", "fail_otherwise": None, "q_p": None}

    def said(*rows):
        return [*allowances(Result("gate", [*rows, whole]))]

    assert said(plain) == [
        "FAIL comes in fewer than one of twenty pairs from --allow a=0 on",
        "PASS in nineteen of twenty from --allow a=2 on",
    ]
    assert said(plain, {**plain, "metric": "shown", "decides": False}) == said(plain)
    assert said({**plain, "fail_otherwise": 1.0}) == [
        "a: 100% of pairs FAIL by another rule than that of the mean (a missing score, --allow-item, --min-pass),"
        " which no --allow changes"
    ]
    (moved,) = said({**plain, "q_p": 0.01, "pairs": 20, "pairs_fail": 7, "pairs_pass": 6})
    assert moved.endswith("; of 20 pairs of runs 7 FAIL and 6 PASS")
    assert all(
        line.endswith("(each by itself; of all together fewer pass)") for line in said(plain, {**plain, "metric": "b"})
    )
