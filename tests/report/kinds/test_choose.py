"""A choice as tables and as a page, from rows alone."""

from __future__ import annotations

import pytest

from nlgauge.core.result import Result
from nlgauge.report.kinds.choose import choice_tables
from nlgauge.report.pages import page
from nlgauge.report.text import render

pytest.importorskip("jinja2")

STANDING = {"criterion": "standing", "value": 0.6, "low": 0.5, "high": 0.7, "level": False, "out": None}
PUBLIC = {"criterion": "public", "low": 0.5, "high": 0.7, "n": 90, "p": None, "source": "public sets far"}
ROWS = [
    {"said": "reason", "text": "Take chrf."},
    {"said": "command", "text": "nlgauge score DATA -m chrf"},
    {"said": "methods", "text": "We report chrf."},
    {"metric": "chrf", **STANDING, "chosen": 1, "rank": 1},
    {"metric": "bleu", **STANDING, "chosen": None, "rank": 2, "level": True},
    {"metric": "nli", "criterion": "standing", "out": "it failed", "chosen": None},
    {"metric": "chrf", "criterion": "people", "value": 0.25, "low": None, "high": None, "n": 40, "source": "yours"},
    {"metric": "chrf", **PUBLIC, "value": 0.6},
    {"metric": "bleu", **PUBLIC, "value": 0.55},
]
RESULT = Result("choose", ROWS)


def test_ratings_stand_before_public_sets():
    (table,) = choice_tables(RESULT)
    assert table.header == ("metric", "", "your ratings", "public sets")
    assert table.body == (("chrf", "first", "0.25", "0.60 [0.50, 0.70]"), ("bleu", "=", "-", "0.55 [0.50, 0.70]"))
    assert len(table.legend) == 3


def test_where_nothing_is_known_there_is_no_table():
    assert choice_tables(Result("choose", ROWS[:6])) == []


def test_the_text_has_reasons_command_and_table_and_the_page_has_the_rest():
    text = render(RESULT, brief=True)
    assert text.startswith("Take chrf.\n\nnlgauge score DATA -m chrf\n\nagreement with people")
    assert "We report" not in text
    assert render(RESULT).rstrip().endswith("We report chrf.")
    html = page(RESULT)
    assert "Which metric for these texts?" in html
    assert html.index("Take chrf.") < html.index("nlgauge score DATA -m chrf") < html.index("We report chrf.")


def test_a_result_without_rows_has_a_page():
    assert "Which metric for these texts?" in page(Result("choose", []))
