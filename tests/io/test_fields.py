"""Fields of a row: what each may hold, what else they are called, and the rows of several raters as one segment."""

from __future__ import annotations

import json
import math
from decimal import Decimal

import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment
from nlgauge.io.fields import FieldError, Fields, Raters, guessed, reference_columns
from nlgauge.io.read import read
from nlgauge.io.scores import read_scores

ROWS = [
    {"seg": 1, "system": "A", "rater": "ann", "hyp": "it rains", "ref": "rain", "human.fluency": 4},
    {"seg": 1, "system": "A", "rater": "bob", "hyp": "it rains", "ref": "rain", "human.fluency": 5},
    {"seg": 2, "system": "A", "rater": "ann", "hyp": "a cat", "ref": "cat", "human.fluency": 1},
]
FOUND = [("A:1", "it rains", ("rain",), {"fluency": [4.0, 5.0]}), ("A:2", "a cat", ("cat",), {"fluency": 1.0})]


def told(data):
    return [(s.id, s.hypothesis, s.references, dict(s.human)) for s in data]


@pytest.mark.parametrize("form", ["csv", "tsv", "json", "jsonl", "parquet", "frame"])
def test_the_ratings_of_an_output_are_together_in_every_format(put, form):
    data = read_as(put, form, ROWS)
    name = "DataFrame" if form == "frame" else f"a.{form}"
    assert told(data) == FOUND
    assert data.notes == (f"{name}: 3 ratings of 2 outputs by 2 raters; a human score is their mean",)


def test_ratings_of_comets_columns_are_together_too(put):
    path = put("a.csv", "src,mt,ref,score,seg,system,rater\ns,m,r,1,1,A,x\ns,m,r,2,1,A,y\n")
    assert [s.human for s in ng.read(path)] == [{"score": [1.0, 2.0]}]


def test_a_rater_may_have_another_name_and_rows_may_have_ids_of_their_own(put):
    rows = [{("who" if key == "rater" else key): cell for key, cell in row.items()} for row in ROWS]
    rows = [{**row, "id": f"r{number}"} for number, row in enumerate(rows)]
    path = put("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    assert len(ng.read(path)) == 3  # nothing says that they are ratings of one output
    assert [s.human for s in ng.read(path, columns={"rater": "who"})] == [human for *_, human in FOUND]
    assert ng.read(path, columns={"who": "rater"}).segments[0].id == "A:1"


def test_rows_of_one_text_that_name_no_item_are_noted(put):
    """Else each rating counts as an output of its own, and intervals are too narrow."""
    rows = [{"hyp": "a", "ref": "b", "rater": rater, "human": {"x": 1}} for rater in "AB"]
    data = ng.read(put("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows)))
    assert len(data) == 2
    (note,) = [note for note in data.notes if "text of another row" in note]
    assert "1 rows have the text of another row and no item" in note
    assert "name the item (--columns seg=COLUMN)" in note
    other = put("b.jsonl", "".join(json.dumps({**row, "seg": "1"}) + "\n" for row in rows))
    assert not [note for note in ng.read(other).notes if "text of another row" in note]


def test_ratings_of_other_texts_are_refused_and_a_second_one_of_a_rater_is_told(put):
    other = "".join(json.dumps(row) + "\n" for row in [ROWS[0], {**ROWS[1], "hyp": "it pours"}])
    with pytest.raises(ng.InputError, match=r"^a.jsonl:2: field 'hyp' is another than at a.jsonl:1, a rating of the"):
        ng.read(put("a.jsonl", other))
    raters = Raters()
    for rating in (1.0, 2.0):
        raters.add("x", Segment("1", "a", human={"q": rating}), "ann")
    assert [(s.human, s.raters) for s in raters.segments()] == [({"q": [1.0, 2.0]}, {"q": ("ann", "ann")})]
    assert [*raters.notes("f")][1:] == ["f: 1 rows are by a rater who rated the same output before, all kept"]


def test_each_rating_keeps_the_name_of_its_rater():
    raters = Raters()
    raters.add("x", Segment("1", "a", human={"q": 1.0, "p": [2.0, 3.0]}), "ann")
    raters.add("y", Segment("2", "a", human={"q": 4.0}), None)
    one, other = raters.segments()
    assert one.raters == {"q": ("ann",), "p": ("ann", "ann")}
    assert other.raters == {}


BY_CRITERION = [
    {"seg": item, "rater": "ann", "hyp": "it rains", "ref": "rain", "criterion": of, "human.q": rating}
    for item, of, rating in ((1, "fluency", 5), (1, "adequacy", 1), (2, "fluency", 2), (2, "adequacy", 4))
]


def written(put, form, rows):
    """Rows as a file of some form, or as a frame; what a row lacks is an empty cell."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    if form in ("frame", "parquet"):
        frame = pytest.importorskip("pandas").DataFrame(rows)
        if form == "frame":
            return frame
        pytest.importorskip("pyarrow")
        frame.to_parquet(put("a.parquet", ""))
        return "a.parquet"
    if form == "json":
        return put("a.json", json.dumps(rows))
    if form == "jsonl":
        return put("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    lines = [names, *([str(row.get(name, "")) for name in names] for row in rows)]
    return put(f"a.{form}", "".join({"csv": ",", "tsv": "\t"}[form].join(line) + "\n" for line in lines))


def read_as(put, form, rows, columns=None):
    return ng.read(written(put, form, rows), columns=columns)


FORMS = ("csv", "tsv", "jsonl", "parquet", "frame")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("without", [(), ("rater",)])
def test_a_criterion_a_row_makes_a_criterion_of_the_segment(put, form, without):
    """The mean over criteria, 3 and 3, is what nobody said."""
    data = read_as(put, form, [{k: v for k, v in row.items() if k not in without} for row in BY_CRITERION])
    assert [dict(s.human) for s in data] == [{"fluency": [5], "adequacy": [1]}, {"fluency": [2], "adequacy": [4]}]
    assert any(note.endswith(": a criterion a row: fluency, adequacy") for note in data.notes)


@pytest.mark.parametrize("form", FORMS)
def test_a_rater_who_rates_an_output_for_two_things_is_refused_until_they_are_named(put, form):
    rows = [{("aspect" if key == "criterion" else key): cell for key, cell in row.items()} for row in BY_CRITERION]
    with pytest.raises(
        InputError, match=r"a second rating of one output; 'aspect' was 'fluency' for.*--columns criterion=aspect"
    ):
        read_as(put, form, rows)
    data = read_as(put, form, rows, {"criterion": "aspect", "human.q": "human.q"})
    assert [sorted(s.human) for s in data] == [["adequacy", "fluency"]] * 2
    other = [{**row, "rater": f"ann{place}"} for place, row in enumerate(rows)]  # nor is the mean of two raters
    with pytest.raises(InputError, match=r"a second rating of one output"):
        read_as(put, form, other)
    alone = [{**{k: v for k, v in row.items() if k != "rater"}, "id": f"r{n}"} for n, row in enumerate(rows)]
    with pytest.raises(InputError, match=r"a second rating of one output"):  # nor are two rows two outputs
        read_as(put, form, alone)
    same = [{**row, "aspect": "all", "dimension": place} for place, row in enumerate(rows)]
    (_, again, *_) = [note for note in read_as(put, form, same).notes if "rater" in note]
    assert again.endswith("2 rows are by a rater who rated the same output before, all kept")


def test_a_column_called_criterion_that_differs_in_every_row_is_no_name_of_ratings(put):
    rows = [{"hyp": "a", "criterion": f"says {n}", "human": {"met": n % 2}} for n in range(4)]
    data = read_as(put, "jsonl", rows)
    assert [dict(s.human) for s in data] == [{"met": 0}, {"met": 1}] * 2
    assert data.notes == ()
    twice = [{"id": "x", "hyp": "a", "criterion": "c"}] * 2
    with pytest.raises(InputError, match=r"a.jsonl:2: a second row about the same output and criterion, the first"):
        read_as(put, "jsonl", twice)


def test_several_ratings_of_a_row_keep_their_names_behind_the_criterion(put):
    rows = [{**row, "human.sure": 1} for row in BY_CRITERION]
    assert list(read_as(put, "csv", rows).segments[0].human) == [
        "fluency.q",
        "fluency.sure",
        "adequacy.q",
        "adequacy.sure",
    ]


@pytest.mark.parametrize("form", FORMS)
def test_truth_values_and_exact_numbers_are_ratings(put, form):
    rows = [{"hyp": "a", "human.ok": ok, "human.q": Decimal(q)} for ok, q in ((True, "4.5"), (False, "2.5"))]
    if form == "jsonl":  # which has no exact numbers
        rows = [{**row, "human.q": float(row["human.q"])} for row in rows]
    assert [dict(s.human) for s in read_as(put, form, rows)] == [{"ok": 1, "q": 4.5}, {"ok": 0, "q": 2.5}]


def test_a_key_may_be_an_exact_number_without_a_fraction(put):
    rows = [{"hyp": "a", "seg": Decimal(7), "system": "A"}]
    assert [read_as(put, form, rows).segments[0].item for form in ("parquet", "frame")] == ["7", "7"]


def segment(row, number=1):
    (made,) = Fields().segments(row, number)
    return made


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
        fields.segments(row, number)
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
            {"bart": "x", "t5": "z", "doc_id": "1", "article": "y", "highlights": "y"},
            f"field 'hyp' is missing, {A_STRING}; fields found: 'bart', 't5', 'doc_id', 'article', 'highlights'",
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
        ({"human": {"x": {"y": 1}}}, "field 'human.x' is an object ({'y': 1}), expected a number or a list of numbers"),
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
    if isinstance(row, dict) and row and not row.keys() & {"hyp", "bart"}:
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


@pytest.mark.parametrize(
    ("names", "fields"),
    [
        (["prediction", "references", "source"], {"hyp": "prediction", "ref": "references", "src": "source"}),
        (["article", "highlights", "summary", "id"], {"hyp": "summary", "ref": "highlights", "src": "article"}),
        (["document", "summary", "response"], {"hyp": "response", "ref": "summary", "src": "document"}),
        (["prediction", "gold", "refs", "src", "input"], {"hyp": "prediction"}),  # what has our names is told by them
        (["document", "summary"], {}),  # XSum: the summary is the reference, and there is no hypothesis
        (["prediction", "output", "target"], {}),  # which of two?
        (["hyp", "prediction", "target"], {}),
        (["source", "target"], {}),
    ],
)
def test_only_names_that_leave_no_doubt_are_taken(names, fields):
    assert guessed(names) == fields


ELSEWHERE = [{"model": "A", "n": 1, "out": "a", "gold": "b", "deep": {"x": "c"}}, {"model": "A", "n": 2, "out": "d"}]
_KINDS = ("json", *FORMS)


@pytest.mark.parametrize("kind", _KINDS)
@pytest.mark.parametrize("field", ["system", "id", "seg", "lp", "task", "src", "ref", "ref2", "human.f"])
def test_a_column_that_is_nowhere_is_refused_with_those_that_are_there(put, kind, field):
    data = written(
        put, kind, [{name: row.get(name, "e") for name in ("model", "n", "out", "gold")} for row in ELSEWHERE]
    )
    with pytest.raises(InputError, match=r"'modle'.*(found|first row): 'model', 'n', 'out', 'gold'"):
        ng.read(data, columns={"hyp": "out", field: "modle"})


@pytest.mark.parametrize("kind", ["jsonl", "json"])
def test_a_column_that_some_rows_lack_is_a_missing_value(put, kind):
    columns = {"hyp": "out", "seg": "n", "ref2": "gold", "lp": "deep.x"}
    found = ng.read(written(put, kind, ELSEWHERE), columns=columns).segments
    assert [(s.item, s.references, s.group) for s in found] == [("1", ("b",), "c"), ("2", (), None)]


@pytest.mark.parametrize("kind", ["jsonl", "json", "parquet", "frame"])
def test_a_field_of_an_object_is_named_with_a_dot(put, kind):
    rows = [{"translation": {"de": "Haus", "en": "house"}, "pred": "home"}]  # as data sets of the hub have it
    data = written(put, kind, rows)
    (found,) = ng.read(data, columns={"src": "translation.de", "ref": "translation.en", "hyp": "pred"})
    assert (found.source, found.references, found.hypothesis) == ("Haus", ("house",), "home")
    with pytest.raises(InputError, match=r"'translation\.fr'"):
        ng.read(data, columns={"src": "translation.fr", "hyp": "pred"})


@pytest.mark.parametrize("kind", _KINDS)
def test_several_columns_of_hypotheses_are_systems(put, kind):
    rows = [{"doc": "x", "gold": "g", "bart": "b", "t5": "t"}, {"doc": "y", "gold": "h", "bart": "c", "t5": "u"}]
    found = ng.read(written(put, kind, rows), columns={"bart": "hyp", "t5": "hyp", "gold": "ref", "doc": "seg"})
    assert [(s.id, s.system, s.item, s.hypothesis, s.references) for s in found] == [
        ("bart:x", "bart", "x", "b", ("g",)),
        ("t5:x", "t5", "x", "t", ("g",)),
        ("bart:y", "bart", "y", "c", ("h",)),
        ("t5:y", "t5", "y", "u", ("h",)),
    ]
    with pytest.raises(InputError, match="field 'system' beside columns of several systems, expected a row for each"):
        ng.read(written(put, kind, rows), columns={"bart": "hyp", "t5": "hyp", "doc": "system"})


@pytest.mark.parametrize("kind", _KINDS)
def test_names_that_leave_no_doubt_are_taken_with_a_note(put, kind):
    data = ng.read(written(put, kind, [{"article": "s", "highlights": "r", "summary": "h"}]))
    assert [(s.source, s.references, s.hypothesis) for s in data] == [("s", ("r",), "h")]
    (note,) = data.notes
    assert "taken by their names: 'summary' for hyp, 'highlights' for ref, 'article' for src; where" in note


def test_only_texts_are_taken_by_their_names():
    for row in ({"hyp": 1, "prediction": "x"}, {"output": {"x": "y"}}, {"output": 3, "other": "x"}):
        with pytest.raises(FieldError, match=r"^field 'hyp' is (a number|missing)"):
            segment(row)


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_each_rater_may_have_a_column_beside_the_text(put, form):
    rows = [
        {"hyp": "a", "ann": 2, "ben": 4},
        {"hyp": "b", "ann": None, "ben": 5},
        {"hyp": "c", "ann": None, "ben": None},
    ]
    cells = "".join(f"{r['hyp']},{'' if r['ann'] is None else r['ann']},{r['ben'] or ''}\n" for r in rows)
    content = "hyp,ann,ben\n" + cells if form == "csv" else "".join(json.dumps(row) + "\n" for row in rows)
    columns = {"hyp": "hyp", "ann": "human.q", "ben": "human.q"}
    data = ng.read(put(f"a.{form}", content), columns=columns)
    assert [(s.human, s.raters) for s in data] == [
        ({"q": [2.0, 4.0]}, {"q": ("ann", "ben")}),
        ({"q": [5.0]}, {"q": ("ben",)}),
        ({}, {}),
    ]


def test_a_column_that_is_a_rating_already_is_not_one_of_several(put):
    with pytest.raises(ng.InputError, match=r"^a\.csv:1: two columns would be field 'human\.q'$"):
        ng.read(put("a.csv", "hyp,human.q,ann\nx,1,2\n"), columns={"hyp": "hyp", "ann": "human.q"})
