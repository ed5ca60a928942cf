"""How far would a correlation stray on other items, on other systems, or on both?"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Unpack, cast

import numpy as np

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError
from nlgauge.core.options import check_option
from nlgauge.stats.correlation.averaging import Grouped, Ratio, by_group, mean_of_groups, pool
from nlgauge.stats.correlation.calibration import calibrate_entries
from nlgauge.stats.correlation.correlate import Correlation, correlations
from nlgauge.stats.correlation.entries import Codes, Entries, lay_flat, namer, settle_preferences
from nlgauge.stats.correlation.levels import settle_scores, without_offset
from nlgauge.stats.correlation.options import Options, PlainOptions, Plan, prepare
from nlgauge.stats.draws import Seed, check_draws, check_level, generator, percentiles
from nlgauge.stats.intervals.fisher import Interval

Resample = Literal["items", "systems", "both"]

Evaluate = Callable[
    [Codes | None, Codes | None, int], Array
]  # items drawn (b, N), systems drawn (b, S), b: to shape (b, M)

_CELLS = 1 << 21  # draws x entries x metrics held at once


@dataclass(frozen=True)
class _Segments:
    """Scores with the policy for missing ones applied, and the labels by which draws take or leave entries.

    Attributes:
        x: scores, shape (M, n).
        z: judgements, shape (n,).
        keep: which entries count for each metric, shape (M, n).
        groups: the group of each entry, used for averaging, shape (n,).
        items: the item of each entry, shape (n,).
        systems: the system of each entry, shape (n,); zeros where systems are not drawn.
    """

    x: Array
    z: Array
    keep: Mask
    groups: Codes
    items: Codes
    systems: Codes


def bootstrap_correlation(
    name: str,
    x: Any,
    z: Any,
    groups: Sequence[Hashable] | None = None,
    *,
    resample: str = "items",
    draws: int = 1000,
    seed: Seed = 0,
    confidence: float = 0.95,
    **options: Unpack[PlainOptions],
) -> Interval:
    """Percentile bootstrap of a statistic of one metric; see `bootstrap_correlations`."""
    preferences = name in ("rr_kendall", "preference_accuracy")
    return bootstrap_correlations(
        name,
        [x],
        [z] if preferences else z,
        groups,
        resample=resample,
        draws=draws,
        seed=seed,
        confidence=confidence,
        **options,
    )[0]


def bootstrap_correlations(
    name: str,
    xs: Any,
    z: Any,
    groups: Sequence[Hashable] | None = None,
    *,
    resample: str = "items",
    draws: int = 1000,
    seed: Seed = 0,
    confidence: float = 0.95,
    **options: Unpack[PlainOptions],
) -> list[Interval]:
    """Percentile bootstrap of a statistic of M metrics on the same draws.

    Args:
        name: as in `correlation`; soft pairwise accuracy, differences and held-out thresholds have no bootstrap.
        xs: as in `correlations`.
        z: as in `correlations`.
        groups: as in `correlation`.
        resample: what is drawn with replacement: `items` (columns of a grid, else groups, else entries), `systems` or
            `both`. The interval generalises to others of these. A system that is drawn twice ties with itself, which
            makes Kendall and accuracies a little smaller.
        draws: the number of resamples, B.
        seed: a whole number or a generator, which is advanced.
        confidence: the confidence of the interval.
        options: as in `correlations`. A tie threshold is calibrated anew on every draw.

    Raises:
        InputError: as in `correlations`; or there are fewer than two systems or items to draw from, or systems are not
            named.

    References:
        Deutsch, Dror and Roth (2021), "A Statistical Analysis of Summarization Evaluation Metrics Using Resampling
        Methods", section 4.
    """
    check_option("resample", resample, Resample, error=InputError)
    check_draws(draws)
    check_level(confidence)
    plan, x, given, _ = prepare(name, xs, z, groups, cast(Options, options))
    held_out = plan.own.get("folds", plan.stat.folds)  # copies of an item would be on both sides
    if held_out or plan.stat.kind in ("soft", "differences", "difference_pairs") or plan.options["compat"]:
        raise InputError(
            f"{plan.name if plan.options['compat'] is None else 'the procedure of another package'} has no bootstrap"
            " here"
        )
    if plan.options["common"] or (plan.level == "system" and groups is not None):
        raise InputError(
            "a bootstrap takes one metric and one set of systems at a time: leave out common=, and groups at"
            " level='system'"
        )
    found = correlations(name, xs, z, groups, **options)
    seeds = generator(seed).integers(1 << 62, size=2).tolist()  # of items and of systems, the same for every metric
    if plan.stat.kind == "preferences":
        missing = plan.options["missing"]
        pairs = (settle_preferences(better, worse, missing) for better, worse in zip(x, given, strict=True))
        parts = [_drawn(plan, better, worse, groups, resample, draws, seeds) for better, worse in pairs]
        drawn = np.concatenate(parts, axis=1)
    else:
        drawn = _drawn(plan, x, given, groups, resample, draws, seeds)
    return _intervals(found, drawn, resample, confidence)


def _intervals(found: Sequence[Correlation], drawn: Array, resample: str, confidence: float) -> list[Interval]:
    low, high = percentiles(drawn, confidence)
    undefined = np.isnan(drawn).sum(axis=0)
    return [
        Interval(
            stat=one.stat,
            value=one.value,
            low=float(low[m]),
            high=float(high[m]),
            confidence=confidence,
            method="bootstrap",
            generalise_to=resample,
            n_used=one.n_used,
            n_undefined=one.n_undefined,
            draws=len(drawn),
            n_undefined_draws=int(undefined[m]),
            level=one.level,
            averaging=one.averaging,
            ties=one.ties,
        )
        for m, one in enumerate(found)
    ]


def _drawn(
    plan: Plan, x: Array, z: Array, groups: Sequence[Hashable] | None, resample: str, draws: int, seeds: list[int]
) -> Array:
    """The statistic of every metric on every draw, shape (B, M)."""
    data = _segments(plan, x, z, groups, resample)
    sizes = int(data.items.max()) + 1, int(data.systems.max()) + 1
    for size, what in zip(sizes, ("items", "systems"), strict=True):
        if size < 2 and resample in (what, "both"):
            raise InputError(f"resample={resample!r} needs 2 {what} or more, got {size}")
    drawn_groups = {"items": data.items, "systems": data.systems}.get(resample)
    evaluate, cells = _of_segments(plan, data), x.size
    if plan.level == "system":
        evaluate, cells = _of_systems(plan, data), max(sizes) + len(x) * sizes[1]
    elif (
        plan.averaging != "none"
        and plan.stat.kind != "calibrated"
        and drawn_groups is not None
        and np.array_equal(drawn_groups, data.groups)
    ):
        evaluate, cells = _of_whole_groups(plan, data), max(sizes)
    streams = [np.random.default_rng(seed) for seed in seeds]
    parts = []
    for block in range(0, draws, max(1, _CELLS // cells)):
        b = min(draws - block, max(1, _CELLS // cells))
        items, systems = (
            rng.integers(size, size=(b, size)) if resample in (what, "both") else None
            for rng, size, what in zip(streams, sizes, ("items", "systems"), strict=True)
        )
        parts.append(evaluate(items, systems, b))
    return np.concatenate(parts)


def _segments(plan: Plan, x: Array, z: Array, groups: Sequence[Hashable] | None, resample: str) -> _Segments:
    laid = lay_flat(x, z, groups, plan.options["systems"], plan.averaging)
    scores, keep = settle_scores(
        laid, plan.level, plan.options["missing"], plan.options["system_scores"], namer(z.shape, plan.options["ids"])
    )
    items, systems = laid.units, laid.systems
    if systems is None and z.ndim == 1:
        if plan.averaging == "sys":
            systems = laid.groups
        elif plan.level == "system":
            items, systems = np.zeros_like(laid.groups), np.arange(z.size)
    if systems is None:
        if resample != "items":
            raise InputError(
                f"resample={resample!r} draws systems, and nobody said which there are; give systems=, or a grid of"
                " systems by items"
            )
        systems = np.zeros_like(items)
    return _Segments(scores, laid.z, keep, laid.groups, items, systems)


def _of_whole_groups(plan: Plan, data: _Segments) -> Evaluate:
    """Groups are drawn as they are: their values are computed once, and a draw weights them."""
    grouped = by_group(
        plan.stat.kernel, _entries(data.x, data.z, data.keep, data.groups), smallest=plan.smallest, options=plan.own
    )

    def evaluate(items: Codes | None, systems: Codes | None, b: int) -> Array:
        weights = _counts(items if items is not None else systems, grouped.values.shape[1], b)  # (b, G)
        if plan.averaging == "micro" and grouped.counts is not None:
            above, below = weights @ grouped.counts.numerator.T, weights @ grouped.counts.denominator.T
        else:
            undefined = np.isnan(grouped.values)
            counted = ~undefined | (grouped.sizes >= 2) if plan.options["undefined"] == "zero" else ~undefined
            above, below = weights @ np.where(undefined, 0.0, grouped.values).T, weights @ counted.astype(np.float64).T
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(above / below)

    return evaluate


def _of_systems(plan: Plan, data: _Segments) -> Evaluate:
    """Draws of system means, which are weighted sums over items: one product serves all draws, systems and metrics."""
    n_metrics, n_items, n_systems = len(data.x), int(data.items.max()) + 1, int(data.systems.max()) + 1
    cell, rated = data.systems * n_items + data.items, ~np.isnan(data.z)
    counted = data.keep & rated if plan.options["system_scores"] == "rated" else data.keep

    def sums(values: Array, used: Mask) -> Array:
        found = np.bincount(cell[used], weights=values[used], minlength=n_systems * n_items)
        return np.asarray(found.reshape(n_systems, n_items))

    ones = np.ones(len(data.z))
    shifted = [without_offset(row) for row in data.x]
    table = np.stack(
        [
            *(sums(row, used) for row, used in zip(shifted, counted, strict=True)),
            sums(without_offset(data.z), rated),
            *(sums(ones, used) for used in counted),
            sums(ones, rated),
        ]
    ).reshape(-1, n_items)  # (2 (M + 1) S, items)

    def evaluate(items: Codes | None, systems: Codes | None, b: int) -> Array:
        totals = (table @ _counts(items, n_items, b).T).reshape(2, n_metrics + 1, n_systems, b)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = totals[0] / totals[1]  # (M + 1, S, b)
        if systems is not None:
            means = np.take_along_axis(means, systems.T[None], axis=1)
        means = means.transpose(0, 2, 1).reshape(n_metrics + 1, -1)  # (M + 1, b S), draw after draw
        scores, human = plan.on_grid(means[:-1], means[-1])
        keep = ~np.isnan(scores) & ~np.isnan(human)
        return _values(plan, _entries(scores, human, keep, np.repeat(np.arange(b), n_systems)), b)

    return evaluate


def _of_segments(plan: Plan, data: _Segments) -> Evaluate:
    """Entries are copied as often as their item and system are drawn; groups of all draws are evaluated together."""

    def evaluate(items: Codes | None, systems: Codes | None, b: int) -> Array:
        places, codes, n_groups = [], [], 1
        for draw in range(b):
            index, groups = np.arange(len(data.z)), data.groups
            for labels, drawn in ((data.systems, systems), (data.items, items)):
                if drawn is None:
                    continue
                chosen, new = _copies(labels[index], drawn[draw])
                index = index[chosen]
                groups = new if labels is not None and np.array_equal(labels, data.groups) else groups[chosen]
            places.append(index)
            codes.append(groups)
            n_groups = max(n_groups, int(groups.max(initial=0)) + 1)
        at = np.concatenate(places)
        of = np.concatenate([groups + draw * n_groups for draw, groups in enumerate(codes)])
        return _values(plan, _entries(data.x[:, at], data.z[at], data.keep[:, at], of, b * n_groups), b)

    return evaluate


def _copies(labels: Codes, drawn: Codes) -> tuple[Codes, Codes]:
    """Positions of entries, each as often as its label was drawn, and the draw that brought each: shapes (m,) twice."""
    counts = np.bincount(drawn, minlength=int(labels.max(initial=0)) + 1)
    often = counts[labels]
    index = np.repeat(np.arange(len(labels)), often)
    turn = np.arange(len(index)) - np.repeat(
        np.cumsum(often) - often, often
    )  # 0 for the first copy of an entry, 1 for the second, ...
    order, start = np.argsort(drawn, kind="stable"), np.cumsum(counts) - counts
    return index, order[start[labels[index]] + turn]


def _values(plan: Plan, entries: Entries, b: int) -> Array:
    """The statistic on each of b draws, whose groups follow one another: shape (b, M)."""
    n_metrics, n_groups = len(entries.x), len(entries.labels) // b
    own: dict[str, Any] = dict(plan.own)
    if plan.stat.kind == "calibrated":
        return np.stack([_calibrated(plan, entries, draw * n_groups, n_groups) for draw in range(b)])
    grouped = by_group(plan.stat.kernel, entries, smallest=plan.smallest, options=own)

    def split(values: Any) -> Any:
        return values.reshape(n_metrics * b, n_groups)

    counts = grouped.counts
    each = Grouped(split(grouped.values), split(grouped.sizes), None)
    if plan.averaging == "micro" and counts is not None:
        means = pool(Ratio(split(counts.numerator), split(counts.denominator), split(counts.ties)))
    else:
        # without groups an undefined draw is undefined, as the value would be
        means = mean_of_groups(each, undefined="skip" if plan.averaging == "none" else plan.options["undefined"])
    return means.values.reshape(n_metrics, b).T


def _calibrated(plan: Plan, entries: Entries, first: int, n_groups: int) -> Array:
    here = (entries.groups >= first) & (entries.groups < first + n_groups)
    one = _entries(entries.x[:, here], entries.z[here], entries.keep[:, here], entries.groups[here] - first, n_groups)
    accuracies = np.array([threshold.accuracy for threshold in calibrate_entries(one, **plan.own)])
    return 2 * accuracies - 1 if plan.name.startswith("tau") else accuracies


def _entries(x: Array, z: Array, keep: Mask, groups: Codes, n_groups: int | None = None) -> Entries:
    n = int(groups.max(initial=-1)) + 1 if n_groups is None else n_groups
    return Entries(x, z, keep, groups, tuple(range(n)), groups)


def _counts(drawn: Codes | None, n: int, b: int) -> Array:
    """How often each of n is drawn, shape (b, n); once each where nothing is drawn."""
    if drawn is None:
        return np.ones((b, n))
    return np.stack([np.bincount(row, minlength=n) for row in drawn]).astype(np.float64)
