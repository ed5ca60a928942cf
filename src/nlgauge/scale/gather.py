"""Passes before the scores: each part writes what pooled metrics take from it, and all parts are merged in order."""

from __future__ import annotations

import hashlib
import heapq
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import TypeVar

import msgspec

from nlgauge.core.result import replacing
from nlgauge.core.scores import Scores
from nlgauge.core.segment import Segment
from nlgauge.core.spec import documents_digest
from nlgauge.metrics.base import Metric, corpora_of, rounds
from nlgauge.metrics.scoring.run import score_segments
from nlgauge.runtime.pool import Columns, Counts, Incidence, Moments, Pool, Unsettled
from nlgauge.runtime.runtime import Runtime
from nlgauge.scale.plan import POOL, Part

T = TypeVar("T")
Keyed = tuple[str, str]  # a text, and what tells it from an equal one; empty if it counts whatever else there is
_LINES = 1 << 16  # characters read at once


@dataclass(frozen=True)
class Gathered:
    """The findings of one pass in one part.

    Attributes:
        counts, incidences, moments: name -> statistic.
        kept: key -> scores that the next passes need.
        texts: kind of documents -> digest of the file of these.
    """

    counts: dict[str, Counts]
    incidences: dict[str, Incidence]
    moments: dict[str, Moments]
    kept: dict[bytes, Columns]
    texts: dict[str, str]


@dataclass(frozen=True)
class Settled:
    """The findings of passes over all parts.

    Attributes:
        counts, moments: name -> statistic.
        documents: specification -> digest of the texts that frequencies are taken from.
    """

    counts: dict[str, Counts] = field(default_factory=dict)
    moments: dict[str, Moments] = field(default_factory=dict)
    documents: dict[str, str] = field(default_factory=dict)

    @property
    def statistics(self) -> Mapping[str, Counts | Moments]:
        """All statistics by name."""
        return {**self.counts, **self.moments}

    def joined(self, other: Settled) -> Settled:
        """The findings after another pass."""
        return Settled(self.counts | other.counts, self.moments | other.moments, self.documents | other.documents)


def gather(metrics: Mapping[str, Metric], segments: Sequence[Segment], runtime: Runtime, pool: Pool) -> Gathered:
    """Collect from the segments of a part for the metrics that are not settled yet; `texts` is left empty."""
    waiting = {spec: metric for spec, metric in metrics.items() if (rounds(metric) or 0) > pool.passes}
    pool.new = {}
    with suppress(Unsettled):
        score_segments(waiting, segments, replace(runtime, pool=pool))
    found = pool.gathered
    return Gathered(
        {name: Counts(one.n, dict(sorted(one.of.items()))) for name, one in found.items() if isinstance(one, Counts)},
        {name: one for name, one in found.items() if isinstance(one, Incidence)},
        {name: one for name, one in found.items() if isinstance(one, Moments)},
        pool.new,
        {},
    )


def score_alone(metrics: Mapping[str, Metric], segments: Sequence[Segment], runtime: Runtime) -> dict[str, Scores]:
    """The scores of segments as if there were no others, by the passes that parts go through."""
    known, kept = Settled(), dict[bytes, Columns]()
    passes = max((rounds(metric) or 0 for metric in metrics.values()), default=0)
    for number in range(passes):
        found = gather(metrics, segments, runtime, Pool(number, known.statistics, kept))
        known, kept = known.joined(merge([found])), kept | found.kept
    pool = Pool(passes, known.statistics, kept) if passes else None
    return score_segments(metrics, segments, replace(runtime, pool=pool))


def merge(parts: Iterable[Gathered]) -> Settled:
    """The statistics of all parts, in the order of the parts."""
    counts: dict[str, Counts] = {}
    moments: dict[str, Moments] = {}
    seen: dict[str, set[bytes]] = {}  # kind of documents -> keys of those that were counted
    for part in parts:
        new: dict[str, list[bool]] = {}
        for name, one in part.incidences.items():
            if one.kind not in new:
                held = seen.setdefault(one.kind, set())
                new[one.kind] = [not key or key not in held for key in one.keys]
                held.update(one.keys)
            counts[name] = _add(counts.get(name), one.counts(new[one.kind]))
        for name, counted in part.counts.items():
            counts[name] = _add(counts.get(name), counted)
        for name, lie in part.moments.items():
            moments[name] = Moments.merged([moments[name], lie]) if name in moments else lie
    return Settled(counts, moments)


def _add(total: Counts | None, one: Counts) -> Counts:
    """The counts of both; those of the total change."""
    total = total or Counts(0, {})
    for term, n in one.of.items():
        total.of[term] = total.of.get(term, 0) + n
    return Counts(total.n + one.n, total.of)


# Files. Those of a pass over the parts of a run lie in a folder of its own, sealed by a digest before their content.


def gathered_path(folder: Path, number: int, part: Part) -> Path:
    """The file of what a pass found in a part; passes count from 1."""
    return folder / POOL / str(number) / f"{part.name}.bin"


def settled_path(folder: Path, number: int) -> Path:
    """The file of what a pass found in all parts."""
    return folder / POOL / f"{number}.bin"


def texts_path(folder: Path, kind: str, part: Part) -> Path:
    """The file of the documents of a part: one line for each, in the order of their code points."""
    return folder / POOL / kind / f"{part.name}.jsonl"


def write_sealed(path: Path, content: object) -> str:
    """Write a file and bring it to disk; returns its digest."""
    encoded = msgspec.msgpack.encode(content)
    digest = hashlib.sha256(encoded)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path, "wb") as file:
        file.write(digest.digest() + encoded)
        file.flush()
        os.fsync(file.fileno())
    return digest.hexdigest()


def read_sealed(path: Path, kind: type[T]) -> T | None:
    """The content of a file; None if there is none, or it is not what was written."""
    try:
        sealed = path.read_bytes()
        if hashlib.sha256(sealed[32:]).digest() != sealed[:32]:
            return None
        return msgspec.msgpack.decode(sealed[32:], type=kind)
    except (OSError, msgspec.MsgspecError):
        return None


def write_texts(folder: Path, part: Part, metrics: Iterable[Metric], segments: Sequence[Segment]) -> dict[str, str]:
    """Write the documents of a part, each kind in its own file; returns the digest of each file."""
    kinds = {documents.kind: documents for metric in metrics for documents in corpora_of(metric, segments)}
    digests = {}
    for kind, documents in kinds.items():
        path = texts_path(folder, kind, part)
        path.parent.mkdir(parents=True, exist_ok=True)
        keys = (key.hex() for key in documents.keys())  # noqa: SIM118 (no mapping)
        lines = [json.dumps(pair) + "\n" for pair in sorted(zip(documents.texts, keys, strict=True))]
        with replacing(path, "wb") as file:
            for line in lines:
                file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())
        digests[kind] = _digest(path) or ""
    return digests


def read_settled(folder: Path, number: int, digest: str | None = None) -> Settled | None:
    """Read the findings of a pass over all parts; None where they are missing or do not fit their digest."""
    path = settled_path(folder, number)
    found = read_sealed(path, Settled)
    return found if found is not None and digest in (None, sealed_by(path)) else None


def sealed_by(path: Path) -> str:
    """The digest that a file was sealed by."""
    with path.open("rb") as file:
        return file.read(32).hex()


def read_gathered(folder: Path, number: int, part: Part) -> Gathered | None:
    """Read the findings of a pass in a part; None where they are missing or damaged."""
    found = read_sealed(gathered_path(folder, number, part), Gathered)
    if found is None or any(_digest(texts_path(folder, kind, part)) != known for kind, known in found.texts.items()):
        return None
    return found


def digests_of_documents(folder: Path, parts: Sequence[Part], metrics: Mapping[str, Metric]) -> dict[str, str]:
    """Specification -> digest of all documents of the metric; those that stand in several parts count once."""
    known: dict[tuple[str, ...], str] = {}
    found = {}
    for spec, metric in metrics.items():
        kinds = tuple(documents.kind for documents in corpora_of(metric, []))
        if kinds and kinds not in known:
            streams = [_texts([texts_path(folder, kind, part) for part in parts]) for kind in kinds]
            known[kinds] = documents_digest(heapq.merge(*streams))
        if kinds:
            found[spec] = known[kinds]
    return found


def _texts(paths: Iterable[Path]) -> Iterator[str]:
    """The texts of sorted files in order; what has the same key stands there once."""
    for (text, key), same in groupby(heapq.merge(*map(_lines, paths))):
        for _ in [0] if key else same:
            yield text


def _lines(path: Path) -> Iterator[Keyed]:
    """The lines of a file of documents, which is open only while some of them are read: there may be many files."""
    place = 0
    while True:
        with path.open("rb") as file:
            file.seek(place)
            lines = file.readlines(_LINES)
            place = file.tell()
        if not lines:
            return
        for line in lines:
            text, key = json.loads(line)
            yield text, key


def _digest(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
