"""Calibrate a head, so that 0, -1 and -5 mean no error, a minor and a severe one.

    python calibrate.py HEAD FIT.jsonl ... --on TEST.jsonl ... [-o OUT.safetensors]

FIT and TEST: triples of `nlgauge synth --severity binary` from sentences that HEAD did not learn from. Every reference
also stands for a copy of itself (severity 0). The curve goes through the median output of FIT at some sums of
severities, made to rise by isotonic regression, and through the low end of the training scale. A curve that rises keeps
medians, so that half of the copies get 0 or more. It is stored in OUT as the metadata `calibration`. The table has the
median, mean and standard deviation of TEST before and after.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence

import numpy as np
from safetensors import safe_open

import nlgauge as ng
from nlgauge.core.arrays import Array
from nlgauge.io import InputFile
from nlgauge.models.regressor import calibrate
from nlgauge.training.examples import Example, read_triples
from nlgauge.training.heads import write_head

BANDS = {0: (0, 0), -1: (-1, -1), -2: (-2, -2), -5: (-5, -5), -10: (-11, -9), -15: (-16, -14), -20: (-21, -19)}
END = -25.0


def examples(paths: Sequence[str]) -> list[Example]:
    """The triples, and every reference as a copy."""
    found = [example for path in paths for example in read_triples(InputFile(path))]
    copies = {example.texts["ref"]: example for example in found}
    return [*found, *(e._replace(texts={**e.texts, "hyp": ref}, score=0.0) for ref, e in copies.items())]


def outputs(head: str, rows: Sequence[Example], runtime: ng.Runtime) -> Array:
    segments = [ng.Segment(f"{i}", row.texts["hyp"], (row.texts["ref"],)) for i, row in enumerate(rows)]
    return ng.metric("sescore", model=head).score(segments, runtime).parts["raw"]


Told = Mapping[int, tuple[int, float, float, float]]


def told(values: Array, severities: Array) -> Told:
    """Sum of severities -> how many triples, and the median, mean and standard deviation of their values."""
    masks = {sum_: (low <= severities) & (severities <= high) for sum_, (low, high) in BANDS.items()}
    return {
        s: (int(m.sum()), float(np.median(values[m])), float(values[m].mean()), float(values[m].std()))
        for s, m in masks.items()
        if m.sum() > 9
    }


def curve(found: Told) -> list[tuple[float, float]]:
    """Points (output, severity) that rise: neighbours in the wrong order become one point, their mean."""
    blocks: list[tuple[float, float, float]] = []  # weight, output, severity
    for severity, (n, median, _, _) in sorted(found.items()):
        blocks.append((n, median, severity))
        while len(blocks) > 1 and blocks[-1][1] <= blocks[-2][1]:
            (n1, x1, y1), (n2, x2, y2) = blocks.pop(), blocks.pop()
            blocks.append((n1 + n2, (n1 * x1 + n2 * x2) / (n1 + n2), (n1 * y1 + n2 * y2) / (n1 + n2)))
    return [(END, END), *((round(x, 2), round(float(y), 2)) for _, x, y in blocks if x > END)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("head")
    parser.add_argument("triples", nargs="+")
    parser.add_argument("--on", nargs="+", required=True)
    parser.add_argument("-o", "--output")
    given = parser.parse_args()
    runtime = ng.Runtime()
    fit, test = examples(given.triples), examples(given.on)
    points = curve(told(outputs(given.head, fit, runtime), np.array([e.score for e in fit])))
    raw, severities = outputs(given.head, test, runtime), np.array([e.score for e in test])
    before, after = told(raw, severities), told(calibrate(raw, points), severities)
    print("| severities | triples | before: median | mean | sd | after: median | mean | sd |\n|---:|" + "---:|" * 7)
    for severity, (n, *values) in before.items():
        print(f"| {severity} | {n} | {' | '.join(f'{value:.2f}' for value in (*values, *after[severity][1:]))} |")
    text = ",".join(f"{x:g}:{y:g}" for x, y in points)
    print(f"\ncalibration {text}")
    if given.output:
        with safe_open(given.head, framework="pt") as file:
            tensors, about = {key: file.get_tensor(key) for key in file.keys()}, file.metadata()  # noqa: SIM118
        write_head(given.output, tensors, about | {"calibration": text})


if __name__ == "__main__":
    main()
