"""Which of several outputs for one input is better: what can be learnt from experts, and from how many inputs?

    PYTHONPATH=recipes/sescore:recipes/studies python recipes/rated/by_item.py DATA --cache FILE [--keep FOLDER]

DATA: a folder with the sets of `protocols.EXPERTS`; for `--encoder multilingual` those of `OTHERS`, into German, Czech
and Chinese. `--encoder base` takes the larger encoder, `--every 2` every second input. FILE keeps scores, FOLDER
features.

An example is the difference of two outputs of one input: features and ranks have the mean of their input taken off, so
that the squared error is that of all differences, and no feature of the input alone can help. Each set counts once. A
head never learns from the set that tests it; sets without a licence to learn from (WMT22, WMT23) are learnt from here,
but nothing that ships learns from them. `--triples FILE`, of `recipes/sescore/run.sh`, also learns from differences of
two texts with errors by synthesis beside one reference.

Printed is Kendall's tau-b inside inputs, set by set, and what the mean over sets gains on `bertscore`, with a 95 %
interval and p of a bootstrap of inputs within sets (two-sided, 10,000 draws).
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from fits import FREE, Reader, draws, every
from protocols import EXPERTS, HUMANS, experts
from scipy.stats import rankdata

import nlgauge as ng
from nlgauge.core.arrays import Array
from nlgauge.metrics.learned.gauge import CHRF, COSINE, NLI, RATED, RECALL, SCALES, SESCORE, WEIGHTS, WEIGHTS_RATED, F
from nlgauge.metrics.registry import on_encoder
from nlgauge.models.encoder import MATCHED
from nlgauge.stats.coefficients import kendall_b

TERMS = (F, RECALL, COSINE, CHRF, SESCORE, RATED, NLI)
FIRST = {"embedded": 7, "base": 6, "multilingual": 4}  # so many of them: entailment on `base` takes an hour
OTHERS = {  # name -> file, criterion
    "TED en-de": ("ted-mqm-en-de/segments.jsonl.gz", "mqm"),
    "WMT21 en-de": ("wmt21-mqm-en-de/segments.jsonl.gz", "mqm"),
    "en-cs": ("wmt24-esa/segments_en-cs.jsonl.gz", "esa"),
    "en-zh": ("wmt24-esa/segments_en-zh.jsonl.gz", "esa"),
}
LAYERS = {"embedded": (3, 4), "base": (6, 7), "multilingual": (6, 7)}
# What is learnt from, and the penalty on a squared weight for one example.
KINDS = {"terms": (0.1, 1.0), "match": (0.1, 1.0), "4h+match": (10.0, 100.0)}
INPUTS = (25, 50, 100, 200, 400, 800)
REPEATS, DRAWS = 3, 10_000
# Weights in deviations, those of `nlgauge.metrics.learned.gauge.SCALES`, for `multilingual` those over a set.
SUMS: Sequence[Mapping[str, float]] = (
    {RECALL: 1, COSINE: 1},
    {F: 1, CHRF: 1},
    {RATED: 4, CHRF: 1},
    {RATED: 4, RECALL: 1, COSINE: 1},
    {RECALL: 1, COSINE: 1, CHRF: 1},
    {RATED: 2, RECALL: 1, COSINE: 1, CHRF: 1},
    WEIGHTS_RATED,
    {RATED: 8, RECALL: 1, COSINE: 1, CHRF: 1},
    WEIGHTS["mt"],
)


@dataclass(frozen=True)
class Set:
    """Outputs that experts judged, several for an input.

    Attributes:
        items: the number of the input of each output, shape (n,).
        penalties: what experts took off, shape (n,); higher is better.
        terms: metric -> its scores, shape (n,).
        features: those of `4h+match`, shape (n, k).
    """

    items: np.ndarray
    penalties: Array
    terms: Mapping[str, Array]
    features: Array

    @property
    def n_items(self) -> int:
        """Of inputs."""
        return int(self.items.max()) + 1

    @cached_property
    def _places(self) -> Sequence[np.ndarray]:
        return np.split(np.argsort(self.items, kind="stable"), np.cumsum(np.bincount(self.items))[:-1])

    def of(self, kind: str) -> Array:
        """The features of a kind, shape (n, k)."""
        if kind == "terms":
            return np.stack([*self.terms.values()], axis=1)
        return self.features[:, -len(MATCHED) :] if kind == "match" else self.features

    def within(self, values: Array) -> Array:
        """Values, shape (n, ...), less their mean over the outputs for the same input."""
        means = np.stack([values[own].mean(axis=0) for own in self._places])
        return np.asarray(values - means[self.items])

    @cached_property
    def ranks(self) -> Array:
        """The ranks of the outputs for one input by what experts took off, in [0, 1], less their mean, shape (n,)."""
        found = np.empty(len(self.items))
        for own in self._places:
            found[own] = rankdata(self.penalties[own]) / len(own)
        return self.within(found)

    def agreement(self, scores: Array) -> Array:
        """Kendall's tau-b of m scores (m, n) in each input whose outputs people do not tie, shape (m, inputs)."""
        judged = [own for own in self._places if np.ptp(self.penalties[own]) > 0]
        taus = [kendall_b(scores[:, own], self.penalties[own]) for own in judged]
        return np.nan_to_num(np.array(taus).T)  # 0 where the scores tie all


def read_set(data: Path, name: str, encoder: str, step: int, reader: Reader, runtime: ng.Runtime) -> Set:
    """A set, its scores and its features; outputs of people are left out, and the first reference alone is read."""
    if name in EXPERTS:
        dataset, criterion = experts(data, *EXPERTS[name]), "mqm"
    else:
        file, criterion = OTHERS[name]
        kept = [
            s for s in ng.read(data / file) if criterion in s.human and (s.system or "").replace("-", "") not in HUMANS
        ]
        dataset = ng.Dataset(tuple(replace(s, references=s.references[:1]) for s in kept), name)
    dataset = every(dataset, step)
    specs = {term: on_encoder(term, encoder) for term in TERMS[: FIRST[encoder]]}
    scored = ng.score(dataset, metrics=list(specs.values()), runtime=runtime, guards="off")
    numbers: dict[object, int] = {}
    items = np.array([numbers.setdefault(s.item, len(numbers)) for s in dataset])
    penalties = np.array([s.human[criterion] for s in dataset])
    values = {term: scored[spec].values for term, spec in specs.items()}
    terms = {term: np.nan_to_num(own, nan=np.nanmin(own)) for term, own in values.items()}  # what no model can read
    return Set(items, penalties, terms, reader.segments(dataset.segments).astype(np.float64))


def fitted(examples: Sequence[tuple[Array, Array]], kind: str, strength: float) -> Array:
    """Ridge regression of ranks (n,) on features (n, k), each less its mean inside inputs: weights, shape (k,)."""
    gram = np.mean([features.T @ features / len(ranks) for features, ranks in examples], axis=0)  # each set counts once
    along = np.mean([features.T @ ranks / len(ranks) for features, ranks in examples], axis=0)
    deviations = np.sqrt(np.diag(gram))
    scale = np.where(deviations > 1e-9, 1 / np.where(deviations > 0, deviations, 1), 0.0)
    if kind == "4h+match":
        scale[-len(MATCHED) :] *= FREE  # they are few numbers beside many
    scaled = gram * scale[:, None] * scale + strength * np.eye(len(scale))
    return np.asarray(np.linalg.solve(scaled, along * scale) * scale)


def held_out(
    sets: Mapping[str, Set], kind: str, strength: float, runs: Sequence[tuple[int | None, int]] = ((None, 0),)
) -> list[list[Array]]:
    """The scores of each set, by heads that learnt from so many inputs of the others, for each number and seed."""
    differences = {name: one.within(one.of(kind)) for name, one in sets.items()}
    found: list[list[Array]] = [[] for _ in runs]
    for name, one in sets.items():
        pool = np.array([(place, item) for place, o in enumerate(sets) if o != name for item in range(sets[o].n_items)])
        for (inputs, seed), own in zip(runs, found, strict=True):
            taken = pool[np.random.default_rng(seed).permutation(len(pool))[:inputs]]
            examples = []
            for place, other in enumerate(sets):
                rows_of = np.isin(sets[other].items, taken[taken[:, 0] == place, 1])
                if rows_of.any():
                    examples.append((differences[other][rows_of], sets[other].ranks[rows_of]))
            own.append(one.of(kind) @ fitted(examples, kind, strength))
    return found


def synthesised(triples: Path, reader: Reader) -> Set:
    """Texts with errors beside one reference; the penalty is their number."""
    every_one = {(t.hyp, t.ref): t.score for draw in draws([triples]) for t in draw}
    numbers: dict[str, int] = {}
    items = np.array([numbers.setdefault(ref, len(numbers)) for _, ref in every_one])
    return Set(items, np.array([*every_one.values()]), {}, reader.pairs([*every_one]).astype(np.float64))


def summed(one: Set, weights: Mapping[str, float], encoder: str) -> Array:
    """A weighted sum of terms, shape (n,)."""
    deviations = {term: own[2] for term, own in SCALES.get(encoder, {}).items()}
    return np.sum([w * one.terms[t] / deviations.get(t, one.terms[t].std()) for t, w in weights.items()], axis=0)


def rows(sets: Mapping[str, Set], encoder: str) -> dict[str, list[Array]]:
    """Metric, sum or head -> its scores of each set."""
    known = next(iter(sets.values())).terms
    found: dict[str, list[Array]] = {term: [one.terms[term] for one in sets.values()] for term in known}
    for weights in (weights for weights in SUMS if set(weights) <= set(known)):
        name = " + ".join(f"{weight:g} {term}".removeprefix("1 ") for term, weight in weights.items())
        found[name] = [summed(one, weights, encoder) for one in sets.values()]
    for kind, strengths in KINDS.items():
        found |= {f"learnt: {kind}, penalty {s:g}": held_out(sets, kind, s)[0] for s in strengths}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--encoder", default="embedded", choices=LAYERS)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--cache", help="file that keeps scores")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keeps features")
    parser.add_argument("--triples", type=Path, help="texts with errors by synthesis, to learn from as well")
    given = parser.parse_args()
    runtime = ng.Runtime(dtype=given.dtype, device="cpu", cache=given.cache)
    reader = Reader(runtime, given.keep, given.encoder, LAYERS[given.encoder])
    names = OTHERS if given.encoder == "multilingual" else EXPERTS
    sets = {name: read_set(given.data, name, given.encoder, given.every, reader, runtime) for name in names}
    scores = rows(sets, given.encoder)
    if given.triples is not None:
        made = synthesised(given.triples, reader)
        for strength in KINDS["4h+match"]:
            weights = fitted([(made.within(made.features), made.ranks)], "4h+match", strength)
            scores[f"synthesis: 4h+match, penalty {strength:g}"] = [one.features @ weights for one in sets.values()]
    taus = [
        one.agreement(np.array(own)) for one, own in zip(sets.values(), zip(*scores.values(), strict=True), strict=True)
    ]
    rng = np.random.default_rng(0)
    drawn = [rng.multinomial(t.shape[1], np.full(t.shape[1], 1 / t.shape[1]), size=DRAWS) / t.shape[1] for t in taus]
    gains = np.mean([(t - t[0]) @ d.T for t, d in zip(taus, drawn, strict=True)], axis=0)  # (rows, draws)
    print(f"| by | {' | '.join(sets)} | gain of the mean | interval | p |\n|---|{'---:|' * (len(sets) + 3)}")
    for place, name in enumerate(scores):
        low, high = np.quantile(gains[place], (0.025, 0.975))
        p = min(1.0, 2 * (min((gains[place] <= 0).sum(), (gains[place] >= 0).sum()) + 1) / (DRAWS + 1))
        gain = np.mean([t[place].mean() - t[0].mean() for t in taus])
        told = f"{gain:+.4f} | {low:+.3f} to {high:+.3f} | {p:.4f}" if place else " | | "
        print(f"| {name} | {' | '.join(f'{t[place].mean():.3f}' for t in taus)} | {told} |")
    print(f"\n| learnt, penalty | {' | '.join(map(str, INPUTS))} | all |\n|---|{'---:|' * (len(INPUTS) + 1)}")
    for kind, strengths in KINDS.items():
        for strength in strengths:
            some = [(inputs, seed) for inputs in INPUTS for seed in range(REPEATS)]
            of_sets = zip(
                sets.values(), zip(*held_out(sets, kind, strength, [*some, (None, 0)]), strict=True), strict=True
            )
            means = np.mean([one.agreement(np.array(own)).mean(axis=1) for one, own in of_sets], axis=0)
            cells = [*means[:-1].reshape(-1, REPEATS).mean(axis=1), means[-1]]
            print(f"| {kind}, {strength:g} | {' | '.join(f'{mean:.3f}' for mean in cells)} |", flush=True)


if __name__ == "__main__":
    main()
