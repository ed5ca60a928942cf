"""Metrics of one call over the same encoder: which vectors they share, and in which portions of the segments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from nlgauge.core.metric import Layers, scores_parts, whole
from nlgauge.core.segment import Segment
from nlgauge.metrics.base import Metric, is_pooled
from nlgauge.runtime.runtime import Runtime

_HELD_BYTES = 512 << 20  # vectors held at once, if every character were a piece of its own


def vectors_of(metric: Metric, runtime: Runtime) -> Layers:
    """The vectors that a metric reads: source (see `models.vectors.source_of`) -> layers; empty if it reads none."""
    return whole(metric).vectors_of(runtime)


def merged(wanted: Sequence[Layers]) -> Layers:
    """All layers that any of several metrics reads, by source."""
    sources = dict.fromkeys(source for layers in wanted for source in layers)
    return {source: sorted({layer for layers in wanted for layer in layers.get(source, ())}) for source in sources}


def shared(metrics: Mapping[str, Metric], runtime: Runtime) -> tuple[list[str], Layers]:
    """The metrics that read vectors of a source that another reads, too, and the layers of these sources.

    Sources that are shared already, as inside a sum, are left out.
    """
    wanted = {name: vectors_of(metric, runtime) for name, metric in metrics.items()}
    readers = Counter(source for layers in wanted.values() for source in layers)
    layers = {
        source: read
        for source, read in merged(list(wanted.values())).items()
        if readers[source] > 1 and runtime.shared(source) is None
    }
    return [name for name, read in wanted.items() if layers.keys() & read.keys()], layers


def portions(
    metrics: Sequence[Metric], segments: Sequence[Segment], piece_bytes: int
) -> Iterator[npt.NDArray[np.int64]]:
    """The places of the segments in portions whose distinct texts fit the memory set aside.

    Segments that share references stay beside each other, so that a reference is encoded once, or nearly.
    """
    needs = {need for metric in metrics for need in metric.info.needs}
    texts = [{s.hypothesis} for s in segments]
    if "references" in needs:
        texts = [read | set(s.references) for read, s in zip(texts, segments, strict=True)]
    if "source" in needs:
        texts = [read | {s.source or ""} for read, s in zip(texts, segments, strict=True)]
    most = _HELD_BYTES // max(1, piece_bytes)
    if sum(len(text) + 2 for text in set().union(*texts)) <= most:
        yield np.arange(len(segments))
        return
    order = sorted(range(len(segments)), key=lambda i: segments[i].references)
    start = used = 0
    held: set[str] = set()
    for place, i in enumerate(order):
        new = sum(len(text) + 2 for text in texts[i] - held)
        if place > start and used + new > most:
            yield np.array(order[start:place])
            start, used, held = place, 0, set()
            new = sum(len(text) + 2 for text in texts[i])
        held |= texts[i]
        used += new
    yield np.array(order[start:])


def in_parts(metric: Metric) -> bool:
    """Whether parts of the segments can be scored one by one: no score depends on others, or `scorer` settles how."""
    return not is_pooled(metric) or scores_parts(metric)
