from __future__ import annotations

import json

import pytest

import nlgauge as ng


def line(item, body, status=200, **more):
    return json.dumps({"id": "r", "custom_id": item, "response": {"status_code": status, "body": body}, **more}) + "\n"


def test_answers_of_both_endpoints_are_read_and_failures_counted(put):
    chat = {"model": "m", "choices": [{"message": {"content": "hi"}}]}
    response = {"model": "m", "output": [{"type": "reasoning"}, {"type": "message", "content": [{"text": "ho"}]}]}
    refused = {"model": "m", "choices": [{"message": {"content": None}}]}
    data = ng.read(put("a.jsonl", line("2", chat) + line("1", response) + line("3", refused) + line("4", chat, 500)))
    assert [(s.id, s.hypothesis) for s in data] == [("m:2", "hi"), ("m:1", "ho")]
    assert [note.removeprefix("a.jsonl: ") for note in data.notes] == [
        "1 requests were done and have no text",
        "2 of 4 samples have no answer and are left out",
    ]


def test_a_line_without_its_id_is_refused(put):
    with pytest.raises(ng.InputError, match="'custom_id' is missing"):
        ng.read(put("a.jsonl", line(None, {})))
