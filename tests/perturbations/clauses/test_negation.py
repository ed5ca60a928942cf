import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.perturbations.base import apply_edits
from nlgauge.perturbations.clauses.negation import Negation
from nlgauge.perturbations.perturb import perturb

WORDS = [
    "He",
    "she",
    "not",
    "is",
    "n't",
    "doesn't",
    "won’t",
    "like",
    "likes",
    "dog",
    "no",
    "never",
    "any",
    "who",
    "?",
    ".",
    ",",
    "do",
    "went",
    "“",
]
ODD = st.one_of(
    st.text(),
    st.lists(st.sampled_from([*WORDS, "\n", "\ud800", "犬", "\u00a0", "  ", "NOT"]), max_size=12).map(" ".join),
)
TEMPLATES = [
    Negation(),
    Negation(mode="add"),
    Negation(mode="remove"),
    Negation(contracted=True),
    Negation(contracted=False),
]


def outcome(text, seed=0, **options):
    made = perturb(Negation(**options), [text], seed=seed)
    return made[0].text if made[0] is not None else made.reasons[0]


@pytest.mark.parametrize(
    ("text", "options", "reason"),
    [
        ("a red bus in front of a church", {}, "no finite verb"),
        ("Anna's new coat", {}, "no finite verb"),
        ("Thank you!", {}, "no finite verb"),
        ("12", {}, "no finite verb"),
        ("a large mirror and sinks", {}, "no finite verb"),  # joined nouns
        ("She is not here.", {"mode": "add"}, "already negated"),
        ("Nobody came.", {"mode": "add"}, "already negated"),
        ("She is here.", {"mode": "remove"}, "no negation"),
        # without the word the sentence would fall apart
        ("It is not a wolf but a dog.", {}, "already negated"),
        ("He is not only kind but also clever.", {}, "already negated"),
        ("Neither of them came.", {}, "already negated"),
        ("We could expect no less.", {}, "already negated"),
        ("Never has it been so cold.", {}, "already negated"),
        ("No doubt, a storm.", {"mode": "remove"}, "no negation"),
        ("", {}, "empty"),
        ("Это не моя книга.", {}, "language"),
    ],
)
def test_says_why_it_does_not_apply(text, options, reason):
    assert outcome(text, **options) == reason


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"Fly" is a song.', '"Fly" is not a song.'),  # a title is no command
        ("The sum paid in May was small.", "The sum paid in May was not small."),  # a participle
        ("She sings and dances.", "She does not sing and dances."),
        ("I have never felt that it is late.", "I have felt that it is late."),  # and no second negation
        ("Claim made by Anna is true.", "Claim made by Anna is not true."),
    ],
)
def test_the_verb_of_the_clause_is_denied_and_no_other_word(text, expected):
    assert outcome(text) == expected


def test_add_skips_clauses_that_are_negated():
    assert outcome("She is not here, but he is there.", mode="add") == "She is not here, but he is not there."


def test_every_statement_of_a_text_can_be_drawn_and_questions_come_last():
    text = "Did it rain? It rained. We went home."
    made = {outcome(text, seed=seed) for seed in range(20)}
    assert made == {"Did it rain? It did not rain. We went home.", "Did it rain? It rained. We did not go home."}


def test_one_edit_touches_one_verb():
    [made] = perturb("negation", ["The council approved the plan on Monday, 3 May."])
    assert [made.original[e.start : e.end] for e in made.edits] == ["approved"]
    assert made.meta == {"mode": "add", "verb": "approved"}


def test_a_word_tagged_as_the_verb_is_edited_once():
    # "any" behind "doesn't" passes for a verb here, and would be made "some" besides.
    [made] = perturb("negation:mode=flip,contracted=true", ["dOESN'T ANY:A"])
    assert made.text == "ANIES:A"


@pytest.mark.parametrize("template", TEMPLATES, ids=str)
@given(text=ODD, seed=st.integers(0, 3))
def test_any_text_gives_a_different_text_or_a_reason(template, text, seed):
    [made] = outcomes = perturb(template, [text], seed=seed)
    if made is None:
        assert outcomes.reasons[0]
    else:
        assert made.text != text
        assert apply_edits(text, made.edits) == made.text


@given(texts=st.lists(ODD, min_size=2, max_size=4, unique=True))
def test_a_text_alone_and_in_a_batch_gives_the_same(texts):
    random.seed(0)
    together = perturb("negation", texts, seed=3)
    assert [perturb("negation", [t], seed=3)[0] for t in texts] == list(together)
