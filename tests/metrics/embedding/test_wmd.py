"""Word mover's distance: by its definition in plain numpy, and the contract."""

import numpy as np
import pytest

from nlgauge.core.segment import Segment
from nlgauge.metrics.embedding.wmd import Wmd
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric, check_options

pytest.importorskip("torch")
CPU = Runtime(device="cpu")
PARITY = 1e-5  # float32 vectors, of transformers there and packed here
NEAR = 1e-5  # a root doubles the share of rounding where two points nearly meet


@pytest.mark.parametrize("cost", ["euclidean", "cosine"])
@pytest.mark.parametrize("layer", [None, 1])
def test_the_distance_is_what_its_definition_gives(pairs, plain, cheapest, cost, layer):
    found = Wmd(model=plain.folder, cost=cost, layer=layer).score(pairs, CPU)
    asked = np.flatnonzero(~(found.flags["empty"] | found.flags["unknown"]))
    assert len(asked) > 40
    for i in asked:
        a, b = (plain(t)[1][-1 if layer is None else layer][1:-1] for t in (pairs[i].hypothesis, *pairs[i].references))
        a, b = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (a, b))
        costs = 1 - a @ b.T if cost == "cosine" else np.sqrt(((a[:, None] - b[None]) ** 2).sum(-1))
        assert found.values[i] == pytest.approx(cheapest(costs, np.ones(len(a)), np.ones(len(b))), abs=PARITY)


@pytest.mark.parametrize("options", [{}, {"cost": "cosine", "layer": 1, "references": "mean"}], ids=str)
def test_wmd_keeps_the_contract_of_a_metric(tiny_model, options):
    check_metric(Wmd(model=str(tiny_model("bert")), **options), runtime=CPU, tolerance=NEAR)


def test_every_option_is_in_the_signature(tiny_model):
    others = {"model": str(tiny_model("roberta")), "dtype": "bfloat16", "max_tokens": 9, "layer": 1}
    assert check_options(Wmd(model=str(tiny_model("bert"))), runtime=CPU, alternatives=others) == [
        "revision",
        "vectors",
    ]


def test_lower_is_better_and_an_empty_text_is_as_far_as_can_be():
    scores = Wmd().score([Segment("a", "", ("Rain.",)), Segment("b", "Rain.", ("Sun.", "Rain."))], CPU)
    assert scores.values == pytest.approx([2, 0], abs=1e-6)
    assert not scores.higher_is_better
