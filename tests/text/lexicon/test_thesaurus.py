"""Words of our own choice: that each is a word, and what the fields and the set phrases are for."""

from hashlib import blake2b
from importlib.resources import files

import pytest

from nlgauge.text.lexicon.lexicon import lemmas, supersense
from nlgauge.text.lexicon.thesaurus import OwnWord, _set_phrases, _table, in_set_phrase, own_words

RELATIONS = {"adj": {"synonym", "antonym"}, "adv": {"synonym", "antonym"}, "verb": {"synonym", "antonym"},
             "noun": {"synonym", "antonym", "hyponym", "hypernym", "sibling"}}  # fmt: skip


def test_words_come_best_first_with_the_fields_they_are_meant_for():
    assert own_words("delicious", "adj", "synonym") == (OwnWord("tasty", frozenset()),)
    assert own_words("old", "adj", "antonym") == (
        OwnWord("young", frozenset({"person", "animal"})),
        OwnWord("new", frozenset()),
    )


def test_no_word_at_all_is_not_the_same_as_none_of_ours():
    assert own_words("be", "verb", "antonym") == ()
    assert own_words("xyzzy", "adj", "synonym") is None


def test_every_relation_is_one_that_the_part_of_speech_has():
    assert {(pos, relation) for _, pos, relation in _table()} == {
        (pos, r) for pos, some in RELATIONS.items() for r in some
    }


def test_no_word_is_related_to_itself_or_given_twice():
    for (lemma, _, _), words in _table().items():
        given = [w.word for w in words]
        assert lemma not in given
        assert len(set(given)) == len(given)


def test_no_word_is_one_that_the_lexicon_blocks():
    blocked = set(files("nlgauge").joinpath("data/language/blocked.txt").read_text("ascii").split())
    ours = {w.word for words in _table().values() for w in words}
    assert {word for word in ours if blake2b(word.encode(), digest_size=6).hexdigest() in blocked} <= {
        "brave"
    }  # blocked as a noun alone


def test_nearly_every_word_is_one_of_the_lexicon():
    # a few are younger than WordNet or rarer than its extract
    known = {(lemma, pos) for pos in ("noun", "verb", "adj", "adv") for lemma in lemmas(pos)}
    strange = {(w.word, pos) for (_, pos, _), words in _table().items() for w in words if (w.word, pos) not in known}
    assert len(strange) < 10


def test_every_field_is_one_of_nouns():
    fields = {supersense(lemma, "noun").partition(".")[2] for lemma in lemmas("noun")}
    assert {f for words in _table().values() for w in words for f in w.fields} <= fields


@pytest.mark.parametrize(
    ("adjective", "noun", "expected"),
    [
        ("high", "school", True),
        ("high", "schools", True),
        ("foreign", "policies", True),
        ("high", "wall", False),
        ("purple", "school", False),
    ],
)
def test_an_adjective_may_belong_to_its_noun(adjective, noun, expected):
    assert in_set_phrase(adjective, noun) is expected


def test_set_phrases_are_small_letters_in_order():
    adjectives = list(_set_phrases())
    assert adjectives == sorted(adjectives)
    assert all(word.isalpha() and word.islower() for nouns in _set_phrases().values() for word in nouns)
