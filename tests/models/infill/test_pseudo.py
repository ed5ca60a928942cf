"""Pseudo-log-likelihoods, against a plain loop over masks."""

import numpy as np
import pytest

from nlgauge.models.infill.filler import load_infill
from nlgauge.models.infill.pseudo import pseudo_likelihoods
from nlgauge.runtime.runtime import Runtime

torch = pytest.importorskip("torch")
TEXTS = ["the cat sat on the mat.", "rain", "", "heavy rain fell today", "the cat " * 60, "the Ω"]


@pytest.mark.parametrize("kind", ["bert", "electra"])  # a packed one, and one of transformers
def test_each_piece_is_masked_in_turn(tiny_masked, kind):
    from transformers import AutoModelForMaskedLM

    folder = tiny_masked(kind)
    model = load_infill(str(folder), runtime=Runtime(device="cpu"))
    found = pseudo_likelihoods(model, TEXTS)
    plain = AutoModelForMaskedLM.from_pretrained(folder).eval()
    for text, total, count in zip(TEXTS, found.sums, found.counts, strict=True):
        ids = torch.from_numpy(model.tokenizer.tokens([text])[0].ids)
        expected = 0.0
        for place in range(1, len(ids) - 1):
            masked = ids.clone()
            masked[place] = model.tokenizer.mask
            with torch.inference_mode():
                expected += plain(masked[None]).logits[0, place].log_softmax(0)[ids[place]].item()
        assert count == len(ids) - 2
        assert total == pytest.approx(expected, rel=1e-5, abs=1e-5)  # float32
    assert found.truncated.tolist() == [False] * 4 + [True, False]
    assert found.unknown.tolist() == [0, 0, 0, 0, 0, 0.5]


def test_company_and_budget_change_nothing(tiny_masked):
    folder = str(tiny_masked("bert"))
    whole = pseudo_likelihoods(load_infill(folder, runtime=Runtime(device="cpu")), TEXTS)
    model = load_infill(folder, runtime=Runtime(device="cpu", token_budget=1))
    done = []
    alone = [pseudo_likelihoods(model, [text], done.append).sums[0] for text in TEXTS]
    assert whole.sums == pytest.approx(np.array(alone), rel=1e-6, abs=1e-6)
    assert sum(done) == pytest.approx(5)  # texts with a piece
    assert pseudo_likelihoods(model, []).sums.shape == (0,)
