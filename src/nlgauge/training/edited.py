"""Where the errors of a text are that was changed edit by edit: the exact spans that rules and synthesis give."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from nlgauge.core.errors import InputError
from nlgauge.core.marks import ErrorSpan, Severity
from nlgauge.scoring.explaining import Worded, is_function

_NEGATIONS = frozenset("not n't no nor never cannot without".split())  # function words that turn a text round
_RANKS: dict[Severity, int] = {"minor": 1, "major": 2}
_NAMES: dict[int, Severity] = {rank: name for name, rank in _RANKS.items()}


@dataclass(frozen=True)
class PlacedEdit:
    """A change of a text.

    Attributes:
        start, end: the characters that it replaces, of the text before it.
        new: what comes in their place.
        severity: how bad it is; None tells it from the words: major if one of those that come or go carries content or
            negates.
    """

    start: int
    end: int
    new: str
    severity: Severity | None = None


def spans_of_edits(text: str, edits: Iterable[PlacedEdit]) -> tuple[str, tuple[ErrorSpan, ...]]:
    """The text after some edits, one after another, and the errors in it.

    Words at the ends of an edit that are there before and after it are no error. Neighbouring words of one severity are
    one span. Where words are gone and none came, something is missing before the next word.

    Args:
        text: the text before the first edit.
        edits: in the order in which they are made; each has its place in the text that the one before it left.

    Raises:
        InputError: an edit reaches beyond the text.
    """
    made = _Edited(text)
    for edit in edits:
        made.edit(edit)
    return made.text, made.spans()


class _Edited:
    """A text in the making: the rank of the error that each character belongs to, and places where text is gone."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._ranks = [0] * len(text)
        self._gaps: dict[int, int] = {}

    def edit(self, edit: PlacedEdit) -> None:
        if not 0 <= edit.start <= edit.end <= len(self.text):
            raise InputError(f"an edit from {edit.start} to {edit.end} of a text of {len(self.text)} characters")
        before, new = _pieces(self.text[edit.start : edit.end]), _pieces(edit.new)
        first = last = 0
        while first < min(len(before), len(new)) and before[first] == new[first]:
            first += 1
        while last < min(len(before), len(new)) - first and before[-1 - last] == new[-1 - last]:
            last += 1
        start = edit.start + len("".join(before[:first]))
        end = edit.end - len("".join(before[len(before) - last :]))
        self._replace(start, end, "".join(new[first : len(new) - last]), edit.severity)

    def _replace(self, start: int, end: int, new: str, severity: Severity | None) -> None:
        old = self.text[start:end]
        rank = _RANKS[severity or _severity(f"{old} {new}")]
        self.text = self.text[:start] + new + self.text[end:]
        self._ranks[start:end] = [0 if char.isspace() else rank for char in new]
        moved: dict[int, int] = {}
        for place, worst in self._gaps.items():
            at = place if place <= start else max(start + len(new), place + len(new) - (end - start))
            moved[at] = max(moved.get(at, 0), worst)
        if old.strip() and not new.strip():
            moved[start] = max(moved.get(start, 0), rank)
        self._gaps = moved

    def spans(self) -> tuple[ErrorSpan, ...]:
        """The errors by words."""
        found: list[ErrorSpan] = []
        words = Worded.of(self.text).places
        run: tuple[int, int, int] | None = None  # start, end and rank
        for start, end in words:
            rank = max(self._ranks[start:end], default=0)
            if run is not None and rank == run[2]:
                run = (run[0], end, rank)
                continue
            if run is not None:
                found.append(ErrorSpan(run[0], run[1], _NAMES[run[2]]))
            run = (start, end, rank) if rank else None
        if run is not None:
            found.append(ErrorSpan(run[0], run[1], _NAMES[run[2]]))
        gone: dict[int, int] = {}
        for place, rank in self._gaps.items():
            at = next((start for start, end in words if end > place), len(self.text))
            gone[at] = max(gone.get(at, 0), rank)
        found += [ErrorSpan(at, at, _NAMES[rank], missing=True) for at, rank in gone.items()]
        return tuple(sorted(found, key=lambda span: (span.start, span.end)))


def _pieces(text: str) -> list[str]:
    """Words and what stands between them."""
    found, at = [], 0
    for start, end in Worded.of(text).places:
        found += [text[at:start], text[start:end]]
        at = end
    return [piece for piece in (*found, text[at:]) if piece]


def _severity(words: str) -> Severity:
    carries = (word in _NEGATIONS or not is_function(word) for word in Worded.of(words).lower)
    return "major" if any(carries) else "minor"
