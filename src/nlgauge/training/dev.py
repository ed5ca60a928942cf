"""What the best weights are chosen by: people's ratings, or a share of what is learnt from, held back."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.models.tokens import Ids
from nlgauge.stats.correlation.correlate import correlation
from nlgauge.stats.correlation.registry import statistic
from nlgauge.training.examples import Example

STAT = "kendall_b"


@dataclass(frozen=True)
class Dev:
    """A development set.

    Attributes:
        name: what is measured, for people.
        examples: with owners; one segment may own several, with a reference each, whose mean is its score.
        stat: of `nlgauge.stats`.
        groups: owner -> language pair or task; agreement is the mean of theirs.
    """

    name: str
    examples: Sequence[Example]
    stat: str = STAT
    groups: Callable[[int], Hashable] = lambda owner: None

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
                " others; take a larger one, or none: held_out 0 keeps the last weights"
            )

    def measure(self, scores: Array, owners: Ids) -> float:
        """Agreement of the examples' scores, shape (n,), with what they should be; NaN where no group tells."""
        segments, places = np.unique(owners, return_inverse=True)
        places = places.reshape(-1)
        means = np.bincount(places, scores) / np.bincount(places)
        wanted = np.zeros(len(segments))
        wanted[places] = [example.score for example in self.examples]
        labels = [self.groups(int(owner)) for owner in segments]
        values = []
        for label in dict.fromkeys(labels):
            where = [i for i, other in enumerate(labels) if other == label]
            values.append(correlation(self.stat, means[where], wanted[where]).value)
        defined = [value for value in values if not np.isnan(value)]
        return float(np.mean(defined)) if defined else float("nan")


def held_out(examples: Sequence[Example], share: float, seed: int) -> tuple[list[Example], Dev]:
    """Examples to learn from, and to choose by: whatever is held against one reference or source stays on one side.

    Raises:
        InputError: too few references to keep some back.
    """
    keys = [tuple(text for name, text in sorted(example.texts.items()) if name != "hyp") for example in examples]
    against = list(dict.fromkeys(keys))
    if len(against) < 2:
        raise InputError(
            "the examples have one reference, so that none can be held back; give --dev, or --held-out 0 to keep the"
            " last weights"
        )
    n = min(len(against) - 1, max(1, round(share * len(against))))
    kept = {against[i] for i in np.random.default_rng((seed, len(against))).permutation(len(against))[:n]}
    learnt = [example for example, key in zip(examples, keys, strict=True) if key not in kept]
    back = [example for example, key in zip(examples, keys, strict=True) if key in kept]
    return learnt, Dev(f"{STAT} on {len(back)} held back", back)
