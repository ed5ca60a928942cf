"""SUPERT: by its definition in plain numpy, which sentences stand for a reference, and the contract."""

import numpy as np
import pytest

from nlgauge.core.segment import Segment
from nlgauge.metrics.embedding.points.stopwords import stopwords
from nlgauge.metrics.embedding.supert import Supert
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric, check_options
from nlgauge.testing.segments import SEGMENTS

pytest.importorskip("torch")
CPU = Runtime(device="cpu")
PARITY = 1e-5  # float32 vectors, of transformers there and packed here
SOURCE = "The cat sat on the mat. A dog lay on the rug. Rain fell in the night."


@pytest.mark.parametrize("sentences", [1, 2, 15])
def test_the_value_is_what_its_definition_gives(plain, sentences):
    first = {1: "The cat sat on the mat.", 2: "The cat sat on the mat. A dog lay on the rug.", 15: SOURCE}[sentences]
    sides = []
    for text in ("the cat and the dog", first):
        names, layers = plain(text)
        kept = [i for i, n in enumerate(names) if n not in {"[CLS]", "[SEP]", *stopwords("english")}]
        vectors = layers[-1][kept]
        sides.append(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    table = sides[0] @ sides[1].T
    p, r = table.max(1).mean(), table.max(0).mean()
    metric = Supert(model=plain.folder, sentences=sentences)
    found = metric.score([Segment("s", "the cat and the dog", source=SOURCE)], CPU)
    assert found.values[0] == pytest.approx(2 * p * r / (p + r), abs=PARITY)
    assert found.parts["precision"][0] == pytest.approx(p, abs=PARITY)


def test_no_reference_is_read_and_an_empty_side_gets_0():
    segments = [Segment("a", "", source="Rain."), Segment("b", "Rain fell.", ("Sun.",), source="Rain.")]
    scores = Supert().score(segments, CPU)
    assert scores.values[0] == 0 < scores.values[1]
    assert scores.flags["empty"].tolist() == [True, False]


def test_supert_keeps_the_contract_of_a_metric(tiny_model):
    check_metric(Supert(model=str(tiny_model("bert"))), SEGMENTS[:10], runtime=CPU, tolerance=PARITY)


def test_every_option_is_in_the_signature(tiny_model):
    others = {"model": str(tiny_model("roberta")), "dtype": "bfloat16", "max_tokens": 9, "layer": 1, "stopwords": None}
    assert check_options(Supert(model=str(tiny_model("bert"))), runtime=CPU, alternatives=others) == ["revision"]
