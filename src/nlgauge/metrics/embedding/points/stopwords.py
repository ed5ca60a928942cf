"""Stop words that a metric leaves out: the English list of the package, or a file."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from nlgauge.core.errors import InputError
from nlgauge.text.wordlists import data_lines

Stopwords = frozenset[str]
ENGLISH = "english"


def stopwords(name: str | None) -> Stopwords:
    """The words of a list.

    Args:
        name: `english`, or a UTF-8 file with words separated by blanks or line ends; None is no word.

    Raises:
        InputError: the file cannot be read.
    """
    return frozenset() if name is None else frozenset(_text(name).split())


def identity_of(name: str | None) -> str | None:
    """What pins the words in a signature."""
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
