import gzip
import json
import os
from pathlib import Path

import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.io.files import InputFile
from nlgauge.io.judgements import pearmut_table
from nlgauge.io.marked import read_marked
from nlgauge.io.read import read

TEXT = "ab\n\U0001f600cd"  # the line break is not counted, and the face counts twice: a b F F c d [missing] [fault]


def entry(scores, user="u1", place=0, name="i1", spans=(), **more):
    said = {model: {"score": score, "error_spans": list(spans), "textfield": None} for model, score in scores.items()}
    item = {"item_id": name, "src": "s", "tgt": dict.fromkeys(scores, TEXT), **more}
    return {"annotation": [said], "actions": [], "item": [item], "user_id": user, "item_i": place}


@pytest.fixture
def log(put):
    return lambda *rows, name="log.jsonl": str(put(name, "".join(json.dumps(row) + "\n" for row in rows)))


def reset(user, place):
    return {"user_id": user, "item_i": place, "annotation": "__RESET__"}


def test_ratings_of_several_people_are_of_one_output(log):
    found = read(log(entry({"A": 70, "B": 90}), entry({"A": 80}, user="u2"), entry({"B": None}, name="i2", place=1)))
    assert [(s.system, s.item, s.human) for s in found] == [
        ("A", "i1", {"score": [70, 80]}), ("B", "i1", {"score": 90}), ("B", "i2", {}),
    ]  # fmt: skip
    assert {(s.hypothesis, s.source, s.group) for s in found} == {(TEXT, "s", None)}


def test_resets_take_back_and_the_last_submission_counts(log):
    told = log(
        entry({"A": 1, "B": 2}), entry({"A": 3}), entry({"A": 5}, user="u2"), entry({"A": 7}, place=1, name="i2"),
        reset("u2", 0), reset(None, 1), entry({"A": 9}, user="u2", place=1, name="i2"),
    )  # fmt: skip
    found = read(told)
    assert [(s.system, s.item, s.human["score"]) for s in found] == [("A", "i1", 3), ("B", "i1", 2), ("A", "i2", 9)]
    assert "log.jsonl: 2 ratings were taken back by a reset" in found.notes
    assert "log.jsonl: 1 ratings were given anew, of which the last counts" in found.notes


def test_ratings_without_a_user_are_of_as_many_people(log):
    found = read(log(entry({"A": 1}, user=None), entry({"A": 3}, user=None), entry({"A": 5})))
    assert [s.human for s in found] == [{"score": [1, 3, 5]}]
    assert "log.jsonl: 2 ratings name no user, each of which is taken for another person's" in found.notes
    assert "log.jsonl: 3 ratings of 1 outputs by 1 raters, 2 of them by nobody named; a human score is their mean" in (
        found.notes
    )
    taken = read(log(entry({"A": 1}, user=None), entry({"A": 3}, user=None), reset(None, 0), entry({"A": 5})))
    assert [s.human for s in taken] == [{"score": 5}]


def test_texts_of_a_document_with_one_name_are_refused(log):
    row = entry({"A": 1})
    both = {**row, "annotation": row["annotation"] * 2, "item": [*row["item"], {**row["item"][0], "tgt": {"A": "x"}}]}
    with pytest.raises(InputError, match=r"^log\.jsonl:1: two texts of 'A' have the item_id 'i1', expected a name for"):
        read(log(both))
    assert [s.human for s in read(log({**both, "item": row["item"] * 2}))] == [{"score": 1}]


def test_what_is_no_part_of_the_campaign_is_counted(log):
    found = read(
        log(
            entry({"A": 1}, place="welcome_0"), entry({"A": 1}, place="random_3"),
            entry({"A": 1}, name="attention_check_1"), entry({"A": 1}, name="de-en_#_tutorial_#_1"),
            {**entry({"A": 1}), "item": [{"tgt": {"A": "x"}}]}, {**entry({"A": 1}), "annotation": [None]},
            entry({"A": 4}),
        )
    )  # fmt: skip
    assert [s.human["score"] for s in found] == [4]
    assert found.notes[:3] == (
        "log.jsonl: 2 documents are no part of the campaign, such as forms and tutorials, and are left out",
        "log.jsonl: 3 items have no item_id, or watch or teach the raters, and are left out",
        "log.jsonl: 1 items were skipped",
    )


def test_a_download_holds_several_campaigns(put):
    logs = {"x v3": [reset("u", 7), entry({"A": 1})], "y": [entry({"A": 2})]}
    put("annotations.json", json.dumps(logs, separators=(",", ":")))
    assert [(s.group, s.human["score"]) for s in read("annotations.json")] == [("x v3", 1), ("y", 2)]
    put("one.json", json.dumps({"x": logs["x v3"]}, indent=2))
    assert [(s.group, s.human["score"]) for s in read("one.json")] == [(None, 1)]


def test_spans_are_places_in_the_text(log):
    """JavaScript's places are those of half characters, without line breaks; the last is included."""
    marks = [(0, 1, "ab"), (2, 3, "\U0001f600"), (4, 4, "c"), (1, 2, "b\n\U0001f600")]
    given = [{"start_i": a, "end_i": b, "severity": "minor", "category": None} for a, b, _ in marks]
    (text,) = read_marked(log(entry({"A": 1}, spans=given)))
    assert [TEXT[span.start : span.end] for span in text.spans] == [part for _, _, part in marks]
    gone = [{"start_i": n, "end_i": n, "severity": "major", "category": None} for n in (6, 7)]
    (text,) = read_marked(log(entry({"A": 1}, spans=gone)))
    assert [(s.start, s.end, s.missing, s.category) for s in text.spans] == [
        (6, 6, True, None), (6, 6, True, "instruction fault"),
    ]  # fmt: skip
    assert (text.item, text.system, text.rater, text.hypothesis) == ("i1", "A", "u1", TEXT)


def test_ratings_join_texts(log):
    table = pearmut_table(InputFile(log(entry({"A": 70, "B": 90}), entry({"A": 80}, user="u2"))))
    assert table.columns["score"].tolist() == [75, 90]
    assert [[one for _, one in own] for own in table.ratings["score"]] == [[70, 80], [90]]
    assert [(key.system, key.item) for key in table.keys] == [("A", "i1"), ("B", "i1")]


def test_sliders_are_criteria(log):
    said = entry({"A": None})
    said["annotation"][0]["A"]["sliders"] = {"Fluency": 3, "Adequacy": None}
    assert [s.human for s in read(log(said))] == [{"Fluency": 3}]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (
            {**entry({"A": 1}), "item": []},
            "'annotation' and 'item' are not lists of equal length; logs before version 1",
        ),
        ({**entry({"A": 1}), "annotation": {"A": {"score": 1}}}, "'annotation' and 'item' are not lists"),
        (entry({"A": 1}, tgt={}), "item 'i1', 'A': .* expected a text"),
        (entry({"A": "x"}), r"field 'human.score' is a string"),
        (entry({"A": 1}, spans=[{"start_i": 3, "end_i": 1}]), "a span is .*, expected an object with start_i, end_i"),
        (entry({"A": 1}, user="u2", tgt={"A": "another"}), "field 'hyp' is another than at log.jsonl:1"),
        ([], "expected an object with 'annotation' and 'item'"),
    ],
)
def test_a_damaged_log_has_one_line(log, row, reason):
    with pytest.raises(InputError, match=rf"log.jsonl:2: {reason}") as refused:
        read(log(entry({"A": 1}), row))
    assert "\n" not in str(refused.value)


def test_a_mark_without_a_severity_is_refused(log):
    with pytest.raises(
        InputError, match=r"log.jsonl:1: an error is .* expected an object with start, end and severity"
    ):
        read_marked(log(entry({"A": 1}, spans=[{"start_i": 0, "end_i": 1, "severity": None}])))


def test_a_log_of_nothing_is_refused(log):
    with pytest.raises(InputError, match=r"log\.jsonl is empty"):
        read(log(entry({"A": 1}, place="welcome_0")))


# --- SummEval's annotations

CRITERIA = ("coherence", "consistency", "fluency", "relevance")


def rated(*values):
    return [dict.fromkeys(CRITERIA, value) for value in values]


ROW = {
    "id": "dm-1",
    "model_id": "M11",
    "decoded": "A short text .",
    "references": ["one", "two"],
    "filepath": "x.story",
    "expert_annotations": rated(1, 2, 5),
    "turker_annotations": rated(3, 3, 4, 4, 5),
}


def lines(*changes):
    return "".join(json.dumps({**ROW, **change}) + "\n" for change in changes)


def test_annotations_become_segments_told_by_their_fields(put):
    content = lines({}, {"model_id": "M0", "text": "A long text .", "metric_scores_1": {"rouge": {}}})
    for name, packed in (("a.jsonl", content.encode()), ("a.jsonl.gz", gzip.compress(content.encode()))):
        data = ng.read(put(name, packed))
        first, second = data.segments
        assert (first.id, first.system, first.item, first.group) == ("dm-1|M11", "M11", "dm-1", "summarization")
        assert (first.hypothesis, first.references, first.source, second.source) == (
            "A short text .",
            ("one", "two"),
            None,
            "A long text .",
        )
        assert first.human == {name: [1.0, 2.0, 5.0] for name in CRITERIA} | {
            f"turker.{name}": [3.0, 3.0, 4.0, 4.0, 5.0] for name in CRITERIA
        }
        assert data.notes == (f"{name}: fields ignored: 'metric_scores_1'",)


def test_one_reference_and_no_crowd(put):
    data = ng.read(put("a.jsonl", lines({"references": None, "reference": "only", "turker_annotations": []})))
    assert data.segments[0].references == ("only",)
    assert set(data.segments[0].human) == set(CRITERIA)
    assert data.notes == ("a.jsonl: 1 summary has no turker_annotations",)


def test_a_rater_keeps_the_place_in_every_criterion(put):
    annotations = [{"fluency": 1, "relevance": 4}, {"relevance": 5, "fluency": 2}]
    data = ng.read(put("a.jsonl", lines({"expert_annotations": annotations, "turker_annotations": None})))
    assert data.segments[0].human == {"fluency": [1.0, 2.0], "relevance": [4.0, 5.0]}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"decoded": None}, "a.jsonl:1: field 'decoded' is null, expected a string"),
        ({"expert_annotations": {"fluency": 1}}, "a.jsonl:1: expert_annotations is not a list of objects"),
        ({"expert_annotations": [3, 4, 4]}, "a.jsonl:1: expert_annotations is not a list of objects"),
        (
            {"expert_annotations": [{"fluency": 1}, {"coherence": 1}]},
            "a.jsonl:1: expert_annotations[1] rates coherence, the first rater fluency; expected the same criteria",
        ),
        (
            {"expert_annotations": [{"fluency": "good"}]},
            "a.jsonl:1: field 'human.fluency[0]' is a string ('good'), expected a number",
        ),
        ({"references": "one"}, "a.jsonl:1: field 'refs' is a string ('one'), expected a list of strings"),
    ],
)
def test_bad_annotations_are_refused_by_line(put, change, says):
    with pytest.raises(ng.InputError) as error:
        ng.read(put("a.jsonl", lines(change)), format="summeval")
    assert str(error.value).startswith(says)


def test_two_summaries_of_one_system_and_document_are_refused(put):
    with pytest.raises(ng.InputError, match=r"^a\.jsonl:2: duplicate id 'dm-1\|M11'"):
        ng.read(put("a.jsonl", lines({}, {})))


@pytest.mark.slow
@pytest.mark.skipif("NLGAUGE_DATA" not in os.environ, reason="NLGAUGE_DATA names no folder with evaluation data")
def test_real_annotations(tmp_path):
    # 100 documents, 16 systems, 11 references: the counts of the data's own page
    data = ng.read(Path(os.environ["NLGAUGE_DATA"], "summeval", "segments.jsonl.gz"))
    path = tmp_path / "model_annotations.aligned.paired.jsonl.gz"
    rows = [
        {
            "id": s.item,
            "model_id": s.system,
            "decoded": s.hypothesis,
            "text": s.source,
            "references": list(s.references),
            "expert_annotations": [dict(s.human)],
        }
        for s in data
    ]
    path.write_bytes(gzip.compress("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()))
    back = ng.read(path)
    assert (len(back), len(back.systems), len(back.items), {len(s.references) for s in back}) == (1600, 16, 100, {11})
    assert [(s.system, s.item, s.hypothesis, s.source, s.references) for s in back] == [
        (s.system, s.item, s.hypothesis, s.source, s.references) for s in data
    ]
    assert [{name: value for name, (value,) in s.human.items()} for s in back] == [s.human for s in data]
