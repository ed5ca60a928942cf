"""Inverse document frequencies of word pieces."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

import numpy as np
import numpy.typing as npt

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment
from nlgauge.models.tokens import Long, TextTokenizer


@dataclass(frozen=True)
class Table:
    """idf of every piece id: log((N + 1) / (df + 1)), with df = 0 for ids beyond the table.

    Attributes:
        values: shape (largest id seen + 1,).
        n_documents: N.
    """

    values: npt.NDArray[np.float32]
    n_documents: int

    def weights(self, pieces: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """The idf of each piece, shape of `pieces`."""
        unseen = np.float32(np.log(self.n_documents + 1))
        in_table = pieces < len(self.values)
        return np.where(in_table, self.values[np.where(in_table, pieces, 0)], unseen)


def reference_documents(segments: Sequence[Segment]) -> list[str]:
    """All references as documents: an item's count once, however many systems are compared with them."""
    documents = {(s.item if s.item is not None else s.id, s.references): s.references for s in segments}
    return [reference for references in documents.values() for reference in references]


def first_references(segments: Sequence[Segment]) -> list[str]:
    """The first reference of each item, however many systems are compared with it."""
    return list({(s.item if s.item is not None else s.id, s.references[0]): s.references[0] for s in segments}.values())


def from_documents(
    documents: Sequence[str], tokenizer: TextTokenizer, long: Long = "truncate", least: int = 2
) -> Table:
    """Document frequencies with plus-one smoothing; special tokens are in every document, so their idf is 0.

    Args:
        documents: texts; one that occurs twice counts twice.
        tokenizer: what reads them.
        long: how it reads long ones.
        least: the number of documents below which frequencies are refused.

    Raises:
        InputError: there are fewer documents.

    References:
        Zhang et al. (2020), section 3, "Importance Weighting".
    """
    if len(documents) < least:
        raise InputError(
            f"idf needs at least two documents, found {len(documents)}: from one, every piece of it weighs nothing; "
            "score more segments in one call, or take frequencies from a file with idf_file=PATH"
        )
    seen = [np.unique(t.ids) for t in tokenizer.tokens(documents, long)]
    counts = np.bincount(np.concatenate(seen)) if seen else np.zeros(1, dtype=np.int64)
    return Table(np.log((len(documents) + 1) / (counts + 1)).astype(np.float32), len(documents))


def from_file(path: str, tokenizer: TextTokenizer, long: Long = "truncate") -> Table:
    """Frequencies of a UTF-8 text file, plain or gzip, with one document per line.

    Blank lines are left out. A file is counted once, however often it is asked for.
    """
    return _counted(_content(path), tokenizer, long)


def file_identity(path: str) -> str:
    """What pins the file's content in a signature."""
    return "sha256:" + sha256(_content(path)).hexdigest()[:16]


@lru_cache(maxsize=4)
def _counted(content: bytes, tokenizer: TextTokenizer, long: Long) -> Table:
    return from_documents([line for line in content.decode("utf-8-sig").split("\n") if line.strip()], tokenizer, long)


def _content(path: str) -> bytes:
    """The file's bytes, known to be UTF-8.

    Raises:
        InputError: it cannot be read, or is not UTF-8.
    """
    try:
        status = Path(path).stat()
        return _read(path, status.st_mtime_ns, status.st_size)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"cannot read the idf documents {path}: {error}") from None


@lru_cache(maxsize=4)
def _read(path: str, mtime_ns: int, size: int) -> bytes:
    content = gzip.decompress(Path(path).read_bytes()) if path.endswith(".gz") else Path(path).read_bytes()
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InputError(
            f"{path}:{line}: not UTF-8 (byte {error.start}); expected a text file with one document per line"
        ) from None
    return content
