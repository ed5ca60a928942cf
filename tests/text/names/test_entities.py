"""Named entities: where they begin and end, and what they are."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.text.languages import language
from nlgauge.text.names.entities import entities


def found(text: str) -> list[tuple[str, str]]:
    return [(text[e.start : e.end], e.label) for e in entities(language().analyse(text).tokens)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He left the Bank of England in May.", [("Bank of England", "organisation")]),
        ("They met President Barack Obama in New York.", [("President Barack Obama", "person"), ("New York", "place")]),
        (
            "The United Nations and the FBI were silent on Monday.",
            [("United Nations", "organisation"), ("FBI", "organisation")],
        ),
        ("She studied at the University of the Arts.", [("University of the Arts", "organisation")]),
        ("Lawyers sued Johnson & Johnson.", [("Johnson & Johnson", "organisation")]),
        ("It rained in South Africa and at Lake Tahoe.", [("South Africa", "place"), ("Lake Tahoe", "place")]),
        ("We saw Metallica.", [("Metallica", "other")]),
        ("Nobody came on Tuesday.", []),
        ("", []),
    ],
)
def test_names_are_found_whole_and_with_a_label(text, expected):
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He won the Player of the Year award.", ["Player of the Year"]),
        ("Nobody knew the Carter Constant.", ["Carter Constant"]),
        ("He reads the Sunday Times on Monday.", ["Sunday Times"]),
        ("the inn near san francisco and berlin", []),  # without capitals no name is sure to be whole
        ("X is near Y in the north.", []),
        ("Woman was hurt.", []),
    ],
)
def test_whole_names_have_all_their_capitals_and_are_surely_names(text, expected):
    found = entities(language().analyse(text).tokens, whole=True)
    assert [text[e.start : e.end] for e in found] == expected


def test_a_person_carries_the_mention():
    (entity,) = entities(language().analyse("Then Mr. Smith left.").tokens)
    assert entity.label == "person"
    assert entity.person is not None
    assert entity.person.gender == "m"
    assert entity.first == entity.person.title


@given(st.text(alphabet=st.sampled_from("AB of&the-.,'’\u00a0\n\tMrSmithJohn"), max_size=60))
def test_entities_never_overlap(text):
    tokens = language().analyse(text).tokens
    spans = [(e.first, e.last) for e in entities(tokens)]
    assert all(a[1] < b[0] for a, b in pairwise(spans))
    assert all(0 <= a <= b < len(tokens) for a, b in spans)
