"""Which metric agrees best with people? Several protocols beside each other, with the length of outputs as control.

    python recipes/studies/protocols.py DATA --cache FILE > tables.md

DATA: a folder with wmt21-mqm-zh-en, ted-mqm-zh-en, wmt23-he-en-mtme and wmt22-gemba-zh-en, which experts judged (MQM),
and bagel, sfhot and webnlg2020-humaneval. `--sets NAME,...` takes some of them.

Of translations each output is compared with the first reference; outputs of people are left out. Elsewhere every metric
reads several references by its own default. * marks what is above `bertscore`, - what is below it (p < 0.05, two-sided,
after Holm over the rows; the tests of `--test auto`). Of several criteria the mean is printed, and in how many of them
a metric is above and below. `bertscore` is F; its precision and recall stand beside it where there is one reference.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import nlgauge as ng

LENGTH = "sentinel:side=hypothesis"
METRICS = ("bleu", "chrf", "bertscore", "cosine", "sescore", "rated")
SUMS = ("gauge", "gauge-rated")
NLI = ("nli", "nli-robust")  # which take ten times as long, on some of the sets
WITH_NLI = ("WMT21", "TED", "BAGEL", "SFHOT")
PARTS = {"bertscore P": "precision", "bertscore R": "recall"}
BOTH = "0.7*bertscore + 0.3*sescore"
EXPERTS = {  # name -> folder, every so many-th item
    "WMT21": ("wmt21-mqm-zh-en", 1),
    "TED": ("ted-mqm-zh-en", 1),
    "WMT23": ("wmt23-he-en-mtme", 2),
    "WMT22": ("wmt22-gemba-zh-en", 5),
}
HUMANS = ("refA", "refB")  # `ref-A` and `ref-B` in some sets
PROTOCOLS: dict[str, dict[str, Any]] = {
    "all segments": {"level": "segment", "stats": ["kendall_b"]},
    "by item": {"level": "item", "stats": ["kendall_b"]},
    "equation 3": {"level": "segment", "stats": ["wmt_kendall_like"], "threshold": 0.0},
    "systems: SPA": {"level": "system", "stats": ["soft_pairwise_accuracy"]},
}
OTHERS = {  # name -> folder, criterion, protocols
    "BAGEL": ("bagel", "all", ("all segments",)),
    "SFHOT": ("sfhot", "all", ("all segments",)),
    "WebNLG": ("webnlg2020-humaneval", "all", ("all segments", "by item", "equation 3", "systems: SPA")),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", default=",".join([*EXPERTS, *OTHERS]))
    parser.add_argument("--metrics", help="some of the metrics, with commas; `bertscore` must be one of them")
    parser.add_argument("--cache", help="file that keeps the scores")
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--dtype", default="float32", help="precision of models")
    given = parser.parse_args()
    runtime = ng.Runtime(cache=given.cache, dtype=given.dtype)
    for name in given.sets.split(","):
        if name in EXPERTS:
            dataset, criterion, protocols = experts(given.data, *EXPERTS[name]), "mqm", tuple(PROTOCOLS)
        else:
            folder, criterion, protocols = OTHERS[name]
            dataset = ng.read(given.data / folder / "segments.jsonl.gz")
        print(f"\n{name}, {len(dataset.segments):,} outputs:\n", flush=True)
        every = [*METRICS, *SUMS, *(PARTS if name in EXPERTS else ()), *(NLI if name in WITH_NLI else ()), BOTH, LENGTH]
        metrics = [one for one in every if not given.metrics or one in given.metrics.split(",")]
        table(dataset, metrics, criterion, protocols, given.draws, runtime)


def experts(data: Path, folder: str, every: int) -> ng.Dataset:
    """Judged outputs of machines, each with the first reference alone; of TED the other one is a poor translation."""
    found = ng.read(data / folder if folder.endswith("mtme") else data / folder / "segments.jsonl.gz")
    rated = [s for s in found.segments if s.human and str(s.system).replace("-", "") not in HUMANS]
    kept = set(list(dict.fromkeys(s.item for s in rated))[::every])
    return ng.Dataset(tuple(replace(s, references=s.references[:1]) for s in rated if s.item in kept), folder)


def table(
    dataset: ng.Dataset,
    metrics: Sequence[str],
    criterion: str,
    protocols: Sequence[str],
    draws: int,
    runtime: ng.Runtime,
) -> None:
    """A row a metric, a column a protocol."""
    columns = [measured(dataset, metrics, criterion, PROTOCOLS[name], draws, runtime) for name in protocols]
    print(f"| metric | {' | '.join(protocols)} |\n|---|{'---:|' * len(protocols)}")
    for metric in metrics:
        print(f"| {'length' if metric == LENGTH else metric} | {' | '.join(c[metric] for c in columns)} |", flush=True)


def measured(
    dataset: ng.Dataset,
    metrics: Sequence[str],
    criterion: str,
    protocol: Mapping[str, Any],
    draws: int,
    runtime: ng.Runtime,
) -> dict[str, str]:
    """Metric -> its number, and how it stands to BERTScore."""
    own = [metric for metric in metrics if metric not in PARTS]
    others = {}
    if len(own) < len(metrics):
        parts = ng.score(dataset, metrics="bertscore", runtime=runtime)["bertscore"].parts
        others = {name: parts[part] for name, part in PARTS.items()}
    criteria = sorted({key for s in dataset for key in s.human}) if criterion == "all" else [criterion]
    values: dict[str, list[float]] = {metric: [] for metric in metrics}
    signs: dict[str, list[int]] = {metric: [] for metric in metrics}
    for one in criteria:
        rows = ng.meta_evaluate(
            dataset, own, one, **protocol, scores=others, baseline="bertscore", test="auto", alternative="two-sided",
            draws=draws, intervals="none", runtime=runtime,
        ).rows  # fmt: skip
        for row in (row for row in rows if row["group"] == "mean" or not any(r["group"] == "mean" for r in rows)):
            if row.get("against") is None:
                values[row["metric"]].append(row["value"])
            else:
                signs[row["metric"]].append(int(np.sign(row["delta"])) if row["p_adjusted"] < 0.05 else 0)
    return {metric: f"{np.mean(values[metric]):.3f}{_mark(signs[metric])}" for metric in metrics}


def _mark(signs: Sequence[int]) -> str:
    """Above and below BERTScore; of several criteria, in how many."""
    if len(signs) < 2:
        return {1: "*", -1: "-"}.get(sum(signs), "")
    return f" ({sum(s > 0 for s in signs)}, {sum(s < 0 for s in signs)})"


if __name__ == "__main__":
    main()
