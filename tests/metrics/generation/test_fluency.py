"""Fluency with the head that comes with the package: what it sees, and the contract of a metric."""

import math

import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment
from nlgauge.metrics.generation.fluency import Fluency
from nlgauge.models.filler import load_infill, pseudo_likelihoods
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric

pytest.importorskip("torch")
CPU = Runtime(device="cpu")


def rows(*texts):
    return [Segment(str(n), text) for n, text in enumerate(texts)]


@pytest.fixture(scope="module")
def runtime():
    return Runtime(device="cpu")


def test_a_jumbled_sentence_fits_worse(runtime):
    texts = rows(
        "Heavy rain fell in the north today.", "Rain the in today heavy north fell.", "Heavy rain rain fell the."
    )
    good, jumbled, doubled = Fluency().score(texts, runtime).values
    assert good > jumbled + 1
    assert good > doubled + 0.5


def test_it_is_a_mean_over_pieces(runtime):
    text = "The cat sat on the mat."
    found = pseudo_likelihoods(load_infill("infill", runtime=runtime), [text])
    assert found.counts[0] == 7  # the cat sat on the mat .
    assert Fluency().score(rows(text, text), runtime).values == pytest.approx([found.sums[0] / 7] * 2, abs=1e-6)


def test_an_empty_text_is_worst(runtime):
    scores = Fluency().score(rows("", "rain rain rain cat"), runtime)
    assert scores.values[0] == -2 * math.log(30522) < scores.values[1]
    assert scores.flags["empty"].tolist() == [True, False]


def test_it_keeps_the_contract_of_a_metric(tiny_masked):
    metric = Fluency(model=str(tiny_masked("bert")))
    check_metric(
        metric,
        rows("the cat sat", "rain", "the cat sat on the mat " * 9, "not good"),
        CPU,
        alternatives={"model": "infill"},
    )


def test_models_that_cannot_be_asked_are_refused(tiny_denoiser, tiny_model):
    with pytest.raises(InputError, match="is an encoder-decoder, expected a masked language model"):
        Fluency(model=str(tiny_denoiser("bart"))).score(rows("rain"), CPU)
    with pytest.raises(InputError, match="expected a masked language model"):
        Fluency(model=str(tiny_model("bert"))).score(rows("rain"), CPU)
