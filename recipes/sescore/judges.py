"""Do severities help a head that learns from paraphrases, and does a stronger judge change the answer?

    python recipes/sescore/judges.py DATA TRIPLES.jsonl TRIPLES.jsonl ... --pairs PAIRS.jsonl --store FILE > tables.md

TRIPLES: of `nlgauge synth --paraphrase references`, of MLQE-PE; each variant of each file is a draw. Severities do not
change the edits, so the judges read the edits of these files: sentence after sentence, until `--sentences` are done or
the `--minutes` of a judge have passed. FILE keeps the verdicts, and a second run goes on from there. PAIRS: of
severities.py; they give each judge its threshold. Heads of all kinds learn from the same triples, those of these
sentences. `permuted` are the severities of the edits in random order.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from fits import Fits, Reader, Test, Triple, columns, draws, every, mean_and_sd
from study import experts

import nlgauge as ng
from nlgauge.core.arrays import Array
from nlgauge.perturbations.severity import EntailmentJudge, fit, graded, mutual, severity

Pair = tuple[str, str]  # the text before an edit, and after it
MIDDLE = -3.0  # the graded severity of an edit at the threshold


class Verdicts:
    """What a judge says of edits: the weaker of the entailments of both directions, in a file that grows."""

    def __init__(self, store: Path, name: str, runtime: ng.Runtime) -> None:
        self.store, self.name, self.runtime = store, name, runtime
        self.known: dict[Pair, float] = {}
        self.judge: EntailmentJudge | None = None
        if store.exists():
            with store.open(encoding="utf-8") as file:
                kept = map(json.loads, file)
                self.known = {(before, after): p for judge, before, after, p in kept if judge == name}

    def ask(self, pairs: Sequence[Pair]) -> list[float]:
        """The verdicts on pairs; those that are not known are asked for and kept."""
        new = list(dict.fromkeys(pair for pair in pairs if pair not in self.known))
        if new:
            self.judge = self.judge or severity(self.name, "graded", None, self.runtime).judge
            assert self.judge is not None
            found = mutual(self.judge, new).tolist()
            self.known |= dict(zip(new, found, strict=True))
            with self.store.open("a", encoding="utf-8") as file:
                for pair, p in zip(new, found, strict=True):
                    file.write(json.dumps([self.name, *pair, p], ensure_ascii=False) + "\n")
        return [self.known[pair] for pair in pairs]


def sentence(triple: Triple) -> str:
    """The item of a triple of MLQE-PE: its id without the number of the text and the variant."""
    return ".".join(triple.id.partition("/")[0].split(".")[:3])


def edits(triple: Triple) -> list[Pair]:
    """Each edit as the text before it and the text after it."""
    return list(pairwise([triple.original, *(step["text"] for step in triple.steps)]))


def judged(drawn: Sequence[Sequence[Triple]], sentences: int, judges: Sequence[Verdicts], minutes: float) -> list[str]:
    """The sentences of which every judge has read all edits, of all draws."""
    items = list(dict.fromkeys(sentence(triple) for triple in drawn[0]))[:sentences]
    by_item: dict[str, list[Pair]] = {item: [] for item in items}
    for triple in (triple for one in drawn for triple in one if sentence(triple) in by_item):
        by_item[sentence(triple)] += edits(triple)
    done: list[str] = items
    for judge in judges:
        began, own = time.monotonic(), []
        for item in items:
            if any(pair not in judge.known for pair in by_item[item]) and time.monotonic() - began > 60 * minutes:
                break
            judge.ask(by_item[item])
            own.append(item)
        print(f"{judge.name}: {len(own)} sentences, {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
        done = done[: len(own)]
    return done


def scores(triples: Sequence[Triple], kind: str, values: Mapping[Pair, float], seed: int) -> Array:
    """The sum of severities of each triple, shape (n,)."""
    found = [[-1.0 if kind == "none" else values[pair] for pair in edits(triple)] for triple in triples]
    if kind == "permuted":
        flat = [value for one in found for value in one]
        random.Random(seed).shuffle(flat)
        left = iter(flat)
        found = [[next(left) for _ in one] for one in found]
    return np.array([sum(one) for one in found])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("triples", type=Path, nargs="+")
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--judge", action="append", help="default: nli-robust and nli-robust-base")
    parser.add_argument("--sentences", type=int, default=991)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every Nth input of newstest2021")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keeps features for the next run")
    given = parser.parse_args()
    runtime = ng.Runtime(dtype="float32", device="cpu")
    judges = [Verdicts(given.store, name, runtime) for name in given.judge or ("nli-robust", "nli-robust-base")]
    with given.pairs.open(encoding="utf-8") as file:
        labelled = [(row["text"], row["changed"], row["minor"]) for row in map(json.loads, file)]
    thresholds = {}
    for judge in judges:
        found = fit(np.array(judge.ask([(a, b) for a, b, _ in labelled])), [minor for _, _, minor in labelled])
        thresholds[judge.name] = found.threshold
        print(f"{judge.name}: threshold {found.threshold:.3f}, balanced accuracy {found.balanced_accuracy:.3f}")
    drawn = draws(given.triples)
    done = set(judged(drawn, given.sentences, judges, given.minutes))
    table(
        given,
        [[triple for triple in one if sentence(triple) in done] for one in drawn],
        judges,
        thresholds,
        Reader(runtime, given.keep),
    )


def table(
    given: argparse.Namespace,
    drawn: Sequence[Sequence[Triple]],
    judges: Sequence[Verdicts],
    thresholds: Mapping[str, float],
    reader: Reader,
) -> None:
    """What the judges say, and what heads reach that learn from it."""
    wmt16, wmt21 = ng.read(given.data / "wmt16-da-seg" / "segments.jsonl.gz"), experts(given.data, "WMT21")
    wmt21 = every(wmt21, given.every)
    item = {"level": "item", "stats": "kendall_b"}
    held = [
        Test("WMT16, Pearson", wmt16, reader.segments(wmt16.segments), ["da_z"], {"stats": "pearson"}),
        Test("newstest2021, by item", wmt21, reader.segments(wmt21.segments), ["mqm"], item),
    ]
    values = {
        judge.name: {pair: graded(p, thresholds[judge.name]) for pair, p in judge.known.items()} for judge in judges
    }
    made = [edits(triple) for one in drawn for triple in one]
    each = {name: np.array([own[pair] for one in made for pair in one]) for name, own in values.items()}
    print(f"\n{len(drawn)} draws, {len(drawn[0])} triples each, {sum(map(len, made))} edits in all\n")
    swaps = np.array([step["operation"] == "swap" for one in drawn for triple in one for step in triple.steps])
    print("| judge | mean severity | severe, of all edits | of swaps |\n|---|---:|---:|---:|")
    for name, own in each.items():
        print(f"| {name} | {own.mean():.2f} | {np.mean(own < MIDDLE):.3f} | {np.mean(own[swaps] < MIDDLE):.3f} |")
    kinds = {"none": ("none", None)}
    for judge in judges:
        kinds |= {f"graded, {judge.name}": ("graded", judge.name), f"permuted, {judge.name}": ("permuted", judge.name)}
    found: dict[str, list[list[float]]] = {name: [[] for _ in held] for name in kinds}
    predicted: dict[str, list[list[Array]]] = {name: [[] for _ in held] for name in kinds}
    for seed, (triples, features) in enumerate(zip(drawn, reader.drawn(drawn), strict=True)):
        for name, (kind, judge) in kinds.items():
            own = scores(triples, kind, values[judge] if judge else {}, seed)
            weights = Fits.of(features, own).weights(columns(features.shape[1]))
            for place, test in enumerate(held):
                predicted[name][place].append(test.features @ weights)
    for place, test in enumerate(held):
        named = {f"{name}/{seed}": one for name, own in predicted.items() for seed, one in enumerate(own[place])}
        for key, value in test.measure(named)[0].items():
            found[key.rpartition("/")[0]][place].append(value)
    print(f"\n| severities | {' | '.join(test.name for test in held)} |\n|---|{'---:|' * len(held)}")
    for name, own in found.items():
        print(f"| {name} | {' | '.join(map(mean_and_sd, own))} |")
    for judge in judges:
        first = found[f"graded, {judge.name}"]
        for other in ("none", f"permuted, {judge.name}"):
            less = [
                mean_and_sd([a - b for a, b in zip(*pair, strict=True)], "+")
                for pair in zip(first, found[other], strict=True)
            ]
            print(f"| graded, {judge.name}, less {other.partition(',')[0]} | {' | '.join(less)} |")


if __name__ == "__main__":
    main()
