"""What training on our own errors gains, held against people.

    python recipes/sescore/study.py DATA [NAME=METRIC ...] > tables.md

DATA: a folder with wmt15-da-seg, wmt16-da-seg, summeval, bagel and webnlg2020-humaneval. chrF, BERTScore and the cosine
of mean vectors are rated, `sescore` with the shipped head, all over the same encoder, and what is named besides, as in
`frozen=sescore:model=frozen.safetensors`. `--cache FILE` keeps the scores.

WMT: segments of a language pair, mean over pairs. SummEval: summaries of a text, mean over texts, then over four
criteria; the eleven references folded by the mean. BAGEL and WebNLG: segments, mean over three and five criteria.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import nlgauge as ng

SETS = {  # name -> folder, criterion, level
    "WMT15": ("wmt15-da-seg", "da_z", "segment"),
    "WMT16": ("wmt16-da-seg", "da_z", "segment"),
    "SummEval": ("summeval", "all", "item"),
    "BAGEL": ("bagel", "all", "segment"),
    "WebNLG": ("webnlg2020-humaneval", "all", "segment"),
}
METRICS = ("chrf", "bertscore", "cosine", "sescore")
STATS = ("kendall_b", "pearson")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("others", nargs="*", metavar="NAME=METRIC")
    parser.add_argument("--sets", default=",".join(SETS), help="some of the data sets, with commas")
    parser.add_argument("--alone", action="store_true", help="only what is named")
    parser.add_argument("--cache", help="file that keeps the scores")
    parser.add_argument("--dtype", default="float32")
    given = parser.parse_args()
    metrics = {} if given.alone else dict(zip(METRICS, METRICS, strict=True))
    for other in given.others:
        name, _, spec = other.partition("=")
        metrics[name] = spec
    sets = given.sets.split(",")
    with tempfile.TemporaryDirectory() as folder:
        runtime = ng.Runtime(cache=given.cache or Path(folder, "scores.sqlite"), dtype=given.dtype)
        found = {name: agreement(given.data, name, list(metrics.values()), runtime) for name in sets}
    for stat in STATS:
        print(f"\n{stat}:\n\n| metric | {' | '.join(sets)} | mean of WMT | mean |\n|---|{'---:|' * (len(sets) + 2)}")
        for name, spec in metrics.items():
            values = [found[part][spec, stat] for part in sets]
            wmt = [value for part, value in zip(sets, values, strict=True) if part.startswith("WMT")]
            means = [sum(part) / len(part) if part else float("nan") for part in (wmt, values)]
            print(f"| {name} | {' | '.join(f'{value:.3f}' for value in [*values, *means])} |")


def agreement(data: Path, name: str, metrics: list[str], runtime: ng.Runtime) -> dict[tuple[str, str], float]:
    """Metric and statistic -> the mean over groups and criteria."""
    folder, criterion, level = SETS[name]
    dataset = ng.read(data / folder / "segments.jsonl.gz")
    criteria = sorted({key for segment in dataset for key in segment.human}) if criterion == "all" else [criterion]
    found: dict[tuple[str, str], list[float]] = {}
    for one in criteria:
        rows = ng.meta_evaluate(
            dataset, metrics, one, level, list(STATS), references="mean", intervals="none", runtime=runtime
        ).rows
        grouped = any(row["group"] == "mean" for row in rows)
        for row in rows:
            if row["group"] == "mean" or not grouped:
                found.setdefault((row["metric"], row["stat"]), []).append(row["value"])
    return {key: sum(values) / len(values) for key, values in found.items()}


if __name__ == "__main__":
    main()
