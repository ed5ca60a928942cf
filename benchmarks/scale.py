"""Runs in parts, measured: memory of each process, rows exactly once, kills, and what the plan costs.

    python benchmarks/scale.py run --pairs 2000000 --engine pool ray      processor, wall time, memory; rows counted
    python benchmarks/scale.py kills --metric bertscore --pairs 50000     five kills on the way, then the bytes compared
    python benchmarks/scale.py overhead --pairs 60000                     one worker beside `nlgauge score` in a process

Pairs are made from a seed: texts of 8 to 28 words (`--words`), all distinct, in Parquet with row groups of 10,000 rows,
or in JSON lines. Every command runs as its users run it. A process is measured from outside, by what Linux keeps of it
in /proc: the largest resident set, and the processor seconds. `--keep DIR` leaves data and folders there; a later call
with the same DIR uses the data again and does not repeat an undisturbed run.
"""

from __future__ import annotations

import argparse
import filecmp
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow
import pyarrow.parquet

from nlgauge.scoring.workers import progress_of

LIMIT = 1e9  # bytes that a process may hold
GROUP = 10_000  # rows
ONSETS, VOWELS = "b br d f g gr h k l m n p pr r s st t tr v w".split(), "a e i o u ai ea ou".split()
WORKERS = ("spawn_main", "ray::MapWorker")  # what the command lines of workers hold
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Usage:
    """What a command took.

    Attributes:
        seconds: from its start to its end.
        driver: bytes of its own process, at most.
        workers: bytes of each worker, at most, by process id.
        others: bytes of all other processes that it started, at most, summed.
        processor: seconds of all processes together.
        code: how it ended.
    """

    seconds: float = 0.0
    driver: int = 0
    workers: dict[int, int] = field(default_factory=dict)
    others: int = 0
    processor: float = 0.0
    code: int = 0

    def __str__(self) -> str:
        each = ", ".join(f"{size / 1e6:.0f}" for size in self.workers.values())
        return (
            f"{self.seconds:8.1f} s  processor {self.processor:8.1f} s  MB: driver {self.driver / 1e6:.0f},"
            f" workers {each or '-'}, others {self.others / 1e6:.0f}"
        )


@dataclass(frozen=True)
class Process:
    """A process as /proc shows it: its command line, its largest resident set and its processor seconds."""

    pid: int
    line: str
    peak: int
    processor: float

    @classmethod
    def below(cls, pid: int) -> Iterator[Process]:
        """A process and all that it started, and these started, as far as they run."""
        place = Path("/proc", str(pid))
        try:
            stat = (place / "stat").read_text().rpartition(")")[2].split()
            line = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            status = (place / "status").read_text()
            children = [int(child) for file in place.glob("task/*/children") for child in file.read_text().split()]
        except OSError:  # it ended meanwhile
            return
        peak = next((int(row.split()[1]) << 10 for row in status.splitlines() if row.startswith("VmHWM")), 0)
        yield cls(pid, line, peak, (int(stat[11]) + int(stat[12])) / TICKS)
        for child in children:
            yield from cls.below(child)

    @property
    def is_worker(self) -> bool:
        """Whether it scores parts."""
        return any(name in self.line for name in WORKERS)


def watch(command: Sequence[str], disturb: Callable[[subprocess.Popen[bytes]], object] | None = None) -> Usage:
    """Run a command and look at its processes until it ends; `disturb` is called with it twice a second."""
    usage, began, seen = Usage(), time.perf_counter(), dict[int, Process]()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while process.poll() is None:
        for one in Process.below(process.pid):
            before = seen.get(one.pid, one)  # of a process that has ended but is still listed nothing else is known
            line = before.line if before.is_worker or not one.line else one.line
            peak, processor = max(before.peak, one.peak), max(before.processor, one.processor)
            seen[one.pid] = Process(one.pid, line, peak, processor)
        if disturb is not None:
            disturb(process)
        time.sleep(0.2 if time.perf_counter() - began < 60 else 0.5)
    usage.seconds = time.perf_counter() - began
    usage.code = process.returncode
    for pid, one in seen.items():
        if pid == process.pid:
            usage.driver = one.peak
        elif one.is_worker:
            usage.workers[pid] = one.peak
        else:
            usage.others += one.peak
        usage.processor += one.processor
    return usage


def made(path: Path, pairs: int, form: str, words_each: Sequence[int], seed: int = 0) -> Path:
    """The file of generated pairs, whose texts have `words_each` words (from, to); written unless it is there."""
    if path.exists():
        return path
    rng = random.Random(seed)
    syllables = [onset + vowel for onset in ONSETS for vowel in VOWELS]
    words = ["".join(rng.choices(syllables, k=rng.choice((1, 1, 2, 2, 3)))) for _ in range(5000)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    draft = path.with_name("draft")

    def rows() -> Iterator[dict[str, str]]:
        drawn: list[str] = []
        for row in range(pairs):
            size = rng.randint(*words_each)
            if len(drawn) < 2 * size:
                drawn = rng.choices(words, weights, k=100_000)
            reference = [*drawn[-size:], str(row)]
            del drawn[-size:]
            hypothesis = list(reference)
            for _ in range(1 + size // 5):
                hypothesis[rng.randrange(size)] = drawn[rng.randrange(len(drawn))]
            yield {"id": str(row), "hyp": " ".join(hypothesis) + ".", "ref": " ".join(reference) + "."}

    if form == "jsonl":
        with draft.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows())
    else:
        schema, made = pyarrow.schema([(name, pyarrow.string()) for name in ("id", "hyp", "ref")]), rows()
        with pyarrow.parquet.ParquetWriter(draft, schema) as writer:
            for start in range(0, pairs, GROUP):
                batch = [next(made) for _ in range(min(GROUP, pairs - start))]
                writer.write_table(pyarrow.Table.from_pylist(batch, schema))
    draft.rename(path)
    return path


def command(data: Path, metric: str, *words: object) -> list[str]:
    """The command that scores the pairs on the processor."""
    how = ("--device", "cpu", "--quiet", *map(str, words))
    return [sys.executable, "-m", "nlgauge", "score", str(data), "-m", metric, *how]


def in_parts(data: Path, options: argparse.Namespace, engine: str, folder: Path) -> list[str]:
    """The same in parts."""
    how = f"{engine}:workers={options.workers},rows={options.part_rows}"
    return command(data, options.metric, "--engine", how, "-o", folder)


def check_rows(folder: Path, pairs: int) -> None:
    """End with an error unless every row is there once, in order."""
    after = 0
    for path in sorted((folder / "rows").iterdir()):
        ids = pyarrow.parquet.read_table(path, columns=["id"]).column("id").to_pylist()
        if ids != [str(row) for row in range(after, after + len(ids))]:
            raise SystemExit(f"{path} does not hold the rows from {after} on, once and in order")
        after += len(ids)
    if after != pairs:
        raise SystemExit(f"{folder} holds {after} rows, expected {pairs}")


def size_of(path: Path) -> int:
    """Bytes of a file, or of all files in a folder."""
    return path.stat().st_size if path.is_file() else sum(size_of(inside) for inside in path.iterdir())


def run(options: argparse.Namespace, place: Path, data: Path) -> bool:
    """Time, memory and rows of each engine; whether memory is under the limit and the engines' bytes are equal."""
    enough, folders = True, []
    for engine in options.engine:
        folder = place / f"{engine} {options.metric} {options.pairs}"
        shutil.rmtree(folder, ignore_errors=True)
        usage = watch(in_parts(data, options, engine, folder))
        if usage.code:
            raise SystemExit(f"{engine} ended with {usage.code}")
        check_rows(folder, options.pairs)
        print(f"{engine:5} {usage}; {options.pairs / usage.seconds:.0f} pairs/s, each row once", flush=True)
        enough &= max(usage.driver, *usage.workers.values()) < LIMIT
        folders.append(folder)
    sizes = {name: size_of(folders[0] / name) / options.pairs for name in ("rows", "stats", "sums", "plan.json")}
    each = ", ".join(f"{name} {size:.2f}" for name, size in {"input": size_of(data) / options.pairs, **sizes}.items())
    print(f"bytes a pair: {each}")
    same = all(are_equal(folders[0], folder) for folder in folders[1:])
    print(f"over {LIMIT / 1e9:g} GB: {'none' if enough else 'YES'}; engines' bytes equal: {same}")
    return enough and same


def are_equal(one: Path, other: Path) -> bool:
    """Whether two folders hold the same files with the same bytes."""
    names = [sorted(str(path.relative_to(place)) for path in place.rglob("*")) for place in (one, other)]
    files = [name for name in names[0] if (one / name).is_file()]
    return names[0] == names[1] and not any(filecmp.cmpfiles(one, other, files, shallow=False)[1:])


class Kills:
    """Kills a run, by SIGKILL, each time that some more parts are done: a worker, or the command, or both."""

    def __init__(self, folder: Path, kills: int, parts: int, whom: str) -> None:
        self.folder, self.whom = folder, whom
        self.at = [max(1, parts * (place + 1) // (kills + 1)) for place in range(kills)]
        self.told: list[str] = []

    def __call__(self, process: subprocess.Popen[bytes]) -> None:
        if not self.at or not (self.folder / "sums").is_dir() or progress_of(self.folder).parts_done < self.at[0]:
            return
        whom = ("worker", "command", "both")[len(self.told) % 3] if self.whom == "mixed" else self.whom
        workers = [one.pid for one in Process.below(process.pid) if one.is_worker]
        if not workers:
            return
        self.at.pop(0)
        if whom in ("worker", "both"):
            os.kill(workers[0], signal.SIGKILL)
        if whom in ("command", "both"):
            process.kill()
        self.told.append(f"{whom} at {progress_of(self.folder).parts_done} parts")


def kills(options: argparse.Namespace, place: Path, data: Path) -> bool:
    """Whether a run that was killed again and again leaves the bytes of one that was not."""
    engine = options.engine[0]
    whole, killed = (place / f"{name} {engine} {options.metric} {options.pairs}" for name in ("whole", "killed"))
    if not (whole / "result.json").exists():
        usage = watch(in_parts(data, options, engine, whole))
        if usage.code:
            raise SystemExit(f"{engine} ended with {usage.code}")
        print(f"undisturbed {usage}", flush=True)
    shutil.rmtree(killed, ignore_errors=True)
    disturb = Kills(killed, options.kills, progress_of(whole).parts, options.whom)
    for start in range(options.kills + 1):
        usage = watch(in_parts(data, options, engine, killed), disturb)
        print(f"start {start + 1}     {usage}; ended with {usage.code}", flush=True)
        if not usage.code:
            break
    check_rows(killed, options.pairs)
    same = are_equal(whole, killed)
    print(f"killed: {', '.join(disturb.told)}; each row once; same bytes as undisturbed: {same}")
    return same and len(disturb.told) == options.kills


def overhead(options: argparse.Namespace, place: Path, data: Path) -> bool:
    """Processor seconds of one worker over those of one process that writes the same rows, in neighbouring runs."""
    options.workers, ratios = 1, []
    plain = command(data, options.metric, "--segments", place / "rows.parquet")
    for repeat in range(options.repeats):
        folder = place / "parted"
        shutil.rmtree(folder, ignore_errors=True)
        pair = [plain, in_parts(data, options, "pool", folder)]
        found = [processor(one) for one in (pair if repeat % 2 else pair[::-1])]
        one, parted = found if repeat % 2 else found[::-1]
        ratios.append(parted / one)
        print(f"one process {one:.1f} s, one worker {parted:.1f} s of processor: {ratios[-1] - 1:+.1%}", flush=True)
    print(f"median {statistics.median(ratios) - 1:+.1%}")
    return statistics.median(ratios) < 1.05


def processor(command: Sequence[str]) -> float:
    """Processor seconds of a command and of the processes that it waited for."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def main() -> bool:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "kills", "overhead"))
    parser.add_argument("--pairs", type=int, default=60_000)
    parser.add_argument("--metric", default="chrf")
    parser.add_argument("--engine", nargs="+", choices=("pool", "ray"), default=["pool"])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--part-rows", type=int, default=10_000)
    parser.add_argument("--words", type=int, nargs=2, default=(8, 28), help="of a text: from, to")
    parser.add_argument("--form", choices=("parquet", "jsonl"), default="parquet", help="of the generated file")
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--whom", choices=("worker", "command", "both", "mixed"), default="mixed")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--keep", type=Path, help="a folder for data and runs")
    options = parser.parse_args()
    model = next((row for row in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in row), "")
    print(f"{os.cpu_count()} cores,{model.partition(':')[2]}, load {os.getloadavg()[0]:.1f} before")
    print(
        f"{options.what}: {options.pairs} pairs, {options.metric}, {options.form}, parts of {options.part_rows},"
        f" texts of {options.words[0]} to {options.words[1]} words"
    )
    with tempfile.TemporaryDirectory() as folder:
        place = options.keep or Path(folder)
        place.mkdir(exist_ok=True)
        name = f"{options.pairs} of {'-'.join(map(str, options.words))}.{options.form}"
        data = made(place / name, options.pairs, options.form, options.words)
        measure = {"run": run, "kills": kills, "overhead": overhead}[options.what]
        return measure(options, place, data)


if __name__ == "__main__":
    if not main():
        raise SystemExit(1)
