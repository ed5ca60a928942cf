"""Metrics for loops of torchmetrics: the numbers of one call, however texts come and wherever they were collected."""

from __future__ import annotations

import copy
import pickle
import sys

import pytest

pytest.importorskip("torch")

import torch

import nlgauge as ng
from nlgauge.scoring.accumulate import numbers_of
from nlgauge.training.meters import as_torchmetrics

HYPS = ["it rains", "a cat\r\nsat \u2028 \ud800", "the dog"]
REFS = [["it is raining"], ["the cat sat", "a cat"], ["a dog"]]


@pytest.fixture
def whole():
    pytest.importorskip("torchmetrics")
    return numbers_of(ng.score(HYPS, REFS, metrics=["chrf", "bleu"]))


def test_batches_give_the_numbers_of_one_call(whole):
    meter = as_torchmetrics(["chrf", "bleu"])
    meter.update(HYPS[:1], REFS[:1])
    meter.update(HYPS[1:], REFS[1:])
    assert meter.compute() == whole
    meter.reset()
    meter.update(HYPS, REFS)
    assert meter.compute() == whole


def test_a_call_scores_the_batch_and_keeps_its_texts(whole):
    meter = as_torchmetrics(["chrf", "bleu"])
    first = meter(HYPS[:1], REFS[:1])
    assert first == numbers_of(ng.score(HYPS[:1], REFS[:1], metrics=["chrf", "bleu"]))
    meter(HYPS[1:], REFS[1:])
    assert meter.compute() == whole


def test_texts_of_several_processes_are_scored_together(whole):
    meters = [as_torchmetrics(["chrf", "bleu"]) for _ in range(2)]
    meters[0].update(HYPS[:1], REFS[:1])
    meters[1].update(HYPS[1:], REFS[1:])
    # what torchmetrics makes of the states of all processes
    meters[0].texts = torch.cat([part for meter in meters for part in meter.texts])
    assert meters[0].compute() == whole


def test_it_goes_to_other_processes_and_is_copied_with_its_texts(whole):
    meter = as_torchmetrics(["chrf", "bleu"], ng.Runtime())
    meter.update(HYPS, REFS)
    assert pickle.loads(pickle.dumps(meter)).compute() == copy.deepcopy(meter).compute() == whole
    assert pickle.loads(pickle.dumps(meter["chrf"])).compute() == whole["chrf"]


def test_torchmetrics_computes_with_one_number(whole):
    from torchmetrics import MetricCollection
    from torchmetrics.wrappers import MinMaxMetric

    several, one = as_torchmetrics(["bleu", "chrf"]), as_torchmetrics("chrf")
    for found in (one + 2 * one, several["chrf"] * 3, 3 * as_torchmetrics(["chrf"])):
        found.update(HYPS, REFS)
        assert found.compute().item() == 3 * whole["chrf"]
    assert MinMaxMetric(several["chrf"])(HYPS, REFS)["max"].item() == whole["chrf"]
    assert MetricCollection([as_torchmetrics("bleu"), one])(HYPS, REFS) == whole
    with pytest.raises(ng.InputError, match=r"has 'bleu', 'chrf' and more, expected one; write meter\['bleu'"):
        (several * 2)(HYPS, REFS)
    with pytest.raises(ng.InputError, match="no number 'chfr'; did you mean 'chrf'"):
        several["chfr"](HYPS, REFS)


def test_copies_have_texts_of_their_own(whole):
    meter = as_torchmetrics("chrf")
    other = meter.clone()
    meter.update(HYPS[:1], REFS[:1], ["a source"])
    assert other.texts == []
    assert meter.to("cpu").compute().keys() == {"chrf"}


def test_without_torchmetrics_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torchmetrics", None)
    with pytest.raises(ng.InputError, match=r"torchmetrics is not installed; run: pip install torchmetrics$"):
        as_torchmetrics("wer")  # of which there was none before


def test_an_unknown_metric_is_refused_at_once(whole):
    with pytest.raises(ng.SpecError, match="unknown metric"):
        as_torchmetrics("blue")


def test_an_empty_source_is_a_source(whole):
    meter = as_torchmetrics(["chrf", "bleu"])
    meter.update(HYPS, REFS, ["", "x", *[""] * (len(HYPS) - 2)])
    assert meter.compute() == whole
