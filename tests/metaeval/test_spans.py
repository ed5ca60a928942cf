"""Whose marks belong to which text: by id, else by system and item; each text is found, or its absence is counted."""

import dataclasses
import gzip
import json
import math
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.core.marks import ErrorSpan
from nlgauge.io.marked import MarkedText
from nlgauge.metaeval.spans import (
    CHARACTERS,
    LEFT_CLEAN,
    ONE_TO_ONE,
    SEGMENTS,
    Index,
    as_texts,
    evaluate_spans,
    item_numbers,
    judged_texts,
    known_to_all,
    marks_by,
)

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


# --- Marks that are made on the spot

TEXTS = ng.Dataset(
    (
        ng.Segment("a", "The hat sat.", ("The cat sat.", "A hat sat."), "The dog sat.", "S", "1"),
        ng.Segment("b", "", ("x",), "y", "S", "2"),
    )
)


def marked(references="own", method="words"):
    (first, _) = marks_by(method, TEXTS, references=references)
    return [first.hypothesis[span.start : span.end] for span in first.spans]


def test_words_are_compared_with_what_is_asked_for():
    assert marked() == []  # each word stands in one of both references
    assert marked("first") == ["hat"]
    assert marked("source") == ["hat"]


def test_everything_is_one_span_and_an_empty_text_has_none():
    found = marks_by("everything", TEXTS)
    assert [[(s.start, s.end, s.severity) for s in one.spans] for one in found] == [[(0, 12, "major")], []]
    assert [(one.id, one.system, one.item) for one in found] == [("a", "S", "1"), ("b", "S", "2")]
    assert found.method["signature"].startswith("method:everything|nlgauge:")


@pytest.mark.parametrize(
    ("method", "references", "message"),
    [
        ("word", "own", "method is 'word'; did you mean 'words'"),
        ("words", "best", "references is 'best'; known: first"),
    ],
)
def test_another_word_is_refused(method, references, message):
    with pytest.raises(InputError, match=message):
        marks_by(method, TEXTS, references=references)


# --- Span meta-evaluation: one case by hand, what must hold of any marks, joins, and the known figures of real data

DATA = Path(os.environ.get("NLGAUGE_DATA", "absent"), "ted-mqm-zh-en", "segments.jsonl.gz")
TEXT = "0123456789" * 6


def marked_text(item, *spans, system="A", **more):
    marks = tuple(ErrorSpan(start, end, severity) for start, end, severity in spans)
    return MarkedText(item, system, marks, **{"hypothesis": TEXT, **more})


PEOPLE = [marked_text("1", (0, 10, "major"), (20, 30, "minor")), marked_text("2"), marked_text("3")]
METHOD = [
    marked_text("1", (5, 10, "major"), (28, 38, "minor"), (50, 60, "minor")),
    marked_text("2"),
    marked_text("3", (0, 5, "minor")),
]


def test_all_measures_by_hand():
    found = evaluate_spans(PEOPLE, {"mine": METHOD}, draws=10)
    # One to one: as in the test of the statistic, credits 1.2 and .7; a fourth mark, in text 3, finds no partner.
    one = found.row("mine")
    assert one["precision"] == pytest.approx(1.2 / 4)
    assert one["recall"] == pytest.approx(0.7 / 2)
    assert found.value("mine") == pytest.approx(2 * 0.3 * 0.35 / 0.65)
    # Characters: 5 and 2 in common with the right severity, of 30 marked and 20 marked by people.
    assert found.value("mine", CHARACTERS) == pytest.approx(2 * 7 / (30 + 20))
    # Segments: 2 * 7 / (25 + 20) in the first, 1 in the second, where both are empty, 0 in the third.
    assert found.value("mine", SEGMENTS) == pytest.approx((14 / 45 + 1) / 3)
    assert found.value("mine", LEFT_CLEAN) == 0.5
    assert found.row("mine", LEFT_CLEAN)["n"] == 2
    assert "3 texts of 3 items; people marked 2 errors, and none in 2 texts" in found.notes
    assert any(note.startswith("with 3 items the bootstrap is too sure") for note in found.notes)


def test_people_agree_with_themselves_and_an_empty_hand_leaves_all_clean():
    nothing = [dataclasses.replace(one, spans=()) for one in PEOPLE]
    found = evaluate_spans(PEOPLE, {"same": PEOPLE, "nothing": nothing}, draws=50)
    assert [found.value("same", stat) for stat in (ONE_TO_ONE, CHARACTERS, SEGMENTS, LEFT_CLEAN)] == [1, 1, 1, 1]
    assert found.value("nothing", LEFT_CLEAN) == 1
    assert found.row("nothing")["recall"] == 0
    assert found.row("nothing")["precision"] == 1  # a share of nothing
    lead = found.row("same", against="nothing")
    back = found.row("nothing", against="same")
    assert lead["delta"] == -back["delta"] == 1
    assert lead["p"] == back["p"]
    assert (lead["test"], lead["alternative"], lead["draws"]) == ("paired_bootstrap", "two-sided", 50)


@given(st.lists(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 9)), max_size=4), min_size=2, max_size=5))
@settings(max_examples=30, deadline=None)
def test_the_order_of_texts_does_not_count(marks):
    said = [marked_text(str(i), *((a, a + n, "major") for a, n in own)) for i, own in enumerate(marks)]
    people = [marked_text(str(i), (3, 17, "major")) for i in range(len(marks))]
    one = evaluate_spans(people, {"m": said}, draws=5)
    other = evaluate_spans(people[::-1], {"m": said[1:] + said[:1]}, draws=5)
    for stat in (ONE_TO_ONE, CHARACTERS, SEGMENTS):
        assert one.value("m", stat) == pytest.approx(other.value("m", stat))  # sums in another order


def test_items_are_drawn_whole():
    """Ten copies of an item say no more than one: the intervals of clusters do not shrink."""
    people = [marked_text("1", (0, 10, "major")), marked_text("2", (0, 10, "major")), marked_text("3")]
    said = [marked_text("1", (0, 10, "major")), marked_text("2"), marked_text("3")]
    few = evaluate_spans(people, {"m": said}, draws=200)
    many = [[dataclasses.replace(one, system=str(s)) for one in texts for s in range(10)] for texts in (people, said)]
    ten = evaluate_spans(many[0], {"m": many[1]}, draws=200)
    for end in ("low", "high"):
        assert ten.row("m")[end] == pytest.approx(few.row("m")[end])


def test_each_text_of_each_rater_is_one():
    people = [
        marked_text("1", (0, 10, "major"), rater="r1"),
        marked_text("1", rater="r2"),
        marked_text("2", rater="r1"),
    ]
    found = evaluate_spans(people, {"m": [marked_text("1"), marked_text("2")]}, draws=10)
    assert found.row("m")["n"] == 3
    assert found.value("m", LEFT_CLEAN) == 1
    assert "3 texts of 2 items, 2 raters; people marked 1 errors, and none in 2 texts" in found.notes


def test_what_is_in_the_source_or_missing_is_no_place_of_the_hypothesis():
    source, gap = ErrorSpan(0, 4, "major", "src"), ErrorSpan(7, 7, "minor", missing=True)
    people = [dataclasses.replace(PEOPLE[1], spans=(source,)), PEOPLE[2]]
    found = evaluate_spans(people, {"m": [dataclasses.replace(METHOD[1], spans=(gap,)), marked_text("3")]}, draws=10)
    assert found.value("m") == 1  # no marks with a length on either side
    assert found.value("m", LEFT_CLEAN) == 0.5  # a reader sees the gap all the same


def test_a_curve_for_marks_with_confidences():
    def sure(*confidences):
        spans = tuple(
            ErrorSpan(10 * i, 10 * i + 10, "major", confidence=confidence) for i, confidence in enumerate(confidences)
        )
        return MarkedText("1", "A", spans, TEXT)

    people = [marked_text("1", (10, 20, "major"))]
    found = evaluate_spans(people, {"m": [sure(0.0, 0.9, 0.4)]})
    curve = [row for row in found.rows if row["threshold"] is not None and row["stat"] == ONE_TO_ONE]
    assert [(row["threshold"], row["n_marks"], row["precision"], row["recall"]) for row in curve] == [
        (0.0, 3, pytest.approx(1 / 3), 1.0),
        (0.4, 2, 0.5, 1.0),
        (0.9, 1, 1.0, 1.0),
    ]
    some = evaluate_spans(people, {"m": [dataclasses.replace(sure(0.1), spans=(*sure(0.1).spans, *people[0].spans))]})
    assert not [row for row in some.rows if row["threshold"] is not None]  # a mark without one has no place on it


def test_one_item_has_no_interval_and_no_test():
    found = evaluate_spans(PEOPLE[:1], {"a": METHOD[:1], "b": PEOPLE[:1]})
    assert math.isnan(found.row("a")["low"])
    assert not [row for row in found.rows if row["against"]]
    assert "one item alone says nothing of others: no intervals, no tests" in found.notes
    assert found.result().as_json()["test"] is None


def test_texts_are_joined_by_id_or_by_system_and_item():
    by_id = [dataclasses.replace(one, id=f"A-{one.item}") for one in PEOPLE]
    renamed = [dataclasses.replace(one, item="x" + one.item, system=None) for one in by_id]
    for method in (by_id, renamed, PEOPLE, METHOD[::-1]):
        assert evaluate_spans(by_id, {"m": method}, draws=5).row("m")["n"] == 3
    explained = ng.explain(ng.Dataset((ng.Segment("s", "a b", ("a c",), system="A", item="1"),)), method="words")
    (row,) = [marked_text("1", (2, 3, "major"), hypothesis="a b")]
    assert evaluate_spans([row], {"words": explained}).value("words") == 1


@pytest.mark.parametrize(
    ("method", "more", "message"),
    [
        (METHOD[:2], {}, r"m did not look at 1 of 3 texts \(item '3' of system 'A'\); texts are joined by id"),
        ([], {}, "m did not look at 3 of 3 texts"),
        ([*METHOD, METHOD[0]], {}, "m marks item '1' of system 'A' twice, expected each text once"),
        ([dataclasses.replace(METHOD[0], hypothesis="other"), *METHOD[1:]], {}, "another text than people at item '1'"),
        (
            [marked_text("1", (5, 61, "minor"), hypothesis=None), *METHOD[1:]],
            {},
            "character 61 of item '1' of system 'A'",
        ),
        (METHOD, {"exclude": ["B"]}, "exclude names 'B', which is not among the systems"),
        (METHOD, {"exclude": ["A"]}, "there is no text in which people looked for errors"),
        (METHOD, {"missing": "worst"}, "missing is 'worst'; known: drop, refuse"),
        (METHOD, {"adjust": "x"}, "adjust is 'x'"),
        (METHOD, {"adjust": "holm"}, "adjust is 'holm', and a single method is tested against none"),
        (METHOD, {"draws": 0}, "draws is 0, expected 1 or more"),
    ],
)
def test_what_does_not_fit_is_refused(method, more, message):
    with pytest.raises(InputError, match=message):
        evaluate_spans(PEOPLE, {"m": method}, **more)


def test_no_method_is_refused_and_two_texts_of_one_id():
    with pytest.raises(InputError, match="no method to compare"):
        evaluate_spans(PEOPLE, {})
    twice = [dataclasses.replace(one, id="x") for one in METHOD]
    with pytest.raises(InputError, match="m marks the text with id 'x' twice"):
        evaluate_spans(PEOPLE, {"m": twice})


def test_texts_without_marks_can_be_dropped_for_all():
    unseen = dataclasses.replace(PEOPLE[2], spans=None)
    found = evaluate_spans([*PEOPLE[:2], unseen], {"a": METHOD[1:2], "b": METHOD}, missing="drop")
    assert found.row("a")["n"] == found.row("b")["n"] == 1
    assert "1 texts in which nobody looked for errors are left out" in found.notes
    assert "a did not look at 1 of 2 texts (item '1' of system 'A'), which are left out for all" in found.notes


def test_p_values_are_adjusted_once_for_each_pair():
    rng = np.random.default_rng(0)
    people = [marked_text(str(i), (0, 10, "major")) for i in range(20)]

    def method(share):
        return [marked_text(str(i), (0, 10 if rng.random() < share else 3, "major")) for i in range(20)]

    found = evaluate_spans(people, {name: method(0.5) for name in "abc"}, adjust="holm", draws=100)
    tests = [row for row in found.rows if row["against"] and row["stat"] == ONE_TO_ONE]
    raw = {frozenset((row["metric"], row["against"])): row["p"] for row in tests}
    told = {frozenset((row["metric"], row["against"])): row["p_adjusted"] for row in tests}
    assert len(raw) == len(told) == 3
    least = min(raw, key=raw.get)
    assert told[least] == pytest.approx(min(1, 3 * raw[least]))


def test_columns_have_a_row_for_each_text():
    columns = evaluate_spans(PEOPLE, {"m": METHOD}, draws=5).columns()
    assert columns["seg"] == ["1", "2", "3"]
    np.testing.assert_allclose(columns["m.segment_f1"], [14 / 45, 1, 0])


def test_the_known_figures_of_two_talks_come_out():
    """Figures of `docs/guides/facts.md`, which the recipe of the head computed by code of its own."""
    if not DATA.is_file():
        pytest.skip("no data")
    with gzip.open(DATA, "rt", encoding="utf-8") as file:
        rows = [row for line in file if (row := json.loads(line))["doc"] in ("talk.2", "talk.6")]
    rows = [row for row in rows if not row["system"].startswith("ref")]
    people = [MarkedText(r["seg"], r["system"], _spans(r["errors"]), r["hyp"], id=r["id"]) for r in rows]
    texts = ng.Dataset(tuple(ng.Segment(r["id"], r["hyp"], (r["refs"][0],)) for r in rows))
    found = evaluate_spans(people, {name: marks_by(name, texts) for name in ("words", "everything")}, draws=10)
    assert "3497 texts of 269 items; people marked 2534 errors, and none in 1881 texts" in found.notes
    figures = {
        "words": (0.208, 0.138, 0.420, 0.214, 0.141),
        "everything": (0.166, 0.095, 0.638, 0.170, 0.0),
    }
    for name, expected in figures.items():
        row = found.row(name)
        shown = (row["value"], row["precision"], row["recall"], found.value(name, CHARACTERS))
        assert [round(x, 3) for x in (*shown, found.value(name, LEFT_CLEAN))] == list(expected)


def _spans(errors):
    return tuple(
        ErrorSpan(error["start"], error["end"], "minor" if error["severity"] == "Minor" else "major")
        for error in errors
        if error.get("side") == "hyp"
    )
