from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.signature import signature_of
from nlgauge.metrics.scoring import score


@dataclass(frozen=True)
class Lengths:
    """Letters of the hypothesis; it reads no reference."""

    weight: float = 1.0
    info: ClassVar = MetricInfo("lengths", needs=(), range=(0.0, np.inf))

    def score(self, segments, runtime):
        values = np.array([self.weight * len(s.hypothesis) for s in segments])
        return Scores(signature_of(self, runtime), ids(segments), values)


def test_keys_are_the_specifications_as_typed():
    found = score(["a b"], ["a b"], metrics=["chrf: word_order=2", "chrf++", "bleu"])
    assert list(found) == ["chrf: word_order=2", "chrf++", "bleu"]
    assert found["chrf++"].values == found["chrf: word_order=2"].values


def test_an_object_goes_by_the_specification_that_rebuilds_it():
    assert list(score(["a"], ["a"], metrics=[ng.metric("chrf++"), Lengths(weight=2.0)])) == [
        "chrf:word_order=2",
        "lengths:weight=2.0",
    ]


def test_one_metric_needs_no_list():
    assert list(score(["a"], ["a"], metrics="bleu")) == ["bleu"]
    assert list(score(["a"], ["a"], metrics=Lengths())) == ["lengths"]


def test_a_dataset_brings_its_own_references():
    dataset = ng.Dataset.from_texts({"A": ["a b"], "B": ["c d"]}, ["a b"])
    assert score(dataset, metrics="bleu")["bleu"].ids == ("A:0", "B:0")
    with pytest.raises(InputError, match=r"^a Dataset holds its references and sources; leave refs and srcs out$"):
        score(dataset, ["a b"], metrics="bleu")


def test_every_metric_is_checked_before_the_first_is_run():
    with pytest.raises(InputError, match=r"^bleu needs references; segment '0' has none$"):
        score(["a"], metrics=[Lengths(), ng.metric("bleu")])
