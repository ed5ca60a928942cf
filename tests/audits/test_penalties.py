"""Penalties: the shipped table, a user's, and what fits neither."""

import json
import math

import pytest

from nlgauge.audits.penalties import read_penalties, shipped, with_penalties
from nlgauge.core.errors import InputError
from nlgauge.perturbations.checklist import ChecklistRow, checklist_rows, select_rows


def test_shipped_penalties_are_those_of_the_table():
    bare = [ChecklistRow("mt", "adequacy", "negation"), ChecklistRow("as", "fluency", "jumble_words")]
    assert [row.penalty for row in shipped(bare)] == [0.89, 0.60]


def test_options_of_a_template_do_not_hide_its_penalty():
    assert shipped([ChecklistRow("mt", "adequacy", "negation:mode=add")])[0].penalty == 0.89


def test_the_most_telling_row_of_a_users_table_wins():
    given = [
        ChecklistRow("", "", "typos", penalty=0.1),
        ChecklistRow("mt", "", "typos", penalty=0.2),
        ChecklistRow("mt", "fluency", "typos", penalty=0.3),
    ]
    assert with_penalties([ChecklistRow("mt", "fluency", "typos")], given)[0].penalty == 0.3
    assert with_penalties([ChecklistRow("mt", "other", "typos")], given)[0].penalty == 0.2
    assert with_penalties([ChecklistRow("ic", "fluency", "typos")], given)[0].penalty == 0.1


def test_a_template_without_penalty_is_undefined_not_zero():
    row = with_penalties(select_rows("mt", "adequacy", ("negation",)), [ChecklistRow("", "", "typos", penalty=0.1)])[0]
    assert math.isnan(row.penalty)
    assert row.certainty == "none"


@pytest.mark.parametrize("name", ["p.tsv", "p.csv", "p.jsonl"])
def test_tables_of_every_form(tmp_path, name):
    path = tmp_path / name
    if name.endswith("jsonl"):
        path.write_text(json.dumps({"template": "typos", "penalty": 0.25, "task": "machine-translation"}) + "\n")
    else:
        path.write_text("template,penalty,task\ntypos,0.25,mt\n".replace(",", "," if name.endswith("csv") else "\t"))
    (row,) = read_penalties(path)
    assert (row.task, row.template, row.penalty, row.certainty) == ("mt", "typos", 0.25, "user")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("typos\t7", "penalty is 7, expected 0 to 1"),
        ("typos\tmuch", "expected a number"),
        ("typos", "1 cells, expected 2"),
        ("\t0.5", "no 'template'"),
        ("typos\t0.1\ntypos\t0.2", "second penalty"),
    ],
)
def test_bad_lines_are_named(tmp_path, line, told):
    path = tmp_path / "p.tsv"
    path.write_text(f"template\tpenalty\n{line}\n")
    with pytest.raises(InputError, match=told) as raised:
        read_penalties(path)
    assert "p.tsv" in str(raised.value)


def test_an_empty_table_is_refused(tmp_path):
    path = tmp_path / "p.tsv"
    path.write_text("template\tpenalty\n")
    with pytest.raises(InputError, match="empty"):
        read_penalties(path)


def test_every_shipped_penalty_lies_in_its_bounds():
    for row in checklist_rows():
        if not math.isnan(row.penalty):
            assert row.lower <= row.penalty <= row.upper, row


def test_a_penalty_of_too_many_digits_is_told_in_one_line(tmp_path):
    path = tmp_path / "penalties.jsonl"
    path.write_text('{"template": "typos", "penalty": 1' + "0" * 400 + "}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"penalties\.jsonl:1: penalty is 10{39}, expected a number from 0 to 1"):
        read_penalties(str(path))
