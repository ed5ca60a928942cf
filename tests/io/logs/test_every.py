from __future__ import annotations

import json

import pytest

import nlgauge as ng

ROW = {
    "schema_version": "0.3.0", "evaluation_id": "e", "model_id": "m", "evaluation_name": "quiz", "sample_id": "s1",
    "interaction_type": "single_turn", "input": {"raw": "Where?", "reference": ["here", "there"]},
    "output": {"raw": ["here"]}, "evaluation": {"score": 1.0, "is_correct": True},
}  # fmt: skip


def lines(*changes):
    return "".join(json.dumps({**ROW, **change}) + "\n" for change in changes)


def test_lines_become_segments(put):
    (segment,) = ng.read(put("a.jsonl", lines({}))).segments
    assert (segment.id, segment.hypothesis, segment.references) == ("m:s1", "here", ("here", "there"))
    assert (segment.source, segment.group, segment.human) == ("Where?", "quiz", {"score": 1.0, "pass": 1.0})


def test_errors_are_undefined_and_other_versions_noted(put):
    data = ng.read(put("a.jsonl", lines({"error": "timed out", "schema_version": "2.0"}, {"sample_id": "s2"})))
    assert [s.human for s in data] == [{}, {"score": 1.0, "pass": 1.0}]
    assert data.notes[0] == "a.jsonl: schema version '2.0', read as 0.3"


def test_the_last_message_of_a_conversation_is_the_answer(put):
    talk = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": [{"type": "text", "text": "ho"}]}]
    assert ng.read(put("a.jsonl", lines({"output": None, "messages": talk}))).segments[0].hypothesis == "ho"
    assert [s.id for s in ng.read(put("a.jsonl", lines({"output": {"raw": ["a", "b"]}})))] == ["m:s1", "m:s1#2"]


def test_a_line_without_its_id_is_refused(put):
    with pytest.raises(ng.InputError, match="'sample_id' is missing"):
        ng.read(put("a.jsonl", lines({"sample_id": None})))
