"""What a metric costs as a command: processor seconds and peak memory, by encoder and precision.

    python benchmarks/cost.py FILE                          1,000 segments, for docs/studies/bench_cost.tsv
    python benchmarks/cost.py FILE -m summac -m moverscore  other metrics
    python benchmarks/cost.py FILE --segments 100           a minute or two, of which much is the start

Each command is `nlgauge score` in a process of its own, on one thread and without a score cache. The system counts the
seconds, with those of the start, and the largest resident set. The segments stand at equal distances in FILE, so that
they are of all its groups. On a machine with other work processor seconds are too high; `--runs` takes the least of
several. A metric that is the same with each encoder, as `chrf` is, is run once.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import nlgauge as ng
from nlgauge.core.spec import parse
from nlgauge.metrics.registry import on_encoder

METRICS = ("chrf", "bertscore", "nli", "rated:both=0", "rated")
SETUPS = (("embedded", "float32"), ("base", "float32"), ("base", "bfloat16"))


class Cost(NamedTuple):
    """Of one command."""

    seconds: float
    megabytes: float


def cost(data: Path, metric: str, encoder: str, dtype: str, runs: int) -> Cost:
    """The least of some runs."""
    words = ["score", str(data), "-m", metric, "--encoder", encoder, "--dtype", dtype, "--no-cache", "-q"]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    # byte code is kept, as where a package is installed
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    costs = []
    for _ in range(runs):
        command = [sys.executable, "-m", "nlgauge", *words]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=kept | threads)
        _, status, used = os.wait4(process.pid, 0)
        if status:
            raise SystemExit(f"nlgauge {' '.join(words)} failed")
        megabytes = used.ru_maxrss / (1 << (20 if sys.platform == "darwin" else 10))
        costs.append(Cost(used.ru_utime + used.ru_stime, megabytes))
    return Cost(*(min(each) for each in zip(*costs, strict=True)))


def thinned(file: str, n: int, folder: Path) -> Path:
    """Some segments of a file, at equal distances, with their first references."""
    segments = list(ng.read(file))
    if len(segments) < n:
        raise SystemExit(f"{file} holds {len(segments)} segments, expected {n}; ask for fewer with --segments")
    path = folder / "some.jsonl"
    chosen = (segments[i * len(segments) // n] for i in range(n))
    rows = ({"id": str(i), "hyp": s.hypothesis, "refs": list(s.references[:1])} for i, s in enumerate(chosen))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def main() -> None:
    """Measure and print a table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("file", help="scored texts with references")
    options.add_argument("-m", "--metric", action="append", help="metrics, in place of those of the page")
    options.add_argument("--segments", type=int, default=1000)
    options.add_argument("--runs", type=int, default=1)
    chosen = options.parse_args()
    print(f"{platform.processor() or platform.machine()}, one thread, {chosen.segments:,} segments\n")
    print("| metric | encoder | precision | seconds | MB |\n|---|---|---|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        data = thinned(chosen.file, chosen.segments, Path(folder))
        for metric in chosen.metric or METRICS:
            is_one = on_encoder(metric, "base") == str(parse(metric))
            for encoder, dtype in SETUPS[:1] if is_one else SETUPS:
                found = cost(data, metric, encoder, dtype, chosen.runs)
                setup = "|" if is_one else f"{encoder} | {dtype}"
                print(f"| `{metric}` | {setup} | {found.seconds:.1f} | {found.megabytes:.0f} |", flush=True)


if __name__ == "__main__":
    main()
