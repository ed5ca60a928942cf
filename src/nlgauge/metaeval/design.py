"""How were items chosen, and how likely was each to be rated by now? A plan as it is kept in a file between rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError
from nlgauge.core.tables import ScoreTable
from nlgauge.stats.sampling import FLOOR, extended_sample, inclusion_probabilities, systematic_sample

_NEEDED = ("probability", "order", "round", "before")
_SLACK = 1e-6


@dataclass(frozen=True)
class Design:
    """The n chosen of N items.

    Attributes:
        places: positions of the chosen items in the order in which to rate them, shape (n,).
        rounds: when each was chosen, shape (n,): 1 for the first plan, 2 for what was added to it; 0 for items that
            were rated before there was a plan.
        chances: the probability of each item to be chosen by now, shape (N,); NaN where the file does not say.
        before: the same before the last round, shape (N,).
    """

    places: npt.NDArray[np.int64]
    rounds: npt.NDArray[np.int64]
    chances: Array
    before: Array

    def rated_chances(self, rated: Mask) -> Array:
        """The probability of each item to be among those rated so far, shape (N,).

        In each round items come in random order, so that those rated are as good as drawn from the round.

        Args:
            rated: which of the N items are rated.
        """
        done, last = rated[self.places], self.rounds == self.rounds.max()
        earlier = float(done[~last].mean()) if (~last).any() else 0.0
        return np.asarray(earlier * self.before + float(done[last].mean()) * (self.chances - self.before))

    def columns(self, items: Sequence[str]) -> dict[str, Any]:
        """The plan as columns of a file, `seg` first."""
        order = np.arange(1, len(self.places) + 1)
        return {
            "seg": [items[i] for i in self.places],
            "order": order.astype(np.float64),
            "probability": self.chances[self.places],
            "round": self.rounds.astype(np.float64),
            "before": self.before[self.places],
        }


def first_design(sizes: Array, n: int, rng: np.random.Generator) -> Design:
    """A plan of n items."""
    chances = inclusion_probabilities(sizes, n)
    return Design(systematic_sample(chances, rng), np.ones(n, np.int64), chances, np.zeros(len(sizes)))


def random_design(rated: Mask) -> Design:
    """The items that are rated, as a random choice."""
    places = np.flatnonzero(rated)
    return Design(places, np.zeros(len(places), np.int64), np.full(len(rated), rated.mean()), np.zeros(len(rated)))


def extended_design(design: Design, sizes: Array, n: int, rng: np.random.Generator) -> Design:
    """A plan of n items that begins with those of another, none of which becomes less likely.

    Raises:
        InputError: the probabilities of the plan are not those of these sizes.
    """
    before, floor = _recalled(design, sizes)
    n_before = len(design.places)
    after = np.maximum(before, inclusion_probabilities(sizes, n, max(FLOOR, min(1.0, floor * n_before / n))))
    more = extended_sample(design.places, before, after, n - n_before, rng)
    rounds = np.concatenate([design.rounds, np.full(len(more), design.rounds.max() + 1)])
    return Design(np.concatenate([design.places, more]), rounds, after, before)


def _recalled(design: Design, sizes: Array) -> tuple[Array, float]:
    """The probabilities of all items, and the share of them that was uniform.

    Below 1 a probability is a straight line of the size, which the chosen items tell.
    """
    known, below = design.chances[design.places], sizes[design.places]
    inner = known < 1 - _SLACK
    if not inner.any():
        return np.ones(len(sizes)), 1.0
    x, y = below[inner], known[inner]
    if np.ptp(x) > _SLACK:
        slope = float(((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum())
    else:  # one size tells no line: take that of a first plan, unless nothing was planned
        planned = design.rounds.max() > 0
        slope = float((1 - FLOOR) * y.mean() / (FLOOR + (1 - FLOOR) * x.mean())) if planned else 0.0
    line = y.mean() + slope * (sizes - x.mean())
    if np.abs(line[design.places] - known)[inner].max() > _SLACK:
        raise InputError(
            "the probabilities of the plan are not those that these metrics give; extend it with the metrics, the"
            " method and the items that it was made with"
        )
    base = y.mean() - slope * x.mean()  # the probability of an item of size 0
    return np.where(np.isnan(design.chances), np.clip(line, 0, 1), design.chances), base / (base + slope)


def read_design(table: ScoreTable, items: Sequence[str]) -> Design:
    """The plan that a file holds.

    Args:
        table: its rows.
        items: the N items of the data.

    Raises:
        InputError: a column is missing, a number is out of its range, or an item is not among those of the data.
    """
    where = table.name or "the plan"
    for name in _NEEDED:
        if name not in table.columns:
            raise InputError(f"{where}: no column {name!r}, expected a plan with {', '.join(('seg', *_NEEDED))}")
    known = {item: place for place, item in enumerate(items)}
    unknown = [key.item for key in table.keys if key.item not in known]
    if unknown:
        raise InputError(
            f"{where}: {len(unknown)} of {len(table)} items are not among the {len(items)} of the data that all systems"
            f" answer, the first is {unknown[0]!r}; give the data that the plan was made from"
        )
    order = np.argsort(table.columns["order"], kind="stable")
    values, keys = np.stack([table.columns[name][order] for name in _NEEDED]), [table.keys[i] for i in order]
    chances, _, rounds, before = values
    sound = np.isfinite(values).all() and (chances > 0).all() and (chances <= 1).all() and (rounds >= 0).all()
    if not sound or (before < 0).any() or (before > chances).any():
        raise InputError(f"{where}: a probability is not within 0 and 1, or a round or an order is no number")
    places = np.array([known[str(key.item)] for key in keys], dtype=np.int64)
    design = Design(places, rounds.astype(np.int64), np.full(len(items), np.nan), np.full(len(items), np.nan))
    design.chances[places], design.before[places] = chances, before
    return design
