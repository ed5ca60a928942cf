"""Inverse document frequencies of word pieces."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path

import numpy as np
import numpy.typing as npt

from nlgauge.core.errors import InputError
from nlgauge.core.metric import Documents
from nlgauge.core.segment import Segment
from nlgauge.models.encoder import Encoder
from nlgauge.models.tokens import Long, TextTokenizer
from nlgauge.runtime.pool import Incidence
from nlgauge.runtime.runtime import Runtime


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


def hypothesis_documents(segments: Sequence[Segment]) -> Documents:
    """All hypotheses as documents."""
    return Documents("hypotheses", None, [s.hypothesis for s in segments])


def reference_documents(segments: Sequence[Segment]) -> Documents:
    """All references as documents: an item's count once, however many systems are compared with them."""
    of: dict[Hashable, tuple[str, ...]] = {
        (s.item if s.item is not None else s.id, s.references): s.references for s in segments
    }
    return Documents("references", of, [reference for references in of.values() for reference in references])


def first_references(segments: Sequence[Segment]) -> Documents:
    """The first reference of each item, however many systems are compared with it."""
    of: dict[Hashable, tuple[str, ...]] = {
        (s.item if s.item is not None else s.id, s.references[0]): s.references[:1] for s in segments
    }
    return Documents("first-references", of, [reference for (reference,) in of.values()])


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
    _check(len(documents), least)
    seen = [np.unique(t.ids) for t in tokenizer.tokens(documents, long)]
    counts = np.bincount(np.concatenate(seen)) if seen else np.zeros(1, dtype=np.int64)
    return _table(counts, len(documents))


def from_call(
    corpora: Sequence[Documents],
    encoder: Encoder,
    runtime: Runtime,
    reading: Hashable,
    long: Long = "truncate",
    least: int = 2,
) -> list[Table]:
    """The same of documents of the call, or of all calls where this one is a part of a pool.

    Args:
        corpora: documents of the call, of several kinds.
        encoder: whose tokenizer reads them.
        runtime: says whether there is a pool.
        reading: what changes how the tokenizer of a model reads: the model, and the longest text.
        long: how it reads long texts.
        least: the number of documents below which frequencies are refused.

    Raises:
        InputError: there are fewer documents.
        Unsettled: the documents of the pool are not counted yet.
    """
    tokenizer = encoder.tokenizer
    if runtime.pool is None:
        return [from_documents(documents.texts, tokenizer, long, least) for documents in corpora]

    def gather(documents: Documents) -> Incidence:
        read = tokenizer.tokens(documents.texts, long)
        return Incidence.of(documents.kind, documents.keys(), [np.unique(t.ids).tolist() for t in read])

    wanted = {f"pieces of {one.kind}: {reading!r}, {long}": partial(gather, one) for one in corpora}
    tables = []
    for counted in runtime.pool.counts(wanted):
        _check(counted.n, least)
        pieces, found = (np.array([*column], dtype=np.int64) for column in (counted.of.keys(), counted.of.values()))
        counts = np.zeros(int(pieces.max(initial=0)) + 1, dtype=np.int64)
        counts[pieces] = found
        tables.append(_table(counts, counted.n))
    return tables


def _check(n: int, least: int) -> None:
    if n < least:
        raise InputError(
            f"idf needs at least two documents, found {n}: from one, every piece of it weighs nothing; "
            "score more segments in one call, or take frequencies from a file with idf_file=PATH"
        )


def _table(counts: npt.NDArray[np.int64], n: int) -> Table:
    return Table(np.log((n + 1) / (counts + 1)).astype(np.float32), n)


def from_file(path: str, tokenizer: TextTokenizer, long: Long = "truncate") -> Table:
    """Frequencies of a UTF-8 text file, plain or gzip, with one document per line.

    Blank lines are left out. A file is counted once, however often it is asked for.
    """
    return _counted(_content(path), tokenizer, long)


def file_identity(path: str) -> str:
    """The digest of the file, for a signature."""
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
