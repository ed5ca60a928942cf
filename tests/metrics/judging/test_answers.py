from __future__ import annotations

import json
import math

from nlgauge.metrics.judging.answers import read_mqm, read_place, read_score


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


def test_a_verdict_is_one_of_three_words():
    assert [read_place(json.dumps({"verdict": said})) for said in ("A", "B", "tie")] == [1, 2, 0]
    for text in ('{"verdict": "a"}', '{"verdict": "A."}', '{"verdict": ["A"]}', '{"verdict": 1}', "A", '"A"', "{}"):
        assert math.isnan(read_place(text))
    assert math.isnan(read_place('{"verdict": "A", "why": "better"}'))
