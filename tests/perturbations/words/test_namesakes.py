import random

import pytest

from nlgauge.perturbations.words.namesakes import (
    CITIES,
    COUNTRIES,
    STATES,
    another_first_name,
    another_last_name,
    another_place,
    basis,
    family_span,
    given_span,
)
from nlgauge.text.languages import language
from nlgauge.text.names import gender_of, is_first_name, places


def person(text):
    doc = language().analyse(text)
    return doc, language().persons(doc)[0]


def words(doc, span):
    return None if span is None else doc.between(doc.span(*span))


@pytest.mark.parametrize(
    ("text", "given", "family"),
    [
        ("Robert Miller left.", "Robert", "Miller"),
        ("Then Robert left.", "Robert", None),
        ("Mr Miller left.", None, "Miller"),
        ("Robert van Dyke left.", "Robert", "van Dyke"),
    ],
)
def test_parts_of_a_name(text, given, family):
    doc, found = person(text)
    assert words(doc, given_span(doc, found)) == given
    assert words(doc, family_span(doc, found)) == family


def test_what_tells_the_gender():
    assert basis(*person("Then Robert left.")) == "first name"
    assert basis(*person("Mrs Miller left.")) == "title"
    assert basis(*person("Dr Miller left.")) == "unknown"


@pytest.mark.parametrize("gender", ["f", "m"])
def test_first_names_are_of_the_gender_and_not_taken(gender):
    first = {another_first_name(random.Random(seed), gender, set()) for seed in range(300)}
    assert {gender_of(name) for name in first} == {gender}
    taken = {name.lower() for name in first}
    assert another_first_name(random.Random(0), gender, taken).lower() not in taken


def test_without_a_gender_any_clear_first_name_will_do():
    assert {gender_of(another_first_name(random.Random(seed), None, set())) for seed in range(50)} == {"f", "m"}


def test_last_names_are_no_first_names_and_not_taken():
    names = {another_last_name(random.Random(seed), {"jones"}) for seed in range(300)}
    assert "Jones" not in names
    assert not [name for name in names if is_first_name(name) or not name[0].isupper()]
    assert not [name for name in names if name.startswith("Mc") and not name[2].isupper()]


def test_a_name_is_found_even_where_all_are_taken():
    class Everything:
        def __contains__(self, name):
            return True

    assert another_last_name(random.Random(0), Everything()).endswith("son")


def test_places_keep_their_kind():
    rng = random.Random(0)
    assert another_place(rng, "Sweden", set()) in COUNTRIES
    assert another_place(rng, "Oregon", set()) in STATES
    assert another_place(rng, "Vienna", set()) in CITIES
    assert another_place(rng, "Narnia", set()) is None
    assert another_place(rng, "Sweden", {name.lower() for name in COUNTRIES}) is None


def test_our_places_are_places():
    assert {places().get(name) for name in COUNTRIES} == {"country"}
    assert {places().get(name) for name in STATES} == {"state"}
    assert {places().get(name) for name in CITIES} <= {"capital", "place"}
