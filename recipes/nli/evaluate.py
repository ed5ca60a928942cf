"""Accuracy of NLI models on labelled pairs: python evaluate.py MODEL ... --on FILE ...

MODEL: what nli:model=... takes. Two-way: entailment told from the rest, which is how MED is labelled.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from nlgauge import Runtime
from nlgauge.io import InputFile
from nlgauge.models.entailment import load_nli
from nlgauge.training.nli import accuracy, read_pairs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--on", nargs="+", required=True)
    parser.add_argument("--dtype", default="float32")
    given = parser.parse_args()
    print(
        "| model | test set | pairs | accuracy | two-way | entailment | neutral | contradiction"
        " |\n|---|---|---|---|---|---|---|---|"
    )
    runtime = Runtime(dtype=given.dtype)
    for model in given.models:
        judge = load_nli(model, None, None, given.dtype, runtime).judge
        for path in given.on:
            file = InputFile(path)
            pairs = read_pairs(file)
            found = accuracy(
                file.name, judge([pair[:2] for pair in pairs]).probabilities, np.array([pair.label for pair in pairs])
            )
            shares = " | ".join(
                "" if np.isnan(x) else f"{x:.3f}" for x in (found.accuracy, found.two_way, *found.recall)
            )
            print(
                f"| {Path(model).stem} | {Path(path).name.removesuffix('.jsonl.gz')} | {found.n:,} | {shares} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
