"""Whose marks belong to which text: by id, else by system and item; each text is found, or its absence is counted."""

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.core.marks import ErrorSpan
from nlgauge.io.marked import MarkedText
from nlgauge.metaeval.span_texts import Index, as_texts, item_numbers, judged_texts, known_to_all

MARK = (ErrorSpan(2, 5, "major"),)


def text(item, system="A", spans=MARK, **more):
    return MarkedText(item, system, spans, **more)


def test_an_explanation_is_a_marked_text():
    segments = (ng.Segment("s", "a b", ("a c",), system="A", item="1"), ng.Segment("t", "a c", ("a c",)))
    explained = ng.explain(ng.Dataset(segments), method="words")
    # "b" is not in "a c"; a segment that names no item is an item of its own.
    assert list(as_texts(explained)) == [
        MarkedText("1", "A", explained[0].spans, "a b", id="s"),
        MarkedText("t", None, (), "a c", id="t"),
    ]
    assert [(span.start, span.end) for span in explained[0].spans] == [(2, 3)]
    assert list(as_texts([text("1")])) == [text("1")]


def test_texts_that_nobody_looked_at_are_not_texts_without_errors():
    people = [text("1"), text("1", "B", ()), text("2", spans=None), text("2", "B"), text("3", "C", None)]
    assert judged_texts(people, ()) == (
        [people[0], people[1], people[3]],
        ["2 texts in which nobody looked for errors are left out"],
    )
    assert judged_texts(people, ["C"]) == (
        [people[0], people[1], people[3]],
        ["2 of 3 systems (left out: C)", "1 texts in which nobody looked for errors are left out"],
    )
    with pytest.raises(InputError, match="exclude names 'D', which is not among the systems"):
        judged_texts(people, ["D"])
    with pytest.raises(InputError, match="no text in which people looked"):
        judged_texts(people, ["A", "B"])


def test_an_id_goes_before_system_and_item():
    people = [text("1", id="x"), text("2", id="y"), text("3")]
    moved = [text("2", id="x"), text("1", id="z")]  # the first has the id of text 1, the second its system and item
    assert Index("m", moved).of(people) == [moved[0], moved[0], None]


def test_what_a_method_did_not_look_at_is_none():
    silent = [text("1", spans=None), text("2", spans=())]
    assert Index("m", silent).of([text("1"), text("2"), text("3")]) == [None, silent[1], None]


def test_two_texts_of_a_method_are_an_error_only_where_one_is_asked_for():
    twice = Index("m", [text("1", rater="r1"), text("1", rater="r2"), text("2", None)])
    assert twice.of([text("2", None)]) == [text("2", None)]
    with pytest.raises(InputError, match=r"m marks item '1' of system 'A' twice.*several raters or languages"):
        twice.of([text("1")])
    with pytest.raises(InputError, match="m marks the text with id 'x' twice, expected each once"):
        Index("m", [text("1", id="x"), text("2", id="x")])


def test_marks_must_fit_the_text_of_people():
    people = [text("1", hypothesis="seven c", id="x")]
    assert Index("m", [text("1", hypothesis=None)]).of(people) == [text("1")]
    with pytest.raises(InputError, match="m marks another text than people at segment 'x': 'other' and 'seven c'"):
        Index("m", [text("1", hypothesis="other")]).of(people)
    # The last character of seven has number 7 as an end; that of the source may be anywhere.
    for end, side, fits in ((7, "hyp", True), (8, "hyp", False), (80, "src", True)):
        given = Index("m", [text("1", spans=(ErrorSpan(0, end, "minor", side),))])
        if fits:
            assert given.of(people) == [text("1", spans=(ErrorSpan(0, end, "minor", side),))]
        else:
            with pytest.raises(InputError, match="character 8 of segment 'x', whose text has 7; do its ends count"):
                given.of(people)


def test_only_what_all_methods_know_is_compared():
    people = [text(str(i)) for i in range(5)]
    one, other = [*people[:4], None], [None, *people[1:]]
    kept, found, notes = known_to_all(people, {"m": one, "n": other, "o": list(people)}, "drop")
    assert kept == people[1:4]
    assert found == {"m": kept, "n": kept, "o": kept}
    assert notes == [
        "m did not look at 1 of 5 texts (item '4' of system 'A'), which are left out for all",
        "n did not look at 1 of 5 texts (item '0' of system 'A'), which are left out for all",
    ]
    with pytest.raises(InputError, match=r"m did not look at 1 of 5 .* missing='drop' \(--missing drop\)"):
        known_to_all(people, {"m": one}, "refuse")
    # Four of five: three are named. To drop all of them is no way out.
    with pytest.raises(InputError, match=r"\(item '0' of system 'A', item '1' of .*, item '2' of system 'A' \.\.\.\)"):
        known_to_all(people, {"m": [None] * 4 + people[4:]}, "refuse")
    with pytest.raises(InputError, match=r"m did not look at 5 of 5 .* or else by system and item$"):
        known_to_all(people, {"m": [None] * 5}, "drop")
    with pytest.raises(InputError, match="no text was looked at by all methods"):
        known_to_all(people[:2], {"m": [people[0], None], "n": [None, people[1]]}, "drop")


def test_an_item_has_one_number_in_its_group():
    people = [text("1", group="de"), text("1", "B", group="de"), text("1", group="fr"), text("2", group="de")]
    assert item_numbers(people).tolist() == [0, 0, 1, 2]


names = st.tuples(st.sampled_from([None, "A", "B"]), st.integers(0, 5))


@given(keys=st.lists(names, min_size=1, max_size=9, unique=True), data=st.data())
@settings(max_examples=50, deadline=None)
def test_a_join_finds_its_own_whatever_the_order_and_however_it_is_named(keys, data):
    people = [text(str(item), system, id=f"{system}-{item}") for system, item in keys]
    looked = data.draw(st.lists(st.booleans(), min_size=len(keys), max_size=len(keys)))
    theirs = [dataclasses.replace(one, rater="m") for one, did in zip(people, looked, strict=True) if did]
    by_id = [dataclasses.replace(one, system="Z", item=str(place)) for place, one in enumerate(theirs)]
    by_name = [dataclasses.replace(one, id=None) for one in theirs]
    for marks in (theirs, by_id, by_name):
        found = Index("m", data.draw(st.permutations(marks))).of(people)
        wanted = iter(marks)
        assert found == [next(wanted) if did else None for did in looked]
