"""How long `faithful` takes for a source of 1,000 words and an answer of 100:

    python recipes/faithful/seconds.py DATA

The texts are those of QAGS-CNN, one after another. Times are those of a clock on the wall and of the processor: a first
call with everything that it loads, calls that share one runtime, whose models stay, and calls without one.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import time
from pathlib import Path

import nlgauge as ng


def words(texts: list[str], n: int) -> str:
    return " ".join(" ".join(texts).split()[:n])


def seconds(segment: ng.Segment, runtime: ng.Runtime | None) -> tuple[float, float]:
    wall, own = time.perf_counter(), time.process_time()
    ng.score(ng.Dataset((segment,)), metrics=["faithful"], runtime=runtime)
    return time.perf_counter() - wall, time.process_time() - own


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--calls", type=int, default=5)
    given = parser.parse_args()
    with gzip.open(given.data / "qags-cnn" / "segments.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    sources = list(dict.fromkeys(row["src"] for row in rows))
    segment = ng.Segment("1", words([row["hyp"] for row in rows], 100), source=words(sources, 1000))
    kept = ng.Runtime()
    print("first call: {:.2f} s, {:.2f} s of the processor".format(*seconds(segment, kept)))
    for name, runtime in (("one runtime for all", kept), ("a runtime for each", None)):
        wall, own = zip(*(seconds(segment, runtime) for _ in range(given.calls)), strict=True)
        middle = f"{statistics.median(wall):.2f} s, {statistics.median(own):.2f} s of the processor"
        print(f"{name}: median of {given.calls} calls {middle}, slowest {max(wall):.2f} s")


if __name__ == "__main__":
    main()
