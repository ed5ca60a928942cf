from __future__ import annotations

import math

import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment
from nlgauge.io.fields import FieldError, Fields, reference_columns
from nlgauge.io.read import read
from nlgauge.io.scores import read_scores


def segment(row, number=1):
    return Fields().segment(row, number)


def test_every_field_has_its_place():
    row = {
        "id": "q",
        "system": "s",
        "seg": "i",
        "lp": "xx-yy",
        "src": "in",
        "refs": ["one", "two"],
        "hyp": "out",
        "human": {"fluency": 3, "adequacy": [1, 2.5, None]},
        "context": [{"speaker": "A", "text": "hi", "act": "greet"}],
        "table": [["x", "is", "y"]],
    }
    made = segment(row)
    ratings = made.human["adequacy"]
    assert ratings[:2] == [1.0, 2.5]
    assert math.isnan(ratings[2])  # a missing rater keeps the place
    assert made.human["fluency"] == 3.0
    assert made == Segment(
        "q",
        "out",
        ("one", "two"),
        "in",
        "s",
        "i",
        "xx-yy",
        made.human,
        ({"speaker": "A", "text": "hi"},),
        (["x", "is", "y"],),
    )


def test_only_the_hypothesis_is_needed():
    assert segment({"hyp": ""}, 7) == Segment("7", "")


def test_null_is_absence():
    row = dict.fromkeys(["id", "system", "seg", "lp", "task", "src", "ref", "refs", "human", "context", "table"])
    assert segment({**row, "hyp": "x"}, 7) == Segment("7", "x")


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"id": "given", "system": "s", "seg": "i"}, "given"),
        ({"system": "s", "seg": "i"}, "s:i"),
        ({"system": "s"}, "5"),
        ({"seg": "i"}, "5"),  # one item may have several rows
        ({"id": 12}, "12"),
        ({"system": "s", "seg": 0}, "s:0"),
    ],
)
def test_ids_are_given_or_made(keys, expected):
    assert segment({"hyp": "x", **keys}, 5).id == expected


@pytest.mark.parametrize(
    ("group", "expected"), [({"lp": "a"}, "a"), ({"task": "b"}, "b"), ({"lp": "a", "task": "b"}, "a"), ({}, None)]
)
def test_the_group_is_the_language_pair_or_the_task(group, expected):
    assert segment({"hyp": "x", **group}).group == expected


@pytest.mark.parametrize(
    ("references", "expected"),
    [
        ({"ref": "a"}, ("a",)),
        ({"ref": ""}, ("",)),
        ({"refs": []}, ()),
        ({"refs": ["a"], "ref": None}, ("a",)),
        ({"ref10": "d", "ref2": "c", "ref": "a", "ref1": "b"}, ("a", "b", "c", "d")),  # by number, not by spelling
        ({"ref1": "b", "ref2": None, "ref3": "d"}, ("b", "d")),
    ],
)
def test_references_in_each_form(references, expected):
    assert segment({"hyp": "x", **references}).references == expected


def test_ratings_in_columns_join_those_in_an_object():
    assert segment({"hyp": "x", "human": {"a": 1}, "human.b": 2, "human.c": None}).human == {"a": 1.0, "b": 2.0}


@pytest.mark.parametrize("missing", [None, math.nan])
def test_a_missing_rating_is_no_rating(missing):
    assert segment({"hyp": "x", "human": {"a": missing, "b": 1}}).human == {"b": 1.0}


def test_the_row_is_left_as_it_was():
    row = {"hyp": "x", "ref": "a", "ref1": "b", "human": {"a": 1}, "human.b": 2, "other": 3}
    copy = {**row, "human": dict(row["human"])}
    segment(row)
    assert row == copy


def test_unknown_fields_are_counted():
    fields = Fields()
    for number, row in enumerate([{"hyp": "x", "domain": 1}, {"hyp": "y", "domain": 2, "reference": "z"}], start=1):
        fields.segment(row, number)
    assert fields.ignored == {"domain": 2, "reference": 1}
    assert fields.made == 2


A_STRING, A_LIST = "expected a string", "expected a list of strings"


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ([], "the row is a list ([]), expected an object with the field 'hyp'"),
        ("x", "the row is a string ('x'), expected an object with the field 'hyp'"),
        (None, "the row is null, expected an object with the field 'hyp'"),
        ({}, f"field 'hyp' is missing, {A_STRING}; fields found: none"),
        (
            {"hypothesis": "x", "ref": "y"},
            f"field 'hyp' is missing, {A_STRING}; fields found: 'hypothesis', 'ref'"
            "; if these are the texts, name them as columns: hyp=hypothesis",
        ),
        ({"hyp": None}, f"field 'hyp' is null, {A_STRING}; write \"\" for an empty hypothesis"),
        ({"hyp": 1}, f"field 'hyp' is a number (1), {A_STRING}"),
        ({"hyp": ["x"]}, f"field 'hyp' is a list (['x']), {A_STRING}"),
        ({"hyp": b"x"}, f"field 'hyp' is of type bytes (b'x'), {A_STRING}"),
        ({"id": 1.5}, f"field 'id' is a number (1.5), {A_STRING}"),
        ({"id": True}, f"field 'id' is true, {A_STRING}"),
        ({"system": {}}, f"field 'system' is an object ({{}}), {A_STRING}"),
        ({"seg": []}, f"field 'seg' is a list ([]), {A_STRING}"),
        ({"lp": False}, f"field 'lp' is false, {A_STRING}"),
        ({"task": 0.5}, f"field 'task' is a number (0.5), {A_STRING}"),
        ({"src": 3}, "field 'src' is a number (3), expected a string or null"),
        ({"ref": 3}, f"field 'ref' is a number (3), {A_STRING}"),
        ({"ref": ["x"]}, f"field 'ref' is a list (['x']), {A_STRING}; write 'refs' for a list"),
        ({"refs": 3}, f"field 'refs' is a number (3), {A_LIST}"),
        ({"refs": "x"}, f"field 'refs' is a string ('x'), {A_LIST}; write 'ref' for a single one"),
        ({"refs": ["x", None]}, f"field 'refs[1]' is null, {A_STRING}"),
        ({"refs": [["x"]]}, f"field 'refs[0]' is a list (['x']), {A_STRING}"),
        ({"refs": ["x"], "ref": "y"}, "fields 'refs' and 'ref' are both given, expected one of them"),
        ({"refs": ["x"], "ref2": "y"}, "fields 'refs' and 'ref2' are both given, expected one of them"),
        ({"ref1": 2}, f"field 'ref1' is a number (2), {A_STRING}"),
        ({"human": 3}, "field 'human' is a number (3), expected an object, criterion -> number"),
        ({"human": []}, "field 'human' is a list ([]), expected an object, criterion -> number"),
        ({"human": [1], "human.x": 1}, "field 'human' is a list ([1]), expected an object, criterion -> number"),
        ({"human": {"x": "good"}}, "field 'human.x' is a string ('good'), expected a number or a list of numbers"),
        ({"human": {"x": True}}, "field 'human.x' is true, expected a number or a list of numbers"),
        ({"human": {"x": [1, "2"]}}, "field 'human.x[1]' is a string ('2'), expected a number"),
        ({"human": {"x": math.inf}}, "field 'human.x' is inf, expected a finite number"),
        ({"human": {"x": 10**400}}, "field 'human.x' is too large, expected a finite number"),
        ({"human.x": {}}, "field 'human.x' is an object ({}), expected a number or a list of numbers"),
        ({"context": "hi"}, "field 'context' is a string ('hi'), expected a list of turns"),
        (
            {"context": ["hi"]},
            "field 'context[0]' is a string ('hi'), expected a turn, {\"speaker\": ..., \"text\": ...}",
        ),
        ({"context": [{"speaker": "A"}]}, f"field 'context[0].text' is null, {A_STRING}"),
        ({"context": [{"speaker": 1, "text": "hi"}]}, f"field 'context[0].speaker' is a number (1), {A_STRING}"),
        ({"table": {}}, "field 'table' is an object ({}), expected a list of records"),
    ],
)
def test_wrong_fields_are_named_with_what_came(row, says):
    if isinstance(row, dict) and row and not row.keys() & {"hyp", "hypothesis"}:
        row = {"hyp": "x", **row}
    with pytest.raises(FieldError) as error:
        segment(row)
    assert str(error.value) == says


def test_the_order_of_reference_columns():
    assert reference_columns(["ref2", "hyp", "ref10", "ref", "refs", "reference", "ref1", "refx"]) == [
        "ref",
        "ref1",
        "ref2",
        "ref10",
    ]


@pytest.mark.parametrize("field", ["id", "seg"])
def test_names_that_are_all_numbers_with_a_fraction_are_refused_in_every_format(put, field):
    rows = [("1.0", "a"), ("2.0", "b")]
    texts = {
        "a.csv": f"{field},hyp\n" + "".join(f"{name},{text}\n" for name, text in rows),
        "a.tsv": f"{field}\thyp\n" + "".join(f"{name}\t{text}\n" for name, text in rows),
        "a.jsonl": "".join(f'{{"{field}": "{name}", "hyp": "{text}"}}\n' for name, text in rows),
    }
    for name, text in texts.items():
        with pytest.raises(InputError, match=rf"^{name}: field '{field}' is 1\.0 and the like in every row"):
            read(put(name, text))
    with pytest.raises(InputError, match=rf"^s\.csv: field '{field}' is 1\.0"):
        read_scores(put("s.csv", f"{field},m\n1.0,3\n2.0,4\n"))
    sections = read(put("b.csv", f"{field},hyp\n1.0,a\n1.1,b\n"))  # names with a dot, of which some end in 0
    assert [s.item if field == "seg" else s.id for s in sections] == ["1.0", "1.1"]
