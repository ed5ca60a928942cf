"""Sentinels: one side alone, by hand, and by a head that was made for this side."""

import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment
from nlgauge.core.spec import quote
from nlgauge.metrics.base import notes_of
from nlgauge.metrics.learned.sentinel import Sentinel
from nlgauge.runtime.runtime import Runtime

CPU = Runtime(device="cpu")
ROWS = [
    Segment("1", "a cat", ("the cat", "one cat now"), source="le chat"),
    Segment("2", "rain", ("it rains", "rain"), source="il pleut"),
]


@pytest.mark.parametrize(
    ("side", "lengths"),
    [("source", [7, 8]), ("hypothesis", [5, 4]), ("reference", [9, 6])],  # (7 + 11) / 2 and (8 + 4) / 2 characters
)
def test_the_length_of_one_side(side, lengths):
    metric = Sentinel(side=side)
    assert metric.score(ROWS, CPU).values.tolist() == [-float(n) for n in lengths]
    assert notes_of(metric) == (f"a control, not a metric: it reads the {side} alone",)


def test_a_side_that_is_not_there_is_refused():
    with pytest.raises(InputError, match="sentinel needs source; segment '1' has none"):
        ng.metric("sentinel").score([Segment("1", "a")], CPU)
    assert ng.metric("sentinel:side=hypothesis").score([Segment("1", "")], CPU).values.tolist() == [0.0]


@pytest.mark.parametrize(("side", "text"), [("source", "src"), ("hypothesis", "hyp"), ("reference", "ref")])
def test_a_head_of_one_side_sees_nothing_else(tiny_regressor, side, text):
    pytest.importorskip("torch")
    head = tiny_regressor(features=text)
    metric = ng.metric(f"sentinel:side={side},model={quote(str(head))}")
    assert str(head) not in str(ng.metric(f"sentinel:side={side}"))
    other = {
        "source": Segment("1", "", ("x",), source="le chat"),
        "hypothesis": Segment("1", "a cat", ("x",), source="y"),
        "reference": Segment("1", "z", ("the cat", "one cat now"), source="y"),
    }[side]
    first, again = metric.score([ROWS[0], other], CPU).values
    assert first == pytest.approx(again, abs=1e-6)  # float32
    assert first != pytest.approx(metric.score(ROWS, CPU).values[1], abs=1e-3)
    wrong = "hypothesis" if side == "source" else "source"
    with pytest.raises(InputError, match=rf"reads {text}, expected (hyp|src) alone; 'nlgauge train regressor --side"):
        ng.metric(f"sentinel:side={wrong},model={quote(str(head))}").score(ROWS, CPU)
