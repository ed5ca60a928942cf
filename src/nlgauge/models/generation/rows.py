"""Pairs of texts as pieces: what a model that writes text is given, and what it is asked to write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nlgauge.core.errors import InputError
from nlgauge.models.generation.files import GeneratorFiles
from nlgauge.models.tokens import Ids, TextTokenizer

BREAK = "\n"  # between a given text and the text that a causal model is asked to write


@dataclass(frozen=True, slots=True)
class Row:
    """A text that a model is asked to write after another.

    Attributes:
        given: pieces that the model reads first. A causal model is given at least one.
        text: pieces that it is asked to write.
        own: where in `text` the text itself with its end begins and ends. Outside stand BART's <s>, or the tag of a
            language, which mBART writes behind the end.
        truncated: whether one of the two texts was cut.
        unknown: the higher share of unknown pieces in one of the two texts.
        blank: whether one of them has no piece.
    """

    given: Ids
    text: Ids
    own: slice
    truncated: bool
    unknown: float
    blank: bool


class PairedRows(TextTokenizer):
    """The pieces for an encoder-decoder: each text in the frame that its tokenizer writes around any text.

    transformers puts the piece with which the decoder starts before them, and so does the model.
    """

    def __init__(self, found: GeneratorFiles, max_tokens: int | None, language: str | None) -> None:
        super().__init__(found.files, max_tokens, space=False, language=language)

    def rows(self, pairs: Sequence[tuple[str, str]], givens: PairedRows) -> list[Row]:
        """One row per pair of a given text and a text; `givens` reads the given ones."""
        given_side, text_side = (
            side.tokens([pair[place] for pair in pairs]) for place, side in enumerate((givens, self))
        )
        shares = [
            side.unknown_shares(map(side.content, tokens)) for side, tokens in ((givens, given_side), (self, text_side))
        ]
        return [
            Row(
                given.ids,
                text.ids,
                slice(len(self.prefix), len(text.ids) - max(0, len(self.suffix) - 1)),
                given.truncated or text.truncated,
                share,
                0 in (given.n_content, text.n_content),
            )
            for given, text, share in zip(given_side, text_side, np.maximum(*shares).tolist(), strict=True)
        ]


class CausalRows(TextTokenizer):
    """The pieces for a causal language model: a piece to start with, the given text, a line break, the text.

    The model is asked for the pieces of the text itself, without a piece for its end.
    """

    def __init__(self, found: GeneratorFiles, max_tokens: int | None) -> None:
        limits = [limit for limit in (max_tokens, found.max_tokens) if limit is not None]
        super().__init__(found.files, min(limits, default=None), space=False)
        start = found.start
        if len(self.prefix) == 0 and start is None:
            raise InputError(
                f"model {self.name!r} has no piece to start a text with: config.json has neither bos_token_id nor"
                " eos_token_id"
            )
        self.start: Ids = self.prefix if len(self.prefix) else np.array([start], dtype=np.int64)
        if self.max_tokens is not None and self.max_tokens < len(self.start) + 2:
            raise InputError(
                f"model {self.name!r} reads {self.max_tokens} pieces, expected at least {len(self.start) + 2}"
            )

    def rows(self, pairs: Sequence[tuple[str | None, str]]) -> list[Row]:
        """One row per pair of a given text and a text; None in place of a given text where there is none."""
        return [self._row(given, text) for given, text in pairs]

    def _row(self, given: str | None, text: str) -> Row:
        told, text = self._prepare(given or ""), self._prepare(text)
        beginning = told + BREAK if told else ""
        is_blank = not text or (given is not None and not told)
        before, whole = self._pieces(beginning), self._pieces(beginning + text)
        least = min(len(before), len(whole))
        differ = np.flatnonzero(before[:least] != whole[:least])
        n_given = int(differ[0]) if len(differ) else least
        sides = whole[:n_given], whole[n_given:]
        share = float(self.unknown_shares(sides).max())
        first, second = self._cut(*sides)
        is_cut = len(first) + len(second) < len(whole)
        own = slice(0, len(second))
        return Row(np.concatenate([self.start, first]), second, own, is_cut, share, is_blank or len(second) == 0)

    def _cut(self, first: Ids, second: Ids) -> tuple[Ids, Ids]:
        """Cut both sides at their ends, so that they fit into the model. The break behind the given text stays."""
        if self.max_tokens is None:
            return first, second
        room = self.max_tokens - len(self.start)
        second = second[: max(room - len(first), room - room // 2)]
        left = room - len(second)
        if len(first) > left:
            first = np.concatenate([first[: left - 1], first[-1:]]) if left else first[:0]
        return first, second

    def _pieces(self, text: str) -> Ids:
        """The pieces of a text as it is, without special tokens around it."""
        whole = self._whole(self._encode([text])[0] if text else [])
        return whole[len(self.prefix) : len(whole) - len(self.suffix)] if text else whole
