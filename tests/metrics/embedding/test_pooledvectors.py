"""Greedy matching, embedding average and vector extrema: by their definitions in plain numpy, and the contract."""

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import SpecError
from nlgauge.core.segment import Segment
from nlgauge.metrics.embedding.pooledvectors import EmbeddingAverage, Greedy, VectorExtrema
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric, check_options
from nlgauge.testing.segments import SEGMENTS

pytest.importorskip("torch")
CPU = Runtime(device="cpu")
PARITY = 1e-5  # float32 vectors, of transformers there and packed here
KINDS = (Greedy, EmbeddingAverage, VectorExtrema)


def cosine(a, b):
    return a @ b / np.linalg.norm(a) / np.linalg.norm(b)


def average(a, b):
    return cosine(a.mean(0), b.mean(0))


def extrema(a, b):
    return cosine(*(np.where(v.max(0) >= abs(v.min(0)), v.max(0), v.min(0)) for v in (a, b)))


def greedy(a, b):
    table = np.array([[cosine(x, y) for y in b] for x in a])
    return (table.max(1).mean() + table.max(0).mean()) / 2


@pytest.mark.parametrize(("kind", "slow"), [*zip(KINDS, (greedy, average, extrema), strict=True)])
def test_the_value_is_what_its_definition_gives(pairs, plain, kind, slow):
    found = kind(model=plain.folder).score(pairs, CPU)
    asked = np.flatnonzero(~(found.flags["empty"] | found.flags["unknown"]))
    assert len(asked) > 40
    for i in asked:
        a, b = (plain(text)[1][-1][1:-1] for text in (pairs[i].hypothesis, *pairs[i].references))
        assert found.values[i] == pytest.approx(slow(a, b), abs=PARITY)


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_side_is_0_and_flagged(kind):
    scores = kind().score([Segment("a", "", ("Rain.",)), Segment("b", "Rain.", (" ",))], CPU)
    assert (scores.values.tolist(), scores.flags["empty"].tolist()) == ([0, 0], [True, True])


@pytest.mark.parametrize("kind", KINDS)
def test_the_contract_of_a_metric_holds_with_word_vectors(kind, tmp_path):
    file = tmp_path / "vectors.txt"
    words = sorted({word.lower() for s in SEGMENTS for text in (s.hypothesis, *s.references) for word in text.split()})
    rng = np.random.default_rng(1)
    file.write_text(
        "".join(f"{w.strip('.')} {' '.join(map(str, 0.5 + rng.random(5)))}\n" for w in words if w.isascii())
    )
    check_metric(kind(vectors=str(file)), runtime=CPU, tolerance=1e-9)


def test_the_contract_of_a_metric_holds():
    short = [s for s in SEGMENTS if s.id != "long"]
    check_metric(VectorExtrema(), short, runtime=CPU)


def test_every_option_is_in_the_signature(tiny_model):
    others = {"model": str(tiny_model("roberta")), "dtype": "bfloat16", "max_tokens": 9, "layer": 1}
    assert check_options(Greedy(model=str(tiny_model("bert"))), runtime=CPU, alternatives=others) == [
        "revision",
        "vectors",
    ]


def test_what_an_encoder_reads_changes_nothing_beside_word_vectors():
    with pytest.raises(SpecError, match="greedy:layer is of encoders and changes nothing beside vectors=FILE"):
        ng.metric("greedy:vectors=glove.txt,layer=2")
    with pytest.raises(SpecError, match="greedy:layer is 7, but model 'embedded' has layers 0 to 6"):
        Greedy(layer=7).score([Segment("a", "x", ("y",))], CPU)
