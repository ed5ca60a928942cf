"""The page of a choice: every link leads to an example on it, and nothing of a user's text is markup."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("jinja2")

from tests.report.kinds.test_choose import RESULT, ROWS

from nlgauge.core.result import Result
from nlgauge.report.bundle.page import bundle_html
from nlgauge.report.kinds.choose_page import choose_html
from nlgauge.report.pages import page

HOSTILE = "</bdi><script>alert(1)</script><img src=x onerror=alert(1)>\"'&"


def ends(html):
    """Where links lead, and the places that have a name."""
    return re.findall(r'href="#([^"]+)"', html), re.findall(r'\bid="([^"]+)"', html)


def test_every_link_leads_to_a_place_and_every_example_is_linked():
    links, places = ends(page(RESULT))
    assert {"choice-e1", "choice-e2", "choice-shares"} == set(places) == set(links)


def test_a_share_links_to_the_example_of_its_metric_and_no_other():
    html = page(RESULT)
    assert '<a href="#choice-e1">0.75</a>' in html  # chrf misses e1, an error of facts
    assert '<a href="#choice-e2">0.25</a>' in html
    assert '<td class="number" title="n 30; your outputs">1.00</td>' in html  # bleu does not


def test_the_change_is_marked_and_both_scores_stand_beside_it():
    html = page(RESULT)
    assert "the <mark>czt</mark>" in html
    assert "<mark>the</mark>" not in html
    assert re.search(r'chrf</bdi></th><td class="number">50</td><td class="number">50.12</td>', html)
    assert "1 metric does not fail here" in html


def test_ratings_and_systems_name_the_two_outputs():
    html = page(RESULT)
    assert "good, rated 4.5" in html
    assert "out-2, rated 2" in html  # a system without a name is called as the output is


def test_nothing_that_users_write_is_markup():
    texts = {"id", "phenomenon", "reference", "original", "better", "worse", "text", "metric", "system_better", "out"}
    rows = [{k: HOSTILE if k in texts and isinstance(v, str) else v for k, v in row.items()} for row in ROWS]
    html = page(Result("choose", rows))
    assert "<script" not in html
    assert "<img" not in html
    assert "alert(1)" in html


def test_a_page_runs_no_script():
    assert "script-src" not in page(RESULT)
    assert "<script" not in page(RESULT)


def test_two_choices_on_one_page_have_places_of_their_own():
    links, places = ends(bundle_html({"one.json": RESULT, "two.json": RESULT}))
    assert len(places) == len(set(places))
    assert set(links) <= set(places)
    assert {"result-1-e1", "result-2-e1"} <= set(links)


def test_a_metric_whose_scores_fall_is_marked():
    metrics = [{"spec": "chrf", "signature": "s", "higher_is_better": False}]
    html = page(Result("choose", ROWS, metrics=metrics))
    assert "chrf ↓" in html
    assert "↓ lower is better." in html
    assert "↓" not in page(RESULT)


def test_a_result_without_rows_has_a_page():
    assert "<h1>Which metric for these texts?</h1>" in choose_html(Result("choose", []))


def test_a_choice_without_examples_has_a_page_without_links():
    rows = [row for row in ROWS if row.get("said") not in ("example", "scores")]
    links, _ = ends(page(Result("choose", rows)))
    assert links == []
