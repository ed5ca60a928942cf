"""How far may a number be from its value on other items or other systems? An interval for every cell of the table."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.core.options import check_option
from nlgauge.metaeval.frames import Frame
from nlgauge.metaeval.measure import Measure, as_pearson, pairs_of_frame
from nlgauge.stats.correlate import Correlation, statistic
from nlgauge.stats.draws import SHARE_NAMES
from nlgauge.stats.intervals import bootstrap_correlations, fisher_ends, pearson_ends, widened_ends

Kind = Literal["auto", "fisher", "bootstrap", "none"]
_FISHER = ("pearson", "spearman", "kendall_b", "kendall_c")
_LEAST = 2  # to draw from
_PERFECT = 1 - 1e-12  # a larger coefficient is 1, but for rounding
_FEW, _TIED, _SKEWED = 100, 0.1, 1.0  # items, share of pairs, skewness: beyond, levels are off; see coverage.md
_FEW_SYSTEMS, _FAR = 20, 5.0  # systems, excess kurtosis; the same
_WITHOUT = ("soft", "difference_pairs")  # kinds of statistics without an interval


@dataclass(frozen=True)
class IntervalMethod:
    """How intervals are computed.

    Attributes:
        kind: `auto`, `fisher`, `bootstrap` or `none`.
        draws: the number of bootstrap resamples.
        seed: the seed of the bootstrap.
    """

    kind: Kind = "auto"
    draws: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        check_option("intervals", self.kind, Kind, error=InputError)

    def of_draws(self, over: str) -> str:
        """The bootstrap in words."""
        return f"percentile bootstrap over {over}, {self.draws} draws, seed {self.seed}"


def with_intervals(
    frame: Frame, found: Sequence[Correlation], how: Measure, method: IntervalMethod
) -> tuple[list[Correlation], str]:
    """The values of one group with their 95 % intervals, and the method of the intervals ("" where there are none).

    `auto` is Fisher's formula where entries are independent (systems, or segments of different items), widened by the
    jackknife for Pearson's r. Elsewhere it is a bootstrap over items.
    """
    one = found[0]
    if method.kind == "none" or one.compat is not None or how.kind in _WITHOUT or _is_held_out(how):
        return list(found), ""
    if how.kind == "differences":
        if method.kind == "fisher":
            return list(found), ""
        return _bootstrap(*as_pearson(frame, how), found, method)
    if how.kind == "preferences":
        return _of_pairs(frame, found, how, method)
    if _is_fisher(frame, how, method):
        entries = "systems" if how.level == "system" else "segments"
        perfect = any(abs(c.value) > _PERFECT for c in found)
        but = "; at 1 and -1 it has no width, which says nothing of others" if perfect else ""
        if method.kind == "auto" and how.stat == "pearson":
            widened = widened_ends(how.turned(frame).x, frame.z)
            return (
                _with_ends(found, list(zip(*widened, strict=True))),
                f"Fisher's formula for {entries} that are independent, widened by the jackknife where values are"
                f" skewed{but}",
            )
        ends = [fisher_ends(c.stat, c.value, c.n_used) for c in found]
        if method.kind == "auto" or not repeats(frame):
            return _with_ends(found, ends), f"Fisher's formula for {entries} that are independent{but}"
        return (
            _with_ends(found, ends),
            f"Fisher's formula, which takes outputs for one item as independent and comes out too narrow{but}",
        )
    if method.kind == "fisher":
        return list(found), ""
    if how.kind == "calibrated" and method.kind == "auto":
        return _at_thresholds(frame, found, how, method)
    return _bootstrap(frame, how, found, method)


def cautions(frame: Frame, how: Measure, made: str) -> list[str]:
    """Cautions on the intervals of a group, where simulated ones hold the value in less than 93 %.

    Args:
        frame: the segments or systems.
        how: the statistic.
        made: how the intervals were made, as `with_intervals` says it.
    """
    stat, far = how.stat, any(map(_has_outliers, (*frame.x, frame.z)))
    outliers = f"[low, high] of {how.stat}: a few values lie far from the rest, for which it may be much too narrow"
    if made.startswith("Fisher's formula"):
        tied = stat.startswith("kendall") and max(map(_share_tied, (*frame.x, frame.z)), default=0.0) > _TIED
        if stat == "pearson" and far:
            return [outliers]
        return [f"[low, high] of {stat}: many values are tied, where the formula holds the value in 79 to 92 %"] * tied
    if how.level == "system" and "bootstrap" in made and len(frame.z) < _FEW_SYSTEMS:
        return [f"[low, high] of {stat}: from {len(frame.z)} systems too narrow; from 8 they hold the value in 89 %"]
    if how.level == "system" or "bootstrap" not in made:
        return []
    n = len(set(frame.ids if frame.items is None or how.averaging == "sys" else frame.items))
    if n < _FEW:
        return [f"[low, high] of {stat}: from {n} items too narrow; from 20 they hold the value in 91 % in place of 95"]
    if stat in ("pearson", "pdp") and how.averaging == "none" and is_skewed(frame):
        return [f"[low, high] of {stat}: ratings and scores are skewed, for which they are too narrow"]
    return [outliers] if far and stat in ("pearson", "pdp") and how.averaging == "none" else []


def is_skewed(frame: Frame) -> bool:
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


def ends_of_mean(frames: Sequence[Frame], how: Measure, method: IntervalMethod) -> Array | None:
    """The interval of the plain mean over groups, from resampled entries: shape (M, 2), or None where there is none."""
    if (
        method.kind not in ("auto", "bootstrap")
        or how.averaging != "none"
        or how.kind not in ("correlation", "pairs")
        or any(map(repeats, frames))
    ):
        return None
    if how.options.get("compat") or sum(len(frame.z) for frame in frames) < _LEAST:
        return None
    drawn = bootstrap_correlations(
        how.stat,
        np.concatenate([frame.x for frame in frames], axis=1),
        np.concatenate([frame.z for frame in frames]),
        [g for g, frame in enumerate(frames) for _ in frame.z],
        draws=method.draws,
        seed=method.seed,
        **{**_options(how), "averaging": "sys", "level": "segment"},
    )
    return np.array([(one.low, one.high) for one in drawn])


def repeats(frame: Frame) -> bool:
    """Whether any item has several outputs."""
    return frame.items is not None and len(set(frame.items)) < len(frame.items)


def _is_held_out(how: Measure) -> bool:
    """Whether tie thresholds come from other items, anew in every fold."""
    return bool(how.options.get("folds", statistic(how.stat).folds))


def _is_fisher(frame: Frame, how: Measure, method: IntervalMethod) -> bool:
    if how.stat not in _FISHER or how.averaging != "none" or method.kind not in ("auto", "fisher"):
        return False
    return method.kind == "fisher" or how.level == "system" or not repeats(frame)


def _options(how: Measure) -> Any:
    """The options of the statistic, as the bootstrap takes them."""
    own = {key: value for key, value in how.of_stat.items() if key != "seed"}  # that of folds; a bootstrap has its own
    return {**own, "averaging": how.averaging, "higher_is_better": list(how.up)}


def _with_ends(found: Sequence[Correlation], ends: Sequence[tuple[Any, Any]]) -> list[Correlation]:
    return [
        dataclasses.replace(c, low=float(low), high=float(high)) for c, (low, high) in zip(found, ends, strict=True)
    ]


def _bootstrap(
    frame: Frame, how: Measure, found: Sequence[Correlation], method: IntervalMethod
) -> tuple[list[Correlation], str]:
    if how.stat == "pearson" and how.averaging == "none" and how.level != "system" and frame.is_grid:
        scores, human = how.turned(frame).grid()
        ends = pearson_ends(human, np.where(np.isnan(human), 0.0, scores), draws=method.draws, seed=method.seed)
        return _with_ends(found, list(zip(*ends, strict=True))), method.of_draws("items")
    options = _options(how)
    if how.options.get("undefined") is not None:
        options["undefined"] = how.options["undefined"]
    groups = frame.systems if how.averaging == "sys" else frame.items
    over, resample = "segments" if groups is None or how.averaging == "sys" else "items", "items"
    if how.level == "system":
        groups, options["level"] = None, "system"
        over = resample = "systems"
    if len(set(frame.ids if groups is None or how.averaging == "sys" else groups)) < _LEAST:
        return list(found), ""
    drawn = bootstrap_correlations(
        how.stat, frame.x, frame.z, groups, resample=resample, draws=method.draws, seed=method.seed, **options
    )
    lost = max(d.n_undefined_draws for d in drawn)
    left_out = f" (undefined on up to {lost} draws, which are left out)" if lost else ""
    return _with_ends(found, [(d.low, d.high) for d in drawn]), method.of_draws(over) + left_out


def _at_thresholds(
    frame: Frame, found: Sequence[Correlation], how: Measure, method: IntervalMethod
) -> tuple[list[Correlation], str]:
    """Intervals at the tie thresholds of the data: `auto` keeps them, since calibrating in every draw takes long."""
    thresholds = [one.epsilon or 0.0 for one in found]
    plain = dataclasses.replace(
        how, stat=how.stat.removesuffix("_calibrated"), options={**how.options, "epsilon": thresholds}
    )
    ended, said = _bootstrap(frame, plain, found, method)
    return ended, said and f"{said}, at the thresholds of all data"


def _of_pairs(
    frame: Frame, found: Sequence[Correlation], how: Measure, method: IntervalMethod
) -> tuple[list[Correlation], str]:
    """Intervals for pairs: pairs of one item belong together, so items are drawn with all their pairs.

    Where every pair comes from a different item, the interval of the share is kept.
    """
    better, worse = pairs_of_frame(frame, how.options.get("threshold"))
    groups = [str(i) for i in better.tolist()] if frame.items is None else [frame.items[i] for i in better]
    n_groups = len(set(groups))
    if not math.isnan(found[0].low) and n_groups == len(groups):
        return list(found), f"{SHARE_NAMES[how.options.get('interval') or 'wilson']} interval"
    if n_groups < _LEAST or method.kind == "fisher":
        return _with_ends(found, [(math.nan, math.nan)] * len(found)), ""
    x, options = frame.x, _options(how)
    drawn = bootstrap_correlations(
        how.stat, x[:, better], x[:, worse], groups, draws=method.draws, seed=method.seed, **options
    )
    return _with_ends(found, [(d.low, d.high) for d in drawn]), method.of_draws("items")
