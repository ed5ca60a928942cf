"""People found by their names: what is one, what is none, and which mentions are the same person."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.text.doc import Token
from nlgauge.text.languages import language
from nlgauge.text.names.people import persons


def tagged(line: str) -> list[Token]:
    """Tokens of word/TAG pairs with a blank between each two, save around hyphens."""
    tokens, start = [], 0
    for index, pair in enumerate(line.split()):
        word, _, tag = pair.rpartition("/")
        if index and "-" in (word, tokens[-1].text):
            start -= 1
        tokens.append(Token(index, start, start + len(word), word, tag))
        start += len(word) + 1
    return tokens


def found(text: str) -> list[str]:
    return [text[p.start : p.end] for p in persons(language().analyse(text).tokens)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Angela Merkel came late.", ["Angela Merkel"]),
        ("We met Mr. Smith there.", ["Smith"]),
        ("Yesterday Dr Jane Roe resigned.", ["Jane Roe"]),
        ("I saw John at the door.", ["John"]),
        ("Yesterday Mary met Raj.", ["Mary", "Raj"]),
        ("She asked President Barack Obama.", ["Barack Obama"]),
        ("It was John F. Kennedy Jr. who won.", ["John F. Kennedy Jr."]),
        ("Then Ursula von der Leyen spoke.", ["Ursula von der Leyen"]),
        ("Both Jean-Claude Juncker and Sarah O'Brien agreed.", ["Jean-Claude Juncker", "Sarah O'Brien"]),
        ("The dog bit Peter’s hand.", ["Peter"]),
        ("Soon Mark Twain met James and Will Smith.", ["Mark Twain", "James", "Will Smith"]),
        ("They say Virginia Jones has left.", ["Virginia Jones"]),
        ("Critics of Queen Elizabeth fell silent.", ["Elizabeth"]),
        ("He thanked Gary.", ["Gary"]),
        ("She likes Ms. Young.", ["Young"]),
    ],
)
def test_people_are_found(text, names):
    assert found(text) == names


@pytest.mark.parametrize(
    "text",
    [
        "They flew to Paris.",
        "The army of Mali is small.",
        "A Job is hard to find.",
        "The West is wild.",
        "He lives in Washington State.",
        "She moved to San Diego, Texas.",
        "Virginia is a state.",
        "It borders on Georgia and Jordan.",
        "In April it rained, and in May and June.",
        "It was held in May. Then April came.",
        "The Bank of England lost.",
        "He works for Johnson & Johnson.",
        "Morgan Stanley grew.",
        "The Princess Grace hospital burned down.",
        "Stanford University is old.",
        "St. Mary's Hospital is new.",
        "The Christian Democrats won.",
        "Prince Edward Island is cold.",
        "The President Elect spoke.",
        "General Motors sells cars.",
        "Mark these words.",
        "Grace is a virtue.",
        "He read Bill C-24.",
        "The Washington Post wrote it.",
        "They won the Stanley Cup.",
        "We climbed Mount Everest.",
        "Trump won.",
        "Alzheimer's is a disease.",
        "Chelsea beat Arsenal.",
        "",
        "the man and the dog",
        "12 % of it",
        "He is in Jackson.",
    ],
)
def test_places_organisations_months_and_words_are_no_people(text):
    assert found(text) == []


def test_the_parts_of_a_name_are_told():
    # 0 President/1 George/2 W./3 Bush/4 Jr.
    tokens = tagged("President/NNP George/NNP W./NNP Bush/NNP Jr./NNP left/VBD ./.")
    (bush,) = persons(tokens)
    assert (bush.first, bush.last, bush.title, bush.given, bush.family) == (1, 4, 0, 1, 3)
    assert (bush.start, bush.end, bush.gender, bush.who, bush.label) == (10, 28, "m", 0, "person")


def test_a_title_tells_the_gender_and_comes_before_a_last_name():
    mr, mrs, dr = persons(tagged("Mr./NNP Blair/NNP ,/, Mrs/NNP Jones/NNP and/CC Dr/NNP Cho/NNP"))
    assert [(p.gender, p.given, p.family) for p in (mr, mrs, dr)] == [("m", None, 1), ("f", None, 4), (None, None, 7)]


def test_double_names_and_particles_keep_the_gender_of_the_first_name():
    people = persons(tagged("Bashar/NNP al/FW -/HYPH Assad/NNP met/VBD Ursula/NNP von/FW der/FW Leyen/NNP"))
    assert [(p.gender, p.given, p.family) for p in people] == [("m", 0, 3), ("f", 5, 8)]


def test_names_of_both_genders_have_none():
    assert [p.gender for p in persons(tagged("Jamie/NNP Brown/NNP met/VBD Mary/NNP and/CC Cameron/NNP ./."))] == [
        None,
        "f",
        "m",
    ]


def test_later_and_earlier_mentions_are_the_same_person():
    tokens = tagged(
        "Merkel/NNP met/VBD Tom/NNP Cameron/NNP ./. Angela/NNP Merkel/NNP smiled/VBD ;/: Cameron/NNP and/CC Tom/NNP"
        " frowned/VBD ./."
    )
    people = persons(tokens)
    assert [(p.first, p.who, p.gender) for p in people] == [
        (0, 0, "f"),
        (2, 1, "m"),
        (5, 0, "f"),
        (9, 1, "m"),
        (11, 1, "m"),
    ]
    assert [(p.given, p.family) for p in people] == [(None, 0), (2, 3), (5, 6), (None, 9), (11, None)]


def test_a_last_name_that_nobody_bears_in_full_is_left_alone():
    assert persons(tagged("Merkel/NNP smiled/VBD ./.")) == []


def test_two_people_of_one_first_name_are_two():
    assert [p.who for p in persons(tagged("John/NNP Smith/NNP met/VBD John/NNP Brown/NNP ./."))] == [0, 1]


def test_headlines_in_capitals_need_a_frequent_last_name():
    assert len(persons(tagged("JOHN/NNP SMITH/NNP WINS/VBZ"))) == 1
    assert persons(tagged("GRACE/NNP PERIOD/NNP ENDS/VBZ")) == []


def test_a_first_name_after_a_determiner_or_inside_a_place_is_left_alone():
    assert persons(tagged("the/DT Peter/NNP and/CC in/IN Peter/NNP")) == []


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                ["Mr", "Angela", "Merkel", "-", "von", "&", "May", "Paris", "of", "\ud800", "II", "St.", "."]
            ),
            st.sampled_from(["NNP", "NNPS", "NN", "IN", "HYPH", "."]),
        ),
        max_size=12,
    )
)
def test_people_never_overlap_and_lie_within_the_text(pairs):
    tokens = tagged(" ".join(f"{w}/{t}" for w, t in pairs))
    people = persons(tokens)
    assert all(0 <= p.first <= p.last < len(tokens) for p in people)
    assert all(a.last < b.first for a, b in pairwise(people))
    assert all(p.first <= i <= p.last for p in people for i in (p.given, p.family) if i is not None)
    assert {p.who for p in people} == set(range(len({p.who for p in people})))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Phillips was a child prodigy.", ["Phillips"]),
        ("They knew that Phillips had left.", ["Phillips"]),
        ("Brown is a colour.", []),
        ("Washington said no.", []),
        ("The Phillips was sold.", []),
        ("We saw Phillips.", []),
    ],
)
def test_a_frequent_last_name_alone_is_a_person_where_it_is_the_subject(text, names):
    assert found(text) == names
