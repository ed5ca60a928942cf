"""Rows that another tool hands over one by one, often from several threads: scored alone, by models loaded once.

What such a tool stores is read later and by others, so a row without a score says why, and every score has its
signature beside it.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import signature_of
from nlgauge.core.scores import Note, Scores
from nlgauge.core.segment import Segment
from nlgauge.metrics.base import Metric, MetricLike, check_needs, cut_words, is_pooled
from nlgauge.metrics.registry import named
from nlgauge.metrics.run import score_segments
from nlgauge.runtime.runtime import Runtime
from nlgauge.scoring.looks import Looks

_HELD = frozenset(("references", "source"))  # what rows of other tools have besides the text
_OF_ONE = "1 of 1 segments have "
# A process has one set of models, and they are not made to be run by two threads at once.
_one_at_a_time = threading.RLock()


@dataclass(frozen=True, kw_only=True)
class RowScore:
    """The score of one row by one metric.

    Attributes:
        value: the score; None where it is undefined.
        lacking: why there is no score; empty where there is one.
        parts: what the score is made of, such as precision and recall; without undefined ones.
        flags: conditions of the row that are counted elsewhere, such as `empty` and `truncated`.
        notes: the same in words, with what guards and the check of languages say of the texts.
        signature: everything that determines the score.
        higher_is_better: whether a higher value is better.
    """

    value: float | None
    lacking: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    signature: str
    higher_is_better: bool


class RowScorer:
    """Metrics that score one row at a time, from any thread.

    Args:
        metrics: specifications or metric objects.
        runtime: device, precision and cache, as in `nlgauge.score`; its models are loaded once.
        where: need of a metric (`references`, `source`) -> where a row should hold it, for errors.

    Attributes:
        metrics: specification -> metric.

    Raises:
        SpecError: a metric is unknown, scales or weighs by all texts of a call, or reads what rows do not hold.
    """

    def __init__(
        self,
        metrics: MetricLike | Sequence[MetricLike],
        runtime: Runtime | None = None,
        where: Mapping[str, str] | None = None,
    ) -> None:
        self.runtime = runtime or Runtime()
        self.metrics = named(metrics, self.runtime.encoder)
        self._where = where or {}
        self._looks = Looks()
        for spec, built in self.metrics.items():
            _check(spec, built)

    def score(self, hypothesis: str, references: Sequence[str] = (), source: str | None = None) -> dict[str, RowScore]:
        """The scores of one text: specification -> score.

        Args:
            hypothesis: the text.
            references: any number of texts to compare it with.
            source: the text that it was made from.
        """
        row = Segment("row", hypothesis, tuple(references), source)
        with _one_at_a_time:
            lacking = {spec: self._lacking(spec, built, row) for spec, built in self.metrics.items()}
            able = {spec: built for spec, built in self.metrics.items() if not lacking[spec]}
            found = score_segments(able, [row], self.runtime) if able else {}
            notes = self._looks.seen(able, [row]).notes() if able else []
            return {
                spec: _scored(spec, built, found[spec], notes) if spec in found else self._none(built, lacking[spec])
                for spec, built in self.metrics.items()
            }

    def without_text(self, reason: str) -> dict[str, RowScore]:
        """The scores of a row that holds no text: all are undefined, for this reason."""
        with _one_at_a_time:
            return {spec: self._none(built, reason) for spec, built in self.metrics.items()}

    def _lacking(self, spec: str, built: Metric, row: Segment) -> str:
        """Why a metric cannot score a row; empty if it can."""
        held = {"references": bool(row.references), "source": row.source is not None}
        for need in sorted(built.info.needs):
            if not held[need]:
                place = f"; expected it in {self._where[need]}" if need in self._where else ""
                return f"{spec} needs {need}, and the row has none{place}"
        try:
            check_needs(built, [row])
        except InputError as error:
            return str(error)
        return ""

    def _none(self, built: Metric, reason: str) -> RowScore:
        return RowScore(
            value=None,
            lacking=reason,
            signature=str(signature_of(built, self.runtime)),
            higher_is_better=built.info.higher_is_better,
        )


def _check(spec: str, built: Metric) -> None:
    """Refuse a metric that cannot score single rows."""
    if is_pooled(built):
        raise SpecError(
            f"{spec} takes frequencies or a scale from all texts of a call, and here each row is scored alone; score"
            " them together with nlgauge.score"
        )
    beyond = sorted(built.info.needs - _HELD)
    if beyond:
        raise SpecError(f"{spec} needs {beyond[0]}, which a row does not hold; score the data with nlgauge.score")


def _scored(spec: str, built: Metric, scores: Scores, looked: Sequence[str]) -> RowScore:
    value = float(scores.values[0])
    own = [note for note in looked if not isinstance(note, Note) or note.about in (spec, "input")]
    notes = tuple(map(_of_row, [*scores.flag_notes(spec, undefined=None, cut=cut_words(built)), *own]))
    flags = tuple(name for name, mask in scores.flags.items() if mask[0])
    lacking = ""
    if not math.isfinite(value):
        lacking = "; ".join(notes) or f"the score by {spec} is {'undefined' if math.isnan(value) else value}"
    return RowScore(
        value=None if lacking else value,
        lacking=lacking,
        parts={name: float(part[0]) for name, part in scores.parts.items() if math.isfinite(part[0])},
        flags=flags,
        notes=notes,
        signature=str(scores.signature),
        higher_is_better=scores.higher_is_better,
    )


def _of_row(note: str) -> str:
    """A note on one row: which of how many texts it is about goes without saying."""
    if not isinstance(note, Note):
        return note
    said = note.said.removeprefix(_OF_ONE).replace("; they get ", "; it gets ")
    return said if note.about == "input" else f"{note.about}: {said}"
