"""Choosing the best weights: by people's ratings, or by a held-out share of the training data."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.models.tokens import Ids
from nlgauge.stats.correlate import Options, correlation, statistic
from nlgauge.training.examples import Example

STAT = "kendall_b"


@dataclass(frozen=True)
class Dev:
    """A development set.

    Attributes:
        name: a name of what is measured, for people to read.
        examples: examples with owners. One segment may own several, one per reference; their mean is its score.
        stat: the name of a statistic of `nlgauge.stats`.
        groups: owner -> language pair or task; agreement is the mean over groups.
        items: owner -> the input that the segment answers; `wmt_kendall_like` compares outputs for one input.
        threshold: the smallest difference of two ratings that makes a pair of `wmt_kendall_like`; None is WMT's 25.
    """

    name: str
    examples: Sequence[Example]
    stat: str = STAT
    groups: Callable[[int], Hashable] = lambda owner: None
    items: Callable[[int], Hashable] | None = None
    threshold: float | None = None

    def __post_init__(self) -> None:
        chosen = statistic(self.stat)
        if chosen.kind not in ("correlation", "pairs") or chosen.level != "segment":
            raise InputError(
                f"{self.stat} is no agreement of segments with their ratings, expected kendall_b, pearson, spearman or"
                " the like"
            )
        if len({example.score for example in self.examples}) < 2:
            raise InputError(
                f"{self.name}: a development set of {len(self.examples)} examples of one score tells no weights from"
                " others; take a larger one, or none: --held-out 0 (in Python held_out=0) keeps the last weights"
            )
        self._check_pairs()

    def _check_pairs(self) -> None:
        """Refuse what would leave every evaluation undefined: no input is known, or no two ratings are far enough."""
        takes = "threshold" in statistic(self.stat).options
        if self.threshold is not None and not takes:
            raise InputError(f"{self.stat} has no threshold; leave it out, or choose wmt_kendall_like")
        if not takes:
            return
        if self.items is None:
            raise InputError(
                f"{self.stat} compares outputs for one input, and {self.name} does not say which these are"
            )
        targets = np.array([example.score for example in self.examples])
        if np.isnan(self.measure(targets, np.array([example.owner for example in self.examples]))):
            far = 25.0 if self.threshold is None else self.threshold
            apart, advice = (
                (f"{far:g} apart", "choose a smaller --threshold, such as 0 for MQM")
                if far
                else ("differently", "give several rated outputs for an input, or choose another --stat")
            )
            which = f"no two outputs for one input are rated {apart}"
            raise InputError(f"{self.name}: {which}, so that {self.stat} is undefined; {advice}")

    @property
    def chooses_by(self) -> tuple[object, ...]:
        """The settings that decide beside the examples and the name; empty for tau-b over all of them."""
        owners = list(dict.fromkeys(example.owner for example in self.examples))
        within = self.items if "threshold" in statistic(self.stat).options else None
        labels = [(self.groups(owner), within and within(owner)) for owner in owners]
        plain = self.stat == STAT and len(set(labels)) == 1
        return () if plain else (self.stat, self.threshold, *(str(label) for label in labels))

    @property
    def n(self) -> int:
        """The number of segments that the examples are of."""
        return len({example.owner for example in self.examples})

    def measure(self, scores: Array, owners: Ids) -> float:
        """Agreement of the examples' scores, shape (n,), with their targets; NaN where no group has a defined value."""
        segments, places = np.unique(owners, return_inverse=True)
        places = places.reshape(-1)
        means = np.bincount(places, scores) / np.bincount(places)
        wanted = np.zeros(len(segments))
        wanted[places] = [example.score for example in self.examples]
        labels = [self.groups(int(owner)) for owner in segments]
        within = self.items if "threshold" in statistic(self.stat).options else None
        values = []
        for label in dict.fromkeys(labels):
            where = [i for i, other in enumerate(labels) if other == label]
            items = [within(int(segments[i])) for i in where] if within is not None else None
            options: Options = {} if self.threshold is None else {"threshold": self.threshold}
            values.append(correlation(self.stat, means[where], wanted[where], items, **options).value)
        defined = [value for value in values if not np.isnan(value)]
        return float(np.mean(defined)) if defined else float("nan")


def held_out(examples: Sequence[Example], share: float, seed: int) -> tuple[list[Example], Dev]:
    """Examples to learn from, and examples to choose by.

    All examples with the same reference or source are on the same side; of hypotheses alone, all with the same one.

    Raises:
        InputError: there are too few references to hold some out.
    """
    beside = {name for example in examples for name in example.texts if name != "hyp"}
    keys = [tuple(example.texts.get(name) for name in sorted(beside or {"hyp"})) for example in examples]
    against = list(dict.fromkeys(keys))
    if len(against) < 2:
        what = "reference" if "ref" in beside else "source" if beside else "hypothesis"
        raise InputError(
            f"the examples have one {what}, so that none can be held back; give --dev, or --held-out 0 to keep the"
            " last weights"
        )
    n = min(len(against) - 1, max(1, round(share * len(against))))
    kept = {against[i] for i in np.random.default_rng((seed, len(against))).permutation(len(against))[:n]}
    learnt = [example for example, key in zip(examples, keys, strict=True) if key not in kept]
    back = [example for example, key in zip(examples, keys, strict=True) if key in kept]
    return learnt, Dev(f"{STAT} on {len(back)} held back", back)
