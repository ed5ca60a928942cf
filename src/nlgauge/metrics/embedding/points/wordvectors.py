"""Static word vectors from a text file, read like the pieces of an encoder."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.models.encoder import Vectors
from nlgauge.models.tokens import Ids, Tokens
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.tokenize import unicode_words

UNKNOWN = 0  # the number of every word without a vector
_BOM = "\ufeff".encode()
_NO_FRAME: Ids = np.zeros(0, dtype=np.int64)


class WordVectors:
    """The vectors of the words that were asked for so far. It reads texts and gives vectors as an encoder does.

    A word is found in its folded form (small letters); if the file lacks it, the first form that folds to it counts.

    Args:
        path: a file of GloVe or word2vec as text: a word and its numbers per line, plain or gzip. A first line with the
            number of words and dimensions is passed over.
    """

    depth = 0
    prefix = suffix = _NO_FRAME

    def __init__(self, path: str) -> None:
        self.path = path
        self.width = 0
        self._numbers: dict[str, int] = {}  # word -> its number, `UNKNOWN` if the file lacks it
        self._words = [""]
        self._rows: list[npt.NDArray[np.float32]] = []

    @property
    def tokenizer(self) -> WordVectors:
        """The reader of texts: the file itself."""
        return self

    def tokens(self, texts: Sequence[str], long: str = "windows") -> list[Tokens]:
        """The words of each text; nothing is cut."""
        words = [unicode_words(text) for text in texts]
        self._look_up({word for found in words for word in found} - self._numbers.keys())
        numbers = [np.array([self._numbers[word] for word in found], dtype=np.int64) for found in words]
        return [Tokens(ids, len(ids), False) for ids in numbers]

    def content(self, tokens: Tokens) -> Ids:
        """The words of a text, shape (n,)."""
        return tokens.ids

    def unknown_shares(self, contents: Iterable[Ids]) -> Array:
        """The share of words without a vector in each text, shape (n,); 0 for a text without words."""
        return np.array([float((ids == UNKNOWN).mean()) if len(ids) else 0.0 for ids in contents], dtype=np.float64)

    def names(self, numbers: Ids) -> list[str]:
        """The words with these numbers; "" for the unknown."""
        return [self._words[number] for number in numbers.tolist()]

    def encode_layers(
        self, tokens: Sequence[Tokens], layers: Sequence[int], advance: Callable[[int], None]
    ) -> list[Vectors]:
        """Unit vectors of the words of each text, as the only layer; words without a vector have zeros."""
        table = np.vstack([np.zeros((1, self.width), dtype=np.float32), *self._rows])
        lengths = np.array([len(t.ids) for t in tokens], dtype=np.int64)
        matrix: Any = table[np.concatenate([t.ids for t in tokens])]
        norms: Any = np.linalg.norm(matrix, axis=1, keepdims=True)
        matrix = matrix / np.maximum(norms, np.finfo(np.float32).tiny)
        advance(int(lengths.sum()))
        return [Vectors(matrix, np.cumsum(lengths) - lengths, lengths, norms)]

    def _look_up(self, wanted: set[str]) -> None:
        """Read the file once from beginning to end, and keep the vectors of these words only."""
        if not wanted:
            return
        exact: dict[str, npt.NDArray[np.float32]] = {}
        folded: dict[str, npt.NDArray[np.float32]] = {}
        try:
            with _opened(self.path) as file:
                for number, line in enumerate(file, 1):
                    line = line.removeprefix(_BOM) if number == 1 else line
                    word = self._word(line, number)
                    if word in wanted and word not in exact:
                        exact[word] = self._vector(line, number)
                    elif word is not None and (fold := word.casefold()) in wanted and fold not in folded:
                        folded[fold] = self._vector(line, number)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"cannot read the word vectors {self.path}: {error}") from None
        for word in sorted(wanted):
            vector = exact.get(word, folded.get(word))
            self._numbers[word] = UNKNOWN if vector is None else len(self._words)
            if vector is not None:
                self._words.append(word)
                self._rows.append(vector)

    def _word(self, line: bytes, number: int) -> str | None:
        """The word of a line; None in a first line of sizes. The first line with a vector says how many numbers."""
        fields = line.split()
        if number == 1 and len(fields) == 2 and all(field.isdigit() for field in fields):
            return None
        if not self.width:
            self.width = len(fields) - 1
            if self.width < 1 or len(line.rstrip().rsplit(b" ", self.width)) <= self.width:
                raise InputError(f"{self.path}:{number}: expected a word and its numbers, separated by blanks")
        return line.rstrip().rsplit(b" ", self.width)[0].decode("utf-8", "replace")

    def _vector(self, line: bytes, number: int) -> npt.NDArray[np.float32]:
        try:
            vector = np.array(line.rstrip().rsplit(b" ", self.width)[1:], dtype=np.float32)
        except ValueError:
            vector = np.zeros(0, dtype=np.float32)
        if len(vector) != self.width or not np.isfinite(vector).all():
            raise InputError(f"{self.path}:{number}: expected a word and {self.width} numbers, separated by blanks")
        return vector


def load_vectors(path: str, runtime: Runtime) -> WordVectors:
    """The vectors of a file; a runtime holds those that were asked for."""
    return runtime.once(("word vectors", path, vectors_identity(path)), lambda: WordVectors(path))


def vectors_identity(path: str) -> str:
    """The digest of the file, for a signature.

    Raises:
        InputError: it cannot be read.
    """
    try:
        status = Path(path).stat()
        return _identity(path, status.st_mtime_ns, status.st_size)
    except OSError as error:
        raise InputError(f"cannot read the word vectors {path}: {error}") from None


@lru_cache(maxsize=8)
def _identity(path: str, mtime_ns: int, size: int) -> str:
    digest = sha256()
    with Path(path).open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return f"sha256:{digest.hexdigest()[:16]}"


def _opened(path: str) -> IO[bytes]:
    return gzip.open(path, "rb") if path.endswith(".gz") else Path(path).open("rb")  # type: ignore[return-value]
