import math

import numpy as np
import pytest
from tests.models.conftest import changed

from nlgauge.models.entailment import Entailment

# Metrics of words are sums of float64. Models add in float32, in an order that processors, batches and releases of
# torch choose: seven digits through up to six layers leave six. Under 26 settings of ATEN_CPU_CAPABILITY,
# MKL_ENABLE_INSTRUCTIONS, ONEDNN_MAX_CPU_ISA and threads, 7.7e-7 was seen of probabilities, 2.1e-7 of similarities.
_TOLERANCE = 1e-6
# A sum whose terms cancel is as sure as its terms, not as its result: two roundings of float32 (2.4e-7) for each unit.
# The terms of the last layer of `sescore` add up to 55 without their signs (seen: 3.2e-6), those of the two networks of
# `rated` to 8.5 and 1.7 (9.4e-7). Logits of `fluency` reach 20 and pass a logarithm (6.1e-6).
_WIDER = {"sescore": 55 * 2.4e-7, "rated": 10.2 * 2.4e-7, "fluency": 2e-5}


@pytest.fixture(scope="session")
def rounding():
    """A function from a metric to how far two scores of one segment may lie apart, relative above 1."""
    return lambda name: _WIDER.get(name, _TOLERANCE)


# --- A model that says what a test tells it to


class Tokenizer:
    """Texts of one known piece each, of any number."""

    room = None

    def read(self, texts):
        return {text: np.zeros(1, dtype=np.int64) for text in texts}

    def unknown_shares(self, contents):
        return np.zeros(len(list(contents)))


class Told:
    """Probabilities from a table of (premise, hypothesis) -> (e, n, c); what it was asked is kept."""

    tokenizer = Tokenizer()

    def __init__(self, table, long=()):
        self.table, self.long, self.asked = table, set(long), []

    def judge(self, pairs, contents=None, advance=lambda count: None):
        self.asked += pairs
        found = np.array([self.table[pair] for pair in pairs]).reshape(-1, 3)
        return Entailment(found, np.array([pair in self.long for pair in pairs], dtype=bool))


@pytest.fixture
def told(monkeypatch):
    """A function that puts a `Told` in place of whatever model a metric names."""

    def put(table, long=()):
        from nlgauge.metrics.nli import NliMetric

        model = Told(table, long)
        monkeypatch.setattr(NliMetric, "loaded", lambda self, runtime: model)
        monkeypatch.setattr(NliMetric, "facts", lambda self, runtime: {})
        return model

    return put


@pytest.fixture
def tiny_checker(tiny_nli, tmp_path):
    """A function from two labels to a folder with a classifier that gives 1/4 to the first, whatever it reads.

    Its logits are 0 and log 3, so 1 / (1 + 3) and 3 / (1 + 3).
    """
    torch = pytest.importorskip("torch")

    def make(*labels):
        bias = torch.tensor([0.0, math.log(3)])
        tensors = {"classifier.weight": torch.zeros(2, 32), "classifier.bias": bias}
        return str(changed(tiny_nli("bert", labels), tmp_path / "-".join(labels), more=tensors))

    return make
