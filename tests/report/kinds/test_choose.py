"""A choice as tables, from rows alone."""

from __future__ import annotations

from nlgauge.core.result import Result
from nlgauge.report.kinds.choose import choice_tables
from nlgauge.report.text import render

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
    assert ranking.header == ("metric", "", "standing", "facts", "copies", "CPU s per 1,000")
    assert ranking.body == (
        ("chrf", "first", "0.60 [0.50, 0.70]", "0.75", "0.25", "0.2"),
        ("bleu", "= ~", "0.50 [0.50, 0.70]", "1.00", "-", "-"),
    )
    assert ranking.legend[0] == "standing: the mean of the shares, weighted errors.facts 0.4, copies 0.5"
    assert out.body == (("nli", "it failed"),)


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
