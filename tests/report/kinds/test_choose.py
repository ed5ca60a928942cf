"""A choice as tables, from rows alone."""

from __future__ import annotations

from nlgauge.core.result import Result
from nlgauge.report.kinds.choose import choice_tables
from nlgauge.report.text import render

STANDING = {"criterion": "standing", "low": 0.5, "high": 0.7, "level": False, "alike": None, "out": None}
ROWS = [
    {"said": "reason", "text": "Take chrf."},
    {"said": "command", "text": "nlgauge score DATA -m chrf"},
    {"said": "methods", "text": "We report chrf."},
    {"metric": "chrf", **STANDING, "value": 0.6, "chosen": 1, "rank": 1, "seconds": 0.25},
    {**{"metric": "bleu", "value": 0.5, "chosen": None, "rank": 2, "seconds": None},
     **{**STANDING, "level": True, "alike": "chrf"}},
    {"metric": "nli", "criterion": "standing", "out": "it failed", "chosen": None},
    {"said": "example", "metric": "chrf", "id": "1", "phenomenon": "typos", "of": "outputs", "reference": "a cat",
     "better": "the cat", "worse": "the czt", "margin": 0.0},
    {"metric": "chrf", "criterion": "copies", "value": 0.25, "weight": 0.5},
    {"metric": "chrf", "criterion": "errors.facts", "value": 0.75, "weight": 0.4},
]  # fmt: skip
RESULT = Result("choose", ROWS)


def test_people_and_errors_stand_before_near_copies():
    ranking, out = choice_tables(RESULT)
    assert ranking.header == ("metric", "", "standing", "facts", "copies", "s per 1,000")
    assert ranking.body == (
        ("chrf", "first", "0.60 [0.50, 0.70]", "0.75", "0.25", "0.2"),
        ("bleu", "= ~", "0.50 [0.50, 0.70]", "-", "-", "-"),
    )
    assert ranking.legend[0] == "standing: the mean of the shares, weighted errors.facts 0.4, copies 0.5"
    assert out.body == (("nli", "it failed"),)


def test_the_reasons_come_first_and_errors_are_marked():
    text = render(RESULT)
    assert text.startswith("Take chrf.\n\nnlgauge score DATA -m chrf\n\n")
    assert "the [czt]" in text
    assert text.rstrip().endswith("We report chrf.")
