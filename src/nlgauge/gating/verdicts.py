"""What must hold for a change to pass, what does each metric say of it, and why?"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError, nearest
from nlgauge.core.metric import BaseMetric
from nlgauge.core.options import Range, Typed, check_option
from nlgauge.core.result import NewRow
from nlgauge.gating.outputs import Differences, Outputs, ScoredSide, clusters_of, differences, same_texts
from nlgauge.stats.gate_bounds import DRAWS, Studentized
from nlgauge.stats.gates import (
    FAIL,
    FEW,
    FEW_GROUPS,
    INCONCLUSIVE,
    PASS,
    Bound,
    bound_difference,
    bound_fixed,
    bound_level,
    drawn_together,
    flicker,
    needs_draws,
    rarely_passing,
    with_holm,
)

Undefined = Literal["fail", "worst", "drop"]
Items = Literal["sample", "independent", "fixed"]
Drops = float | Mapping[str, float]  # one for all metrics, or specification -> its own
Scale = tuple[float, float]  # the lowest and the highest score
Scales = Scale | Mapping[str, Scale]
_HUNDREDTH = 0.01
_SHARE = Annotated[float, Range(above=0, below=0.5, meaning="a share, such as 0.05")]
_DROP = Annotated[float, Range(least=0, most=1e300, meaning="a drop in units of the metric")]


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The rules of a gate; drops are in the units of each metric.

    Those that are typed as they are say so here; the command line makes the others of what is typed there.

    Attributes:
        allow: the drop of the mean that is allowed; `""` in a mapping stands for metrics that it does not name. None is
            a hundredth of the scale, and .01 where the scale has no limits.
        alpha: the chance of a false PASS, and that of a false FAIL, at a drop equal to `allow`.
        allow_item: the drop that no single item may exceed.
        min_pass: (M, N): an item must pass M of N runs.
        undefined: what becomes of scores that NEW lacks and BASE has.
        report_only: specifications that do not decide.
        scale: the lowest and the highest score of metrics that have no limits, as ratings and scores of other programs.
        sequential: whether one may look again after every further item.
        items: `sample` asks what the items say of others like them, and draws whole groups of them; `independent` does
            so of items whatever their groups, `fixed` asks of these items alone.
    """

    allow: Drops | None = None
    alpha: Annotated[_SHARE, Typed("The chance of a false PASS, and of a false FAIL.", metavar="SHARE")] = 0.05
    allow_item: Drops | None = None
    min_pass: tuple[int, int] | None = None
    undefined: Undefined = "fail"
    report_only: frozenset[str] = field(default_factory=frozenset)
    scale: Scales | None = None
    sequential: Annotated[bool, Typed("Judge so that one may look again after every further item.")] = False
    items: Annotated[
        Items,
        Typed(
            "A sample of what is to come, with groups as clusters or without (independent); or all that is asked for."
        ),
    ] = "sample"
    draws: int = DRAWS
    seed: int = 0

    def check(self, specs: Iterable[str]) -> None:
        """Refuse rules that do not fit the metrics, or lie out of their range."""
        known = list(specs)
        check_option("undefined", self.undefined, Undefined, error=InputError)
        check_option("items", self.items, Items, error=InputError)
        if self.items == "fixed" and self.sequential:
            raise InputError("sequential judges further items, and with items fixed there are none; choose one of both")
        check_option("alpha", self.alpha, _SHARE, error=InputError)
        ruled = (("allow", self.allow, _DROP), ("allow_item", self.allow_item, _DROP), ("scale", self.scale, Scale))
        for name, given, hint in ruled:
            for spec, one in given.items() if isinstance(given, Mapping) else [("", given)]:
                if spec and spec not in known:
                    raise InputError(f"{name} names {spec!r}, which is not among the metrics{nearest(spec, known)}")
                check_option(f"{name} of {spec}" if spec else name, one, hint | None, error=InputError)
                if isinstance(one, tuple) and not -math.inf < one[0] < one[1] < math.inf:
                    raise InputError(f"scale is {one}, expected the lowest and the highest score, as (0, 1)")
        if self.min_pass is not None:
            check_option("min_pass", self.min_pass, tuple[int, int], error=InputError)
            if not 0 < self.min_pass[0] <= self.min_pass[1]:
                raise InputError(f"min_pass is {self.min_pass}, expected M of N runs with M from 1 to N, as (8, 10)")
        if not [spec for spec in known if spec not in self.report_only]:
            raise InputError("every metric is only reported, expected one or more that decide")

    def allowed(self, spec: str, scale: float | None = None) -> float:
        """The drop of the mean that is allowed by a metric.

        Args:
            scale: the width of its scale; None where it has no limits.

        Raises:
            InputError: none is.
        """
        if self.allow is None:
            return _HUNDREDTH * (1.0 if scale is None else scale)
        drop = _of(self.allow, spec)
        if drop is None:
            raise InputError(f"no drop is allowed or forbidden for {spec}; name one, 0 if none may be lost")
        return float(drop)

    def allowed_item(self, spec: str) -> float | None:
        """The drop that no single item may exceed by a metric; None where there is no limit."""
        return None if (drop := _of(self.allow_item, spec)) is None else float(drop)

    def scales(self, metrics: Mapping[str, BaseMetric]) -> dict[str, Scale | None]:
        """The scale that is named for each metric; None for those with limits of their own, or where none is named.

        Raises:
            InputError: one is named for a metric with limits, or for none without.
        """
        found = {s: None if np.isfinite(m.info.range).all() else _of(self.scale, s) for s, m in metrics.items()}
        named = [*filter(None, self.scale)] if isinstance(self.scale, Mapping) else []
        if self.scale is not None and not (any(found.values()) and all(map(found.get, named))):
            raise InputError(f"scale: {', '.join(named or found)} has limits of its own; name it for metrics without")
        return found


def _of(given: Any, spec: str) -> Any:
    """What is given for a metric: by its name, or for all."""
    return given.get(spec, given.get("")) if isinstance(given, Mapping) else given


def m_of_n(typed: str) -> tuple[int, int]:
    """`8/10` as (8, 10)."""
    match = re.fullmatch(r"\s*(\d+)\s*/\s*(\d+)\s*", typed)
    if match is None or not 0 < int(match[1]) <= int(match[2]):
        raise InputError(f"{typed!r} is no demand on runs, expected M/N with M from 1 to N, as 8/10")
    return int(match[1]), int(match[2])


# --- Why is the verdict what it is? One sentence for each metric, for a reader who has no manual at hand

SAME_TEXTS = "same texts"
_MUCH = 0.5  # of the variance: from here on doubling the runs gains a quarter of it


def reason(bound: Bound, verdict: str) -> str:
    """The sentence about one metric."""
    if bound.method == SAME_TEXTS:
        rare = 100 * (1 - bound.alpha ** (1 / max(bound.n, 1)))
        return f"the texts are the same; {_items(bound.n)} may miss what breaks up to {rare:.2g} % of others"
    allowed = f"{bound.allow:g} is allowed"
    if bound.method == "fixed" and not bound.error:
        return f"the mean of these items {_changed(bound.delta)}; {allowed}"
    if verdict == "FAIL":
        return f"the mean lost {_number(-bound.delta)}, surely more than {_number(-bound.high)}; {allowed}"
    if verdict == "PASS":
        if bound.low >= 0:
            return f"the mean gained {_number(bound.delta)}, surely at least {_number(bound.low)}"
        return f"the mean {_changed(bound.delta)} and lost no more than {_number(-bound.low)}; {allowed}"
    lost = "" if math.isnan(bound.low) else f" and may have lost up to {_number(-min(bound.low, 0.0))}"
    return f"the mean {_changed(bound.delta)}{lost}; {allowed}; {_way_out(bound)}"


def _way_out(bound: Bound) -> str:
    if bound.method == "fixed":
        return "more runs of each item would tell"
    if bound.n_clusters is not None and bound.n_clusters < FEW_GROUPS:
        few = f"{bound.n_clusters} groups are too few to pass, expected {FEW_GROUPS} or more"
        return f"{few}; if their items are independent, say --items independent (items='independent')"
    if not bound.allow:
        return "no number of items shows that nothing at all was lost, so allow a drop"
    few = ""
    if bound.method == "unseen":
        rare = "gains" if bound.delta < -bound.allow else "losses"
        few = f"{_items(bound.n)} may miss {rare} that are rare and large; "
    elif bound.method == "worst-case" and bound.n_changed < FEW:
        few = f"only {bound.n_changed} of {bound.n} items changed; "
    elif bound.method == "worst-case":
        few = f"fewer than {FEW} {'items' if bound.n_clusters is None else 'groups'} changed otherwise than the rest; "
    needed = bound.items_needed
    if needed is None:
        return f"{few}you have {_items(bound.n)}, and how many would do is not known"
    if needed <= bound.n:
        return f"{few}you have {_items(bound.n)}, and the change is too close to the allowance to tell"
    return f"{few}you have {_items(bound.n)}; an allowance of {bound.allow:g} needs about {rounded(needed):,}"


def rounded(needed: int) -> int:
    """Two digits, rounded up: no more is known of a number of items."""
    step: int = 10 ** max(0, len(str(needed)) - 2)
    return -(-needed // step) * step


def _items(n: int) -> str:
    return f"{n} item{'' if n == 1 else 's'}"


def _changed(delta: float) -> str:
    if math.isnan(delta):
        return "is undefined"
    return "did not change" if delta == 0 else f"{'gained' if delta > 0 else 'lost'} {_number(abs(delta))}"


def _number(value: float) -> str:
    return f"{value:.3g}"


def flickers(share: float) -> str:
    """What several runs of each item say of the choice between more runs and more items."""
    what = f"{100 * share:.0f} % of the variance of differences is flicker between runs of an item"
    return f"{what}; {'more runs' if share > _MUCH else 'more items, rather than runs,'} narrow the bounds"


# --- Which items lost most? Their texts on both sides, and the items that break a limit of their own

WORST = 5  # items that are shown for each metric


def worst_items(spec: str, found: Differences, base: Outputs, new: Outputs) -> list[NewRow]:
    """The items that lost most by a metric, the worst first; those that lost nothing are left out.

    Of several runs the text is that of the worst run in NEW, and of the best run in BASE.
    """
    loss = np.where(found.lost, -np.inf, found.values)
    order = [i for i in np.argsort(loss, kind="stable")[:WORST].tolist() if loss[i] < 0]
    items = list(base.items)
    return [_row(spec, items[i], i, found, base, new) for i in order]


def _row(spec: str, item: str, i: int, found: Differences, base: Outputs, new: Outputs) -> NewRow:
    sign = -1 if found.falls else 1
    before, after = (sign * runs[i] for runs in found.runs)
    best = 0 if np.isnan(before).all() else int(np.nanargmax(before))
    worst = int(np.isnan(after).argmax()) if np.isnan(after).any() else int(after.argmin())
    run = new.items[item][worst]
    return {
        "metric": spec,
        "seg": item,
        "group": run.group,
        "delta": float(found.values[i]),
        "base": float(found.base[i]),
        "new": float(found.new[i]),
        "base_hyp": base.items[item][best].hypothesis,
        "new_hyp": run.hypothesis,
        "ref": run.references[0] if run.references else None,
    }


def broken(found: Differences, items: Sequence[str], allow_item: float | None) -> list[str]:
    """The items that lose more than one item may, the worst first."""
    if allow_item is None:
        return []
    values = np.where(np.isnan(found.values), 0.0, found.values)
    return [items[i] for i in np.argsort(values, kind="stable").tolist() if values[i] < -allow_item - 1e-12]


def flaky(found: Differences, items: Sequence[str], demand: tuple[int, int] | None, alpha: float) -> list[str]:
    """The items whose runs in NEW pass clearly more rarely than M of N; a run without a score does not pass."""
    if demand is None:
        return []
    passes = [int((one == 1).sum()) for one in found.runs[1]]
    flagged = rarely_passing(passes, [len(one) for one in found.runs[1]], demand[0] / demand[1], alpha=alpha)
    return [item for item, is_flagged in zip(items, flagged, strict=True) if is_flagged]


# --- What does each metric say, and what follows for the gate? Rows, reasons and the items that lost most

_SHOWN = 5  # ids in a sentence
_NONE = "none"
_NO_VERDICT = {
    "verdict": INCONCLUSIVE,
    "low": math.nan,
    "high": math.nan,
    "method": _NONE,
    "smallest_drop": math.nan,
    "items_needed": None,
    "p_pass": math.nan,
    "p_fail": math.nan,
    "reason": "it describes outputs, and judges none; let another metric decide, and show this one beside it",
}  # what the row of a metric says that judges nothing


@dataclass(frozen=True)
class Decided:
    """The verdicts on all metrics, and that of the gate.

    Attributes:
        verdict: FAIL if a metric that decides fails, else INCONCLUSIVE if one is or none decides, else PASS.
        reasons: why, a sentence for each metric that decides and is of this verdict.
        notes: what was left out.
    """

    verdict: str
    reasons: tuple[str, ...]
    rows: tuple[NewRow, ...]
    items: tuple[NewRow, ...]
    notes: tuple[str, ...]


Judged = tuple[Differences, list[str], Bound]  # what fails a metric whatever its mean does; p-values after Holm


def judge(
    metrics: Mapping[str, BaseMetric],
    pairs: Sequence[tuple[ScoredSide, ScoredSide]],
    rules: Rules,
    has_power: bool = True,
) -> list[dict[str, Judged]]:
    """What each metric says of each pair of BASE and NEW; all have the same items, and share their resamples.

    Raises:
        InputError: a metric has no item with scores on both sides, or does not fit a rule.
    """
    outputs = pairs[0][1].outputs
    clusters = clusters_of(outputs.groups) if rules.items == "sample" else None
    is_same = [bool(same_texts(base.outputs, new.outputs).all()) for base, new in pairs]
    scales = rules.scales(metrics)
    found = {
        (i, spec): differences(spec, m, *pair, rules.undefined, scales[spec])
        for i, pair in enumerate(pairs)
        for spec, m in metrics.items()
    }
    moving = {key: one for key, one in found.items() if not is_same[key[0]] or one.values.any()}
    drawn = _drawn(moving, clusters, rules)
    ruled = {spec: rules if m.info.judges else Rules(items="fixed") for spec, m in metrics.items()}
    judged = []
    for i, same in enumerate(is_same):
        bounds = {s: _bound(s, found[i, s], clusters, same, ruled[s], drawn.get((i, s)), has_power) for s in metrics}
        deciding = [spec for spec, m in metrics.items() if m.info.judges and spec not in rules.report_only]
        bounds |= dict(zip(deciding, with_holm([bounds[spec] for spec in deciding]), strict=True))
        failed = {s: _failures(s, found[i, s], list(outputs.items), ruled[s]) for s in metrics}
        judged.append({s: (found[i, s], failed[s], bounds[s]) for s in metrics})
    return judged


def whole(verdicts: Collection[str]) -> str:
    """The verdict of a gate on those of the metrics that decide; INCONCLUSIVE where none does."""
    return next((one for one in (FAIL, INCONCLUSIVE) if one in verdicts), PASS if verdicts else INCONCLUSIVE)


def decide(metrics: Mapping[str, BaseMetric], base: ScoredSide, new: ScoredSide, rules: Rules) -> Decided:
    """Judge the differences of both sides, which have the same items; errors are those of `judge`."""
    rows, items, reasons, notes = [], [], dict[str, str](), list[str]()
    for spec, (one, failed, bound) in judge(metrics, [(base, new)], rules)[0].items():
        verdict = FAIL if failed else bound.verdict
        told = "; ".join([*failed, reason(bound, bound.verdict)])
        judges = metrics[spec].info.judges
        row = _verdicts_row(spec, judges and spec not in rules.report_only, verdict, told, bound, one)
        rows.append(row if judges else row | _NO_VERDICT | {"delta": row["new"] - row["base"]})
        items += worst_items(spec, one, base.outputs, new.outputs) if judges else []
        if row["decides"]:
            reasons[spec] = verdict
        notes += notes_on(spec, one, bound, rules)
    verdict = whole(reasons.values())
    why = reasons or dict.fromkeys(metrics, INCONCLUSIVE)
    said = tuple(f"{row['metric']}: {row['reason']}" for row in rows if why.get(row["metric"]) == verdict)
    return Decided(verdict, said, tuple(rows), tuple(items), tuple(notes))


def _drawn(
    found: Mapping[tuple[int, str], Differences], clusters: Sequence[str] | None, rules: Rules
) -> dict[tuple[int, str], Studentized]:
    """The resamples of metrics that have a score for every item; the others draw of fewer items, each its own."""
    known = {key: one for key, one in found.items() if np.isfinite(one.values).all()}
    n_units = (
        len(set(clusters)) if clusters is not None else max((len(one.values) for one in known.values()), default=0)
    )
    needing = {
        key: one.values
        for key, one in known.items()
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
    has_power: bool,
) -> Bound:
    known = ~np.isnan(found.values)
    allow = rules.allowed(spec, found.largest)
    if is_same and not found.lost.any() and not found.values[known].any():
        still = bound_fixed(np.zeros(len(known)), allow=allow, alpha=rules.alpha)
        return replace(still, method=SAME_TEXTS, n=int(known.sum()))
    if not known.any():
        if found.lost.any() and rules.undefined == "fail":
            still, nan = bound_fixed(np.zeros(1), allow=allow, alpha=rules.alpha), math.nan
            still = replace(still, method=_NONE, delta=nan, error=nan, low=nan, high=nan, smallest_drop=nan)
            return replace(still, p_pass=1.0, n=0)
        raise InputError(f"{spec}: no item has scores in BASE and in NEW, expected at least one")
    if rules.items == "fixed":
        sides = [zip(side, known, strict=True) for side in found.runs]
        scored = [[runs[~np.isnan(runs)] for runs, is_known in side if is_known] for side in sides]
        return bound_fixed(found.values[known], *scored, allow=allow, alpha=rules.alpha)
    try:
        return bound_difference(
            found.values[known],
            None if clusters is None else [c for c, is_known in zip(clusters, known, strict=True) if is_known],
            allow=allow,
            alpha=rules.alpha,
            is_rate=found.is_rate,
            largest=found.largest if rules.sequential else found.at_stake,
            most=found.in_reach,
            is_sequential=rules.sequential,
            draws=rules.draws,
            seed=rules.seed,
            drawn=drawn,
            has_power=has_power,
        )
    except InputError as error:
        raise InputError(f"{spec}: {error}") from None


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


def _verdicts_row(spec: str, decides: bool, verdict: str, told: str, bound: Bound, found: Differences) -> NewRow:
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


def notes_on(spec: str, found: Differences, bound: Bound, rules: Rules) -> list[str]:
    """The items that are left out, and the scale that is taken where none is known."""
    told = []
    n_lost, n = int(found.lost.sum()), len(found.values)
    rest = int(np.isnan(found.values).sum()) - n_lost
    if n_lost and rules.undefined == "drop":
        told.append(f"{spec}: {n_lost} of {n} items have no score in NEW and had one in BASE; they are left out")
    if rest:
        told.append(f"{spec}: {rest} of {n} items have no score in BASE; they are left out")
    if found.taken and rules.items != "fixed" and bound.method != SAME_TEXTS:
        low, high = found.taken
        name = "name it with --scale LOW:HIGH (scale=(LOW, HIGH))"
        told.append(f"{spec}: its scale is not known, and is taken to be {low:g} to {high:g}; {name}")
    return told


# --- Is the mean score of one system surely above a number? For tests that ask for a level instead of a comparison

_CUT = 200  # characters of a text


def level(spec: str, metric: BaseMetric, side: ScoredSide, value: float, *, alpha: float = 0.05) -> tuple[str, str]:
    """Whether the mean of a metric is surely at least `value`, or at most where lower is better; and why.

    Args:
        side: its scores; a text without one is a FAIL.
        value: the number, in the metric's own direction and scale.
        alpha: the chance of a false PASS, and of a false FAIL, where the mean is equal to `value`.

    Raises:
        InputError: no item has a score.
    """
    runs, up = side.runs[spec], metric.info.higher_is_better
    items = list(side.outputs.items)
    means = np.array([one.mean() for one in runs])
    known = ~np.isnan(means)
    if not known.any():
        raise InputError(f"{spec}: no item has a score, expected at least one")
    groups = clusters_of(side.outputs.groups)
    clusters = None if groups is None else [g for g, is_known in zip(groups, known, strict=True) if is_known]
    low_end, high_end = metric.info.range
    is_rate = bool(np.isin(np.concatenate([*runs])[~np.isnan(np.concatenate([*runs]))], (0.0, 1.0)).all())
    is_rate = is_rate and max(map(len, runs)) == 1 and (low_end, high_end) != (0.0, 100.0)
    sign = 1 if up else -1
    bound = bound_level(
        sign * means[known],
        sign * value,
        clusters,
        alpha=alpha,
        is_rate=is_rate and up,
        least=low_end if up else -high_end,
        best=high_end if up else -low_end,
    )
    lost = [item for item, is_known in zip(items, known, strict=True) if not is_known]
    verdict = FAIL if lost else bound.verdict
    told = _told(spec, bound, sign, value, verdict, lost)
    worst = [] if verdict == PASS else _worst(spec, side, items, sign * means)
    return verdict, "\n".join([told, *worst])


def _told(spec: str, bound: Bound, sign: int, value: float, verdict: str, lost: Sequence[str]) -> str:
    limit = "at least" if sign > 0 else "at most"
    low, high = (sign * bound.low, sign * bound.high)[::sign]
    ends = ", ".join("" if np.isnan(end) else f"{end:.4g}" for end in (low, high))
    head = f"{verdict}: mean {spec} {sign * bound.delta:.4g} [{ends}], expected {limit} {value:g}"
    if lost:
        return f"{head}; {len(lost)} of {len(lost) + bound.n} items have no score ({', '.join(lost[:WORST])})"
    if verdict != INCONCLUSIVE:
        return head
    if bound.n_clusters is not None and bound.n_clusters < FEW_GROUPS:
        return f"{head}; {bound.n_clusters} groups are too few to pass, expected {FEW_GROUPS} or more"
    if bound.method == "worst-case" and np.isnan(bound.low):
        return f"{head}; fewer than {FEW} scores differ from the others, and {spec} has no worst score to reckon with"
    if bound.items_needed is None:
        return f"{head}; you have {bound.n} items, and the mean is too close to {value:g}, or on its wrong side"
    return f"{head}; you have {bound.n} items; a mean like this one needs about {rounded(bound.items_needed):,}"


def _worst(spec: str, side: ScoredSide, items: Sequence[str], means: Array) -> list[str]:
    order = np.argsort(np.where(np.isnan(means), -np.inf, means), kind="stable")[:WORST].tolist()
    lines = [f"Items with the worst {spec}:"]
    for i in order:
        text = " ".join(side.outputs.items[items[i]][0].hypothesis.split())
        shown = "no score" if np.isnan(means[i]) else f"{side.runs[spec][i].mean():.4g}"
        lines.append(f"  {items[i]}  {shown}  {text[:_CUT]}")
    return lines
