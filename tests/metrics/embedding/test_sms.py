"""Sentence mover's similarity: by its definition in plain numpy, and the contract."""

import numpy as np
import pytest

from nlgauge.core.segment import Segment
from nlgauge.metrics.embedding.sms import Sms
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric
from nlgauge.testing.segments import SEGMENTS

pytest.importorskip("torch")
CPU = Runtime(device="cpu")
PARITY = 1e-5  # float32 vectors, of transformers there and packed here
TEXTS = [
    ["The cat sat on the mat.", "A dog lay on the rug.", "Rain!"],
    ["A dog lay on the rug."],
    ["Rain fell in the night.", "The cat sat on the mat?"],
]


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize(("first", "second"), [(0, 1), (0, 2), (2, 0), (1, 1)])
def test_the_similarity_is_what_its_definition_gives(plain, cheapest, words, first, second):
    sides = []
    for sentences in (TEXTS[first], TEXTS[second]):
        vectors = plain(" ".join(sentences))[1][-1][1:-1]
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        sizes = [len(plain(sentence)[0]) - 2 for sentence in sentences]
        ends = np.cumsum(sizes)
        means = np.array([vectors[end - size : end].mean(0) for end, size in zip(ends, sizes, strict=True)])
        points = np.concatenate([vectors, means]) if words else means
        sides.append((points, np.array([1.0] * len(vectors) * words + sizes)))
    (a, weigh_a), (b, weigh_b) = sides
    costs = np.sqrt(((a[:, None] - b[None]) ** 2).sum(-1))
    segment = Segment("s", " ".join(TEXTS[first]), (" ".join(TEXTS[second]),))
    found = Sms(model=plain.folder, words=words).score([segment], CPU).values[0]
    assert found == pytest.approx(np.exp(-cheapest(costs, weigh_a, weigh_b)), abs=PARITY)


def test_word_vectors_of_sentences_by_hand(tmp_path):
    file = tmp_path / "vectors.txt"
    file.write_text("rain 1 0\nsun 0 1\n")
    # sentences at (1, 0) with weight 1 and at (0, 1) with weight 1, to (1, 0): half goes sqrt(2); hail is left out
    segment = Segment("s", "Rain. Sun hail! Hail?", ("Rain.",))
    found = Sms(vectors=str(file)).score([segment], CPU)
    assert found.values[0] == pytest.approx(np.exp(-np.sqrt(2) / 2), abs=1e-6)
    # with words: (1, 0) weighs 2 of 4, (0, 1) the rest
    assert Sms(vectors=str(file), words=True).score([segment], CPU).values == pytest.approx(found.values)


@pytest.mark.parametrize("words", [False, True])
def test_sms_keeps_the_contract_of_a_metric(tiny_model, words):
    check_metric(Sms(model=str(tiny_model("bert")), words=words), SEGMENTS[:10], runtime=CPU, tolerance=PARITY)
