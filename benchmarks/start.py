"""What a first command costs, beside sacrebleu's: start and memory, what guards add over many segments, and a gate.

    python benchmarks/start.py                     the weather reports, and 33,600 segments made from common words
    python benchmarks/start.py --data FILE         the same of a file of your own, in place of those that are made
    python benchmarks/start.py --runs 20           closer, on a machine with other work
    python benchmarks/start.py --gate              the gate alone

Each command runs as a process of its own; seconds of the processor and of the clock and the peak of memory are the
least of all runs. sacrebleu reads the same texts, one line each, with the first reference. The gate judges 1,000 items,
of which every other one had a word replaced, by five metrics; its seconds are the median of all runs. Exits with 1 if a
start takes more than `START` seconds or `BESIDE` times sacrebleu's, guards make the many segments `GUARDED` times as
slow, or a gate takes more than `GATE` seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from checks import corpus

START, BESIDE, GUARDED, GATE = 0.45, 3.0, 1.4, 2.0
SEGMENTS, ITEMS = 33_600, 1000
METRICS = ("bleu", "chrf", "rougeL", "ter", "meteor")
WEATHER = Path(__file__).parent.parent / "examples" / "weather.jsonl"


class Cost(NamedTuple):
    """Of one command."""

    processor: float
    wall: float
    megabytes: float


def cost(
    command: Sequence[str | Path], runs: int, of: Callable[[Sequence[float]], float] = min, codes: Sequence[int] = (0,)
) -> Cost:
    """The least of some runs, or what `of` makes of them; the command ends with one of the codes."""
    # byte code is kept, as where a package is installed
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    costs: list[Cost] = []
    for _ in range(runs + 1):
        began = time.monotonic()
        process = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, env=kept)
        _, status, used = os.wait4(process.pid, 0)
        if os.waitstatus_to_exitcode(status) not in codes:
            raise SystemExit(f"{command} failed")
        megabytes = used.ru_maxrss / (1 << (20 if sys.platform == "darwin" else 10))
        costs.append(Cost(used.ru_utime + used.ru_stime, time.monotonic() - began, megabytes))
    return Cost(*(of(each) for each in zip(*costs[1:], strict=True)))  # the first writes byte code


def made(folder: Path) -> Path:
    """A file of distinct segments."""
    hypotheses, references = corpus("English", SEGMENTS, np.random.default_rng(0))
    path = folder / "made.jsonl"
    rows = ({"id": str(i), "hyp": h, "refs": [r]} for i, (h, r) in enumerate(zip(hypotheses, references, strict=True)))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def gate(folder: Path, runs: int) -> Cost:
    """A gate on made outputs, of which every other one has one word replaced."""
    hypotheses, references = corpus("English", ITEMS, np.random.default_rng(0))
    rng = np.random.default_rng(1)
    changed = [text.split() for text in hypotheses]
    for words in changed[::2]:
        words[rng.integers(len(words))] = "something"
    sides = {"base": hypotheses, "new": [" ".join(words) for words in changed]}
    for name, texts in sides.items():
        rows = ({"id": str(i), "hyp": h, "refs": [r]} for i, (h, r) in enumerate(zip(texts, references, strict=True)))
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    files = [folder / f"{name}.jsonl" for name in sides]
    specs = [word for spec in METRICS for word in ("-m", spec)]
    command = [sys.executable, "-m", "nlgauge", "gate", *files, *specs, "--allow", "1", "--no-cache"]
    found = cost(command, runs, statistics.median, codes=(0, 3, 4))
    print(f"gate, {ITEMS:,} items by {', '.join(METRICS)}")
    print(f"  median     {found.processor:6.2f} s  wall {found.wall:6.2f} s  {found.megabytes:4.0f} MB", flush=True)
    return found


def compared(data: Path, folder: Path, runs: int) -> dict[str, Cost]:
    """The command with guards and without, and sacrebleu's on the same texts."""
    rows = [json.loads(line) for line in data.read_text(encoding="utf-8").splitlines()]
    for name, texts in (("hyp", [row["hyp"] for row in rows]), ("ref", [row["refs"][0] for row in rows])):
        lines = (" ".join(text.split()) + "\n" for text in texts)
        (folder / name).write_text("".join(lines), encoding="utf-8")
    ours = [sys.executable, "-m", "nlgauge", "score", data, "-m", "bleu", "--no-cache"]
    theirs = [sys.executable, "-m", "sacrebleu", folder / "ref", "-i", folder / "hyp", "-b"]
    found = {"nlgauge": cost(ours, runs), "guards off": cost([*ours, "--guards", "off"], runs)}
    found["sacrebleu"] = cost(theirs, runs)
    print(f"{data.name}, {len(rows):,} segments")
    for name, one in found.items():
        beside = one.processor / found["sacrebleu"].processor
        seconds = f"{one.processor:6.2f} s  wall {one.wall:6.2f} s"
        print(f"  {name:10} {seconds}  {one.megabytes:4.0f} MB  {beside:5.2f} times")
    ratio = found["nlgauge"].processor / found["guards off"].processor
    print(f"  guards make it {ratio:.2f} times as slow", flush=True)
    return found


def main() -> int:
    """Measure, print, and say whether each figure is small enough."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, help="JSON lines with hyp and refs")
    options.add_argument("--runs", type=int, default=10)
    options.add_argument("--gate", action="store_true", help="the gate alone")
    chosen = options.parse_args()
    if chosen.gate:
        with tempfile.TemporaryDirectory() as folder:
            return 0 if gate(Path(folder), chosen.runs).processor <= GATE else 1
    with tempfile.TemporaryDirectory() as folder:
        judged = gate(Path(folder), max(1, chosen.runs // 2))
        first = compared(WEATHER, Path(folder), chosen.runs)
        many = compared(chosen.data or made(Path(folder)), Path(folder), max(1, chosen.runs // 5))
    fair = (
        first["nlgauge"].processor <= START,
        first["nlgauge"].processor <= BESIDE * first["sacrebleu"].processor,
        many["nlgauge"].processor <= GUARDED * many["guards off"].processor,
        judged.processor <= GATE,
    )
    return 0 if all(fair) else 1


if __name__ == "__main__":
    sys.exit(main())
