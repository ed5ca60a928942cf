"""How far may a number be from what other items or other systems would give? An interval for every cell of the table."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nlgauge.metaeval.frames import Frame
from nlgauge.metaeval.measure import pairs_of_frame
from nlgauge.stats.correlation.registry import statistic
from nlgauge.stats.correlation.result import Correlation
from nlgauge.stats.differences.bootstrap import bootstrap_test
from nlgauge.stats.intervals.bootstrap import bootstrap_correlations
from nlgauge.stats.intervals.fisher import fisher_ends

KINDS = ("auto", "fisher", "bootstrap", "none")
_FISHER = ("pearson", "spearman", "kendall_b", "kendall_c")
_LEAST = 2  # to draw from


@dataclasses.dataclass(frozen=True)
class IntervalMethod:
    """How intervals are made.

    Attributes:
        kind: `auto`, `fisher`, `bootstrap` or `none`.
        draws: of the bootstrap.
        seed: of the bootstrap.
    """

    kind: str = "auto"
    draws: int = 1000
    seed: int = 0


def with_intervals(
    frame: Frame,
    found: Sequence[Correlation],
    level: str,
    up: Sequence[bool],
    options: Mapping[str, Any],
    how: IntervalMethod,
) -> tuple[list[Correlation], str]:
    """The values of one group with their 95 % intervals, and how those were made; "" where they were not.

    `auto` is Fisher's formula where entries are independent (systems, or segments of different items), else a bootstrap
    over items.
    """
    one = found[0]
    if how.kind == "none" or one.compat is not None or statistic(one.stat).kind == "soft" or options.get("folds"):
        return list(found), ""
    if statistic(one.stat).kind == "preferences":
        return _of_pairs(frame, found, up, options, how)
    if _is_fisher(frame, one, level, how):
        entries = "systems" if level == "system" else "segments"
        if how.kind == "auto" or not repeats(frame):
            said = f"Fisher's formula for {entries} that are independent"
        else:
            said = "Fisher's formula, which takes outputs for one item as independent and comes out too narrow"
        ends = (fisher_ends(c.stat, c.value, c.n_used) for c in found)
        return [
            dataclasses.replace(c, low=float(a), high=float(b)) for c, (a, b) in zip(found, ends, strict=True)
        ], said
    if how.kind == "fisher":
        return list(found), ""
    if statistic(one.stat).kind == "calibrated" and how.kind == "auto":
        return _at_thresholds(frame, found, level, up, options, how)
    return _bootstrap(frame, found, level, up, options, how)


def with_interval_of_mean(
    frames: Sequence[Frame],
    stat: str,
    averaging: str,
    up: Sequence[bool],
    options: Mapping[str, Any],
    how: IntervalMethod,
) -> Any:
    """Ends of the interval of the plain mean over groups of entries, shape (M, 2), from draws of entries; None where there is none."""
    kind = statistic(stat).kind
    if (
        how.kind not in ("auto", "bootstrap")
        or averaging != "none"
        or kind not in ("correlation", "pairs")
        or any(map(repeats, frames))
    ):
        return None
    if options.get("compat") or sum(len(f.z) for f in frames) < _LEAST:
        return None
    own = {key: options[key] for key in statistic(stat).options if options.get(key) is not None}
    groups = [g for g, frame in enumerate(frames) for _ in frame.z]
    drawn = bootstrap_correlations(
        stat,
        np.concatenate([f.x for f in frames], axis=1),
        np.concatenate([f.z for f in frames]),
        groups,
        averaging="sys",
        higher_is_better=list(up),
        level="segment",
        draws=how.draws,
        seed=how.seed,
        **own,
    )
    return np.array([(one.low, one.high) for one in drawn])


def repeats(frame: Frame) -> bool:
    """Whether some item has several outputs."""
    return frame.items is not None and len(set(frame.items)) < len(frame.items)


def _is_fisher(frame: Frame, one: Correlation, level: str, how: IntervalMethod) -> bool:
    if one.stat not in _FISHER or one.averaging != "none" or how.kind not in ("auto", "fisher"):
        return False
    return how.kind == "fisher" or level == "system" or not repeats(frame)


def _bootstrap(
    frame: Frame,
    found: Sequence[Correlation],
    level: str,
    up: Sequence[bool],
    options: Mapping[str, Any],
    how: IntervalMethod,
) -> tuple[list[Correlation], str]:
    one = found[0]
    if one.stat == "pearson" and one.averaging == "none" and level != "system" and frame.is_grid:
        return _by_products(frame, found, up, how)
    own: dict[str, Any] = {key: options[key] for key in statistic(one.stat).options if options.get(key) is not None}
    if options.get("undefined") is not None:
        own["undefined"] = options["undefined"]
    groups: Any = None
    resample = "systems" if level == "system" else "items"
    if level != "system":
        groups = frame.systems if one.averaging == "sys" else frame.items
    if len(set(frame.ids if groups is None or one.averaging == "sys" else groups)) < _LEAST:
        return list(found), ""
    at = {"level": "system"} if level == "system" else {}
    drawn = bootstrap_correlations(
        one.stat,
        frame.x,
        frame.z,
        groups,
        averaging=one.averaging,
        higher_is_better=list(up),
        resample=resample,
        draws=how.draws,
        seed=how.seed,
        **own,
        **at,
    )
    made = [dataclasses.replace(c, low=d.low, high=d.high) for c, d in zip(found, drawn, strict=True)]
    over = "systems" if level == "system" else "segments" if groups is None or one.averaging == "sys" else "items"
    lost = max(d.n_undefined_draws for d in drawn)
    said = f"percentile bootstrap over {over}, {how.draws} draws, seed {how.seed}"
    return made, said + (f" (undefined on up to {lost} draws, which are left out)" if lost else "")


def _by_products(
    frame: Frame, found: Sequence[Correlation], up: Sequence[bool], how: IntervalMethod
) -> tuple[list[Correlation], str]:
    """Pearson's r over a grid: sums of every item, weighted by how often it is drawn, serve all draws at once."""
    scores, human = frame.grid()
    scores = np.where(np.asarray(up)[:, None, None], scores, -scores)
    drawn = bootstrap_test(
        human, np.where(np.isnan(human), 0.0, scores), averaging="none", draws=how.draws, seed=how.seed
    )
    ends = np.stack([np.asarray(drawn.low), np.asarray(drawn.high)], axis=1).tolist()  # (M, 2)
    made = [dataclasses.replace(c, low=low, high=high) for c, (low, high) in zip(found, ends, strict=True)]
    return made, f"percentile bootstrap over items, {how.draws} draws, seed {how.seed}"


def _at_thresholds(
    frame: Frame,
    found: Sequence[Correlation],
    level: str,
    up: Sequence[bool],
    options: Mapping[str, Any],
    how: IntervalMethod,
) -> tuple[list[Correlation], str]:
    """Calibrating in every draw takes long; `auto` keeps the thresholds of the data."""
    made, said = [], ""
    for m, one in enumerate(found):
        plain = dataclasses.replace(one, stat=one.stat.removesuffix("_calibrated"))
        alone, at = dataclasses.replace(frame, x=frame.x[m : m + 1]), {**options, "epsilon": one.epsilon}
        (ends,), said = _bootstrap(alone, [plain], level, [up[m]], at, how)
        made.append(dataclasses.replace(one, low=ends.low, high=ends.high))
    return made, said and f"{said}, at the thresholds of all data"


def _of_pairs(
    frame: Frame, found: Sequence[Correlation], up: Sequence[bool], options: Mapping[str, Any], how: IntervalMethod
) -> tuple[list[Correlation], str]:
    """Pairs of one item belong together: items are drawn, with all their pairs. Where every pair is of another item, Wilson's interval."""
    better, worse = pairs_of_frame(frame, options.get("threshold"))
    groups = [str(i) for i in better.tolist()] if frame.items is None else [frame.items[i] for i in better]
    if not math.isnan(found[0].low) and len(set(groups)) == len(groups):
        return list(found), "Wilson's interval"
    if len(set(groups)) < _LEAST or how.kind == "fisher":
        return [dataclasses.replace(c, low=math.nan, high=math.nan) for c in found], ""
    own: dict[str, Any] = {"ties": options["ties"]} if options.get("ties") is not None else {}
    averaging = found[0].averaging
    drawn = bootstrap_correlations(
        found[0].stat,
        frame.x[:, better],
        frame.x[:, worse],
        groups,
        averaging=averaging,
        higher_is_better=list(up),
        draws=how.draws,
        seed=how.seed,
        **own,
    )
    made = [dataclasses.replace(c, low=d.low, high=d.high) for c, d in zip(found, drawn, strict=True)]
    return made, f"percentile bootstrap over items, {how.draws} draws, seed {how.seed}"
