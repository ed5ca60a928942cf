"""Gaps in texts and what fills them: the terms in which every filler is asked, whether a model or a word list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, runtime_checkable


class Gap(NamedTuple):
    """What stands in `text` from `start` to `end` is to be guessed from the rest; a model must not look at it.

    Where both are the same place, something is to be put in there that the text does not have.
    """

    text: str
    start: int
    end: int


class Filler(NamedTuple):
    """A word for a gap, or a phrase from some models.

    Of two fillers of one gap the one with the higher score fits better; scores of different gaps cannot be compared.
    """

    word: str
    score: float


@runtime_checkable
class Infill(Protocol):
    """Fills gaps, as masked language models do."""

    def fill(self, gaps: Sequence[Gap], k: int) -> list[list[Filler]]:
        """Words for each gap, best first.

        Args:
            gaps: any number of gaps, several of one text among them; each is filled as if the others were not there.
            k: most words for a gap.

        Returns:
            One list for each gap, in order, of at most `k` fillers; an empty one where nothing fits.
        """
        ...
