"""The interface of a perturbation: a frozen dataclass that turns a case into edits, or says why it does not apply."""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, runtime_checkable

from nlgauge.text.doc import Doc
from nlgauge.text.languages import Language

Expect = Literal["lower", "same"]
NEEDS: Mapping[str, str] = {
    "english": "a text in English",
    "context": "the turns of the dialogue before it",
    "pool": "other texts to draw from",
    "references": "a second reference",
    "table": "texts to take from a file",
    "infill": "something that fills gaps; without a model words are drawn from the lexicon",
}
SAI, CHEN = "Sai et al. (2021)", "Chen and Eger (2023)"


class Edit(NamedTuple):
    """One replacement: `new` takes the place of the text from offset `start` up to `end`."""

    start: int
    end: int
    new: str


class Turn(NamedTuple):
    """One turn of a dialogue: who said what."""

    speaker: str
    text: str


@dataclass(frozen=True)
class Case:
    """One text with everything that a perturbation may need.

    Attributes:
        doc: the text with its tokens and sentences.
        language: the backend that analyses and inflects.
        id: the id of its segment; None where it has none.
        context: the turns before it, oldest first.
        speaker: the speaker of the text; None where there is no context.
        pool: texts that a perturbation may draw from.
        references: other texts that say the same.
    """

    doc: Doc
    language: Language
    id: str | None = None
    context: Sequence[Turn] = ()
    speaker: str | None = None
    pool: Sequence[str] = ()
    references: Sequence[str] = ()

    @property
    def text(self) -> str:
        """The text itself."""
        return self.doc.text

    def replaced(self, text: str, /, **meta: Any) -> Change:
        """The change that puts another text in the place of the whole one; `meta` goes with it."""
        return Change([Edit(0, len(self.text), text)], meta)


@dataclass(frozen=True)
class Change:
    """The edits of a perturbation to a text.

    Attributes:
        edits: ascending, not overlapping, in offsets of the text.
        meta: what was picked and from what, in plain values that JSON can hold.
    """

    edits: Sequence[Edit]
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Inapplicable:
    """Why a perturbation leaves a text alone.

    Attributes:
        reason: in a word or two: `no number`, `too short`, `language`.
        note: what the user must be told besides, in a sentence; empty as a rule.
    """

    reason: str
    note: str = ""


@dataclass(frozen=True)
class PerturbationInfo:
    """The declared facts of a perturbation.

    Attributes:
        name: its id in the registry; left empty, it comes from the name of the class: `drop_phrases` of `DropPhrases`.
        summary: what it does, in one line that begins with a verb.
        expect: `lower` if the text becomes worse, `same` if it stays as good.
        needs: keys of `NEEDS`.
        example: a text, and the same text after the perturbation.
        source: the paper that describes it.
    """

    name: str
    summary: str
    expect: Expect
    example: tuple[str, str]
    needs: frozenset[str] = frozenset({"english"})
    source: str = SAI

    def __set_name__(self, owner: type, attribute: str) -> None:
        """Take the name of the class that declares it, unless it has one."""
        if not self.name:
            object.__setattr__(self, "name", re.sub(r"(?<!^)(?=[A-Z])", "_", owner.__name__).lower())


def worse(
    summary: str,
    example: tuple[str, str],
    *,
    needs: Collection[str] = ("english",),
    source: str = SAI,
    name: str = "",
) -> PerturbationInfo:
    """Declare a perturbation after which a text is worse; the arguments are the fields of `PerturbationInfo`."""
    return PerturbationInfo(name, summary, "lower", example, frozenset(needs), source)


attack = partial(worse, source=CHEN)  # one of MENLI's


def as_good(summary: str, example: tuple[str, str], *, needs: Collection[str] = ("english",)) -> PerturbationInfo:
    """Declare a perturbation after which a text is as good as before; the arguments are those of `worse`."""
    return PerturbationInfo("", summary, "same", example, frozenset(needs))


@runtime_checkable
class Perturbation(Protocol):
    """A frozen dataclass whose fields are its options; calling it changes nothing but the state of `rng`."""

    info: ClassVar[PerturbationInfo]

    def __call__(self, case: Case, rng: random.Random) -> Change | Inapplicable:
        """The edits that make the perturbation, or why there are none."""
        ...


@dataclass(frozen=True)
class Perturbed:
    """A text after a perturbation.

    Attributes:
        text: the text with all edits made.
        edits: the changes, `(start, end, new)` in offsets of `original`.
        original: the text before the perturbation.
        perturbation: the id of the perturbation.
        expect: `lower` or `same`.
        seed: the seed of the draws, which also depend on the id of the perturbation and the id of the segment.
        meta: what was picked.
        id: the id of the segment, where it has one.
    """

    text: str
    edits: list[Edit]
    original: str
    perturbation: str
    expect: Expect
    seed: int
    meta: Mapping[str, Any] = field(default_factory=dict)
    id: str | None = None


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """The text with all edits made.

    Raises:
        ValueError: edits overlap, are out of order or reach beyond the text; this is a bug of the perturbation.
    """
    parts, at = [], 0
    for start, end, new in edits:
        if not at <= start <= end <= len(text):
            raise ValueError(f"edit ({start}, {end}, {new!r}) after {at} in a text of {len(text)} characters")
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


def stream(seed: int, name: str, key: str) -> random.Random:
    """The random numbers of one perturbation on one text; the rest of the batch does not affect them.

    Args:
        seed: the user's seed.
        name: the id of the perturbation.
        key: the id of the segment, or else the text.
    """
    digest = blake2b(digest_size=16)
    for part in (str(seed), name, key):
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return random.Random(int.from_bytes(digest.digest(), "big"))
