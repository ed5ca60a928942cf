from __future__ import annotations

import math

from nlgauge.metrics.judging.answers import read_mqm, read_score


def test_one_object_with_one_number():
    assert read_score(' {"score": 3} ', 1, 5) == 3
    for text in ('{"score": 6}', '{"score": 3, "why": ""}', "3", '{"score": 3', "[" * 10**5, " " * 10**6):
        assert math.isnan(read_score(text, 1, 5))


def test_errors_are_weighed_down_to_the_lowest_score():
    assert read_mqm('{"errors": []}', -25, 0) == 0
    assert read_mqm('{"errors": [' + ", ".join(['{"severity": "major"}'] * 9) + "]}", -25, 0) == -25
    assert math.isnan(read_mqm('{"errors": [{"severity": []}]}', -25, 0))
