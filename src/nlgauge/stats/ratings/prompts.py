"""How far do the labels of a judge depend on its prompt? Agreement, share of items, and spread of accuracy."""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, by_value
from nlgauge.core.errors import InputError
from nlgauge.stats.correlation.entries import numbers
from nlgauge.stats.draws import check_level, pairs_of
from nlgauge.stats.shares import wilson

_MOST = 200  # labels; more are scores
_AT_ONCE = 4096  # items that are left out one by one


@dataclass(frozen=True)
class Estimate:
    """A number with its interval; NaN where it is undefined.

    Attributes:
        value: the estimate.
        low: the lower end.
        high: the upper end.
    """

    value: float
    low: float
    high: float


@by_value
@dataclass(frozen=True, kw_only=True)
class PromptSensitivity:
    """How far the labels of one judge move between prompts.

    Attributes:
        agreement: the share of units with equal labels under two prompts, mean over all pairs of prompts.
        chance: the share that prompts with these labels would agree on by chance.
        kappa: agreement beyond chance, (agreement - chance) / (1 - chance).
        base_rate: the share of the commonest label: two prompts under which a judge always says it agree always.
        dependent: the share of items with a unit of which the label depends on the prompt.
        accuracy: the accuracy under each prompt, shape (prompts,); empty without labels of people.
        spread: the standard deviation of accuracy over prompts, without what so few items make of equal prompts; NaN
            without labels of people.
        n: items with labels under two prompts or more.
        n_undefined: labels that are missing, of all prompts and units.
        level: the confidence of the intervals.
    """

    agreement: Estimate
    chance: float
    kappa: Estimate
    base_rate: float
    dependent: Estimate
    accuracy: Array
    spread: Estimate
    n: int
    n_undefined: int
    level: float


def prompt_sensitivity(
    labels: Any, people: Any = None, *, items: Sequence[Hashable] | None = None, level: float = 0.95
) -> PromptSensitivity:
    """How far the labels of one judge depend on the prompt; for scores see `retest_spread` over prompts.

    Prompts are taken as they are, items as drawn from many: intervals say what other items would give. They are those
    of the jackknife over items with Student's t, and of Wilson for `dependent`.

    Args:
        labels: labels as numbers, shape (prompts, units), NaN where missing. To have an unread answer count as a label,
            as wrong for instance, give it a number of its own.
        people: the right label of each unit, shape (units,), NaN where nobody knows.
        items: the item of each unit, such as the pair that was shown in both orders; None if each unit is an item.
        level: the confidence of the intervals.

    Raises:
        InputError: shapes differ, there are fewer than two prompts, or fewer than two items have labels under two.

    References:
        Efron and Tibshirani (1993), "An Introduction to the Bootstrap", chapter 11 (jackknife).
    """
    check_level(level)
    table = numbers(labels, "labels")
    if table.ndim != 2 or len(table) < 2:
        raise InputError(f"labels have shape {table.shape}, expected (prompts, units) with two prompts or more")
    n_units = table.shape[1]
    gold = np.full(n_units, np.nan) if people is None else numbers(people, "labels of people")
    names = range(n_units) if items is None else items
    if gold.shape != (n_units,) or len(names) != n_units:
        raise InputError(
            f"{n_units} units, labels of people of shape {gold.shape} and {len(names)} items; expected one length"
        )
    known = ~np.isnan(table)
    shown = np.unique(table[known])
    if len(shown) > _MOST:
        raise InputError(f"{len(shown)} different labels, expected at most {_MOST}; for scores there is retest_spread")
    index = {name: number for number, name in enumerate(dict.fromkeys(names))}
    place = np.array([index[name] for name in names], dtype=np.int64)  # (units,), the item of each
    compared = known.sum(axis=0) > 1
    n = len(np.unique(place[compared]))
    if n < 2:
        raise InputError(f"{n} items have labels under two prompts, expected two or more")
    depends = np.zeros(len(index), dtype=np.bool_)
    with np.errstate(invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a unit without any label is all NaN
        depends[place[np.nanmax(table, axis=0) > np.nanmin(table, axis=0)]] = True
    share = int(depends.sum())
    dependent = Estimate(share / n, *wilson(share, n, level))
    rows = _rows(table, shown, gold, place)
    agreement, chance, kappa, variance = _jackknife(rows, len(table), level)
    if not share:  # no item says how much agreement varies; what may still depend bounds it
        floor = 1 - dependent.high
        agreement = Estimate(agreement.value, floor, 1.0)
        kappa = Estimate(
            kappa.value, (floor - chance.value) / (1 - chance.value) if chance.value < 1 else math.nan, 1.0
        )
    return PromptSensitivity(
        agreement=_within(agreement, 0.0),
        chance=chance.value,
        kappa=_within(kappa, -1.0),
        base_rate=float(max((table == label).sum() for label in shown) / known.sum()),
        dependent=dependent,
        accuracy=_accuracy(rows.sum(axis=0), len(table)) if people is not None else np.empty(0),
        spread=Estimate(*map(float, np.sqrt(np.clip([variance.value, variance.low, variance.high], 0, None)))),
        n=n,
        n_undefined=int((~known).sum()),
        level=level,
    )


def _rows(table: Array, shown: Array, gold: Array, place: npt.NDArray[np.int64]) -> Array:
    """What the statistics are sums of, per item, shape (items, k).

    For each pair of prompts the equal labels, then those that both have; for each label and prompt its count; for each
    prompt the right labels, then those of which the right one is known.
    """
    left, right = pairs_of(len(table))
    known, judged = ~np.isnan(table), ~np.isnan(table) & ~np.isnan(gold)
    of_units = np.concatenate(
        [
            table[left] == table[right],
            known[left] & known[right],
            *(table == one for one in shown),
            judged & (table == gold),
            judged,
        ]
    )  # (k, units)
    rows = np.zeros((place.max() + 1, len(of_units)))
    np.add.at(rows, place, of_units.T)
    return rows


def _accuracy(totals: Array, n_prompts: int) -> Array:
    """The accuracy under each prompt from sums of `_rows`, (..., k) to (..., prompts)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(totals[..., -2 * n_prompts : -n_prompts] / totals[..., -n_prompts:])


def _statistics(totals: Array, n_prompts: int) -> Array:
    """Agreement, chance, kappa and the variance of accuracy over prompts, (..., k) to (..., 4)."""
    left, right = pairs_of(n_prompts)
    n_pairs = len(left)
    with np.errstate(invalid="ignore", divide="ignore"):
        both = totals[..., n_pairs : 2 * n_pairs]
        counts = totals[..., 2 * n_pairs : -2 * n_prompts].reshape(*totals.shape[:-1], -1, n_prompts)
        shares = counts / counts.sum(axis=-2, keepdims=True)  # (..., labels, prompts)
        used = both > 0
        n_used = used.sum(axis=-1)
        agreement = np.where(used, totals[..., :n_pairs] / both, 0.0).sum(axis=-1) / n_used
        by_chance = (shares[..., left] * shares[..., right]).sum(axis=-2)
        chance = np.where(used, by_chance, 0.0).sum(axis=-1) / n_used
        kappa = np.where(chance < 1, (agreement - chance) / (1 - chance), np.nan)
        variance = _accuracy(totals, n_prompts).var(axis=-1, ddof=1)
    return np.stack([agreement, chance, kappa, variance], axis=-1)


def _jackknife(rows: Array, n_prompts: int, level: float) -> list[Estimate]:
    """The statistics with intervals. The variance is that without its bias, which is the noise of few items."""
    from scipy.special import stdtrit

    n, totals = len(rows), rows.sum(axis=0)
    plain = _statistics(totals, n_prompts)
    parts = [rows[start : start + _AT_ONCE] for start in range(0, n, _AT_ONCE)]
    without = np.concatenate([_statistics(totals - part, n_prompts) for part in parts])  # (items, 4)
    error = np.sqrt((n - 1) / n * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    half = float(stdtrit(n - 1, (1 + level) / 2)) * error
    plain[-1] = n * plain[-1] - (n - 1) * without[:, -1].mean()
    return [Estimate(*map(float, ends)) for ends in zip(plain, plain - half, plain + half, strict=True)]


def _within(found: Estimate, least: float) -> Estimate:
    """An estimate whose interval ends where the statistic does."""
    return Estimate(found.value, *map(float, np.clip([found.low, found.high], least, 1)))
