"""Every metric that runs without a download, held against people on five data sets.

    python recipes/studies/bench.py DATA --cache scores.sqlite > tables.md

DATA: a folder with wmt15-da-seg, wmt16-da-seg, summeval, bagel and webnlg2020-humaneval, and coco-val-refs. `--sets`
and `--metrics` take some of them, `--cache FILE` keeps the scores of models, so that a second run takes up the first.
`--items N` takes N items of a set, with all their outputs: every k-th, so that the sample is the same in every run.

WMT: segments of a language pair, then the mean over pairs. SummEval: summaries of one text, mean over texts. BAGEL and
WebNLG: all segments. Every metric scores against one reference at a time, and the mean over references counts. Of
several criteria the mean is shown. A metric is among the best of a language pair or criterion if no other metric has a
significantly higher Pearson correlation there (p < 0.05, permutation, not adjusted).

COCO has no ratings. There a metric is asked whether it prefers the first human caption to a model's, with the other
four as references.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import isnan, nan
from pathlib import Path
from typing import Any

import nlgauge as ng

SETS = {  # name -> folder, criterion, level
    "WMT15": ("wmt15-da-seg", "da_z", "segment"),
    "WMT16": ("wmt16-da-seg", "da_z", "segment"),
    "SummEval": ("summeval", "all", "item"),
    "BAGEL": ("bagel", "all", "segment"),
    "WebNLG": ("webnlg2020-humaneval", "all", "segment"),
}
STATS = {"pearson": "auto", "kendall_b": "none"}  # statistic -> its test between metrics
SYSTEMS = ("SummEval", "WebNLG")  # sets that name their systems
CAPTIONS = "coco-val-refs"
ASIDE = ("qmetric", "matching")  # one needs a choice of its own, the other is a family of those that are here


class Found:
    """What came out for one set and level."""

    def __init__(self, dataset: ng.Dataset) -> None:
        items, systems = {s.item for s in dataset}, {s.system for s in dataset} - {None}
        self.size = f"{len(dataset):,} outputs, {len(items):,} items" + (f", {len(systems)} systems" * bool(systems))
        self.values: dict[tuple[str, str], list[float]] = defaultdict(list)  # metric, statistic -> of pairs or criteria
        self.best: dict[str, list[bool]] = defaultdict(list)  # metric -> whether it is among the best of each

    def add(self, rows: Iterable[Mapping[str, Any]], stat: str) -> None:
        for row in rows:
            if row["group"] == "mean" or row.get("against") is not None:
                continue
            self.values[row["metric"], stat].append(row["value"])
            if STATS[stat] != "none":
                self.best[row["metric"]].append(row["not_outperformed"])

    def mean(self, metric: str, stat: str) -> float:
        values = self.values.get((metric, stat), [])
        return sum(values) / len(values) if values else nan


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", default=",".join([*SETS, "COCO"]), help="some of the sets, with commas")
    parser.add_argument("--metrics", help="some of the metrics, with blanks; specifications with options, too")
    parser.add_argument("--items", type=int, help="at most so many items of each set or language pair")
    parser.add_argument("--cache", help="file that keeps the scores of models")
    given = parser.parse_args()
    metrics = given.metrics.split() if given.metrics else bench()
    asked = given.sets.split(",")
    with tempfile.TemporaryDirectory() as folder:
        runtime = ng.Runtime(cache=given.cache or Path(folder, "scores.sqlite"))
        held: dict[str, dict[str, Found]] = {"segment": {}, "system": {}}
        for name in (s for s in asked if s in SETS):
            for level, found in correlations(given.data, name, metrics, given.items, runtime).items():
                held[level][name] = found
        for level, sets in held.items():
            if sets:
                print(f"\n## Level {level}\n")
                print("; ".join(f"{name}: {found.size}" for name, found in sets.items()), end="\n\n")
                for stat in STATS:
                    show(stat, metrics, sets)
        if "COCO" in asked:
            print("\n## Captions\n")
            captions(given.data, metrics, given.items, runtime)


def bench() -> list[str]:
    """The metrics that need no download, no program and no file of the user."""
    from nlgauge.cli.listing import runs_with

    return [
        name
        for name in ng.list_metrics()
        if runs_with(name) in ("no model", "the embedded models") and name not in ASIDE
    ]


def usable(metrics: Iterable[str], segments: Sequence[ng.Segment]) -> list[str]:
    """Those whose needs every segment meets."""
    return [spec for spec in metrics if all(getattr(s, need) for need in ng.metric(spec).info.needs for s in segments)]


def sample(dataset: ng.Dataset, items: int | None) -> ng.Dataset:
    """Every k-th item of each group with all its outputs, so that at most `items` are left of each."""
    by_group: dict[str | None, list[str]] = defaultdict(list)
    for segment in dataset:
        if segment.item not in by_group[segment.group]:
            by_group[segment.group].append(segment.item)
    kept = {
        (group, item) for group, known in by_group.items() for item in known[:: -(-len(known) // (items or len(known)))]
    }
    return ng.Dataset(tuple(segment for segment in dataset if (segment.group, segment.item) in kept))


def correlations(
    data: Path, name: str, metrics: Sequence[str], items: int | None, runtime: ng.Runtime
) -> dict[str, Found]:
    """Level -> what came out; every text is scored once for all levels and statistics."""
    folder, criterion, own = SETS[name]
    dataset = sample(ng.read(data / folder / "segments.jsonl.gz"), items)
    asked = usable(metrics, list(dataset))
    criteria = sorted({key for segment in dataset for key in segment.human}) if criterion == "all" else [criterion]
    scored: dict[str, Any] = {"metrics": asked, "references": "mean", "runtime": runtime}
    found = {"segment": Found(dataset)} | ({"system": Found(dataset)} if name in SYSTEMS else {})
    for level, part in found.items():
        for stat, test in STATS.items():
            print(f"{name}, {level}: {stat}", file=sys.stderr)
            at = own if level == "segment" else level
            done = ng.meta_evaluate(
                dataset, criterion=criteria, level=at, stats=stat, intervals="none", test=test, **scored
            )
            scored = {"scores": done.held.scores}
            part.add(done.rows, stat)
    return found


def show(stat: str, metrics: Sequence[str], found: dict[str, Found]) -> None:
    """A table with a row per metric, the highest mean over the sets first."""
    rows = [(spec, [part.mean(spec, stat) for part in found.values()]) for spec in metrics]
    rows = [(spec, values) for spec, values in rows if any(not isnan(v) for v in values)]
    whole = [row for row in rows if not any(map(isnan, row[1]))]
    part = [row for row in rows if any(map(isnan, row[1]))]
    print(f"{stat}:\n\n| metric | {' | '.join(found)} | mean |\n|---|{'---:|' * (len(found) + 1)}")
    for spec, values in [*sorted(whole, key=lambda row: -sum(row[1])), *part]:
        cells = []
        for value, one in zip(values, found.values(), strict=True):
            best = one.best.get(spec, [])
            mark = f" ({sum(best)}/{len(best)})" if stat == "pearson" and any(best) else ""
            cells.append("" if isnan(value) else f"{value:.3f}{mark}")
        mean = "" if any(map(isnan, values)) else f"{sum(values) / len(values):.3f}"
        print(f"| {spec} | {' | '.join([*cells, mean])} |")
    print()


def captions(data: Path, metrics: Sequence[str], items: int | None, runtime: ng.Runtime) -> None:
    """The share of images of which a person's caption scores above the model's."""
    images = [s for s in sample(ng.read(data / CAPTIONS / "segments.jsonl.gz"), items) if len(s.references) > 1]
    model = [replace(s, id=f"{s.id}|model", references=s.references[1:]) for s in images]
    person = [replace(s, id=f"{s.id}|person", hypothesis=s.references[0], references=s.references[1:]) for s in images]
    asked = usable(metrics, model)
    print("| metric | prefers the person's caption | ties |\n|---|---:|---:|")
    shares = []
    for spec, scores in ng.score(ng.Dataset((*model, *person)), metrics=asked, runtime=runtime).items():
        values = scores.values if scores.higher_is_better else -scores.values
        theirs, ours = values[: len(images)], values[len(images) :]
        shares.append((spec, float((ours > theirs).mean()), float((ours == theirs).mean())))
    for spec, wins, ties in sorted(shares, key=lambda row: -row[1]):
        print(f"| {spec} | {wins:.3f} | {ties:.3f} |")


if __name__ == "__main__":
    main()
