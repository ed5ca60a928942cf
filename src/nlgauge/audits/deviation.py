"""Does the metric's drop agree with people's? Deviations of a checklist."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nlgauge.audits.sides import Sides
from nlgauge.core.arrays import Array
from nlgauge.core.suite import Suite
from nlgauge.perturbations.checklist import ChecklistRow
from nlgauge.stats.shares import mean_interval

RULES: Mapping[str, str] = {
    "self": "each score divided by that of the unperturbed text held against itself",
    "minmax": "least to greatest score of the metric over all texts of the task",
    "none": "scores as they are",
}


def deviation_rows(
    suite: Suite,
    sides: Sides,
    rows: Sequence[ChecklistRow],
    *,
    normalise: str = "auto",
    tolerance: float = 0.05,
    confidence: float = 0.95,
) -> list[dict[str, Any]]:
    """One row for each row of the checklist: mean drop of the metric, drop of people, and their difference.

    The deviation is s = (h(p^) - h(p)) - (f(p^) - f(p)) = drop - penalty: negative where the metric punishes less than
    people.

    Args:
        suite: pairs with the text before (better) and after (worse).
        sides: the scores of one metric.
        rows: the checklist with its penalties.
        normalise: a key of `RULES`; `auto` is `self` where that has a meaning (a score from 0 up that is best for a
            copy), else `minmax`.
        tolerance: an invariance holds where the mean drop is at most this, up or down.
        confidence: of the intervals, Student's over texts; the penalty is taken as it is.

    References:
        Sai et al. (2021), "Perturbation CheckLists for Evaluating NLG Evaluation Metrics", equation 1.
    """
    rule = rule_for(sides, suite) if normalise == "auto" else normalise
    drops = normalised_drops(sides, suite, rule)
    pairs = [suite.pairs[place] for place in sides.places]
    where: dict[tuple[str | None, str | None, str], list[int]] = {}
    for i, pair in enumerate(pairs):
        where.setdefault((pair.task, pair.criterion, pair.phenomenon), []).append(i)
    left: dict[tuple[str | None, str | None, str], int] = {}
    for s in suite.skipped:
        key = (s.task, s.criterion, s.perturbation)
        left[key] = left.get(key, 0) + s.n
    out = []
    for row in rows:
        key = (row.task, row.criterion, row.template)
        part = where.get(key, [])
        drop, low, high = mean_interval(drops[part] if part else np.zeros(0), confidence)
        known = drops[part][~np.isnan(drops[part])] if part else np.zeros(0)
        expect = pairs[part[0]].expect if part else ("same" if row.criterion == "invariance" else "lower")
        same = expect == "same"
        out.append(
            {
                "metric": sides.spec,
                "task": row.task,
                "criterion": row.criterion,
                "template": row.template,
                "label": row.label,
                "expect": expect,
                "n": len(part),
                "n_not_applicable": left.get(key, 0),
                "n_undefined": len(part) - len(known),
                "drop": drop,
                "penalty": row.penalty,
                "deviation": drop - row.penalty,
                "low": low - row.penalty,
                "high": high - row.penalty,
                "certainty": row.certainty,
                "method": row.method,
                "norm": rule,
                "invariant": bool(abs(drop) <= tolerance) if same and not math.isnan(drop) else None,
                "within": float((np.abs(known) <= tolerance).mean()) if same and len(known) else math.nan,
            }
        )
    return out


def rule_for(sides: Sides, suite: Suite) -> str:
    """`self` where the unperturbed text is held against itself by a score from 0 up that is best for a copy, else `minmax`."""
    info = sides.metric.info
    copies = "references" in info.needs and all(
        suite.pairs[place].better in suite.pairs[place].references for place in sides.places
    )
    return "self" if copies and info.higher_is_better and info.copy_is_best else "minmax"


def normalised_drops(sides: Sides, suite: Suite, rule: str) -> Array:
    """f(p) - f(p^) on a scale from 0 to 1, shape (n,); NaN where a score is undefined or its scale has no width."""
    sign = 1 if sides.higher_is_better else -1
    with np.errstate(invalid="ignore", divide="ignore"):
        if rule == "self":
            return np.where(sides.better > 0, (sides.better - sides.worse) / sides.better, np.nan)
        if rule == "none":
            return sign * (sides.better - sides.worse)
        drops = np.full(len(sides.places), np.nan)
        tasks = [suite.pairs[place].task for place in sides.places]
        for task in dict.fromkeys(tasks):
            part = np.array([t == task for t in tasks])
            both = np.concatenate([sides.better[part], sides.worse[part]])
            width = np.nanmax(both) - np.nanmin(both) if not np.isnan(both).all() else np.nan
            drops[part] = sign * (sides.better[part] - sides.worse[part]) / (width if width > 0 else np.nan)
        return drops
