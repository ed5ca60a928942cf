"""Lists of names: who is f and m, what may be drawn, what is a place."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.text import names as name_lists
from nlgauge.text.doc import Token
from nlgauge.text.languages import language
from nlgauge.text.names import entities, persons


def test_a_first_name_has_the_gender_that_it_is_mostly_given_to(cases):
    for name, gender in cases:
        assert name_lists.gender_of(name) == (None if gender == "-" else gender)


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


# --- People found by their names: what is one, what is none, and which mentions are the same person


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


def test_people_are_found(cases):
    for text, names in cases:
        assert found(text) == names.split(" | ")


def test_places_organisations_months_and_words_are_no_people(cases):
    for text in cases:
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


# --- Named entities: where they begin and end, and what they are


def entities_found(text: str) -> list[tuple[str, str]]:
    return [(text[e.start : e.end], e.label) for e in entities(language().analyse(text).tokens)]


def test_names_are_found_whole_and_with_a_label(cases):
    for text, expected in cases:
        assert " | ".join(map(": ".join, entities_found(text))) == expected


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
