"""Stop words that a metric leaves out: the English list of the package, or a file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import numpy as np

from nlgauge.core.arrays import Mask
from nlgauge.core.errors import InputError
from nlgauge.metrics.embedding.points.kernel import is_subword
from nlgauge.models.tokens import Ids, TextTokenizer
from nlgauge.text.scripts import data_lines

Stopwords = frozenset[str]
ENGLISH = "english"
_BEGINNINGS = ("\u0120", "\u2581")  # what byte-level and SentencePiece vocabularies write before a word: Ġthe, ▁the


def stopwords(name: str | None) -> Stopwords:
    """The words of a list.

    Args:
        name: `english`, or a UTF-8 file with words separated by blanks or line ends; None is no word.

    Raises:
        InputError: the file cannot be read.
    """
    return frozenset() if name is None else frozenset(_text(name).split())


def are_stopped(ids: Ids, content: slice, words: Stopwords, tokenizer: TextTokenizer) -> Mask:
    """Which pieces of a text are words of a list.

    WordPiece marks the pieces that continue a word (`##ing`). Other vocabularies mark those that begin one: `Ġthe` and
    `▁the` are the word, and `the` continues another. Only the first piece of a text may be a word without a mark.

    Args:
        ids: the pieces with special tokens, shape (T,).
        content: the places of the pieces that are no special tokens.
        words: the list.
        tokenizer: whose pieces they are.
    """
    if not words:
        return np.zeros(len(ids), dtype=np.bool_)
    names = tokenizer.names(ids)
    if tokenizer.which(_begins).sum() > tokenizer.which(is_subword).sum():
        names = [
            name[1:] if name.startswith(_BEGINNINGS) else name if place == content.start else ""
            for place, name in enumerate(names)
        ]
    return np.array([name in words for name in names], dtype=np.bool_)


def _begins(names: Sequence[str]) -> Mask:
    """Which pieces begin a word, as byte-level and SentencePiece vocabularies write them."""
    return np.array([name.startswith(_BEGINNINGS) for name in names], dtype=np.bool_)


def identity_of(name: str | None) -> str | None:
    """The digest of the words, for a signature."""
    return name if name in (None, ENGLISH) else f"sha256:{sha256(_text(str(name)).encode()).hexdigest()[:16]}"


def _text(name: str) -> str:
    if name == ENGLISH:
        return "\n".join(data_lines("stopwords.txt"))
    try:
        return _read(name, Path(name).stat().st_mtime_ns)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the stop words {name}: {error}; expected {ENGLISH} or a text file") from None


@lru_cache(maxsize=4)
def _read(name: str, mtime_ns: int) -> str:
    return Path(name).read_text(encoding="utf-8-sig")
