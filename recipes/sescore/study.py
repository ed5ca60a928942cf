"""What training on our own errors gains, held against people.

    python recipes/sescore/study.py DATA [NAME=METRIC ...] > tables.md

DATA: a folder with wmt15-da-seg, wmt16-da-seg, summeval, bagel, webnlg2020-humaneval, wmt21-mqm-zh-en and
ted-mqm-zh-en. chrF, BERTScore and the cosine
of mean vectors are rated, `sescore` with the shipped head, all over the same encoder, and what is named besides, as in
`frozen=sescore:model=frozen.safetensors`. `--cache FILE` keeps the scores.

Then segments and systems of texts with expert judgements (MQM), zh-en: newstest2021, the paper's test set, in part, and
TED talks, its development set.

WMT: segments of a language pair, mean over pairs. SummEval: summaries of a text, mean over texts, then over four
criteria. BAGEL and WebNLG: segments, mean over three and five criteria. Each metric combines several references by its
own default.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import nlgauge as ng
from nlgauge.core.arrays import Array

SETS = {  # name -> folder, criterion, level
    "WMT15": ("wmt15-da-seg", "da_z", "segment"),
    "WMT16": ("wmt16-da-seg", "da_z", "segment"),
    "SummEval": ("summeval", "all", "item"),
    "BAGEL": ("bagel", "all", "segment"),
    "WebNLG": ("webnlg2020-humaneval", "all", "segment"),
}
EXPERTS = {"WMT21": "wmt21-mqm-zh-en", "TED": "ted-mqm-zh-en"}  # name -> folder
LEVELS = {"segment": ("kendall_b", "pearson"), "system": ("soft_pairwise_accuracy", "pearson")}
METRICS = ("chrf", "bertscore", "cosine", "sescore")
STATS = ("kendall_b", "pearson")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("others", nargs="*", metavar="NAME=METRIC")
    parser.add_argument("--sets", default=",".join([*SETS, *EXPERTS]), help="some of the data sets, with commas")
    parser.add_argument("--alone", action="store_true", help="only what is named")
    parser.add_argument("--cache", help="file that keeps the scores")
    parser.add_argument("--dtype", default="float32")
    given = parser.parse_args()
    metrics = {} if given.alone else dict(zip(METRICS, METRICS, strict=True))
    for other in given.others:
        name, _, spec = other.partition("=")
        metrics[name] = spec
    with tempfile.TemporaryDirectory() as folder:
        runtime = ng.Runtime(cache=given.cache or Path(folder, "scores.sqlite"), dtype=given.dtype)
        sets = given.sets.split(",")
        if rated := [name for name in SETS if name in sets]:
            segments(given.data, metrics, rated, runtime)
        if judged := [name for name in EXPERTS if name in sets]:
            systems(given.data, metrics, judged, runtime)


def segments(data: Path, metrics: Mapping[str, str], sets: list[str], runtime: ng.Runtime) -> None:
    """Kendall and Pearson on five sets."""
    found = {name: agreement(data, name, list(metrics.values()), runtime) for name in sets}
    for stat in STATS:
        print(f"\n{stat}:\n\n| metric | {' | '.join(sets)} | mean of WMT | mean |\n|---|{'---:|' * (len(sets) + 2)}")
        for name, spec in metrics.items():
            values = [found[part][spec, stat] for part in sets]
            wmt = [value for part, value in zip(sets, values, strict=True) if part.startswith("WMT")]
            means = [sum(part) / len(part) if part else float("nan") for part in (wmt, values)]
            print(f"| {name} | {' | '.join(f'{value:.3f}' for value in [*values, *means])} |")


def systems(data: Path, metrics: Mapping[str, str], sets: list[str], runtime: ng.Runtime) -> None:
    """Segments and systems of the sets that experts judged."""
    found: dict[str, dict[str, float]] = {name: {} for name in metrics}
    for part in sets:
        dataset = experts(data, part)
        scores = ng.score(dataset, metrics=list(metrics.values()), runtime=runtime)
        for name, spec in metrics.items():
            found[name] |= levels(dataset, scores[spec].values)
    columns = list(next(iter(found.values())))
    print(f"\nMQM:\n\n| metric | {' | '.join(columns)} |\n|---|{'---:|' * len(columns)}")
    for name, values in found.items():
        print(f"| {name} | {' | '.join(f'{value:.3f}' for value in values.values())} |")


def experts(data: Path, name: str) -> ng.Dataset:
    """Outputs of machines, each with the first reference alone; of the TED talks the other is a poor translation."""
    found = ng.read(data / EXPERTS[name] / "segments.jsonl.gz")
    machines = (s for s in found.segments if not str(s.system).startswith("ref-"))
    return ng.Dataset(tuple(replace(s, references=s.references[:1]) for s in machines), name)


def levels(dataset: ng.Dataset, scores: Array) -> dict[str, float]:
    """Set, level and statistic -> what scores of all segments reach."""
    found = {}
    for level, stats in LEVELS.items():
        rows = ng.meta_evaluate(
            dataset, scores={"metric": scores}, criterion="mqm", level=level, stats=list(stats), intervals="none"
        ).rows
        found |= {f"{dataset.name}, {level}: {row['stat']}": row["value"] for row in rows}
    return found


def agreement(data: Path, name: str, metrics: list[str], runtime: ng.Runtime) -> dict[tuple[str, str], float]:
    """Metric and statistic -> the mean over groups and criteria."""
    folder, criterion, level = SETS[name]
    dataset = ng.read(data / folder / "segments.jsonl.gz")
    criteria = sorted({key for segment in dataset for key in segment.human}) if criterion == "all" else [criterion]
    found: dict[tuple[str, str], list[float]] = {}
    for one in criteria:
        rows = ng.meta_evaluate(dataset, metrics, one, level, list(STATS), intervals="none", runtime=runtime).rows
        grouped = any(row["group"] == "mean" for row in rows)
        for row in rows:
            if row["group"] == "mean" or not grouped:
                found.setdefault((row["metric"], row["stat"]), []).append(row["value"])
    return {key: sum(values) / len(values) for key, values in found.items()}


if __name__ == "__main__":
    main()
