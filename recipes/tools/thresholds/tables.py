"""The tables of docs/studies/thresholds.md: calibration by bins and by sets, and the published curves beside ours.

    python recipes/tools/thresholds/tables.py DATA --kept scores/ > tables.md

DATA and the folder of scores are those of translation.py, which is run first. `ted-mqm-en-de` is not among the sets
that the shipped table was fitted on: another language, which shows what the table is worth there.

The published curves are those of Kocmi et al. (2024), "Navigating the Metrics Maze", as the tool of the authors
computes them: the share is a / (1 + exp(-b difference)).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from fit import HeldOutPairs, SystemPairs, fit_curve, held_out, rated_sets, system_pairs
from translation import BATCHES, SETS, scored

from nlgauge.scoring.thresholds import read_thresholds

PUBLISHED = {"bleu": (0.8833, 0.9664), "chrf": (0.93, 1.1143)}  # a, b; kocmitom/MT-Thresholds, python-tool
OTHER = {"ted-mqm-en-de": ("ted-mqm-en-de/segments.jsonl.gz", ["ref-A"])}
AT = (0.5, 1.0, 2.0, 3.0, 5.0, 10.0)


def published(metric: str, difference: np.ndarray) -> np.ndarray:
    a, b = PUBLISHED[metric]
    return a / (1 + np.exp(-b * difference))


def as_said(pairs: SystemPairs, predicted: np.ndarray) -> HeldOutPairs:
    """What a curve that never saw the pairs says of them."""
    _, number = np.unique(np.stack([pairs.first, pairs.second]), axis=1, return_inverse=True)
    return HeldOutPairs(predicted, pairs.agreed, pairs.weight, np.ravel(number))


def part(pairs: SystemPairs, group: int) -> SystemPairs:
    return pairs.weighted(np.where(pairs.group == group, pairs.weight, 0.0))


def mean(values: np.ndarray, pairs: SystemPairs) -> float:
    return float(np.average(values, weights=pairs.weight))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--kept", type=Path, required=True)
    args = parser.parse_args()
    names, items = BATCHES[0]
    held = [scored(args.data, name, names.split(), items, args.kept) for name in SETS]
    SETS.update(OTHER)
    other = scored(args.data, "ted-mqm-en-de", list(PUBLISHED), None, args.kept)
    shipped = {one.spec: one for one in read_thresholds("shipped").metrics}
    for metric in PUBLISHED:
        pairs = system_pairs(held, [rated_sets(one) for one in held], metric)
        curve = shipped[metric].curve
        left_out = held_out(pairs, curve.form)
        print(f"\n## {metric}: systems left out\n\n| predicted | people agreed | pairs |\n|---:|---:|---:|")
        for predicted, agreed, n in left_out.bins():
            print(f"| {predicted:.2f} | {agreed:.2f} | {n:.0f} |")
        theirs = as_said(pairs, published(metric, pairs.difference))
        print(f"\nECE {left_out.calibration_error():.3f}, log loss {left_out.log_loss:.3f}")
        print(
            f"published curve on the same pairs: ECE {theirs.calibration_error():.3f}, log loss {theirs.log_loss:.3f}"
        )
        print(f"\n## {metric}: sets left out\n\n| set | pairs | people agreed | curve of the others | published |")
        print("|---|---:|---:|---:|---:|")
        for group, name in enumerate(list(SETS)[: len(held)]):
            own = part(pairs, group)
            rest = pairs.weighted(np.where(pairs.group == group, 0.0, pairs.weight))
            ours = fit_curve(rest, curve.form, whole=pairs).share(own.difference, own.n)
            said = [mean(values, own) for values in (own.agreed, ours, published(metric, own.difference))]
            print(f"| {name} | {own.n_pairs} |", " | ".join(f"{value:.2f}" for value in said), "|")
        own = system_pairs([other], [rated_sets(other)], metric)
        said = [own.agreed, curve.share(own.difference, own.n), published(metric, own.difference)]
        print(f"| ted-mqm-en-de | {own.n_pairs} |", " | ".join(f"{mean(v, own):.2f}" for v in said), "|")
        print(f"\n## {metric}: the curves\n\n| difference | here | published |\n|---:|---:|---:|")
        for at in AT:
            found = shipped[metric].agreement(at, 500)
            if found is not None:
                print(f"| {at:g} | {found[0]:.2f} [{found[1]:.2f}, {found[2]:.2f}] | {published(metric, at):.2f} |")


if __name__ == "__main__":
    main()
