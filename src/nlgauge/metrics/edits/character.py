"""CharacTER: blocks of words are shifted, then characters are edited. An error rate: lower is better."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from nlgauge.core.arrays import Array
from nlgauge.core.metric import BaseMetric
from nlgauge.core.options import Checked
from nlgauge.core.scores import MetricInfo, Scores
from nlgauge.core.segment import Segment
from nlgauge.metrics.edits.counting import Pair, against_best
from nlgauge.runtime.runtime import Runtime

# What is tried for one pair before it is given up, after some seconds: cells of tables that comparisons fill, with what
# a comparison takes besides, and blocks.
_WORK, _EACH, _BLOCKS = 50_000_000_000, 20_000, 1_000_000
_WORDS = 0x10000  # letters that stand for words
_AT_ONCE = 512  # shifts that are compared in one call


@dataclass(frozen=True, kw_only=True)
class CharacTer(Checked, BaseMetric):
    """Shifts and character edits over the characters of the shifted hypothesis; at most 1.

    Args:
        lowercase: compare in lower case.

    References:
        Wang et al. (2016), "CharacTER: Translation Edit Rate on Character Level". Values are those of the authors'
        program as the package cer 1.2 keeps it; it leaves open what holds for several references, and here the best
        counts.
    """

    lowercase: bool = False
    info: ClassVar = MetricInfo(
        "character",
        higher_is_better=False,
        summary="shifts of words and edits of characters, per character of the hypothesis",
        tasks={"mt", "ic"},
        paper='Wang et al. (2016), "CharacTER: Translation Edit Rate on Character Level"',
        flags={"too_long"},
    )

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values in 0 to 1; a blank side is 1 and has the flag `empty`, a pair that is too long is NaN."""
        fold = str.lower if self.lowercase else str

        def count(pairs: Sequence[Pair]) -> Array:
            values = [character_rate(fold(h).split(), fold(r).split()) for h, r in pairs]
            return np.array(values, dtype=np.float64)[:, np.newaxis]

        return against_best(self, segments, runtime, count)


def character_rate(hypothesis: list[str], reference: list[str]) -> float:
    """CharacTER of two texts in words; NaN if they are too long for the search."""
    if not hypothesis or not reference:
        return 1.0
    # A letter per word: texts that stand in the order of their words, and that are compared fast.
    if len(hypothesis) + len(reference) > _WORDS:
        return float("nan")
    letters = {word: chr(i) for i, word in enumerate(sorted({*hypothesis, *reference}))}
    before, wanted = ("".join(map(letters.__getitem__, words)) for words in (hypothesis, reference))
    after = _shifted(before, wanted)
    if after is None:
        return float("nan")
    words = {letter: word for word, letter in letters.items()}
    text = " ".join(map(words.__getitem__, after))
    edits = Levenshtein.distance(text, " ".join(reference))
    return min(1.0, (edits + _cost(before, after, words)) / len(text))


def _shifted(text: str, wanted: str) -> str | None:
    """The text after the shifts that each save most word edits; None if there is too much to try."""
    distance, work = Levenshtein.distance(text, wanted), 0
    rate = distance / len(wanted)  # as the authors' program keeps it: from sums and differences of fractions
    if sum(n * wanted.count(letter) for letter, n in Counter(text).items()) > _BLOCKS:
        return None
    while distance:
        fewest = distance if rate > distance / len(wanted) else distance - 1
        found, blocks = "", iter(_blocks(text, wanted))
        while tried := [
            _moved(text, *block) for block in islice(blocks, _AT_ONCE) if distance - 2 * block[2] <= fewest
        ]:
            work += len(tried) * (len(text) * len(wanted) + _EACH)
            if work > _WORK:
                return None
            distances = cdist([wanted], tried, scorer=Levenshtein.distance, score_cutoff=fewest)[0]
            if distances.min() <= fewest:
                best = [tried[i] for i in np.flatnonzero(distances == distances.min())]
                found = max([*best, found] if distances.min() == fewest else best)
                fewest = int(distances.min())
        if not found:
            break
        text, distance = found, fewest
        rate -= rate - distance / len(wanted)
    return text


def _moved(text: str, start: int, place: int, length: int) -> str:
    """The text with a block taken out, and put before a place of the rest."""
    rest = text[:start] + text[start + length :]
    return rest[:place] + text[start : start + length] + rest[place:]


def _blocks(text: str, wanted: str) -> list[tuple[int, int, int]]:
    """Where a block begins in each text, and its length: all that stand at different places; long ones first."""
    places = defaultdict(list)
    for j, letter in enumerate(wanted):
        places[letter].append(j)
    found, lengths = [], dict[int, int]()  # of blocks that begin at a place of the other, seen from the end
    for i in range(len(text) - 1, -1, -1):
        lengths = {j: lengths.get(j + 1, 0) + 1 for j in places[text[i]]}
        found += [(i, j, length) for j, length in lengths.items() if i != j]
    return sorted(found, key=lambda block: -block[2])


def _cost(before: str, after: str, words: dict[str, str]) -> float:
    """The cost of shifts: for each block that stands elsewhere now, the mean length of its words."""
    cost, i, n = 0.0, 0, len(before)
    while i < n:
        start, i = i, i + 1
        place = after.find(before[start], i) if before[start] != after[start] else -1
        if place < 0:
            continue
        length = 1
        while place + length < n and before[start + length] == after[place + length]:
            length += 1
        cost += sum(len(words[letter]) for letter in before[start : start + length]) / length
        i = start + length
    return cost
