"""What is taken for an answer: thousands of lines that a worker could write, read in this process."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlgauge.metrics.external.answers import LONGEST, MisfitError, WorkerFailedError, read_answer
from nlgauge.metrics.external.worker import PROTOCOL

ID = "0123456789abcdef"
REQUESTS = {
    "hello": {"id": ID, "op": "hello", "packages": ["numpy"]},
    "import": {"id": ID, "op": "import", "module": "m"},
    "locate": {"id": ID, "op": "locate", "model": "m"},
    "load": {"id": ID, "op": "load", "kind": "module", "options": {}},
    "score": {"id": ID, "op": "score", "rows": [{"hyp": "a"}, {"hyp": "b"}]},
}
ANSWERS = {
    "hello": {"id": ID, "protocol": PROTOCOL, "python": "3.12.1", "versions": {"numpy": "2.1"}},
    "import": {"id": ID, "identity": "sha256:0123", "versions": {}},
    "locate": {"id": ID, "identity": "revision:0123"},
    "load": {"id": ID},
    "score": {"id": ID, "values": [0.5, None], "parts": {"f": [1, 2]}, "truncated": [True, False]},
}
ODD = [
    *(b"null", b"true", b"-1", b'""', b'"1"', b"[]", b"{}", b"[1]", b"[[1],[2]]", b"[true,1]", b'["1","2"]'),
    *(b"NaN", b"[NaN,1]", b"[Infinity,1]", b"1e999", b"[1e999,1]", b"9" * 400, b"[1," + b"9" * 400 + b"]"),
    *(b"[" * 200_000, b"[" * 200_000 + b"]" * 200_000, b'{"a":' * 200_000, b'"\\ud800"', b'"\xff"', b"\xff", b""),
    *(b'"two\\nlines"', b'"' + b"v" * 500 + b'"', b'{"a":[1,2,3]}', b'{"a":null}', b'{"a":5}'),
]


def line(answer):
    return json.dumps(answer).encode() + b"\n"


@pytest.mark.parametrize("op", REQUESTS)
def test_an_answer_that_fits_is_taken(op):
    found = read_answer(line(ANSWERS[op]), REQUESTS[op])
    assert {**ANSWERS[op]}.items() <= found.items()


@pytest.mark.parametrize("op", REQUESTS)
def test_every_field_must_be_there_and_no_other(op):
    for name in ANSWERS[op].keys() - {"parts", "truncated"}:  # these two are there where a metric has them
        with pytest.raises(MisfitError):
            read_answer(line({k: v for k, v in ANSWERS[op].items() if k != name}), REQUESTS[op])
    with pytest.raises(MisfitError):
        read_answer(line({**ANSWERS[op], "more": 1}), REQUESTS[op])
    with pytest.raises(MisfitError, match=r"^an answer to another request$"):
        read_answer(line({**ANSWERS[op], "id": "1"}), REQUESTS[op])
    with pytest.raises(MisfitError, match=r"^an answer to another request$"):
        read_answer(line({"id": "1", "error": "of before"}), REQUESTS[op])
    with pytest.raises(WorkerFailedError, match=r"^two lines$"):
        read_answer(line({"id": ID, "error": "two\nlines"}), REQUESTS[op])


@pytest.mark.parametrize("op", REQUESTS)
@pytest.mark.parametrize("odd", ODD, ids=lambda odd: repr(odd[:12]))
def test_odd_values_in_any_place_are_refused_or_are_what_they_seem(op, odd):
    for text in (odd, *(_with(ANSWERS[op], name, odd) for name in ANSWERS[op])):
        _taken_or_refused(text + b"\n", REQUESTS[op])


def _with(answer, name, odd):
    """The answer with raw bytes in place of one value."""
    return json.dumps({**answer, name: "HERE"}).encode().replace(b'"HERE"', odd)


def _taken_or_refused(text, request):
    refused = ""
    try:
        found = read_answer(text, request)
    except MisfitError as error:
        refused = str(error)
    if refused:
        assert "\n" not in refused
        assert len(refused) <= 700
        return
    assert found["id"] == ID
    if request["op"] == "score":
        columns = [found["values"], *found["parts"].values()]
        assert all(len(column) == len(request["rows"]) for column in columns)
        assert all(v is None or (isinstance(v, float) and math.isfinite(v)) for column in columns for v in column)
        assert all(isinstance(v, bool) for v in found["truncated"])


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
_NAMES = st.sampled_from(["id", "values", "parts", "truncated", "error", "protocol", "versions", "identity", "python"])


@settings(max_examples=400, deadline=None)
@given(
    op=st.sampled_from(sorted(REQUESTS)),
    changed=st.dictionaries(_NAMES, _VALUES, max_size=3),
    cut=st.integers(0, 400),
    junk=st.binary(max_size=6),
)
def test_any_line_is_taken_or_refused(op, changed, cut, junk):
    text = line({**ANSWERS[op], **changed})
    for said in (text, text[:cut] + junk + text[cut:], text[:cut], junk):
        try:
            _taken_or_refused(said, REQUESTS[op])
        except WorkerFailedError:
            assert "error" in changed


def test_a_line_without_end_is_refused_unread():
    with pytest.raises(MisfitError, match=r"^a line of more than 4194304 bytes$"):
        read_answer(b"[" * (LONGEST + 1), REQUESTS["load"])
