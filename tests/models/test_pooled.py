"""Mean vectors: one text at a time by hand, many at once the same."""

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from nlgauge.models.encoder import load_encoder
from nlgauge.models.pooled import cosines, mean_vectors
from nlgauge.runtime.runtime import Runtime

TEXTS = [
    "the cat sat on the mat",
    "rain",
    "a dog",
    "snow fell today",
    "a cat",
    "the cat sat on the mat and lay on the rug",
]
ROUNDING = 1e-5  # float32 through three layers; batches of other shapes add in another order


def encoder(folder, **options):
    return load_encoder(str(folder), None, "float32", Runtime(device="cpu", **options))


@pytest.mark.parametrize("kind", ["bert", "roberta", "distilbert"])
def test_a_mean_is_that_of_all_tokens_at_each_layer(tiny_model, kind):
    one = encoder(tiny_model(kind))
    sequences = [tokens.ids for tokens in one.tokenizer.tokens(TEXTS)]
    found = mean_vectors(one.network, sequences, (2, 0, 3), budget=16)
    assert found.shape == (len(TEXTS), 3, 32)
    for column, layer in enumerate((2, 0, 3)):
        for row, ids in enumerate(sequences):
            with one.network.cut(layer) as forward, torch.inference_mode():
                expected = forward([ids]).mean(dim=0)
            assert torch.allclose(found[row, column], expected, atol=ROUNDING)


def test_outer_tokens_stay_out_of_the_mean_where_asked(tiny_model):
    one = encoder(tiny_model("bert"))
    ids = one.tokenizer.tokens(["the cat sat"])[0].ids  # [CLS] the cat sat [SEP]
    with one.network.cut(3) as forward, torch.inference_mode():
        states = forward([ids])
    assert torch.allclose(
        mean_vectors(one.network, [ids], [3], outer=(1, 1))[0, 0], states[1:4].mean(dim=0), atol=ROUNDING
    )


def test_a_text_has_the_same_vector_in_any_company(tiny_model):
    one = encoder(tiny_model("bert"))
    sequences = [tokens.ids for tokens in one.tokenizer.tokens(TEXTS)]
    together = mean_vectors(one.network, sequences, [1, 3])
    alone = torch.cat([mean_vectors(one.network, [ids], [1, 3]) for ids in sequences])
    assert torch.allclose(together, alone, atol=ROUNDING)


def test_progress_counts_texts(tiny_model):
    one, done = encoder(tiny_model("bert")), []
    mean_vectors(one.network, [np.array([2, 5, 3])] * 5, [3], budget=6, advance=done.append)
    assert sum(done) == 5


def test_cosines_by_hand():
    vectors = torch.tensor([[3.0, 4.0], [4.0, 3.0], [-3.0, -4.0], [0.0, 0.0]])
    found = cosines(vectors, np.array([[0, 0], [0, 1], [0, 2], [0, 3]]))
    assert found == pytest.approx([1, 24 / 25, -1, 0], abs=1e-12)  # float64
