"""A choice as tables, from rows alone."""

from __future__ import annotations

import re

import pytest

from nlgauge.core.result import Result
from nlgauge.report.bundle import bundle_html
from nlgauge.report.kinds.choose import choice_tables, choose_html
from nlgauge.report.pages import page
from nlgauge.report.text import render

pytest.importorskip("jinja2")


STANDING = {"criterion": "standing", "low": 0.5, "high": 0.7, "level": False, "alike": None, "out": None}
EXAMPLE = {
    **{"said": "example", "reference": "a cat", "original": None, "rating_better": None, "rating_worse": None},
    **{"id_better": None, "id_worse": None, "system_better": None, "system_worse": None},
}
PEOPLE = {"rating_better": 4.5, "rating_worse": 2.0, "id_better": "out-1", "id_worse": "out-2", "system_better": "good"}


def scores(example, metric, better, worse, missed=True):
    return {
        **{"said": "scores", "example": example, "metric": metric, "missed": missed},
        **{"score_better": better, "score_worse": worse},
    }


ROWS = [
    {"said": "reason", "text": "Take chrf.", "examples": "e1 e2"},
    {"said": "command", "text": "nlgauge score DATA -m chrf"},
    {"said": "methods", "text": "We report chrf."},
    {"metric": "chrf", **STANDING, "value": 0.6, "chosen": 1, "rank": 1, "seconds": 0.25},
    {**{"metric": "bleu", "value": 0.5, "chosen": None, "rank": 2, "seconds": None},
     **{**STANDING, "level": True, "alike": "chrf"}},
    {"metric": "nli", "criterion": "standing", "out": "it failed", "chosen": None},
    {**EXAMPLE, "example": "e1", "shows": "errors.facts", "of": "outputs", "id": "1", "phenomenon": "typos",
     "better": "the cat", "worse": "the czt"},
    scores("e1", "chrf", 50.0, 50.123),
    scores("e1", "bleu", 40.0, 30.0, missed=False),
    {**EXAMPLE, **PEOPLE, "example": "e2", "shows": "copies", "of": "people", "id": "out-1", "phenomenon": None,
     "better": "a cat sat", "worse": "a hat sat"},
    scores("e2", "chrf", 1.0, 2.0),
    {"metric": "chrf", "criterion": "copies", "value": 0.25, "weight": 0.5, "n": 40, "source": "your references"},
    {"metric": "chrf", "criterion": "errors.facts", "value": 0.75, "weight": 0.4, "n": 40, "source": "your outputs",
     "low": 0.5, "high": 0.9},
    {"metric": "bleu", "criterion": "errors.facts", "value": 1.0, "weight": 0.4, "n": 30, "source": "your outputs"},
]  # fmt: skip
RESULT = Result("choose", ROWS)


def test_people_and_errors_stand_before_near_copies():
    ranking, out = choice_tables(RESULT)
    assert ranking.header == ("metric", "", "overall", "facts", "near-copies")
    assert ranking.body == (
        ("chrf", "first", "0.60 [0.50, 0.70]", "0.75", "0.25"),
        ("bleu", "= ~", "0.50 [0.50, 0.70]", "1.00", "-"),
    )
    assert ranking.legend[0] == "overall: the mean of the shares, weighted facts 0.4, near-copies 0.5"
    # what the columns are is said in words, and no time that a busy machine took
    assert ranking.legend[1] == (
        "right answers: the score falls where the text has such an error (facts); a paraphrase above a copy with an"
        " error (near-copies)"
    )
    assert out.body == (("nli", "it failed"),)


def test_a_metric_that_looked_at_too_few_texts_changes_no_weight():
    few = {"metric": "nli", "criterion": "errors.facts", "value": 1.0, "weight": 0.0, "n": 3, "source": "your outputs"}
    ranking, _ = choice_tables(Result("choose", [*ROWS, few]))
    assert ranking.legend[0] == "overall: the mean of the shares, weighted facts 0.4, near-copies 0.5"


def test_a_share_of_few_texts_is_no_number():
    rows = [{**row, "n": 6} if row.get("criterion") == "errors.facts" else row for row in ROWS]
    ranking, _ = choice_tables(Result("choose", rows))
    assert [line[3] for line in ranking.body] == ["too few", "too few"]
    assert any("too few" in line for line in ranking.legend)


def test_the_text_has_reasons_command_and_table_and_the_page_has_the_rest():
    text = render(RESULT, brief=True)
    assert text.startswith("Take chrf.\n\nnlgauge score DATA -m chrf\n\nshares of right answers")
    assert "the czt" not in text
    assert "We report" not in text
    assert render(RESULT).rstrip().endswith("We report chrf.")


# --- The page of a choice: every link leads to an example on it, and nothing of a user's text is markup

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
