"""A random noun joined to a noun."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.perturbations.base import apply_edits
from nlgauge.perturbations.perturb import perturb
from nlgauge.text.lexicon import lemma

pieces = st.sampled_from(
    [
        "The",
        "a",
        "dog",
        "cats",
        "bus stop",
        "man’s",
        "barked",
        "sun",
        "e-mail",
        "in front of",
        "Tom",
        "DOGS",
        ",",
        ".",
        "\n",
        "\ud800",
        " ",
    ]
)
texts = st.lists(pieces, max_size=12).map(" ".join) | st.text(max_size=20)
SEEDS = range(30)


def added(text: str, seed: int = 0) -> tuple[int, str] | None:
    [made] = perturb("addition", [text], seed=seed)
    if made is None:
        return None
    assert apply_edits(text, made.edits) == made.text
    [(start, end, new)] = made.edits
    assert start == end
    return start, new


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("The dog barked.", "The dog"),
        ("dogs", "dogs"),
        ("He painted the bus stop yesterday.", "He painted the bus stop"),
        ("The man's hat is red.", "The man's hat"),
        ("The man’s hat is red.", "The man’s hat"),
        ("The director Tom Hanks wore a hat.", "The director Tom Hanks wore a hat"),
        ("Sadly, in front of the house a child cried.", None),  # either of two heads, never front
        ("The 18-year-old girl sang.", "The 18-year-old girl"),
        ("He read chapter 3 of the novel.", "He read chapter 3 of the novel"),
        ("The tree fell on Monday.", "The tree"),
    ],
)
def test_two_words_are_put_behind_the_head_of_a_phrase(text, place):
    for seed in SEEDS:
        found = added(text, seed)
        assert found is not None
        start, new = found
        assert place is None or text[:start] == place
        assert not text[:start].endswith("front")
        blank, conjunction, noun = new.split(" ")
        assert (blank, conjunction) == ("", "and")
        assert noun.isalpha()
        assert noun not in text


def test_the_noun_has_the_number_of_the_other():
    for seed in SEEDS:
        noun = added("The dogs barked.", seed)[1].removeprefix(" and ")
        assert lemma(noun, "NNS") != noun
        noun = added("The dog barked.", seed)[1].removeprefix(" and ")
        assert lemma(noun, "NN") == noun


def test_capitals_are_answered_with_capitals():
    assert added("THE DOG BARKED")[1].isupper()


def test_many_nouns_can_be_drawn():
    assert (
        len({added("The dog barked.", seed)[1] for seed in range(100)}) > 80
    )  # 1,600 words, so that hardly one comes twice


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("They ran.", "no noun"),
        ("Tom met Mary.", "no noun"),
        ("Something happened.", "no place behind a noun"),
        ("Page 3", "no place behind a noun"),
        ("?!", "no noun"),
    ],
)
def test_without_a_noun_to_join_there_is_a_reason(text, reason):
    outcome = perturb("addition", [text])
    assert outcome == [None]
    assert outcome.reasons == [reason]


@given(text=texts, seed=st.integers(0, 9))
def test_no_text_is_too_odd_and_nothing_else_moves(text, seed):
    found = added(text, seed)
    if found is not None:
        assert found[1].split()[0].lower() == "and"
        assert len(found[1].split()) == 2
        assert perturb("addition", ["The sun", text], seed=seed)[1].edits == [(found[0], found[0], found[1])]


@pytest.mark.parametrize("text", ["The price of gold rose.", "Shares in gold rose.", "The number of deaths rose."])
def test_a_verb_at_the_end_that_was_tagged_as_a_noun_is_joined_to_none(text):
    for seed in range(10):
        (made,) = perturb("addition", [text], seed=seed)
        assert made.text.endswith(" rose.")


def test_a_flower_is_still_a_noun():
    (made,) = perturb("addition", ["He picked the gold rose."])
    assert made.text.startswith("He picked the gold rose and ")
