from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

import nlgauge as ng

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
