"""What each group of features is worth to a ridge head: without it, and with it alone.

    python recipes/sescore/groups.py DATA TRIPLES.jsonl TRIPLES.jsonl ... > tables.md    # sescore
    python recipes/sescore/groups.py DATA --ratings --draws 5 > tables.md                # rated

DATA: a folder with wmt16-da-seg, wmt21-mqm-zh-en, ted-mqm-zh-en and bagel, and wmt15-da-seg for --ratings. TRIPLES: of
`nlgauge synth --paraphrase references`; each variant of each file is a draw. With --ratings a draw is a bootstrap
sample of the ratings of WMT15; the penalty of each row is that with the least error on all ratings, each left out once.

Every text is encoded once, and each row is a system of equations. The tables have mean and standard deviation over
draws; rows without a group show the difference from the head with all. * and - mark what is above and below
the head with all, by the mean of the scores over draws (p < 0.05, two-sided, after Holm over the rows; the
tests of `--test auto`).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from fits import STRENGTH, UNTRAINED, Fits, Mask, Reader, Test, best_strength, columns, draws, every, mean_and_sd
from study import experts

import nlgauge as ng
from nlgauge.core.arrays import Array
from nlgauge.models.encoder import MATCHED
from nlgauge.training.examples import rated_examples

GROUPS = {
    "means, F": ("hyp mean", "ref mean", "F"),
    "percentiles": tuple(name for name in MATCHED if name.endswith("%")),
    "minimum": ("hyp min", "ref min"),
    "shares below .5 and .7": tuple(name for name in MATCHED if "below" in name),
    "displacement": ("displacement",),
    "lengths": ("log ratio of lengths", "size of that", "log length of the reference"),
}
ALL, BEST = "all", "kendall_b"


@dataclass(frozen=True)
class Row:
    """Which features a head reads, and how many deviations of BERTScore's F are added."""

    kept: Mask
    untrained: float


def rows(width: int, untrained: float) -> tuple[dict[str, Row], dict[str, Row]]:
    """Heads without a group, and heads of a group alone; the first of both has all."""
    whole = {ALL: Row(columns(width), untrained)}
    without = dict(whole)
    alone = {ALL: whole[ALL]}
    for name, group in GROUPS.items():
        without[name] = Row(columns(width, [one for one in MATCHED if one not in group]), untrained)
        alone[name] = Row(columns(width, group, vectors=False), 0.0)
    without["all of `match`"] = Row(columns(width, ()), untrained)
    alone["all of `match`"] = Row(columns(width, vectors=False), 0.0)
    without["vectors"] = Row(columns(width, vectors=False), untrained)
    alone["vectors"] = Row(columns(width, ()), 0.0)
    if untrained:
        without["half of F, not learnt"] = Row(columns(width), 0.0)
    alone["F, not learnt: `bertscore`"] = Row(columns(width, (), vectors=False), 1.0)
    return without, alone


def tests(data: Path, reader: Reader, step: int) -> list[Test]:
    """Translations and text from data, which neither kind of head learns from."""
    found = []
    for name, dataset, criteria, how in (
        ("WMT16, Pearson", ng.read(data / "wmt16-da-seg" / "segments.jsonl.gz"), ["da_z"], {"stats": "pearson"}),
        ("newstest2021, by item", every(experts(data, "WMT21"), step), ["mqm"], {"level": "item", "stats": BEST}),
        ("TED, by item", every(experts(data, "TED"), step), ["mqm"], {"level": "item", "stats": BEST}),
        ("BAGEL, Kendall", ng.read(data / "bagel" / "segments.jsonl.gz"), None, {"stats": BEST}),
    ):
        asked = sorted({key for segment in dataset for key in segment.human}) if criteria is None else criteria
        found.append(Test(name, dataset, reader.segments(dataset.segments), asked, how))
    return found


def training(given: argparse.Namespace, reader: Reader) -> list[tuple[Array, Array]]:
    """Features and scores, one pair for each draw."""
    if not given.ratings:
        drawn = draws(given.triples)
        scores = [np.array([triple.score for triple in draw]) for draw in drawn]
        return list(zip(reader.drawn(drawn), scores, strict=True))
    dataset = ng.read(given.data / "wmt15-da-seg" / "segments.jsonl.gz")
    examples = rated_examples(dataset.segments, [s.human.get("da_z", np.nan) for s in dataset])
    features = reader.pairs([(e.texts["hyp"], e.texts["ref"]) for e in examples])
    scores = np.array([e.score for e in examples])
    drawn = [np.random.default_rng(draw).integers(len(scores), size=len(scores)) for draw in range(given.draws)]
    return [(features, scores), *((features[places], scores[places]) for places in drawn)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("triples", type=Path, nargs="*")
    parser.add_argument("--ratings", action="store_true", help="learn from the ratings of WMT15")
    parser.add_argument("--draws", type=int, default=5, help="samples of the ratings")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every Nth input of newstest2021 and TED")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keeps features for the next run")
    given = parser.parse_args()
    if given.ratings == bool(given.triples):
        parser.error("give files of triples, or --ratings")
    reader = Reader(ng.Runtime(dtype="float32", device="cpu"), given.keep)
    held, learnt = tests(given.data, reader, given.every), training(given, reader)
    without, alone = rows(held[0].features.shape[1], 0.0 if given.ratings else UNTRAINED)
    named = {f"without {name}": row for name, row in without.items() if name != ALL}
    named |= {f"{name} alone": row for name, row in alone.items() if name != ALL}
    named = {ALL: without[ALL]} | named
    strengths = dict.fromkeys(named, STRENGTH)
    if given.ratings:  # draws repeat ratings, so that none of theirs is ever quite left out
        features, scores = learnt.pop(0)
        strengths |= {name: best_strength(features, scores, row.kept) for name, row in named.items() if row.kept.any()}
        print("penalties:", {name: float(f"{value:.3g}") for name, value in strengths.items()}, file=sys.stderr)
    predicted: dict[str, list[list[Array]]] = {name: [] for name in named}  # of draws, of tests
    for features, scores in learnt:
        began, fits = time.monotonic(), Fits.of(features, scores)
        for name, row in named.items():
            weights = fits.weights(row.kept, strengths[name], row.untrained)
            predicted[name].append([test.features @ weights for test in held])
        print(f"{len(scores)} examples, {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    table(held, predicted, list(without), list(alone))


def table(held: Sequence[Test], predicted: Mapping[str, Sequence[Sequence[Array]]], *names: Sequence[str]) -> None:
    """What is left without each group, and what each group reaches alone."""
    values: dict[str, list[list[float]]] = {name: [] for name in predicted}  # of tests, of draws
    marks: dict[str, list[str]] = {name: [] for name in predicted}
    for place, test in enumerate(held):
        n = len(predicted[ALL])
        named = {f"{name}/{i}": predicted[name][i][place] for name in predicted for i in range(n)}
        found, _ = test.measure(named)
        _, told = test.measure(
            {name: np.mean([one[place] for one in predicted[name]], axis=0) for name in predicted}, ALL
        )
        for name in predicted:
            values[name].append([found[f"{name}/{i}"] for i in range(n)])
            marks[name].append(mark(*told[name], len(test.criteria)))
        print(f"{test.name} done", file=sys.stderr, flush=True)
    for shown, form, word in zip(names, ("without {}", "{} alone"), ("left out", "alone"), strict=True):
        print(f"\n| {word} | {' | '.join(test.name for test in held)} |\n|---|{'---:|' * len(held)}")
        for name in shown:
            key = name if name == ALL else form.format(name)
            cells = []
            for place in range(len(held)):
                own = values[key][place]
                if word == "left out" and name != ALL:
                    own = [a - b for a, b in zip(own, values[ALL][place], strict=True)]
                sign = "+" if word == "left out" and name != ALL else ""
                cells.append(mean_and_sd(own, sign) + marks[key][place])
            print(f"| {'nothing' if name == ALL and word == 'left out' else name} | {' | '.join(cells)} |", flush=True)


def mark(above: int, below: int, criteria: int) -> str:
    """Above or below the head with all; of several criteria, in how many."""
    if criteria > 1:
        return f" ({above}, {below})" if above or below else ""
    return "*" * above + "-" * below


if __name__ == "__main__":
    main()
