"""Scores that another program computed, as a metric: they can be compared, combined and correlated with ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import BaseMetric, signature_of
from nlgauge.core.options import checked
from nlgauge.core.scores import TASKS, MetricInfo, Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.core.tables import ScoreTable
from nlgauge.metrics.external.direction import Direction, direction_of
from nlgauge.runtime.runtime import Runtime


class _Described:
    """The info of a column: of the class what holds for every column, of an instance with the column's direction."""

    general = MetricInfo(
        "scores",
        needs=frozenset(),
        range=(-float("inf"), float("inf")),
        copy_is_best=False,  # not known
        summary="a column of scores that another program made",
        tasks=TASKS,
    )

    def __get__(self, instance: Stored | None, owner: type) -> MetricInfo:
        if instance is None:
            return self.general
        return replace(self.general, higher_is_better=instance.direction.higher_is_better)


@dataclass(frozen=True, kw_only=True)
class Stored(BaseMetric):
    """A column of a file of segment scores.

    Args:
        file: JSON lines, TSV, CSV or Parquet with `id`, or with `system` and `seg`; WMT's `.seg.score`.
        column: whose scores; may be left out where there is one.
        higher_is_better: false for an error rate. None takes what is recorded beside the file, else what the name of
            the column says, else true, with a note.

    The signature holds the name of the file without its folder, and its digest: other scores are another metric.
    """

    file: str
    column: str | None = None
    higher_is_better: bool | None = None
    info: ClassVar = _Described()

    def __post_init__(self) -> None:
        checked(self, name="scores")
        if not self.file:
            raise SpecError(f"scores:file is {self.file!r}, expected the name of a file with scores")

    @property
    def notes(self) -> tuple[str, ...]:
        """How the direction was found, unless it is given, recorded or known by the name."""
        other = "false if it falls" if self.direction.higher_is_better else "true if it rises"
        return (f"{self.direction.told}; higher_is_better={other}",) if self.direction.told else ()

    @cached_property
    def direction(self) -> Direction:
        """Whether the column rises or falls with quality."""
        if self.higher_is_better is not None:
            return Direction(self.higher_is_better)
        values, table = self._table.column(self.column), self._table
        name = self.column or next(iter(table.columns))
        origin = table.origins.get(name)
        return direction_of(name, values, None if origin is None else origin.higher_is_better)

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The name of the file, the direction, and the digest."""
        name = Path(self.file).name  # wherever it lies, however its path is written
        return {"file": name, "higher_is_better": self.direction.higher_is_better, "sha256": self._digest}

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """The numbers of the file in the order of the segments; NaN, which is counted, where the file has none.

        Raises:
            InputError: no row matches any segment, or there is no such column.
        """
        if segments and (self._table.places(segments) < 0).all():
            first, row_key = segments[0], self._table.keys[0]
            what = f"no row of {self.file} fits any of {len(segments)} segments"
            raise InputError(f"{what}: its first is about {row_key}, the first segment is {first.id!r}")
        values = self._table.of(segments, self.column, missing="nan")
        up = self.direction.higher_is_better
        return Scores(signature_of(self, runtime), ids(segments), values, higher_is_better=up)

    @cached_property
    def _digest(self) -> str:
        """That of the file whose numbers are kept: what is written to it later is another metric's."""
        try:
            return sha256(Path(self.file).read_bytes()).hexdigest()[:16]
        except OSError as error:
            raise InputError(f"cannot read scores {self.file}: {error.strerror}") from None

    @cached_property
    def _table(self) -> ScoreTable:
        _ = self._digest
        # The only metric that reads a format of ours, and only when it is used.
        from nlgauge.io.scores import read_scores

        return read_scores(self.file, columns=None if self.column is None else [self.column])
