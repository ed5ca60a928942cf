"""What severities and the amount of data are worth, over several seeds.

    python recipes/sescore/seeds.py DATA SEED0.jsonl SEED1.jsonl ... > table.md

DATA: as for study.py. The triples are those of `nlgauge synth --severity graded --seed 0`, 1, ... of the same texts,
one file per seed, which also seeds the training. Binary and no severities are read from the same triples (the edits do
not depend on them), so that heads of one seed differ in nothing else. The encoder stays as it is and all else is as in
ablations.sh: with `--method frozen` every text is encoded once for all heads.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from study import experts, levels

import nlgauge as ng
from nlgauge.core import Array
from nlgauge.models import pooled
from nlgauge.training import regressor
from nlgauge.training.examples import Example, with_copies, with_unrelated
from nlgauge.training.loop import Schedule

MIDDLE, WORST = -3.0, -25.0  # graded severity of an edit at the threshold; the lowest score
RATED: Mapping[str, Callable[[float], float]] = {
    "graded": lambda severity: severity,
    "binary": lambda severity: -1.0 if severity >= MIDDLE else -5.0,
    "none": lambda severity: -1.0,
}
SHARES = {"all": 1.0, "half": 0.5, "a quarter": 0.25}
EPOCHS, RATE = 5, 1e-3


class Remembered:
    """`mean_vectors`, but every text is encoded once in the life of this object."""

    def __init__(self) -> None:
        self.means: dict[tuple[int, ...], torch.Tensor] = {}
        self.encode = pooled.mean_vectors

    def __call__(self, network: Any, sequences: Sequence[Any], layers: Sequence[int], **how: Any) -> torch.Tensor:
        keys = [tuple(map(int, ids)) for ids in sequences]
        new = {key: ids for key, ids in zip(keys, sequences, strict=True) if key not in self.means}
        if new:
            self.means |= zip(new, self.encode(network, list(new.values()), layers, **how), strict=True)
        return torch.stack([self.means[key] for key in keys])


def examples(path: Path, kind: str, share: float, seed: int) -> list[Example]:
    """The first triples of a file with another kind of severity, copies, and unrelated pairs."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    found = [
        Example({"hyp": row["hyp"], "ref": row["refs"][0]}, sum(RATED[kind](s["severity"]) for s in row["steps"]), i)
        for i, row in enumerate(rows[: round(share * len(rows))])
    ]
    return with_unrelated(with_copies(found, 0.05, 0.0, seed), 0.15, WORST, seed)


def trained(rows: Sequence[Example], seed: int, output: str, runtime: ng.Runtime) -> ng.Metric:
    recipe = regressor.RegressorRecipe(
        method="frozen",
        layers="mix",
        features="2h",
        standardise=True,
        held_out=0,
        schedule=Schedule(epochs=EPOCHS, learning_rate=RATE, seed=seed),
    )
    regressor.train_regressor(rows, output, recipe, runtime)
    return ng.metric("sescore", model=output)


def first(dataset: ng.Dataset, items: int | None) -> ng.Dataset:
    """All outputs of the first inputs."""
    taken = set(list(dict.fromkeys(segment.item for segment in dataset))[:items])
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
    parser.add_argument("--shares", default="all,half,a quarter", help="of the triples, with commas; graded")
    given = parser.parse_args()
    pooled.mean_vectors = regressor.mean_vectors = Remembered()
    runtime = ng.Runtime(dtype="float32", device="cpu")
    sets = {
        name: ng.read(given.data / "wmt16-da-seg" / "segments.jsonl.gz")
        if name == "WMT16"
        else experts(given.data, name)
        for name in given.sets.split(",")
    }
    sets = {name: first(dataset, given.items) for name, dataset in sets.items()}
    settings = [(kind, "all") for kind in RATED] + [("graded", x) for x in given.shares.split(",") if x != "all"]
    found: dict[tuple[str, str], list[dict[str, float]]] = {setting: [] for setting in settings}
    with tempfile.TemporaryDirectory() as folder:
        for seed, path in enumerate(given.triples):
            for kind, share in settings:
                rows = examples(path, kind, SHARES[share], seed)
                head = trained(rows, seed, str(Path(folder, f"{kind} {share} {seed}.safetensors")), runtime)
                found[kind, share].append(
                    agreement(sets, lambda dataset, m=head: m.score(dataset.segments, runtime).values)
                )
    columns = list(found["graded", "all"][0])
    print(f"| severities | of the triples | {' | '.join(columns)} |\n|---|---|{'---:|' * len(columns)}")
    for (kind, share), values in found.items():
        line(f"{kind} | {share}", [[value[column] for value in values] for column in columns])
    for kind in ("binary", "none"):
        pairs = list(zip(found["graded", "all"], found[kind, "all"], strict=True))
        line(f"graded less {kind} | all", [[a[column] - b[column] for a, b in pairs] for column in columns], sign="+")


def line(name: str, columns: Sequence[Sequence[float]], sign: str = "") -> None:
    """Mean and standard deviation over the seeds."""
    cells = (f"{np.mean(v):{sign}.3f} ± {np.std(v, ddof=1) if len(v) > 1 else np.nan:.3f}" for v in columns)
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
