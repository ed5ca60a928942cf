"""MoverScore side by side with the published code's way: one pair at a time, with pyemd over the points of both texts.

    python benchmarks/movers.py                 200 pairs of 25 words (needs pyemd; takes a minute)
    python benchmarks/movers.py --pairs 1000

The published code cannot be imported without a GPU and a download, so its way is written here from its definition, with
torch and pyemd, with the same encoder. `loop` is what it does for each pair once the texts are tokenized and encoded:
power means, n-grams, distances of all points of both texts, pyemd; here, what a metric does that finds tokens and
vectors of its texts among what the metrics of a call share. `whole` adds tokens and encoding: padded batches there,
each distinct text once here. On the clock is the processor's time of one thread; of `loop`, the best of five, in turn.
Exits with 1 if a value differs by more than 1e-5, or the loop is not ten times as fast.
"""

from __future__ import annotations

import argparse
import math
import random
import string
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from pyemd import emd
from transformers import AutoModel, AutoTokenizer

import nlgauge as ng
from nlgauge.metrics.embedding.transport import MoverScore
from nlgauge.models import fetch
from nlgauge.models.encoder import SharedVectors, source_of
from nlgauge.text.tagging import words_by_tag

LEAST, MOST, ROUNDS = 10.0, 1e-5, 5
BATCH = 256
VARIANTS: dict[str, dict[str, Any]] = {
    "pmeans, 1-grams": {},
    "pmeans, 2-grams": {"ngram": 2},
    "last layer": {"variant": "last"},
}


class Published:
    """The published way: all hidden states of padded batches, then a loop over pairs."""

    def __init__(self) -> None:
        folder = str(fetch.folder("embedded"))
        self.tokenizer, self.model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()

    def encode(self, listed: Sequence[str]) -> list[tuple[list[str], torch.Tensor]]:
        """The pieces of each text and their vectors at every layer, (layers, T, d)."""
        found = []
        for start in range(0, len(listed), BATCH):
            batch = self.tokenizer(
                list(listed[start : start + BATCH]), return_tensors="pt", padding=True, truncation=True
            )
            with torch.inference_mode():
                states = torch.stack(self.model(**batch, output_hidden_states=True).hidden_states)
            for i, mask in enumerate(batch["attention_mask"]):
                n = int(mask.sum())
                names = self.tokenizer.convert_ids_to_tokens(batch["input_ids"][i][:n])
                found.append((names, states[:, i, :n]))
        return found

    def score(self, hyp: Any, ref: Any, variant: str = "pmeans", ngram: int = 1) -> float:
        """One pair."""
        sides = [self.points(names, states, variant, ngram) for names, states in (ref, hyp)]
        points = torch.cat([vectors for vectors, _ in sides])
        points = points / (points.norm(dim=-1, keepdim=True) + 1e-6)
        squares = (points**2).sum(1)
        costs = (squares[:, None] + squares[None] - 2 * points @ points.T).clamp_min(0).double()
        n = len(sides[0][1])
        first, second = np.zeros(len(points)), np.zeros(len(points))
        first[:n], second[n:] = (weights / weights.sum() for _, weights in sides)
        if variant == "last":
            return float(1 / (1 + emd(first, second, costs.sqrt().numpy())))
        return float(1 - emd(first, second, costs.numpy()))

    def points(self, names: list[str], states: torch.Tensor, variant: str, ngram: int) -> tuple[torch.Tensor, Any]:
        last = states[-5:] / states[-5:].norm(dim=-1, keepdim=True)
        vectors = last[-1]
        if variant == "pmeans":
            vectors = torch.cat([last.amin(0), last.mean(0), last.amax(0)], dim=-1)
        kept = [i for i, name in enumerate(names) if name not in string.punctuation and "##" not in name]
        size = min(ngram, len(kept))
        windows = [kept[i : i + size] for i in range(len(kept) - size + 1)]
        weights, means, sums = torch.ones(len(names)), [], []  # their idf where none is asked for
        for window in windows:
            weight = weights[window]
            sums.append(weight.sum().item())
            shares = weight / (weight.sum() + 1e-5)
            means.append((shares[:, None] * vectors[window]).sum(0))
        return torch.stack(means), np.array(sums)


def texts(n: int) -> list[tuple[str, str]]:
    """Hypotheses and references of 25 English words, of which a third is shared."""
    draw = random.Random(0)
    by_tag = words_by_tag()
    words = [word for tag in ("NN", "VB", "JJ") for word in by_tag[tag] if word.islower() and len(word) < 8]
    pairs = []
    for _ in range(n):
        shared = draw.choices(words, k=8)
        pairs.append(tuple(" ".join(draw.sample(shared + draw.choices(words, k=17), 25)) for _ in range(2)))
    return pairs


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.process_time()
    found = work()
    return time.process_time() - began, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=200)
    pairs = texts(parser.parse_args().pairs)
    torch.set_num_threads(1)
    theirs, runtime, failed = Published(), ng.Runtime(device="cpu"), False
    segments = ng.Dataset.from_texts([h for h, _ in pairs], [r for _, r in pairs]).segments
    encoding, encoded = seconds(lambda: (theirs.encode([h for h, _ in pairs]), theirs.encode([r for _, r in pairs])))
    print(f"{'variant':<18}{'':<7}{'nlgauge s':>10}{'published s':>12}{'times':>7}  largest difference")
    for name, options in VARIANTS.items():
        metric, shared = MoverScore(**options), SharedVectors(range(2, 7))
        held = runtime.sharing({source_of("embedded", None, "float32", runtime): shared})
        own, _ = seconds(partial(metric.score, segments, held))  # encodes, and fills what is held
        loop = slow = math.inf
        for _ in range(ROUNDS):
            took, found = seconds(partial(metric.score, segments, held))
            loop = min(loop, took)
            took, expected = seconds(lambda o=options: [theirs.score(h, r, **o) for h, r in zip(*encoded, strict=True)])
            slow = min(slow, took)
        worst = float(np.abs(found.values - np.array(expected)).max())
        bad = worst > MOST or slow / loop < LEAST
        failed |= bad
        print(f"{name:<18}{'loop':<7}{loop:>10.3f}{slow:>12.3f}{slow / loop:>7.1f}  {worst:.0e}{' !' * bad}")
        print(f"{'':<18}{'whole':<7}{own:>10.3f}{slow + encoding:>12.3f}{(slow + encoding) / own:>7.1f}")
    raise SystemExit(int(failed))


if __name__ == "__main__":
    main()
