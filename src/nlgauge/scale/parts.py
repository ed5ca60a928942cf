"""One part of a run: its segments are scored, its rows and sums written, each file whole or not at all."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from nlgauge.core.arrays import Counts
from nlgauge.core.errors import InputError
from nlgauge.core.result import replacing
from nlgauge.core.scores import Scores
from nlgauge.core.segment import Segment
from nlgauge.io.files import limited
from nlgauge.io.frames import read_columns
from nlgauge.io.spans import read_span
from nlgauge.io.write import segment_columns, writing
from nlgauge.metrics.base import Metric
from nlgauge.metrics.registry import named
from nlgauge.metrics.scoring.run import score_segments
from nlgauge.metrics.scoring.totals import Totals
from nlgauge.runtime.pool import Pool
from nlgauge.runtime.runtime import Runtime, silent
from nlgauge.scale.gather import (
    Settled,
    gather,
    gathered_path,
    read_gathered,
    read_settled,
    settled_path,
    write_sealed,
    write_texts,
)
from nlgauge.scale.plan import ROWS, STATS, SUMS, Part, Plan

DIGESTS = "digests"
Labels = list[str | None]
KeptRows = tuple[str, tuple[Labels, Labels, Labels, Scores]]  # specification; groups, systems, items and scores


class Counted(msgspec.Struct, frozen=True):
    """The totals of a metric over a part, as `Totals.as_json` has them."""

    cells: list[tuple[str | None, str | None, list[float | None], int, int]]
    counts: dict[str, int]
    first: dict[str, list[str]]
    references: list[int]
    parts: list[str]
    is_mean: bool = True


class Sums(msgspec.Struct, frozen=True):
    """The sums of a part: segments, their groups, digests of its other files, and totals by specification."""

    n: int
    groups: list[str | None]
    sha256: dict[str, str]
    metrics: dict[str, Counted]


class _Sealed(msgspec.Struct):
    """A file of sums: what it holds, and its digest, which a changed number does not fit."""

    seal: str
    sums: msgspec.Raw


@dataclass(frozen=True)
class Scorer:
    """Scores parts of a plan, one after the other; it is made in the process that scores.

    Where metrics are pooled, a part is first gone through in passes that gather what they take from it.

    Attributes:
        plan: the plan.
        folder: the folder of the run.
        device: where models run, if not where the plan says (one GPU of several).
    """

    plan: Plan
    folder: Path
    device: str | None = None

    @cached_property
    def metrics(self) -> Mapping[str, Metric]:
        """Specification -> metric."""
        return named(list(self.plan.signatures), self.plan.encoder)

    @cached_property
    def runtime(self) -> Runtime:
        """Device and precision. There is no cache: what is scored is kept as a part."""
        return Runtime(
            device=self.device or self.plan.device, dtype=self.plan.dtype, encoder=self.plan.encoder, progress=silent
        )

    @cached_property
    def settled(self) -> Settled:
        """The merged findings of the finished passes over all parts.

        Raises:
            InputError: a file is not what the plan says.
        """
        found = Settled()
        for number, known in enumerate(self.plan.pools, start=1):
            one = read_settled(self.folder, number, known)
            if one is None:
                raise InputError(f"{settled_path(self.folder, number)} was changed; run the same command again")
            found = found.joined(one)
        return found

    def pool(self, part: Part | None) -> Pool | None:
        """The statistics of the whole run for one part; None where no metric is pooled."""
        if not self.plan.passes:
            return None
        done = range(1, len(self.plan.pools) + 1)
        found = [] if part is None else [read_gathered(self.folder, number, part) for number in done]
        kept = {key: held for one in found if one is not None for key, held in one.kept.items()}
        return Pool(len(self.plan.pools), self.settled.statistics, kept)

    def score(self, part: Part) -> int:
        """Score a part and write it, or gather from it what the next pass needs.

        Returns:
            The number of its segments.
        """
        self.plan.check_unchanged()
        with limited(self.plan.limits):  # a worker does not know those of the command
            segments, pool = read_span(self.plan.inputs, part.span), self.pool(part)
        if pool is not None and pool.passes < self.plan.passes:
            found = gather(self.metrics, segments, self.runtime, pool)
            if not pool.passes:
                found = replace(found, texts=write_texts(self.folder, part, self.metrics.values(), segments))
            write_sealed(gathered_path(self.folder, pool.passes + 1, part), found)
            return len(segments)
        scores = score_segments(self.metrics, segments, replace(self.runtime, pool=pool))
        self._write(part, segments, scores)
        return len(segments)

    def _write(self, part: Part, segments: Sequence[Segment], scores: Mapping[str, Scores]) -> None:
        """Write rows, statistics and sums of a part, in this order."""
        with writing(rows_path(self.folder, part)) as write:
            write(segment_columns(segments, scores))
        groups = list(dict.fromkeys(segment.group for segment in segments))
        stats = {str(i): found.stats for i, found in enumerate(scores.values()) if found.stats is not None}
        codes = np.array([groups.index(segment.group) for segment in segments], dtype=np.int64)
        with replacing(stats_path(self.folder, part), "wb") as file:
            np.savez(file, allow_pickle=False, groups=codes, **{DIGESTS: _digests_of(segments)}, **stats)
        sums: dict[str, Any] = {"n": len(segments), "groups": groups, "sha256": _digests(self.folder, part)}
        sums["metrics"] = {}
        for spec, found in scores.items():
            totals = Totals(by_group=True)
            totals.add(segments, found)
            sums["metrics"][spec] = totals.as_json()
        encoded = msgspec.json.encode(sums)
        with replacing(sums_path(self.folder, part), "wb") as file:
            file.write(msgspec.json.encode(_Sealed(_digest_of(encoded), msgspec.Raw(encoded))))
            file.flush()
            os.fsync(file.fileno())


def _digests_of(segments: Sequence[Segment]) -> Counts:
    """64 bits of each segment's group, system, id and texts, shape (n,)."""
    told = ([s.group, s.system, s.id, s.hypothesis, s.references, s.source] for s in segments)
    hashed = b"".join(hashlib.blake2b(repr(one).encode(), digest_size=8).digest() for one in told)
    return np.frombuffer(hashed, dtype="<i8")


def segment_digests(folder: Path, part: Part) -> Counts:
    """64 bits for each segment of a part that is done, shape (n,): equal where group, system, id and texts are.

    A part that an earlier nlgauge scored has none, shape (0,).
    """
    with np.load(stats_path(folder, part), allow_pickle=False) as stored:
        digests: Counts = stored.get(DIGESTS, np.empty(0, dtype=np.int64))
    return digests


def rows_path(folder: Path, part: Part) -> Path:
    """The file of the rows of a part."""
    return folder / ROWS / f"{part.name}.parquet"


def stats_path(folder: Path, part: Part) -> Path:
    """The file of the statistics of a part's segments, from which systems are compared."""
    return folder / STATS / f"{part.name}.npz"


def sums_path(folder: Path, part: Part) -> Path:
    """The file of the sums of a part. It is written last: where it is, the part is done."""
    return folder / SUMS / f"{part.name}.json"


def sums_of(folder: Path, part: Part) -> Sums | None:
    """The sums of a part; None where it is not done, or a file of it is not what was written."""
    try:
        sealed = msgspec.json.decode(sums_path(folder, part).read_bytes(), type=_Sealed)
        if sealed.seal != _digest_of(bytes(sealed.sums)):
            return None
        sums = msgspec.json.decode(sealed.sums, type=Sums)
        return sums if sums.sha256 == _digests(folder, part) else None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _digest_of(encoded: bytes) -> str:
    return hashlib.sha256(encoded).hexdigest()


def kept(folder: Path, part: Part, sums: Sums, like: Mapping[str, Scores], paired: bool) -> Iterator[KeptRows]:
    """The segment statistics of a part that comparing systems needs, metric by metric.

    Args:
        folder: of the run.
        part: a part that is done.
        sums: `sums_of` it.
        like: specification -> scores by that metric, of any segments or none.
        paired: whether systems are compared item by item; else ids and items are empty, since memory holds them.
    """
    table = read_columns(rows_path(folder, part))
    systems = list(map({name: name for name in table["system"]}.get, table["system"]))  # one object for each name
    n = len(systems)
    ids = tuple(table["id"]) if paired else ("",) * n
    items: Labels = table["seg"] if paired else [None] * n
    with np.load(stats_path(folder, part), allow_pickle=False) as stored:
        groups = [sums.groups[code] for code in stored["groups"].tolist()]
        for place, (spec, one) in enumerate(like.items()):
            stats = stored.get(str(place))
            scores = replace(one, ids=ids, values=table[spec], stats=stats, parts={}, flags={})
            yield spec, (groups, systems, items, scores)


def _digests(folder: Path, part: Part) -> dict[str, str]:
    """The digests of the files of rows and statistics, once these are on disk."""
    found = {}
    for name, path in ((ROWS, rows_path(folder, part)), (STATS, stats_path(folder, part))):
        with path.open("rb") as file:
            os.fsync(file.fileno())
            found[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found
