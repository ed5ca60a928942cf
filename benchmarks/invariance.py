"""How far the scores of a model may move with batches, company, order, threads and the cache, in each precision.

    python benchmarks/invariance.py                      every metric with an embedded model, float32 and bfloat16
    python benchmarks/invariance.py -m bertscore --dtype bfloat16

The texts are those of `examples/weather.jsonl` and, with `--data FILE`, of others; one very long, one empty and one
repeated segment are added. Each number is the largest difference of a segment from one pass over all in order. In half
precision, the largest and the mean difference of that pass from one in float32 follow.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

import nlgauge as ng
from nlgauge.core.metric import Metric
from nlgauge.core.scores import Scores, join
from nlgauge.core.segment import Segment
from nlgauge.metrics.registry import METRICS
from nlgauge.metrics.run import score_segments
from nlgauge.models import heads, locate
from nlgauge.runtime.runtime import Runtime

EXAMPLES = Path(__file__).parent.parent / "examples" / "weather.jsonl"


def embedded_metrics() -> Iterator[str]:
    """Metrics that run with what is installed."""
    for name in METRICS.names():
        kind, fixed = METRICS.lookup(name)
        with_embedded = fixed.get("model", getattr(kind, "model", None)) in {locate.NAME, *heads.SHIPPED}
        if with_embedded and not ng.metric(name).pooled:  # company changes those by definition
            yield name


def changes(metric: Metric, segments: list[Segment], runtime: Runtime) -> Mapping[str, Callable[[], Scores]]:
    """Ways to score the same segments, each with the order put right again."""
    places = np.arange(len(segments))
    shuffled = np.random.default_rng(0).permutation(places)

    def ordered(order: np.ndarray) -> Scores:
        return metric.score([segments[i] for i in order], runtime).take(np.argsort(order))

    def threads(n: int) -> Scores:
        before = torch.get_num_threads()
        torch.set_num_threads(n)
        try:
            return metric.score(segments, runtime)
        finally:
            torch.set_num_threads(before)

    def cached() -> Scores:
        with tempfile.TemporaryDirectory() as folder:
            kept = replace(runtime, cache=str(Path(folder) / "scores.sqlite"))
            score_segments({"m": metric}, segments[::2], kept)
            return score_segments({"m": metric}, segments, kept)["m"]

    return {
        "again": lambda: metric.score(segments, runtime),
        "alone": lambda: join([metric.score([segment], runtime) for segment in segments]),
        "token budget 300": lambda: metric.score(segments, replace(runtime, token_budget=300)),
        "reversed": lambda: ordered(places[::-1]),
        "shuffled": lambda: ordered(shuffled),
        "threads": lambda: threads(2 if torch.get_num_threads() == 1 else 1),
        "half cached": cached,
    }


def main() -> None:
    """Print a table for each precision."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-m", "--metric", action="append", help="[default: all with an embedded model]")
    parser.add_argument("--dtype", action="append", help="[default: float32 and bfloat16]")
    parser.add_argument("--data", action="append", type=Path, default=[], help="more segments")
    given = parser.parse_args()
    read = [segment for path in [EXAMPLES, *given.data] for segment in ng.read(path)]
    read = [replace(s, source=s.source or s.references[0]) for s in read]
    first = read[0]
    read += [replace(first, hypothesis=""), first, replace(first, hypothesis=" ".join(s.hypothesis for s in read[:60]))]
    segments = [replace(segment, id=str(i)) for i, segment in enumerate(read)]
    print(f"{len(segments)} segments, torch {torch.__version__}, {torch.get_num_threads()} threads")
    for dtype in given.dtype or ["float32", "bfloat16"]:
        for name in given.metric or embedded_metrics():
            metric, runtime = ng.metric(name), Runtime(device="cpu", dtype=dtype)
            base = metric.score(segments, runtime).values
            moved = {}
            for change, score in changes(metric, segments, runtime).items():
                found = score().values
                assert np.array_equal(np.isnan(found), np.isnan(base)), f"{name}: {change} changes what is undefined"
                moved[change] = float(np.nanmax(np.abs(found - base)))
            shown = ", ".join(f"{change} {most:.1g}" for change, most in moved.items())
            print(f"{dtype:9s} {name:12s} {max(moved.values()):8.1g}   {shown}", flush=True)
            if dtype in ("bfloat16", "float16"):
                gaps = np.abs(base - metric.score(segments, Runtime(device="cpu")).values)
                most, mean = np.nanmax(gaps), np.nanmean(gaps)
                print(f"{'':22s} against float32: largest {most:.2g}, mean {mean:.2g}", flush=True)


if __name__ == "__main__":
    main()
