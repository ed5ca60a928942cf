"""Several references: the first alone, the best, their mean, or all at once? Agreement with people by each policy.

    python recipes/studies/references.py DATA [--sets bagel,summeval] [--metrics chrf,bleu] > tables.md

DATA: a folder with summeval (11 references), bagel (2) and webnlg2020-humaneval (2 to 4). Kendall's tau-b, mean over
criteria: of summaries by text, elsewhere of all segments. `own` is what the metric does by itself with all of them. Ten
minutes of processor time.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import nlgauge as ng

LEVELS = {"summeval": "item", "bagel": "segment", "webnlg2020-humaneval": "segment"}
METRICS = ("bleu", "chrf", "rougeL", "meteor", "bertscore", "cosine", "sescore")
POLICIES = ("first", "mean", "best", "own")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", default=",".join(LEVELS))
    parser.add_argument("--metrics", default=",".join(METRICS))
    parser.add_argument("--items", type=int, help="the first so many items of a set")
    parser.add_argument("--dtype", default="float32", help="precision of models")
    given = parser.parse_args()
    runtime, metrics = ng.Runtime(dtype=given.dtype), given.metrics.split(",")
    for name in given.sets.split(","):
        dataset = ng.read(given.data / name / "segments.jsonl.gz")
        kept = set(list(dict.fromkeys(s.item for s in dataset.segments))[: given.items])
        several = [s for s in dataset.segments if s.item in kept and len(s.references) > 1]
        dataset = replace(dataset, segments=tuple(several))
        held: dict[str, np.ndarray] = {}
        for policy in POLICIES:
            found = ng.meta_evaluate(
                dataset, metrics, "all", stats=["kendall_b"], references=policy, intervals="none", runtime=runtime
            )
            held |= {f"{metric}, {policy}": found.held.scores[metric] for metric in metrics}
        show(name, dataset, held, metrics)


def show(name: str, dataset: ng.Dataset, held: dict[str, np.ndarray], metrics: list[str]) -> None:
    counts = [len(s.references) for s in dataset.segments]
    head = [*POLICIES, "mean ahead of best", "best ahead of mean"]
    for metric in metrics:
        scores = {policy: held[f"{metric}, {policy}"] for policy in POLICIES}
        asked: dict[str, Any] = {"criterion": "all", "stats": ["kendall_b"], "level": LEVELS[name], "intervals": "none"}
        found = of_means(ng.meta_evaluate(dataset, scores=scores, test="none", **asked).rows)
        values = {(row["metric"], row["criterion"]): row["value"] for row in found}
        both = {policy: scores[policy] for policy in ("mean", "best")}
        tests = of_means(ng.meta_evaluate(dataset, scores=both, test="auto", **asked).rows)
        p = {(r["metric"], r["against"], r["criterion"]): r["p"] for r in tests if r.get("against") is not None}
        criteria = list(dict.fromkeys(criterion for _, criterion in values))
        if metric == metrics[0]:
            print(f"{name}: {len(counts)} outputs, {np.mean(counts):.1f} references, {len(criteria)} criteria\n")
            print(f"| metric | {' | '.join(head)} |\n|---|{'---:|' * len(head)}")
        cells = [f"{np.mean([values[policy, c] for c in criteria]):.3f}" for policy in POLICIES]
        cells += [str(sum(p[*pair, c] < 0.05 for c in criteria)) for pair in (("mean", "best"), ("best", "mean"))]
        print(f"| {metric} | {' | '.join(cells)} |", flush=True)
    print(flush=True)


def of_means(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Rows of the mean over groups, of single criteria."""
    return [row for row in rows if row["group"] == "mean" and row["criterion"] != "mean"]


if __name__ == "__main__":
    main()
