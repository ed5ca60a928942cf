"""MENLI's suite: the paraphrase against the reference with an error, the reference against a translation with one."""

from __future__ import annotations

import warnings

import pytest

from nlgauge.audits.menli import ATTACKS, _nearest_reference
from nlgauge.audits.preference import ADEQUACY, FLUENCY
from nlgauge.audits.suite import suite
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.segment import Dataset, Segment
from nlgauge.perturbations.base import apply_edits

REFERENCE = "The old farmer sold 12 horses in the village."
PARAPHRASE = "In the village an aged farmer parted with twelve horses."
HYPOTHESIS = "The old farmer gave 12 horses to the village."


def data(*segments, name="words"):
    return Dataset(tuple(segments), name)


def segment(key="s0", references=(REFERENCE, PARAPHRASE), hypothesis=HYPOTHESIS, **more):
    return Segment(key, hypothesis, references, **{"source": "Der alte Bauer.", "group": "de-en", **more})


def made(*segments, **options):
    return suite("menli", data(*(segments or (segment(),))), **options)


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
