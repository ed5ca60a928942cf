"""Metrics side by side with the packages that also have them, in one process and on one thread.

    python benchmarks/metrics.py                  every row whose package is installed
    python benchmarks/metrics.py wer eed          some rows
    python benchmarks/metrics.py --pairs 1000     more pairs
    NLGAUGE_DATA=PATH python benchmarks/metrics.py --segments 300     every metric that runs without a download

A row is a metric of ours, a package, and a function that scores a list of (hypothesis, reference) pairs as that
package does: add one to `ROWS`. Texts follow Zipf's law; a hypothesis is its reference with words dropped, replaced and
moved. On the clock is the processor's time: of `nlgauge.score`, and of the function. Exits with 1 if a number differs
by more than the row allows, or a ratio is below what it asks for.

With `--segments`, the segments are WMT16's, to English. Each metric stands with the processor's seconds that it takes
alone, and as a share of what the embedded encoder takes for all texts; then all of them in one call, which read and
encode each text once. Add names of metrics to take some. No exit code depends on it.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import time
import warnings
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

import nlgauge as ng
from nlgauge.cli.listing import runs_with
from nlgauge.metrics.guards import GuardCounts
from nlgauge.metrics.registry import METRICS
from nlgauge.models.encoder import load_encoder

Pairs = Sequence[tuple[str, str]]


class Row(NamedTuple):
    """What is compared: the least ratio of times and the largest difference of a value are asked for."""

    spec: str
    package: str
    score: Callable[[Pairs], Sequence[float]]
    least: float
    most: float = 1e-9


def jiwer(rate: str) -> Callable[[Pairs], Sequence[float]]:
    def score(pairs: Pairs) -> Sequence[float]:
        import jiwer

        return [getattr(jiwer, rate)(reference, hypothesis) for hypothesis, reference in pairs]

    return score


def character(pairs: Pairs) -> Sequence[float]:
    from cer import calculate_cer

    return [calculate_cer(hypothesis.split(), reference.split()) for hypothesis, reference in pairs]


def eed(pairs: Pairs) -> Sequence[float]:
    from torchmetrics.functional.text import extended_edit_distance

    hypotheses, references = zip(*pairs, strict=True)
    _, values = extended_edit_distance(list(hypotheses), [[r] for r in references], return_sentence_level_score=True)
    return [float(value) for value in values]


ROWS = [
    Row("wer", "jiwer", jiwer("wer"), 1),
    Row("cer", "jiwer", jiwer("cer"), 2),
    Row("mer", "jiwer", jiwer("mer"), 1),
    Row("wip", "jiwer", jiwer("wip"), 1),
    Row("character", "cer", character, 1),
    Row("eed", "torchmetrics", eed, 5, 1e-6),  # which rounds to float32
]


def texts(n: int, seed: int = 0) -> list[tuple[str, str]]:
    """Hypotheses and references of some 25 words."""
    draw = random.Random(seed)
    vocabulary = ["".join(draw.choices("etaoinshrdlu", k=draw.randint(2, 9))) for _ in range(2000)]
    weights = [1 / rank for rank in range(1, 2001)]
    pairs = []
    for _ in range(n):
        words = draw.choices(vocabulary, weights, k=draw.randint(12, 38))
        hypothesis = [draw.choice(vocabulary) if draw.random() < 0.15 else w for w in words if draw.random() > 0.1]
        cut = draw.randrange(len(hypothesis) + 1)
        pairs.append((" ".join([*hypothesis[cut:], *hypothesis[:cut]]) + " .", " ".join(words) + " ."))
    return pairs


def seconds(score: Callable[[], Sequence[float]]) -> tuple[float, Sequence[float]]:
    began = time.process_time()
    values = score()
    return time.process_time() - began, values


def share_of_checks(hypotheses: list[str], references: list[str]) -> float:
    """The time that `GuardCounts` takes beside BLEU, each at its best of five."""
    data = ng.Dataset.from_texts(hypotheses, references, None).segments

    def checked() -> Sequence[float]:
        checks = GuardCounts()
        checks.add(data)
        return [len(checks.notes())]

    def scored() -> Sequence[float]:
        return ng.metric("bleu").score(data, ng.Runtime()).values

    checks, bleu = (min(seconds(what)[0] for _ in range(5)) for what in (checked, scored))
    return checks / bleu


def bench(n: int, names: Sequence[str]) -> None:
    """Every metric that runs without a download over n segments: each alone, then all in one call."""
    path = Path(os.environ.get("NLGAUGE_DATA", "")) / "wmt16-da-seg" / "segments.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = random.Random(0).sample([json.loads(line) for line in file], n)
    texts = [row["hyp"] for row in rows], [row["refs"] for row in rows], [row["src"] for row in rows]
    encoder = load_encoder("embedded", None, "float32", ng.Runtime())
    distinct = list(dict.fromkeys([*texts[0], *(reference for listed in texts[1] for reference in listed)]))

    def encode() -> Sequence[float]:
        return [len(encoder.encode(encoder.tokenizer.tokens(distinct), encoder.depth).matrix)]

    encode()
    whole, _ = seconds(encode)
    print(f"{'metric':<20}{'seconds':>9}{'encodings':>11}")
    print(f"{'(one encoding)':<20}{whole:>9.2f}{1:>11.2f}")
    taken: dict[str, float] = {}
    for name in names or [name for name in METRICS.names() if runs_with(name) in ("no model", "the embedded models")]:
        try:
            ng.score(*(side[:2] for side in texts), metrics=name)  # imports, and loads what is held
            taken[name], _ = seconds(lambda name=name: ng.score(*texts, metrics=name)[name].values)
        except ng.InputError as error:
            print(f"{name:<20}{'-':>9}  {str(error)[:80]}")
            continue
        print(f"{name:<20}{taken[name]:>9.2f}{taken[name] / whole:>11.2f}", flush=True)
    print(f"{'(sum)':<20}{sum(taken.values()):>9.2f}{sum(taken.values()) / whole:>11.2f}")
    began = time.perf_counter()
    together, _ = seconds(lambda: [len(ng.score(*texts, metrics=list(taken)))])
    print(f"{'(in one call)':<20}{together:>9.2f}{together / whole:>11.2f}")
    print(f"{time.perf_counter() - began:.1f} seconds by the clock for {len(taken)} metrics of {n} segments")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("specs", nargs="*", help="metrics; none for all")
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--segments", type=int, help="so many segments of WMT16, by every metric")
    options = parser.parse_args()
    if options.segments:
        with warnings.catch_warnings(action="ignore"):
            bench(options.segments, options.specs)
        return
    pairs, failed = texts(options.pairs), False
    hypotheses, references = (list(side) for side in zip(*pairs, strict=True))
    print(f"{'metric':<12}{'package':<22}{'nlgauge s':>10}{'package s':>10}{'times':>7}  largest difference")
    for row in ROWS:
        if options.specs and row.spec not in options.specs:
            continue
        try:
            release = version(row.package)
        except PackageNotFoundError:
            print(f"{row.spec:<12}{row.package:<22}not installed")
            continue
        row.score(pairs[:2])  # imports
        ng.score(hypotheses[:2], references[:2], metrics=row.spec)
        ours, found = seconds(lambda spec=row.spec: ng.score(hypotheses, references, metrics=spec)[spec].values)
        theirs, expected = seconds(lambda score=row.score: score(pairs))
        difference = max(abs(a - b) for a, b in zip(found, expected, strict=True))
        times, short = theirs / ours, f"{row.package} {release}"
        bad = difference > row.most or times < row.least
        failed |= bad
        print(f"{row.spec:<12}{short:<22}{ours:>10.4f}{theirs:>10.4f}{times:>7.1f}  {difference:.0e}{' !' * bad}")
    print(f"the checks of the input take {100 * share_of_checks(hypotheses, references):.1f} % of the time of bleu")
    raise SystemExit(int(failed))


if __name__ == "__main__":
    main()
