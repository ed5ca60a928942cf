"""Train the head that marks words: python train.py OUT EXAMPLES [--epochs 1] [--rank 16] [--seed 0] [--model embedded]

EXAMPLES is what examples.py wrote. OUT ends in .safetensors.
"""

from __future__ import annotations

import argparse
import json

from nlgauge import Runtime
from nlgauge.text import word_spans
from nlgauge.training import MarkedPair, Recipe, Schedule, train_spans
from nlgauge.training.spans import UNKNOWN

SEVERITIES = {"minor": 1, "major": 2}


def pair(row: dict) -> MarkedPair:
    words, others = word_spans(row["hyp"]), word_spans(row["ref"])
    labels = [UNKNOWN if row["spans"] is None else 0] * len(words)
    missing = [0 if row.get("gaps", True) else UNKNOWN] * (len(words) + 1)
    for span in row["spans"] or ():
        for number, (start, end) in enumerate(words):
            if span["start"] < end and start < span["end"]:
                labels[number] = max(labels[number], SEVERITIES[span["severity"]])
        if span["missing"]:
            missing[next((i for i, (start, _) in enumerate(words) if start >= span["start"]), len(words))] = 1
    hyp, ref = row["hyp"], row["ref"]
    return MarkedPair(
        tuple(hyp[a:b] for a, b in words),
        tuple(ref[a:b] for a, b in others),
        tuple(labels),
        tuple(missing),
        row.get("faulty"),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("examples")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--model", default="embedded")
    parser.add_argument("--name", default="spans")
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], default="float32")
    parser.add_argument("--init")
    parser.add_argument("--first", type=int, default=None)
    given = parser.parse_args()
    with open(given.examples, encoding="utf-8") as file:
        pairs = [pair(json.loads(line)) for line in file][: given.first]
    schedule = Schedule(
        epochs=given.epochs, batch_size=given.batch, learning_rate=given.rate, seed=given.seed, warmup=0.06
    )
    recipe = Recipe(model=given.model, rank=given.rank, alpha=2.0 * given.rank, max_tokens=256, schedule=schedule)
    about = {
        "name": given.name,
        "recipe": "recipes/spans",
        "data": "MLQE-PE into English (CC0), Europarl, newstest2012-2013, PAWS-X with MENLI's attacks, SNLI and other"
        " NLI (CC BY-SA), ratings of WMT15 and WMT16, MQM of two TED talks; errors by rules, synthesis and post-editors",
        "languages": "en",
    }
    train_spans(
        pairs, given.out, recipe, Runtime(device="cpu", dtype=given.dtype), about=about, init=given.init, tell=print
    )


if __name__ == "__main__":
    main()
