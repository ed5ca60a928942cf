"""Peak memory of the command `nlgauge score` as the file grows: it must not.

    python benchmarks/memory.py               50,000 to 200,000 pairs by BERTScore, BLEU and chrF; a million by BLEU and
    chrF python benchmarks/memory.py --quick       2,000 to 8,000, and 40,000

Every text is distinct, so that nothing is saved by what was seen before. The command runs as its users run it, with a
score cache (an empty one each time). The peak is the largest resident set of its process, as the system counts it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMIT = 2.5e9  # bytes
NEURAL = ("bertscore:layer=1", "bleu", "chrf")
LEXICAL = ("bleu", "chrf")
WORDS = (
    *(
        "rain",
        "snow",
        "wind",
        "fog",
        "frost",
        "sun",
        "cloud",
        "storm",
        "hail",
        "thunder",
        "coast",
        "hills",
        "valley",
        "city",
        "harbour",
    ),
    *(
        "morning",
        "noon",
        "evening",
        "night",
        "today",
        "early",
        "late",
        "heavy",
        "light",
        "calm",
        "strong",
        "weak",
        "cold",
        "warm",
        "dry",
    ),
    *(
        "falls",
        "rises",
        "turns",
        "stays",
        "moves",
        "comes",
        "begins",
        "ends",
        "with",
        "without",
        "over",
        "under",
        "near",
        "until",
        "but",
    ),
)


def write(path: Path, n: int) -> None:
    """JSON lines with a hypothesis and a reference of 6 to 12 words each; the row's number makes them distinct."""
    rng = random.Random(0)
    with path.open("w", encoding="utf-8") as file:
        for row in range(n):
            reference = [*rng.choices(WORDS, k=rng.randint(5, 11)), str(row)]
            hypothesis = [w if rng.random() > 0.2 else rng.choice(WORDS) for w in reference[:-1]] + [str(row)]
            file.write(json.dumps({"system": "own", "hyp": " ".join(hypothesis), "ref": " ".join(reference)}) + "\n")


def peak(data: Path, metrics: tuple[str, ...], cache: Path) -> tuple[float, int]:
    """Seconds and bytes of the command."""
    named = [word for metric in metrics for word in ("-m", metric)]
    command = [
        sys.executable,
        "-m",
        "nlgauge",
        "score",
        str(data),
        *named,
        "--cache",
        str(cache),
        "--device",
        "cpu",
        "--quiet",
    ]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    unit = 1 if sys.platform == "darwin" else 1024
    return time.perf_counter() - start, usage.ru_maxrss * unit


def main() -> bool:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rows", type=int, nargs="+", help="for all three metrics")
    parser.add_argument("--lexical", type=int, nargs="*", help="for BLEU and chrF")
    options = parser.parse_args()
    rows = options.rows or ([2_000, 4_000, 8_000] if options.quick else [50_000, 100_000, 200_000])
    lexical = options.lexical if options.lexical is not None else ([40_000] if options.quick else [200_000, 1_000_000])
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before")
    print(f"{'metrics':32}{'pairs':>10}{'seconds':>10}{'pairs/s':>10}{'peak MB':>10}")
    enough = True
    with tempfile.TemporaryDirectory() as folder:
        for metrics, sizes in ((NEURAL, rows), (LEXICAL, lexical)):
            for n in sizes:
                data, cache = Path(folder) / "data.jsonl", Path(folder) / f"cache {len(metrics)} {n}"
                write(data, n)
                seconds, size = peak(data, metrics, cache)
                print(f"{' '.join(metrics):32}{n:10}{seconds:10.1f}{n / seconds:10.0f}{size / 1e6:10.0f}", flush=True)
                enough &= size < LIMIT
    return enough


if __name__ == "__main__":
    if not main():
        raise SystemExit(f"the peak is over {LIMIT / 1e9} GB")
