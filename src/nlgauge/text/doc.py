"""A text with its tokens and their tags, its words and its sentences; places are offsets of the text."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

_IN_WORDS = frozenset("-‑/'’.&@_+")  # what may stand inside a word without parting it
_NO_PUNCTUATION = frozenset("%@#&*§")  # punctuation by Unicode, signs that are read aloud by people


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a clitic (n't, 's), a number, a sign.

    Attributes:
        index: its place among the tokens of the text.
        start, end: offsets in the text.
        text: what stands there.
        tag: Penn Treebank part of speech.
    """

    index: int
    start: int
    end: int
    text: str
    tag: str

    @property
    def lower(self) -> str:
        """In small letters, with a plain apostrophe."""
        return self.text.lower().replace("’", "'")

    @property
    def is_punctuation(self) -> bool:
        """Whether it is made of punctuation marks alone."""
        return is_punctuation(self.text)


@dataclass(frozen=True, slots=True)
class Span:
    """A run of tokens: a word, a phrase, a sentence.

    Attributes:
        first, last: its tokens, both included.
        start, end: offsets in the text.
    """

    first: int
    last: int
    start: int
    end: int


@dataclass(frozen=True)
class Doc:
    """One text with its tokens and sentences.

    Attributes:
        text: as it came.
        tokens: every character but blanks lies in exactly one of them.
        sentences: runs of tokens, in order, which together are all tokens.
    """

    text: str
    tokens: tuple[Token, ...]
    sentences: tuple[Span, ...]

    @cached_property
    def words(self) -> tuple[Span, ...]:
        """Words as blanks show them, without the punctuation around them: `isn't`, `well-known`, `$5`."""
        return tuple(self._words())

    @cached_property
    def word_at(self) -> tuple[int | None, ...]:
        """For each token the place of its word among `words`, None for punctuation outside words."""
        places: list[int | None] = [None] * len(self.tokens)
        for place, word in enumerate(self.words):
            places[word.first : word.last + 1] = [place] * (word.last - word.first + 1)
        return tuple(places)

    @cached_property
    def sentence_at(self) -> tuple[int, ...]:
        """For each token the place of its sentence among `sentences`."""
        return tuple(place for place, s in enumerate(self.sentences) for _ in range(s.first, s.last + 1))

    def span(self, first: int, last: int) -> Span:
        """The tokens from `first` to `last`, both included."""
        return Span(first, last, self.tokens[first].start, self.tokens[last].end)

    def between(self, span: Span) -> str:
        """What stands in the text from the start of a span to its end."""
        return self.text[span.start : span.end]

    def touches(self, index: int) -> bool:
        """Whether a token follows the one before it without a blank."""
        return index > 0 and self.tokens[index - 1].end == self.tokens[index].start

    def starts_sentence(self, index: int) -> bool:
        """Whether a token is the first of its sentence, opening quotes and brackets left out of account."""
        first = self.sentences[self.sentence_at[index]].first
        return all(self.tokens[i].is_punctuation for i in range(first, index))

    def _words(self) -> Iterator[Span]:
        run: list[int] = []
        for token in (*self.tokens, None):
            parted = (
                token is None
                or (run and not self.touches(token.index))
                or (is_punctuation(token.text) and token.text not in _IN_WORDS)
            )
            if parted:
                yield from self._trimmed(run)
                run = []
            if token is not None and (token.text in _IN_WORDS or not is_punctuation(token.text)):
                run.append(token.index)

    def _trimmed(self, run: Sequence[int]) -> Iterator[Span]:
        inside = [i for i in run if not is_punctuation(self.tokens[i].text)]
        if inside and self.tokens[run[-1]].tag == "POS":
            inside.append(run[-1])  # the dogs'
        if inside:
            yield self.span(inside[0], inside[-1])


def is_punctuation(text: str) -> bool:
    """Whether a text is made of punctuation marks alone, the grave accent among them; `%`, `@`, `#`, `&` are none."""
    return bool(text) and all(
        c == "`" or (unicodedata.category(c)[0] == "P" and c not in _NO_PUNCTUATION) for c in text
    )
