"""Adjectives left out before nouns, with what grades them."""

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.perturbations.base import apply_edits
from nlgauge.perturbations.perturb import make_cases, perturb
from nlgauge.perturbations.registry import perturbation

pieces = st.sampled_from(
    [
        "a",
        "an",
        "The",
        "big",
        "very",
        "old",
        "red",
        "well-known",
        "and",
        ",",
        "car",
        "dogs",
        "is",
        "18-year-old",
        ".",
        "’s",
        "\n",
        "\ud800",
        " ",
        " ",
    ]
)
texts = st.lists(pieces, max_size=14).map(" ".join) | st.text(max_size=20)


def without(text: str, **options: object) -> str | None:
    [made] = perturb("drop_adjectives", [text], **options)
    if made is None:
        return None
    assert apply_edits(text, made.edits) == made.text != text
    return made.text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A big red ball rolled away.", "A ball rolled away."),
        ("a big, red, shiny ball", "a ball"),
        ("a black and white cat", "a cat"),
        ("He is a very old man.", "He is a man."),
        ("It was an unusually warm day.", "It was a day."),
        ("She bought the most expensive coat.", "She bought the coat."),
        ("It is an old idea.", "It is an idea."),
        ("It is a broad idea.", "It is an idea."),
        ("Old habits die hard.", "Habits die hard."),
        ("“Old habits die hard,” she said.", "“Habits die hard,” she said."),
        ("Big dogs bark; small dogs sleep.", "Dogs bark; dogs sleep."),
        ("a man in front of a tall tree", "a man in front of a tree"),
        ("BIG DOGS BARK", "DOGS BARK"),
        ("The man’s old car", "The man’s car"),
        ("They saw a well-known actor with an 18-year-old girl.", "They saw an actor with a girl."),
        ("It has a long-term contract.", "It has a contract."),
        ("A happy, smiling child waved.", "A smiling child waved."),
        ("He has always loved old cars.", "He has always loved cars."),
        ("The American people voted.", "The people voted."),
        ("It is good news.", "It is news."),
        ("She gave clear, concise and useful advice.", "She gave advice."),
        ("the same old story", "the same story"),
        ("a few good men", "a few men"),
        ("a little girl", "a girl"),
    ],
)
def test_adjectives_before_a_noun_go_and_nothing_else_does(text, expected):
    assert without(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "She is happy.",
        "The sky was blue and clear.",
        "The White House said so.",
        "the European Union",
        "the rich and the poor",
        "The other man saw the same house.",
        "many people and few cars",
        "We need a little water.",
        "a great deal of work",
        "I am glad people came.",
        "I am glad John came.",
        "I was afraid someone would see it.",
        "the new one",
        "a three-year plan",
        "a child ten years old",
        "in a 5 metre-long boat",
        "Birds sing.",
        "red",
        "?!",
        "O\x1bYJ",  # a sign that the tagger takes for an adjective
    ],
)
def test_what_says_which_and_what_stands_behind_a_verb_stays(text):
    outcome = perturb("drop_adjectives", [text])
    assert outcome == [None]
    assert outcome.reasons == ["no adjective before a noun"]


def test_a_comma_behind_a_linking_verb_parts_what_belongs_to_it():
    assert without("The sky was blue, white clouds drifted by.") == "The sky was blue, clouds drifted by."


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        ("chain", {"the ship in a cold rough sea", "the big old ship in a sea"}),
        (
            "one",
            {
                "the old ship in a cold rough sea",
                "the big ship in a cold rough sea",
                "the big old ship in a rough sea",
                "the big old ship in a cold sea",
            },
        ),
        ("all", {"the ship in a sea"}),
    ],
)
def test_fewer_go_on_request(which, expected):
    assert {without("the big old ship in a cold rough sea", which=which, seed=seed) for seed in range(40)} == expected


def test_what_went_is_told():
    [made] = perturb("drop_adjectives", ["a very big ship in a cold sea"])
    assert made is not None
    assert made.meta["dropped"] == ["very big", "cold"]


@given(text=texts)
def test_no_text_is_too_odd_and_only_words_go(text):
    changed = without(text)
    if changed is not None:
        assert len(changed) < len(text)
        left = iter(text.casefold().split())
        # what is left is the text with words missing; only a and an may have changed
        assert all(
            any(new.strip(",") == old.strip(",") or {new, old} == {"a", "an"} for old in left)
            for new in changed.casefold().split()
        )


@pytest.mark.parametrize("unit", ["red, ", ", ", "very "])
def test_long_runs_take_time_like_their_length(unit):
    (case,) = make_cases([unit * 4_000])
    start = time.process_time()
    perturbation("drop_adjectives")(case, random.Random(0))
    assert time.process_time() - start < 10  # a tenth of a second; with the square of the length, minutes
    long = perturb("drop_adjectives", "She owns a " + "red, " * 300 + "old car.")[0]
    assert long.text == "She owns a car."
