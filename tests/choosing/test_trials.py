"""Trials of the user's own texts, and the task that they are made for."""

import pytest
from tests.choosing.made import data

from nlgauge.choosing.evidence import ASPECTS
from nlgauge.choosing.sample import sampled
from nlgauge.choosing.trials import aspect_of, make_trials, settled_task
from nlgauge.core.errors import SpecError
from nlgauge.perturbations.checklist import checklist_rows


def test_errors_are_put_into_outputs_and_compared_with_references():
    trials = make_trials(sampled(data(8)), None)
    assert (trials.task, trials.source, trials.notes) == ("mt", "your outputs", ())
    outputs = {s.hypothesis for s in data(8)}
    assert all(pair.better in outputs and pair.better not in pair.references for pair in trials.errors)
    assert {pair.criterion for pair in trials.errors} <= {*ASPECTS, "same"}
    kinds = [pair.criterion for pair in trials.errors]
    assert max(map(kinds.count, kinds)) <= 60
    assert all(pair.better != pair.worse for pair in trials.errors)
    assert trials.copies is not None


def test_no_error_is_what_another_system_says_of_the_item():
    rows = data(4, group="data-to-text")  # whose checklist puts other texts in the place of an output
    trials = make_trials(sampled(rows), None)
    answers = {s.item: {o.hypothesis for o in rows if o.item == s.item} | {*s.references} for s in rows}
    item = {s.hypothesis: s.item for s in rows}
    assert any(pair.phenomenon == "random_text" for pair in trials.errors)
    assert not [pair.id for pair in trials.errors if pair.worse in answers[item[pair.better]]]


def test_without_references_there_are_no_near_copies():
    trials = make_trials(sampled(data(6, references=False)), None)
    assert trials.copies is None
    assert trials.suites == (trials.errors,)


def test_the_task_is_given_or_told_by_the_data_or_translation():
    assert settled_task(data(2), "data-to-text") == ("d2t", [])
    assert settled_task(data(2, group="summarization"), None) == ("as", [])
    assert settled_task(data(2, group="zh-en"), None) == ("mt", [])
    task, (note,) = settled_task(data(2, group=None), None)
    assert (task, note.startswith("the data name no task")) == ("mt", True)
    with pytest.raises(SpecError):
        settled_task(data(2), "verse")


def test_every_error_of_the_checklists_harms_something():
    found = {aspect_of(row.template, row.criterion) for row in checklist_rows() if row.criterion != "invariance"}
    assert found == {*ASPECTS}
    assert aspect_of("change_numbers", "adequacy") == "facts"
    assert aspect_of("drop_phrases", "data_coverage") == "coverage"
    assert aspect_of("typos") == "fluency"
