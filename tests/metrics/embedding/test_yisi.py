"""YiSi-1 and YiSi-0: by their definitions, by hand, and the contract."""

import math
from collections import Counter

import numpy as np
import pytest

from nlgauge.core.segment import Segment
from nlgauge.metrics.embedding.yisi import YiSi0, YiSi1, weighted_f
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric, check_options
from nlgauge.testing.metric import SEGMENTS

pytest.importorskip("torch")
CPU = Runtime(device="cpu")
PARITY = 1e-5  # float32 vectors, of transformers there and packed here
ROUNDING = 1e-6  # float32
SHORT = [s for s in SEGMENTS if s.id != "long"]


@pytest.mark.parametrize("alpha", [0.5])
def test_yisi_1_is_what_its_definition_gives(pairs, plain, alpha):
    found = YiSi1(model=plain.folder, alpha=alpha).score(pairs, CPU)
    counts = Counter(piece for s in pairs for piece in set(plain(s.references[0])[0][1:-1]))
    asked = np.flatnonzero(~(found.flags["empty"] | found.flags["unknown"]))
    assert len(asked) > 40
    for i in asked:
        (first, a), (second, b) = (plain(t) for t in (pairs[i].hypothesis, *pairs[i].references))
        weigh = [[math.log(1 + (len(pairs) + 1) / (counts[p] + 1)) for p in names[1:-1]] for names in (first, second)]
        a, b = (v[-1][1:-1] / np.linalg.norm(v[-1][1:-1], axis=1, keepdims=True) for v in (a, b))
        p, r = np.average((a @ b.T).max(1), weights=weigh[0]), np.average((a @ b.T).max(0), weights=weigh[1])
        assert found.parts["precision"][i] == pytest.approx(p, abs=PARITY)
        assert found.parts["recall"][i] == pytest.approx(r, abs=PARITY)
        assert found.values[i] == pytest.approx(p * r / (alpha * p + (1 - alpha) * r), abs=PARITY)


def test_recall_counts_more_than_precision():
    # 0.9 * 0.5 / (0.8 * 0.9 + 0.2 * 0.5) = 0.45 / 0.82, and the other way round 0.45 / 0.58
    assert weighted_f(0.9, 0.5, 0.8) == pytest.approx(0.45 / 0.82)
    assert weighted_f(0.5, 0.9, 0.8) == pytest.approx(0.45 / 0.58)
    assert weighted_f(-0.1, 0.5, 0.8) == 0


def test_yisi_0_by_hand():
    # rain: 1, sun and sunny: 2 * 3 / 8
    found = YiSi0(idf=False).score([Segment("a", "Rain, sun", ("sunny rain",))], CPU)
    assert found.values[0] == pytest.approx(0.875)
    # 1 of 2 documents has rain: log(1 + 3 / 2); sun is in none: log(1 + 3 / 1)
    weights = np.log([2.5, 4])
    two = [Segment("a", "rain sun", ("rain",)), Segment("b", "x", ("y",))]
    expected = (weights[0] * 1 + weights[1] * 2 / 7) / weights.sum()
    assert YiSi0().score(two, CPU).parts["precision"][0] == pytest.approx(expected)


def test_sides_without_words_get_0():
    scores = YiSi0().score([Segment("a", "", ("x",)), Segment("b", "?!", ("?!",))], CPU)
    assert scores.values.tolist() == [0, 0]
    assert scores.flags["empty"].tolist() == [True, False]
    assert scores.flags["untokenized"].tolist() == [True, True]


def test_both_keep_the_contract_of_a_metric_and_sign_every_option(tiny_model):
    check_metric(YiSi0(references="mean"), SHORT, runtime=CPU)
    check_metric(YiSi1(), SEGMENTS[:10], runtime=CPU, tolerance=ROUNDING)
    others = {"model": str(tiny_model("roberta")), "dtype": "bfloat16", "max_tokens": 9, "layer": 1}
    assert check_options(YiSi1(model=str(tiny_model("bert"))), runtime=CPU, alternatives=others) == ["revision"]
    assert check_options(YiSi0(), runtime=CPU) == []
