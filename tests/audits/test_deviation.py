"""Deviations: drop less penalty, by hand; scales; invariance; what did not apply."""

import json
import math

import pytest

from nlgauge.audits.deviation import deviation_rows, read_penalties, rule_for, with_penalties
from nlgauge.audits.preference import score_sides
from nlgauge.core.errors import InputError
from nlgauge.core.suite import Pair, Skipped, Suite
from nlgauge.perturbations.checklist import ChecklistRow, checklist_rows, select_rows
from nlgauge.runtime.runtime import Runtime

NEGATION = ChecklistRow("mt", "adequacy", "negation", "Negations", 0.9, certainty="high")
SAME = ChecklistRow("mt", "invariance", "synonyms", "Synonyms", 0.0, certainty="high")


def pair(key, better, worse, row=NEGATION, **more):
    text = f"t{key} {better}"
    return Pair(
        id=str(key),
        phenomenon=row.template,
        better=text,
        worse=f"w{key} {worse}",
        references=(text,),
        task=row.task,
        criterion=row.criterion,
        expect="same" if row is SAME else "lower",
        **more,
    )


def found(pairs, metric, rows=(NEGATION,), skipped=(), **options):
    suite = Suite(tuple(pairs), skipped=skipped)
    made = deviation_rows(suite, score_sides(suite, {"m": metric}, Runtime())["m"], rows, **options)
    return [row.as_row() for row in made]


def test_deviation_is_drop_less_penalty(told):
    # scores 50 -> 40 and 20 -> 10 against themselves: drops 0.2 and 0.5, mean 0.35; people take off 0.9
    (row,) = found([pair(1, 50, 40), pair(2, 20, 10)], told)
    assert row["norm"] == "self"
    assert row["drop"] == pytest.approx(0.35)
    assert row["deviation"] == pytest.approx(0.35 - 0.9)
    assert row["low"] < row["deviation"] < row["high"]


def test_an_error_rate_is_scaled_by_the_pool(told_error):
    # 0 for the text itself, 30 and 60 for the perturbed ones: the pool goes from 0 to 60
    (row,) = found([pair(1, 0, 30), pair(2, 0, 60)], told_error)
    assert row["norm"] == "minmax"
    assert row["drop"] == pytest.approx((30 / 60 + 60 / 60) / 2)


def test_scores_as_they_are(told):
    assert found([pair(1, 50, 40)], told, normalise="none")[0]["drop"] == 10


def test_an_invariance_is_judged_by_the_mean_drop_and_by_texts(told):
    (row,) = found([pair(1, 100, 99, SAME), pair(2, 100, 80, SAME)], told, [SAME], tolerance=0.05)
    assert row["expect"] == "same"
    assert row["invariant"] is False  # 0.105 on the mean
    assert row["within"] == 0.5


def test_a_score_that_rises_is_no_invariance_either(told):
    # 100 -> 101 and 100 -> 120: drops -0.01 and -0.2, mean -0.105
    (row,) = found([pair(1, 100, 101, SAME), pair(2, 100, 120, SAME)], told, [SAME], tolerance=0.05)
    assert row["invariant"] is False
    assert row["within"] == 0.5


def test_a_row_that_never_applied_is_there_and_undefined(told):
    skipped = [Skipped(perturbation="synonyms", reason="no synonym", n=7, task="mt", criterion="invariance")]
    rows = found([pair(1, 50, 40)], told, [NEGATION, SAME], skipped)
    assert rows[1]["n"] == 0
    assert rows[1]["n_not_applicable"] == 7
    assert math.isnan(rows[1]["drop"])
    assert rows[1]["invariant"] is None


def test_an_unknown_penalty_leaves_the_drop(told):
    (row,) = found([pair(1, 50, 40)], told, [ChecklistRow("mt", "adequacy", "negation")])
    assert row["drop"] == pytest.approx(0.2)
    assert math.isnan(row["deviation"])


def test_a_score_of_nothing_for_the_text_itself_is_undefined_and_counted(told):
    (row,) = found([pair(1, 0, 0), pair(2, 50, 25)], told)
    assert (row["n"], row["n_undefined"]) == (2, 1)
    assert row["drop"] == pytest.approx(0.5)


def test_texts_held_against_others_are_scaled_by_the_pool(told):
    suite = Suite((Pair(id="1", phenomenon="typos", better="a 2", worse="b 1", references=("c 3",)),))
    assert rule_for(score_sides(suite, {"m": told}, Runtime())["m"], suite) == "minmax"


def test_one_template_under_two_criteria_is_kept_apart(told):
    other = ChecklistRow("mt", "fluency", "negation", penalty=0.1)
    rows = found([pair(1, 50, 40), pair(2, 50, 10, other)], told, [NEGATION, other])
    assert [r["drop"] for r in rows] == pytest.approx([0.2, 0.8])


def test_a_drop_against_itself_is_above_0_where_an_error_rate_rises(told_error):
    # 10 for the text itself, 15 for the perturbed one: half as bad again
    (row,) = found([pair(1, 10, 15)], told_error, normalise="self")
    assert row["drop"] == pytest.approx(0.5)


# --- Penalties: the shipped table, a user's, and what fits neither


def test_shipped_penalties_are_those_of_the_table():
    bare = [ChecklistRow("mt", "adequacy", "negation"), ChecklistRow("as", "fluency", "jumble_words")]
    assert [row.penalty for row in with_penalties(bare, checklist_rows())] == [0.89, 0.60]


def test_options_of_a_template_do_not_hide_its_penalty():
    assert with_penalties([ChecklistRow("mt", "adequacy", "negation:mode=add")], checklist_rows())[0].penalty == 0.89


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
    rows = [row for row in select_rows("mt", "adequacy") if row.template == "negation"]
    row = with_penalties(rows, [ChecklistRow("", "", "typos", penalty=0.1)])[0]
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
