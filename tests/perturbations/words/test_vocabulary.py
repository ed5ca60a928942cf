"""Frequent words drawn in the form of another."""

import random

import pytest

from nlgauge.perturbations.perturb import make_cases
from nlgauge.perturbations.words.choice import is_counted
from nlgauge.perturbations.words.vocabulary import MASS_NOUNS, _common, _words, draw, room_for_noun, room_for_verb
from nlgauge.text.lexicon import POSES, rank
from nlgauge.text.tagging import tag


def token(text, word):
    [made] = make_cases([text])
    return made, next(t for t in made.doc.tokens if t.text == word)


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [
        ("The dogs barked.", "dogs", "counted"),
        ("A big dog barked.", "dog", "counted"),
        ("his old dog", "dog", "counted"),
        ("They drink cold water.", "water", "mass"),
        ("Water is cold.", "Water", "mass"),
        ("He left. Water is cold.", "Water", "mass"),
    ],
)
def test_which_nouns_a_place_has_room_for(text, word, expected):
    made, found = token(text, word)
    assert room_for_noun(made.doc, found) == expected


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [
        ("She painted the door.", "painted", "transitive"),
        ("She painted quickly.", "painted", "intransitive"),
        ("The door was painted.", "painted", "transitive"),
        ("She has painted it.", "painted", "transitive"),
        ("She has painted.", "painted", "intransitive"),
        ("They sleep", "sleep", "intransitive"),
    ],
)
def test_which_verbs_a_place_has_room_for(text, word, expected):
    made, found = token(text, word)
    assert room_for_verb(made.doc, found) == expected


def test_words_are_hardly_ever_another_part_of_speech():
    for part, pos in (("noun", "noun"), ("verb", "verb"), ("adj", "adj")):
        for word in _common(part):
            others = [rank(word, other) for other in POSES if other != pos]
            assert all(r is None or r > rank(word, pos) for r in others)


def test_kinds_part_the_words():
    assert all(map(is_counted, _words("noun", "counted")))
    assert len([word for word in MASS_NOUNS if is_counted(word)]) < 15  # "paper", "egg": both
    verbs = set(_common("verb"))
    assert set(_words("verb", "transitive")) | set(_words("verb", "intransitive")) == verbs
    assert not set(_words("verb", "transitive")) & set(_words("verb", "intransitive"))
    assert set(_words("adj", "any")) == set(_common("adj"))


@pytest.mark.parametrize(
    ("text", "word", "part", "kind", "tags"),
    [
        ("The old dog barked.", "dog", "noun", "counted", {"NN"}),
        ("The old dogs barked.", "dogs", "noun", "counted", {"NNS"}),
        ("The biggest dogs barked.", "biggest", "adj", "any", {"JJS"}),
    ],
)
def test_the_tagger_sees_the_tag_of_the_word_that_was_there(text, word, part, kind, tags):
    made, found = token(text, word)
    words = text.rstrip(".").split()
    rng = random.Random(0)
    seen = []
    for _ in range(60):
        form = draw(made, found, part, kind, rng)
        seen.append(tag([*(form if w == word else w for w in words), "."])[words.index(word)])
    assert sum(t in tags for t in seen) >= 57  # the tagger errs now and then


def test_what_is_to_be_avoided_is_not_drawn():
    made, found = token("The dog barked.", "dog")
    words = frozenset(_words("noun", "counted"))
    assert draw(made, found, "noun", "counted", random.Random(0), avoid=words) is None
    one = sorted(words - {"dog"})[0]
    assert draw(made, found, "noun", "counted", random.Random(0), avoid=words - {one}) in (one, None)
