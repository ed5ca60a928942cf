"""Suites made from data: which texts, which rows, one pair an edit; what was left alone is counted by reason."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import nlgauge as ng
from nlgauge.audits.checklist import applied, perturbed_suite, rows_to_perturb, task_in
from nlgauge.audits.suite import suite
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.segment import Dataset, Segment
from nlgauge.perturbations.base import apply_edits
from nlgauge.perturbations.checklist import ChecklistRow, select_rows

TEXTS = (
    "The old farmer sold 12 horses in the village.",
    "Maria does not like the cold winter.",
    "It is raining, and the road is wet.",
    "We have not seen the doctor, who works at a small hospital.",
)


def data(texts=TEXTS, **more):
    options = {"group": "mt", **more}
    return Dataset(
        tuple(
            Segment(f"s{i}", f"hypothesis {i}", (t,), "a source", None, f"s{i}", **options) for i, t in enumerate(texts)
        ),
        "words",
    )


def test_a_row_makes_a_pair_of_every_text_or_a_reason():
    made = suite("checklist", data())
    for row in select_rows("mt"):
        key = (row.criterion, row.template)
        pairs = [p for p in made if (p.criterion, p.phenomenon) == key]
        left = sum(s.n for s in made.skipped if (s.criterion, s.perturbation) == key)
        assert len(pairs) + left == len(TEXTS), key


def test_a_pair_holds_the_text_against_itself():
    for pair in suite("checklist", data()):
        assert pair.better in TEXTS
        assert pair.references == (pair.better,)
        assert pair.worse != pair.better
        assert apply_edits(pair.better, [tuple(e) for e in pair.meta["edits"]]) == pair.worse
        assert (pair.task, pair.group, pair.source) == ("mt", "mt", "a source")
        assert pair.expect == ("same" if pair.criterion == "invariance" else "lower")


def test_one_edit_is_what_perturb_makes_of_the_segment():
    (pair,) = suite("checklist", data(TEXTS[:1]), perturbations=["change_numbers"], seed=3)
    (alone,) = ng.perturb("change_numbers", TEXTS[:1], ids=["s0"], seed=3)
    assert pair.worse == alone.text
    assert pair.id == "s0/adequacy/change_numbers"


def test_the_same_seed_makes_the_same_suite_whatever_else_is_in_the_data():
    # pools differ with the data, so only perturbations that draw from no pool can agree
    names = ["negation", "typos", "jumble_words", "drop_phrases"]
    whole = {p.id: p.worse for p in suite("checklist", data(), perturbations=names, seed=5)}
    part = {p.id: p.worse for p in suite("checklist", data(TEXTS[:2]), perturbations=names, seed=5)}
    assert part.items() <= whole.items()
    assert whole != {p.id: p.worse for p in suite("checklist", data(), perturbations=names, seed=6)}


def test_only_the_criterion_that_is_named():
    assert {p.criterion for p in suite("checklist", data(), criterion="invariance")} == {"invariance"}


def test_options_stand_in_the_name_of_the_row():
    made = suite("checklist", data(), perturbations=["negation:mode=remove"])
    assert made.phenomena == ("negation:mode=remove",)
    assert {s.perturbation for s in made.skipped} == {"negation:mode=remove"}
    assert {p.better for p in made} == {TEXTS[1], TEXTS[3]}  # the two that are negated


def test_joined_tokens_stand_apart_by_blanks():
    made = suite("checklist", data(TEXTS[2:3]), perturbations=["synonyms", "negation"], legacy_join=True)
    (pair,) = [p for p in made if p.phenomenon == "negation"]
    assert " , and " in pair.worse
    assert pair.worse.endswith(" .")
    assert any("legacy_join" in note for note in made.notes)


@pytest.mark.parametrize(
    ("group", "task"),
    [("mt", "mt"), ("question-generation/squad", "qg"), ("data-to-text", "d2t"), ("summarization", "as")],
)
def test_the_task_is_told_from_the_data(group, task):
    assert {p.task for p in suite("checklist", data(group=group), criterion="fluency")} == {task}


def test_a_task_that_cannot_be_told_is_asked_for():
    with pytest.raises(SpecError, match="the data name none; choose one of mt, as, qg, dg, ic, d2t"):
        task_in(data(group="cs-en"))
    two = Dataset((*data(group="mt"), Segment("x", "h", ("r",), group="summarization")), "words")
    with pytest.raises(SpecError, match="the data name mt, summarization; choose one"):
        task_in(two)


def test_what_needs_a_context_is_counted_where_there_is_none():
    made = suite("checklist", data(), task="dg", criterion="avoiding_repetition")
    left = {(s.perturbation, s.reason, s.n) for s in made.skipped}
    assert left >= {("repeat_own_utterance", "no context", 4), ("repeat_last_speaker", "no context", 4)}


def test_a_context_is_used_and_kept():
    turns = ({"speaker": "a", "text": "I like trains."}, {"speaker": "b", "text": "The train is late."})
    talk = Dataset((Segment("1", "", ("Then I will take the bus.",), group="dg", context=turns),), "talk")
    made = {p.phenomenon: p for p in suite("checklist", talk)}
    assert made["repeat_last_speaker"].worse == "The train is late."
    assert made["repeat_own_utterance"].worse == "I like trains."
    assert made["repeat_own_utterance"].context == turns


def test_another_script_is_left_alone_by_what_knows_english_only():
    made = suite("checklist", data(["今天下雨。", "猫在垫子上。"]))
    assert ("negation", "language", 2) in {(s.perturbation, s.reason, s.n) for s in made.skipped}
    (note,) = (note for note in made.notes if note.startswith("perturbations"))
    assert note.startswith(
        "perturbations: 2 of 2 texts (s0, s1) look Chinese (Han): those that need English leave them"
    )
    assert not any(note.startswith("perturbations") for note in suite("checklist", data()).notes)


def test_nothing_that_applies_is_refused_with_its_reasons():
    with pytest.raises(
        InputError, match=r"no pair in words, expected at least one; nothing applied: negation: empty \(2\)"
    ):
        suite("checklist", data(["", "  "]), perturbations=["negation"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"task": "mtt"}, "unknown task 'mtt'; did you mean 'mt'"),
        ({"criterion": "adequcy"}, "no criterion 'adequcy'; did you mean 'adequacy'"),
        ({"perturbations": ["negatoin"]}, "unknown perturbation 'negatoin'; did you mean 'negation'"),
        ({"perturbations": ["swap_objects"]}, "no row 'swap_objects' in the checklist of 'mt'"),
        ({"perturbations": ["typos", "typos"]}, "perturbation 'typos' is named twice"),
        ({"field": "src"}, "field is 'src'; known: hyp, ref"),
    ],
)
def test_what_cannot_be_made_is_refused(options, message):
    with pytest.raises((InputError, SpecError), match=message):
        suite(**{"kind": "checklist", "dataset": data(), **options})


def test_rows_to_perturb_are_of_the_checklist_of_none_or_beside_it():
    assert rows_to_perturb([], "mt", "fluency") == list(select_rows("mt", "fluency"))
    assert rows_to_perturb(["typos", "negation:mode=add"]) == [
        ChecklistRow("", "", "typos"),
        ChecklistRow("", "", "negation:mode=add"),
    ]
    inside, beside = rows_to_perturb(["negation:mode=add", "swap_objects"], "MT")
    assert (inside.criterion, inside.template, inside.certainty) == ("adequacy", "negation:mode=add", "high")
    assert repr(beside) == repr(ChecklistRow("mt", "other", "swap_objects", "swap_objects"))  # its penalty is NaN
    with pytest.raises(SpecError, match="unknown perturbation"):
        rows_to_perturb(["typo"])


def test_changed_texts_and_texts_left_alone_are_counted_by_row():
    rows = rows_to_perturb(["negation", "change_numbers"])
    counted = applied(perturbed_suite(data(), rows), rows)
    assert [row.template for row, _, _ in counted] == ["negation", "change_numbers"]
    for _, changed, left in counted:
        assert changed + left.total() == len(TEXTS)


def test_rows_without_a_task_make_a_preference_suite():
    made = perturbed_suite(data(), [ChecklistRow("", "", "negation")])
    assert made.design == "preference"
    assert {(p.task, p.criterion, p.id) for p in made} >= {(None, None, "s0/negation")}
    assert suite("checklist", data()).design == "checklist"


@pytest.mark.slow
def test_hashes_of_strings_do_not_matter():
    code = (
        "import nlgauge as ng; from nlgauge.core.segment import *\n"
        f"data = Dataset(tuple(Segment(str(i), '', (t,), group='mt') for i, t in enumerate({TEXTS!r})))\n"
        "print([(p.id, p.worse) for kind in ('checklist', 'menli') for p in ng.suite(kind, data)])"
    )
    runs = set()
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        )
        runs.add(done.stdout)
    assert len(runs) == 1


NEGATION = [ChecklistRow("", "", "negation")]  # of no task: a suite of preferences


def preferences(field=None, *references):
    hypothesis = "The ferry departs at seven."
    segment = Segment("s", hypothesis, references, None, None, "s")
    return perturbed_suite(Dataset((segment,), "ferry"), NEGATION, field=field)


def test_a_preference_is_held_against_the_other_references():
    (pair,) = made = preferences(
        "ref", "The ferry leaves at seven.", "It sails at seven.", "The ferry leaves at seven."
    )
    assert (pair.better, pair.worse) == ("The ferry leaves at seven.", "The ferry does not leave at seven.")
    assert pair.references == ("It sails at seven.",)
    assert made.notes == ()


def test_a_hypothesis_is_held_against_its_references():
    (pair,) = made = preferences("hyp", "The ferry leaves at seven.")
    assert (pair.better, pair.references) == ("The ferry departs at seven.", ("The ferry leaves at seven.",))
    assert made.notes == ()


def test_a_preference_without_another_text_that_says_the_same_is_said():
    for made in (preferences("ref", "The ferry leaves at seven."), preferences("hyp")):
        (pair,) = made
        assert pair.references == (pair.better,)
        assert made.notes[0].startswith("1 of 1 pairs have no reference but the text before the change")


def test_a_question_keeps_its_question_word_where_it_is_to_be_answered():
    question = "Who is the leader of the old world?"
    made = suite("checklist", data([question]), task="qg", perturbations=["drop_stopwords"])
    assert {pair.criterion: pair.worse for pair in made} == {
        "fluency": "Leader old world?",
        "answerability": "Who leader old world?",
    }
