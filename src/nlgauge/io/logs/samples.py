"""Samples of a log as segments: what a tool stored for each answer, with its scores, runs and what is undefined."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Dataset, Segment
from nlgauge.io.files.files import InputFile
from nlgauge.io.files.lines import counted
from nlgauge.io.source import HeldSource

Item = str | int  # 1 and "1" are two items
_Own = tuple[str | None, str | None, Item]  # group, system, item


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One answer in a log.

    Attributes:
        item: the input that it answers, by a name or number that other runs of the tool give it, too.
        hypothesis: the answer; None if there is none, because the run failed.
        references: what it is held against. An empty one is none: tools store it where an item has no target.
        source: what it was made from.
        system: the model, or the tool's own label.
        group: the task.
        repeat: which run of the item it is, from 1; None where the log does not count them.
        scores: name -> score of the tool; NaN where it failed or is missing.
    """

    item: Item
    hypothesis: str | None
    references: tuple[str, ...] = ()
    source: str | None = None
    system: str | None = None
    group: str | None = None
    repeat: int | None = None
    scores: Mapping[str, float] = field(default_factory=dict)


class Log:
    """The samples of one log, in order.

    Args:
        file: the file.
    """

    def __init__(self, file: InputFile) -> None:
        self.file = file
        self._kept: dict[tuple[_Own, int], Sample] = {}
        self._runs: Counter[_Own] = Counter()
        self._again = self._silent = 0
        self._notes: list[str] = []
        self._counts: Counter[str] = Counter()

    def add(self, sample: Sample) -> None:
        """Keep a sample. One without an answer is counted; of two with the same repeat the last is kept."""
        if sample.hypothesis is None:
            self._silent += 1
            return
        own = (sample.group, sample.system, sample.item)
        self._runs[own] += 1
        repeat = self._runs[own] if sample.repeat is None else sample.repeat
        self._again += (own, repeat) in self._kept
        self._kept[own, repeat] = replace(sample, repeat=repeat)

    def scores(self, found: Iterable[tuple[str, float]]) -> dict[str, float]:
        """The scores of a sample by name; of several with one name the second is `NAME#2`, and the notes say so."""
        named: dict[str, float] = {}
        times: Counter[str] = Counter()
        for name, value in found:
            times[name] += 1
            if times[name] > 1:
                self.note(f"several scores are called {name!r}; the second is {name + '#2'!r}, and so on")
            named[name if times[name] == 1 else f"{name}#{times[name]}"] = value
        return named

    def note(self, words: str) -> None:
        """Say something of the file once."""
        if words not in self._notes:
            self._notes.append(words)

    def count(self, words: str, n: int = 1) -> None:
        """Count something, which the notes give as `N words`."""
        self._counts[words] += n

    def source(self, notes: Sequence[str] = ()) -> HeldSource:
        """The segments of all samples.

        Raises:
            InputError: there is no sample with an answer.
        """
        if not self._kept:
            why = f"all {counted(self._silent, 'sample')} failed" if self._silent else "no sample in it"
            raise InputError(f"{self.file.name}: {why}, expected at least one answer")
        samples = list(self._kept.values())
        several = len({sample.group for sample in samples}) > 1
        alike = {str(s.item) for s in samples if type(s.item) is int} & {s.item for s in samples if type(s.item) is str}
        if alike:
            self.count("items have a number that is also the name of another item, which stands in quotes", len(alike))
        segments = tuple(
            _segment(sample, f'"{sample.item}"' if sample.item in alike else str(sample.item), several)
            for sample in samples
        )
        told = [*notes, *self._notes, *(f"{n} {words}" for words, n in self._counts.items()), *self._told(samples)]
        return HeldSource(
            Dataset(segments, self.file.name, tuple(_named(note, self.file.name) for note in told)), [self.file]
        )

    def _told(self, samples: Sequence[Sample]) -> list[str]:
        told = []
        if self._silent:
            n = self._silent + len(samples)
            told.append(f"{self._silent} of {counted(n, 'sample')} have no answer and are left out")
        if self._again:
            told.append(f"{counted(self._again, 'sample')} stored again after a retry, the last is kept")
        repeats = max(sample.repeat or 1 for sample in samples)
        if repeats > 1:
            told.append(f"up to {repeats} runs of an item; they are repeats, never items")
        for name in dict.fromkeys(name for sample in samples for name in sample.scores):
            undefined = sum(math.isnan(sample.scores.get(name, math.nan)) for sample in samples)
            if undefined:
                told.append(f"{undefined} of {counted(len(samples), 'score')} {name!r} undefined")
        return told


def _named(note: str, file: str) -> str:
    return note if note.startswith(f"{file}:") else f"{file}: {note}"


def _segment(sample: Sample, item: str, several: bool) -> Segment:
    parts = [sample.group if several else None, sample.system, item]
    run = f"#{sample.repeat}" if sample.repeat is not None and sample.repeat != 1 else ""
    return Segment(
        ":".join(part for part in parts if part is not None) + run,
        sample.hypothesis or "",
        tuple(reference for reference in sample.references if reference),
        sample.source,
        sample.system,
        item,
        sample.group,
        {name: value for name, value in sample.scores.items() if not math.isnan(value)},
    )
