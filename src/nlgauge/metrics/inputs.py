"""Texts that are odd whatever the metric: copies of the source, loops, texts cut off, tokenised sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter

import numpy as np

from nlgauge.core.counts import FIRST, count_notes
from nlgauge.core.segment import Segment

_FINAL = frozenset(".!?…。！？؟।॥։\"'”’»“)]）】」』*|")  # the ends of texts that are whole
_MOST = 0.9  # share of references with such an end from which on a text without one is odd
_TOKENIZED = " ."
_TAIL, _WINDOW = 16, 500  # the last characters, and among how many they are looked for again
_TURNS, _LEAST = 3, 48  # how often a loop turns, at least, and how many characters it has
_INPUTS, _SHARE = 5, 0.1  # for how many inputs one text is given, at least, and for which share of them


@dataclass
class InputChecks:
    """Counts odd texts block by block. It keeps two numbers per segment."""

    n: int = 0
    _counts: dict[str, int] = field(default_factory=dict)
    _first: dict[str, list[str]] = field(default_factory=dict)
    _final: int = 0  # segments whose first reference ends in a final mark
    _texts: list[int] = field(default_factory=list)  # hashes
    _inputs: list[int] = field(default_factory=list)

    def add(self, segments: Sequence[Segment]) -> None:
        """Count more segments."""
        self.n += len(segments)
        self._texts += map(hash, map(attrgetter("hypothesis"), segments))
        self._inputs += map(hash, map(attrgetter("item", "references"), segments))
        final = _FINAL
        for s in segments:
            text, references = s.hypothesis, s.references
            if references:
                end, wanted = text[-2:], references[0][-2:]
                is_final = wanted[-1:] in final
                self._final += is_final
                if end != wanted:
                    if (end == _TOKENIZED or wanted == _TOKENIZED) and _is_spaced(s):
                        self._count("spaced", s)
                    if is_final and end[-1:] not in final and _is_unfinished(s):
                        self._count("unfinished", s)
            if text == s.source and text not in references and text.strip():
                self._count("copied", s)
            if len(text) >= _LEAST and text.count(text[-_TAIL:], -_WINDOW) >= _TURNS and _is_looping(s):
                self._count("looping", s)

    def notes(self) -> list[str]:
        """One note per kind of odd text."""
        counts = dict(self._counts)
        if self._final < _MOST * self.n:
            counts.pop("unfinished", None)
        counts["repeated"] = self._repeated()
        found = {name: number for name, number in counts.items() if number}
        return list(count_notes("input", found, self.n, first=self._first))

    def _count(self, name: str, segment: Segment) -> None:
        self._counts[name] = self._counts.get(name, 0) + 1
        first = self._first.setdefault(name, [])
        if len(first) < FIRST:
            first.append(segment.id)

    def _repeated(self) -> int:
        """Segments whose text is given for many inputs."""
        hashes = np.array(self._texts)
        ordered = np.sort(hashes)
        if not (ordered[_INPUTS - 1 :] == ordered[: 1 - _INPUTS]).any():  # no text is there so often
            return 0
        texts, place, times = np.unique(hashes, return_inverse=True, return_counts=True)
        inputs = np.unique(np.array(self._inputs), return_inverse=True)[1].reshape(-1)
        n_inputs = int(inputs.max()) + 1
        pairs = np.unique(place.reshape(-1) * n_inputs + inputs)
        given_for = np.bincount(pairs // n_inputs, minlength=len(texts))
        many = (given_for >= max(_INPUTS, _SHARE * n_inputs)) & (texts != hash(""))
        return int(times[many].sum())


def _is_unfinished(segment: Segment) -> bool:
    """Whether a text, not blank, lacks the final mark that all of its references and its source, if any, have."""
    text = segment.hypothesis.rstrip()
    whole = [r.rstrip()[-1:] in _FINAL for r in segment.references]
    source = (segment.source or "").rstrip()
    return bool(text) and text[-1] not in _FINAL and all(whole) and (not source or source[-1] in _FINAL)


def _is_spaced(segment: Segment) -> bool:
    """Whether a text and all of its references end in a full stop, which one side sets apart as a word."""
    tokenized = segment.hypothesis.endswith(_TOKENIZED)
    return all(r.endswith(".") and r.endswith(_TOKENIZED) != tokenized for r in segment.references)


def _is_looping(segment: Segment) -> bool:
    """Whether a text ends in a loop, and none of its references does."""
    return _is_loop(segment.hypothesis) and not any(map(_is_loop, segment.references))


def _is_loop(text: str) -> bool:
    """Whether a text ends in the same characters three times or more."""
    text = text.rstrip()
    for period in range(1, len(text) // _TURNS + 1):
        turns = max(_TURNS, -(-_LEAST // period))
        if text.endswith(text[-period:] * turns):
            return True
    return False
