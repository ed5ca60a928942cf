"""Vectors that metrics share: encoded once, found again out of one chunk or several."""

import numpy as np
import pytest

from nlgauge.models.encoder import Encoder, load_encoder
from nlgauge.models.vectors import SharedVectors, bytes_of, source_of
from nlgauge.runtime.runtime import Runtime

torch = pytest.importorskip("torch")
ROUNDING = 1e-5  # float32, in batches of other shapes


def test_vectors_are_those_of_the_encoder_and_no_sequence_is_encoded_twice(tiny_model, monkeypatch):
    runtime, model = Runtime(device="cpu"), str(tiny_model("bert"))
    source = source_of(model, None, "float32", runtime)
    shared = SharedVectors([3, 1])
    alone = load_encoder(model, None, "float32", runtime)
    together = load_encoder(model, None, "float32", runtime.sharing({source: shared}))
    asked, encode = [], Encoder._encoded
    monkeypatch.setattr(Encoder, "_encoded", lambda self, s, *rest: asked.append(len(s)) or encode(self, s, *rest))
    texts = ["the cat", "a dog lay on the rug", "the cat", "rain"]
    for wanted in (texts[:2], texts[1:], texts):  # new, partly new, out of two chunks
        tokens = alone.tokenizer.tokens(wanted)
        found = together.encode_layers(tokens, [1, 3])
        encoded = asked[-1]
        for one, other in zip(found, alone.encode_layers(tokens, [1, 3]), strict=True):
            for i, length in enumerate(one.lengths.tolist()):
                a, b = ((v.matrix * v.norms)[int(v.starts[i]) : int(v.starts[i]) + length] for v in (one, other))
                assert torch.allclose(a, b, atol=ROUNDING)
    assert asked == [2, 2, 1, 3, 4]  # shared and alone by turns; the last time nothing was new
    assert encoded == 3
    shared.clear()
    together.encode(tokens, 3)
    assert asked[-1] == 3


def test_the_memory_of_a_piece_counts_all_layers(tiny_model):
    source = source_of(str(tiny_model("bert")), None, "float32", Runtime(device="cpu"))
    width = source[1].config["hidden_size"]
    assert bytes_of({source: [1, 2, 3]}) == 3 * 4 * width
    assert np.isfinite(width)
