"""Corpus scores of many systems, summed block by block so that memory does not grow with the data."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.scores import (
    UNDEFINED,
    Finish,
    FinishParts,
    Scores,
    add,
    count,
    first_of,
    first_of_all,
    join,
    mean_of_defined,
)
from nlgauge.core.segment import Segment
from nlgauge.core.spec import Signature

Key = tuple[str | None, str | None]  # (group, system)


@dataclass
class Totals:
    """The scores of each system by one metric so far.

    Attributes:
        by_group: whether the groups (language pairs, tasks) of a system are kept apart.
        keep: whether the statistics of every segment are kept, which resampling needs.
        counts: flag -> number of segments that have it; `undefined` counts scores that are NaN.
        first: flag -> ids of the first segments that have it.
        references: the numbers of references that segments have.
        part_names: the parts that segment scores have.
    """

    by_group: bool = False
    keep: bool = False
    signature: Signature | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    first: Mapping[str, Sequence[str]] = field(default_factory=dict)
    references: set[int] = field(default_factory=set)
    part_names: dict[str, None] = field(default_factory=dict)
    _cells: dict[Key, _Cell] = field(default_factory=dict)
    _finish: Finish | None = None
    _finish_parts: FinishParts | None = None
    _kept: list[tuple[list[Key], list[str | None], Scores]] = field(default_factory=list)
    _stats: array[float] = field(default_factory=lambda: array("d"))  # of everything kept, which grows without a copy

    def add(self, segments: Sequence[Segment], scores: Scores) -> None:
        """Count a block of segments and their scores."""
        self.signature, self._finish = scores.signature, scores.finish
        self._finish_parts = scores.finish_parts
        keys: list[Key] = [(s.group if self.by_group else None, s.system) for s in segments]
        stats, undefined = scores.segment_stats, np.isnan(scores.values)
        numbers = {key: i for i, key in enumerate(dict.fromkeys(keys))}
        places = np.array([numbers[key] for key in keys])
        for key, number in numbers.items():
            mine = places == number
            cell = self._cells.setdefault(key, _Cell(np.zeros(stats.shape[1])))
            cell.totals += stats[mine].sum(axis=0)
            cell.n += int(mine.sum())
            cell.n_undefined += int(undefined[mine].sum())
        self.part_names.update(dict.fromkeys(scores.parts))
        self.references.update(len(s.references) for s in segments)
        self.counts = add(self.counts, count(scores.flags, scores.values))
        self.first = first_of_all(self.first, first_of(scores.flags, scores.ids, scores.values))
        if self.keep:
            self._keep(keys, [s.item for s in segments], scores)

    def as_json(self) -> dict[str, Any]:
        """The totals so far without kept statistics, as JSON values that `take` reads."""
        return {
            "cells": [[*key, cell.totals.tolist(), cell.n, cell.n_undefined] for key, cell in self._cells.items()],
            "counts": dict(self.counts),
            "first": {flag: list(ids) for flag, ids in self.first.items()},
            "references": sorted(self.references),
            "parts": list(self.part_names),
            "is_mean": self._finish in (None, mean_of_defined),
        }

    def take(self, counted: Mapping[str, Any], like: Scores) -> None:
        """Add what other segments came to.

        Args:
            counted: `as_json` of their totals, whose groups are kept apart here only with `by_group`.
            like: scores by the same metric, of any segments or none; they say how totals become a number.
        """
        self.signature, self._finish, self._finish_parts = like.signature, like.finish, like.finish_parts
        for group, system, totals, n, n_undefined in counted["cells"]:
            key = (group if self.by_group else None, system)
            cell = self._cells.setdefault(key, _Cell(np.zeros(len(totals))))
            cell.totals += np.array(totals, dtype=np.float64)
            cell.n += n
            cell.n_undefined += n_undefined
        self.part_names.update(dict.fromkeys(counted["parts"]))
        self.references.update(counted["references"])
        found = add(self.counts, counted["counts"])
        known = [name for name in (*like.flags, UNDEFINED) if name in found]  # not in the order of the parts
        self.counts = {name: found[name] for name in dict.fromkeys([*known, *found])}
        self.first = first_of_all(self.first, counted["first"])

    def keep_rows(
        self,
        groups: Sequence[str | None],
        systems: Sequence[str | None],
        items: Sequence[str | None],
        scores: Scores,
    ) -> None:
        """Keep the statistics of segments whose totals were taken."""
        keys = [(group if self.by_group else None, system) for group, system in zip(groups, systems, strict=True)]
        self._keep(keys, list(items), scores)

    def _keep(self, keys: list[Key], items: list[str | None], scores: Scores) -> None:
        if scores.stats is not None:
            self._stats.frombytes(np.ascontiguousarray(scores.stats, dtype=np.float64).view(np.uint8).data)
        known = {key: key for key in keys}  # one object for each key
        self._kept.append(([known[key] for key in keys], items, replace(scores, stats=None)))

    @property
    def sizes(self) -> list[int]:
        """The number of segments of each system, and of each of its groups where these are kept apart."""
        return [cell.n for cell in self._cells.values()]

    def rows(self) -> Iterator[tuple[Key, float, int, int]]:
        """Key, corpus score, segments and undefined segments of each system, in order of appearance."""
        for key, cell in self._cells.items():
            assert self._finish is not None  # set with the first cell
            yield key, float(self._finish(cell.totals)), cell.n, cell.n_undefined

    def parts(self, key: Key) -> dict[str, float]:
        """Parts of the corpus score of a system, as `parts.NAME`; empty for most metrics."""
        if self._finish_parts is None:
            return {}
        return {f"parts.{name}": part for name, part in self._finish_parts(self._cells[key].totals).items()}

    def kept(self) -> Mapping[str | None, tuple[list[str | None], list[str | None], Scores]]:
        """Group -> (system of each segment, item of each segment, scores), of everything kept."""
        keys = [key for block, _, _ in self._kept for key in block]
        items = [item for _, block, _ in self._kept for item in block]
        scores = join([s for _, _, s in self._kept])
        if self._stats:
            scores = replace(scores, stats=np.frombuffer(self._stats, dtype=np.float64).reshape(len(scores), -1))
        if len({group for group, _ in keys}) == 1:
            return {keys[0][0]: ([system for _, system in keys], items, scores)}
        groups = {}
        for group in dict.fromkeys(group for group, _ in keys):
            mine = np.array([key[0] == group for key in keys])
            where = np.flatnonzero(mine)
            groups[group] = ([keys[i][1] for i in where], [items[i] for i in where], scores.take(where))
        return groups


@dataclass
class _Cell:
    totals: Array
    n: int = 0
    n_undefined: int = 0
