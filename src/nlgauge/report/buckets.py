"""Buckets of segments: by the length of the reference or the source, and by group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nlgauge.core.arrays import Counts
from nlgauge.core.segment import Segment

_MOST, _LEAST = 5, 6  # buckets of a length, and different texts in each
_MOST_GROUPS = 12
_LONG = 15  # characters per word from which a text is counted in characters: it has no blanks between words


@dataclass(frozen=True)
class Buckets:
    """Segments in buckets.

    Attributes:
        name: what tells the buckets apart.
        labels: what each of them is called, in order.
        places: the bucket of each segment, shape (n,); -1 for none.
    """

    name: str
    labels: Sequence[str]
    places: Counts


def buckets_of(texts: Sequence[Segment | None], groups: Sequence[str | None]) -> list[Buckets]:
    """The ways to put segments into at least two buckets.

    Args:
        texts: each segment, as far as its texts are known.
        groups: the group of each segment.
    """
    references = [s.references[0] if s is not None and s.references else None for s in texts]
    sources = [None if s is None else s.source for s in texts]
    side, chosen = ("reference", references) if any(map(bool, references)) else ("source", sources)
    names = sorted({group for group in groups if group is not None})
    place_of = {name: place for place, name in enumerate(names)}  # there may be as many groups as segments
    places = np.array([-1 if group is None else place_of[group] for group in groups], dtype=np.int64)
    found = [_lengths(side, chosen), Buckets("group", names if len(names) <= _MOST_GROUPS else [], places)]
    return [one for one in found if len(one.labels) > 1]


def _lengths(side: str, texts: Sequence[str | None]) -> Buckets:
    """Buckets of about as many texts each, or fewer where a bucket would hold few."""
    known = {text for text in texts if text}
    characters = sum(map(len, known)) > _LONG * sum(map(_words, known))
    measure = len if characters else _words
    n = min(_MOST, len(known) // _LEAST)
    ends = np.quantile([measure(text) for text in known], np.arange(1, n) / n) if n > 1 else np.zeros(0)
    cuts = np.unique(np.floor(ends)).astype(np.int64)  # the longest text of each bucket but the last
    lengths = np.array([-1 if not text else measure(text) for text in texts])
    places = np.where(lengths < 0, -1, np.searchsorted(cuts, lengths))
    used = np.unique(places[places >= 0])
    unit = "characters" if characters else "words"
    labels = [
        _label(0 if k == 0 else int(cuts[k - 1]) + 1, int(cuts[k]) if k < len(cuts) else None, unit) for k in used
    ]
    return Buckets(f"length of the {side}", labels, np.where(places < 0, -1, np.searchsorted(used, places)))


def _words(text: str) -> int:
    return len(text.split())


def _label(start: int, end: int | None, unit: str) -> str:
    if end is None:
        return f"{start} {unit} or more"
    return f"up to {end} {unit}" if not start else f"{start} to {end} {unit}" if end > start else f"{start} {unit}"
