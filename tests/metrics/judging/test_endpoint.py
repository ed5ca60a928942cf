from __future__ import annotations

import time

import pytest

from nlgauge.core.errors import SpecError
from nlgauge.metrics.judging.endpoint import KEY, Endpoint, check_url


def test_it_waits_as_long_as_the_endpoint_says_or_ever_longer(server):
    server.plan = [429, 500, 500]
    waited = []
    answer = Endpoint(url=server.url, timeout=5, attempts=3, sleep=waited.append).ask("m", "x")
    assert (answer.text, answer.fault, answer.requests) == (None, "status 500", 3)
    assert waited == [0.0, 2.0]


def test_nobody_there_is_a_fault_and_no_crash():
    answer = Endpoint(url="http://127.0.0.1:9/v1", timeout=1, attempts=1).ask("m", "x")
    assert (answer.text, answer.fault) == (None, "URLError")


@pytest.mark.parametrize("step", ["head drips", "body drips"])
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
