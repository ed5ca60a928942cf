"""Scores of segments by several metrics, joined by id from the files of `--segments`, with their texts if known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.core.marks import Alignment
from nlgauge.core.segment import Dataset, Segment
from nlgauge.core.suite import ScoredPair
from nlgauge.core.tables import Key, ScoreTable
from nlgauge.report.buckets import Buckets, buckets_of
from nlgauge.report.rows import PEOPLE


@dataclass(frozen=True)
class Segments:
    """Texts, scores and ratings of n segments.

    Attributes:
        keys: id, system and item of each.
        columns: metric, part of one, or `human.` and a criterion -> float64, shape (n,), NaN where there is none.
        falling: the columns that are better where they are lower.
        texts: the segment of each id, as far as texts were given.
        pairs: what metrics made of pairs of texts; an id that begins with that of a segment and `/` is about it.
        alignments: id -> the number of a reference, and what a matching metric saw in the segment and this reference.
    """

    keys: Sequence[Key]
    columns: Mapping[str, Array]
    falling: frozenset[str]
    texts: Mapping[str, Segment]
    pairs: Sequence[ScoredPair] = ()
    alignments: Mapping[str, tuple[int, Alignment]] = field(default_factory=dict)

    @cached_property
    def known(self) -> list[Segment | None]:
        """The texts of each segment; None where none were given."""
        return [self.texts.get(str(key.id)) for key in self.keys]

    @property
    def systems(self) -> list[str | None]:
        """The system of each segment."""
        both = zip(self.keys, self.known, strict=True)
        return [key.system if key.system is not None or s is None else s.system for key, s in both]

    @property
    def groups(self) -> list[str | None]:
        """The group of each segment."""
        both = zip(self.keys, self.known, strict=True)
        return [key.group if key.group is not None or s is None else s.group for key, s in both]

    @cached_property
    def items(self) -> list[str]:
        """The key of each item: the item and its group where they are known, otherwise the segment itself."""
        found = []
        for key, segment, group in zip(self.keys, self.known, self.groups, strict=True):
            item = key.item if segment is None or segment.item is None else segment.item
            found.append(f"id\n{key.id}" if item is None else f"{group or ''}\n{item}")
        return found

    @cached_property
    def _audited(self) -> list[int | None]:
        """The place of the segment that each pair is about; None for a pair of other texts."""
        places = {str(key.id): i for i, key in enumerate(self.keys)}
        found = []
        for pair in self.pairs:
            about = pair.id.rpartition("/")[0]  # an equal id is chance: pairs of a file are numbered as segments are
            while about and about not in places:
                about = about.rpartition("/")[0]
            found.append(places.get(about))
        return found

    @property
    def failures(self) -> list[tuple[int, ScoredPair]]:
        """The pairs that a metric of the columns lost or tied, each with the place of the segment that it is about."""
        found = []
        for place, pair in zip(self._audited, self.pairs, strict=True):
            failed = {spec: own for spec, own in pair.scores.items() if own[2] < 1 and spec in self.main}
            if place is not None and failed:
                found.append((place, replace(pair, scores=failed)))
        return found

    @property
    def n_strange(self) -> int:
        """How many pairs are about other texts."""
        return self._audited.count(None)

    def furthest(self, n: int) -> list[int]:
        """The segments of the n items whose scores are furthest apart, by places: of two systems or of two metrics."""
        spread: dict[str, tuple[float, float]] = {}
        for name, values in self.main.items():
            if name.startswith(PEOPLE):
                continue
            order = np.sort(values[np.isfinite(values)])
            shares = (np.searchsorted(order, values) + np.searchsorted(order, values, "right")) / 2 / max(len(order), 1)
            for item, value, share in zip(self.items, values.tolist(), shares.tolist(), strict=True):
                if math.isfinite(value):
                    up = 1 - share if name in self.falling else share
                    low, high = spread.get(item, (up, up))
                    spread[item] = min(low, up), max(high, up)
        chosen = set(sorted(spread, key=lambda item: spread[item][0] - spread[item][1])[:n])
        return [i for i, item in enumerate(self.items) if item in chosen]

    @cached_property
    def buckets(self) -> list[Buckets]:
        """The ways to put the segments into buckets."""
        return buckets_of(self.known, self.groups)

    @cached_property
    def main(self) -> dict[str, Array]:
        """The columns without parts of metrics."""
        return {
            name: values
            for name, values in self.columns.items()
            if name.startswith(PEOPLE) or name.rpartition(".")[0] not in self.columns
        }


def segments_of(tables: Sequence[ScoreTable], data: Sequence[Dataset] = ()) -> Segments:
    """Join tables of scores by the ids of their rows.

    Args:
        tables: as `read_scores` reads what `--segments` wrote.
        data: texts of the same segments.

    Raises:
        InputError: a table is not about segments with ids, two tables have other values under one name, or an id
            stands for two segments.
    """
    keys: dict[str, Key] = {}
    for table in tables:
        if table.level != "segment" or any(key.id is None for key in table.keys):
            raise InputError(f"{table.name}: its rows have no ids, expected what --segments writes")
        for key in table.keys:
            before = keys.setdefault(str(key.id), key)
            if None not in (before.system, key.system) and before.system != key.system:
                raise InputError(
                    f"{table.name}: {key} is of system {key.system!r}, and of {before.system!r} in a file before; ids"
                    " must name one segment each"
                )
    places = {name: i for i, name in enumerate(keys)}
    columns: dict[str, Array] = {}
    falling = set()
    for table in tables:
        at = np.array([places[str(key.id)] for key in table.keys])
        for name, values in table.columns.items():
            column = columns.setdefault(name, np.full(len(keys), np.nan))
            if not np.array_equal(*_both(column[at], values)):
                raise InputError(f"{table.name}: column {name!r} has other values than in a file before; leave one out")
            column[at] = np.where(np.isnan(values), column[at], values)
            if name in table.origins and table.origins[name].higher_is_better is False:
                falling.add(name)
    texts: dict[str, Segment] = {}
    for dataset in data:
        for segment in dataset:
            if _texts(texts.setdefault(segment.id, segment)) != _texts(segment):
                raise InputError(f"{dataset.name}: segment {segment.id!r} has other texts than in a file before")
    return Segments(list(keys.values()), columns, frozenset(falling), texts)


def _texts(segment: Segment) -> tuple[object, ...]:
    """The fields of a segment that the page shows; a second file may hold other ratings of the same texts."""
    return segment.hypothesis, segment.references, segment.source


def _both(one: Array, other: Array) -> tuple[Array, Array]:
    """The values of two columns where both have a number."""
    known = ~(np.isnan(one) | np.isnan(other))
    return one[known], other[known]
