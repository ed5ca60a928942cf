"""Perplexity: worked by hand, against the loss of transformers, and for a corpus."""

import math

import numpy as np
import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment
from nlgauge.metrics.generation.perplexity import Perplexity
from nlgauge.models.generation import Generator, Likelihoods
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric

torch = pytest.importorskip("torch")
CPU = Runtime(device="cpu")


def rows(*texts):
    return [Segment(str(n), text) for n, text in enumerate(texts)]


def test_it_is_the_exponential_of_the_loss_with_a_begin_token(tiny_causal):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = tiny_causal("gpt2")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    texts = ["the cat sat on the mat", "rain", "heavy rain fell today"]
    expected = []
    for text in texts:
        ids = torch.tensor([[0, *tokenizer(text, add_special_tokens=False)["input_ids"]]])
        with torch.inference_mode():
            expected.append(math.exp(model(input_ids=ids, labels=ids).loss.item()))  # of every piece but the first
    found = Perplexity(model=str(folder)).score(rows(*texts), CPU)
    assert found.values == pytest.approx(expected, rel=1e-5)  # float32


def test_worked_by_hand(tiny_causal, monkeypatch):
    # Two pieces with probability 1/4 and 1/9 have the geometric mean 1/6; one with 1/2 has 1/2. Together three pieces
    # have the product 1/72.
    none = np.zeros(2, bool)
    said = Likelihoods(np.log([1 / 36, 1 / 2]), np.array([2.0, 1.0]), none, np.zeros(2), none)
    monkeypatch.setattr(Generator, "likelihoods", lambda self, pairs, advance: said)
    scores = Perplexity(model=str(tiny_causal("gpt2"))).score(rows("a", "b"), CPU)
    assert scores.values == pytest.approx([6, 2])
    assert scores.system == pytest.approx(72 ** (1 / 3))


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_it_keeps_the_contract_of_a_metric(tiny_causal, kind):
    metric, other = (Perplexity(model=str(tiny_causal(name))) for name in (kind, "llama" if kind == "gpt2" else "gpt2"))
    segments = rows("the cat sat", "rain", "the cat sat on the mat " * 9, "not good")
    # An exponential turns 1e-6 into more.
    check_metric(metric, segments, CPU, tolerance=1e-5, alternatives={"model": other.model})


def test_an_empty_text_is_worst_and_one_piece_of_the_corpus(tiny_causal):
    metric = Perplexity(model=str(tiny_causal("gpt2")))
    size = metric.found().n_pieces
    full, both = metric.score(rows("the cat"), CPU), metric.score(rows("the cat", ""), CPU)
    assert both.values[1] == pytest.approx(size**2)
    assert both.flags["empty"].tolist() == [False, True]
    surprise, pieces = full.segment_stats[0]
    assert both.system == pytest.approx(math.exp((surprise + 2 * math.log(size)) / (pieces + 1)))


def test_an_encoder_decoder_is_refused(tiny_denoiser):
    with pytest.raises(InputError, match="is an encoder-decoder, expected a causal language model"):
        Perplexity(model=str(tiny_denoiser("bart"))).score(rows("rain"), CPU)
