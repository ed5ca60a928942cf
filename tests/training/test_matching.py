"""BERTScore with a gradient: by hand, equal to the metric, and a loss that falls."""

import numpy as np
import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment
from nlgauge.metrics.embedding.bertscore import BertScore, piece_weights
from nlgauge.models.encoder import load_encoder
from nlgauge.runtime.runtime import Runtime
from nlgauge.training.matching import match_tokens

torch = pytest.importorskip("torch")
PAIRS = [
    ("the cat sat on the mat", "a cat lay on the rug"),
    ("rain", "the rain fell today and the snow did not"),
    ("the dog fell", "the dog fell"),
]


def test_two_tokens_against_two_by_hand():
    # cosines of (1, 0) and (0, 2) with (3, 4) and (0, 1): .6 and 0, .8 and 1. Best of the hypothesis .6 and 1, of the
    # reference .8 and 1; weights 1 and 3 give P = (.6 + 3) / 4 = .9, and R = .9 as well; F = .9
    vectors = torch.tensor([[[1.0, 0.0], [0.0, 2.0]]]), torch.tensor([[[3.0, 4.0], [0.0, 1.0]]])
    ones = torch.ones(1, 2, dtype=torch.bool)
    found = match_tokens(*vectors, torch.tensor([[1.0, 3.0]]), torch.tensor([[1.0, 1.0]]), ones, ones)
    assert [round(float(v), 6) for v in (found.precision, found.recall, found.f1)] == [0.9, 0.9, 0.9]


def padded(encoder, texts, layer):
    """Vectors, weights and mask of texts, padded by noise that must not count."""
    tokens = encoder.tokenizer.tokens(texts)
    vectors = encoder.encode(tokens, layer)
    width = max(len(t.ids) for t in tokens)
    rows = torch.randn(len(texts), width, vectors.matrix.shape[1], generator=torch.Generator().manual_seed(0))
    weights, mask = torch.ones(len(texts), width), torch.zeros(len(texts), width, dtype=torch.bool)
    for i, (token, start, length) in enumerate(zip(tokens, vectors.starts, vectors.lengths, strict=True)):
        rows[i, :length] = 3 * vectors.matrix[start : start + length]  # of any length
        weights[i, :length] = torch.from_numpy(piece_weights(encoder, token.ids, None))
        mask[i, :length] = True
    return rows, weights, mask


def test_values_are_those_of_the_metric(tiny_model):
    model, runtime = str(tiny_model("bert")), Runtime()
    metric = BertScore(model=model, layer=1)
    scores = metric.score([Segment(str(i), hyp, (ref,)) for i, (hyp, ref) in enumerate(PAIRS)], runtime)
    encoder = load_encoder(model, None, "float32", runtime)
    hypotheses, references = (padded(encoder, list(texts), 1) for texts in zip(*PAIRS, strict=True))
    found = match_tokens(*(part for pair in zip(hypotheses, references, strict=True) for part in pair))
    for name in ("precision", "recall", "f1"):  # float32: the order of additions differs
        np.testing.assert_allclose(getattr(found, name).numpy(), scores.parts[name], atol=1e-6)


def test_the_gradient_is_that_of_finite_differences():
    generator = torch.Generator().manual_seed(1)
    hyp, ref = (torch.randn(2, n, 3, generator=generator, dtype=torch.float64) for n in (3, 4))
    mask = torch.tensor([[True, True, False], [True, True, True]]), torch.ones(2, 4, dtype=torch.bool)
    weights = torch.rand(2, 3, generator=generator, dtype=torch.float64), torch.ones(2, 4, dtype=torch.float64)
    assert torch.autograd.gradcheck(
        lambda x: match_tokens(x, ref, *weights, *mask).f1, hyp.requires_grad_(), eps=1e-6, atol=1e-5
    )


def test_a_text_learns_to_match():
    generator = torch.Generator().manual_seed(2)
    ref, hyp = torch.randn(1, 3, 8, generator=generator), torch.randn(1, 3, 8, generator=generator).requires_grad_()
    weights, mask = torch.ones(1, 3), torch.ones(1, 3, dtype=torch.bool)
    optimizer = torch.optim.Adam([hyp], 0.1)
    for _ in range(60):
        optimizer.zero_grad()
        loss = 1 - match_tokens(hyp, ref, weights, weights, mask, mask).f1.mean()
        loss.backward()
        optimizer.step()
    assert float(loss.detach()) < 0.05


def test_what_weighs_nothing_gives_0_and_what_does_not_fit_is_refused():
    vectors, mask = torch.ones(1, 2, 2, requires_grad=True), torch.ones(1, 2, dtype=torch.bool)
    found = match_tokens(vectors, vectors, torch.zeros(1, 2), torch.ones(1, 2), mask, mask)
    assert tuple(x.item() for x in (found.precision, found.recall, found.f1)) == (0.0, pytest.approx(1.0), 0.0)
    found.f1.sum().backward()
    assert torch.isfinite(vectors.grad).all()
    with pytest.raises(InputError, match="as many texts and dimensions"):
        match_tokens(vectors, torch.ones(2, 2, 2), torch.ones(1, 2), torch.ones(2, 2), mask, mask.expand(2, 2))
    with pytest.raises(InputError, match="has no token"):
        match_tokens(vectors, vectors, torch.ones(1, 2), torch.ones(1, 2), ~mask, mask)
    with pytest.raises(InputError, match=r"expected \(n, tokens, d\)"):
        match_tokens(vectors, vectors, torch.ones(1, 3), torch.ones(1, 2), mask, mask)
