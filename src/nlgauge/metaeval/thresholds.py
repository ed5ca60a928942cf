"""Pairs of rated systems: how far a metric sets two systems apart, and whether people order them alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.scores import Scores
from nlgauge.metaeval.joined import JoinedScores, some
from nlgauge.metrics.registry import metric as metric_of
from nlgauge.scoring.systems import by_system
from nlgauge.scoring.thresholds import MetricThresholds, Thresholds
from nlgauge.stats.draws import Seed, check_draws, generator
from nlgauge.stats.selection import FORMS, Form, SystemPairs, best_form, fit_curve, held_out, resampled_curves

Places = npt.NDArray[np.int64]
SIZES = (50, 100, 200, 500, 1000, 2000, 5000)  # segments of a sample, as far as a set has more
_EXACT = 1e-9  # two means that are equal on paper may differ in the last digits


@dataclass(frozen=True)
class RatedSet:
    """The rated systems of one group, on the items that all of them have.

    Attributes:
        group: the language pair, task or topic; None where the data name none.
        criterion: what was rated.
        systems: their names, S of them.
        places: positions of the segments among all segments, shape (S, N).
        ratings: shape (S, N).
        samples: positions of items, one array per sample; the last holds all items.
    """

    group: str | None
    criterion: str
    systems: tuple[str, ...]
    places: Places
    ratings: Array
    samples: tuple[Places, ...]

    def as_json(self) -> dict[str, Any]:
        """The entry of the set in a file of thresholds."""
        items = self.ratings.shape[1]
        return {"group": self.group, "criterion": self.criterion, "systems": list(self.systems), "items": items}


def rated_sets(held: JoinedScores, *, draws: int = 10, seed: Seed = 0) -> tuple[list[RatedSet], list[str]]:
    """The rated systems of each group, with samples of their items, and notes on what is left out.

    Args:
        held: rated segments of several systems.
        draws: the number of samples of each size in `SIZES`.
        seed: the seed of the samples; every metric sees the same ones.

    Raises:
        InputError: several criteria were rated and none was chosen, a segment names no system or item, a group has
            one system, or no item has ratings of all of its systems.
    """
    if len(held.human) != 1 or held.pairs is not None:
        raise InputError(f"thresholds need one criterion with ratings, got {', '.join(held.human)}; choose one")
    ((criterion, human),) = held.human.items()
    rng = generator(seed)
    sets, notes = [], []
    for group, own in held.places.items():
        own = own[~np.isnan(human[own])]
        if not len(own):
            continue
        places, systems, lost = _grid(held, group, own)
        if lost:
            items = "1 item" if lost == 1 else f"{lost} items"
            fate = f"{'is' if lost == 1 else 'are'} left out, not rated for every system"
            notes.append(f"thresholds: {items} of {group or 'the data'} {fate}")
        n = places.shape[1]
        samples = [rng.choice(n, size, replace=False) for size in SIZES if size < n for _ in range(draws)]
        sets.append(
            RatedSet(group, criterion, systems, places, human[places], (*samples, np.arange(n, dtype=np.int64)))
        )
    if not sets:
        raise InputError("thresholds need rated systems, and no segment has a rating")
    return sets, notes


def system_pairs(held: Sequence[JoinedScores], sets: Sequence[Sequence[RatedSet]], metric: str) -> SystemPairs:
    """All pairs of systems of all sets by one metric, on every sample of items.

    Args:
        held: scores of each data set.
        sets: the rated systems of each data set.
        metric: the name of the metric.

    Raises:
        InputError: the metric has scores of systems alone.
    """
    columns: list[tuple[npt.NDArray[Any], ...]] = []
    first = 0  # systems of different sets have different numbers
    of_sets = [(one, rated) for one, own in zip(held, sets, strict=True) for rated in own]
    for group, (one, rated) in enumerate(of_sets):
        if metric not in one.scores:
            raise InputError(f"{metric} has scores of systems alone; thresholds need scores of segments")
        for delta, agreed, n, left, right, weight in _samples(one.scores[metric], rated):
            columns.append((delta, agreed, n, left + first, right + first, np.full(len(left), group), weight))
        first += len(rated.systems)
    return SystemPairs(*map(np.concatenate, zip(*columns, strict=True)))


def _samples(scores: Scores, rated: RatedSet) -> Iterator[tuple[npt.NDArray[Any], ...]]:
    """For each sample of items: difference, agreement, n, both systems and weight of every pair."""
    stats = scores.segment_stats[rated.places]  # (S, N, k)
    left, right = np.triu_indices(len(rated.systems), 1)
    sizes, times = np.unique([len(items) for items in rated.samples], return_counts=True)
    share = {int(size): 1 / (len(sizes) * count) for size, count in zip(sizes, times.tolist(), strict=True)}
    for items in rated.samples:
        x = np.asarray(scores.finish(stats[:, items].sum(axis=1)))
        x = x if scores.higher_is_better else -x
        z = rated.ratings[:, items].mean(axis=1)
        delta, human = x[left] - x[right], z[left] - z[right]
        human = np.where(np.abs(human) <= _EXACT * np.abs(z).max(), 0.0, human)
        known = ~np.isnan(delta)
        agreed = (1 + np.sign(delta) * np.sign(human)) / 2
        n, weight = np.full(len(left), float(len(items))), np.full(len(left), share[len(items)])
        yield tuple(column[known] for column in (np.abs(delta), agreed, n, left, right, weight))


def _grid(held: JoinedScores, group: str | None, own: Places) -> tuple[Places, tuple[str, ...], int]:
    """Positions of the segments of every system on the items that all have, the systems, and the items left out."""
    where = f"group {group!r}" if group is not None else "the data"
    segments = [held.segments[i] for i in own]
    for segment in segments:
        if segment.system is None or segment.item is None:
            lacking = "system" if segment.system is None else "item"
            raise InputError(f"segment {segment.id!r} names no {lacking}; thresholds need both for every segment")
    by_item: dict[str, dict[str, int]] = {}
    for name, rows in by_system([s.id for s in segments], [s.system for s in segments]).items():
        mine = by_item.setdefault(str(name), {})
        for row in rows.tolist():
            item = str(segments[row].item)
            if item in mine:
                raise InputError(f"system {name!r} has item {item!r} twice in {where}, expected once")
            mine[item] = int(own[row])
    if len(by_item) < 2:
        raise InputError(f"{where} has one rated system, {next(iter(by_item))!r}; thresholds compare at least two")
    every = dict.fromkeys(item for mine in by_item.values() for item in mine)
    common = [item for item in every if all(item in mine for mine in by_item.values())]
    if not common:
        fewest = sorted(by_item, key=lambda name: len(by_item[name]))
        raise InputError(f"no item of {where} is rated for all systems; leave some out (exclude), as {some(fewest)}")
    places = np.array([[mine[item] for item in common] for mine in by_item.values()], dtype=np.int64)
    return places, tuple(by_item), len(every) - len(common)


# --- Thresholds of metrics from sets of rated systems: a curve per metric, its intervals, and how well it holds

_WIDE = 4  # times as many segments in the largest sample as in the smallest


def fit_thresholds(
    held: JoinedScores | Sequence[JoinedScores],
    *,
    forms: Sequence[Form] = FORMS,
    draws: int = 200,
    samples: int = 10,
    seed: int = 0,
    about: str = "",
    inputs: Sequence[Mapping[str, str]] = (),
) -> Thresholds:
    """Fit how often people agree with a difference of two systems, for every metric that all sets have.

    Each group of a data set is a set, of which the segments count that are rated for all of its systems.

    Args:
        held: scores and ratings, as `meta_evaluate(...).held`; one or several data sets, each with one criterion.
        forms: forms of the curve to choose from, by log loss on systems left out; see `AgreementCurve`.
        draws: resamples of sets and systems, for intervals.
        samples: samples of the items of each size, so that pairs over few segments count, too.
        seed: the seed of samples and resamples.
        about: what the sets are, in a few words.
        inputs: the files that were read.

    Raises:
        InputError: systems, items or ratings are missing, or the sets have no metric in common.
    """
    held = [held] if isinstance(held, JoinedScores) else list(held)
    if not held:
        raise InputError("no data set is given, expected the scores and ratings of one or more")
    if not forms:
        raise InputError(f"forms is empty, expected one or more of {', '.join(FORMS)}")
    check_draws(draws)
    check_draws(samples)
    found = [rated_sets(one, draws=samples, seed=seed) for one in held]
    sets, notes = [own for own, _ in found], [note for _, told in found for note in told]
    names = [name for name in held[0].scores if all(name in one.scores for one in held)]
    if not names:
        raise InputError("no metric has scores of segments in every set; thresholds need one")
    metrics = tuple(_fitted(held, sets, name, forms, draws, seed) for name in names)
    entries = tuple(rated.as_json() for own in sets for rated in own)
    return Thresholds(metrics, entries, tuple(inputs), about=about, notes=tuple(notes))


def _fitted(
    held: Sequence[JoinedScores],
    sets: Sequence[Sequence[RatedSet]],
    name: str,
    forms: Sequence[Form],
    draws: int,
    seed: int,
) -> MetricThresholds:
    pairs = system_pairs(held, sets, name)
    wide = pairs.n.max() >= _WIDE * pairs.n.min()  # else the data cannot say what n does
    fitting: Sequence[Form] = [form for form in forms if wide or form != "logistic_n"]
    if not fitting:
        raise InputError(
            f"forms names 'logistic_n' alone, and the samples of {name} have {pairs.n.min():.0f} to"
            f" {pairs.n.max():.0f} segments, expected {_WIDE} times as many in the largest; name 'logistic', too"
        )
    form, left_out = best_form(pairs, fitting)
    several = len({int(group) for group in pairs.group}) > 1
    scores = held[0].scores[name]
    return MetricThresholds(
        spec=name,
        signature=str(scores.signature),
        higher_is_better=scores.higher_is_better,
        references=_references(held, sets, name),
        curve=fit_curve(pairs, form),
        resampled=resampled_curves(pairs, form, draws=draws, seed=seed),
        largest=float(pairs.difference.max()),
        n=(int(pairs.n.min()), int(pairs.n.max())),
        systems=sum(len(rated.systems) for own in sets for rated in own),
        pairs=pairs.n_pairs,
        calibration_error=left_out.calibration_error(),
        error_by_chance=left_out.error_by_chance(seed=seed),
        error_over_sets=held_out(pairs, form, "sets").calibration_error() if several else None,
    )


def _references(held: Sequence[JoinedScores], sets: Sequence[Sequence[RatedSet]], name: str) -> tuple[int, int] | None:
    """The least and the greatest number of references per segment; None where the metric reads none."""
    try:
        if "references" not in metric_of(name).info.needs:
            return None
    except SpecError:  # a column of scores made elsewhere
        return None
    read = [
        len(one.segments[place].references)
        for one, own in zip(held, sets, strict=True)
        for rated in own
        for place in rated.places.ravel()
    ]
    return min(read), max(read)
