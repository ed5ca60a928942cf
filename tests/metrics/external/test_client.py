"""What is taken for an answer: thousands of lines that a worker could write, read in this process."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.metrics.external.client import LONGEST, Client, MisfitError, WorkerFailedError, read_answer
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
def test_odd_values_in_any_place_are_refused_or_are_what_they_seem(op):
    for odd in ODD:
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


@settings(max_examples=100)
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


# --- A worker that answers, fails, ends, hangs or talks out of turn

MODULE = """
import os, sys, time
PACKAGES = ["numpy", "no-such-package"]
def score(rows):
    found = []
    for row in rows:
        text = row["hyp"]
        if text == "pid":
            found.append(os.getpid())
        elif text == "crash":
            print("line one\\nthe last words", file=sys.stderr, flush=True)
            os._exit(3)
        elif text.startswith("crash unless "):
            mark = text[len("crash unless "):]
            if not os.path.exists(mark):
                open(mark, "w").close()
                os.kill(os.getpid(), 9)
            found.append(1)
        elif text == "hang":
            print("about to sleep", file=sys.stderr, flush=True)
            time.sleep(60)
        elif text == "fail":
            raise ValueError("cannot\\nread this")
        elif text == "exit":
            sys.exit("I stop")
        elif text == "chatter":
            print('{"values": [7]}', flush=True)
            os.write(1, b"and more\\n")
            found.append(2)
        elif text == "few":
            return []
        elif text == "fork":
            found.append(7 if os.fork() else 8)  # both come back and answer
        elif text == "answers":
            for number in range(3, 64):  # wherever answers go
                try:
                    os.write(number, b'{"id": "1", "values": [9]}\\n')
                except OSError:
                    pass
            found.append(1)
        else:
            found.append(len(text))
    return found
"""


def rows(*texts):
    return {"op": "score", "rows": [{"hyp": text} for text in texts]}


@pytest.fixture
def client(tmp_path):
    module = tmp_path / "toy.py"
    module.write_text(MODULE)
    found = Client("toy", Path(sys.executable), ["numpy", "no-such-package"])
    found.open({"op": "load", "kind": "module", "options": {"module": str(module)}})
    yield found
    found.close()


def test_rows_go_out_and_numbers_come_back(client):
    assert client.ask(rows("a", "\u2028 \U0001f600 \ud800", ""))["values"] == [1, 5, 0]
    versions = client.hello()["versions"]
    assert versions["no-such-package"] == "absent"
    assert versions["numpy"][0].isdigit()


def test_what_a_package_prints_is_no_answer(client):
    assert client.ask(rows("chatter"))["values"] == [2]
    assert client.ask(rows("ab"))["values"] == [2]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("fail", "ValueError: cannot read this"),
        ("exit", "SystemExit: I stop"),
        ("few", "ValueError: 1 rows got 0 values"),
    ],
)
def test_a_package_that_fails_is_told_in_one_line_and_the_worker_lives(client, text, told):
    before = client.ask(rows("pid"))["values"]
    with pytest.raises(ng.InputError) as caught:
        client.ask(rows(text), ["seg 1"])
    assert str(caught.value) == f"toy: the worker failed on segment 'seg 1': {told}"
    assert client.ask(rows("pid"))["values"] == before


def test_a_worker_that_ends_is_started_again_once(client, tmp_path):
    mark = tmp_path / "mark"
    assert client.ask(rows(f"crash unless {mark}"))["values"] == [1]  # what it was opened with is loaded again


def test_a_worker_that_ends_twice_is_told_with_its_last_words_and_the_segments(client):
    with pytest.raises(ng.InputError) as caught:
        client.ask(rows("crash"), [f"s{i}" for i in range(8)])
    assert str(caught.value) == (
        "toy: the worker ended twice on segments 's0', 's1', 's2', 's3', 's4' and 3 more; exit status 3; it said: line"
        " one the last words"
    )
    assert client.ask(rows("abc"))["values"] == [3]  # the next call starts another


def test_a_worker_that_hangs_is_ended(client, monkeypatch):
    (pid,) = client.ask(rows("pid"))["values"]
    monkeypatch.setenv("NLGAUGE_WORKER_SECONDS", "0.3")
    with pytest.raises(ng.InputError) as caught:
        client.ask(rows("hang"), ["s0"])
    assert str(caught.value) == (
        "toy: the worker gave no answer in 0.3 s on segment 's0', and was ended; NLGAUGE_WORKER_SECONDS=N gives it N"
        " seconds; it said: about to sleep"
    )
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)
    monkeypatch.setenv("NLGAUGE_WORKER_SECONDS", "soon")
    with pytest.raises(ng.InputError, match=r"^NLGAUGE_WORKER_SECONDS is 'soon', expected a number of seconds above 0"):
        client.ask(rows("a"))


def test_a_module_that_forks_never_shifts_answers(client):
    for size in range(1, 6):
        assert client.ask(rows("fork"))["values"] == [7]
        time.sleep(0.1)  # the other process has answered, if it ever does
        assert client.ask(rows("a" * size))["values"] == [size]


def test_an_answer_that_nobody_asked_for_is_refused_and_the_worker_ended(client):
    (pid,) = client.ask(rows("pid"))["values"]
    with pytest.raises(ng.InputError) as caught:
        client.ask(rows("answers"), ["s0"])
    assert str(caught.value) == (
        "toy: the worker wrote what is no answer on segment 's0', and was ended: an answer to another request; it said:"
        " nothing"
    )
    assert gone(int(pid))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("read x; printf '\\377\\n'; sleep 60", "JSON is malformed: invalid character (byte 0)"),  # no UTF-8
        ("echo '{}'; read x; sleep 60", "protocol none, expected 2"),  # before it was asked
        ("exec cat /dev/zero", "a line of more than 4194304 bytes"),  # read to there and no further
    ],
)
def test_odd_bytes_are_told_at_once(tmp_path, text, told):
    before = time.monotonic()
    with pytest.raises(ng.InputError, match=re.escape(f"and was ended: {told}; it said: nothing")):
        Client("toy", script(tmp_path, text)).hello()
    assert time.monotonic() - before < 30  # and not when the half hour of a request is over


@pytest.mark.parametrize(
    "text",
    [
        "read x; printf '{\"id\"'; sleep 60",  # a part of a line
        "exec sleep 60",  # reads nothing, so that a long request fills the pipe
    ],
)
def test_what_says_nothing_more_is_ended_in_time(tmp_path, monkeypatch, text):
    monkeypatch.setenv("NLGAUGE_WORKER_SECONDS", "0.3")
    before = time.monotonic()
    with pytest.raises(ng.InputError, match=r"^toy: the worker gave no answer in 0\.3 s, and was ended"):
        Client("toy", script(tmp_path, text)).ask({"op": "hello", "packages": ["p" * 1_000_000]})
    assert time.monotonic() - before < 30


def script(tmp_path, text):
    path = tmp_path / "python"
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


_NO_ANSWER = "toy: the worker wrote what is no answer, and was ended: {}; it said: nothing"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("""read x; echo '{"protocol": 9}'; sleep 9""", _NO_ANSWER.format("protocol 9, expected 2")),
        ("exec >&-; sleep 9", "toy: the worker ended twice; its standard output was closed; it said: nothing"),
        ("echo out of order >&2; exit 4", "toy: the worker ended twice; exit status 4; it said: out of order"),
        ("kill -11 $$", "toy: the worker ended twice; signal SIGSEGV; it said: nothing"),
    ],
)
def test_what_is_no_worker_is_told(tmp_path, text, told):
    with pytest.raises(ng.InputError) as caught:
        Client("toy", script(tmp_path, text)).hello()
    assert str(caught.value) == told


def test_what_cannot_be_run_is_told(tmp_path):
    with pytest.raises(ng.InputError, match=r"^toy: .*/none cannot be run: No such file or directory; expected a Py"):
        Client("toy", tmp_path / "none").hello()


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z" if Path("/proc").exists() else True


def gone(pid):
    until = time.monotonic() + 10
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.02)
    return not alive(pid)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_worker_ends_with_the_process_that_asked_it_even_in_the_middle(tmp_path, number):
    module = tmp_path / "toy.py"
    module.write_text(MODULE)
    code = (
        "import sys\nfrom pathlib import Path\nfrom nlgauge.metrics.external.client import Client\n"
        "client = Client('toy', Path(sys.executable))\n"
        f"client.open({{'op': 'load', 'kind': 'module', 'options': {{'module': {str(module)!r}}}}})\n"
        "ask = lambda text: client.ask({'op': 'score', 'rows': [{'hyp': text}]})\n"
        "print(int(ask('pid')['values'][0]), flush=True)\nask('hang')"
    )
    asking = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    pid = int(asking.stdout.readline())
    asking.send_signal(number)
    asking.wait(10)
    asking.stdout.close()
    assert gone(pid)


def test_a_worker_ends_when_nobody_holds_its_client(client):
    (pid,) = client.ask(rows("pid"))["values"]
    client.close()
    assert gone(int(pid))
