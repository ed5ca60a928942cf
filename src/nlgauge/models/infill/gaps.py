"""Gaps in texts and words that fill them: the interface of every filler, whether it is a model or a word list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable


class Gap(NamedTuple):
    """A gap in a text. The part of `text` from `start` to `end` is to be predicted without looking at it.

    If `start` and `end` are equal, new words are to be inserted there.
    """

    text: str
    start: int
    end: int


class Filler(NamedTuple):
    """A word for a gap, or with some models a phrase.

    Of two fillers of the same gap, the one with the higher score fits better. Scores of different gaps cannot be
    compared.
    """

    word: str
    score: float


@runtime_checkable
class Infill(Protocol):
    """Fills gaps, as masked language models do."""

    def fill(self, gaps: Sequence[Gap], k: int) -> list[list[Filler]]:
        """Words for each gap, best first.

        Args:
            gaps: any number of gaps. Several may be in the same text; each is filled as if the others did not exist.
            k: the largest number of words for a gap.

        Returns:
            One list per gap, in order, with at most `k` fillers. The list is empty if nothing fits.
        """
        ...
