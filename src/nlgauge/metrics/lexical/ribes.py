"""RIBES: how far the shared words stand in the order of the reference."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
import numpy.typing as npt

from nlgauge.core.metric import check_needs, signature_of
from nlgauge.core.options import Range
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.metrics.lexical.ngrams import WordMetric, Words, measured
from nlgauge.runtime.runtime import Runtime

_SHORT = 8  # words of the n-grams that are looked for one length after the other, which is faster in usual texts
_NONE = np.iinfo(np.int64).max
Index = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Ribes(WordMetric):
    """RIBES as nltk computes it from the same words.

    The share of pairs of aligned words that stand in the same order, times two small penalties: for words that were not
    aligned, and for a hypothesis that is too short. A word is aligned if it, or the shortest n-gram that begins or ends
    with it, stands once on both sides. The corpus number is the mean of the segments. A text of one word, or of one
    word repeated, scores 0, even a copy. The authors' program (RIBES 1.03) aligns in another order. A side without a
    word scores 0 (flag `empty` or `untokenized`).

    Args:
        alpha: exponent of the share of aligned words; 0 leaves it out.
        beta: exponent of the brevity penalty; 0 leaves it out.

    References:
        Isozaki et al. (2010), "Automatic Evaluation of Translation Quality for Distant Language Pairs". Of several
        references the one with the best RIBES counts.
    """

    alpha: Annotated[float, Range(least=0)] = 0.25
    beta: Annotated[float, Range(least=0)] = 0.10
    info: ClassVar = MetricInfo(
        "ribes",
        copy_is_best=False,
        summary="rank correlation of word order; a text of one word has no order and scores 0",
        tasks={"mt"},
        paper='Isozaki et al. (2010), "Automatic Evaluation of Translation Quality for Distant Language Pairs"',
    )

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values in 0 to 1; the corpus number is their mean.

        A side without words scores 0. It raises the flag `empty` if it is blank, and else `untokenized`.
        """
        check_needs(self, segments)
        values, flags = measured(segments, 1, runtime, "ribes", self.splitter(), list, self._best)
        return Scores(signature_of(self, runtime), ids(segments), values[:, 0], flags=flags)

    def _best(self, hypothesis: Words, references: Sequence[Words]) -> float:
        return max(self._single(hypothesis, reference) for reference in references) if hypothesis else 0.0

    def _single(self, hypothesis: Words, reference: Words) -> float:
        places = aligned(hypothesis, reference)
        if len(places) < 2:
            return 0.0
        brevity = min(1.0, math.exp(1.0 - len(reference) / len(hypothesis)))
        precision = len(places) / len(hypothesis)
        return ascending(places) * float(precision**self.alpha * brevity**self.beta)


def aligned(hypothesis: Words, reference: Words) -> list[int]:
    """Places in the reference of those words of the hypothesis that can be aligned, in the hypothesis' order.

    A word that either side has more than once is told by its context: the shortest n-gram that ends or begins with it
    and that occurs exactly once on each side. Where two are equally short, what follows the word decides.
    """
    counts, wanted = Counter(hypothesis), Counter(reference)
    single = {word: place for place, word in enumerate(reference)}
    places = {i: single[w] for i, w in enumerate(hypothesis) if counts[w] == wanted[w] == 1}
    unclear = np.array([i for i, w in enumerate(hypothesis) if wanted[w] and i not in places], dtype=np.int64)
    numbers: dict[str, int] = {}
    words = np.array([numbers.setdefault(w, len(numbers)) for w in (*hypothesis, *reference)], dtype=np.int64)
    ours, theirs = words[: len(hypothesis)], words[len(hypothesis) :]
    for order in range(2, min(_SHORT, len(hypothesis), len(reference)) + 1):
        if not len(unclear):
            break
        # Numbers of the n-grams that begin at each place, from those of one word less.
        joined = [
            side[: len(text) - order + 1] * len(words) + text[order - 1 :]
            for side, text in ((ours, words[: len(hypothesis)]), (theirs, words[len(hypothesis) :]))
        ]
        distinct, inverse = np.unique(np.concatenate(joined), return_inverse=True)
        ours, theirs = np.split(inverse.reshape(-1), [len(joined[0])])
        n_ours, n_theirs = (np.bincount(side, minlength=len(distinct)) for side in (ours, theirs))
        place = np.zeros(len(distinct), dtype=np.int64)
        place[theirs] = np.arange(len(theirs))
        alive = np.zeros(len(unclear), dtype=np.bool_)
        for begins in (False, True):  # what follows the word overrides what stands before it
            start = unclear if begins else unclear - order + 1
            # nltk does not look at the context that reaches back to the first word from the second half of the text.
            fits = (
                (start <= len(hypothesis) - order)
                if begins
                else (start > 0) | (start == 0) & (2 * unclear <= len(hypothesis))
            )
            gram = ours[np.where(fits, start, 0)]
            alive |= fits & (n_theirs[gram] > 0)
            told = fits & (n_ours[gram] == 1) & (n_theirs[gram] == 1)
            places.update(
                zip(unclear[told].tolist(), (place[gram[told]] + (0 if begins else order - 1)).tolist(), strict=True)
            )
        unclear = unclear[alive & ~np.isin(unclear, list(places))]
    if len(unclear):  # texts that repeat themselves
        places.update(_told_by_long_contexts(hypothesis, reference, unclear))
    return [place for _, place in sorted(places.items())]


def _told_by_long_contexts(hypothesis: Words, reference: Words, unclear: Index) -> dict[int, int]:
    """The same for n-grams of any length, at the price of sorting what follows and what precedes each word."""
    after, place = _contexts(hypothesis, reference)
    before, last = (side[::-1] for side in _contexts(hypothesis[::-1], reference[::-1]))
    here = np.arange(len(hypothesis))
    start = here - before + 1
    before = np.where((start > 0) | (start == 0) & (2 * here <= len(hypothesis)), before, _NONE)
    place = np.where(before < after, len(reference) - 1 - last, place)
    told = unclear[np.minimum(before, after)[unclear] < _NONE]
    return dict(zip(told.tolist(), place[told].tolist(), strict=True))


def _contexts(hypothesis: Words, reference: Words) -> tuple[Index, Index]:
    """For each word of the hypothesis the words of the shortest n-gram from it on that both sides have once.

    Returns:
        The number of words, at least 2, or `_NONE`; and the place of the n-gram in the reference. Shape (n,) each.
    """
    n, numbers = len(hypothesis), dict[str, int]()
    words = [[numbers.setdefault(w, 2 + len(numbers)) for w in side] for side in (hypothesis, reference)]
    text = _Suffixes([*words[0], 0, *words[1], 1])  # 0 and 1 end the sides
    of_reference = (text.order > n) & (text.order < n + 1 + len(reference))
    of_hypothesis = text.order < n
    ours, theirs = text.order[of_hypothesis], text.order[of_reference]
    beside = np.concatenate([[0], text.shared(ours[:-1], ours[1:]), [0]])
    behind = np.cumsum(of_reference)[of_hypothesis]
    # The two suffixes of the reference before and behind each of ours: the most similar ones are among them.
    near = np.stack([behind - 2, behind - 1, behind, behind + 1])  # (4, n)
    found = (near >= 0) & (near < len(theirs))
    near = theirs[np.where(found, near, 0)]
    shared = np.where(found, text.shared(np.broadcast_to(ours, near.shape), near), 0)
    best = shared.argmax(axis=0)[np.newaxis]
    longest, place = (np.take_along_axis(side, best, axis=0)[0] for side in (shared, near))
    np.put_along_axis(shared, best, 0, axis=0)
    enough = 1 + np.maximum.reduce([beside[:-1], beside[1:], shared.max(axis=0), np.ones_like(longest)])
    lengths, places = np.full(n, _NONE), np.zeros(n, dtype=np.int64)
    lengths[ours], places[ours] = np.where(enough <= longest, enough, _NONE), place - n - 1
    return lengths, places


class _Suffixes:
    """The suffixes of a text of numbers, in time near its length even if it repeats itself from end to end.

    Args:
        text: whole numbers of 0 and more.

    Attributes:
        order: where the suffixes begin, sorted by what follows, shape (n,).

    References:
        Manber and Myers (1993), "Suffix Arrays: A New Method for On-Line String Searches": prefix doubling.
    """

    def __init__(self, text: Sequence[int]) -> None:
        n = len(text)
        self._ranks = [np.unique(np.array(text, dtype=np.int64), return_inverse=True)[1].reshape(-1)]
        while int(self._ranks[-1].max()) < n - 1:
            # The rank of each run of 2^(k + 1) numbers, from those of its halves; the end comes before any number.
            ranks, half = self._ranks[-1], 1 << (len(self._ranks) - 1)
            second = np.zeros(n, dtype=np.int64)
            second[: n - half] = ranks[half:] + 1
            self._ranks.append(np.unique(ranks * (n + 1) + second, return_inverse=True)[1].reshape(-1))
        self.order: Index = np.argsort(self._ranks[-1])

    def shared(self, first: Index, second: Index) -> Index:
        """How many numbers from two different places on are equal; two arrays of one shape."""
        n = len(self.order)
        first, second = first.copy(), second.copy()
        total = np.zeros(first.shape, dtype=np.int64)
        for k in range(len(self._ranks) - 1, -1, -1):
            ranks = np.append(self._ranks[k], -1)
            equal = (ranks[np.minimum(first, n)] == ranks[np.minimum(second, n)]) & (np.maximum(first, second) < n)
            step = equal.astype(np.int64) << k
            total += step
            first += step
            second += step
        return total


def ascending(places: Sequence[int]) -> float:
    """The share of pairs in which the later place is the higher one: Kendall's tau brought to 0 to 1.

    Args:
        places: at least two.
    """
    seen: list[int] = []
    n_ascending = 0
    for place in places:
        n_ascending += bisect_left(seen, place)
        insort(seen, place)
    return n_ascending / math.comb(len(places), 2)
