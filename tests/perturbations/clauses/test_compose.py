import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import SpecError
from nlgauge.perturbations.base import apply_edits
from nlgauge.perturbations.clauses.compose import compose
from nlgauge.perturbations.perturb import perturb
from nlgauge.perturbations.words.numbers import NumberError

ODD = st.one_of(
    st.text(),
    st.lists(st.sampled_from(["It", "costs", "5", "1,000", "%", "is", "not", "a", ".", "\n", "８"])).map(" ".join),
)


def outcome(template, text, seed=0):
    made = perturb(template, [text], seed=seed)
    return made[0].text if made[0] is not None else made.reasons[0]


def test_numbers_change_and_the_clause_is_denied():
    [made] = perturb("number_and_negation", ["The shop sold 40 loaves."])
    assert made.text.startswith("The shop did not sell ")
    assert made.text.endswith(" loaves.")
    assert " 40 " not in made.text
    assert [made.original[e.start : e.end] for e in made.edits] == ["sold", "40"]
    assert made.meta.keys() == {"number_error", "negation"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("The shop sold loaves.", "no number"),
        ("40 loaves", "no finite verb"),
        ("It opened in 1990.", "no number"),
        ("", "empty"),
    ],
)
def test_both_parts_must_apply(text, reason):
    assert outcome("number_and_negation", text) == reason


def test_parts_keep_their_order_in_name_and_meta():
    both = compose([NumberError(), "negation"])
    [made] = perturb(both, ["It has 12 rooms."])
    [swapped] = perturb(compose(["negation", NumberError()]), ["It has 12 rooms."])
    assert made.perturbation == "number_error+negation"
    assert made.expect == "lower"
    assert list(made.meta) == list(swapped.meta)[::-1] == ["number_error", "negation"]


def test_any_templates_can_be_composed():
    assert outcome(compose(["expansions", "negation:mode=add"]), "It's late.") == "It is not late."


def test_edits_of_the_same_words_are_refused():
    assert outcome(compose(["negation", "subject_verb_disagreement"]), "He sings.") == "edits overlap"


def test_what_keeps_a_text_as_good_composes_to_the_same():
    both = compose(["expansions", "alternative_references"])
    assert both.info.expect == "same"
    assert both.info.needs == {"english", "references"}


@pytest.mark.parametrize("parts", [[], ["negation"], "negation"])
def test_fewer_than_two_parts_are_refused(parts):
    with pytest.raises(SpecError, match="two or more"):
        compose(parts)


@given(text=ODD)
def test_any_text_gives_a_different_text_or_a_reason(text):
    random.seed(0)
    [made] = outcomes = perturb("number_and_negation", [text])
    if made is None:
        assert outcomes.reasons[0]
    else:
        assert made.text != text
        assert apply_edits(text, made.edits) == made.text
