"""What severities and the amount of data are worth, over several seeds.

    python recipes/sescore/seeds.py DATA SEED0.jsonl SEED1.jsonl ... > table.md
    python recipes/sescore/seeds.py DATA MIX.jsonl MIX.jsonl MIX.jsonl --kinds none --amounts 500,2000,8000 > table.md

DATA: as for study.py. The triples are those of `nlgauge synth --severity graded`, one file for each seed of the
training: of the same texts with --seed 0, 1, ..., so that the edits differ, too; or the same file again, so that only
the training differs. All kinds of severities are read from the same triples (the edits do not depend on them), so that
heads of one seed differ in nothing else. `permuted` are the graded ones in random order: as many of each, but they say
nothing about the edits. With --method frozen the encoder stays as it is, and every text is encoded once for all heads;
with lora the heads are trained as in ablations.sh.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
import torch
from study import experts, levels

import nlgauge as ng
from nlgauge.core.arrays import Array
from nlgauge.models import matching
from nlgauge.training import regressor
from nlgauge.training.examples import Example, with_extremes
from nlgauge.training.recipe import Method, RegressorRecipe, Schedule

MIDDLE, WORST = -3.0, -25.0  # graded severity of an edit at the threshold; the lowest score
RATED: Mapping[str, Callable[[float], float]] = {
    "graded": lambda severity: severity,
    "binary": lambda severity: -1.0 if severity >= MIDDLE else -5.0,
    "none": lambda severity: -1.0,
    "permuted": lambda severity: severity,
}
SCHEDULES: Mapping[Method, tuple[int, float]] = {"frozen": (5, 1e-3), "lora": (1, 3e-4)}  # passes, rate
BATCH = 64


class Remembered:
    """`mean_vectors`, but every text is encoded once in the life of this object."""

    def __init__(self) -> None:
        self.means: dict[tuple[int, ...], torch.Tensor] = {}
        self.encode = matching.mean_vectors

    def __call__(self, network: Any, sequences: Sequence[Any], layers: Sequence[int], **how: Any) -> torch.Tensor:
        keys = [tuple(map(int, ids)) for ids in sequences]
        new = {key: ids for key, ids in zip(keys, sequences, strict=True) if key not in self.means}
        if new:
            self.means |= zip(new, self.encode(network, list(new.values()), layers, **how), strict=True)
        return torch.stack([self.means[key] for key in keys])


def examples(path: Path, kind: str, amount: int | None, seed: int) -> list[Example]:
    """The first triples of a file with another kind of severity, copies, and unrelated pairs."""
    with path.open(encoding="utf-8") as file:
        rows = [json.loads(line) for line in islice(file, amount)]
    if len(rows) < (amount or 1):
        raise SystemExit(f"{path} has {len(rows)} triples, expected {amount or 1} or more")
    severities = [RATED[kind](step["severity"]) for row in rows for step in row["steps"]]
    if kind == "permuted":
        random.Random(seed).shuffle(severities)
    left = iter(severities)
    found = [
        Example({"hyp": row["hyp"], "ref": row["refs"][0]}, sum(islice(left, len(row["steps"]))), i)
        for i, row in enumerate(rows)
    ]
    return with_extremes(found, 0.05, 0.15, WORST, seed)


def trained(
    rows: Sequence[Example], method: Method, steps: int | None, seed: int, output: str, runtime: ng.Runtime
) -> ng.Metric:
    """`sescore` with the head that learns from these examples, for so many steps, but whole passes."""
    passes, rate = SCHEDULES[method]
    if steps is not None:
        passes = max(1, round(steps * BATCH / len(rows)))
    recipe = RegressorRecipe(
        method=method,
        layers="mix",
        features="2h",
        standardise=True,
        held_out=0,
        schedule=Schedule(epochs=passes, learning_rate=rate, seed=seed, batch_size=BATCH),
    )
    regressor.train_regressor(rows, output, recipe, runtime)
    return ng.metric("sescore", model=output)


def first(dataset: ng.Dataset, items: int | None, step: int) -> ng.Dataset:
    """All outputs of the first inputs, or of every second, third, ... of these."""
    taken = set(list(dict.fromkeys(segment.item for segment in dataset))[:items:step])
    return ng.Dataset(tuple(segment for segment in dataset if segment.item in taken), dataset.name)


def agreement(sets: Mapping[str, ng.Dataset], score: Callable[[ng.Dataset], Array]) -> dict[str, float]:
    """Set, level and statistic -> agreement with people."""
    found = {}
    for name, dataset in sets.items():
        scores = score(dataset)
        if name == "WMT16":
            rows = ng.meta_evaluate(
                dataset, scores={"metric": scores}, criterion="da_z", stats=["kendall_b", "pearson"], intervals="none"
            ).rows
            found |= {f"{name}, segment: {row['stat']}": row["value"] for row in rows if row["group"] == "mean"}
        else:
            found |= levels(dataset, scores)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("triples", type=Path, nargs="+")
    parser.add_argument("--sets", default="WMT16,WMT21,TED", help="some of the data sets, with commas")
    parser.add_argument("--items", type=int, help="only the first N inputs of each set")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth of these")
    parser.add_argument("--kinds", default=",".join(RATED), help="of severities, with commas")
    parser.add_argument("--amounts", help="heads of the first N triples for each of these, with commas; else of all")
    parser.add_argument("--method", default="frozen", choices=list(SCHEDULES))
    parser.add_argument("--steps", type=int, help="about as many for each amount, by more or fewer passes")
    given = parser.parse_args()
    if given.method == "frozen":
        matching.mean_vectors = regressor.mean_vectors = Remembered()
    runtime = ng.Runtime(dtype="float32", device="cpu")
    sets = {
        name: ng.read(given.data / "wmt16-da-seg" / "segments.jsonl.gz")
        if name == "WMT16"
        else experts(given.data, name)
        for name in given.sets.split(",")
    }
    sets = {name: first(dataset, given.items, given.every) for name, dataset in sets.items()}
    kinds = given.kinds.split(",")
    for amount in [int(n) for n in given.amounts.split(",")] if given.amounts else [None]:
        found: dict[str, list[dict[str, float]]] = {}
        for (seed, path), kind in product(enumerate(given.triples), kinds):
            rows = examples(path, kind, amount, seed)
            with tempfile.TemporaryDirectory() as folder:
                output = str(Path(folder, "head.safetensors"))
                head = trained(rows, given.method, given.steps, seed, output, runtime)
                of_seed = agreement(sets, lambda dataset, m=head: m.score(dataset.segments, runtime).values)
            print(f"{len(rows)} examples, {kind}, seed {seed}: {of_seed}", file=sys.stderr, flush=True)
            found.setdefault(kind, []).append(of_seed)
        table(found, "all" if amount is None else f"{amount:,}")


def table(found: Mapping[str, Sequence[Mapping[str, float]]], amount: str) -> None:
    """A row for each kind, and one for what the first has more than each other."""
    (kind, best), *others = found.items()
    columns = list(best[0])
    print(f"| severities | of the triples | {' | '.join(columns)} |\n|---|---|{'---:|' * len(columns)}")
    for name, values in found.items():
        line(f"{name} | {amount}", [[value[column] for value in values] for column in columns])
    for name, values in others:
        pairs = list(zip(best, values, strict=True))
        line(f"{kind} less {name} | {amount}", [[a[c] - b[c] for a, b in pairs] for c in columns], sign="+")


def line(name: str, columns: Sequence[Sequence[float]], sign: str = "") -> None:
    """Mean and standard deviation over the seeds."""
    cells = (f"{np.mean(v):{sign}.3f} ± {np.std(v, ddof=1) if len(v) > 1 else np.nan:.3f}" for v in columns)
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
