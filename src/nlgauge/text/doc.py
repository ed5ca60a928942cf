"""A text with its tokens, tags, words and sentences. Positions are offsets in the text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

# Penn Treebank tags by what they stand for.
COMMON = frozenset({"NN", "NNS"})
PROPER = frozenset({"NNP", "NNPS"})
NOUNS = COMMON | PROPER
ADJECTIVES = frozenset({"JJ", "JJR", "JJS"})
ADVERBS = frozenset({"RB", "RBR", "RBS"})
VERBS = frozenset({"VB", "VBD", "VBG", "VBN", "VBP", "VBZ"})
TENSED = frozenset({"VBD", "VBP", "VBZ"})
FINITE = TENSED | {"MD"}
WH = frozenset({"WDT", "WP", "WP$", "WRB"})

HYPHENS = frozenset({"-", "‑"})
_IN_WORDS = frozenset("-‑/'’.&@_+")  # what may stand inside a word without parting it
_TITLE = re.compile(r"[\"“](?=[A-Z])([^\"“”\n]{1,80})[\"”]")  # of a song, a film, a book
_LONG_WORD = re.compile(r"(?<![\w'’])[^\W\d_]{4,}")
_NO_PUNCTUATION = frozenset("%@#&*§")  # punctuation by Unicode, signs that are read aloud by people


@dataclass(frozen=True, slots=True)
class Token:
    """A token: a word, a clitic (n't, 's), a number or a sign.

    Attributes:
        index: the position among the tokens of the text.
        start, end: offsets in the text.
        text: the text of the token.
        tag: the Penn Treebank tag of its part of speech.
    """

    index: int
    start: int
    end: int
    text: str
    tag: str

    @property
    def lower(self) -> str:
        """The text in small letters, with a plain apostrophe."""
        return self.text.lower().replace("’", "'")

    @property
    def is_punctuation(self) -> bool:
        """Whether the token has only punctuation marks."""
        return is_punctuation(self.text)


@dataclass(frozen=True, slots=True)
class Span:
    """A run of tokens: a word, a phrase, a sentence.

    Attributes:
        first, last: its first and last token, both included.
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
        text: the text, unchanged.
        tokens: the tokens. Every character that is not a blank lies in exactly one of them.
        sentences: runs of tokens, in order. Together they contain all tokens.
    """

    text: str
    tokens: tuple[Token, ...]
    sentences: tuple[Span, ...]

    @cached_property
    def words(self) -> tuple[Span, ...]:
        """Words as separated by blanks, without the punctuation around them: `isn't`, `well-known`, `$5`."""
        return tuple(self._words())

    @cached_property
    def word_at(self) -> tuple[int | None, ...]:
        """For each token, the position of its word among `words`; None for punctuation outside words."""
        places: list[int | None] = [None] * len(self.tokens)
        for place, word in enumerate(self.words):
            places[word.first : word.last + 1] = [place] * (word.last - word.first + 1)
        return tuple(places)

    @cached_property
    def sentence_at(self) -> tuple[int, ...]:
        """For each token, the position of its sentence among `sentences`."""
        return tuple(place for place, s in enumerate(self.sentences) for _ in range(s.first, s.last + 1))

    @cached_property
    def in_small_letters(self) -> tuple[bool, ...]:
        """For each sentence, whether a noun, verb or adjective is in small letters, so that capitals mean something."""
        return tuple(
            any(t.text.islower() and t.tag[:2] in ("NN", "VB", "JJ") for t in self.tokens[s.first : s.last + 1])
            for s in self.sentences
        )

    @cached_property
    def in_titles(self) -> frozenset[int]:
        """The tokens inside quoted titles, of which all longer words have capitals: `"It's Great to be Young"`."""
        spans = [
            m.span(1) for m in _TITLE.finditer(self.text) if all(w[0][0].isupper() for w in _LONG_WORD.finditer(m[1]))
        ]
        return frozenset(t.index for t in self.tokens for start, end in spans if start <= t.start < end)

    @cached_property
    def _heads(self) -> tuple[int, ...]:
        """For each sentence, the first token that is no punctuation; the last one if all are."""
        return tuple(
            next((i for i in range(s.first, s.last) if not self.tokens[i].is_punctuation), s.last)
            for s in self.sentences
        )

    def span(self, first: int, last: int) -> Span:
        """The tokens from `first` to `last`, both included."""
        return Span(first, last, self.tokens[first].start, self.tokens[last].end)

    def between(self, span: Span) -> str:
        """The text from the start of the first token to the end of the last."""
        return self.text[span.start : span.end]

    def touches(self, index: int) -> bool:
        """Whether there is no blank between a token and the one before it."""
        return index > 0 and self.tokens[index - 1].end == self.tokens[index].start

    def tied(self, index: int, last: int) -> int:
        """The last token, up to `last`, that hyphens without blanks tie to a token: `well-known`, `Anne-Marie`."""
        while index + 2 <= last and self.tokens[index + 1].text in HYPHENS:
            if not (self.touches(index + 1) and self.touches(index + 2)):
                break
            index += 2
        return index

    def low(self, index: int) -> str:
        """A token in small letters; nothing outside the text."""
        return self.tokens[index].lower if 0 <= index < len(self.tokens) else ""

    def tag(self, index: int) -> str:
        """The tag of a token; nothing outside the text."""
        return self.tokens[index].tag if 0 <= index < len(self.tokens) else ""

    def starts_sentence(self, index: int) -> bool:
        """Whether a token is the first of its sentence. Opening quotes and brackets are ignored."""
        return index <= self._heads[self.sentence_at[index]]

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
    """Whether a text has only punctuation marks. The grave accent is one of these; `%`, `@`, `#` and `&` are not."""
    return bool(text) and all(
        c == "`" or (unicodedata.category(c)[0] == "P" and c not in _NO_PUNCTUATION) for c in text
    )
