"""Which of the user's outputs are looked at: whole items, drawn at random, so that a run takes seconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nlgauge.choosing.people import MEAN
from nlgauge.core.segment import Dataset, Segment, is_blank
from nlgauge.stats.draws import generator

OUTPUTS, RATED = 240, 480  # outputs that are scored; those of ratings, which tell more
_SYSTEMS = 8  # systems that are compared, at most
_ITEMS = 30  # items that are kept even if that makes more outputs
_WORDS = 60.0  # of an output and its references; of longer ones fewer are looked at, since they take longer
_LEAST = 0.25  # of the outputs, however long
_READ = 450.0  # words with the source: of longer ones fewer than that, so that a run does not take for ever


@dataclass(frozen=True)
class Sample:
    """Outputs to look at.

    Attributes:
        dataset: the outputs.
        whole: all outputs.
        notes: what was left out.
    """

    dataset: Dataset
    whole: Dataset
    notes: tuple[str, ...] = ()

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The outputs to look at."""
        return self.dataset.segments

    @property
    def part(self) -> float:
        """The part of the usual number of texts that is looked at, since they are long; 1 for sentences."""
        return part_of(self.segments)

    @property
    def n_items(self) -> int:
        """The number of items in all of the data."""
        return len({item_of(s) for s in self.whole})

    @property
    def has_outputs(self) -> bool:
        """Whether some output says something that no reference says."""
        return any(not is_blank(s.hypothesis) and s.hypothesis not in s.references for s in self.segments)

    @property
    def are_copies(self) -> bool:
        """Whether every output is one of its references."""
        return all(s.hypothesis in s.references for s in self.segments)


def part_of(segments: Sequence[Segment]) -> float:
    """The part of the usual number of texts that is looked at: 1 up to 60 words, then less.

    It is 0.25 at least while no more than 1,800 words are read of each, counted with its source.
    """
    some = segments[:: max(1, len(segments) // 200)]
    words = [len(" ".join((s.hypothesis, *s.references)).split()) for s in some]
    sources = [len((s.source or "").split()) for s in some]
    mean = sum(words) / max(len(words), 1)
    read = mean + sum(sources) / max(len(sources), 1)
    return min(1.0, max(_LEAST, _WORDS / max(mean, 1.0)), _READ / max(read, 1.0))


def item_of(segment: Segment) -> tuple[str | None, str]:
    """The key of the item of a segment."""
    return segment.group, segment.item or segment.id


def sampled(dataset: Dataset, limit: int = OUTPUTS, seed: int = 0, criterion: str | None = None) -> Sample:
    """Whole items drawn at random, up to about `limit` outputs; of more than 8 systems the 8 with most outputs.

    Args:
        dataset: all outputs.
        limit: how many are taken; of long texts fewer.
        seed: of the draw.
        criterion: take outputs that are rated by it alone; `mean` for any criterion. None for all.
    """
    rated = [s for s in dataset if criterion is None or (s.human if criterion == MEAN else criterion in s.human)]
    segments, notes = tuple(rated), []
    counts: dict[str | None, int] = {}
    for s in segments:
        counts[s.system] = counts.get(s.system, 0) + 1
    if len(counts) > _SYSTEMS:
        kept = set(sorted(counts, key=lambda name: -counts[name])[:_SYSTEMS])
        segments = tuple(s for s in segments if s.system in kept)
        notes.append(f"{_SYSTEMS} of {len(counts)} systems are looked at, those with most outputs")
    items: dict[tuple[str | None, str], list[Segment]] = {}
    for s in segments:
        items.setdefault(item_of(s), []).append(s)
    each = len(segments) / max(len(items), 1)
    n = max(int(limit * part_of(segments) / max(each, 1.0)), int(_ITEMS * part_of(segments)))
    if n < len(items):
        order = generator(seed).permutation(len(items))
        chosen = {list(items)[i] for i in np.sort(order[:n])}
        segments = tuple(s for s in segments if item_of(s) in chosen)
        notes.append(f"{len(segments)} of {len(dataset)} outputs are looked at: those of {n} of {len(items)} items")
    return Sample(Dataset(segments, dataset.name, dataset.notes), dataset, tuple(notes))
