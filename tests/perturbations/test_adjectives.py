"""Adjectives left out before nouns, with what grades them."""

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.perturbations.base import apply_edits
from nlgauge.perturbations.perturb import make_cases, perturb, perturbation
from nlgauge.perturbations.scenes import _attribute_table, attribute
from nlgauge.text.lexicon import knows, lemma

pieces = st.sampled_from([
    "a", "an", "The", "big", "very", "old", "red", "well-known", "and", ",", "car", "dogs", "is", "18-year-old", ".",
    "’s", "\n", "\ud800", " ", " ",
])  # fmt: skip
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


def test_a_set_excludes_itself_and_what_is_too_near():
    assert "red" not in attribute("red").fitting(None)
    assert "green" in attribute("red").fitting(None)
    assert not {"red", "pink", "purple"} & set(attribute("maroon").fitting(None)) - {"pink"}


def test_some_words_are_only_for_some_nouns():
    assert "tall" in attribute("small").fitting("person")
    assert "tall" not in attribute("small").fitting("artifact")
    assert attribute("old").fitting("person") == ["young"]
    assert attribute("old").fitting(None) == ["new", "modern"]


def test_unknown_words_have_no_kind():
    assert attribute("chromatic") is None


def test_every_word_of_the_table_is_known_and_no_word_is_its_own_replacement():
    unknown = {"pointy", "shirtless"}  # no lemmas of WordNet's, and no misspellings
    for word, known in _attribute_table().items():
        words = [o.word for o in known.others]
        assert word not in words
        assert words
        for other in {word, *words} - unknown:
            assert knows(other, "adj") or knows(other, "noun"), other


def test_fields_are_those_of_the_lexicon():
    fields = {field for known in _attribute_table().values() for other in known.others for field in other.fields}
    assert fields <= {
        "person",
        "animal",
        "plant",
        "body",
        "object",
        "location",
        "artifact",
        "food",
        "phenomenon",
        "substance",
    }


# --- A random noun joined to a noun

nouns_pieces = st.sampled_from([
    "The", "a", "dog", "cats", "bus stop", "man’s", "barked", "sun", "e-mail", "in front of", "Tom", "DOGS", ",", ".",
    "\n", "\ud800", " ",
])  # fmt: skip
nouns_texts = st.lists(nouns_pieces, max_size=12).map(" ".join) | st.text(max_size=20)
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


@given(text=nouns_texts, seed=st.integers(0, 9))
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
