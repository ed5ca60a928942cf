from __future__ import annotations

from nlgauge.metrics.judging.endpoint import Endpoint


def test_it_waits_as_long_as_the_endpoint_says_or_ever_longer(server):
    server.plan = [429, 500, 500]
    waited = []
    answer = Endpoint(url=server.url, timeout=5, attempts=3, sleep=waited.append).ask("m", "x")
    assert (answer.text, answer.fault, answer.requests) == (None, "status 500", 3)
    assert waited == [0.0, 2.0]


def test_nobody_there_is_a_fault_and_no_crash():
    answer = Endpoint(url="http://127.0.0.1:9/v1", timeout=1, attempts=1).ask("m", "x")
    assert (answer.text, answer.fault) == (None, "URLError")
