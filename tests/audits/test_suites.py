"""Suites made from data: which texts, which rows, one pair an edit; what was left alone is counted by reason."""

import os
import subprocess
import sys
import warnings

import pytest

import nlgauge as ng
from nlgauge.audits.preference import ADEQUACY, FLUENCY
from nlgauge.audits.suites import (
    ATTACKS,
    KINDS,
    _nearest_reference,
    applied,
    perturbed_suite,
    rows_to_perturb,
    suite,
    task_in,
)
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.segment import Dataset, Segment
from nlgauge.perturbations.checklist import ChecklistRow, select_rows
from nlgauge.perturbations.perturb import apply_edits

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


# --- MENLI's suite: the paraphrase against the reference with an error, the reference against a translation with one

REFERENCE = "The old farmer sold 12 horses in the village."
PARAPHRASE = "In the village an aged farmer parted with twelve horses."
HYPOTHESIS = "The old farmer gave 12 horses to the village."


def menli_data(*segments, name="words"):
    return Dataset(tuple(segments), name)


def segment(key="s0", references=(REFERENCE, PARAPHRASE), hypothesis=HYPOTHESIS, **more):
    return Segment(key, hypothesis, references, **{"source": "Der alte Bauer.", "group": "de-en", **more})


def made(*segments, **options):
    return suite("menli", menli_data(*(segments or (segment(),))), **options)


def by_setup(suite_, setup):
    return {p.phenomenon: p for p in suite_ if p.setup == setup}


def test_the_twelve_attacks_are_nine_of_adequacy_and_three_of_fluency():
    assert set(ATTACKS) == {*ADEQUACY, *FLUENCY}
    assert len(ATTACKS) == 12


def test_with_references_the_paraphrase_is_the_better_text():
    pair = by_setup(made(), "ref")["negation"]
    assert (pair.better, pair.references) == (PARAPHRASE, (REFERENCE,))
    assert apply_edits(REFERENCE, [tuple(e) for e in pair.meta["edits"]]) == pair.worse
    assert "not" in pair.worse
    assert pair.meta["paraphrase"] == "reference"
    assert (pair.id, pair.group) == ("s0/negation/ref", "de-en")


def test_without_references_the_reference_is_the_better_text_and_the_translation_bears_the_error():
    pair = by_setup(made(), "src")["negation"]
    assert (pair.better, pair.references, pair.source) == (REFERENCE, (), "Der alte Bauer.")
    assert apply_edits(HYPOTHESIS, [tuple(e) for e in pair.meta["edits"]]) == pair.worse
    assert pair.meta["r"] == HYPOTHESIS


def test_the_paraphrase_for_numbers_is_the_reference_with_words():
    pair = by_setup(made(), "ref")["number_error"]
    assert pair.better == "The old farmer sold twelve horses in the village."
    assert "12" not in pair.worse
    assert pair.meta["paraphrase"] == "number words"


def test_a_changed_number_with_a_negation_is_held_against_number_words_too():
    pair = by_setup(made(perturbations=["number_and_negation"]), "ref")["number_and_negation"]
    assert pair.better == "The old farmer sold twelve horses in the village."
    assert pair.meta["paraphrase"] == "number words"


def test_no_number_no_pair_for_numbers():
    found = made(segment(references=("It is raining.", "Rain falls.")))
    assert "number_error" not in by_setup(found, "ref")
    assert ("number_error", "no number to spell", 1) in {(s.perturbation, s.reason, s.n) for s in found.skipped}


def test_without_a_source_there_are_pairs_for_references_only():
    assert {p.setup for p in made(segment(source=None))} == {"ref"}


def test_the_nearest_reference_is_found_without_a_warning_about_it():
    # ROUGE reads no Korean, and its own score of the references is nobody else's business
    data = Dataset((Segment("1", "a b", ("고양이가 매트 위에", "the cat sat"), source="고양이가 앉았다", group="as"),))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert _nearest_reference(data.segments[0].references, "고양이가 앉았다") in data.segments[0].references
        assert _nearest_reference(("far away", "the cat sat"), "the cat") == "the cat sat"


def test_in_summarisation_the_reference_nearest_to_the_document_bears_the_error():
    near = "The farmer sold 12 horses."
    document = "On Monday the farmer sold 12 horses. Nobody knows who bought them."
    found = made(
        segment(references=("Horses have been on sale.", near), source=document), task="as", perturbations=["negation"]
    )
    assert by_setup(found, "src")["negation"].meta["r"] == near


@pytest.mark.parametrize("place", [0, 1, 2])
def test_in_summarisation_r_is_never_compared_with_itself(place):
    near, document = "The farmer sold 12 horses.", "On Monday the farmer sold 12 horses. Nobody knows who bought them."
    references = ["Horses have been on sale.", "A deal was made on Monday."]
    references.insert(place, near)
    found = made(segment(references=tuple(references), source=document), task="as", perturbations=["negation"])
    pair = by_setup(found, "src")["negation"]
    assert (pair.meta["r"], pair.better) == (near, next(text for text in references if text != near))


def test_a_document_with_one_reference_has_no_other_that_could_be_better():
    found = made(segment(references=(REFERENCE,)), task="as", perturbations=["negation"])
    assert "negation" not in by_setup(found, "src")
    assert ("negation (src)", "no other reference", 1) in {(s.perturbation, s.reason, s.n) for s in found.skipped}


def test_paraphrases_of_a_table_come_before_other_references():
    given = "A farmer of great age sold 12 horses."
    found = made(paraphrases={REFERENCE: [REFERENCE, given]})
    assert by_setup(found, "ref")["negation"].better == given
    assert by_setup(found, "ref")["negation"].meta["paraphrase"] == "given"


def test_a_text_that_the_table_does_not_know_is_left_alone():
    found = made(paraphrases={"another": ["text"]})
    assert set(by_setup(found, "ref")) == {"number_error"}
    assert ("negation", "no paraphrase", 1) in {(s.perturbation, s.reason, s.n) for s in found.skipped}


def test_the_farthest_of_several_is_taken_unless_told_otherwise():
    near, far = "The old farmer sold 12 horses there.", PARAPHRASE
    table = {REFERENCE: [near, far]}
    assert by_setup(made(paraphrases=table), "ref")["negation"].better == far
    assert by_setup(made(paraphrases=table, how="first"), "ref")["negation"].better == near


def test_several_answers_of_a_function_are_chosen_from_in_the_same_way():
    near, far = "The old farmer sold 12 horses there.", PARAPHRASE
    for how, expected in (("first", near), ("max_edit_distance", far)):
        found = made(paraphrases=lambda texts: [[near, far] for _ in texts], how=how)
        assert by_setup(found, "ref")["negation"].better == expected


@pytest.mark.parametrize("blank", ["", "  ", "\u200b"])
def test_a_blank_reference_is_no_paraphrase(blank):
    found = made(segment(references=(REFERENCE, blank, PARAPHRASE)))
    assert by_setup(found, "ref")["negation"].better == PARAPHRASE
    alone = made(segment(references=(REFERENCE, blank)))
    assert by_setup(alone, "ref")["negation"].meta["paraphrase"] == "light"
    summary = made(segment(references=(REFERENCE, blank, PARAPHRASE)), task="as")
    assert {pair.better for pair in summary if pair.setup == "src"} <= {REFERENCE, PARAPHRASE}
    assert not by_setup(made(paraphrases=Blank()), "ref").get("negation")


class Blank:
    def paraphrase(self, texts):
        return [" "] * len(texts)


class Shouting:
    def __init__(self, n=None):
        self.n = n

    def paraphrase(self, texts):
        return [text.upper() for text in texts][: self.n]


def test_an_object_may_paraphrase():
    assert by_setup(made(paraphrases=Shouting()), "ref")["negation"].better == REFERENCE.upper()
    with pytest.raises(InputError, match="gave 0 paraphrases of 1 texts"):
        made(paraphrases=Shouting(0))


def test_light_paraphrases_are_told():
    found = made(segment(references=(REFERENCE,)), segment("s1"))
    assert any(note.startswith("paraphrases of 1 of 2 references are light") for note in found.notes)
    assert not any("light" in note for note in made().notes)


def test_only_the_attacks_that_are_named():
    assert made(perturbations=["typos"]).phenomena == ("typos",)
    with pytest.raises(SpecError, match="perturbation 'negation' is named twice"):
        made(perturbations=["negation", "negation:mode=add"])


def test_no_reference_is_refused():
    with pytest.raises(InputError, match=r"^words: no segment has a reference, and references are what is attacked$"):
        made(segment(references=()))
    with pytest.raises(InputError, match=r"^words: no reference to attack$"):
        made(segment(references=("  ",)))


def test_the_same_seed_makes_the_same_pairs():
    one, same, other = ([(p.id, p.worse) for p in made(seed=seed)] for seed in (1, 1, 2))
    assert one == same != other


def test_all_errors_of_one_item_are_of_one_origin():
    found = made(segment(), segment("s1", references=("Nobody saw the red car on 3 May.", PARAPHRASE)))
    assert len({p.phenomenon for p in found}) > 3
    assert {(p.origin, p.id.partition("/")[0]) for p in found} == {(("cluster", "s0"), "s0"), (("cluster", "s1"), "s1")}


# --- Suites by the name of their kind: each kind has a maker, and refuses what belongs to the other

TEXT, OTHER = "The old farmer sold 12 horses in the village.", "In the village an aged farmer parted with 12 horses."
DATA = Dataset((Segment("s0", "a hypothesis", (TEXT, OTHER), group="mt"),), "words")


@pytest.mark.parametrize(("kind", "design"), [("checklist", "checklist"), ("menli", "preference")])
def test_every_kind_can_be_made(kind, design):
    assert suite(kind, DATA).design == design
    assert kind in KINDS


def test_an_unknown_kind_is_refused():
    with pytest.raises(SpecError, match="unknown suite 'checklst'; did you mean 'checklist'"):
        suite("checklst", DATA)


@pytest.mark.parametrize(
    ("kind", "options", "says"),
    [
        ("menli", {"criterion": "fluency"}, "criterion goes with suite 'checklist'"),
        ("menli", {"field": "hyp"}, "field goes with suite 'checklist'"),
        ("menli", {"legacy_join": True}, "legacy_join goes with suite 'checklist'"),
        ("checklist", {"paraphrases": {}}, "paraphrases go with suite 'menli'"),
    ],
)
def test_options_of_the_other_kind_are_refused(kind, options, says):
    with pytest.raises(InputError, match=says):
        suite(kind, DATA, **options)


def test_menli_takes_the_references_as_its_field():
    assert len(suite("menli", DATA, field="ref")) == len(suite("menli", DATA))


def test_a_rule_for_paraphrases_that_there_is_not_is_refused():
    with pytest.raises(SpecError, match=r"how is 'max_edit'; did you mean 'max_edit_distance'"):
        suite("menli", DATA, how="max_edit")


@pytest.mark.parametrize("kind", KINDS)
def test_texts_that_perturbations_do_not_read_are_refused_on_request(kind):
    data = Dataset((*DATA.segments, Segment("zh", "x", ("火车晚点了两个小时。",), group="mt")))
    assert any("1 of 2 texts (zh) look Chinese" in note for note in suite(kind, data).notes)
    assert not any("look Chinese" in note for note in suite(kind, data, scripts="off").notes)
    with pytest.raises(InputError, match=r"perturbations: 1 of 2 texts \(zh\) look Chinese"):
        suite(kind, data, scripts="strict")


def test_columns_of_a_frame_are_named():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"prediction": ["a hypothesis"], "gold": [TEXT]})
    made = suite("checklist", frame, task="mt", columns={"hyp": "prediction", "ref": "gold"})
    assert {pair.better for pair in made} == {TEXT}
    with pytest.raises(InputError, match="columns are named for a frame"):
        suite("checklist", DATA, task="mt", columns={"hyp": "prediction"})
