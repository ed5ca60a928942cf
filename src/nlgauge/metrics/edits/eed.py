"""EED: character edits in which a jump at a blank is allowed, and coverage counts. An error rate: lower is better."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Annotated, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.metric import BaseMetric
from nlgauge.core.options import Checked, Range
from nlgauge.core.scores import MetricInfo, Scores
from nlgauge.core.segment import Segment
from nlgauge.metrics.edits.counting import Pair, against_best
from nlgauge.runtime.runtime import Runtime

_CELLS = 1 << 16  # of the tables of all pairs of a batch, in one row: they stay in the cache of the processor
_MANY = 16  # pairs for which it is faster to go through a row
_LARGEST = 110_000_000  # cells of one table and what its rows take besides; more would take more than some seconds
_ROW = 500  # cells that are computed in the time that a row takes besides
_ROUNDS = 4  # between two looks whether a row is done
_MARKS = re.compile(r"[.!?,]")
# A mark between digits belongs to them. After a title any one character was taken for the full stop.
_RULES = [
    (re.compile(r"\s+"), " "),
    (re.compile(r"(\d) ([.,]) (\d)"), r"\1\2\3"),
    (re.compile(r"(Dr|Jr|Prof|Rev|Gen|Mr|Mt|Mrs|Ms) ."), r"\1."),
]
_ABBREVIATIONS = (("e . g .", "e.g."), ("i . e .", "i.e."), ("U . S .", "U.S."))
_Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, kw_only=True)
class Eed(Checked, BaseMetric):
    """Extended edit distance over the length of the reference; at most 1.

    Args:
        language: how texts are prepared: `en` parts marks from words and puts a blank at both ends, `ja` folds letters
            that look alike.
        alpha: cost of a jump, which is possible at each blank of the reference.
        rho: weight of the characters of the hypothesis that are visited never or more than once.
        deletion: cost of leaving out a character of the hypothesis.
        insertion: cost of a character that only the reference has.

    References:
        Stanchev et al. (2019), "EED: Extended Edit Distance Measure for Machine Translation". Values are those of the
        authors' program and of its port in torchmetrics 1.9, where no side is blank.
    """

    language: Literal["en", "ja"] = "en"
    alpha: Annotated[float, Range(least=0)] = 2.0
    rho: Annotated[float, Range(least=0)] = 0.3
    deletion: Annotated[float, Range(above=0)] = 0.2
    insertion: Annotated[float, Range(least=0)] = 1.0
    info: ClassVar = MetricInfo(
        "eed",
        higher_is_better=False,
        summary="character edits with jumps, and how the hypothesis is covered",
        tasks={"mt", "ic"},
        paper='Stanchev et al. (2019), "EED: Extended Edit Distance Measure for Machine Translation"',
        flags={"too_long"},
    )

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values in 0 to 1; a blank side is 1 and has the flag `empty`, a pair that is too long is NaN."""
        prepare = english if self.language == "en" else japanese
        return against_best(
            self,
            segments,
            runtime,
            lambda pairs: self._rates([(prepare(h), prepare(r)) if h and r else ("", "") for h, r in pairs]),
        )

    def _rates(self, pairs: Sequence[Pair]) -> Array:
        """The rate of each pair of prepared texts, shape (p, 1)."""
        rates = np.ones((len(pairs), 1))
        sizes = [(len(h), len(r)) for h, r in pairs]
        work = [(h + _ROW) * r if h else 0 for h, r in sizes]
        rates[[cells > _LARGEST for cells in work]] = np.nan
        left = sorted((i for i, cells in enumerate(work) if 0 < cells <= _LARGEST), key=lambda i: sizes[i])
        while left:
            size = max(1, _CELLS // (sizes[left[-1]][0] + 1))  # the longest hypothesis says how wide a row is
            batch, left = sorted(left[-size:], key=lambda i: -sizes[i][1]), left[:-size]
            rates[batch, 0] = self._batch([pairs[i] for i in batch])
        return rates

    def _batch(self, pairs: Sequence[Pair]) -> Array:
        """The rates of some pairs, those with long references first.

        Cell (b, i) of a row is the cost of the cheapest way to where i characters of the hypothesis are behind. Sums
        are made in the order of the authors' program: which place of a row is the cheapest hangs on the last digit.
        """
        n = np.array([len(hypothesis) for hypothesis, _ in pairs])
        m = np.array([len(reference) for _, reference in pairs])
        hyp, ref = (_codes(texts) for texts in zip(*pairs, strict=True))  # (B, longest)
        beyond = np.arange(hyp.shape[1] + 1) > n[:, np.newaxis]  # cells of no text; what they hold reaches no other
        wall = np.where(beyond, np.inf, 0.0) if beyond.any() else None
        row = np.ones(beyond.shape, order="F")  # by columns
        row[:, 0] = 0.0
        visits = np.full(row.shape, -1, order="F")
        end, rows, blanks = np.zeros(len(pairs)), np.arange(len(pairs)), ref == ord(" ")
        is_blank = blanks.any(axis=0).tolist()
        left = np.searchsorted(-m, -np.arange(ref.shape[1] + 1)).tolist()  # pairs with more of a reference than so much
        for place, k in enumerate(left[:-1]):
            row = self._next(row[:k], hyp[:k] != ref[:k, place, np.newaxis])
            cheapest = (row if wall is None else row + wall[:k]).argmin(axis=1)
            visits[rows[:k], cheapest] += 1
            if is_blank[place]:
                blank = np.flatnonzero(blanks[:k, place])
                row[blank] = np.minimum(row[blank], (self.alpha + row[blank, cheapest[blank]])[:, np.newaxis])
            if left[place + 1] < k:
                last = rows[left[place + 1] : k]
                end[last] = row[last, n[last]]
        coverage = self.rho * np.where(beyond, 0, np.where(visits < 0, 1, visits)).sum(axis=1)
        return np.asarray(np.minimum(1.0, (end + coverage) / (m + coverage)))

    def _next(self, row: Array, unlike: Mask) -> Array:
        """The next row, without jumps."""
        following = row + self.insertion
        following[:, 0] = row[:, 0] + 1.0
        rest = following[:, 1:]
        np.minimum(rest, row[:, :-1] + unlike, out=rest)
        if len(row) >= _MANY:  # one character after the other, for all texts at once
            for i in range(rest.shape[1]):
                np.minimum(rest[:, i], following[:, i] + self.deletion, out=rest[:, i])
            return following
        shorter = np.empty_like(rest)
        for round_ in count():  # leaves out one character more; a few rounds, since no cell costs much more than others
            np.add(following[:, :-1], self.deletion, out=shorter)
            if round_ % _ROUNDS == 0 and not np.less(shorter, rest).any():
                break
            np.minimum(rest, shorter, out=rest)
        return following


def english(text: str) -> str:
    """A text as the authors prepare English: marks stand alone, but for numbers, titles and three abbreviations."""
    text = _MARKS.sub(lambda mark: f" {mark[0]}", text.rstrip())
    for pattern, put in _RULES:
        text = pattern.sub(put, text)
    for apart, whole in _ABBREVIATIONS:
        text = text.replace(apart, whole)
    return f" {text} "


def japanese(text: str) -> str:
    """A text as the authors prepare Japanese: in Unicode's normal form NFKC."""
    return unicodedata.normalize("NFKC", text.rstrip())


def _codes(texts: Sequence[str]) -> _Codes:
    """Code points, a text per line; -1 behind its end."""
    codes = np.full((len(texts), max(map(len, texts))), -1, dtype=np.int32, order="F")
    for line, text in zip(codes, texts, strict=True):
        line[: len(text)] = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<i4")
    return codes
