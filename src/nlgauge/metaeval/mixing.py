"""What do two metrics say together, at any weight? Each metric is scored once; the sums are made from its scores."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nlgauge.audits.preference import Sides, score_sides
from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.core.metric import signature_of
from nlgauge.core.scores import Scores, count, count_notes, ids, say
from nlgauge.core.segment import Dataset
from nlgauge.core.spec import Signature, Sum, parse
from nlgauge.core.suite import Suite
from nlgauge.metaeval.align import chosen_criteria, judged
from nlgauge.metaeval.scoring import score_judged
from nlgauge.metrics.base import Metric, cut_words
from nlgauge.metrics.wrapped import POOLED, Combination, CompanionMetric, zero_and_width
from nlgauge.runtime.runtime import Runtime

NORMS = (*POOLED, "none")
Pools = Sequence[tuple[str, npt.NDArray[np.int64]]]


@dataclass(frozen=True)
class Mixture:
    """The scores of two metrics for the same n texts.

    Attributes:
        one, other: the original scores, oriented so that higher is better; shape (n,).
        scaled_one, scaled_other: the same scores on a common scale.
    """

    one: Array
    other: Array
    scaled_one: Array
    scaled_other: Array

    def at(self, weight: float) -> Array:
        """The weighted sum, shape (n,); `weight` is that of the other metric.

        At weight 0 the result is the original scores of the first metric, at weight 1 those of the other.
        """
        if weight == 0:
            return self.one
        if weight == 1:
            return self.other
        return weight * self.scaled_other + (1 - weight) * self.scaled_one


def mixture(one: Array, other: Array, pools: Pools, norm: str, names: tuple[str, str]) -> Mixture:
    """Bring two metrics to a common scale.

    Args:
        one, other: scores of n texts, shape (n,); higher is better.
        pools: the name of each pool and the texts in it; each text belongs to one pool.
        norm: `minmax`, `zscore` or `none`.
        names: the names of the two metrics, for error messages.

    Raises:
        InputError: a metric is constant over a pool.
    """
    return Mixture(one, other, scaled(one, pools, norm, names[0]), scaled(other, pools, norm, names[1]))


def scaled(values: Array, pools: Pools, norm: str, name: str) -> Array:
    """Bring values to a common scale inside each pool; the arguments are those of `mixture`."""
    if norm == "none":
        return values
    found = np.full(len(values), np.nan)
    for where, places in pools:
        inside = values[places]
        known = inside[~np.isnan(inside)]
        if len(known) and not np.ptp(known):
            raise InputError(
                f"{name} is the same for all {len(inside)} texts of {where}, so {norm} over them is undefined; leave"
                " that out, or choose norm='none'"
            )
        zero, width = zero_and_width(inside, norm, name)
        found[places] = (inside - zero) / width
    return found


def sum_of(one: str, other: str, weight: float, norm: str) -> str:
    """The specification of a weighted sum; at weight 0 or 1 it is the specification of the one metric that is left."""
    if weight in (0, 1):
        return other if weight else one
    return str(Sum(((round(1 - weight, 12), parse(one)), (weight, parse(other))), norm))


@dataclass(frozen=True)
class ScoredDataset:
    """A data set with the scores of every metric for its judged segments."""

    dataset: Dataset
    scores: Mapping[str, Scores]
    notes: tuple[str, ...]

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """Metric -> flag -> number of judged segments that have it."""
        return {name: count(scores.flags, scores.values) for name, scores in self.scores.items()}

    def mixture(self, one: str, other: str, norm: str) -> Mixture:
        """The mixture of two of the metrics; each group (language pair, task) is a pool."""
        pools = _pools(
            [s.group for s in self.dataset],
            lambda group: f"{f'group {group!r} of ' if group is not None else ''}{self.dataset.name}",
        )
        return mixture(_up(self.scores[one]), _up(self.scores[other]), pools, norm, (one, other))

    def as_scores(self, name: str, values: Array) -> Scores:
        """Turn the values of a sum into `Scores`, whose corpus numbers are means of these values."""
        return Scores(Signature(name, (("metric", "combination"),)), ids(self.dataset.segments), values)


def judged_by(
    dataset: Dataset,
    metrics: Mapping[str, Metric],
    criterion: str | Sequence[str] | None,
    runtime: Runtime,
    references: str | None = None,
) -> ScoredDataset:
    """Score the judged segments of a data set; the arguments are those of `meta_evaluate`."""
    segments, _, notes = judged(dataset, chosen_criteria(dataset, criterion))
    scores, told = score_judged(metrics, segments, runtime, references)
    return ScoredDataset(dataclasses.replace(dataset, segments=segments), scores, (*notes, *told))


class Attacked:
    """A suite with the scores of each metric for both sides of its pairs.

    Each metric is scored once for each kind of pairs.
    """

    def __init__(self, suite: Suite, metrics: Mapping[str, Metric], runtime: Runtime, references: str = "own") -> None:
        self.suite, self._metrics, self._runtime, self._references = suite, metrics, runtime, references
        self._known: dict[tuple[str, frozenset[str]], Sides] = {}

    def mixed(self, one: str, other: str, norm: str, weights: Iterable[float]) -> dict[float, Sides]:
        """Score both sides by the sum of two metrics, at each weight of the other metric.

        A pool is one phenomenon of one group. It holds correct and faulty texts together, as it does for any metric
        whose scores depend on the call.

        Raises:
            InputError: no pair has what the two metrics need, or a metric is constant over a pool.
        """
        needs = frozenset(self._metrics[one].info.needs) | frozenset(self._metrics[other].info.needs)
        first, second = (self._sides(name, needs) for name in (one, other))
        pairs = [self.suite.pairs[i] for i in first.places]
        keys = [(p.phenomenon, p.criterion, p.group) for p in pairs] * 2  # better texts, then worse ones
        pools = _pools(
            keys,
            lambda key: (
                f"{key[0]}{f', group {key[2]!r},' if key[2] is not None else ''} in {self.suite.name or 'the suite'}"
            ),
        )
        both = mixture(_both(first), _both(second), pools, norm, (one, other))
        return {weight: self._of(one, other, weight, norm, first.places, both.at(weight)) for weight in weights}

    def alone(self, name: str) -> Sides:
        """The scores of both sides by one metric."""
        return self._sides(name, frozenset(self._metrics[name].info.needs))

    def counts(self, name: str) -> dict[str, int]:
        """Flag -> number of pairs that have it by one of the metrics that were scored."""
        return self._widest(name).counts

    def count_notes(self) -> list[str]:
        """How many pairs were cut, empty or undefined; they become part of the caller's warning."""
        names = dict.fromkeys(name for name, _ in self._known)
        widest = {name: self._widest(name) for name in names}
        notes = [
            note
            for name, sides in widest.items()
            for note in (
                *sides.unread,
                *count_notes(
                    name,
                    sides.counts,
                    len(sides.places),
                    "pairs",
                    undefined="they count as losses",
                    first=sides.first,
                    cut=cut_words(self._metrics[name]),
                ),
            )
        ]
        say(*notes)
        return notes

    def _widest(self, name: str) -> Sides:
        """The scores of a metric for the most pairs: a partner with other needs leaves some of them out."""
        return max((sides for (own, _), sides in self._known.items() if own == name), key=lambda s: len(s.places))

    def _sides(self, name: str, needs: frozenset[str]) -> Sides:
        if (name, needs) not in self._known:
            beside = {name: CompanionMetric(self._metrics[name], needs)}
            self._known[name, needs] = score_sides(self.suite, beside, self._runtime, references=self._references)[name]
        return self._known[name, needs]

    def _of(self, one: str, other: str, weight: float, norm: str, places: tuple[int, ...], values: Array) -> Sides:
        terms = ((1 - weight, self._metrics[one]), (weight, self._metrics[other]))
        made = Combination(tuple(term for term in terms if term[0]), norm)
        n = len(places)
        return Sides(sum_of(one, other, weight, norm), made, str(signature_of(made)), places, values[:n], values[n:])


def _both(sides: Sides) -> Array:
    values = np.concatenate([sides.better, sides.worse])
    return values if sides.higher_is_better else -values


def _up(scores: Scores) -> Array:
    return scores.values if scores.higher_is_better else -scores.values


def _pools(keys: Sequence[Any], name: Callable[[Any], str]) -> Pools:
    found: dict[Any, list[int]] = {}
    for i, key in enumerate(keys):
        found.setdefault(key, []).append(i)
    return [(name(key), np.array(places, dtype=np.int64)) for key, places in found.items()]
