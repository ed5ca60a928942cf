"""How well does a metric agree with people? One entry point to every statistic, for one metric or many at once."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.stats.correlation import chance, compat
from nlgauge.stats.correlation.averaging import Grouped, Means, by_group, mean_of_groups, pool, same_entries
from nlgauge.stats.correlation.calibration import agreement, calibrate_entries, calibrate_held_out
from nlgauge.stats.correlation.differences import mean_of_system_pairs, pairwise_difference_pearson
from nlgauge.stats.correlation.entries import Entries, lay_flat, namer, settle_missing, settle_preferences
from nlgauge.stats.correlation.levels import Missing
from nlgauge.stats.correlation.options import Options, Plan, entries_of, prepare
from nlgauge.stats.correlation.registry import statistic
from nlgauge.stats.correlation.system_pairs import soft_pairwise
from nlgauge.stats.shares import SHARES


@dataclass(frozen=True, kw_only=True)
class Correlation:
    """A statistic, and what it was computed from.

    Attributes:
        stat: the name of the statistic.
        value: the value; NaN where undefined.
        n_used: how many parts the value rests on: entries (averaging `none`), systems (level `system`) or groups
            (`item`, `sys`, `micro`).
        n_undefined: how many more were given and could not be used: without a judgement, with a dropped score, or a
            group that is too small or constant.
        n_missing: entries without a judgement, or whose score was dropped.
        n_zeroed: groups among those used that have no defined value and count as 0.
        n_pairs: pairs in the denominator, where pairs are pooled or not grouped; None elsewhere.
        n_ties: pairs that only one side ties, where `n_pairs` is given.
        level: `segment` or `system`.
        averaging: `none`, `item`, `sys` or `micro`.
        ties: how ties are settled; None where the statistic leaves no choice.
        epsilon: the difference of scores up to which they are tied; None where there is none. With held-out folds it
            is the threshold calibrated on all data.
        epsilon_unique: whether no other threshold is as good; None where no threshold was calibrated.
        chance: the value that random scores would reach; NaN where it is not known.
        low: lower end of a 95 % interval (preference accuracy without groups), Wilson's by default; NaN elsewhere.
        high: upper end.
        raw: the value as if higher were better for every metric; NaN where it was not computed.
        higher_is_better: the orientation declared; scores for which lower is better were negated first.
        compat: the package whose procedure was followed, or None.
        note: what a reader should know beside the number.
        groups: the value of each group by its label, NaN where undefined; empty with averaging `none`.
    """

    stat: str
    value: float
    n_used: int
    n_undefined: int
    n_missing: int
    n_zeroed: int = 0
    n_pairs: int | None = None
    n_ties: int | None = None
    level: str
    averaging: str
    ties: str | None = None
    epsilon: float | None = None
    epsilon_unique: bool | None = None
    chance: float = math.nan
    low: float = math.nan
    high: float = math.nan
    raw: float = math.nan
    higher_is_better: bool = True
    compat: str | None = None
    note: str = ""
    groups: dict[Hashable, float] = field(default_factory=dict, repr=False)


def summarise(
    grouped: Grouped,
    *,
    stat: str,
    level: str,
    averaging: str,
    labels: tuple[Hashable, ...],
    n_given: int,
    n_missing: npt.NDArray[np.int64],
    undefined: str = "skip",
    common: bool = False,
) -> list[Correlation]:
    """One result per metric from its values by group.

    Args:
        grouped: values, sizes and perhaps counts of M metrics in G groups.
        stat: the name of the statistic.
        level: the level to record.
        averaging: `none` (there is one group), `item`, `sys` or `micro`.
        labels: the names of the groups.
        n_given: the number of entries (or systems) that were given, used or not.
        n_missing: the number of missing entries per metric, shape (M,).
        undefined: see `mean_of_groups`.
        common: see `mean_of_groups`.
    """
    counts = grouped.counts
    if averaging == "none":
        defined = ~np.isnan(grouped.values[:, 0])
        n_used = np.where(defined, grouped.sizes[:, 0], 0)
        means = Means(grouped.values[:, 0], n_used, n_given - n_used, np.zeros_like(n_used))
    elif averaging == "micro" and counts is not None:
        means = pool(counts)
    else:
        means = mean_of_groups(grouped, undefined=undefined, common=common)
    show_pairs = counts is not None and averaging in ("none", "micro")
    found = []
    for m in range(len(grouped.values)):
        found.append(
            Correlation(
                stat=stat,
                value=float(means.values[m]),
                n_used=int(means.n_used[m]),
                n_undefined=int(means.n_undefined[m]),
                n_missing=int(n_missing[m]),
                n_zeroed=int(means.n_zeroed[m]),
                n_pairs=int(counts.denominator[m].sum()) if show_pairs and counts is not None else None,
                n_ties=int(counts.ties[m].sum()) if show_pairs and counts is not None else None,
                level=level,
                averaging=averaging,
                groups={} if averaging == "none" else dict(zip(labels, grouped.values[m].tolist(), strict=True)),
            )
        )
    return found


def correlation(
    name: str, x: Any, z: Any, groups: Sequence[Hashable] | None = None, **options: Unpack[Options]
) -> Correlation:
    """Compare the scores of one metric with judgements.

    Args:
        name: `pearson`, `spearman`, `kendall_b`, `kendall_c`, `wmt_kendall_like`, `rr_kendall`, `acc_eq`, `tau_eq`,
            `acc_eq_calibrated`, `tau_eq_calibrated`, `pairwise_accuracy`, `soft_pairwise_accuracy`, `auc`,
            `preference_accuracy`, `pdp`, `pdp_pairs`, or the name of a plug-in's statistic.
        x: scores, shape (n,), or (S, N) with one row per system and one column per item. For `rr_kendall` and
            `preference_accuracy`: scores of the better texts.
        z: judgements of the same shape; None or NaN where there is none. For `rr_kendall` and `preference_accuracy`:
            scores of the worse texts.
        groups: a label for each entry of a vector: its item, its system or its language pair. A grid needs none: its
            rows and columns are its groups.
        options: see `Options`.

    Returns:
        The value with everything it rests on.

    Raises:
        InputError: a name or option is unknown, shapes do not match, or a score is missing where there is a judgement.
    """
    return correlations(name, [x], [z] if statistic(name).kind == "preferences" else z, groups, **options)[0]


def correlations(
    name: str, xs: Any, z: Any, groups: Sequence[Hashable] | None = None, **options: Unpack[Options]
) -> list[Correlation]:
    """Hold the scores of M metrics against the same judgements; one result per metric.

    Arguments are those of `correlation`, with one more axis in front of `xs`.

    For `rr_kendall` and `preference_accuracy` the scores of the worse texts have that axis as well.
    """
    plan, x, given, up = prepare(name, xs, z, groups, options)
    if plan.stat.kind == "preferences":
        missing = plan.options["missing"]
        found = [
            _held(plan, *settle_preferences(better, worse, missing), groups)[0]
            for better, worse in zip(x, given, strict=True)
        ]
    else:
        compute = {"soft": _soft, "differences": _differences, "difference_pairs": _difference_pairs}
        found = compute.get(plan.stat.kind, _held)(plan, x, given, groups)
    return [replace(one, higher_is_better=u, compat=plan.options["compat"]) for one, u in zip(found, up, strict=True)]


def _held(plan: Plan, x: Array, z: Array, groups: Sequence[Hashable] | None) -> list[Correlation]:
    """Every statistic but soft pairwise accuracy: entries, values by group, their mean."""
    laid = lay_flat(x, z, groups, plan.options["systems"], plan.averaging)
    entries, n_missing = entries_of(plan, laid, z.shape)
    if plan.stat.kind == "calibrated":
        return _calibrated(plan, entries, n_missing)
    own = dict(plan.own)
    bounds = SHARES[own.pop("interval", "wilson")]
    if plan.name == "wmt_kendall_like":
        own["human_ties_lose"] = plan.options["compat"] == "mt-metrics-eval"
    grouped = by_group(plan.stat.kernel, entries, smallest=plan.smallest, options=own)
    weak = np.zeros(grouped.values.shape, dtype=np.bool_)
    if plan.options["compat"] == "realsumm":
        weak = compat.not_significant(plan.name, entries)
        grouped = replace(grouped, values=np.where(weak, np.nan, grouped.values))
    found = _summarised(plan, grouped, entries, n_missing)
    extra: dict[str, Any] = {"ties": plan.own.get("ties", "loss") if "ties" in plan.stat.options else None}
    near = np.broadcast_to(np.ravel(plan.own.get("epsilon", 0.0)), len(found))
    for m, (one, guess) in enumerate(zip(found, _chance(plan, entries), strict=True)):
        procedure = plan.options["compat"]
        note = compat.note(procedure, int(weak[m].sum()), len(entries.labels)) if procedure is not None else ""
        found[m] = replace(one, chance=float(guess), note=note, **extra)
        if "epsilon" in plan.stat.options:
            found[m] = replace(found[m], epsilon=float(near[m]))
        if plan.stat.kind == "preferences" and plan.averaging == "none" and one.n_pairs is not None:
            given = one.n_used + one.n_undefined
            found[m] = replace(found[m], n_used=one.n_pairs, n_undefined=given - one.n_pairs)
        if plan.name == "preference_accuracy" and plan.averaging == "none" and grouped.counts is not None:
            low, high = bounds(float(grouped.counts.numerator[m, 0]), float(grouped.counts.denominator[m, 0]), 0.95)
            found[m] = replace(found[m], low=low, high=high)
    return found


def _calibrated(plan: Plan, entries: Entries, n_missing: Missing) -> list[Correlation]:
    """acc_eq and tau_eq at the threshold that suits each metric best, on these data or, with folds, on others."""
    near: dict[str, Any] = {"human_epsilon": plan.own.get("human_epsilon", 0.0), "exact": plan.own.get("exact", False)}
    thresholds = calibrate_entries(entries, **near)
    n_units = len(np.unique(entries.units))
    folds = plan.own.get("folds", min(plan.stat.folds, max(2, n_units)))  # an item each where there are few
    if folds:
        undefined = n_units < 2 and "folds" not in plan.own  # nothing else to calibrate on, and nobody chose folds
        parts = [] if undefined else calibrate_held_out(entries, folds, plan.own.get("seed", 0), **near)
        with_tie = np.full((len(entries.x), len(entries.labels)), np.nan)
        for m, part in enumerate(parts):
            with_tie[m] = _mean(part.values)
        scale, shift = (2, -1) if plan.name.startswith("tau") else (1, 0)
        sizes = by_group(agreement, entries).sizes
        found = _summarised(plan, Grouped(scale * with_tie + shift, sizes, None), entries, n_missing)
        note = f"epsilon calibrated on other items, {folds} folds"
    else:
        epsilon = np.array([[0.0 if math.isnan(t.epsilon) else t.epsilon] for t in thresholds])
        found = _summarised(
            plan, by_group(plan.stat.kernel, entries, options=near | {"epsilon": epsilon}), entries, n_missing
        )
        note = "epsilon calibrated on the data reported, which favours the metric"
    note = "; ".join(filter(None, [note, compat.note(plan.options["compat"])]))
    guesses = _chance(plan, entries)
    return [
        replace(
            one, epsilon=t.epsilon, epsilon_unique=t.unique, note=note, chance=float(guess), n_pairs=None, n_ties=None
        )
        for one, t, guess in zip(found, thresholds, guesses, strict=True)
    ]


def _settled_grid(
    plan: Plan, x: Array, z: Array, groups: Sequence[Hashable] | None
) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Scores of a grid after the policy for missing ones, and the cells that count for each metric: (M, S, N) both."""
    if z.ndim != 2 or x.shape[1:] != z.shape or groups is not None:
        raise InputError(
            f"{plan.name} needs a grid of systems by items, got shapes {x.shape[1:]} and {z.shape}, or groups"
        )
    flat, keep = settle_missing(
        x.reshape(len(x), -1), ~np.isnan(z.reshape(-1)), plan.options["missing"], namer(z.shape, plan.options["ids"])
    )
    return flat.reshape(x.shape), keep.reshape(x.shape)


def _differences(plan: Plan, x: Array, z: Array, groups: Sequence[Hashable] | None) -> list[Correlation]:
    """Pairwise difference Pearson: all differences within items, pooled."""
    if z.ndim == 1 and groups is None:
        raise InputError(f"{plan.name} needs groups, the item of each entry; or give a grid of systems by items")
    entries, n_missing = entries_of(plan, lay_flat(x, z, groups, plan.options["systems"], "item"), z.shape)
    found: dict[int, Correlation] = {}
    for metrics, keep in same_entries(entries.keep):
        x_kept, z_kept, items = entries.x[metrics][:, keep], entries.z[keep], entries.groups[keep]
        values, n_pairs = pairwise_difference_pearson(x_kept, z_kept, items)
        for m, value in zip(metrics.tolist(), values.tolist(), strict=True):
            found[m] = Correlation(
                stat=plan.name,
                value=value,
                n_used=int(keep.sum()),
                n_undefined=int(math.isnan(value)),
                n_missing=int(n_missing[m]),
                n_pairs=n_pairs,
                level="segment",
                averaging="none",
                chance=0.0,
            )
    return [found[m] for m in range(len(x))]


def _difference_pairs(plan: Plan, x: Array, z: Array, groups: Sequence[Hashable] | None) -> list[Correlation]:
    """The same by pair of systems, averaged."""
    scores, keep = _settled_grid(plan, x, z, groups)
    n_all = math.comb(len(z), 2)
    found = []
    for row, judged in zip(scores, keep, strict=True):
        values, used = mean_of_system_pairs(row[None], z, judged)
        found.append(
            Correlation(
                stat=plan.name,
                value=float(values[0]),
                n_used=int(used[0]),
                n_undefined=n_all - int(used[0]),
                n_missing=int((~judged).sum()),
                n_pairs=int(used[0]),
                level="segment",
                averaging="none",
                chance=0.0,
            )
        )
    return found


def _soft(plan: Plan, x: Array, z: Array, groups: Sequence[Hashable] | None) -> list[Correlation]:
    scores, cells = _settled_grid(plan, x, z, groups)
    keep = cells.reshape(len(x), -1)
    released, note = plan.options["compat"] == "mt-metrics-eval", compat.note(plan.options["compat"])
    found: dict[int, Correlation] = {}
    for metrics, kept in same_entries(keep):
        judged = kept.reshape(z.shape)
        soft = soft_pairwise(scores[metrics], z, judged, as_released=released, **plan.own)
        n_systems = int((~np.isnan(soft.human_p)).any(axis=1).sum())
        guess = float(chance.chance_soft_pairwise(soft.human_p))
        for m, value in zip(metrics.tolist(), soft.values.tolist(), strict=True):
            found[m] = Correlation(
                stat=plan.name,
                value=value,
                n_used=n_systems,
                n_undefined=len(z) - n_systems,
                n_missing=int((~judged).sum()),
                n_pairs=soft.n_pairs,
                level="system",
                averaging="none",
                chance=guess,
                note=note,
            )
    return [found[m] for m in range(len(x))]


def _summarised(plan: Plan, grouped: Grouped, entries: Entries, n_missing: Missing) -> list[Correlation]:
    options = plan.options
    found = summarise(
        grouped,
        stat=plan.name,
        level=plan.level,
        averaging=plan.averaging,
        labels=entries.labels,
        n_given=entries.x.shape[1],
        n_missing=n_missing,
        undefined=options["undefined"],
        common=options["common"],
    )
    if options["compat"] == "mt-metrics-eval":
        found = [replace(one, value=0.0) if math.isnan(one.value) else one for one in found]
    return found


def _chance(plan: Plan, entries: Entries) -> Array:
    """The value that noise would reach, shape (M,)."""
    if plan.stat.chance is not None:
        return np.full(len(entries.x), plan.stat.chance)
    if np.any(plan.own.get("epsilon", 0.0)):
        return np.full(len(entries.x), np.nan)  # depends on how the noise is spread
    if plan.own.get("ties") in ("half", "exclude"):
        return np.full(len(entries.x), 0.5)  # pairs that people tie count half, or not at all
    tied = chance.tied_by_people(entries, plan.averaging, plan.own.get("human_epsilon", 0.0))
    calibrated = plan.stat.kind == "calibrated"
    accuracy = chance.chance_acc_eq_calibrated(tied) if calibrated else chance.chance_acc_eq(tied)
    return 2 * accuracy - 1 if plan.name.startswith("tau") else accuracy


def _mean(values: Array) -> Array:
    """Mean over the folds in which a group is defined."""
    defined = ~np.isnan(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(defined, values, 0.0).sum(axis=0) / defined.sum(axis=0))
