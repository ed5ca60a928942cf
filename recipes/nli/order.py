"""Teach a head to put texts in order, beside labelled pairs:

    python order.py OUT ROWS --pairs FILE ... --init HEAD [--rank 32] [--learning-rate 5e-4] [--seed 17]

ROWS are of ordered.py, PAIRS labelled ones. The loss of a labelled pair is cross-entropy; of a rated one the
cross-entropy of entailment against the rest; and of an ordered row softplus(2 (margin - d)) / 2, where d is the
difference of the log-odds of entailment between the better and the worse text: nothing is gained by a distance far
beyond the margin. (A label instead of an order, "a text with a typo is neutral", pushes the worse text down however low
it is already, and with it outputs of systems that hold small slips.) 32 rows a step, of all kinds mixed, float32.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

import nlgauge as ng
from nlgauge.io import InputFile
from nlgauge.models.entailment import PairTokenizer
from nlgauge.models.heads import find_head
from nlgauge.models.locate import locate
from nlgauge.training.heads import head_metadata, head_network, pad_of
from nlgauge.training.loop import Checkpoint, fit_network
from nlgauge.training.nli import LabelledPair, batch_inputs, begin_from, encode_pairs, read_pairs, save_head
from nlgauge.training.recipe import NliRecipe, Schedule

SHARPNESS = 2.0


def sides(row: dict[str, Any]) -> list[tuple[str, str]]:
    """The pairs that a row asks the network about."""
    if "premise" in row:
        return [(row["premise"], row["hypothesis"])]
    asked = [(row["anchor"], row[which]) for which in ("better", "worse")]
    return asked if row["first"] else [pair[::-1] for pair in asked]


def log_odds(logits: torch.Tensor) -> torch.Tensor:
    """Of entailment against the rest; logits in the order of `LABELS`, shape (n, 3)."""
    return logits[:, 0] - logits[:, 1:].logsumexp(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("rows", type=Path)
    parser.add_argument("--pairs", nargs="+", required=True)
    parser.add_argument("--init", required=True, help="a head, or its file")
    parser.add_argument("--rank", type=int, default=32)
    parser.add_argument("--learning-rate", type=float, default=5e-4)
    parser.add_argument("--order-weight", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--leave-out", nargs="*", default=[], help="rules of ROWS that are not learnt")
    parser.add_argument("--data", default="", help="what the metadata say of the data")
    parser.add_argument("--phenomena", default="", help="perturbations among the data, for the metadata")
    given = parser.parse_args()
    with gzip.open(given.rows, "rt", encoding="utf-8") as file:
        read: list[dict[str, Any]] = [json.loads(line) for line in file]
    rows = [row for row in read if row["rule"] not in given.leave_out]
    labelled = [pair for path in given.pairs for pair in read_pairs(InputFile(path))]
    rows += [{"premise": pair.premise, "hypothesis": pair.hypothesis, "label": pair.label} for pair in labelled]
    schedule = Schedule(batch_size=32, learning_rate=given.learning_rate, seed=given.seed)
    recipe = NliRecipe(rank=given.rank, schedule=schedule)
    files = locate(recipe.model, None)
    asked = [sides(row) for row in rows]
    start = np.cumsum([0, *(len(pairs) for pairs in asked)])
    encoded = encode_pairs(
        [LabelledPair(*pair, 0) for pairs in asked for pair in pairs], PairTokenizer(files, recipe.max_tokens)
    )
    network = head_network(files, recipe.rank, recipe.alpha, recipe.dropout, given.seed, narrow=False).train()
    begin_from(find_head(given.init, "nli").path, network, files)
    pad, device = pad_of(files), torch.device("cpu")

    def loss(where: np.ndarray) -> torch.Tensor:
        logits = network(
            **batch_inputs(encoded, [j for i in where for j in range(start[i], start[i + 1])], pad, device)
        )
        odds, at, total = log_odds(logits), 0, torch.zeros(())
        for i in where:
            row = rows[i]
            if "label" in row:
                total = total + functional.cross_entropy(logits[at], torch.tensor(row["label"]))
            elif "entailment" in row:
                total = total + functional.binary_cross_entropy_with_logits(odds[at], torch.tensor(row["entailment"]))
            else:
                short = row["margin"] - (odds[at] - odds[at + 1])
                total = total + given.order_weight * functional.softplus(SHARPNESS * short) / SHARPNESS
            at += len(asked[i])
        return total / len(where)

    class Told:
        def __init__(self) -> None:
            self.sum = 0.0

        def after(self, step: int, value: float) -> None:
            self.sum += value
            if step % 25 == 0:
                print(f"step {step}: mean loss {self.sum / 25:.4f}", flush=True)
                self.sum = 0.0

        def state(self) -> dict[str, torch.Tensor]:
            return {}

        def restore(self, state: object) -> None:
            pass

    lengths = np.array([encoded.lengths[a] for a in start[:-1]])
    print(f"{len(rows)} rows, {len(encoded.ids)} pairs, {schedule.steps(len(rows))} steps", flush=True)
    checkpoint = Checkpoint.beside(given.out, f"{given} {files.weights_digest}")
    runtime = ng.Runtime(dtype="float32", device="cpu")
    fit_network(network, loss, lengths, schedule, checkpoint, runtime, watch=Told())
    about = {
        "name": "nli-robust",
        "recipe": "recipes/nli",
        "data": given.data,
        "trained_on_phenomena": given.phenomena,
    }
    save_head(given.out, network, head_metadata("nli", recipe, files, runtime.dtype, about))
    checkpoint.done()


if __name__ == "__main__":
    main()
