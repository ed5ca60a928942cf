"""Batches scored together give the numbers of one call."""

from __future__ import annotations

import pytest

import nlgauge as ng

HYPS = ["it rains", "a cat sat", "the dog"]
REFS = [["it is raining"], ["the cat sat", "a cat"], ["a dog"]]


def test_the_numbers_are_those_of_one_call():
    meter = ng.Accumulator(["chrf", "bleu"])
    for hyp, refs in zip(HYPS, REFS, strict=True):
        meter.update([hyp], [refs])
    whole = ng.score(HYPS, REFS, metrics=["chrf", "bleu"])
    found = meter.compute()
    assert list(found) == list(whole)
    assert found["chrf"].values.tolist() == whole["chrf"].values.tolist()
    assert found["bleu"].system == whole["bleu"].system
    assert found["chrf"].ids == whole["chrf"].ids == ("1", "2", "3")


def test_more_can_be_added_after_a_number_was_asked_for():
    meter = ng.Accumulator("chrf")
    meter.update(HYPS[:1], REFS[:1])
    assert len(meter.compute()["chrf"]) == 1
    meter.update(HYPS[1:], REFS[1:])
    assert len(meter.compute()["chrf"]) == len(meter) == 3
    assert repr(meter) == "Accumulator(chrf; 3 segments)"
    meter.reset()
    with pytest.raises(ng.InputError, match=r"^nothing was added yet; call update with a batch of texts first$"):
        meter.compute()


def test_a_batch_with_a_fault_is_refused_at_once_and_whole():
    meter = ng.Accumulator(ng.metric("chrf"))
    with pytest.raises(ng.InputError, match=r"^2 hypotheses but 1 entries of references"):
        meter.update(HYPS[:2], REFS[:1])
    assert len(meter) == 0
    with pytest.raises(ng.SpecError, match=r"^unknown metric 'chrff'"):
        ng.Accumulator("chrff")
