"""How far may a correlation be from its true value? Intervals, and Fisher's formula for them."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, Unpack, cast

import numpy as np

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError
from nlgauge.core.options import OneOf, check_option
from nlgauge.stats.correlate import Correlation, Options, PlainOptions, StatisticPlan, correlations, prepare
from nlgauge.stats.draws import (
    AXES,
    Averaging,
    Seed,
    check_draws,
    check_grid,
    check_level,
    generator,
    percentiles,
    resample_counts,
    standardise,
)
from nlgauge.stats.entries import (
    Codes,
    Entries,
    Grouped,
    Ratio,
    by_group,
    lay_flat,
    mean_of_groups,
    namer,
    pool,
    settle_preferences,
    settle_scores,
    without_offset,
)
from nlgauge.stats.preferences import calibrate_entries

_BONETT_WRIGHT = {"pearson": 3, "spearman": 3, "kendall_b": 4, "kendall_c": 4}
_ONE = 1 - 1e-15  # the largest r with a finite atanh


@dataclass(frozen=True, kw_only=True)
class Interval:
    """A statistic with an interval.

    Attributes:
        stat: the name of the statistic.
        value: the value; NaN where undefined.
        low: lower end; NaN where undefined.
        high: upper end.
        confidence: 0.95 means that the interval holds the true value 19 times out of 20, if the assumptions of the
            method hold.
        method: `bootstrap`.
        generalise_to: what was resampled: `items`, `systems` or `both`.
        n_used: see `Correlation`.
        n_undefined: see `Correlation`.
        draws: the number of resamples.
        n_undefined_draws: draws on which the statistic is undefined; they are left out.
        level: `segment` or `system`.
        averaging: `none`, `item`, `sys` or `micro`.
        ties: how ties are settled; None where there is no choice.
    """

    stat: str
    value: float
    low: float
    high: float
    confidence: float
    method: str
    generalise_to: str | None = None
    n_used: int
    n_undefined: int = 0
    draws: int = 0
    n_undefined_draws: int = 0
    level: str = "segment"
    averaging: str = "none"
    ties: str | None = None


def fisher_ends(stat: str, r: float | Array, n: int | Array) -> tuple[Array, Array]:
    """Ends of Fisher's 95 % interval for correlations of n independent pairs; shapes broadcast, NaN for too small n.

    tanh(atanh r -+ z c / sqrt(n - b)), with b = 3 and c = 1 for Pearson, b = 3 and c = sqrt(1 + r^2 / 2) for Spearman,
    b = 4 and c = sqrt(0.437) for Kendall.

    Raises:
        InputError: another statistic.

    References:
        Bonett and Wright (2000), "Sample Size Requirements for Estimating Pearson, Kendall and Spearman Correlations".
    """
    from scipy import special

    check_option("statistic of a Fisher interval", stat, Annotated[str, OneOf(_BONETT_WRIGHT)], error=InputError)
    r, room = np.asarray(r, dtype=np.float64), np.asarray(n, dtype=np.float64) - _BONETT_WRIGHT[stat]
    kendall = np.full_like(r, math.sqrt(0.437))
    width = {"pearson": np.ones_like(r), "spearman": np.sqrt(1 + r * r / 2)}.get(stat, kendall)
    with np.errstate(invalid="ignore", divide="ignore"):
        half = float(special.ndtri((1 + 0.95) / 2)) * width / np.sqrt(np.where(room > 0, room, np.nan))
        middle = np.arctanh(r)
        return np.tanh(middle - half), np.tanh(middle + half)


def widened_ends(x: Array, z: Array) -> tuple[Array, Array]:
    """Ends of the 95 % interval of Pearson's r for independent pairs that need not be normal, shape (M,) each.

    On the scale of atanh r, the half width is that of Fisher's formula or of the jackknife, whichever is larger: if
    both sides are skewed, r varies far more than the formula says (`recipes/studies/coverage/simulate.py`). Scores have
    shape (M, n), judgements (n,); a pair with NaN is left out. NaN from fewer than 4 pairs or constant values.

    References:
        Efron and Tibshirani (1993), "An Introduction to the Bootstrap", chapter 11, for the jackknife.
    """
    from scipy import special

    quantile, ends = float(special.ndtri((1 + 0.95) / 2)), []
    for row in np.atleast_2d(x):
        known = ~np.isnan(row) & ~np.isnan(z)
        r, left_out = _r_and_left_out(row[known], z[known])
        n = len(left_out)
        if n < 4 or np.isnan(r):
            ends.append((math.nan, math.nan))
            continue
        middle = math.atanh(r)
        jackknife = math.sqrt((n - 1) / n * float(((left_out - left_out.mean()) ** 2).sum()))
        half = quantile * max(1 / math.sqrt(n - _BONETT_WRIGHT["pearson"]), jackknife)
        ends.append((math.tanh(middle - half), math.tanh(middle + half)))
    low, high = np.array(ends).T
    return low, high


def _r_and_left_out(x: Array, z: Array) -> tuple[float, Array]:
    """Pearson's r of n pairs, and atanh of r without each of them, shape (n,); NaN where a side is constant."""
    n = len(x)
    if n < 4 or np.ptp(x) == 0 or np.ptp(z) == 0:
        return math.nan, np.full(n, math.nan)
    x, z = (x - x.mean()) / x.std(), (z - z.mean()) / z.std()
    r = float(np.clip((x * z).mean(), -_ONE, _ONE))
    # Sums without one pair: its own term off, and the mean of the rest is -x / (n - 1).
    product = (n * r - x * z) / (n - 1) - x * z / (n - 1) ** 2
    squares = [(n - a * a) / (n - 1) - a * a / (n - 1) ** 2 for a in (x, z)]
    with np.errstate(invalid="ignore", divide="ignore"):
        without = product / np.sqrt(squares[0] * squares[1])
    return r, np.arctanh(np.clip(np.nan_to_num(without, nan=r), -_ONE, _ONE))


# --- How far would a correlation stray on other items, on other systems, or on both?

Resample = Literal["items", "systems", "both"]

# items drawn (b, N), systems drawn (b, S), b: to shape (b, M)
Evaluate = Callable[[Codes | None, Codes | None, int], Array]

_CELLS = 1 << 21  # draws x entries x metrics held at once


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

    Draw what the claim is about: a claim about metrics in general needs other systems. Below 100 items intervals are
    too narrow, and for Pearson's r over all entries also where both sides are skewed.

    Args:
        name, xs, z, groups, options: as in `correlations`; soft pairwise accuracy, differences and held-out thresholds
            have no bootstrap. A tie threshold is calibrated anew on every draw.
        resample: what is drawn with replacement: `items` (columns of a grid, else groups, else entries), `systems` or
            `both`. A system that is drawn twice ties with itself, which makes Kendall and accuracies a little smaller,
            so that an interval can lie below the value. Below 20 systems such intervals are too narrow; Fisher's
            formula holds from five on, for normal scores.
        draws, seed, confidence: B resamples, their seed, and the confidence of the interval.

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
    held_out = plan.n_folds > 0  # copies of an item would be on both sides
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
    plan: StatisticPlan,
    x: Array,
    z: Array,
    groups: Sequence[Hashable] | None,
    resample: str,
    draws: int,
    seeds: list[int],
) -> Array:
    """The statistic of every metric on every draw, shape (B, M)."""
    data, by_system = _laid(plan, x, z, groups, resample)
    sizes = int(data.units.max()) + 1, int(by_system.max()) + 1
    for size, what in zip(sizes, ("items", "systems"), strict=True):
        if size < 2 and resample in (what, "both"):
            raise InputError(f"resample={resample!r} needs 2 {what} or more, got {size}")
    drawn_groups = {"items": data.units, "systems": by_system}.get(resample)
    evaluate, cells = _of_segments(plan, data, by_system), x.size
    if plan.level == "system":
        evaluate, cells = _of_systems(plan, data, by_system), max(sizes) + len(x) * sizes[1]
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


def _laid(
    plan: StatisticPlan, x: Array, z: Array, groups: Sequence[Hashable] | None, resample: str
) -> tuple[Entries, Codes]:
    """Scores with the policy for missing ones applied, whose units are items, and the system of each entry.

    By items and systems draws take or leave entries; systems are zeros where they are not drawn.
    """
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
    return replace(laid, x=scores, keep=keep, units=items), systems


def _of_whole_groups(plan: StatisticPlan, data: Entries) -> Evaluate:
    """Groups are drawn as they are: their values are computed once, and a draw weights them."""
    grouped = by_group(plan.stat.kernel, data, smallest=plan.smallest, options=plan.own)

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


def _of_systems(plan: StatisticPlan, data: Entries, by_system: Codes) -> Evaluate:
    """Draws of system means, which are weighted sums over items: one product serves all draws, systems and metrics."""
    n_metrics, n_items, n_systems = len(data.x), int(data.units.max()) + 1, int(by_system.max()) + 1
    cell, rated = by_system * n_items + data.units, ~np.isnan(data.z)
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


def _of_segments(plan: StatisticPlan, data: Entries, by_system: Codes) -> Evaluate:
    """Entries are copied as often as their item and system are drawn; groups of all draws are evaluated together."""

    def evaluate(items: Codes | None, systems: Codes | None, b: int) -> Array:
        places, codes, n_groups = [], [], 1
        for draw in range(b):
            index, groups = np.arange(len(data.z)), data.groups
            for labels, drawn in ((by_system, systems), (data.units, items)):
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
    # 0 for the first copy of an entry, 1 for the second, ...
    turn = np.arange(len(index)) - np.repeat(np.cumsum(often) - often, often)
    order, start = np.argsort(drawn, kind="stable"), np.cumsum(counts) - counts
    return index, order[start[labels[index]] + turn]


def _values(plan: StatisticPlan, entries: Entries, b: int) -> Array:
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


def _calibrated(plan: StatisticPlan, entries: Entries, first: int, n_groups: int) -> Array:
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


# --- Pearson's r of grids whose items count several times: all draws of a bootstrap from products

_CONSTANT = 1e-12  # a variance that is less than this share of the squares is rounding


def pearson_ends(human: Array, metrics: Array, *, draws: int = 1000, seed: Seed = 0) -> tuple[Array, Array]:
    """95 % percentile bootstrap over items of Pearson's r over all cells of a grid, for M metrics on the same draws.

    Sums of every item, weighted by how often it is drawn, serve all B draws at once. Judgements have shape (S, N), NaN
    where missing, and scores (M, S, N).

    Returns:
        Lower and upper ends, shape (M,) each; NaN for a constant metric.

    Raises:
        InputError: shapes that do not fit, a missing score, fewer than 2 items.
    """
    human, metrics = check_grid(human, metrics)
    check_draws(draws)
    if human.shape[1] < 2:
        raise InputError(f"a bootstrap over items needs 2 or more, got {human.shape[1]}")
    z, constant = standardise(metrics, ~np.isnan(human))
    columns = np.asarray(resample_counts(generator(seed), draws, human.shape[1]), dtype=np.float64)  # (B, N)
    drawn = segment_weights(human, z, columns, "none")
    return percentiles(np.where(constant, np.nan, drawn), 0.95)


def segment_weights(human: Array, z: Array, columns: Array, averaging: Averaging) -> Array:
    """(Averaged) Pearson correlations of M metrics on B draws of items, shape (B, M); NaN where no group is defined.

    Args:
        human: shape (S, N), NaN where missing.
        z: scores, shape (M, S, N), 0 where not judged.
        columns: how often each item counts, shape (B, N).
        averaging: what a correlation spans: `none` or `sys`.
    """
    table = _columns(human, z, averaging)  # (columns, S, N)
    sums = (table.reshape(-1, human.shape[1]) @ columns.T).reshape(*table.shape[:2], -1)  # (columns, S, B)
    if averaging == "none":
        return _r(sums.sum(axis=1), len(z)).T
    r = _r(sums, len(z))  # (M, S, B)
    defined = ~np.isnan(r)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((np.where(defined, r, 0.0).sum(axis=1) / defined.sum(axis=1)).T)


def _columns(human: Array, z: Array, averaging: Averaging) -> Array:
    """Columns [1, g, g^2, z, z^2, z g] over judged cells, both sides centred in their groups, shape (3 + 3 M, S, N)."""
    axes, judged = AXES[averaging], ~np.isnan(human)
    n = np.maximum(judged.sum(axis=axes, keepdims=True), 1)
    held = np.where(judged, human, 0.0)
    g = np.where(judged, held - held.sum(axis=axes, keepdims=True) / n, 0.0)
    size = np.sqrt((g**2).mean()) or 1.0
    g = g / size
    moved = np.where(judged, z - z.sum(axis=tuple(a + 1 for a in axes), keepdims=True) / n, 0.0)
    ones = judged.astype(np.float64)[None]
    return np.concatenate([ones, g[None], (g * g)[None], moved, moved * moved, moved * g])


def _r(sums: Array, m: int) -> Array:
    """r from weighted sums of the columns, shape (3 + 3 M, ...) to (M, ...); NaN where a side is constant."""
    n = np.where(sums[0] > 0, sums[0], 1.0)
    g, g2, x, x2, xg = sums[1], sums[2], sums[3 : 3 + m], sums[3 + m : 3 + 2 * m], sums[3 + 2 * m :]
    spread_g, spread_x = g2 - g * g / n, x2 - x * x / n
    constant = (spread_g <= _CONSTANT * g2) | (spread_x <= _CONSTANT * x2)
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (xg - x * g / n) / np.sqrt(spread_g * spread_x)
    return np.asarray(np.where(constant, np.nan, np.clip(r, -1, 1)))
