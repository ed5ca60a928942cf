"""A random word of the same part of speech for a noun, a verb, an adjective."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.perturbations.base import Perturbed, apply_edits
from nlgauge.perturbations.perturb import perturb
from nlgauge.text.lexicon import inflect, lemma, related

NAMES = ("mismatch_noun", "mismatch_verb", "mismatch_adj")
pieces = st.sampled_from(
    [
        "The",
        "an",
        "old",
        "dogs",
        "well-known",
        "ate",
        "is",
        "has",
        "running",
        "apple",
        "TREE",
        "bigger",
        ",",
        ".",
        "’s",
        "\n",
        "\ud800",
        " ",
    ]
)
texts = st.lists(pieces, max_size=12).map(" ".join) | st.text(max_size=20)
SEEDS = range(25)


def one(name: str, text: str, seed: int = 0, **options: object) -> Perturbed | None:
    [made] = perturb(name, [text], seed=seed, **options)
    if made is not None:
        assert apply_edits(text, made.edits) == made.text != text
    return made


@pytest.mark.parametrize(
    ("name", "text", "word", "tag"),
    [
        ("mismatch_noun", "The dog barked.", "dog", "NN"),
        ("mismatch_noun", "The dogs barked.", "dogs", "NNS"),
        ("mismatch_verb", "She painted the door.", "painted", "VBD"),
        ("mismatch_verb", "She has eaten the bread.", "eaten", "VBN"),
        ("mismatch_verb", "He sings every day.", "sings", "VBZ"),
        ("mismatch_verb", "They were eating bread.", "eating", "VBG"),
        ("mismatch_verb", "They don’t eat bread.", "eat", "VB"),
        ("mismatch_adj", "The soup was hot.", "hot", "JJ"),
        ("mismatch_adj", "The nicest house burned.", "nicest", "JJS"),
        ("mismatch_adj", "This is a nicer house.", "nicer", "JJR"),
    ],
)
def test_the_new_word_bears_the_tag_of_the_old_one(name, text, word, tag):
    for seed in SEEDS:
        made = one(name, text, seed)
        assert made is not None
        assert made.meta["word"] == word
        assert made.meta["tag"] == tag
        new = made.meta["replacement"]
        base = lemma(new, tag)
        assert inflect(base, tag) == new
        assert base != lemma(word, tag)
        assert base not in related(lemma(word, tag), {"N": "noun", "V": "verb", "J": "adj"}[tag[0]], "synonym")
        before, after = text.split(word)
        assert made.text == before + new + after or made.text.endswith(f"{new}{after}")  # or the article changed


def test_the_article_and_the_capital_fit():
    for seed in SEEDS:
        made = one("mismatch_adj", "This is an old house.", seed)
        assert (
            made.text.split()[2] == ("an" if made.meta["replacement"][0] in "aeio" else "a")
            or made.meta["replacement"][0] in "uh"
        )
        assert one("mismatch_noun", "Dogs bark.", seed).text[0].isupper()
        assert one("mismatch_noun", "BREAD BURNS", seed).text.split()[0].isupper()


def test_behind_a_and_in_the_plural_stands_what_can_be_counted():
    for seed in SEEDS:
        assert one("mismatch_noun", "This is a dog.", seed).meta["replacement"] not in {
            "money",
            "water",
            "silence",
            "furniture",
            "music",
        }
    assert one("mismatch_noun", "Bread burns.", 0) is not None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("mismatch_verb", "He is tall."),
        ("mismatch_verb", "They have and they will, but we don’t and must not."),
        ("mismatch_verb", "Let’s go."),
        ("mismatch_adj", "The other child is ten years old."),
        ("mismatch_adj", "A well-known White House."),
        ("mismatch_noun", "Someone met Tom today."),
        ("mismatch_noun", "20 percent"),
    ],
)
def test_auxiliaries_names_and_words_of_grammar_stay(name, text):
    outcome = perturb(name, [text])
    assert outcome == [None]
    assert outcome.reasons == [
        {"mismatch_verb": "no verb", "mismatch_adj": "no adjective", "mismatch_noun": "no noun"}[name]
    ]


def test_a_word_of_a_kindred_meaning_on_request():
    kindred = {one("mismatch_noun", "The dog barked.", seed, semantic=True).meta["replacement"] for seed in SEEDS}
    assert kindred == {"cat", "wolf", "fox"}
    assert one("mismatch_adj", "The wall is red.", semantic=True).meta["replacement"] in related(
        "red", "adj", "sibling"
    )
    assert perturb("mismatch_adj", ["The wall is wooden."], semantic=True).reasons == ["no word of a kindred meaning"]


def test_many_words_can_be_drawn():
    assert len({one("mismatch_noun", "The dog barked.", seed).text for seed in range(100)}) > 80


@pytest.mark.parametrize("name", NAMES)
@given(text=texts, seed=st.integers(0, 9), semantic=st.booleans())
def test_no_text_is_too_odd_and_one_word_changes(name, text, seed, semantic):
    made = one(name, text, seed, semantic=semantic)
    if made is not None:
        assert len(made.text.split()) == len(text.split())
        changed = [(a, b) for a, b in zip(text.split(), made.text.split(), strict=True) if a != b]
        assert len([pair for pair in changed if {w.lower() for w in pair} != {"a", "an"}]) == 1
