"""What may be said of published judges? Accuracy, swaps and prompts of LLMBar's, system and segment level of GEMBA's.

    python recipes/studies/judges.py DATA > tables.md        # a minute on one core

DATA holds `llmbar` and `wmt22-gemba-zh-en` in the columns of nlgauge. A verdict of LLMBar that could not be read counts
as wrong, as in its own statistics.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import nlgauge as ng
from nlgauge.core.segment import Dataset
from nlgauge.io import read_scores
from nlgauge.metaeval.evaluate import meta_evaluate
from nlgauge.stats import prompt_sensitivity
from nlgauge.stats.ratings import Estimate

MODELS = ("GPT4", "Dav3", "Turbo", "Chat", "Dav2")  # those of which every segment has a score
PROMPTS = ("DA", "SQM", "Stars", "Classes")
HUMAN = "refB"  # people's translation, which is no system


def shown(found: Estimate) -> str:
    return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"


def swapped(one: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """The share of pairs whose winner changes with the order, and that of all choices in which the first place wins.

    Both arrays hold the place that won, 1 or 2, in one order and in the other; NaN where it could not be read.
    """
    both, choices = ~np.isnan(one) & ~np.isnan(other), np.concatenate([one, other])
    return float((3 - other != one)[both].mean()), float((choices[~np.isnan(choices)] == 1).mean())


def llmbar(data: Path) -> Iterator[str]:
    """A row for each judge of LLMBar."""
    verdicts: dict[str, dict[str, dict[tuple[str, str], float]]] = {}
    gold = {}
    with gzip.open(data / "llmbar" / "verdicts.jsonl.gz", "rt", encoding="utf-8") as file:
        for row in map(json.loads, file):
            own = verdicts.setdefault(row["judge"], {}).setdefault(row["prompt"], {})
            own[row["id"], row["order"]] = row["verdict"] or 0  # 0 is neither output, hence wrong
            gold[row["id"]] = row["gold"]
    yield (
        "| judge | prompts | accuracy, lowest to highest | spread of accuracy | agreement of two prompts | kappa |"
        " items that depend on the prompt | flips with the order | first place wins |"
    )
    yield "|---|---:|---|---|---|---|---|---|---|"
    ids = sorted(gold)
    units = [(item, order) for item in ids for order in ("given", "swapped")]
    right, items = [gold[item] for item, _ in units], [item for item, _ in units]
    for judge, prompts in verdicts.items():
        found = prompt_sensitivity([[own[unit] for unit in units] for own in prompts.values()], right, items=items)
        swaps = []
        for own in prompts.values():
            sides = np.array([[own[item, order] for item in ids] for order in ("given", "swapped")])
            places = np.where(sides == 0, np.nan, [sides[0], 3 - sides[1]])  # outputs there, places here
            swaps.append(swapped(*places))
        flips, first = zip(*swaps, strict=True)
        yield (
            f"| {judge} | {len(prompts)} | {found.accuracy.min():.3f} to {found.accuracy.max():.3f}"
            f" | {shown(found.spread)} | {shown(found.agreement)} | {shown(found.kappa)} | {shown(found.dependent)}"
            f" | {min(flips):.3f} to {max(flips):.3f} | {min(first):.3f} to {max(first):.3f} |"
        )


def gemba(data: Path, level: str, stat: str) -> Iterator[str]:
    """A row for each model of GEMBA, with a reference and without, and a column for each prompt."""
    folder = data / "wmt22-gemba-zh-en"
    rated = ng.read(folder / "segments.jsonl.gz")
    rated = Dataset(tuple(one for one in rated if one.system != HUMAN), rated.name, rated.notes)
    yield f"| {stat} | reference | {' | '.join(PROMPTS)} |"
    yield "|---|---|---:|---:|---:|---:|"
    for model in MODELS:
        for side, words in (("refA", "yes"), ("src", "no")):
            cells = []
            for prompt in PROMPTS:
                path = folder / "metric-scores" / "zh-en" / f"GEMBA-{model}-{prompt}-{side}.seg.score.gz"
                found = meta_evaluate(
                    rated, level=level, stats=stat, scores=read_scores(path), intervals="none", test="none"
                )
                cells.append(f"{found.rows[0]['value']:.3f}")
            yield f"| {model} | {words} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    data = parser.parse_args().data
    systems, segments = gemba(data, "system", "pairwise_accuracy"), gemba(data, "segment", "kendall_b")
    print("\n".join([*llmbar(data), "", *systems, "", *segments]))


if __name__ == "__main__":
    main()
