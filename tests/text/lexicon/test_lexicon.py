"""The lexicon: what is related to a word, and what never is offered."""

from __future__ import annotations

import lzma
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.text.lexicon import lexicon
from nlgauge.text.lexicon.lexicon import POSES, RELATIONS, neighbours, related

ALL = (
    lzma.decompress(files("nlgauge").joinpath("data/language/lexicon.tsv.xz").read_bytes()).decode("ascii").splitlines()
)


@pytest.mark.parametrize(
    ("lemma", "pos", "relation", "word"),
    [
        ("small", "adj", "antonym", "large"),
        ("big", "adj", "antonym", "little"),
        ("good", "adj", "antonym", "bad"),
        ("happy", "adj", "antonym", "unhappy"),
        ("tall", "adj", "antonym", "short"),
        ("cheap", "adj", "antonym", "expensive"),
        ("win", "verb", "antonym", "lose"),
        ("buy", "verb", "antonym", "sell"),
        ("increase", "verb", "antonym", "decrease"),
        ("slowly", "adv", "antonym", "quickly"),
        ("man", "noun", "antonym", "woman"),
        ("car", "noun", "synonym", "automobile"),
        ("big", "adj", "synonym", "large"),
        ("cheap", "adj", "synonym", "inexpensive"),
        ("begin", "verb", "synonym", "start"),
        ("quickly", "adv", "synonym", "rapidly"),
        ("dog", "noun", "hyponym", "puppy"),
        ("bird", "noun", "hyponym", "hawk"),
        ("dog", "noun", "hypernym", "animal"),
        ("car", "noun", "sibling", "truck"),
        ("red", "adj", "sibling", "green"),
        ("brother", "noun", "sibling", "uncle"),
        ("table", "noun", "hyponym", "desk"),
        ("important", "adj", "similar", "main"),
    ],
)
def test_words_a_reader_expects_are_there(lemma, pos, relation, word):
    assert word in related(lemma, pos, relation)


@pytest.mark.parametrize(
    "antonym",
    [("hot", "cold"), ("high", "low"), ("old", "young"), ("first", "last"), ("strong", "weak"), ("new", "old")],
)
def test_the_direct_antonym_comes_first(antonym):
    word, opposite = antonym
    first = neighbours(word, "adj", "antonym")[0]
    assert (first.word, first.sure) == (opposite, True)


def test_an_antonym_by_way_of_a_near_synonym_is_less_sure():
    # "gigantic" has none of its own; it is like "large", whose antonym is "small"
    assert next((n.word, n.sure) for n in neighbours("gigantic", "adj", "antonym")) == ("small", False)
    assert related("gigantic", "adj", "antonym", unsure=False) == []


def test_a_rare_sense_says_nothing():
    assert "grandiloquent" not in related("tall", "adj", "synonym")  # the second sense, never met
    assert "machine" not in related("car", "noun", "synonym")  # means a car only now and then
    assert "chromatic" not in related("red", "adj", "similar")  # nobody says so
    assert lexicon.supersense("china", "noun") == "noun.artifact"  # porcelain: the country is written with a capital


def test_lists_hold_no_word_twice_and_never_the_word_itself():
    for line in ALL[::23]:
        lemma, letter, *_ = line.split("\t")
        pos = next(p for p in POSES if lexicon._LETTERS[p] == letter)
        for relation in RELATIONS:
            words = related(lemma, pos, relation, phrases=True)
            assert len(words) == len(set(words)), lemma
            assert lemma not in words


def test_nothing_on_the_list_of_crude_words_is_offered():
    offered = {word.lstrip("?") for line in ALL for cell in line.split("\t")[4:] for word in cell.split()}
    assert len(offered) > 20_000
    assert [word for word in offered if lexicon.is_blocked(word)] == []


def test_a_blocked_word_blocks_its_compounds_and_no_other_word():
    assert lexicon.is_blocked("fart")
    assert lexicon.is_blocked("Old-Fart")
    assert not lexicon.is_blocked("farther")
    assert not lexicon.is_blocked("dog")


def test_words_with_blanks_come_only_when_asked_for():
    assert "police car" not in related("car", "noun", "hyponym")
    assert "police car" in related("car", "noun", "hyponym", phrases=True)


def test_fields_of_meaning_tell_people_from_things():
    found = [lexicon.supersense(w, "noun") for w in ("teacher", "person", "chair", "dog", "city", "bread", "zzz")]
    assert found == ["noun.person", "noun.person", "noun.artifact", "noun.animal", "noun.location", "noun.food", None]
    assert lexicon.supersense("run", "verb") == "verb.motion"


def test_gender_of_nouns():
    assert [lexicon.gender(w) for w in ("uncle", "actress", "mother", "teacher", "table", "zzz")] == [
        "m",
        "f",
        "f",
        None,
        None,
        None,
    ]


def test_nouns_that_are_counted_and_nouns_that_are_not():
    assert [lexicon.countable(w) for w in ("dog", "car", "idea", "furniture", "information", "advice", "zzz")] == [
        True
    ] * 3 + [False] * 3 + [None]


def test_ranks_follow_frequency():
    ranks = [lexicon.rank(w, p) for w, p in (("man", "noun"), ("carpenter", "noun"), ("bookcase", "noun"))]
    assert ranks == sorted(ranks)
    assert lexicon.rank("zzz", "noun") is None
    assert next(iter(lexicon.lemmas("verb"))) == "be"
    assert lexicon.knows("Dog", "noun")
    assert not lexicon.knows("dog", "adv")


def test_a_wrong_part_of_speech_or_relation_is_told():
    with pytest.raises(InputError, match="no part of speech 'adjective', expected one of noun, verb, adj, adv"):
        related("big", "adjective", "synonym")
    with pytest.raises(InputError, match="no relation 'cousin', expected one of synonym"):
        related("big", "adj", "cousin")


@given(st.text(max_size=20), st.sampled_from(POSES), st.sampled_from(RELATIONS))
def test_no_word_is_too_odd(word, pos, relation):
    assert isinstance(related(word, pos, relation), list)
    assert lexicon.is_blocked(word) in (True, False)


@given(st.sampled_from(ALL))
def test_verbs_and_adverbs_have_the_relations_they_can_have(line):
    lemma, letter, *_ = line.split("\t")
    if letter == "r":
        assert related(lemma, "adv", "hyponym") == related(lemma, "adv", "sibling") == []
    if letter != "a":
        pos = next(p for p in POSES if lexicon._LETTERS[p] == letter)
        assert related(lemma, pos, "similar") == []
