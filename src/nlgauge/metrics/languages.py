"""Texts in scripts that a metric does not read: they are counted and noted, or refused before anything is scored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, get_args

import numpy as np

from nlgauge.core.errors import InputError
from nlgauge.core.options import check_option
from nlgauge.core.scores import MetricInfo
from nlgauge.core.segment import Segment
from nlgauge.metrics.base import unread
from nlgauge.text.scripts import NAME_OF, SCRIPTS_OF, Codes, Writing, known_writings, writings

LanguageCheck = Literal["note", "strict", "off"]
LANGUAGE_CHECKS: tuple[str, ...] = get_args(LanguageCheck)
_FIRST = 3  # segments named in a note
_LOOKS = 3  # scripts named in a note


def unread_by_model(languages: Sequence[str], writing: Writing, who: str) -> str | None:
    """Why a model cannot read a text, and what to do instead; None if it can, or if its languages are not declared.

    Args:
        languages: codes of the languages that the model reads; empty if they are not declared.
        writing: how the text is written.
        who: what an explanation calls the model.
    """
    if not languages or any(writing.script in SCRIPTS_OF.get(language, {writing.script}) for language in languages):
        return None
    named = " and ".join(NAME_OF[language] for language in languages)
    return f"{who} reads {named}; name a model of that language (page 'languages' of the documentation)"


class Reader(Protocol):
    """What reads texts: a metric, or anything else with an `info` and, perhaps, `unread`."""

    @property
    def info(self) -> MetricInfo:
        """Its needs say which texts of a segment it reads besides the hypothesis."""
        ...


@dataclass
class _Seen:
    count: int = 0
    first: list[str] = field(default_factory=list)
    looks: dict[str, None] = field(default_factory=dict)


@dataclass
class UnreadScripts:
    """Segments in scripts that metrics do not read, counted block by block.

    Attributes:
        metrics: specification -> metric, which says by `unread` what it cannot read.
        of: what is counted.
    """

    metrics: Mapping[str, Reader]
    of: str = "segments"
    n: int = 0
    _seen: dict[tuple[str, str], _Seen] = field(default_factory=dict)  # by specification and reason

    def add(self, segments: Sequence[Segment]) -> None:
        """Count more segments."""
        self.n += len(segments)
        if not self.metrics:
            return
        needs = {"hypothesis"}.union(*(metric.info.needs for metric in self.metrics.values()))
        columns = {need: codes for need in needs if (codes := _codes(segments, need)) is not None and codes.any()}
        if not columns:
            return
        for spec, metric in self.metrics.items():
            read = [column for need, column in columns.items() if need in {"hypothesis", *metric.info.needs}]
            if read:
                self._count(spec, metric, segments, np.maximum.reduce(read))

    def _count(self, spec: str, metric: Reader, segments: Sequence[Segment], codes: Codes) -> None:
        for code in np.unique(codes[codes > 0]).tolist():
            writing = known_writings()[code]
            reason = unread(metric, writing)
            if reason is None:
                continue
            places = np.flatnonzero(codes == code)
            seen = self._seen.setdefault((spec, reason), _Seen())
            seen.count += len(places)
            seen.first += [segments[i].id for i in places[: _FIRST - len(seen.first)]]
            seen.looks[writing.looks] = None

    def notes(self) -> list[str]:
        """One note per metric and reason."""
        return [
            f"{spec}: {seen.count} of {self.n} {self.of} ({_first(seen)}) look {_listed(seen.looks)}: {reason}"
            for (spec, reason), seen in self._seen.items()
        ]

    def refuse(self) -> None:
        """Refuse segments that a metric does not read.

        Raises:
            InputError: there is such a segment.
        """
        notes = self.notes()
        if notes:
            more = f" (and {len(notes) - 1} more)" if len(notes) > 1 else ""
            raise InputError(f"{notes[0]}{more}; note in place of strict takes them all the same")


def check_language(language: str) -> None:
    """Refuse a value that is not one of `LANGUAGE_CHECKS`."""
    check_option("language", language, LanguageCheck, error=InputError)


def unread_scripts(
    metrics: Mapping[str, Reader], blocks: Iterable[Sequence[Segment]], language: str, of: str = "segments"
) -> list[str]:
    """Notes on segments in scripts that a metric does not read.

    Args:
        metrics: specification -> metric.
        blocks: the segments, in lists.
        language: `note`; `strict` to refuse such segments; `off` to look at nothing.
        of: what the segments are called.

    Raises:
        InputError: under `strict`, a metric does not read a segment.
    """
    check_language(language)
    if language == "off":
        return []
    found = UnreadScripts(metrics, of)
    for block in blocks:
        found.add(block)
    if language == "strict":
        found.refuse()
    return found.notes()


def _codes(segments: Sequence[Segment], need: str) -> Codes | None:
    """The writing of one text of each segment, shape (n,), or of that reference which is not Latin; None for ASCII."""
    of: dict[str, Callable[[Segment], Sequence[str]]] = {
        "hypothesis": lambda s: (s.hypothesis,),
        "source": lambda s: (s.source or "",),
        "references": lambda s: s.references,
        "context": lambda s: (" ".join(turn["text"] for turn in s.context),),
    }
    if need not in of:
        return None
    texts = [text for s in segments for text in of[need](s)]
    if all(map(str.isascii, texts)):
        return None
    codes = writings(texts)
    if need != "references" or not codes.any():
        return codes
    counts = np.fromiter((len(s.references) for s in segments), dtype=np.int64, count=len(segments))
    found = np.zeros(len(segments), dtype=np.int64)
    np.maximum.at(found, np.repeat(np.arange(len(segments)), counts), codes)
    return found


def _first(seen: _Seen) -> str:
    return ", ".join([*seen.first, *(["..."] if seen.count > len(seen.first) else [])])


def _listed(looks: Iterable[str]) -> str:
    named = list(looks)
    more = [f"{len(named) - _LOOKS} more"] if len(named) > _LOOKS else []
    return " or ".join([*named[:_LOOKS], *more])
