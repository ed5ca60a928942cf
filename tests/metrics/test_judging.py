"""A small server on loopback that answers as an endpoint does, or misbehaves: the one exception to "no sockets"."""

from __future__ import annotations

import json
import math
import os
import re
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

import nlgauge as ng
from nlgauge.cli.main import main
from nlgauge.core.errors import SpecError
from nlgauge.core.metric import signature_of
from nlgauge.core.segment import Segment
from nlgauge.metrics.judging import (
    KEY,
    Answer,
    Endpoint,
    Judge,
    Kept,
    Spent,
    check_url,
    prompt_key,
    read_mqm,
    read_score,
)
from nlgauge.metrics.stored import check_shipped
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric


class Server:
    """What it does next stands in `plan`, one entry for each request; then it rates."""

    def __init__(self) -> None:
        self.plan: list[Any] = []
        self.seen: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.counts = True  # tokens, as most endpoints do

    def reply(self, prompt: str) -> str:
        """A rating that depends on the prompt alone: the share of words of the answer that stand in the input."""
        source, answer = (set(text.split()) for text in re.findall("<(?:input|answer)>\n(.*?)\n</", prompt, re.S))
        return json.dumps({"score": round(100 * len(source & answer) / max(1, len(answer)), 2)})


STALLS = ("head drips", "body drips", "head stays away", "body stays away")


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def drip(self, step: str) -> None:
            """A byte now and then for ever, or nothing for longer than anybody waits."""
            with suppress(OSError):
                self.wfile.write(b"HTTP/1.1 200 OK\r\nX: " + (b"" if step.startswith("head") else b"\r\n\r\n"))
                while "drips" in step:
                    self.wfile.write(b" ")
                    time.sleep(0.02)
            time.sleep(8)

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.seen.append(asked)
            state.keys.append(self.headers.get("Authorization"))
            step = state.plan.pop(0) if state.plan else None
            said = step["say"] if isinstance(step, dict) else None
            said = state.reply(asked["messages"][0]["content"]) if step is None else said
            content = {"choices": [{"message": {"content": said}}]}
            if state.counts:
                content["usage"] = {"prompt_tokens": 7, "completion_tokens": 2}
            body = step if isinstance(step, bytes) else json.dumps(content).encode()
            if step in STALLS:
                return self.drip(step)
            self.send_response(step if isinstance(step, int) else 200)
            if step == 302:
                self.send_header("Location", f"{state.url}/elsewhere")
            if step == 429:
                self.send_header("Retry-After", "0")
            self.send_header("Content-Length", str(len(body) + (50 if step == "half" else 0)))
            self.end_headers()
            self.wfile.write(body[: len(body) // 2] if step == "half" else body)

    found = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.daemon_threads = True
    state.url = f"http://127.0.0.1:{found.server_port}/v1"  # type: ignore[attr-defined]
    thread = threading.Thread(target=found.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield state
    found.shutdown()
    found.server_close()


def test_it_waits_as_long_as_the_endpoint_says_or_ever_longer(server):
    server.plan = [429, 500, 500]
    waited = []
    answer = Endpoint(url=server.url, timeout=5, attempts=3, sleep=waited.append).ask("m", "x")
    assert (answer.text, answer.fault, answer.requests) == (None, "status 500", 3)
    assert waited == [0.0, 2.0]


def test_nobody_there_is_a_fault_and_no_crash():
    answer = Endpoint(url="http://127.0.0.1:9/v1", timeout=1, attempts=1).ask("m", "x")
    assert (answer.text, answer.fault) == (None, "URLError")


@pytest.mark.parametrize("step", STALLS)
def test_the_whole_answer_comes_in_time_or_not_at_all(server, step):
    server.plan = [step]
    began = time.monotonic()
    answer = Endpoint(url=server.url, timeout=0.2, attempts=1).ask("m", "x")
    assert (answer.text, answer.fault) == (None, "TimeoutError")
    assert time.monotonic() - began < 5  # a loaded machine; without an end it never returns


def test_no_proxy_is_asked_for_this_machine(server, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # nobody is there
    monkeypatch.setenv(KEY, "secret")
    server.plan = [{"say": "yes"}]
    assert Endpoint(url=server.url, timeout=5, attempts=1).ask("m", "x").text == "yes"


def test_a_key_goes_in_clear_to_this_machine_alone(monkeypatch):
    monkeypatch.setenv(KEY, "secret")
    for here in ("127.0.0.1:1", "127.8.9.1", "LOCALHOST", "[::1]:80", "[::ffff:127.0.0.1]"):
        check_url(f"http://{here}/v1")
    for there in ("localhost.example.org", "127.0.0.1.example.org", "10.0.0.1", "[::2]"):
        with pytest.raises(SpecError, match="would show the key"):
            check_url(f"http://{there}/v1")


def test_a_key_that_comes_back_is_cut_out(server, monkeypatch):
    monkeypatch.setenv(KEY, "sk-secret\n")
    server.plan = [{"say": "Bearer sk-secret, sk-secret"}, {"say": "80"}]
    endpoint = Endpoint(url=server.url, timeout=5, attempts=1)
    assert endpoint.ask("m", "x").text == f"Bearer [{KEY}], [{KEY}]"
    assert endpoint.ask("m", "x").text == "80"
    assert server.keys == ["Bearer sk-secret"] * 2


def test_an_answer_that_says_two_things_is_none(server):
    server.plan = [b'{"choices": [{"message": {"content": "1", "content": "99"}}]}']
    assert Endpoint(url=server.url, timeout=5, attempts=1).ask("m", "x").fault == "an answer of another form"


def test_one_object_with_one_number():
    assert read_score(' {"score": 3} ', 1, 5) == 3
    for text in (
        '{"score": 1, "score": 3}',
        '{"score": 6}',
        '{"score": 3, "why": ""}',
        "3",
        '{"score": 3',
        "[" * 10**5,
        " " * 10**6,
    ):
        assert math.isnan(read_score(text, 1, 5))


def test_errors_are_weighed_down_to_the_lowest_score():
    assert read_mqm('{"errors": []}', -25, 0) == 0
    assert read_mqm('{"errors": [' + ", ".join(['{"severity": "major"}'] * 9) + "]}", -25, 0) == -25
    assert math.isnan(read_mqm('{"errors": [{"severity": []}]}', -25, 0))


def test_answers_are_found_again_also_after_half_a_line(tmp_path):
    path = tmp_path / "a.jsonl"
    Kept(str(path)).add("k", "one\ntwo")
    with path.open("a") as file:
        file.write('{"prompt_sha')
    kept = Kept(str(path))
    kept.add("l", "three")
    assert [Kept(str(path)).get(key) for key in "klm"] == ["one\ntwo", "three", None]


def test_another_file_is_refused(tmp_path):
    (tmp_path / "a").write_text("x\ny\nz\n")
    with pytest.raises(ng.InputError, match=r"a: no line of it is an answer of a judge"):
        Kept(str(tmp_path / "a"))


def test_the_key_is_of_all_that_is_asked():
    assert (
        len({prompt_key(*asked) for asked in (("u", "m", "p"), ("u", "m", "q"), ("u", "n", "p"), ("v", "m", "p"))}) == 4
    )


def test_nothing_asked_is_nothing_said():
    assert Spent().notes() == ()


def test_tokens_that_nobody_counts_are_not_taken_for_none():
    spent = Spent()
    spent.add(Answer("a"))
    spent.add(Answer(None, fault="status 500", requests=4))  # no answer, so nothing to count
    assert spent.notes() == (
        "5 requests, 0 tokens read and 0 written, 0 answers kept before;"
        " the endpoint does not count the tokens of 1 answers",
    )


def test_parts_of_a_run_are_joined():
    whole, part = Spent(), Spent(requests=1, read=2, written=3, uncounted=4, kept=5)
    whole.join(part)
    whole.join(part)
    assert whole == Spent(2, 4, 6, 8, 10)


TEXTS = [Segment("1", "a b", source="a b c"), Segment("2", "a x", source="a b c"), Segment("3", " ", source="a")]


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr("nlgauge.metrics.judging._LONGEST_PAUSE", 0.0)
    monkeypatch.delenv("NLGAUGE_JUDGE_KEY", raising=False)


def judge(server, **options):
    return Judge(url=server.url, model="m", **options)


@pytest.mark.usefixtures("quick")
def test_the_contract_holds(server):
    check_metric(judge(server))


@pytest.mark.usefixtures("quick")
def test_texts_are_rated_and_the_cost_is_counted(server):
    found = judge(server).score(TEXTS, Runtime())
    assert found.values.tolist() == [100, 50, 0]
    assert found.flags["empty"].tolist() == [False, False, True]
    assert found.notes == ("judge: 2 requests, 14 tokens read and 4 written, 0 answers kept before",)
    assert server.seen[0]["temperature"] == 0


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("step", [429, 500, "half", b"no json", b"{}", b'{"choices": [{"message": {"content": 3}}]}'])
def test_what_may_pass_is_tried_again(server, step):
    server.plan = [step, step]
    found = judge(server).score(TEXTS[:1], Runtime())
    assert found.values.tolist() == [100]
    assert "3 requests" in found.notes[0]


@pytest.mark.usefixtures("quick")
def test_what_does_not_pass_has_no_score_and_is_counted(server):
    server.plan = [500, 500]
    found = judge(server, attempts=2).score(TEXTS, Runtime())
    assert math.isnan(found.values[0])
    assert found.flags["unanswered"].tolist() == [True, False, False]


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    "said", ["80", "I say 80", '{"score": 101}', '{"score": "80"}', '{"score": NaN}', '{"score": true}', "[]", ""]
)
def test_another_form_of_answer_has_no_score_and_is_counted(server, said):
    server.plan = [{"say": said}]
    found = judge(server).score(TEXTS[:1], Runtime())
    assert math.isnan(found.values[0])
    assert found.flags["unread"].tolist() == [True]


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("status", [302, 400, 401, 404])
def test_a_refusal_ends_the_run_in_one_line(server, status):
    server.plan = [status]
    with pytest.raises(ng.InputError, match=f"answers {status} to a request; check url, model and NLGAUGE_JUDGE_KEY"):
        judge(server).score(TEXTS, Runtime())
    assert len(server.seen) == 1


@pytest.mark.usefixtures("quick")
def test_a_run_that_was_ended_goes_on(server, tmp_path):
    kept = str(tmp_path / "answers.jsonl")
    server.plan = [None, 401]
    with pytest.raises(ng.InputError):
        judge(server, answers=kept).score(TEXTS, Runtime())
    assert judge(server, answers=kept).score(TEXTS, Runtime()).values.tolist() == [100, 50, 0]
    assert len(server.seen) == 3
    assert "0 requests" in judge(server, answers=kept).score(TEXTS, Runtime()).notes[0]


@pytest.mark.usefixtures("quick")
def test_the_key_is_sent_and_stands_nowhere_else(server, tmp_path, monkeypatch):
    monkeypatch.setenv("NLGAUGE_JUDGE_KEY", "geheim-7")
    metric = judge(server, answers=str(tmp_path / "answers.jsonl"))
    found = metric.score(TEXTS, Runtime())
    assert server.keys == ["Bearer geheim-7"] * 2
    assert "geheim" not in f"{found}{found.signature}{signature_of(metric, Runtime())}{found.notes}"
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"geheim" in path.read_bytes()]


@pytest.mark.usefixtures("quick")
def test_where_answers_are_kept_is_not_signed_and_the_prompt_is(server, tmp_path):
    path = tmp_path / "p.txt"
    path.write_text("Rate {hypothesis} against {reference}")
    plain, kept = (str(signature_of(judge(server, **o), Runtime())) for o in ({}, {"answers": str(tmp_path / "a")}))
    assert plain == kept
    own = judge(server, prompt=str(path))
    assert own.info.needs == {"references"}
    assert str(signature_of(own, Runtime())) != plain


@pytest.mark.usefixtures("quick")
def test_texts_are_no_places_of_the_prompt(server):
    assert "<answer>\n{source}\n</answer>" in judge(server).filled(Segment("1", "{source}", source="s"))


@pytest.mark.usefixtures("quick")
def test_marked_errors_are_weighed(server):
    server.plan = [{"say": '{"errors": [{"severity": "minor"}, {"severity": "major"}]}'}, {"say": '{"errors": [{}]}'}]
    values = judge(server, ask="mqm").score(TEXTS[:2], Runtime()).values
    assert values[0] == -6
    assert math.isnan(values[1])


@pytest.mark.usefixtures("quick")
def test_the_cost_of_all_calls_is_told_and_not_signed(server):
    metric = judge(server)
    assert metric.notes == ()
    for segment in TEXTS[:2]:
        metric.score([segment], Runtime())
    assert metric.notes == ("2 requests, 14 tokens read and 4 written, 0 answers kept before",)
    assert str(signature_of(metric, Runtime())) == str(signature_of(judge(server), Runtime()))
    server.counts = False
    assert "does not count the tokens of 1 answers" in judge(server).score(TEXTS[:1], Runtime()).notes[0]


@pytest.mark.usefixtures("quick")
def test_the_command_and_the_function_tell_the_cost(server, tmp_path, capsys):
    path, answers = tmp_path / "d.jsonl", tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps({"id": s.id, "hyp": s.hypothesis, "src": s.source}) + "\n" for s in TEXTS))
    spec = f'judge:url="{server.url}",model=m,answers="{answers}"'
    for told in ("2 requests, 14 tokens read and 4 written, 0 answers kept before", "0 requests, 0 tokens read"):
        assert main(["score", str(path), "-m", spec, "--json", str(tmp_path / "r.json")]) == 0
        assert told in capsys.readouterr().out
        assert any(told in note for note in json.loads((tmp_path / "r.json").read_text())["notes"])
    (found,) = ng.score(["a b"], srcs=["a b c"], metrics=spec).values()
    assert "judge: 0 requests, 0 tokens read and 0 written, 1 answers kept before" in found.notes[0]


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"prompt": os.devnull}, "has no"),
        ({"url": "ftp://x"}, "url is no address"), ({"url": "https://u:p@x/v1"}, "holds more than an address"),
        ({"url": "https://x/v1?key=3"}, "holds more than an address"), ({"low": 5, "high": 5}, "expected below high"),
        ({"attempts": 0}, "above 0"), ({"prompt": "absent.txt"}, "cannot be read"),
    ],
)  # fmt: skip
def test_wrong_options_are_one_line(options, says):
    with pytest.raises((ng.SpecError, ng.InputError), match=says):
        Judge(**{"url": "https://x/v1", "model": "m", **options})


@pytest.mark.usefixtures("quick")
def test_a_key_goes_over_no_open_line(monkeypatch):
    monkeypatch.setenv("NLGAUGE_JUDGE_KEY", "geheim")
    with pytest.raises(ng.SpecError, match="expected https"):
        Judge(url="http://example.org/v1", model="m")


@pytest.mark.usefixtures("quick")
def test_no_file_may_name_a_judge():
    with pytest.raises(ng.SpecError, match="runs a program or reads a file"):
        check_shipped('judge:url="http://127.0.0.1/v1",model=m')
