"""ROUGE side by side with rouge-score, in one process and on one thread, over generated text.

    python benchmarks/rouge.py                       three lengths of text, four variants, with and without stemming
    python benchmarks/rouge.py --systems 10          ten systems against one set of references

Words follow Zipf's law; a hypothesis is its reference with words dropped, replaced and moved. On the clock: for ours
all of `nlgauge.score` (segments are made, texts tokenized), its cache of stems emptied before; for rouge-score its
`score`, once a pair. Exits with 1 if a number differs by 1e-9 or more, or if ROUGE-L is not as many times as fast as
`SHAPES` asks: less for single sentences, where making the segment takes a third of the time.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import numpy as np
from rouge_score.rouge_scorer import RougeScorer

import nlgauge as ng
from nlgauge.text.porter import stem

SHAPES = {
    "sentences": (1, 25, 10),
    "summaries": (4, 18, 20),
    "documents": (15, 25, 20),
}  # lines a text, mean words a line, times rouge-score
SYLLABLES = [
    "ka",
    "re",
    "tion",
    "ing",
    "mo",
    "s",
    "ed",
    "lu",
    "ment",
    "shi",
    "y",
    "al",
    "be",
    "ly",
    "tor",
    "an",
    "ness",
    "po",
    "ri",
    "e",
]


def words(rng: np.random.Generator, size: int) -> list[str]:
    """A vocabulary of words that look like words, some with suffixes to stem."""
    found: dict[str, None] = {}
    while len(found) < size:
        found["".join(rng.choice(SYLLABLES, size=rng.integers(1, 5)))] = None
    return list(found)


def corpus(
    rng: np.random.Generator, n: int, systems: int, lines: int, length: int
) -> tuple[dict[str, list[str]], list[str]]:
    """Hypotheses of each system, and references."""
    vocabulary = words(rng, 20_000)

    def draw(size: int) -> list[str]:
        return [vocabulary[i] for i in (rng.zipf(1.3, size=size) - 1) % len(vocabulary)]

    def line() -> list[str]:
        return draw(int(np.clip(rng.normal(length, length / 4), 3, 60)))

    def changed(tokens: list[str]) -> list[str]:
        kept = [draw(1)[0] if rng.random() < 0.2 else token for token in tokens if rng.random() > 0.15]
        cut = rng.integers(len(kept) + 1)
        return kept[cut:] + kept[:cut] if rng.random() < 0.3 else kept

    references = [[line() for _ in range(lines)] for _ in range(n)]
    hypotheses = {
        f"system {s}": ["\n".join(" ".join(changed(t)) for t in r) for r in references] for s in range(systems)
    }
    return hypotheses, ["\n".join(" ".join(t) for t in r) for r in references]


def best(run: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Seconds of the fastest of several runs (of as many as half a second holds, if those are more), and what it
    gave.
    """
    seconds, given, begun, runs = float("inf"), None, time.perf_counter(), 0
    while runs < repeats or time.perf_counter() - begun < 0.5:
        start = time.perf_counter()
        given = run()
        seconds = min(seconds, time.perf_counter() - start)
        runs += 1
    return seconds, given


def ours(spec: str, hypotheses: dict[str, list[str]], references: list[str]) -> np.ndarray:
    stem.cache_clear()
    scores = ng.score(hypotheses, references, metrics=spec)[spec]
    return np.stack([scores.parts[part] for part in ("precision", "recall", "f1")], axis=1)


def theirs(scorer: RougeScorer, variant: str, hypotheses: dict[str, list[str]], references: list[str]) -> np.ndarray:
    rows = [
        scorer.score(r, h)[variant] for texts in hypotheses.values() for h, r in zip(texts, references, strict=True)
    ]
    return np.array([[row.precision, row.recall, row.fmeasure] for row in rows])


def main() -> bool:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1000, help="items; a quarter of them for documents")
    parser.add_argument("--systems", type=int, default=1)
    parser.add_argument(
        "--repeats", type=int, default=3, help="the fastest of this many runs counts, or of half a second of them"
    )
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print(
        f"rouge-score {version('rouge-score')}, rapidfuzz {version('rapidfuzz')}, {os.cpu_count()} cores, load"
        f" {os.getloadavg()[0]:.1f} before"
    )
    print(
        f"{'text':11}{'pairs':>7}{'words':>7} "
        f" {'variant':11}{'stemmed':9}{'rouge-score s':>14}{'nlgauge s':>11}{'times':>7}  largest difference"
    )
    enough = True
    for shape, (lines, length, floor) in SHAPES.items():
        n = options.pairs if shape != "documents" else max(1, options.pairs // 4)
        texts = corpus(np.random.default_rng(options.seed), n, options.systems, lines, length)
        for variant in ("rouge1", "rouge2", "rougeL", "rougeLsum"):
            for stemmed in (False, True):
                scorer = RougeScorer([variant], use_stemmer=stemmed)
                spec = variant + (":use_stemmer=true" if stemmed else "")
                slow, expected = best(
                    lambda s=scorer, v=variant, t=texts: theirs(s, v, *t),
                    1 if shape == "documents" else options.repeats,
                )
                fast, found = best(lambda s=spec, t=texts: ours(s, *t), options.repeats)
                gap = np.abs(expected - found).max()
                row = f"{shape:11}{n * options.systems:7}{lines * length:7}  {variant:11}{'yes' if stemmed else 'no':9}"
                print(f"{row}{slow:14.3f}{fast:11.4f}{slow / fast:7.0f}  {gap:.0e}")
                enough &= bool(gap < 1e-9) and (variant != "rougeL" or slow / fast >= floor)
    return enough


if __name__ == "__main__":
    if not main():
        raise SystemExit("ROUGE-L is slower than asked, or a number differs")
