"""Sentinels: one side alone, by hand, and by a head that was made for this side."""

from dataclasses import replace

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import spec_of, trained_on
from nlgauge.core.segment import Segment
from nlgauge.core.spec import quote
from nlgauge.metrics.learned.gauge import (
    CHRF,
    RATED,
    RECALL,
    SCALES,
    WEIGHTS,
    WEIGHTS_RATED,
    Gauge,
    GaugeRated,
    Sentinel,
)
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric
from nlgauge.testing.metric import SEGMENTS

torch = pytest.importorskip("torch")


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
    assert metric.notes == (f"a control, not a metric: it reads the {side} alone",)


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


# --- `gauge`: its sum by hand from its parts, fixed scales, and one score in any company

REFERENCE = "The committee will publish its final report in March."
REPORTS = [
    Segment("copy", REFERENCE, (REFERENCE,)),
    Segment("order", "In March the committee will publish its report.", (REFERENCE,)),
    Segment("wrong", "The committee will not publish its final report in March.", (REFERENCE,)),
    Segment("other", "A dog is sleeping on the sofa.", (REFERENCE,)),
]


@pytest.mark.parametrize("built", [Gauge(), Gauge(task="as"), GaugeRated()], ids=str)
def test_it_is_the_sum_of_its_parts_on_fixed_scales(built):
    scores = built.score(REPORTS, CPU)
    weights = WEIGHTS_RATED if isinstance(built, GaugeRated) else WEIGHTS[built.task]
    assert set(scores.parts) == {*weights, "reference"}
    below = {name: SCALES["embedded"][name] for name in weights}
    total = sum(w * (below[t][1] - below[t][0]) / below[t][2] for t, w in weights.items())  # of a copy
    by_hand = sum(w * (scores.parts[t] - below[t][0]) / below[t][2] for t, w in weights.items()) / total
    assert scores.values == pytest.approx(by_hand, abs=1e-12)
    copy, order, wrong, other = scores.values
    assert copy == pytest.approx(1, abs=0.05)  # `nli-robust` is surer of some copies than of others
    assert other == pytest.approx(0, abs=0.15)
    assert other < order < copy
    assert other < wrong < copy
    if built.task == "mt":
        assert wrong < order  # neither term for summaries has learnt what a negation is


# Each term meets all segments in a contract of its own; here they stand in the night's.
@pytest.mark.parametrize(
    ("built", "n"),
    [
        pytest.param(Gauge(), None, marks=pytest.mark.slow),
        pytest.param(GaugeRated(), None, marks=pytest.mark.slow),
        (Gauge(), 8),
        (GaugeRated(), 8),
    ],
    ids=str,
)
def test_it_keeps_the_contract(built, n):
    assert not built.pooled
    check_metric(built, SEGMENTS[:n], runtime=CPU, tolerance=1e-5)  # float32


def test_of_several_references_the_best_sum_counts_or_the_mean():
    paraphrase = "Its last report will come out in March, the committee says."
    rows = [Segment(str(i), row.hypothesis, (REFERENCE, paraphrase)) for i, row in enumerate(REPORTS)]
    alone = [[replace(row, references=(one,)) for row in rows] for one in (REFERENCE, paraphrase)]
    each = np.array([Gauge().score(single, CPU).values for single in alone])
    best = Gauge().score(rows, CPU)
    assert best.values == pytest.approx(each.max(axis=0), abs=1e-6)  # float32, in batches of other shapes
    assert list(best.parts["reference"]) == list(each.argmax(axis=0))
    assert Gauge(references="mean").score(rows, CPU).values == pytest.approx(each.mean(axis=0), abs=1e-6)


def test_the_encoder_is_that_of_all_terms():
    both = {*ng.metric("gauge:encoder=base").inside, *ng.metric("gauge-rated:encoder=base").inside}
    assert {spec_of(term) for term in both} == {
        "bertscore:model=base",
        "bertscore:model=base,value=recall",
        "chrf",
        "cosine:model=base",
        "sescore:model=sescore-base",
        "nli:model=nli-robust-base,direction=both",
        "rated:model=rated-base",
    }
    assert set(SCALES["base"]) == set(SCALES["embedded"]) == {*WEIGHTS["mt"], *WEIGHTS["as"], RATED}


def test_the_rated_one_says_that_it_has_seen_ratings():
    assert Gauge().notes == ()
    assert any("human ratings" in note for note in GaugeRated().notes)
    assert set(trained_on(Gauge())) == {*ng.metric("nli-robust").trained_on, *ng.metric("sescore").trained_on}


def test_summaries_are_read_without_what_reads_sentences():
    assert set(Gauge(task="as").weights) == set(GaugeRated(task="as").weights) == {RECALL, CHRF}


def test_what_it_cannot_score_is_refused():
    with pytest.raises(SpecError, match="gauge:task is 'qg'; known: as, mt"):
        ng.metric("gauge:task=qg")
    with pytest.raises(InputError, match="gauge needs references; segment 'x' has none"):
        ng.score(ng.Dataset((Segment("x", "a b"),), "d"), metrics="gauge", runtime=CPU)


def test_an_undefined_term_leaves_it_undefined():
    scores = Gauge().score([Segment("1", "\ufffd \ufffd", ("a cat",)), REPORTS[0]], CPU)
    assert np.isnan(scores.values[0]) == any(np.isnan(part[0]) for part in scores.parts.values())
    assert np.isfinite(scores.values[1])
