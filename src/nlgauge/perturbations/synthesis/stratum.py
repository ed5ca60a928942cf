"""A text between two edits of stratified synthesis: its tokens, and the table of what may still be edited."""

from __future__ import annotations

from collections.abc import Sequence

from nlgauge.perturbations.base import Edit
from nlgauge.perturbations.spacing import around_insertion, around_replacement, behind_deletion, exchanged
from nlgauge.text.tokenize import unit_spans


class Stratum:
    """The text as it stands after some edits.

    Every operation edits it in place, and no operation touches what an earlier one has touched.

    Positions are counted as in the paper: tokens are numbered from 1, and an operation starts after token `start`,
    where 0 is the start of the text. The paper's array has no entry for the start, so its first token could never be
    edited.

    Attributes:
        tokens: the tokens of the text, without blanks, length L.
        blanks: the blanks before each token and after the last, length L + 1.
        room: `room[j]` tokens after token j may still be edited in one run, length L + 1; `room[0]` belongs to the
            start of the text.

    References:
        Xu et al. (2022), section 3.2 and algorithm 1: `room[1:]` is its array q.
    """

    def __init__(self, text: str) -> None:
        spans = unit_spans(text)
        edges = [0, *(place for span in spans for place in span), len(text)]
        self.tokens: list[str] = [text[start:end] for start, end in spans]
        self.blanks: list[str] = [text[edges[i] : edges[i + 1]] for i in range(0, len(edges), 2)]
        self.room: list[int] = list(range(len(spans), -1, -1))

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def text(self) -> str:
        """The tokens with their blanks."""
        return self._between(0, len(self.tokens))

    def accepts(self, start: int, span: int) -> bool:
        """Whether a run of `span` tokens behind token `start` touches no earlier edit.

        A span of 0 is a place for an insertion.
        """
        return self.room[start] > 0 and self.room[start] >= span

    def has_room(self, span: int) -> bool:
        """Whether a run of so many tokens is accepted anywhere."""
        return max(self.room) >= max(span, 1)

    def place(self, start: int, span: int) -> tuple[int, int]:
        """Offsets of the run of tokens behind token `start`; of a span of 0, the place before the next token twice."""
        first = len(self._between(0, start))
        return first, first + (len(self._inside(start, start + span)) if span else 0)

    def beside(self, start: int, span: int) -> tuple[str, str]:
        """The tokens around the run of tokens behind token `start`, empty at the ends of the text."""
        return self._neighbours(start, start + span)

    def insert(self, start: int, phrase: str) -> Edit:
        """Put a phrase behind token `start`."""
        tokens, inner = _parted(phrase)
        self._touch(start)
        self.room[start + 1 : start + 1] = [0] * len(tokens)
        before, behind = around_insertion(*self._neighbours(start, start), tokens, self.blanks[start])
        return self._rewrite(start, start, tokens, [before, *inner, behind])

    def replace(self, start: int, span: int, phrase: str) -> Edit:
        """Put a phrase in the place of `span` tokens behind token `start`."""
        tokens, inner = _parted(phrase)
        self._touch(start)
        self.room[start + 1 : start + 1 + span] = [0] * len(tokens)
        end = start + span
        old = self.tokens[start:end]
        before, behind = around_replacement(
            *self._neighbours(start, end), tokens, old, self.blanks[start], self.blanks[end]
        )
        return self._rewrite(start, end, tokens, [before, *inner, behind])

    def delete(self, start: int, span: int) -> Edit:
        """Take away `span` tokens behind token `start`."""
        self._touch(start)
        del self.room[start + 1 : start + 1 + span]
        end = start + span
        blank = behind_deletion(*self._neighbours(start, end), self.blanks[start], self.blanks[end])
        return self._rewrite(start, end, [], [blank])

    def swap(self, start: int, distance: int) -> Edit:
        """Let the token behind token `start` change places with the one `distance` further on."""
        self._touch(start)
        other = start + distance
        self.room[start + 1] = 0
        for i in range(start + 2, other + 1):
            self.room[i] = min(other - i, self.room[i])
        self.room[other + 1] = 0
        old = self.tokens[start : other + 1]
        new = [old[-1], *old[1:-1], old[0]]
        left, right = self._neighbours(start, other + 1)
        blanks = exchanged(left, right, old, new, self.blanks[start : other + 2])
        return self._rewrite(start, other + 1, new, blanks)

    def _touch(self, start: int) -> None:
        """No run that begins before an edit reaches into it."""
        for i in range(start + 1):
            self.room[i] = min(start - i, self.room[i])

    def _neighbours(self, first: int, last: int) -> tuple[str, str]:
        """The tokens around a run, empty at the ends of the text."""
        return self.tokens[first - 1] if first else "", self.tokens[last] if last < len(self.tokens) else ""

    def _rewrite(self, first: int, last: int, tokens: Sequence[str], blanks: Sequence[str]) -> Edit:
        """Put tokens and the blanks around them in the place of those from `first` up to `last`.

        Returns:
            The change in offsets of the text before; blanks at its ends that stay are no part of it.
        """
        begin = len(self._between(0, first)) - len(self.blanks[first]) if first else 0
        old, head, tail = self._between(first, last), self.blanks[first], self.blanks[last]
        self.tokens[first:last] = tokens
        self.blanks[first : last + 1] = blanks
        new = self._between(first, first + len(tokens))
        most = min(len(old), len(new))
        front = _common(old, new, min(len(head), len(blanks[0]), most))
        back = _common(old[::-1], new[::-1], min(len(tail), len(blanks[-1]), most - front))
        return Edit(begin + front, begin + len(old) - back, new[front : len(new) - back])

    def _between(self, first: int, last: int) -> str:
        """The text from the blanks before token `first`, counted from 0, to those before token `last`, inclusive."""
        parts = [part for pair in zip(self.blanks[first:last], self.tokens[first:last], strict=True) for part in pair]
        return "".join([*parts, self.blanks[last]])

    def _inside(self, first: int, last: int) -> str:
        """The text of some tokens, without the blanks around them."""
        whole = self._between(first, last)
        return whole[len(self.blanks[first]) : len(whole) - len(self.blanks[last])]


def _parted(phrase: str) -> tuple[list[str], list[str]]:
    """The tokens of a phrase, and the blanks between them."""
    spans = unit_spans(phrase)
    tokens = [phrase[start:end] for start, end in spans]
    return tokens, [phrase[spans[i][1] : spans[i + 1][0]] for i in range(len(spans) - 1)]


def _common(one: str, other: str, most: int) -> int:
    """How many of the first `most` characters two texts share."""
    return next((i for i in range(most) if one[i] != other[i]), most)
