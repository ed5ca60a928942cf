"""The errors a user can meet, each one line that says what was expected, what came and what to do; and the warning."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable
from typing import TypeVar

S = TypeVar("S")
T = TypeVar("T")

_NAMED, _SHOWN, _LONG = 600, 100, 2000  # characters of a name between quotes, of what is left of it, of a message
_QUOTED = re.compile(rf"'([^']{{{_NAMED},}})'")


class NlgaugeError(Exception):
    """Base class of every error that the caller can fix. The command line then exits with status 2."""

    def __str__(self) -> str:
        """The message in one line, whatever the names in it hold: line breaks and control characters are escaped.

        Names are cut where they are longer than a reader wants to see, and so is the middle of a message.
        """
        told = super().__str__()
        return short(told if told.isprintable() else "".join(map(_shown, told)))


class InputError(NlgaugeError, ValueError):
    """The data cannot be read or scored; a `ValueError`, too. The message names the file, the line or the segment."""


class SpecError(NlgaugeError, ValueError):
    """A specification has an unknown name or option, or a value that is out of range; a `ValueError`, too."""


class MissingExtra(NlgaugeError, ImportError):
    """An optional part is not installed; the message holds the command that installs it. An `ImportError`, too."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(
            f"{what} needs packages that are not installed; run: pip install 'nlgauge[{extra}]', or in a checkout of"
            f" nlgauge: pip install '.[{extra}]'"
        )
        self._made_of = what, extra

    def __reduce__(self) -> tuple[type[MissingExtra], tuple[str, str]]:
        """How a process of a pool sends it: from the message alone it could not be made again."""
        return MissingExtra, self._made_of


class ScoreWarning(UserWarning):
    """Texts of a call were cut, empty or undefined, or there is another note. A call warns once at most."""


def short(told: str) -> str:
    """A message in which long names are cut, and whose middle is left out where it is still long."""
    if len(told) > _NAMED:
        told = _QUOTED.sub(lambda name: f"'{name[1][:_SHOWN]}...'", told)
    return told if len(told) <= _LONG else f"{told[: _LONG // 2]} ... {told[-_LONG // 2 :]}"


def _shown(char: str) -> str:
    """A character, or the escape of one that nobody sees."""
    return char if char.isprintable() or char in "\xa0\u3000" else repr(char)[1:-1]


for _error in (NlgaugeError, InputError, SpecError, MissingExtra, ScoreWarning):
    _error.__module__ = "nlgauge"  # the public name, which tracebacks and pages show


def each(make: Callable[[S], T], entries: Iterable[S]) -> list[T]:
    """The results of `make` for each entry, in order; if some are refused, the error has the reasons of all."""
    made: list[T] = []
    refused: list[NlgaugeError] = []
    for entry in entries:
        try:
            made.append(make(entry))
        except NlgaugeError as error:
            refused.append(error)
    if not refused:
        return made
    reasons = list(dict.fromkeys(map(str, refused)))
    if len(reasons) == 1 or isinstance(refused[0], MissingExtra):
        raise refused[0]
    raise type(refused[0])("; and ".join(reasons))


def nearest(name: str, known: Iterable[str], least: float = 0.5) -> str:
    """The known names closest to `name`, worded for the end of an error: "; did you mean 'bleu'?".

    `least` is the share of letters in order from which on a name is close.
    """
    names = sorted(known)
    folded = {n.lower(): n for n in names}
    close = difflib.get_close_matches(name.lower(), list(folded), n=3, cutoff=least)
    if close:
        return "; did you mean " + " or ".join(repr(folded[c]) for c in close) + "?"
    return "; known: " + ", ".join(names) if names else ""
