"""Statistics of a whole run (document frequencies, moments): collected by part, merged, given back to every part."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, nan, sqrt
from typing import Any, cast

import numpy as np

from nlgauge.core.arrays import Array

Term = int | str | tuple[str, ...]  # a word piece, a word, an n-gram
Columns = tuple[list[str], bytes]  # names of columns, and rows of float64


class Unsettled(Exception):
    """A score needs what is known only after this pass over all parts."""


@dataclass(frozen=True)
class Counts:
    """How often terms occur.

    Attributes:
        n: what the counts are out of: documents, or words.
        of: term -> its count.
    """

    n: int
    of: dict[Term, int]


@dataclass(frozen=True)
class Incidence:
    """Which terms are in which documents of a part; a document that stands in several parts counts once.

    Attributes:
        kind: what the documents are. Those of one kind have the same keys.
        keys: of each document what it is known by in other parts; empty for one that is like no other.
        lengths: how many distinct terms each document has.
        codes: the places of these terms in `terms`, document by document.
        terms: the terms of all documents.
    """

    kind: str
    keys: list[bytes]
    lengths: list[int]
    codes: list[int]
    terms: list[Term]

    @staticmethod
    def of(kind: str, keys: Sequence[bytes], documents: Sequence[Iterable[Term]]) -> Incidence:
        """The incidence of documents, each of which lists each of its terms once."""
        places: dict[Term, int] = {}
        codes = [[places.setdefault(term, len(places)) for term in document] for document in documents]
        return Incidence(kind, list(keys), [*map(len, codes)], [code for one in codes for code in one], list(places))

    def counts(self, new: Sequence[bool]) -> Counts:
        """In how many documents each term is, of those that are new."""
        codes = np.array(self.codes, dtype=np.int64)[np.repeat(np.array(new, dtype=np.bool_), self.lengths)]
        counted = np.bincount(codes, minlength=len(self.terms)).tolist()
        return Counts(sum(new), {term: n for term, n in zip(self.terms, counted, strict=True) if n})


@dataclass(frozen=True)
class Moments:
    """How values lie, NaN left out.

    Attributes:
        n: values, NaN included.
        defined: values without NaN.
        low, high, mean, variance: of these.
    """

    n: int
    defined: int
    low: float
    high: float
    mean: float
    variance: float

    @staticmethod
    def of(values: Array) -> Moments:
        """The moments of values, shape (n,)."""
        known = values[~np.isnan(values)]
        if not len(known):
            return Moments(len(values), 0, inf, -inf, nan, nan)
        ends = float(known.min()), float(known.max())
        return Moments(len(values), len(known), *ends, float(np.nanmean(values)), float(np.nanvar(values)))

    @staticmethod
    def merged(several: Iterable[Moments]) -> Moments:
        """The moments of all values together (Chan et al. 1979, "Updating Formulae", section 2)."""
        total = Moments(0, 0, inf, -inf, nan, nan)
        for one in several:
            n = total.n + one.n
            if not one.defined or not total.defined:
                held = one if one.defined else total
                total = Moments(n, held.defined, held.low, held.high, held.mean, held.variance)
                continue
            defined = total.defined + one.defined
            apart, share = one.mean - total.mean, one.defined / defined
            inside = total.variance * (1 - share) + one.variance * share
            mean, variance = total.mean + apart * share, inside + apart * apart * share * (1 - share)
            total = Moments(n, defined, min(total.low, one.low), max(total.high, one.high), mean, variance)
        return total

    @property
    def deviation(self) -> float:
        """The standard deviation."""
        return sqrt(self.variance)


@dataclass
class Pool:
    """The merged statistics of a whole run, as one part of it uses them.

    Attributes:
        passes: how many passes over all parts are done.
        settled: name -> what these passes found of all parts.
        kept: key -> scores of segments of this part that an earlier pass made.
        gathered: name -> what this pass finds of this part.
        new: key -> scores that this pass makes for later ones; None in the last pass.
    """

    passes: int = 0
    settled: Mapping[str, Counts | Moments] = field(default_factory=dict)
    kept: Mapping[bytes, Columns] = field(default_factory=dict)
    gathered: dict[str, Counts | Incidence | Moments] = field(default_factory=dict)
    new: dict[bytes, Columns] | None = None

    def counts(self, wanted: Mapping[str, Callable[[], Counts | Incidence]]) -> list[Counts]:
        """Counts over all parts: `Unsettled` where some are not known yet, of which those of this part are gathered.

        `wanted` has what gathers the counts of this part, by name.
        """
        return cast(list[Counts], self._settled(wanted))

    def moments(self, wanted: Mapping[str, Callable[[], Moments]]) -> list[Moments]:
        """The same of moments."""
        return cast(list[Moments], self._settled(wanted))

    def _settled(self, wanted: Mapping[str, Callable[[], Any]]) -> list[Counts | Moments]:
        missing = [name for name in wanted if name not in self.settled]
        for name in missing:
            if name not in self.gathered:
                self.gathered[name] = wanted[name]()
        if missing:
            raise Unsettled(*missing)
        return [self.settled[name] for name in wanted]
