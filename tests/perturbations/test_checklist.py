"""The rows of the checklist: which there are, and how those of a task, a criterion or a template are found."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from nlgauge.core.errors import SpecError
from nlgauge.perturbations.checklist import TASKS, checklist_rows, select_rows, task_of
from nlgauge.perturbations.perturb import PERTURBATIONS, info


def test_the_rows_are_those_of_figure_4_and_four_of_table_5():
    assert Counter(math.isnan(row.penalty) for row in checklist_rows()) == {False: 112, True: 4}
    assert Counter(row.task for row in checklist_rows() if not math.isnan(row.penalty)) == {
        "mt": 21,
        "as": 19,
        "qg": 16,
        "dg": 18,
        "d2t": 19,
        "ic": 19,
    }


def test_no_task_has_a_perturbation_twice_under_one_criterion():
    assert len({(row.task, row.criterion, row.template) for row in checklist_rows()}) == len(checklist_rows())


@pytest.mark.parametrize("row", checklist_rows(), ids=lambda row: f"{row.task} {row.template}")
def test_a_row_names_a_perturbation_with_its_expectation_and_bounds_its_penalty(row):
    assert row.template in PERTURBATIONS.names()
    assert info(row.template).expect == ("same" if row.criterion == "invariance" else "lower")
    if not math.isnan(row.penalty):
        assert 0 <= row.penalty <= 1
    if not math.isnan(row.lower):
        assert row.lower <= row.penalty <= row.upper


@pytest.mark.parametrize("task", TASKS)
def test_every_task_is_tried_for_fluency_and_for_invariance(task):
    assert {"fluency", "invariance"} < {row.criterion for row in select_rows(task)}


@pytest.mark.parametrize(
    ("name", "task"),
    [
        ("mt", "mt"),
        ("MT", "mt"),
        ("Data to Text", "d2t"),
        ("data_to_text", "d2t"),
        ("question-generation/squad", "qg"),
        (" summarization ", "as"),
    ],
)
def test_a_task_is_known_by_several_names(name, task):
    assert task_of(name) == task


def test_rows_are_chosen_by_criterion():
    chosen = select_rows("as", "Non-redundancy")
    assert {row.criterion for row in chosen} == {"non_redundancy"}
    assert set(select_rows("ic", "fluency")) < set(select_rows("ic"))


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (("poetry",), "unknown task 'poetry'"),
        (("mt", "adequacies"), "no criterion 'adequacies'.*adequacy"),
    ],
)
def test_what_no_checklist_has_is_refused(asked, told):
    with pytest.raises(SpecError, match=told):
        select_rows(*asked)
