"""SentSim: its formula over the two parts, and the contract."""

import math

import numpy as np
import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment
from nlgauge.metrics.embedding.bertscore import BertScore
from nlgauge.metrics.embedding.cosine import Cosine
from nlgauge.metrics.embedding.sentsim import SentSim
from nlgauge.metrics.embedding.wmd import Wmd
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric, check_options
from nlgauge.testing.segments import SEGMENTS

pytest.importorskip("torch")
CPU = Runtime(device="cpu")
ROUNDING = 1e-5  # float32, in batches of other shapes


@pytest.mark.parametrize("words", ["bertscore", "wmd"])
def test_the_value_joins_both_parts_scaled_over_the_call(pairs, plain, words):
    segments = pairs[:40]
    found = SentSim(model=plain.folder, words=words).score(segments, CPU)
    cosine = Cosine(model=plain.folder).score(segments, CPU).values
    kind = BertScore if words == "bertscore" else Wmd
    matched = kind(model=plain.folder, references="mean").score(segments, CPU).values
    real = ~found.flags["empty"]

    def scaled(values):
        return (values - np.nanmin(values[real])) / (np.nanmax(values[real]) - np.nanmin(values[real]))

    close = scaled(matched) if words == "bertscore" else 1 - scaled(matched)
    expected = np.exp(scaled(cosine)) + np.exp(close)
    assert found.values[real] == pytest.approx(expected[real], abs=ROUNDING, nan_ok=True)
    assert found.values[~real].tolist() == [2.0] * int((~real).sum())
    assert np.nanmax(found.values) <= 2 * math.e


def test_a_call_without_differences_has_no_scale():
    with pytest.raises(InputError, match="is the same for all 1 segments of the call, so minmax over them"):
        SentSim().score([Segment("a", "rain", ("sun",))], CPU)


@pytest.mark.parametrize("words", ["bertscore", "wmd"])
def test_sentsim_keeps_the_contract_of_a_metric(tiny_model, words):
    check_metric(SentSim(model=str(tiny_model("bert")), words=words), SEGMENTS[:12], runtime=CPU, tolerance=ROUNDING)


def test_every_option_is_in_the_signature(tiny_model):
    others = {"model": str(tiny_model("roberta")), "dtype": "bfloat16", "max_tokens": 9}
    metric = SentSim(model=str(tiny_model("bert")))
    assert check_options(metric, SEGMENTS[:12], runtime=CPU, alternatives=others) == ["revision"]
