"""Every metric that runs without a download, held against people on five data sets.

    python recipes/bench/bench.py DATA --cache scores.sqlite > tables.md

DATA: a folder with wmt15-da-seg, wmt16-da-seg, summeval, bagel and webnlg2020-humaneval, and coco-val-refs. `--sets`
and `--metrics` take some of them, `--cache FILE` keeps the scores of models, so that a second run takes up the first.

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
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import isnan, nan
from pathlib import Path

import nlgauge as ng

SETS = {  # name -> folder, criterion, level
    "WMT15": ("wmt15-da-seg", "da_z", "segment"),
    "WMT16": ("wmt16-da-seg", "da_z", "segment"),
    "SummEval": ("summeval", "all", "item"),
    "BAGEL": ("bagel", "all", "segment"),
    "WebNLG": ("webnlg2020-humaneval", "all", "segment"),
}
SYSTEMS = ("SummEval", "WebNLG")  # sets that name their systems
CAPTIONS = "coco-val-refs"
ASIDE = ("qmetric", "matching")  # one needs a choice of its own, the other is a family of those that are here


class Found:
    """What came out for one set and level."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, str], list[float]] = defaultdict(list)  # metric, statistic -> of pairs or criteria
        self.best: dict[str, list[bool]] = defaultdict(list)  # metric -> whether it is among the best of each

    def mean(self, metric: str, stat: str) -> float:
        values = self.values.get((metric, stat), [])
        return sum(values) / len(values) if values else nan


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", default=",".join([*SETS, "COCO"]), help="some of the sets, with commas")
    parser.add_argument("--metrics", help="some of the metrics, with blanks; specifications with options, too")
    parser.add_argument("--cache", help="file that keeps the scores of models")
    given = parser.parse_args()
    metrics = given.metrics.split() if given.metrics else bench()
    asked = given.sets.split(",")
    with tempfile.TemporaryDirectory() as folder:
        runtime = ng.Runtime(cache=given.cache or Path(folder, "scores.sqlite"))
        for level, names in (
            ("segment", [s for s in asked if s in SETS]),
            ("system", [s for s in asked if s in SYSTEMS]),
        ):
            found = {name: correlations(given.data, name, metrics, level, runtime) for name in names}
            if found:
                print(f"\n## Level {level}\n")
                for stat in ("pearson", "kendall_b"):
                    show(stat, metrics, found)
        if "COCO" in asked:
            print("\n## Captions\n")
            captions(given.data, metrics, runtime)


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


def correlations(data: Path, name: str, metrics: Sequence[str], level: str, runtime: ng.Runtime) -> Found:
    folder, criterion, own = SETS[name]
    dataset = ng.read(data / folder / "segments.jsonl.gz")
    asked = usable(metrics, list(dataset))
    criteria = sorted({key for segment in dataset for key in segment.human}) if criterion == "all" else [criterion]
    found = Found()
    for stat, test in (("pearson", "auto"), ("kendall_b", "none")):
        print(f"{name}, {level}: {stat}", file=sys.stderr)
        at = own if level == "segment" else level
        rows = ng.meta_evaluate(
            dataset, asked, criteria, at, stat, references="mean", intervals="none", test=test, runtime=runtime
        ).rows
        for row in rows:
            if row["group"] == "mean" or "against" in row:
                continue
            found.values[row["metric"], stat].append(row["value"])
            if test != "none":
                found.best[row["metric"]].append(row["not_outperformed"])
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


def captions(data: Path, metrics: Sequence[str], runtime: ng.Runtime) -> None:
    """The share of images of which a person's caption scores above the model's."""
    images = [s for s in ng.read(data / CAPTIONS / "segments.jsonl.gz") if len(s.references) > 1]
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
