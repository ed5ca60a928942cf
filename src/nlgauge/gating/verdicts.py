"""What does each metric say, and what follows for the gate? Rows, reasons and the items that lost most."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.core.result import NewRow
from nlgauge.gating.losses import broken, flaky, worst_items
from nlgauge.gating.outputs import clusters_of, same_texts
from nlgauge.gating.rules import Rules
from nlgauge.gating.scored import Differences, Scored, differences
from nlgauge.gating.words import SAME_TEXTS, reason
from nlgauge.metrics.base import Metric
from nlgauge.stats.gate_bounds import Studentized
from nlgauge.stats.gates import (
    FAIL,
    INCONCLUSIVE,
    PASS,
    Bound,
    bound_difference,
    bound_fixed,
    drawn_together,
    flicker,
    needs_draws,
    with_holm,
)

_SHOWN = 5  # ids in a sentence
_NONE = "none"


@dataclass(frozen=True)
class Decided:
    """The verdicts on all metrics, and that of the gate.

    Attributes:
        verdict: FAIL if a metric that decides fails, else INCONCLUSIVE if one is, else PASS.
        reasons: why, a sentence for each metric that decides and is of this verdict.
        rows: one per metric.
        items: the items that lost most, by metric.
        notes: what was left out.
    """

    verdict: str
    reasons: tuple[str, ...]
    rows: tuple[NewRow, ...]
    items: tuple[NewRow, ...]
    notes: tuple[str, ...]


def decide(metrics: Mapping[str, Metric], base: Scored, new: Scored, rules: Rules) -> Decided:
    """Judge the differences of both sides, which have the same items.

    Raises:
        InputError: a metric has no item with scores on both sides, or does not fit a rule.
    """
    names = list(new.outputs.items)
    clusters = clusters_of(new.outputs.groups) if rules.clusters == "group" else None
    is_same = same_texts(base.outputs, new.outputs)
    found = {spec: differences(spec, built, base, new, rules.undefined) for spec, built in metrics.items()}
    drawn = _drawn(found, clusters, is_same, rules)
    bounds = {spec: _bound(spec, one, clusters, is_same, rules, drawn.get(spec)) for spec, one in found.items()}
    deciding = [spec for spec in metrics if spec not in rules.report_only]
    bounds |= dict(zip(deciding, with_holm([bounds[spec] for spec in deciding]), strict=True))
    rows, items, reasons, notes = [], [], dict[str, str](), list[str]()
    for spec, one in found.items():
        failed = _failures(spec, one, names, rules)
        verdict = FAIL if failed else bounds[spec].verdict
        told = "; ".join([*failed, reason(bounds[spec], bounds[spec].verdict)])
        rows.append(_row(spec, spec in deciding, verdict, told, bounds[spec], one))
        items += worst_items(spec, one, base.outputs, new.outputs)
        if spec in deciding:
            reasons[spec] = verdict
        notes += _left_out(spec, one, rules)
    whole = next((v for v in (FAIL, INCONCLUSIVE) if v in reasons.values()), PASS)
    said = tuple(f"{row['metric']}: {row['reason']}" for row in rows if reasons.get(row["metric"]) == whole)
    return Decided(whole, said, tuple(rows), tuple(items), tuple(notes))


def _drawn(
    found: Mapping[str, Differences], clusters: Sequence[str] | None, is_same: bool, rules: Rules
) -> dict[str, Studentized]:
    """The resamples of metrics that have a score for every item; the others draw of fewer items, each its own."""
    whole = {spec: one for spec, one in found.items() if not is_same and np.isfinite(one.values).all()}
    n_units = (
        len(set(clusters)) if clusters is not None else max((len(one.values) for one in whole.values()), default=0)
    )
    needing = {
        spec: one.values
        for spec, one in whole.items()
        if rules.items != "fixed" and needs_draws(n_units, one.is_rate, clusters is not None, rules.sequential)
    }
    return drawn_together(needing, clusters, draws=rules.draws, seed=rules.seed)


def _bound(
    spec: str,
    found: Differences,
    clusters: Sequence[str] | None,
    is_same: bool,
    rules: Rules,
    drawn: Studentized | None,
) -> Bound:
    known = ~np.isnan(found.values)
    allow = rules.allowed(spec, found.largest)
    if is_same and not found.lost.any() and not found.values[known].any():
        return _settled(SAME_TEXTS, 0.0, int(known.sum()), allow, rules.alpha)
    if not known.any():
        if found.lost.any() and rules.undefined == "fail":
            return _settled(_NONE, math.nan, 0, allow, rules.alpha)
        raise InputError(f"{spec}: no item has scores in BASE and in NEW, expected at least one")
    if rules.items == "fixed":
        return bound_fixed(
            found.values[known], *(_of(side, known) for side in found.runs), allow=allow, alpha=rules.alpha
        )
    try:
        return bound_difference(
            found.values[known],
            None if clusters is None else [c for c, is_known in zip(clusters, known, strict=True) if is_known],
            allow=allow,
            alpha=rules.alpha,
            is_rate=found.is_rate,
            largest=found.largest if rules.sequential else found.at_stake,
            is_sequential=rules.sequential,
            draws=rules.draws,
            seed=rules.seed,
            drawn=drawn,
        )
    except InputError as error:
        raise InputError(f"{spec}: {error}") from None


def _of(side: Sequence[Array], known: npt.NDArray[np.bool_]) -> list[Array]:
    """The runs of the items with scores on both sides, without runs that have none."""
    return [runs[~np.isnan(runs)] for runs, is_known in zip(side, known, strict=True) if is_known]


def _settled(method: str, delta: float, n: int, allow: float, alpha: float) -> Bound:
    """What needs no test: the same texts, which pass, or no scores at all."""
    return Bound(
        method=method,
        delta=delta,
        error=delta,
        low=delta,
        high=delta,
        p_pass=0.0 if delta == 0 else 1.0,
        p_fail=1.0,
        allow=allow,
        alpha=alpha,
        n=n,
        n_changed=0,
        n_clusters=None,
        smallest_drop=delta,
        items_needed=None,
    )


def _failures(spec: str, found: Differences, names: Sequence[str], rules: Rules) -> list[str]:
    """What fails a metric whatever its mean does."""
    told = []
    lost = [name for name, is_lost in zip(names, found.lost, strict=True) if is_lost]
    if lost and rules.undefined == "fail":
        told.append(f"{_count(lost)} no score in NEW and had one in BASE ({_named(lost)})")
    limit = rules.allowed_item(spec)
    bad = broken(found, names, limit)
    if bad:
        told.append(f"{_count(bad)} lost more than {limit:g} ({_named(bad)})")
    if rules.min_pass is not None:
        known = np.concatenate([*found.runs[1]])
        if not np.isin(known[~np.isnan(known)], (0.0, 1.0)).all():
            raise InputError(f"{spec}: min_pass counts runs that pass, and its scores are not all 0 or 1")
        rare = flaky(found, names, rules.min_pass, rules.alpha)
        if rare:
            demand = f"{rules.min_pass[0]} of {rules.min_pass[1]} runs"
            told.append(f"{_count(rare)} clearly passed fewer than {demand} ({_named(rare)})")
    return told


def _count(ids: Sequence[str]) -> str:
    return "1 item has" if len(ids) == 1 else f"{len(ids)} items have"


def _named(ids: Sequence[str]) -> str:
    return ", ".join(ids[:_SHOWN]) + (f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else "")


def _row(spec: str, decides: bool, verdict: str, told: str, bound: Bound, found: Differences) -> NewRow:
    known = ~np.isnan(found.values)
    return {
        "metric": spec,
        "verdict": verdict,
        "decides": decides,
        "base": _mean(found.base[known]),
        "new": _mean(found.new[known]),
        "delta": bound.delta,
        "low": bound.low,
        "high": bound.high,
        "allow": bound.allow,
        "alpha": bound.alpha,
        "method": bound.method,
        "n": bound.n,
        "n_changed": bound.n_changed,
        "n_clusters": bound.n_clusters,
        "n_undefined": int(found.lost.sum()),
        "n_left_out": int((~known).sum()),
        "repeats": max(map(len, [*found.runs[0], *found.runs[1]])),
        "flicker": flicker(found.values[known], *found.runs),
        "smallest_drop": bound.smallest_drop,
        "items_needed": bound.items_needed,
        "p_pass": bound.p_pass,
        "p_fail": bound.p_fail,
        "reason": told,
    }


def _mean(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
    return float(values.mean()) if len(values) else math.nan


def _left_out(spec: str, found: Differences, rules: Rules) -> list[str]:
    told = []
    n_lost, n = int(found.lost.sum()), len(found.values)
    rest = int(np.isnan(found.values).sum()) - n_lost
    if n_lost and rules.undefined == "drop":
        told.append(f"{spec}: {n_lost} of {n} items have no score in NEW and had one in BASE; they are left out")
    if rest:
        told.append(f"{spec}: {rest} of {n} items have no score in BASE; they are left out")
    return told
