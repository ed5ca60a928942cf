"""MENLI's metrics beyond translation and single attacks: facts, data to text, number and negation at once.

    python recipes/studies/menli.py DATA [--only NAME] [--cache FILE]

DATA: a folder with rank19, qags-cnn, bagel and wmt16-da-seg. `--only` prints one of the tables: facts, text or complex.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import nlgauge as ng
from nlgauge.core import Array

HEADS = ("nli", "nli-robust")
UNTRAINED = ("chrf", "bertscore", "cosine")
Probabilities = dict[str, Array]


def asked(head: str, dataset: ng.Dataset, runtime: ng.Runtime) -> dict[str, Probabilities]:
    """Direction -> e, n and c of every segment, shape (n,)."""
    found = {}
    for direction in ("forward", "backward"):
        found[direction] = probabilities(f"{head}:direction={direction}", dataset, runtime)
    return found


def probabilities(spec: str, dataset: ng.Dataset, runtime: ng.Runtime) -> Probabilities:
    return dict(scored(dataset, [spec], runtime)[spec].parts)


def facts(data: Path, runtime: ng.Runtime) -> None:
    """Rank19 (accuracy) and QAGS (Pearson), without references: the source entails or contradicts the text."""
    columns: dict[str, dict[str, Any]] = {}
    for name, asks in (("rank19", {"preset": "rank19"}), ("qags-cnn", {"preset": "qags"})):
        dataset = ng.read(data / name / "segments.jsonl.gz")
        with_source = replace(dataset, segments=tuple(replace(s, references=(s.source,)) for s in dataset.segments))
        scores = {metric: found.values for metric, found in scored(with_source, UNTRAINED, runtime).items()}
        for head in HEADS:
            p = probabilities(f"{head}:anchor=source,direction=forward", dataset, runtime)
            scores |= {f"{head}, e": p["e"], f"{head}, -c": -p["c"], f"{head}, e-c": p["e"] - p["c"]}
        found = ng.meta_evaluate(dataset, scores=scores, criterion=None, **asks, test="none")
        columns[name] = {r["metric"]: cell(r) for r in found.rows}
    table("Facts, compared with the source", ["metric", "Rank19: accuracy", "QAGS: Pearson"])
    for metric in columns["rank19"]:
        line(metric, [columns["rank19"][metric], columns["qags-cnn"][metric]])


def text(data: Path, runtime: ng.Runtime) -> None:
    """BAGEL: Spearman over all outputs, by criterion; references are averaged."""
    bagel = ng.read(data / "bagel" / "segments.jsonl.gz")
    plain = {f"{m}:references=mean": m for m in ("bertscore", "cosine", "moverscore")}
    scores = {plain[m]: found.values for m, found in scored(bagel, list(plain), runtime).items()}
    for head in HEADS:
        p = asked(head, bagel, runtime)
        scores |= {f"{head} e {way}": found["e"] for way, found in p.items()}
        scores[f"{head} e both"] = (p["forward"]["e"] + p["backward"]["e"]) / 2
        scores[f"0.2 {head} + 0.8 bertscore"] = mixed(scores[f"{head} e both"], scores["bertscore"])
    by_criterion("BAGEL", bagel, scores, stats=["spearman"])


def complex_attack(data: Path, runtime: ng.Runtime) -> None:
    """Number and negation at once, on references of WMT16; light paraphrases."""
    dataset = ng.read(data / "wmt16-da-seg" / "segments.jsonl.gz")
    attacks = ("number_error", "negation", "number_and_negation")
    suite = ng.suite("menli", dataset, perturbations=attacks, limit=400)
    pairs = [p for p in suite.pairs if p.setup == "ref"]
    both = {p.id.partition("/")[0] for p in pairs if p.phenomenon == attacks[2]}  # texts that all three apply to
    suite = replace(suite, pairs=tuple(p for p in pairs if p.id.partition("/")[0] in both))
    metrics = [*UNTRAINED, *(f"{head}:direction=both" for head in HEADS)]
    rows = {(r["metric"], r["phenomenon"]): r for r in ng.audit(suite, metrics, runtime=runtime).rows}
    table("WMT16, accuracy", ["metric", *(f"{a} ({rows[metrics[0], a]['n']})" for a in attacks)])
    for metric in metrics:
        line(short(metric), [cell(rows[metric, attack], "accuracy") for attack in attacks])


def scored(dataset: ng.Dataset, metrics: Sequence[str], runtime: ng.Runtime) -> Mapping[str, ng.Scores]:
    return ng.score(dataset, metrics=list(metrics), runtime=runtime)


def mixed(nli: Array, other: Array, weight: float = 0.2) -> Array:
    """The weighted sum, each scaled by its lowest and highest value."""
    scaled = [(values - values.min()) / (values.max() - values.min()) for values in (nli, other)]
    return weight * scaled[0] + (1 - weight) * scaled[1]


def by_criterion(title: str, dataset: ng.Dataset, scores: Mapping[str, Array], **asks: Any) -> None:
    """A table of correlations with each criterion, and their mean."""
    found = ng.meta_evaluate(dataset, scores=scores, criterion="all", draws=200, **asks)
    by = {(r["metric"], r["criterion"]): r for r in found.rows if r["group"] == "mean"}
    criteria = [c for c in dict.fromkeys(c for _, c in by) if c != "mean"]
    table(title, ["metric", *criteria, "mean"])
    for metric in scores:
        own = [by[metric, c] for c in criteria]
        line(metric, [*map(cell, own), f"{np.mean([r['value'] for r in own]):.3f}"])


def short(spec: str) -> str:
    return spec.partition(":")[0]


def cell(row: Mapping[str, Any], value: str = "value") -> str:
    shown = f"{row[value]:.3f}"
    return shown if np.isnan(row["low"]) else f"{shown} [{row['low']:.2f}, {row['high']:.2f}]"


def table(title: str, columns: Sequence[str]) -> None:
    print(f"\n{title}:\n\n| {' | '.join(columns)} |\n|---|{'---:|' * (len(columns) - 1)}")


def line(name: str, cells: Sequence[str]) -> None:
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


TABLES = {"facts": facts, "text": text, "complex": complex_attack}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", choices=TABLES)
    parser.add_argument("--cache", help="file that keeps the scores")
    given = parser.parse_args()
    for name, show in TABLES.items():
        if given.only in (None, name):
            show(given.data, ng.Runtime(cache=given.cache))


if __name__ == "__main__":
    main()
