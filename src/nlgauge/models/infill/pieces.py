"""The pieces of a vocabulary: which are whole words, and at which offsets of a text they lie."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from nlgauge.core.errors import InputError
from nlgauge.models.locate import ModelFiles
from nlgauge.models.tokens import Ids, TextTokenizer

_CHUNK = 8192
_SURROGATE = re.compile("[\ud800-\udfff]")
_UNUSED = re.compile(r"\[unused\d+\]|<unused_?\d+>|<extra_id_\d+>|madeupword\d+")


@dataclass(frozen=True, slots=True)
class Placed:
    """The pieces of a text and their offsets, without special tokens.

    Blanks at the edge of a piece lie outside its offsets.

    Attributes:
        ids: ids of the pieces, shape (T,).
        starts, ends: offsets in the text, shape (T,). They are equal for a piece that is a blank.
    """

    ids: Ids
    starts: Ids
    ends: Ids


class PieceTokenizer(TextTokenizer):
    """The tokenizer of a model, which gives offsets of pieces and words.

    Raises:
        InputError: the tokenizer gives no offsets of pieces.
    """

    def __init__(self, files: ModelFiles, max_tokens: int | None = None) -> None:
        super().__init__(files, max_tokens, space=False)
        self._mask_token = _token(files.tokenizer_config.get("mask_token"))
        if not hasattr(self._backend, "encode_batch_fast"):
            raise InputError(
                f"model {self.name!r} has a tokenizer without offsets, which gaps need; choose another model"
            )

    def place(self, texts: Sequence[str]) -> list[Placed]:
        """The pieces of each text with their offsets. No text is cut off."""
        found = []
        for start in range(0, len(texts), _CHUNK):
            block = [_SURROGATE.sub("\ufffd", text) for text in texts[start : start + _CHUNK]]
            for text, encoding in zip(block, self._backend.encode_batch(block, add_special_tokens=False), strict=True):
                places = [_trimmed(text, low, high) for low, high in encoding.offsets]
                ids, at = np.array(encoding.ids, dtype=np.int64), np.array(places, dtype=np.int64).reshape(-1, 2)
                found.append(Placed(ids, at[:, 0], at[:, 1]))
        return found

    @cached_property
    def vocabulary(self) -> list[str]:
        """The pieces by id, as the tokenizer writes them; empty for an id that is not used."""
        known = self._backend.get_vocab()
        pieces = [""] * (max(known.values()) + 1)
        for piece, i in known.items():
            pieces[i] = piece
        return pieces

    @cached_property
    def mask(self) -> int | None:
        """The id of the mask token; None if the model has none."""
        for token in (self._mask_token, "[MASK]", "<mask>"):
            found = self._backend.token_to_id(token) if token else None
            if found is not None:
                return int(found)
        return None

    @cached_property
    def bare(self) -> list[str]:
        """The text of each piece without blanks; empty for special tokens and for pieces that are not text."""
        special = {i for i, token in self._backend.get_added_tokens_decoder().items() if token.special}
        words = []
        for i, piece in enumerate(self.vocabulary):
            word = "" if i in special or _UNUSED.fullmatch(piece) else self._text(piece)
            words.append(
                word if word.isprintable() and "\ufffd" not in word and not any(c.isspace() for c in word) else ""
            )
        return words

    @cached_property
    def continues(self) -> npt.NDArray[np.bool_]:
        """Whether each piece continues the word before it, or might do so, shape (V,).

        Such pieces lack the sign that a tokenizer puts at the beginning of a word.
        """
        pieces = self.vocabulary
        if self._style == "##":
            return np.array([piece.startswith("##") for piece in pieces])
        return np.array([not piece.startswith(self._style) for piece in pieces])

    @cached_property
    def uncased(self) -> bool:
        """Whether the tokenizer treats capitals and small letters alike."""
        upper, lower = self._encode(["An Ox"])[0], self._encode(["an ox"])[0]
        return list(upper) == list(lower)

    @cached_property
    def is_marked(self) -> bool:
        """Whether the blank before a word marks its beginning (Ġword, ▁word). If not, ## marks continuations."""
        return self._style != "##"

    @cached_property
    def _style(self) -> str:
        pieces = self.vocabulary
        counts = {
            sign: sum(piece.startswith(sign) and len(piece) > len(sign) for piece in pieces)
            for sign in ("##", "Ġ", "▁")
        }
        return max(counts, key=lambda sign: counts[sign])

    def _text(self, piece: str) -> str:
        if self._style == "##":
            return piece.removeprefix("##")
        if self._style == "▁":
            return piece.removeprefix("▁")
        decoder = self._backend.decoder
        return (decoder.decode([piece]) if decoder is not None else piece.replace("Ġ", " ")).strip(" ")


def _trimmed(text: str, low: int, high: int) -> tuple[int, int]:
    while low < high and text[low].isspace():
        low += 1
    while high > low and text[high - 1].isspace():
        high -= 1
    return low, high


def _token(written: object) -> str | None:
    """A special token from a tokenizer's configuration, which writes it as text or as an object with `content`."""
    if isinstance(written, dict):
        written = written.get("content")
    return written if isinstance(written, str) else None
