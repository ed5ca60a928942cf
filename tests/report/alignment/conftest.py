import numpy as np
import pytest

from nlgauge.core.marks import Alignment
from nlgauge.core.spec import Signature


def aligned(hypothesis, reference, similarities=None, weights=None):
    """An alignment of given words; similarities from a fixed stream unless given."""
    n, m = len(hypothesis), len(reference)
    if similarities is None:
        similarities = np.random.default_rng(0).uniform(-0.2, 1, (n, m))
    similarities = np.asarray(similarities, dtype=float).reshape(n, m)
    own, other = weights or (np.full(n, 1 / max(n, 1)), np.full(m, 1 / max(m, 1)))
    precision = float(own @ similarities.max(axis=1)) if n and m else 0.0
    recall = float(other @ similarities.max(axis=0)) if n and m else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    signature = Signature(
        "bertscore", (("metric", "bertscore"), ("model", "<hub>/&name"), ("layer", "4"), ("nlgauge", "0.1.0"))
    )
    return Alignment(tuple(hypothesis), tuple(reference), similarities, own, other, precision, recall, f1, signature)


@pytest.fixture
def make():
    return aligned


@pytest.fixture
def weather():
    """Four words against five: it-the, is-is, freezing-cold and today-today choose each other, weather chooses it."""
    similarities = [
        [0.60, 0.35, 0.42, 0.20, 0.25],
        [0.41, 0.30, 0.93, 0.22, 0.28],
        [0.18, 0.34, 0.24, 0.79, 0.31],
        [0.22, 0.29, 0.26, 0.33, 0.95],
    ]
    weights = (np.array([0.1, 0.1, 0.5, 0.3]), np.array([0.05, 0.35, 0.05, 0.35, 0.2]))
    return aligned(["it", "is", "freezing", "today"], ["the", "weather", "is", "cold", "today"], similarities, weights)


ODD = [
    "<script>alert(1)</script>",
    "a&b",
    "\"q'",
    "x\x00\x1b[31m",
    "\ud800",
    "\n",
    "",
    "今日は",
    "👨\u200d👩\u200d👧",
    "שלום!",
    "e\u0301",
    "w" * 200,
]


@pytest.fixture
def odd():
    return aligned(ODD, ODD[::-1])
