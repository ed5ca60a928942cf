"""How many texts were cut, empty or undefined? Counted for every verb alike, said in notes, and warned of in Python."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from nlgauge.core.arrays import Array, Mask

P = ParamSpec("P")
R = TypeVar("R")
K = TypeVar("K")

UNDEFINED = "undefined"
LEFT_OUT = "they are left out"  # what becomes of undefined scores, unless said otherwise
FIRST = 10  # texts that are named
TRAINED = "trained on human ratings"  # how the note on a metric begins that has learnt from ratings
NAMED = 3  # metrics that a note in brief names
MEANINGS: Mapping[str, str] = {  # flag -> what "3 of 40 segments have" goes on with
    "empty": "an empty side; they get the worst value",
    "both_empty": "two empty sides; such texts are alike and get the best value",
    "truncated": "a text longer than the model reads, cut to its limit",
    "tokenized": "a text that looks tokenised already (it ends in ' .'), where the metric expects plain text",
    "nonfinite": "a text for which the model computes NaN or infinity, so the score is undefined (try dtype=float32)",
    "unknown": "a text with many pieces that the model does not know; where it knows none, the score is undefined",
    "untokenized": "a side of which the tokenizer keeps nothing; they get the worst value",
    "unmasked": "a source without a word that is long enough to be masked, so the score is undefined",
    "too_long": "texts too long for it, so the score is undefined",
    "unweighted": "a side on which no piece weighs anything; bertscore gives that side 0, and others no score",
    UNDEFINED: "an undefined score",
    "unread": "an answer of the judge that is not of the form asked for, so the score is undefined",
    "unanswered": "no answer of the judge, so the score is undefined; ask again",
    "flipped": "a pair of texts of which the judge's verdict depends on the order",
    "unasked": "a hypothesis where the source is blank, and so are the references: nothing was to be said",
    "copied": "a hypothesis that is its source, or nearly",
    "foreign": "a hypothesis in another language or script than its references",
    "looping": "a hypothesis that says the same words again and again",
    "repeated": "a hypothesis that their system gives for many other inputs, too",
    "unfinished": "a hypothesis that is short and has no final mark where the references have one (is it cut off?)",
    "untranslated": "a hypothesis with words of the source that were not translated",
    "blank_reference": "a reference without text",
    "doubled_reference": "one reference twice",
    "printed_reference": "a reference that is a list written as text, ['a', 'b'] (are these several references?)",
    "repeated_reference": "a reference that many other inputs have, too",
    "guarded": "a hypothesis that is no answer by one of its guards; it gets the worst score",
}


class ScoreWarning(UserWarning):
    """Texts of a call were cut, empty or undefined, or there is another note. A call warns once at most."""


ScoreWarning.__module__ = "nlgauge"  # the public name, as of errors


class Note(str):
    """A note that names texts. It is whole wherever it is kept; a terminal or a warning shows it in brief.

    Attributes:
        about: the metric that it is about, or "input".
        said: what it says of that, without the names.
    """

    about: str
    said: str

    @classmethod
    def of(cls, whole: str, about: str, said: str) -> Note:
        """A note in both forms."""
        note = cls(whole)
        note.about, note.said = about, said
        return note

    def after(self, before: str) -> Note:
        """The note with words before it, such as the set that it is about."""
        return Note.of(f"{before}{self}", f"{before}{self.about}", self.said)


def in_brief(notes: Iterable[str]) -> list[str]:
    """Notes without the names of texts; what is said of several metrics stands once, where the first stood, with the
    first three of them."""
    about: dict[str, list[str]] = {}
    for note in notes:
        if isinstance(note, Note):
            about.setdefault(note.said, []).append(note.about)
        else:
            about.setdefault(note, [])
    return [f"{_first_few(names)}: {said}" if names else said for said, names in about.items()]


def _first_few(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{', '.join(names[:NAMED])}{more}"


def count(flags: Mapping[str, Mask], values: Array) -> dict[str, int]:
    """How many of n texts have each flag, and how many an undefined score; what no text has is left out.

    Args:
        flags: name -> bool, shape (n,), as `Scores.flags`.
        values: shape (n,); NaN where a score is undefined.
    """
    import numpy as np  # the command imports this module for its help, too

    found = {name: int(np.count_nonzero(flag)) for name, flag in flags.items()}
    found[UNDEFINED] = int(np.isnan(values).sum())
    return {name: n for name, n in found.items() if n}


def add(*counts: Mapping[K, int]) -> dict[K, int]:
    """The sums of several counts."""
    total: Counter[K] = Counter()
    for one in counts:
        total.update(one)
    return dict(total)


def first_of(flags: Mapping[str, Mask], ids: Sequence[str], values: Array | None = None) -> dict[str, list[str]]:
    """The first ids of texts with each flag, so that they can be looked at.

    Args:
        flags: as in `count`.
        ids: the names of the n texts.
        values: as in `count`, to name the texts with an undefined score, too.
    """
    import numpy as np

    masks = {**flags} if values is None else {**flags, UNDEFINED: np.isnan(values)}
    return {name: [ids[i] for i in mask.nonzero()[0][:FIRST]] for name, mask in masks.items() if mask.any()}


def first_of_all(*firsts: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The first ids of several parts, in their order."""
    found: dict[str, list[str]] = {}
    for first in firsts:
        for name, ids in first.items():
            found[name] = [*found.get(name, ()), *ids][:FIRST]
    return found


def count_notes(
    spec: str,
    counts: Mapping[str, int],
    n: int,
    of: str = "segments",
    undefined: str | None = LEFT_OUT,
    first: Mapping[str, Sequence[str]] | None = None,
    cut: str | None = None,
) -> Iterator[Note]:
    """One note for each count, such as "nli: 3 of 40 segments (7, 9, 12) have an empty side; they get the worst value".

    Args:
        spec: the metric, as typed.
        counts: its counts.
        n: how many texts there are.
        of: what they are.
        undefined: what becomes of undefined scores; None where another note says so.
        first: flag -> ids of the first texts that have it, see `first_of`.
        cut: the flag `truncated` in words that suit the metric, see `metrics.base.cut_words`.
    """
    for name, number in counts.items():
        ids = (first or {}).get(name, ())
        who = f" ({', '.join([*ids, *(['...'] if number > len(ids) else [])])})" if ids else ""
        meaning = MEANINGS.get(name, f"the flag {name!r}") if name != "truncated" or cut is None else cut
        if name == UNDEFINED:
            if undefined is None:
                continue
            meaning = f"{meaning}; {undefined}"
        some = f"{number} of {n} {of}"
        yield Note.of(f"{spec}: {some}{who} have {meaning}", spec, f"{some} have {meaning}")


_said: ContextVar[list[str] | None] = ContextVar("notes of the call that warns", default=None)


def warning(function: Callable[P, R]) -> Callable[P, R]:
    """Let a public function warn its caller once, in one line, of what `say` was told meanwhile.

    What the function returns has all of it in `notes`. A function that is called by another of them leaves the warning
    to it.
    """

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        if _said.get() is not None:
            return function(*args, **kwargs)
        notes: list[str] = []
        token = _said.set(notes)
        try:
            answer = function(*args, **kwargs)
        finally:
            _said.reset(token)
        if notes:
            warnings.warn(_in_one_line([*dict.fromkeys(notes)]), ScoreWarning, stacklevel=2)
        return answer

    return called


def _in_one_line(notes: Sequence[str]) -> str:
    """The first note in brief, how many there are beside it, and where all are."""
    first, *others = in_brief(notes)
    more = f"and {len(others)} more {'note' if len(others) == 1 else 'notes'}; " if others else ""
    return f"{first} ({more}see .notes)"


def say(*notes: str) -> None:
    """Add notes to the warning of the public function that is running."""
    said = _said.get()
    if said is not None:
        said.extend(notes)
