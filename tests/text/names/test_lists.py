"""Lists of names: who is f and m, what may be drawn, what is a place."""

from __future__ import annotations

import pytest

from nlgauge.text.names import lists as name_lists


@pytest.mark.parametrize(
    ("name", "gender"),
    [
        ("Mary", "f"),
        ("JOHN", "m"),
        ("Cameron", "m"),
        ("Jamie", None),
        ("Leslie", None),
        ("Vladimir", "m"),
        ("Olga", "f"),
        ("Xyzzy", None),
    ],
)
def test_a_first_name_has_the_gender_that_it_is_mostly_given_to(name, gender):
    assert name_lists.gender_of(name) == gender


def test_names_to_draw_are_neither_words_nor_places_and_the_most_frequent_come_first():
    women, men, last = name_lists.first_names("f"), name_lists.first_names("m"), name_lists.last_names()
    assert (women[0], men[0], last[0]) == ("Mary", "James", "Smith")
    assert not {"Virginia", "Georgia", "Grace", "April", "Joy"} & set(women)
    assert not {"Mark", "Bill", "Jordan", "Austin"} & set(men)
    assert not {"Brown", "King", "Jackson", "Thomas"} & set(last)
    assert not set(women) & set(men)
    assert min(len(women), len(men), len(last)) > 400


def test_places_have_a_kind():
    found = name_lists.places()
    assert [found[p] for p in ("France", "Paris", "Texas", "San Diego", "Alps")] == [
        "country",
        "capital",
        "state",
        "place",
        "place",
    ]
    assert "UK" in found
    assert "ME" not in found


def test_words_of_names_are_small_letters():
    assert all(
        w == w.lower()
        for kind in ("title", "title-m", "title-f", "sure", "organisation", "particle")
        for w in name_lists.name_words(kind)
    )
    assert "mr." in name_lists.name_words("title-m")


def test_a_name_met_often_as_a_word_is_a_word():
    assert [name_lists.is_word(n) for n in ("Mark", "Grace", "Will", "Mary", "Twain")] == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_last_names_and_shares():
    assert name_lists.is_last_name("SMITH")
    assert not name_lists.is_last_name("Xyzzy")
    assert name_lists.share("Mary") == pytest.approx(2.629)
    assert name_lists.share("Xyzzy") == 0
    assert name_lists.is_first_name("Igor")
