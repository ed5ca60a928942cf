"""The rows of a sweep: by group, phenomenon, data set and suite; of strategies their wins, and what a choice costs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from nlgauge.core.result import NewRow, Row
from nlgauge.metaeval.gains import ADEQUACY, ALL, point_row
from nlgauge.metaeval.mixing import sum_of
from nlgauge.metaeval.rows import MEAN

Strategy = tuple[str, str]  # a formula and a direction
Choice = Literal["wins", "mean"]
_SAME = 1e-9  # shares of wins are sums of 1/2, 1/3, ...


def joined_rows(
    people: Sequence[Row],
    robust: Sequence[Row],
    pairs: Sequence[tuple[str, str]],
    weights: Sequence[float],
    norm: str,
    is_nli: Mapping[str, bool],
) -> Iterator[NewRow]:
    """Rows by group, by phenomenon, by data set and suite, and for their means."""
    tasks = list(dict.fromkeys((r["criterion"], r["level"], r["averaging"], r["stat"]) for r in people))
    by_sum: dict[str, list[Row]] = {}
    for row in people:
        by_sum.setdefault(row["metric"], []).append(row)
    by_pair: dict[tuple[tuple[str, str], float], list[Row]] = {}
    for row in robust:
        by_pair.setdefault((row["pair"], row["weight"]), []).append(row)
    for one, other in pairs:
        for weight in weights:
            spec = sum_of(one, other, weight, norm)
            base = {
                "metric": one,
                "with": other,
                "partner": "nli" if is_nli[other] else "other",
                "weight": weight,
                "spec": spec,
            }
            accuracies = by_pair[(one, other), weight]
            yield from (point_row(base, suite=r["suite"], phenomenon=r["phenomenon"], attack=r) for r in accuracies)
            for task in tasks:
                own = [r for r in by_sum[spec] if (r["criterion"], r["level"], r["averaging"], r["stat"]) == task]
                several = len({(r["dataset"], r["group"]) for r in own}) > 2 * len({r["dataset"] for r in own})
                yield from (
                    point_row(base, dataset=r["dataset"], group=r["group"], human=r)
                    for r in own
                    if several and r["group"] != MEAN
                )
                yield from _points(base, [r for r in own if r["group"] == MEAN], accuracies)


def _points(base: NewRow, agreements: Sequence[Row], accuracies: Sequence[Row]) -> Iterator[NewRow]:
    """Each data set with each suite, and the means where there are several."""
    counted = {name: [r for r in accuracies if r["phenomenon"] == name] for name in (ALL, ADEQUACY)}
    if sum(r["n"] for r in counted[ALL]) == sum(r["n"] for r in counted[ADEQUACY]):
        del counted[ADEQUACY]
    for name, own in counted.items():
        if name == ADEQUACY and len(own) < len(counted[ALL]):
            continue  # a suite without such phenomena
        for human in agreements:
            for attack in own:
                yield point_row(base, human["dataset"], attack["suite"], MEAN, name, human, attack)
        if len(agreements) > 1 or len(own) > 1:
            human = {
                **agreements[0],
                "value": _mean(agreements, "value"),
                "low": math.nan,
                "high": math.nan,
                "n_used": len(agreements),
            }
            attack = {
                **own[0],
                "accuracy": _mean(own, "accuracy"),
                "low": math.nan,
                "high": math.nan,
                "n": sum(r["n"] for r in own),
            }
            yield point_row(base, MEAN, MEAN, MEAN, name, human, attack)


def _mean(rows: Sequence[Row], key: str) -> float:
    return float(np.mean([row[key] for row in rows]))


def _by(rows: Iterable[NewRow], *keys: str) -> dict[tuple[Any, ...], list[NewRow]]:
    found: dict[tuple[Any, ...], list[NewRow]] = {}
    for row in rows:
        found.setdefault(tuple(row[key] for key in keys), []).append(row)
    return found


_CONTEST = ("metric", "setup", "kind", "set", "criterion")  # what fifteen strategies compete on


def rank(rows: Sequence[NewRow]) -> None:
    """Add to each row the rank of its strategy on the set, its share of the win, and what it costs.

    Rank 1 is the best; strategies with equal values share the better rank. A strategy with an undefined value has no
    rank and no share of the win.
    """
    for own in _by(rows, *_CONTEST).values():
        values = np.array([row["value"] for row in own])
        known = values[~np.isnan(values)]
        top = known.max() if len(known) else np.nan
        for row, value in zip(own, values, strict=True):
            defined = not np.isnan(value)
            row["rank"] = int((known > value).sum()) + 1 if defined else None
            row["wins"] = float(value == top) / int((known == top).sum()) if defined else 0.0
            row["cost"] = float(top - value)


def winning(rows: Sequence[NewRow]) -> list[NewRow]:
    """How often each strategy is the best.

    Metrics with and without references are counted apart, and so are agreement with people and accuracy under attacks.

    Args:
        rows: ranked values.
    """
    found = []
    for (setup, kind), own in _by(rows, "setup", "kind").items():
        contests = len(_by((row for row in own if row["rank"] is not None), *_CONTEST))
        for (formula, direction), mine in _by(own, "formula", "direction").items():
            wins = float(sum(row["wins"] for row in mine))
            found.append(
                {
                    "table": "wins",
                    "setup": setup,
                    "kind": kind,
                    "formula": formula,
                    "direction": direction,
                    "wins": wins,
                    "n": contests,
                }
            )
    return found


def left_out(rows: Sequence[NewRow], choice: str = "wins") -> list[NewRow]:
    """Choose a strategy without looking at one set, and measure what the choice costs on that set.

    This is done twice: once among sets of the same kind, and once among all sets. The criteria of a data set are left
    out together.

    Args:
        rows: ranked values.
        choice: `wins` chooses the strategy that wins most often over all metrics (of the same setup) and the other
            sets; among equals that with the greatest mean. `mean` chooses the strategy with the greatest mean of the
            metric itself over the other sets; among equals the first.

    Returns:
        One row per metric, set, criterion and way of choosing (`among` is the kind or `all`), where there is another
        set to choose on.
    """
    found = []
    for (metric, setup), own in _by(rows, "metric", "setup").items():
        for (kind, where), left in _by(own, "kind", "set").items():
            for among in (kind, "all"):
                seen = own if choice == "mean" else [r for r in rows if r["setup"] == setup]
                others = [r for r in seen if (r["kind"], r["set"]) != (kind, where) and among in (r["kind"], "all")]
                picked = best_mean(others) if choice == "mean" else most_wins(others)
                if picked is None or (among == "all" and {r["kind"] for r in others} == {kind}):
                    continue
                for (criterion,), contest in _by(left, "criterion").items():
                    chosen = next(r for r in contest if (r["formula"], r["direction"]) == picked)
                    best = next((r for r in contest if r["rank"] == 1), chosen)
                    found.append(
                        {
                            "table": "left-out",
                            "metric": metric,
                            "setup": setup,
                            "kind": kind,
                            "set": where,
                            "stat": chosen["stat"],
                            "criterion": criterion,
                            "among": among,
                            "n": len(_by(others, *_CONTEST)),
                            "formula": picked[0],
                            "direction": picked[1],
                            "value": chosen["value"],
                            "best_formula": best["formula"],
                            "best_direction": best["direction"],
                            "best_value": best["value"],
                            "cost": chosen["cost"],
                        }
                    )
    return found


def most_wins(rows: Sequence[NewRow]) -> Strategy | None:
    """The strategy that wins most often; None without a contest. Among equals it is that with the greatest mean.

    References:
        Chen and Eger (2023), section 5: the strategy is selected by its winning frequency.
    """
    wins: dict[Strategy, float] = {}
    for row in rows:
        strategy = row["formula"], row["direction"]
        wins[strategy] = wins.get(strategy, 0.0) + row["wins"]
    top = max(wins.values(), default=0.0)
    equal = {strategy for strategy, n in wins.items() if abs(n - top) < _SAME}
    if not top:
        return None
    return best_mean([row for row in rows if (row["formula"], row["direction"]) in equal]) or min(equal)


def best_mean(rows: Sequence[NewRow]) -> Strategy | None:
    """The strategy with the greatest mean over the contests in which all strategies are defined; None without one.

    Among equals it is the first.
    """
    whole = [own for own in _by(rows, *_CONTEST).values() if all(row["rank"] is not None for row in own)]
    if not whole:
        return None
    sums: dict[Strategy, float] = {}
    for row in (row for own in whole for row in own):
        strategy = row["formula"], row["direction"]
        sums[strategy] = sums.get(strategy, 0.0) + row["value"]
    return max(sums, key=lambda strategy: sums[strategy])
