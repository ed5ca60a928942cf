"""Which pieces of a vocabulary can fill a gap as words, and with which capitals they are written there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from nlgauge.models.infill.gaps import Gap
from nlgauge.models.infill.pieces import PieceTokenizer

if TYPE_CHECKING:
    import torch

_CLOSING = "\"'”’»)]}*_ "
_ENDS = ".!?…:。！？"
_APOSTROPHES = "'’"
_MORE = 2  # times k: as many are looked at, since two pieces may be one word (with and without the blank before it)


class Stands(NamedTuple):
    """Where a gap is.

    Attributes:
        place: `first` at the beginning of the text, `word` after a blank, `inside` after an opening mark such as a
            quotation mark, `behind` after a letter.
        sentence: whether a sentence begins at the gap.
    """

    place: str
    sentence: bool


def stands(gap: Gap) -> Stands:
    """Where a gap is, judged from the text before it, and whether it replaces a word or lies between words."""
    before = gap.text[: gap.start]
    left = before.rstrip()
    sentence = (
        not left.strip(_CLOSING + "([{“‘«„-–—¿¡")
        or left.rstrip(_CLOSING)[-1:] in tuple(_ENDS)
        or "\n" in before[len(left) :]
    )
    if not left:
        return Stands("first", True)
    if before[-1].isspace() or (
        gap.start == gap.end and (before[-1].isalnum() or gap.text[gap.end : gap.end + 1].isspace())
    ):
        return Stands("word", sentence)
    return Stands("behind" if before[-1].isalnum() else "inside", sentence)


@dataclass(frozen=True, eq=False)
class Spelling:
    """How the pieces of one vocabulary are written.

    Attributes:
        bare: the text of each piece; empty for a piece that is never a word.
        fit: for each place of `Stands`, whether a piece can be a word there, shape (V,).
        uncased: whether the model writes only small letters.
        capital: whether a piece is always written with a first capital, and whether always in capitals, shape (2, V);
            None if that is not known.
    """

    bare: list[str]
    fit: Mapping[str, npt.NDArray[np.bool_]]
    uncased: bool
    capital: npt.NDArray[np.bool_] | None

    @classmethod
    def of(cls, tokenizer: PieceTokenizer, bits: npt.NDArray[np.uint8] | None = None) -> Spelling:
        """The spelling of a tokenizer's pieces. `bits` are the packed capitals of a head, shape (2, V / 8)."""
        bare, goes_on = tokenizer.bare, tokenizer.continues
        is_text = np.array([bool(word) for word in bare])
        capital = None if bits is None else np.unpackbits(bits, axis=1, count=len(bare)).astype(bool)
        if not tokenizer.is_marked:
            return cls(
                bare,
                dict.fromkeys(("first", "word", "inside", "behind"), is_text & ~goes_on),
                tokenizer.uncased,
                capital,
            )
        sign = np.array([bool(word) and not any(c.isalnum() for c in word) for word in bare])
        clitic = np.array([word[:1] in tuple(_APOSTROPHES) for word in bare])
        begins_marked = not goes_on[tokenizer.place(["a"])[0].ids[0]]
        word, rest = is_text & (~goes_on | sign), is_text & goes_on
        fit = {
            "first": word if begins_marked else is_text,
            "word": word,
            "inside": rest,
            "behind": rest & (sign | clitic),
        }
        return cls(bare, fit, tokenizer.uncased, capital)

    def best(self, said: torch.Tensor, where: Stands, k: int) -> tuple[list[tuple[int, float]], float]:
        """The k best pieces that fit, each word once, with their scores, and the smallest difference between scores.

        That difference is taken over all scores that decide which pieces are chosen, and in which order.

        Args:
            said: a score for each piece, shape (V,).
            where: the place of the gap.
            k: the number of pieces.
        """
        import torch

        places = torch.from_numpy(np.flatnonzero(self.fit[where.place][: len(said)])).to(said.device)
        top, order = said[places].topk(min(_MORE * k + 1, len(places)))
        scores, pieces = top.tolist(), places[order].tolist()
        found: dict[str, tuple[int, float]] = {}
        seen = 0
        while len(found) < k and seen < min(_MORE * k, len(pieces)):
            found.setdefault(self.bare[pieces[seen]], (pieces[seen], scores[seen]))
            seen += 1
        # The order of those that were looked at, and that the next one is none of them.
        least = min((high - low for high, low in pairwise(scores[: seen + 1])), default=float("inf"))
        return list(found.values()), least

    def written(self, piece: int, gap: Gap, where: Stands) -> str:
        """A piece written as a word of the text. A model that knows capitals has written them itself."""
        word, old = self.bare[piece], gap.text[gap.start : gap.end]
        if not self.uncased:
            return word
        if gap.text.isupper() and len(gap.text) > len(word):  # a headline
            return word.upper()
        if self.capital is not None and self.capital[1][piece]:
            return word.upper()
        if self.capital is not None and self.capital[0][piece]:
            return word[:1].upper() + word[1:]
        # Which words are names is known from a head's training, or else from what stood there.
        was_capital = (old or gap.text[gap.end :].lstrip())[:1].isupper() and (
            where.sentence or (bool(old) and self.capital is None)
        )
        return word[:1].upper() + word[1:] if was_capital else word
