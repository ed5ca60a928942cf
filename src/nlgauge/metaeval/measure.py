"""One statistic of every metric in one group: its values, their intervals, and tests between metrics."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError, nearest
from nlgauge.core.options import check_option
from nlgauge.metaeval.joined import GroupScores, Places, check_items, check_level, needed
from nlgauge.stats.coefficients import chance_preference
from nlgauge.stats.correlate import (
    OF_SOME,
    Correlation,
    Kind,
    Options,
    check_averaging,
    correlations,
    prepare,
    statistic,
    told_held_out,
)
from nlgauge.stats.draws import SHARE_NAMES, Averaging, Seed, generator, numbered
from nlgauge.stats.entries import Entries, Ratio, by_group, codes, lay_flat
from nlgauge.stats.intervals import bootstrap_correlations, fisher_ends, pearson_ends, widened_ends
from nlgauge.stats.power import simulated_power
from nlgauge.stats.preferences import darr_pairs, within_items
from nlgauge.stats.resampling import (
    POPULATIONS,
    Resampled,
    acc_eq_test,
    compare_resampled,
    item_swap_test,
    mean_resampled,
    permutation_test,
    resample_grid,
    resample_items,
    soft_accuracy_test,
)
from nlgauge.stats.swaps import NAMED
from nlgauge.stats.tests import Alternative, Compat, MetricComparison, mcnemar_test, williams_test

_OF_ALL = ("undefined", "common", "compat")  # options that every statistic takes
_OF_DRAWS = ("draws", "seed")  # of intervals and tests too
_KNOWN = (*OF_SOME, "alternative", *_OF_ALL)
_WITHIN = ("wmt_kendall_like",)  # defined between outputs for one input, at whatever level


@dataclass(frozen=True)
class Task:
    """One table of numbers: a statistic at a level, of M metrics once it is settled.

    Attributes:
        stat: the name of the statistic.
        level: `segment`, `item` (also called `summary`) or `system`.
        averaging: `none`, `item`, `sys` or `micro`; None is the usual one of the level.
        test: the test that `auto` stands for; None is the usual one of the statistic.
        up: for each metric, whether higher is better.
        options: the options of the statistic, before those of all; None stands for the default of an option.
    """

    stat: str
    level: str
    averaging: str | None = None
    test: str | None = None
    up: Sequence[bool] = field(default=(), repr=False)
    options: Mapping[str, Any] = field(default_factory=dict, repr=False, hash=False)

    def settled(self, up: Sequence[bool] = (), options: Mapping[str, Any] | None = None) -> Task:
        """The task for these metrics, with the level and the averaging that are meant, and those options it takes.

        Raises:
            InputError: the averaging or the level does not go with the statistic.
        """
        level = check_level(self.level)
        averaging = averaging_of(self.stat, level, self.averaging)
        allowed = (*takes(self.stat), *_OF_ALL)
        taken = {key: value for key, value in {**(options or {}), **self.options}.items() if key in allowed}
        if taken.get("compat") == "realsumm" and averaging != "item":
            del taken["compat"]  # which leaves out items
        return dataclasses.replace(self, level=level, averaging=averaging, up=up, options=taken)

    @property
    def kind(self) -> Kind:
        """The kind of the statistic."""
        return statistic(self.stat).kind

    @property
    def of_stat(self) -> Options:
        """The options that the statistic itself declares."""
        chosen: Any = {
            key: self.options[key] for key in statistic(self.stat).options if self.options.get(key) is not None
        }
        return chosen  # type: ignore[no-any-return]

    def turned(self, frame: GroupScores) -> GroupScores:
        """The frame with the scores of every metric oriented so that higher is better."""
        return dataclasses.replace(frame, x=np.where(np.asarray(self.up)[:, None], frame.x, -frame.x))


def averaging_of(name: str, level: str, averaging: str | None) -> str:
    """The averaging of a statistic at a level: the one asked for, or else the usual one.

    Raises:
        InputError: the averaging or the level does not go with the statistic.
    """
    if statistic(name).level == "system" and level != "system":
        raise InputError(f"{name} compares systems; choose level='system'")
    is_of_differences = statistic(name).kind in ("differences", "difference_pairs")
    if is_of_differences and (level, averaging or "none") != ("segment", "none"):
        raise InputError(f"{name} pools the differences between outputs for one item; choose level='segment'")
    if averaging is not None:
        check_averaging(name, averaging)
        if (level == "system" and averaging != "none") or (level == "item" and averaging == "none"):
            raise InputError(
                f"averaging {averaging!r} does not go with level {level!r}; leave it out, or choose level='segment'"
            )
        return averaging
    if level == "segment":
        return "micro" if name in _WITHIN else "none"
    return "item" if level == "item" else "none"


def measure(frame: GroupScores, task: Task) -> list[Correlation]:
    """Compare the scores of M metrics with the judgements of a group: segments, or systems at level `system`.

    Raises:
        InputError: items or systems are needed and not known, each item has only one rated output, or the statistic
            does not take an option.
    """
    options = task.of_stat
    shared = {key: task.options[key] for key in _OF_ALL if task.options.get(key) is not None}
    options.update(shared)  # type: ignore[typeddict-item]
    options["higher_is_better"] = list(task.up)
    if task.kind == "preferences":
        return _preferences(frame, task, options)
    if task.kind in ("soft", "difference_pairs"):
        x, z = frame.grid()
        return correlations(task.stat, x, z, **options)
    options.update({"ids": frame.ids, "averaging": task.averaging})
    groups: Sequence[str] | None = None
    if task.level == "system":
        options["level"] = "system"
    elif task.kind == "differences":
        check_items(frame)
        groups = frame.items
    elif task.averaging == "sys":
        groups = needed(frame.systems, "system", frame)
    elif task.averaging != "none":
        check_items(frame)
        groups = frame.items
    elif task.kind == "classes":
        groups = frame.items
    return correlations(task.stat, frame.x, frame.z, groups, **options)


def _preferences(frame: GroupScores, task: Task, options: Options) -> list[Correlation]:
    """As `measure`, for statistics of pairs of a better and a worse text."""
    better, worse = pairs_of_frame(frame, task.options.get("threshold"))
    groups: list[str] | None = None
    if task.averaging in ("item", "micro"):
        items = needed(frame.items, "item", frame)
        groups = [items[i] for i in better]
    elif task.averaging == "sys":
        raise InputError(f"{task.stat} compares outputs of two systems; averaging is 'none', 'item' or 'micro'")
    x, options["averaging"] = frame.x, task.averaging
    found = correlations(task.stat, x[:, better], x[:, worse], groups, **options)
    if task.stat != "preference_accuracy" or not len(better):
        return found
    tied = (x[:, better] == x[:, worse]).astype(np.float64)  # what noise that ties as often would win
    if task.averaging == "item" and groups is not None:
        numbers, _ = codes(groups, len(groups), "items")
        tied = np.stack([np.bincount(numbers, weights=row) for row in tied]) / np.bincount(numbers)
    guesses = chance_preference(tied.mean(axis=1), options.get("ties") or "loss").tolist()
    return [dataclasses.replace(one, chance=guess) for one, guess in zip(found, guesses, strict=True)]


def as_pearson(frame: GroupScores, task: Task) -> tuple[GroupScores, Task]:
    """Scores and a task of which Pearson's r is the statistic; others stay as they are.

    So `pdp` gets intervals and tests: drawing or swapping whole items leaves the differences within items as they are.
    """
    if task.kind != "differences":
        return frame, task
    _, items = np.unique(np.array(needed(frame.items, "item", frame)), return_inverse=True)
    x, z, _ = within_items(frame.x, frame.z, items)
    return dataclasses.replace(frame, x=x, z=z), dataclasses.replace(task, stat="pearson")


def as_classes(frame: GroupScores, task: Task) -> tuple[GroupScores, Task]:
    """The classes that thresholds make of scores, 1 and -1, and a task that takes these; others stay as they are.

    So statistics of binary labels get intervals and tests, which take the thresholds as they are. Both signs stay on
    their side of 0 where a test brings all metrics to one scale.

    Raises:
        InputError: a score has no class, since the items on which its threshold is found have labels of one kind.
    """
    if task.kind != "classes":
        return frame, task
    groups = None if task.level == "system" else frame.items
    plan, x, z, _ = prepare(task.stat, frame.x, frame.z, groups, {**task.of_stat, "higher_is_better": list(task.up)})
    laid = lay_flat(x, z, groups, None, plan.averaging)
    given = plan.own.get("threshold")
    told = told_held_out(plan, laid)[0].x if given is None else np.where(x >= given, 1.0, -1.0)
    if np.isnan(told[laid.keep]).any():
        raise InputError(
            f"{task.stat} finds no threshold in a fold, since all labels of the other folds are alike; name one"
            f" ({task.stat}:threshold=NUMBER), or take more labels of the rarer kind"
        )
    options = {**task.options, "threshold": 0.0, "folds": None, "seed": None}
    return dataclasses.replace(frame, x=told), dataclasses.replace(task, up=(True,) * len(told), options=options)


def as_averaged(
    frame: GroupScores, found: Sequence[Correlation], task: Task
) -> tuple[GroupScores, Sequence[Correlation]]:
    """The frame and the values by group as the means take them.

    With `common`, groups in which a metric is undefined have no judgement. With `undefined="zero"`, undefined values
    are 0. So tests and intervals are about the number that they stand beside.
    """
    labels = {"item": frame.items, "sys": frame.systems}.get(task.averaging or "none")
    zero, common = _counts_as_zero(task), bool(task.options.get("common"))
    if labels is None or not (zero or common):
        return frame, found
    rated = Counter(label for label, z in zip(labels, frame.z.tolist(), strict=True) if z == z)
    filled = [
        {label: 0.0 if zero and v != v and rated[str(label)] > 1 else v for label, v in of_metric.groups.items()}
        for of_metric in found
    ]
    lost = {label for values in filled for label, v in values.items() if common and v != v}
    kept = [{label: np.nan if label in lost else v for label, v in values.items()} for values in filled]
    z = np.where([label in lost for label in labels], np.nan, frame.z)
    return dataclasses.replace(frame, z=z), [
        dataclasses.replace(of_metric, groups=values) for of_metric, values in zip(found, kept, strict=True)
    ]


def coefficient_of(task: Task) -> str | Callable[[Array, Array], Array]:
    """The statistic of one group as tests take it: by name, or as a function of scores and judgements."""
    zero = _counts_as_zero(task)
    if task.stat in NAMED and not zero:
        return task.stat
    kernel, options = statistic(task.stat).kernel, task.of_stat

    def coefficient(x: Array, z: Array) -> Array:
        result = kernel(x, z, **options)
        values = np.asarray(result.value if isinstance(result, Ratio) else result)
        return np.asarray(np.where(np.isnan(values), 0.0, values)) if zero else values

    return coefficient


def has_epsilon(task: Task) -> bool:
    """Whether scores that differ by a little are tied: by how much is said in the units of each metric."""
    return bool(np.any(task.of_stat.get("epsilon", 0.0)))


def _counts_as_zero(task: Task) -> bool:
    """Whether a group without a value counts as 0 in the mean."""
    return task.options.get("undefined") == "zero" and task.averaging in ("item", "sys")


def takes(name: str) -> tuple[str, ...]:
    """The options of a statistic.

    Statistics of pairs of texts also take `threshold`, the smallest difference of two ratings that makes a pair.
    """
    stat = statistic(name)
    return (*stat.options, "threshold") if stat.kind == "preferences" else stat.options


def check_options(names: Sequence[str], options: Mapping[str, Any], tested: bool = False) -> None:
    """Refuse an option that none of the statistics takes.

    Each statistic takes some of `ties`, `threshold`, `epsilon`, `human_epsilon`, `folds`, `undefined`, `common` and
    `compat`. Intervals and tests take `draws` and `seed`; tests also take `alternative` (`greater` or `two-sided`).

    Raises:
        InputError: an option or a statistic is unknown; the error gives the nearest known name.
    """
    for option, value in options.items():
        if option not in _KNOWN:
            raise InputError(f"meta_evaluate has no option {option!r}{nearest(option, _KNOWN)}")
        if value is None or option in (*_OF_ALL, *_OF_DRAWS) or (tested and option == "alternative"):
            continue
        if not any(option in takes(name) for name in names):
            raise InputError(f"{' and '.join(names)} take no {option}; leave it out")


def pairs_of_frame(frame: GroupScores, threshold: float | None) -> tuple[Places, Places]:
    """The positions of the better and the worse text of every pair.

    Where people gave pairs, these are used. Otherwise every two outputs for one input form a pair if their ratings
    differ, and differ by at least the threshold.
    """
    if frame.pairs is not None:
        if threshold is not None:
            raise InputError("threshold changes nothing: people gave the pairs, which have no ratings; leave it out")
        return frame.pairs[:, 0], frame.pairs[:, 1]
    if threshold is not None and threshold < 0:
        raise InputError(f"threshold is {threshold:g}, expected the least difference of two ratings, 0 or more")
    check_items(frame)
    groups = numbered(needed(frame.items, "item", frame))
    return darr_pairs(frame.z, groups, threshold=0.0 if threshold is None else threshold)


def pooled_over_items(stat: str, averaging: str | None) -> bool:
    """Whether a statistic counts pairs within items, and pools the pairs of all items."""
    kind = statistic(stat).kind
    return (kind == "preferences" and averaging in ("none", "micro")) or (kind == "pairs" and averaging == "micro")


def item_ratios(frame: GroupScores, task: Task) -> tuple[Array, Array]:
    """The value of each metric within each item, and the pairs that it counts there: shapes (M, N).

    Pairs that people gave, of items that are not known, are an item each. Higher scores are better in the frame.
    """
    kernel, options = statistic(task.stat).kernel, dict(task.of_stat)
    if task.kind == "preferences":
        better, worse = pairs_of_frame(frame, task.options.get("threshold"))
        items = _items_of_pairs(frame, better)
        vectors = [(row[better][None], row[worse]) for row in frame.x]
    else:
        items = list(needed(frame.items, "item", frame))
        vectors = [(row[None], frame.z) for row in frame.x]
    numbers, labels = codes(items, len(items), "items")
    by_metric = []
    for x, z in vectors:
        entries = Entries(x, z, ~np.isnan(z)[None], numbers, labels, numbers)
        counts = by_group(kernel, entries, smallest=1 if task.kind == "preferences" else 2, options=options).counts
        assert counts is not None  # ratios of pairs
        by_metric.append((counts.value[0], counts.denominator[0]))
    values, pairs = zip(*by_metric, strict=True)
    return np.stack(values), np.stack(pairs)


def _items_of_pairs(frame: GroupScores, better: Places) -> list[str]:
    """The item of each pair; an item of its own where items are not known."""
    return [str(i) for i in better.tolist()] if frame.items is None else [frame.items[i] for i in better]


# --- How far may a number be from its value on other items or other systems? An interval for every cell of the table

IntervalKind = Literal["auto", "fisher", "bootstrap", "none"]
_FISHER = ("pearson", "spearman", "kendall_b", "kendall_c")
_LEAST = 2  # to draw from
_PERFECT = 1 - 1e-12  # a larger coefficient is 1, but for rounding
_FEW, _TIED, _SKEWED = 100, 0.1, 1.0  # items, share of pairs, skewness: beyond, levels are off
_FEW_SYSTEMS, _FAR = 20, 5.0  # systems, excess kurtosis; the same
_WITHOUT = ("soft", "difference_pairs")  # kinds of statistics without an interval
_PLAIN = ("correlation", "pairs", "classes")  # kinds of scores and judgements over one vector


@dataclass(frozen=True)
class IntervalMethod:
    """How intervals are computed.

    Attributes:
        kind: `auto`, `fisher`, `bootstrap` or `none`. `auto` keeps tie thresholds that were calibrated on all data;
            `bootstrap` calibrates them in every draw, which takes long.
        draws: the number of bootstrap resamples.
        seed: the seed of the bootstrap.
    """

    kind: IntervalKind = "auto"
    draws: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        check_option("intervals", self.kind, IntervalKind, error=InputError)

    def of_draws(self, over: str) -> str:
        """The bootstrap in words."""
        return f"percentile bootstrap over {over}, {self.draws} draws, seed {self.seed}"


def with_intervals(
    frame: GroupScores, found: Sequence[Correlation], task: Task, method: IntervalMethod
) -> tuple[list[Correlation], str]:
    """The values of one group with their 95 % intervals, and the method of the intervals ("" where there are none).

    `auto` is Fisher's formula where entries are independent (systems, or segments of different items), widened by the
    jackknife for Pearson's r. Elsewhere it is a bootstrap over items.
    """
    tied_elsewhere = task.kind == "calibrated" and _is_held_out(task)
    if method.kind == "none" or found[0].compat is not None or task.kind in _WITHOUT or tied_elsewhere:
        return list(found), ""
    if task.kind == "differences":
        if method.kind == "fisher":
            return list(found), ""
        return _bootstrap(*as_pearson(frame, task), found, method)
    if task.kind == "preferences":
        return _with_ends_of_pairs(frame, found, task, method)
    if task.kind == "classes":
        if any(math.isnan(one.value) for one in found):
            return list(found), ""
        ended, said = _bootstrap(*as_classes(frame, task), found, method) if method.kind != "fisher" else (found, "")
        return list(ended), said and f"{said}, at the thresholds found"
    if _is_fisher(frame, task, method):
        entries = "systems" if task.level == "system" else "segments"
        perfect = any(abs(c.value) > _PERFECT for c in found)
        caveat = "; at 1 and -1 it has no width, which says nothing of others" if perfect else ""
        if method.kind == "auto" and task.stat == "pearson":
            widened = widened_ends(task.turned(frame).x, frame.z)
            return (
                _with_ends(found, list(zip(*widened, strict=True))),
                f"Fisher's formula for {entries} that are independent, widened by the jackknife where values are"
                f" skewed{caveat}",
            )
        ends = [fisher_ends(c.stat, c.value, c.n_used) for c in found]
        if method.kind == "auto" or not repeats(frame):
            return _with_ends(found, ends), f"Fisher's formula for {entries} that are independent{caveat}"
        return (
            _with_ends(found, ends),
            f"Fisher's formula, which takes outputs for one item as independent and comes out too narrow{caveat}",
        )
    if method.kind == "fisher":
        return list(found), ""
    if task.kind == "calibrated" and method.kind == "auto":
        return _bootstrap_at_thresholds(frame, found, task, method)
    return _bootstrap(frame, task, found, method)


def cautions(frame: GroupScores, task: Task, made: str) -> list[str]:
    """Cautions on the intervals of a group, where simulated ones hold the value in less than 93 %.

    Args:
        frame: the segments or systems.
        task: the statistic.
        made: how the intervals were made, as `with_intervals` says it.
    """
    stat, far = task.stat, any(map(_has_outliers, (*frame.x, frame.z)))
    outliers = f"[low, high] of {task.stat}: a few values lie far from the rest, for which it may be much too narrow"
    if made.startswith("Fisher's formula"):
        tied = stat.startswith("kendall") and max(map(_share_tied, (*frame.x, frame.z)), default=0.0) > _TIED
        if stat == "pearson" and far:
            return [outliers]
        return [f"[low, high] of {stat}: many values are tied, where the formula holds the value in 79 to 92 %"] * tied
    if task.level == "system" and "bootstrap" in made and len(frame.z) < _FEW_SYSTEMS:
        known = "from 8 they hold the value in 89 %" if stat == "pearson" else "of pearson 8 hold the value in 89 %"
        return [f"[low, high] of {stat}: {len(frame.z)} systems are few, and it may be too narrow; {known}"]
    if task.level == "system" or "bootstrap" not in made:
        return []
    n = len(set(frame.ids if frame.items is None or task.averaging == "sys" else frame.items))
    if n < _FEW:
        return [f"[low, high] of {stat}: from {n} items too narrow; from 20 they hold the value in 91 % in place of 95"]
    if stat in ("pearson", "pdp") and task.averaging == "none" and is_skewed(frame):
        return [f"[low, high] of {stat}: ratings and scores are skewed, for which they are too narrow"]
    return [outliers] if far and stat in ("pearson", "pdp") and task.averaging == "none" else []


def is_skewed(frame: GroupScores) -> bool:
    """Whether the judgements and the scores of a metric are skewed, so that a few of them decide Pearson's r."""

    def far(values: Array) -> bool:
        return abs(standard_moment(values, 3)) > _SKEWED

    return far(frame.z) and any(map(far, frame.x))


def _has_outliers(values: Array) -> bool:
    """Whether a few values decide the variance: an excess kurtosis that normal values do not reach by chance."""
    return standard_moment(values, 4) - 3 > _FAR


def standard_moment(values: Array, power: int) -> float:
    """The central moment of the known values over their standard deviation to the same power; NaN of a constant.

    scipy.stats has it as `skew` and `kurtosis`, and takes half a second to load.
    """
    known = values[~np.isnan(values)]
    if not len(known):
        return np.nan
    spread = known - known.mean()
    variance = float(np.mean(spread**2))
    if variance <= (np.finfo(np.float64).eps * known.mean()) ** 2:
        return np.nan
    return float(np.mean(spread**power) / variance ** (power / 2))


def _share_tied(values: Array) -> float:
    """The share of pairs of values that are equal."""
    _, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    n = int(counts.sum())
    return float((counts * (counts - 1)).sum() / (n * (n - 1))) if n > 1 else 0.0


def ends_of_mean(frames: Sequence[GroupScores], task: Task, method: IntervalMethod) -> Array | None:
    """The interval of the plain mean over groups, from resampled entries: shape (M, 2), or None where there is none."""
    if (
        method.kind not in ("auto", "bootstrap")
        or task.averaging != "none"
        or task.kind not in _PLAIN
        or any(map(repeats, frames))
    ):
        return None
    if task.options.get("compat") or sum(len(frame.z) for frame in frames) < _LEAST:
        return None
    try:
        parts = [as_classes(frame, task) for frame in frames]
    except InputError:  # a group without a value, and so without a mean
        return None
    frames, task = [frame for frame, _ in parts], parts[0][1]
    drawn = bootstrap_correlations(
        task.stat,
        np.concatenate([frame.x for frame in frames], axis=1),
        np.concatenate([frame.z for frame in frames]),
        [g for g, frame in enumerate(frames) for _ in frame.z],
        draws=method.draws,
        seed=method.seed,
        **{**_bootstrap_options(task), "averaging": "sys", "level": "segment"},
    )
    return np.array([(one.low, one.high) for one in drawn])


def repeats(frame: GroupScores) -> bool:
    """Whether any item has several outputs."""
    return frame.items is not None and len(set(frame.items)) < len(frame.items)


def _is_held_out(task: Task) -> bool:
    """Whether tie thresholds come from other items, anew in every fold."""
    return bool(task.options.get("folds", statistic(task.stat).folds))


def _is_fisher(frame: GroupScores, task: Task, method: IntervalMethod) -> bool:
    if task.stat not in _FISHER or task.averaging != "none" or method.kind not in ("auto", "fisher"):
        return False
    return method.kind == "fisher" or task.level == "system" or not repeats(frame)


def _bootstrap_options(task: Task) -> Any:
    """The options of the statistic, as the bootstrap takes them."""
    own = {key: value for key, value in task.of_stat.items() if key != "seed"}  # that of folds; a bootstrap has its own
    return {**own, "averaging": task.averaging, "higher_is_better": list(task.up)}


def _with_ends(found: Sequence[Correlation], ends: Sequence[tuple[Any, Any]]) -> list[Correlation]:
    return [
        dataclasses.replace(c, low=float(low), high=float(high)) for c, (low, high) in zip(found, ends, strict=True)
    ]


def _bootstrap(
    frame: GroupScores, task: Task, found: Sequence[Correlation], method: IntervalMethod
) -> tuple[list[Correlation], str]:
    if task.stat == "pearson" and task.averaging == "none" and task.level != "system" and frame.is_grid:
        scores, human = task.turned(frame).grid()
        ends = pearson_ends(human, np.where(np.isnan(human), 0.0, scores), draws=method.draws, seed=method.seed)
        return _with_ends(found, list(zip(*ends, strict=True))), method.of_draws("items")
    options = _bootstrap_options(task)
    if task.options.get("undefined") is not None:
        options["undefined"] = task.options["undefined"]
    groups = frame.systems if task.averaging == "sys" else frame.items
    over, resample = "segments" if groups is None or task.averaging == "sys" else "items", "items"
    if task.level == "system":
        groups, options["level"] = None, "system"
        over = resample = "systems"
    if len(set(frame.ids if groups is None or task.averaging == "sys" else groups)) < _LEAST:
        return list(found), ""
    drawn = bootstrap_correlations(
        task.stat, frame.x, frame.z, groups, resample=resample, draws=method.draws, seed=method.seed, **options
    )
    lost = max(d.n_undefined_draws for d in drawn)
    left_out = f" (undefined on up to {lost} draws, which are left out)" if lost else ""
    return _with_ends(found, [(d.low, d.high) for d in drawn]), method.of_draws(over) + left_out


def _bootstrap_at_thresholds(
    frame: GroupScores, found: Sequence[Correlation], task: Task, method: IntervalMethod
) -> tuple[list[Correlation], str]:
    """Intervals at the tie thresholds of the data: `auto` keeps them, since calibrating in every draw takes long."""
    thresholds = [one.epsilon or 0.0 for one in found]
    plain = dataclasses.replace(
        task, stat=task.stat.removesuffix("_calibrated"), options={**task.options, "epsilon": thresholds}
    )
    ended, said = _bootstrap(frame, plain, found, method)
    return ended, said and f"{said}, at the thresholds of all data"


def _with_ends_of_pairs(
    frame: GroupScores, found: Sequence[Correlation], task: Task, method: IntervalMethod
) -> tuple[list[Correlation], str]:
    """Intervals for pairs: pairs of one item belong together, so items are drawn with all their pairs.

    Where every pair comes from a different item, the interval of the share is kept.
    """
    better, worse = pairs_of_frame(frame, task.options.get("threshold"))
    items = _items_of_pairs(frame, better)
    n_items = len(set(items))
    if not math.isnan(found[0].low) and n_items == len(items):
        return list(found), f"{SHARE_NAMES[task.options.get('interval') or 'wilson']} interval"
    if n_items < _LEAST or method.kind == "fisher":
        return _with_ends(found, [(math.nan, math.nan)] * len(found)), ""
    x, options = frame.x, _bootstrap_options(task)
    drawn = bootstrap_correlations(
        task.stat, x[:, better], x[:, worse], items, draws=method.draws, seed=method.seed, **options
    )
    return _with_ends(found, [(d.low, d.high) for d in drawn]), method.of_draws("items")


# --- Which metric is better? Each pair of metrics is tested on the judgements of a group, or on the mean over groups

ABOUT = {
    "auto": (
        "the usual one: perm_systems at level system; below it perm_both, item_swap for accuracies with ties and"
        " Kendall-like statistics, mcnemar for preference_accuracy"
    ),
    "williams": (
        "Williams' test of two Pearson correlations of normal scores, segments (or systems) taken as independent"
    ),
    "perm_both": "every score trades places on its own; new items for these systems",
    "perm_inputs": "whole items trade places; new items for these systems",
    "perm_systems": "whole systems trade places; new systems on these items; finds little with fewer than ten",
    "item_swap": (
        "values of whole items trade places; any statistic that is averaged over items or pools their pairs; new items"
        " for these systems"
    ),
    "bootstrap": "items drawn with replacement; new items for these systems",
    "mcnemar": "exact test on the pairs that one metric alone gets right",
}
_OF_WHOLE_ITEMS = ("perm_inputs", "bootstrap")  # tests that keep the differences within an item


@dataclass(frozen=True)
class MetricTest:
    """The test to run between metrics.

    Attributes:
        test: one of `ABOUT`.
        alternative: `greater` or `two-sided`.
        draws: the number of permutations.
        seed: the seed of the permutations.
        compat: `mt-metrics-eval`, `nlpstats` or None.
        advance: called with the number of pairs of metrics that were tested.
    """

    test: str
    alternative: Alternative = "greater"
    draws: int = 1000
    seed: int = 0
    compat: Compat | None = None
    advance: Callable[[int], None] = field(default=lambda pairs: None, compare=False)

    @property
    def drawn(self) -> Any:
        """The arguments of every test that draws."""
        return {"alternative": self.alternative, "draws": self.draws, "seed": self.seed}


@dataclass(frozen=True)
class _Comparison:
    """The input of a test: a frame in which higher scores are better, and the values of the metrics on it."""

    frame: GroupScores
    found: Sequence[Correlation]
    task: Task
    asked: MetricTest


def check_test(name: str) -> None:
    """Refuse an unknown test; the error gives the nearest known name."""
    if name not in ABOUT:
        raise InputError(f"unknown test {name!r}{nearest(name, ABOUT)}")


def usual_test(stat: str, level: str, averaging: str | None, epsilon: bool = False) -> str | None:
    """The test that `auto` stands for; None where a statistic has no test, or none with an epsilon.

    For example, at system level whole systems are swapped, because the claim is about systems not seen yet. Below
    system level every score is swapped on its own; for an accuracy with ties, whole items are.
    """
    kind = statistic(stat).kind
    if kind == "differences":
        return "perm_inputs"
    if kind == "difference_pairs":
        return None
    if stat == "preference_accuracy" and averaging == "none":
        return "mcnemar"
    if level == "system" or kind == "soft":
        return "perm_systems"
    if averaging == "item" and (kind in ("calibrated", "preferences") or stat in ("acc_eq", "tau_eq")):
        return "item_swap"
    if pooled_over_items(stat, averaging):
        return "item_swap"
    return None if kind == "calibrated" or epsilon else "perm_both"


def compare(frame: GroupScores, found: Sequence[Correlation], task: Task, asked: MetricTest) -> MetricComparison:
    """Test all pairs of metrics in one group.

    Args:
        frame: systems at level `system` (but segments for soft pairwise accuracy), otherwise segments.
        found: the values of the metrics on the frame.
        task: statistic, level, averaging, directions and options.
        asked: the test to run. It must not be `auto`, which `usual_test` resolves.

    Raises:
        InputError: the test does not go with the statistic or level.
    """
    if task.kind == "difference_pairs" or (task.kind == "differences" and asked.test not in _OF_WHOLE_ITEMS):
        whole = f"; choose {' or '.join(_OF_WHOLE_ITEMS)}" if task.kind == "differences" else ""
        raise InputError(f"{asked.test} does not go with {task.stat}{whole}")
    compared = _TESTS[asked.test](_comparison(frame, found, task, asked))
    if asked.test not in POPULATIONS:
        asked.advance(len(found) * (len(found) - 1) // 2)
    return compared


def power_of(
    frame: GroupScores,
    found: Sequence[Correlation],
    pair: tuple[int, int],
    task: Task,
    asked: MetricTest,
    alpha: float = 0.05,
) -> float:
    """Power for one pair of metrics: the share of resamples of the systems on which the test would find a difference.

    There are 200 resamples, each with as many systems as the data have, drawn with replacement. On each of them the
    test takes at most 199 permutations.
    """
    turned = task.turned(frame)
    few = dataclasses.replace(asked, draws=min(asked.draws, 199))
    two = dataclasses.replace(task, level="system", up=(True, True))

    def p_value(first: Array, second: Array, z: Array) -> float:
        drawn = dataclasses.replace(frame, x=np.stack([first, second]), z=z)
        return float(compare(drawn, [found[i] for i in pair], two, few).p[0, 1])

    rated = ~np.isnan(frame.z)
    first, second = (turned.x[i, rated] for i in pair)
    return simulated_power(p_value, first, second, frame.z[rated], seed=asked.seed, alpha=alpha).value


def compare_means(
    frames: Sequence[GroupScores], task: Task, asked: MetricTest, found: Sequence[Sequence[Correlation]] = ()
) -> MetricComparison | None:
    """Test all pairs of metrics on the plain mean over groups; None where there is no such test.

    Items are drawn, or swapped, inside their group. So is every score of `perm_both`: each group is one row of a grid,
    each metric is brought to one scale inside each row, and the mean is taken over rows. `found` has the values of the
    metrics in each group, which `item_swap` and `bootstrap` need where the statistic has one value per item.
    """
    if asked.test == "bootstrap":
        comparisons = _comparisons(frames, found, task, asked)
        rng = generator(asked.seed)
        whole = mean_resampled([_resampled(c, rng) for c in comparisons])
        return compare_resampled(whole, alternative=asked.alternative)
    if asked.test == "item_swap":
        items = [_by_item(c) for c in _comparisons(frames, found, task, asked)]
        return item_swap_test(
            np.concatenate([values for values, _ in items], axis=1),
            weights=None if items[0][1] is None else np.concatenate([w for _, w in items if w is not None], axis=1),
            groups=np.repeat(np.arange(len(items)), [values.shape[1] for values, _ in items]),
            **asked.drawn,
        )
    is_plain = task.averaging == "none" and task.kind in _PLAIN
    if not is_plain or asked.test not in ("perm_both", "perm_systems"):
        return None
    parts = [as_classes(frame, task) for frame in frames]
    frames, task = [frame for frame, _ in parts], parts[0][1]
    width = max(len(frame.z) for frame in frames)
    human = np.full((len(frames), width), np.nan)
    scores = np.zeros((len(task.up), *human.shape))
    for g, frame in enumerate(frames):
        n, x = len(frame.z), task.turned(frame).x
        spread = x.std(axis=1, keepdims=True)
        human[g, :n] = frame.z
        scores[:, g, :n] = (x - x.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1.0)
    return permutation_test(
        human,
        scores,
        generalise_to="both",
        averaging="sys",
        statistic=coefficient_of(task),
        advance=asked.advance,
        **asked.drawn,
    )


def _williams(c: _Comparison) -> MetricComparison:
    if c.task.stat != "pearson" or c.task.averaging != "none":
        raise InputError(
            f"williams compares two values of Pearson's r over one vector, got {c.task.stat} with averaging"
            f" {c.task.averaging}; choose perm_both"
        )
    return williams_test(c.frame.z, c.frame.x, alternative=c.asked.alternative, compat=c.asked.compat)


def _permutation(c: _Comparison) -> MetricComparison:
    if c.task.kind == "soft":
        return _soft(c)
    averaging = _swapped_averaging(c)
    _check_scale(c)
    human, scores = _grid(c)
    return permutation_test(
        human,
        scores,
        generalise_to=POPULATIONS[c.asked.test],
        level="system" if c.task.level == "system" else "segment",
        averaging=averaging,
        statistic=coefficient_of(c.task),
        compat=c.asked.compat,
        advance=c.asked.advance,
        **c.asked.drawn,
    )


def _soft(c: _Comparison) -> MetricComparison:
    if c.asked.test not in ("perm_inputs", "perm_systems"):
        raise InputError(f"{c.task.stat} has perm_inputs and perm_systems, got {c.asked.test}")
    scores, human = c.frame.grid()
    scores = np.where(np.isnan(human), 0.0, scores)
    return soft_accuracy_test(human, scores, generalise_to=POPULATIONS[c.asked.test], **c.asked.drawn)


def _bootstrap_test(c: _Comparison) -> MetricComparison:
    if c.task.kind == "soft":
        return _soft(c)
    return compare_resampled(_resampled(c, c.asked.seed), alternative=c.asked.alternative)


def _resampled(c: _Comparison, seed: Seed) -> Resampled:
    """The statistic on items drawn with replacement: from its values by item, or from the scores."""
    by_item = c.task.kind in ("preferences", "calibrated") or (has_epsilon(c.task) and c.task.averaging == "item")
    if by_item or pooled_over_items(c.task.stat, c.task.averaging):
        return resample_items(*_by_item(c), draws=c.asked.draws, seed=seed)
    averaging = _swapped_averaging(c)
    _check_scale(c)
    human, scores = _grid(c)
    if c.task.level == "system":
        raise InputError("bootstrap draws items and works below level 'system'; choose perm_systems")
    return resample_grid(
        human, scores, averaging=averaging, statistic=coefficient_of(c.task), draws=c.asked.draws, seed=seed
    )


def _by_item(c: _Comparison) -> tuple[Array, Array | None]:
    """The value of every metric on every item, and what it counts where the pairs of all items are pooled."""
    if pooled_over_items(c.task.stat, c.task.averaging):
        return item_ratios(c.frame, c.task)
    if c.task.averaging != "item":
        raise InputError(
            f"{c.asked.test} needs a value for each item, got averaging {c.task.averaging!r}; choose level='item'"
        )
    return np.array([list(one.groups.values()) for one in c.found], dtype=np.float64), None


def _comparisons(
    frames: Sequence[GroupScores], found: Sequence[Sequence[Correlation]], task: Task, asked: MetricTest
) -> list[_Comparison]:
    """The input of a test in each group."""
    return [
        _comparison(frame, values, task, asked)
        for frame, values in zip(frames, found or [()] * len(frames), strict=True)
    ]


def _comparison(frame: GroupScores, found: Sequence[Correlation], task: Task, asked: MetricTest) -> _Comparison:
    """The input of a test in one group."""
    frame, task = as_classes(frame, task)
    turned, as_measured = as_pearson(task.turned(frame), task)
    return _Comparison(*as_averaged(turned, found, as_measured), as_measured, asked)


def _item_swap(c: _Comparison) -> MetricComparison:
    """Swap the values of items, with the averaging that was used; under `compat`, swap the outcomes of system pairs."""
    values, weights = _by_item(c)
    if c.asked.compat == "mt-metrics-eval":
        human, scores = _cells(c.frame, "perm_both", "item")
        near = np.array([one.epsilon or 0.0 for one in c.found])
        return acc_eq_test(human, scores, near, compat=c.asked.compat, **c.asked.drawn)
    return item_swap_test(values, weights=weights, **c.asked.drawn)


def _mcnemar(c: _Comparison) -> MetricComparison:
    if c.task.stat != "preference_accuracy":
        raise InputError(f"mcnemar compares two preference accuracies, got {c.task.stat}")
    better, worse = pairs_of_frame(c.frame, c.task.options.get("threshold"))
    ties = c.task.options.get("ties") or "loss"
    test = mcnemar_test(c.frame.x[:, better], c.frame.x[:, worse], ties=ties, alternative=c.asked.alternative)
    values = np.array([one.value for one in c.found])  # under `exclude` of the pairs that the metric itself orders
    return dataclasses.replace(test, values=values, deltas=values[:, None] - values)


_TESTS: Mapping[str, Callable[[_Comparison], MetricComparison]] = {
    "williams": _williams,
    "perm_both": _permutation,
    "perm_inputs": _permutation,
    "perm_systems": _permutation,
    "item_swap": _item_swap,
    "bootstrap": _bootstrap_test,
    "mcnemar": _mcnemar,
}


def _swapped_averaging(c: _Comparison) -> Averaging:
    """The averaging, for statistics whose scores can be swapped."""
    averaging = c.task.averaging
    if averaging in ("none", "item", "sys") and c.task.kind not in ("preferences", "calibrated"):
        return averaging  # type: ignore[return-value]  # one of the three
    raise InputError(
        f"{c.asked.test} does not go with {c.task.stat} and averaging {averaging}"
        + ("; choose item_swap" if averaging == "item" or pooled_over_items(c.task.stat, averaging) else "")
    )


def _check_scale(c: _Comparison) -> None:
    """Refuse a tie threshold in the units of each metric where the test brings all metrics to one scale."""
    if has_epsilon(c.task):
        raise InputError(
            f"{c.asked.test} brings metrics to one scale, on which the epsilon of {c.task.stat} would be another one;"
            " choose item_swap with level='item', or leave epsilon out"
        )


def _grid(c: _Comparison) -> tuple[Array, Array]:
    """Judgements and scores as a grid of systems by items, or as one row where systems and items are not known."""
    if c.task.level != "system":
        return _cells(c.frame, c.asked.test, c.task.averaging)
    if c.asked.test != "perm_systems":
        raise InputError(
            f"{c.asked.test} draws or swaps segments, and at level 'system' there is one number per system; choose"
            " perm_systems"
        )
    return c.frame.z, c.frame.x


def _cells(frame: GroupScores, test: str, averaging: str | None) -> tuple[Array, Array]:
    """Judgements and scores of segments; where no system is named, the outputs of each item in their order."""
    if frame.systems is not None and frame.items is not None:
        scores, human = frame.grid()
    elif averaging == "item" and frame.items is not None:
        if test == "perm_systems":
            raise InputError("perm_systems swaps systems, and not every segment names its own; choose perm_both")
        scores, human = dataclasses.replace(frame, systems=_place_within_item(frame.items)).grid()
    elif averaging == "none" and (test == "perm_both" or (test == "bootstrap" and not repeats(frame))):
        scores, human = frame.x[:, None, :], frame.z[None, :]
    else:
        raise InputError(f"{test} needs the system and the item of every segment; choose perm_both")
    return human, np.where(np.isnan(human), 0.0, scores)  # what is not judged is not read


def _place_within_item(items: Sequence[str]) -> tuple[str, ...]:
    """First, second, ... output of each item: these are the rows for outputs whose systems are not known."""
    counts: dict[str, int] = {}
    places = []
    for item in items:
        counts[item] = counts.get(item, -1) + 1
        places.append(str(counts[item]))
    return tuple(places)
