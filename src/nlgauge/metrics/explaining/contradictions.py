"""Words that contradict the other texts by rule: another number, or another day or month."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nlgauge.core.arrays import Mask
from nlgauge.metrics.explaining.marks import Worded
from nlgauge.text.numbers.find import is_among, values_of


def contradicted(hypothesis: Worded, others: Sequence[Worded]) -> Mask:
    """Which words are part of a number, or name a day or a month, that no other text has, shape (words,).

    Each of the other texts must have a number, or a day or a month, that the hypothesis has not: else it may have left
    out what the hypothesis says.
    """
    marked = np.zeros(len(hypothesis.words), dtype=np.bool_)
    marked[[*hypothesis.inside(_numbers(hypothesis, others)), *_days(hypothesis, others)]] = True
    return marked


def _numbers(hypothesis: Worded, others: Sequence[Worded]) -> list[tuple[int, int]]:
    """Start and end of the numbers that contradict."""
    if not hypothesis.numbers or not all(other.numbers for other in others):
        return []
    own, known = values_of(hypothesis.text), [values_of(other.text) for other in others]
    if not all(any(not is_among(number, own) for number in other.numbers) for other in others):
        return []
    new = (number for number in hypothesis.numbers if not any(is_among(number, values) for values in known))
    return [(number.start, number.end) for number in new]


def _days(hypothesis: Worded, others: Sequence[Worded]) -> set[int]:
    """Places of the days and months that contradict, among the words."""
    own, known = {*hypothesis.days.values()}, [{*other.days.values()} for other in others]
    if not all(names - own for names in known):
        return set()
    return {place for place, name in hypothesis.days.items() if not any(name in names for names in known)}
