"""Which words can be exchanged, and in which form."""

import pytest

from nlgauge.perturbations.perturb import make_cases
from nlgauge.perturbations.words.choice import (
    after_measure,
    field_of,
    form_for,
    in_name,
    is_counted,
    is_grammar,
    is_nominal,
    modified_noun,
    single_words,
    stands_alone,
    words_of,
)


def case(text):
    [made] = make_cases([text])
    return made


def token(text, word):
    made = case(text)
    return made, next(t for t in made.doc.tokens if t.text == word)


@pytest.mark.parametrize(
    ("text", "part", "expected"),
    [
        ("The well-known old man's dogs saw the White House.", "adj", ["old"]),
        ("The well-known old man's dogs saw the White House.", "noun", ["man", "dogs"]),
        ("A red/blue flag and/or a co-worker", "noun", ["flag"]),
        ("OLD DOGS AND A SMALL HOUSE", "adj", ["OLD", "SMALL"]),
        ("a very inspiring film about a broken chair", "adj", ["inspiring", "broken"]),
        ("The film was boring.", "adj", ["boring"]),
        ("He was boring a hole.", "adj", []),
        ("He reads e.g. an iPhone manual.", "noun", ["manual"]),
        ("ring the bell.", "noun", ["bell"]),
        ("Дом", "noun", []),
        ("", "noun", []),
    ],
)
def test_words_that_stand_alone(text, part, expected):
    found = [t.text for t in single_words(case(text).doc, part)]
    assert [w for w in found if w != "Дом"] == expected


def test_a_full_stop_ties_nothing():
    made, dog = token("I saw a dog.", "dog")
    assert stands_alone(made.doc, dog)
    made, red = token("a red-hot iron", "red")
    assert not stands_alone(made.doc, red)


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [
        ("He saw the White car", "White", True),
        ("White cars passed by", "White", False),
        ("WHITE CARS PASSED", "WHITE", False),
        ("He read the BBC news", "BBC", True),
        ("iPhone", "iPhone", True),
        ("It is a red Ford", "Ford", True),
        ("Red Car For Sale", "Car", False),  # all words have capitals: they say nothing
    ],
)
def test_a_capital_speaks_of_a_name_where_others_are_small(text, word, expected):
    made, found = token(text, word)
    assert in_name(made.doc, found) is expected


@pytest.mark.parametrize(
    ("text", "word", "noun", "field"),
    [
        ("an old tired man", "old", "man", "person"),
        ("the old bus stop", "old", "stop", None),
        ("He is old.", "old", "He", "person"),
        ("The last 4 years", "last", "years", "time"),
        ("old!", "old", None, None),
    ],
)
def test_what_an_adjective_describes(text, word, noun, field):
    made, found = token(text, word)
    about = modified_noun(made.doc, found)
    assert (about.text if about else None) == noun
    if noun != "stop":
        assert field_of(made, about) == field


@pytest.mark.parametrize(
    ("text", "word", "lemma", "part", "expected"),
    [
        ("two dogs", "dogs", "cat", "noun", "cats"),
        ("two dogs", "dogs", "dog", "noun", None),
        ("the 1-0 win", "win", "defeat", "noun", "defeat"),  # whatever the tagger takes it for
        ("People came.", "People", "farmer", "noun", "farmers"),
        ("the biggest", "biggest", "small", "adj", "smallest"),
        ("the biggest", "biggest", "expensive", "adj", "most expensive"),
        ("She painted it.", "painted", "sing", "verb", "sang"),
        ("a very inspiring film", "inspiring", "dull", "adj", "dull"),  # a participle has no form to be kept
    ],
)
def test_the_form_is_that_of_the_word(text, word, lemma, part, expected):
    made, found = token(text, word)
    assert form_for(made, found, lemma, part) == expected


def test_what_can_be_counted_goes_by_the_field_of_meaning():
    assert all(map(is_counted, ("dog", "nurse", "chair", "village", "wedding")))
    assert not any(map(is_counted, ("water", "furniture", "courage", "xyzzy")))


def test_words_of_grammar_are_told_by_part_of_speech():
    assert is_grammar("other", "adj")
    assert is_grammar("have", "verb")
    assert is_grammar("someone", "noun")
    assert not is_grammar("other", "verb")


@pytest.mark.parametrize(
    ("text", "word", "expected"),
    [
        ("In general, we agree.", "general", True),
        ("We agree, in particular for now.", "particular", True),
        ("at the ready", "ready", True),
        ("the rich and the poor", "poor", False),
        ("in big cars", "big", False),
        ("in big, red cars", "big", False),
        ("He is ready.", "ready", False),
    ],
)
def test_an_adjective_may_stand_for_a_noun(text, word, expected):
    made, found = token(text, word)
    assert is_nominal(made.doc, found) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("two years old", True),
        ("185 cm long", True),
        ("a foot long", True),
        ("the old men", False),
        ("some dogs old", False),
    ],
)
def test_a_measure_may_stand_before_an_adjective(text, expected):
    made, found = token(text, "long" if "long" in text else "old")
    assert after_measure(made.doc, found) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is a little late.", True),
        ("There is very little time left.", True),
        ("He had little money.", True),
        ("He has a little red boat.", False),
        ("Little boats sail.", False),
        ("She likes little boats.", False),
    ],
)
def test_little_may_say_how_much(text, expected):
    made, found = token(text, "Little" if text.startswith("L") else "little")
    assert after_measure(made.doc, found) is expected


def test_words_of_a_text_are_small():
    assert words_of(case("The DOG’s")) == {"the", "dog", "'s"}


@pytest.mark.parametrize(("adjectives", "noun"), [(90, "dog"), (110, None)])
def test_an_adjective_is_no_more_than_a_hundred_words_from_its_noun(adjectives, noun):
    # a search to the noun for each adjective takes the square of their number
    (case,) = make_cases(["red " * adjectives + "dog"])
    found = modified_noun(case.doc, case.doc.tokens[0])
    assert (found and found.text) == noun
