"""Edits with shifts of word blocks: the numbers of sacrebleu's Tercom, in time that long texts allow.

sacrebleu computes the table of edit distances anew from the first changed word on for each shift that it tries, and
keeps whole rows of it. Here a row holds only the cells near the diagonal that sacrebleu looks at, and a shift is tried
on the rows that it changes: the words behind them add what a table from the end says. Short texts that are much alike
need no rows: no shortest way between them leaves these cells, so that any Levenshtein distance is theirs, and the bits
of whole rows tell which way sacrebleu takes. Where sacrebleu gives up after its thousandth shift, none of the last
round is tried at all, since it would be dropped.

References:
    Snover et al. (2006), "A Study of Translation Edit Rate with Targeted Human Annotation".
    Hyyrö (2003), "A Bit-Vector Algorithm for Computing Levenshtein and Damerau Edit Distances", for the bits.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import Levenshtein

# sacrebleu's limits, most of which are Tercom's.
LONGEST, FARTHEST, BEAM, MOST = 10, 50, 25, 1000  # words of a block; its distance; half the beam; shifts tried in all
# Our own: rows of a table that are computed for one pair before it is given up. sacrebleu would take hours there.
ROWS = 600_000
_FAR = 1 << 28  # a cell that no path reaches
_SHORT = 256  # words of a hypothesis up to which a distance of whole texts is faster than rows of cells

_Row = npt.NDArray[np.int32]
_Shift = tuple[int, int, int]  # first word, number of words, the word before which they go
_Ways = tuple[list[int], list[int], list[int]]  # see `_Distances.errors`


class TooLong(Exception):
    """The pair would take more rows than `ROWS`."""


def edits_with_shifts(hypothesis: Sequence[str], reference: Sequence[str]) -> int:
    """How many insertions, deletions, replacements and shifts make the reference of the hypothesis.

    Raises:
        TooLong: both texts are long, and it cannot be told in bounded time.
    """
    n, m = len(hypothesis), len(reference)
    if not n or not m:
        return n + m
    if hypothesis == reference:
        return 0
    numbers: dict[str, int] = {}
    ref = np.array([numbers.setdefault(word, len(numbers)) for word in reference], dtype=np.int32)
    hyp = np.array([numbers.setdefault(word, len(numbers)) for word in hypothesis], dtype=np.int32)
    distances = _Distances(hyp, ref)
    shifts = tried = 0
    while distances.total:
        found = list(_shifts(hyp.tolist(), ref.tolist(), *distances.errors(), MOST - tried))
        tried += len(found)
        if tried >= MOST:
            break
        ranked = ((distances.gain(shift), shift[1], -shift[0], -shift[2], shift) for shift in dict.fromkeys(found))
        best = max(ranked, default=None)
        if best is None or best[0] <= 0:
            break
        shifts += 1
        hyp = distances.shift(best[-1])
    return shifts + distances.total


@dataclass(frozen=True)
class _Band:
    """The cells of each row that sacrebleu looks at: row i (of 0 to n) has the columns `first[i]` to `end[i]` - 1."""

    first: list[int]
    end: list[int]

    @classmethod
    def of(cls, n: int, m: int) -> _Band:
        """The band around the diagonal of n hypothesis and m reference words."""
        ratio = m / n
        half = math.ceil(ratio / 2 + BEAM) if ratio / 2 > BEAM else BEAM
        middles = [math.floor(i * ratio) for i in range(1, n + 1)]
        ends = [min(m + 1, middle + half) for middle in middles]
        return cls([0, *(max(0, middle - half) for middle in middles)], [m + 1, *ends[:-1], m + 1])

    def reversed(self, m: int) -> _Band:
        """The same cells, seen from the end of both texts."""
        return _Band([m + 1 - end for end in self.end[::-1]], [m + 1 - first for first in self.first[::-1]])


class _Table:
    """Edit distances between the beginnings of two texts, for the cells of a band."""

    def __init__(self, hyp: _Row, ref: _Row, band: _Band) -> None:
        self.band = band
        self._ref = np.concatenate([[-1], ref]).astype(np.int32)  # column j belongs to the j-th word, from 1
        self._steps = np.arange(max(map(int.__sub__, band.end, band.first)), dtype=np.int32)
        self.rows: list[_Row] = [np.arange(band.first[0], band.end[0], dtype=np.int32)]
        self.rows += self.after(0, self.rows[0], hyp)

    def after(self, row: int, values: _Row, words: _Row) -> Iterator[_Row]:
        """The rows that follow a row when these words follow."""
        first, end = self.band.first, self.band.end
        for i, word in enumerate(words.tolist(), start=row + 1):
            a, b = first[i], end[i]
            above = _part(values, first[i - 1], a - 1, b)
            values = np.minimum(above[:-1] + (self._ref[a:b] != word), above[1:] + 1)
            steps = self._steps[: b - a]
            values -= steps
            np.minimum.accumulate(values, out=values)
            values += steps
            yield values

    def replace(self, row: int, words: _Row, changed: int) -> int:
        """Compute anew the rows behind one, given all words behind it, of which `changed` are others than before.

        Returns:
            How many rows were computed.
        """
        for i, values in enumerate(self.after(row, self.rows[row], words), start=row + 1):
            more = values - self.rows[i]
            self.rows[i] = values
            if i >= row + changed and (more == more[0]).all():  # from here on nothing else changes
                if more[0]:
                    self.rows[i + 1 :] = [later + more[0] for later in self.rows[i + 1 :]]
                return i - row
        return len(words)


class _Distances:
    """Distances of a hypothesis and a reference, and what shifts would make of them.

    Tables from both ends are made where they are needed: by texts that are long, or not much alike.
    """

    def __init__(self, hyp: _Row, ref: _Row) -> None:
        self._hyp, self._ref = hyp, ref
        self._n, self._m = len(hyp), len(ref)
        self._words = ref.tolist()
        self._left = ROWS
        self._spend(self._n)
        self._band = _Band.of(self._n, self._m)
        self._table: _Table | None = None
        self._back: _Table | None = None
        self.total = self._total()  # the edit distance

    def _total(self) -> int:
        distance = self._whole(self._hyp)
        return int(self._forth.rows[-1][-1]) if distance is None else distance

    def _whole(self, hyp: _Row) -> int | None:
        """The distance of short texts; None where their shortest way may leave the band."""
        if self._n > _SHORT:
            return None
        distance = Levenshtein.distance(hyp.tolist(), self._words)
        return distance if distance + abs(self._n - self._m) < BEAM - 1 else None

    @property
    def _forth(self) -> _Table:
        """The table from the beginning."""
        if self._table is None:
            self._table = _Table(self._hyp, self._ref, self._band)
        return self._table

    def errors(self) -> _Ways:
        """For each reference word the hypothesis word that it stands beside; which words of both sides are wrong.

        Of equally short ways it is the one that sacrebleu takes: a match or a replacement, else a deletion.
        """
        self._spend((self._n + self._m) // 8)
        hyp = self._hyp.tolist()
        if self._table is None:
            return _errors_by_bits(hyp, self._words)
        rows, first = [row.tolist() for row in self._table.rows], self._band.first
        beside, hyp_errors, ref_errors = [-1] * self._m, [1] * self._n, [1] * self._m
        i, j = self._n, self._m
        while i and j:
            here, above, left = rows[i][j - first[i]], rows[i - 1], first[i - 1]
            wrong = hyp[i - 1] != self._words[j - 1]
            if 0 <= j - 1 - left < len(above) and above[j - 1 - left] + wrong == here:
                beside[j - 1] = i - 1
                hyp_errors[i - 1] = ref_errors[j - 1] = int(wrong)
                i, j = i - 1, j - 1
            elif 0 <= j - left < len(above) and above[j - left] + 1 == here:
                i -= 1
            else:
                beside[j - 1] = i - 1
                j -= 1
        return beside, hyp_errors, ref_errors

    def gain(self, shift: _Shift) -> int:
        """How much a shift lowers the distance."""
        distance = self._whole(_shifted(self._hyp, shift))
        if distance is not None:
            return self.total - distance
        if self._back is None:
            self._spend(self._n)
            self._back = _Table(self._hyp[::-1], self._ref[::-1], self._band.reversed(self._m))
        begin, end = _changed(shift, self._n)
        self._spend(end - begin)
        words = _shifted(self._hyp, shift)[begin:end]
        for values in self._forth.after(begin, self._forth.rows[begin], words):
            last = values
        behind = self._back.rows[self._n - end][::-1]  # the same columns
        return self.total - int((last + behind).min())

    def shift(self, shift: _Shift) -> _Row:
        """Make a shift; returns the hypothesis after it."""
        begin, end = _changed(shift, self._n)
        self._hyp = _shifted(self._hyp, shift)
        if self._table is not None:
            self._spend(self._table.replace(begin, self._hyp[begin:], end - begin))
        if self._back is not None:
            self._spend(self._back.replace(self._n - end, self._hyp[:end][::-1], end - begin))
        self.total = self._total()
        return self._hyp

    def _spend(self, rows: int) -> None:
        self._left -= rows
        if self._left < 0:
            raise TooLong


def _errors_by_bits(hyp: Sequence[int], ref: Sequence[int]) -> _Ways:
    """`_Distances.errors` where no shortest way leaves the band; each row of a table is two numbers, a bit per cell."""
    places: dict[int, int] = {}
    for j, word in enumerate(ref):
        places[word] = places.get(word, 0) | 1 << j
    whole = (1 << len(ref)) - 1
    rises, falls = whole, 0  # from the cell on the left
    stays, grows = list[int](), list[int]()  # equal to the cell above on the left; one more than the cell above
    for word in hyp:
        match = places.get(word, 0)
        same = (((match & rises) + rises) ^ rises) | match | falls
        more, less = falls | (whole & ~(same | rises)), same & rises
        stays.append(same)
        grows.append(more)
        more, less = more << 1 | 1, less << 1
        rises, falls = (less | ~(same | more)) & whole, more & same & whole
    beside, hyp_errors, ref_errors = [-1] * len(ref), [1] * len(hyp), [1] * len(ref)
    i, j = len(hyp), len(ref)
    while i and j:
        wrong = hyp[i - 1] != ref[j - 1]
        if not wrong or not stays[i - 1] >> (j - 1) & 1:
            beside[j - 1] = i - 1
            hyp_errors[i - 1] = ref_errors[j - 1] = int(wrong)
            i, j = i - 1, j - 1
        elif grows[i - 1] >> (j - 1) & 1:
            i -= 1
        else:
            beside[j - 1] = i - 1
            j -= 1
    return beside, hyp_errors, ref_errors


def _shifts(
    hyp: Sequence[int],
    ref: Sequence[int],
    beside: Sequence[int],
    hyp_errors: Sequence[int],
    ref_errors: Sequence[int],
    most: int,
) -> Iterator[_Shift]:
    """The shifts that sacrebleu tries, in its order; no other start of a block once there are `most` of them."""
    hyp_sums, ref_sums = ([0, *accumulate(errors)] for errors in (hyp_errors, ref_errors))
    n = 0
    for start, place in _matches(hyp, ref, hyp_sums, ref_sums):
        for length in range(1, min(LONGEST, len(hyp) - start, len(ref) - place) + 1):
            if hyp[start + length - 1] != ref[place + length - 1]:
                break
            if (
                hyp_sums[start + length] == hyp_sums[start]
                or ref_sums[place + length] == ref_sums[place]
                or start <= beside[place] < start + length
            ):
                continue
            before = [0 if j < 0 else beside[j] + 1 for j in range(place - 1, min(place + length, len(ref)))]
            targets = [one for k, one in enumerate(before) if not k or one != before[k - 1]]
            n += len(targets)
            yield from ((start, length, target) for target in targets)
            if n >= most:
                return


def _matches(
    hyp: Sequence[int], ref: Sequence[int], hyp_sums: Sequence[int], ref_sums: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Places of equal words not far apart, each at most a block before an error on its side.

    Args:
        hyp, ref: the words.
        hyp_sums, ref_sums: the number of errors before each place, and in all.
    """
    places: dict[int, list[int]] = {}
    for place, word in enumerate(ref):
        if ref_sums[min(place + LONGEST, len(ref))] > ref_sums[place]:
            places.setdefault(word, []).append(place)
    for start, word in enumerate(hyp):
        if word in places and hyp_sums[min(start + LONGEST, len(hyp))] > hyp_sums[start]:
            equal = places[word]
            near = slice(bisect_left(equal, start - FARTHEST), bisect_right(equal, start + FARTHEST))
            yield from ((start, place) for place in equal[near])


def _changed(shift: _Shift, n: int) -> tuple[int, int]:
    """The first of n words that a shift changes, and the first one behind that it does not change."""
    start, length, target = shift
    if target < start:
        return target, start + length
    return start, target if target > start + length else min(length + target, n)  # the latter: within the block


def _shifted(words: _Row, shift: _Shift) -> _Row:
    """The words after a shift."""
    start, length, target = shift
    block = words[start : start + length]
    if target < start:
        return np.concatenate([words[:target], block, words[target:start], words[start + length :]])
    begin, end = _changed(shift, len(words))
    return np.concatenate([words[:begin], words[start + length : end], block, words[end:]])


def _part(row: _Row, first: int, a: int, b: int) -> _Row:
    """The cells of the columns from a to b - 1, of a row that begins at a column; out of reach where it has none."""
    inner = row[max(a - first, 0) : b - first]
    if len(inner) == b - a:
        return inner
    part = np.full(b - a, _FAR, dtype=np.int32)
    begin = max(first - a, 0)
    part[begin : begin + len(inner)] = inner
    return part
