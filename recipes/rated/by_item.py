"""Trials for `rated`: penalties of experts (MQM) learnt between outputs for one input, and both texts read together.

    PYTHONPATH=recipes/sescore:recipes/studies python recipes/rated/by_item.py DATA [--cross] > tables.md

DATA: a folder with wmt15-da-seg, wmt16-da-seg, wmt21-mqm-zh-en, ted-mqm-zh-en, wmt22-gemba-zh-en and
wmt23-he-en-mtme. Learnt from are WMT15, newstest2021 and the TED talks; a head never learns from the set that tests it.

Features and penalties have the mean of the outputs for their input taken off, so that what is learnt is which output
is better: the squared error on all differences of two outputs. The penalty of experts counts as its logarithm, since
few errors count 25. --cross adds what `nli-robust` makes of both texts in one sequence, on some inputs of each set.

* and - are above and below `bertscore` (p < 0.05, two-sided, after Holm over the rows; the tests of `--test auto`).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from fits import FREE, F, Reader, Test, every
from protocols import EXPERTS, experts

import nlgauge as ng
from nlgauge.core import Array
from nlgauge.models.encoder import MATCHED
from nlgauge.models.entailment import load_nli, softmax
from nlgauge.models.networks import PackedClassifier
from nlgauge.runtime.runtime import by_length
from nlgauge.training.linear import rank

LEARNT = ("WMT21", "TED")  # the sets of experts whose licence lets a head learn from them
SHARES = (0.25, 0.5, 0.75)
STRENGTHS = (1.0, 10.0, 100.0)
RATED = 3.2  # the penalty of the head `rated`
SOME = {"WMT15": 1, "WMT16": 2, "WMT21": 3, "TED": 3, "WMT23": 3, "WMT22": 2}  # with --cross: every so many-th input
BOTH = ("4h+match", "match")
CROSSED = ("4h+match", "nli", "vectors of both", "4h+match, nli", "4h+match, vectors of both")


@dataclass(frozen=True)
class Set:
    """A rated set.

    Attributes:
        dataset: outputs, each with one reference.
        ratings: shape (n,), higher is better.
        blocks: name -> features, shape (n, k).
        items: the number of the input of each output, shape (n,).
    """

    dataset: ng.Dataset
    ratings: Array
    blocks: Mapping[str, Array]
    items: np.ndarray

    def features(self, kind: str) -> Array:
        """Blocks side by side."""
        return np.concatenate([self.blocks[name] for name in kind.split(", ")], axis=1)

    def within(self, values: Array) -> Array:
        """Values, shape (n, ...), less their mean over the outputs for the same input."""
        sums = np.zeros((self.items.max() + 1, *values.shape[1:]))
        np.add.at(sums, self.items, values)
        counts = np.bincount(self.items).reshape(-1, *[1] * (values.ndim - 1))
        return np.asarray(values - (sums / counts)[self.items])


Example = tuple[Array, Array]  # features and ratings of one set


def fitted(sets: Sequence[Example], strength: float, free: Array) -> Array:
    """Ridge regression in which each set counts once and its ratings have deviation 1: weights, shape (k,)."""
    n = sum(len(ratings) for _, ratings in sets)
    counts = np.concatenate([np.full(len(ratings), n / len(sets) / len(ratings)) for _, ratings in sets])
    features = np.concatenate([own for own, _ in sets])
    ratings = np.concatenate([own / own.std() for _, own in sets])
    mean = np.average(features, axis=0, weights=counts)
    sd = np.sqrt(np.average((features - mean) ** 2, axis=0, weights=counts))
    scale = np.where(sd > 1e-9, free / np.where(sd > 0, sd, 1), 0.0)  # inside an input what the reference has is even
    scaled = (features - mean) * scale * np.sqrt(counts)[:, None]
    wanted = (ratings - np.average(ratings, weights=counts)) * np.sqrt(counts)
    gram = scaled.T @ scaled + n * strength * np.eye(len(scale))
    return np.asarray(np.linalg.solve(gram, scaled.T @ wanted) * scale)


def free_of(one: Set, kind: str) -> Array:
    """How much larger the features of each block are made: those of which there are few."""
    widths = {name: one.blocks[name].shape[1] for name in kind.split(", ")}
    factors = [np.full(width, FREE if name in ("match", "nli") else 1.0) for name, width in widths.items()]
    found = np.concatenate(factors)
    if kind.startswith("4h+match"):
        found[widths["4h+match"] - len(MATCHED) : widths["4h+match"]] = FREE
    return found


def ranked(sets: Sequence[Set], strength: float) -> Array:
    """Weights of `match` by logistic regression on pairs of outputs for one input, shape (19,)."""
    differences = []
    for one in sets:
        for item in np.split(np.argsort(one.items, kind="stable"), np.cumsum(np.bincount(one.items))[:-1]):
            first, second = np.triu_indices(len(item), 1)
            up = np.sign(one.ratings[item][first] - one.ratings[item][second])[:, None]
            features = one.blocks["match"][item]
            differences.append((up * (features[first] - features[second]))[up[:, 0] != 0])
    found = np.concatenate(differences)
    sd = np.sqrt((found**2).mean(axis=0))
    scale = np.where(sd > 0, 1 / np.where(sd > 0, sd, 1), 0.0)
    return rank(found * scale, strength) * scale


class Cross:
    """What `nli-robust` makes of a reference and an output in one sequence, read in both directions."""

    def __init__(self, runtime: ng.Runtime) -> None:
        self.model = load_nli("nli-robust", None, None, "float32", runtime)

    def blocks(self, segments: Sequence[ng.Segment]) -> dict[str, Array]:
        """Logarithms of the probabilities, shape (n, 6), and the vectors under them, shape (n, 4 d)."""
        network = self.model.network
        assert isinstance(network, PackedClassifier)  # as every head of the package is
        vectors, told = [], []
        for first, second in ((0, 1), (1, 0)):
            pairs = [
                ((s.references[0], s.hypothesis)[first], (s.references[0], s.hypothesis)[second]) for s in segments
            ]
            prepared = self.model.tokenizer.pairs(
                pairs, self.model.tokenizer.read(text for pair in pairs for text in pair)
            )
            found: list[Array] = [np.empty(0)] * len(pairs)
            with torch.inference_mode():
                for batch in by_length(prepared.lengths, network.batch_tokens):
                    ids, types = zip(*(prepared.ids(int(i)) for i in batch), strict=True)
                    for place, row in zip(batch, network.pooled(ids, types).cpu().double().numpy(), strict=True):
                        found[int(place)] = row
            vectors.append(np.array(found))
            told.append(np.log(self._probabilities(network, vectors[-1])))
        return {"nli": np.concatenate(told, axis=1), "vectors of both": np.concatenate(vectors, axis=1)}

    @staticmethod
    def _probabilities(network: PackedClassifier, vectors: Array) -> Array:
        return softmax(network.classify(torch.from_numpy(vectors).float()).numpy())


def read_sets(data: Path, reader: Reader, cross: Cross | None) -> Iterator[tuple[str, Set]]:
    """WMT15, WMT16, and the sets of experts."""
    for name in ("WMT15", "WMT16", *EXPERTS):
        if name in EXPERTS:
            dataset, criterion = experts(data, *EXPERTS[name]), "mqm"
        else:
            dataset, criterion = ng.read(data / f"{name.lower()}-da-seg" / "segments.jsonl.gz"), "da_z"
        if cross is not None:
            dataset = every(dataset, SOME[name])
        segments = [replace(s, references=s.references[:1]) for s in dataset]
        features = reader.segments(segments).astype(np.float64)
        blocks = {"4h+match": features, "match": features[:, -len(MATCHED) :]}
        if cross is not None:
            blocks |= cross.blocks(segments)
        numbers: dict[object, int] = {}
        items = np.array([numbers.setdefault(s.item, len(numbers)) for s in segments])
        ratings = np.array([s.human[criterion] for s in segments])
        yield name, Set(ng.Dataset(tuple(segments), name), ratings, blocks, items)


def squashed(one: Set) -> Array:
    """Penalties as minus the logarithm of one more."""
    return np.asarray(-np.log1p(np.maximum(-one.ratings, 0)))


def of_experts(one: Set, kind: str) -> Example:
    """Features and penalties inside inputs."""
    return one.within(one.features(kind)), one.within(squashed(one))


def table(sets: Mapping[str, Set], heads: Mapping[str, Callable[[str], Array]]) -> None:
    """A row a head. `heads` gives the scores of the outputs of a set, by a head that did not learn from it."""
    columns, tests = [], {}
    for name in ("WMT16", *EXPERTS):
        one = sets[name]
        how = {"stats": "pearson"} if name == "WMT16" else {"level": "item", "stats": "kendall_b"}
        tests[name] = Test(name, one.dataset, one.features("match"), ["da_z" if name == "WMT16" else "mqm"], how)
        values, told = tests[name].measure({head: scores(name) for head, scores in heads.items()}, "bertscore")
        columns.append({head: f"{values[head]:.3f}{'*' * told[head][0]}{'-' * told[head][1]}" for head in heads})
    titles = [f"{name}, {'Pearson' if name == 'WMT16' else 'by item'}" for name in tests]
    print(f"| learnt from | {' | '.join(titles)} |\n|---|{'---:|' * len(titles)}")
    for head in heads:
        print(f"| {head} | {' | '.join(column[head] for column in columns)} |", flush=True)


@dataclass(frozen=True)
class Head:
    """A linear head of one kind of features; `weights` gives those for a set that tests it, shape (k,)."""

    sets: Mapping[str, Set]
    kind: str
    weights: Callable[[str], Array]

    def __call__(self, name: str, on: str | None = None) -> Array:
        """The scores of a set, or of another one by the same head."""
        return np.asarray(self.sets[on or name].features(self.kind) @ self.weights(name))


def rated(sets: Mapping[str, Set], kind: str, strength: float = RATED) -> Head:
    """A head that learns from WMT15."""
    one = sets["WMT15"]
    weights = fitted([(one.features(kind), one.ratings)], strength, free_of(one, kind))
    return Head(sets, kind, lambda name: weights)


def judged(sets: Mapping[str, Set], kind: str, strength: float, also: bool = False) -> Head:
    """A head that learns from experts, on sets other than that which tests it; and from WMT15 `also`."""

    def weights(name: str) -> Array:
        own = [of_experts(sets[other], kind) for other in LEARNT if other != name]
        one = sets["WMT15"]
        return fitted([*own, *([(one.features(kind), one.ratings)] if also else [])], strength, free_of(one, kind))

    return Head(sets, kind, weights)


def mixed(one: Head, other: Head, share: float) -> Callable[[str], Array]:
    """Two heads, each over its deviation on WMT16, whose ratings neither saw."""

    def scores(name: str) -> Array:
        first, second = (head(name) / head(name, "WMT16").std() for head in (one, other))
        return np.asarray((1 - share) * first + share * second)

    return scores


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--cross", action="store_true", help="both texts in one sequence, too, on some inputs")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keeps features for the next run")
    given = parser.parse_args()
    runtime = ng.Runtime(dtype="float32", device="cpu")
    cross = Cross(runtime) if given.cross else None
    sets = dict(read_sets(given.data, Reader(runtime, given.keep), cross))
    by_wmt15 = rated(sets, "4h+match")
    heads: dict[str, Callable[[str], Array]] = {"bertscore": lambda name: sets[name].blocks["match"][:, F]}
    if given.cross:
        for kind in CROSSED:
            heads[f"WMT15: {kind}"] = rated(sets, kind)
        for kind in CROSSED:
            heads[f"experts: {kind}"] = judged(sets, kind, 30.0)
    else:
        heads["WMT15: as `rated`"] = by_wmt15
        for kind in BOTH:
            heads |= {f"experts: {kind}, penalty {s:g}": judged(sets, kind, s) for s in STRENGTHS}
        heads["experts: match, logistic"] = Head(
            sets, "match", lambda name: ranked([sets[other] for other in LEARNT if other != name], 0.01)
        )
        heads["both in one regression: 4h+match"] = judged(sets, "4h+match", RATED, also=True)
        for share in SHARES:
            heads[f"sum: {share:g} of experts, match, 1"] = mixed(by_wmt15, judged(sets, "match", 1.0), share)
    table(sets, heads)


if __name__ == "__main__":
    main()
