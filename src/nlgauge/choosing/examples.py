"""Where does a metric fail on these texts? For each share that is measured, texts of the user's own that show it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import numpy as np

from nlgauge.choosing.evidence import COPIES, ERRORS
from nlgauge.choosing.measure import Measured
from nlgauge.choosing.pools import DIGITS, Pool, Texts, pools_of

_MOST = 5  # examples of errors that a recommended metric misses


@dataclass(frozen=True, eq=False)
class Example:
    """Texts that show why a share is not 1.

    Attributes:
        name: `e1`, `e2` and so on.
        criterion: the share.
        texts: the two texts.
        scores: metric -> its scores of the better and the worse text, and whether it fails.
    """

    name: str
    criterion: str
    texts: Texts
    scores: Mapping[str, tuple[float, float, bool]]

    def rows(self) -> Iterator[dict[str, Any]]:
        """The texts, then a flat object for each metric that was tried on them."""
        texts = self.texts
        ratings = texts.ratings or (None, None)
        ids = [None, None] if texts.outputs is None else [s.id for s in texts.outputs]
        systems = [None, None] if texts.outputs is None else [s.system for s in texts.outputs]
        yield {
            **{"said": "example", "example": self.name, "shows": self.criterion, "of": texts.of, "id": texts.id},
            **{"phenomenon": texts.phenomenon, "reference": texts.reference, "original": texts.original},
            **{"better": texts.better, "worse": texts.worse},
            **{"id_better": ids[0], "id_worse": ids[1], "system_better": systems[0], "system_worse": systems[1]},
            **{"rating_better": ratings[0], "rating_worse": ratings[1]},
        }
        for spec, (better, worse, missed) in self.scores.items():
            yield {
                **{"said": "scores", "example": self.name, "metric": spec},
                **{"score_better": better, "score_worse": worse, "missed": missed},
            }


@dataclass
class Examples:
    """The examples that were chosen, in their order, and where they are found again."""

    pools: Sequence[Pool]
    chosen: list[Example] = field(default_factory=list)
    _names: dict[tuple[int, int], str] = field(default_factory=dict)  # pool and place -> example

    def add(self, pool: Pool, place: int) -> str:
        """The name of the example of these texts, which is new or chosen already."""
        key = self.pools.index(pool), place
        if key not in self._names:
            name = self._names[key] = f"e{len(self.chosen) + 1}"
            scores = {
                spec: (float(one.better[place]), float(one.worse[place]), bool(one.missed[place]))
                for spec, one in pool.scored.items()
                if one.tried[place]
            }
            self.chosen.append(Example(name, pool.criterion, pool.texts[place], scores))
        return self._names[key]

    def show(self, pool: Pool, spec: str, where: Callable[[Texts], bool] = lambda texts: True) -> str | None:
        """A failure of a metric: one that is chosen already, or else the clearest; None if it has none."""
        places = [i for i in clearest_first(pool, spec) if where(pool.texts[i])]
        number = self.pools.index(pool)
        known = [(int(name[1:]), name) for i in places if (name := self._names.get((number, i)))]
        if known:
            return min(known)[1]
        return self.add(pool, places[0]) if places else None

    def of(self, spec: str, *criteria: str) -> str | None:
        """The first example that is chosen and shows how a metric fails under one of some criteria."""
        for one in self.chosen:
            if (not criteria or one.criterion in criteria) and one.scores.get(spec, (0, 0, False))[2]:
                return one.name
        return None

    def of_phenomenon(self, spec: str, phenomenon: str) -> str | None:
        """An error of a kind, put into an output, that a metric misses."""
        for pool in self.pools:
            if pool.criterion.startswith(ERRORS):
                name = self.show(pool, spec, lambda texts: texts.phenomenon == phenomenon)
                if name is not None:
                    return name
        return None

    def beyond(self, first: str, second: str) -> str | None:
        """An error that the first metric misses and the second sees, the clearest; None if there is none."""
        seen = []
        for number, pool in enumerate(self.pools):
            one, other = pool.scored.get(first), pool.scored.get(second)
            if _is_error(pool) and one is not None and other is not None:
                for i in np.flatnonzero(one.missed & other.tried & ~other.missed).tolist():
                    seen.append((-round(float(other.far[i]), DIGITS), number, i))
        if not seen:
            return None
        _, number, place = min(seen)
        return self.add(self.pools[number], place)


def clearest_first(pool: Pool, spec: str) -> list[int]:
    """Places of the texts that a metric fails on: first those that most others see, of these the worst failures.

    What no metric sees may be no error: one that is put into a wrong output may mend it.
    """
    one = pool.scored.get(spec)
    if one is None:
        return []
    others = np.sum([scored.tried & ~scored.missed for scored in pool.scored.values()], axis=0)
    far = np.round(np.nan_to_num(one.far, nan=0.0), DIGITS)
    return sorted(np.flatnonzero(one.missed).tolist(), key=lambda i: (-others[i], far[i], i))


def examples_of(found: Measured, chosen: Sequence[str], ranked: Sequence[str]) -> Examples:
    """Examples of failures: errors that the recommended metrics miss, then one of each metric under each criterion.

    Metrics that fail on the same texts share an example, so that there are few.

    Args:
        found: the evidence.
        chosen: the recommended metrics.
        ranked: all metrics that are not ruled out, the best first.
    """
    made = Examples(pools_of(found))
    for spec in chosen:
        # one of each kind of error in turn, then near-copies, which are few in practice
        outputs = [pool for pool in made.pools if pool.criterion.startswith(ERRORS)]
        turns = zip_longest(*(clearest_first(pool, spec)[:_MOST] for pool in outputs))
        clear = [(pool, i) for turn in turns for pool, i in zip(outputs, turn, strict=True) if i is not None]
        clear += [(pool, i) for pool in made.pools if pool.criterion == COPIES for i in clearest_first(pool, spec)]
        for pool, i in clear[:_MOST]:
            made.add(pool, i)
    for pool in made.pools:
        for spec in ranked:
            made.show(pool, spec)
    return made


def _is_error(pool: Pool) -> bool:
    return pool.criterion == COPIES or pool.criterion.startswith(ERRORS)
