"""Batches scored together give the numbers of one call."""

from __future__ import annotations

import copy
import pickle
import re

import pytest

import nlgauge as ng
from nlgauge.scoring.accumulate import as_evaluate, numbers_of

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


def test_numbers_are_flat_and_have_names_that_loggers_take():
    scores = ng.score(HYPS, REFS, metrics=["bleu", "chrf:word_order=2"])
    numbers = numbers_of(scores)
    assert numbers["bleu"] == scores["bleu"].system
    assert numbers["bleu.precision1"] == scores["bleu"].system_parts["precision1"]
    assert numbers["chrf_word_order_2"] == scores["chrf:word_order=2"].system
    assert all(re.fullmatch(r"[\w./ -]+", name) and type(value) is float for name, value in numbers.items())


def test_names_that_would_be_alike_stay_apart():
    scores = ng.score(HYPS, REFS, metrics=["chrf"])
    assert numbers_of({"a:b": scores["chrf"], "a=b": scores["chrf"]}).keys() == {"a_b", "a_b_2"}


def test_the_methods_of_evaluate_give_the_same_numbers_however_texts_come():
    metric = as_evaluate(["chrf", "bleu"])
    whole = metric.compute(predictions=HYPS, references=REFS)
    assert whole == numbers_of(ng.score(HYPS, REFS, metrics=["chrf", "bleu"]))
    metric.add(prediction=HYPS[0], reference=REFS[0][0])
    metric.add_batch(predictions=HYPS[1:2], references=REFS[1:2])
    assert metric.compute(predictions=HYPS[2:], references=REFS[2:]) == whole
    with pytest.raises(ng.InputError, match="nothing was added yet"):
        metric.compute()  # the texts before are forgotten
    metric.add(prediction=HYPS[0], reference=REFS[0][0])
    with pytest.raises(ng.InputError, match="given without predictions"):
        metric.compute(references=REFS)
    metric.compute()
    assert repr(metric) == "EvaluateMetric(Accumulator(chrf, bleu; 0 segments))"


def test_it_goes_to_other_processes_and_is_copied_with_its_texts():
    metric = as_evaluate("chrf")
    metric.add(prediction="it rains", reference="it is raining")
    sent, copied = pickle.loads(pickle.dumps(metric)), copy.deepcopy(metric)
    assert sent.compute() == copied.compute() == metric.compute()


def test_combine_of_evaluate_takes_such_a_metric_beside_others():
    evaluate = pytest.importorskip("evaluate")
    both = evaluate.combine([as_evaluate("chrf"), as_evaluate(["bleu", "chrf"])])
    whole = numbers_of(ng.score(HYPS, REFS, metrics=["chrf", "bleu"]))
    one = {**whole, "nlgauge_0_chrf": whole["chrf"], "nlgauge_1_chrf": whole["chrf"]}  # evaluate's way with twins
    del one["chrf"]
    assert both.compute(predictions=HYPS, references=REFS) == one
    for hyp, refs in zip(HYPS[:2], REFS[:2], strict=True):
        both.add(prediction=hyp, reference=refs)
    both.add_batch(predictions=HYPS[2:], references=REFS[2:])
    assert both.compute() == one


def test_the_names_that_combine_uses_are_taken_without_evaluate_too():
    metric = as_evaluate("chrf")
    metric.add(predictions=HYPS[0], references=REFS[0])
    assert metric.compute() == numbers_of(ng.score(HYPS[:1], REFS[:1], metrics="chrf"))
    assert (metric.name, metric._feature_names()) == ("nlgauge", ["predictions", "references"])
    with pytest.raises(ng.InputError, match=r"^add has no prediction, expected a text$"):
        metric.add(reference=REFS[0])
