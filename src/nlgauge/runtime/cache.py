"""The score cache: one SQLite file, keyed by signature and digest of the texts, so that no segment is scored twice."""

from __future__ import annotations

import json
import os
import sqlite3
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment
from nlgauge.core.spec import version

_SCHEMA = """
CREATE TABLE IF NOT EXISTS signatures (
    number INTEGER PRIMARY KEY, signature TEXT UNIQUE NOT NULL, columns TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS scores (
    signature INTEGER NOT NULL, key BLOB NOT NULL, row BLOB NOT NULL, checksum INTEGER, PRIMARY KEY (signature, key)
) WITHOUT ROWID;
"""
_SHAPE = ["signature", "key", "row", "checksum"]  # of the table
_UNWRITABLE = {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}
_ASK = 500  # keys in one query; SQLite's oldest limit on parameters is 999


_kept = 0  # rows that this process has stored


def kept() -> int:
    """How many scores this process has stored so far, in whatever file."""
    return _kept


def default_path() -> Path:
    """The user's cache file: `$NLGAUGE_CACHE` if it is set, else a file in the platform's cache folder."""
    base = (
        os.environ.get("XDG_CACHE_HOME")
        or (os.environ.get("LOCALAPPDATA") if os.name == "nt" else None)
        or _home() / ".cache"
    )
    return Path(os.path.expanduser(os.environ.get("NLGAUGE_CACHE") or f"{base}/nlgauge")) / "scores.sqlite"


def _home() -> Path:
    """The user's folder; where there is none, a place that cannot be written, so that the cache steps aside."""
    try:
        return Path.home()
    except RuntimeError:
        return Path(os.devnull)


def text_key(segment: Segment, needs: Iterable[str]) -> bytes:
    """A 16-byte digest of exactly the texts that a metric reads.

    Each text is preceded by its length, so that different segments never give the same bytes.
    """
    fields = [segment.hypothesis]
    needs = frozenset(needs)
    if "references" in needs:
        fields += ["r", *segment.references]
    if "source" in needs:
        fields += ["s", segment.source or ""]
    if "context" in needs:
        fields += ["c", json.dumps(segment.context, ensure_ascii=False, default=str)]
    if "table" in needs:
        fields += ["t", json.dumps(segment.table, ensure_ascii=False, default=str)]
    text = "".join([f"{len(f)}:{f}" for f in fields])
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


@dataclass(frozen=True)
class CacheState:
    """The outcome of a check of a cache.

    Attributes:
        rows: the number of rows.
        damaged: rows whose checksum is wrong.
        old: sound rows of other versions of nlgauge, which this one never reads.
        fault: why the file cannot be read to its end; None where it can.
    """

    rows: int = 0
    damaged: int = 0
    old: int = 0
    fault: str | None = None


def warn(note: str) -> None:
    """Say a note as Python says warnings."""
    warnings.warn(note, stacklevel=2)


class ScoreCache:
    """Rows of float64 by (signature, key). Several processes may use it at once. A killed run keeps what it stored.

    Each row has a checksum over its signature, its columns, its key and its numbers. A row that does not fit its
    checksum is treated as missing, so it is scored again and replaced.

    A cache that can no longer be written, as when the disk fills, steps aside: it finds and keeps nothing from then on.

    Args:
        path: the SQLite file. It and its folder are made when it is first read or written.
        optional: step aside as well if it cannot be written from the beginning.
        tell: called with a note when the cache steps aside.

    Raises:
        InputError: the file is not a score cache of nlgauge, or cannot be opened.
    """

    def __init__(self, path: str | Path, *, optional: bool = False, tell: Callable[[str], None] = warn) -> None:
        self.path = Path(os.path.expanduser(path))
        self.optional, self._tell = optional, tell
        self._aside = False
        self._connection: sqlite3.Connection | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """How another process gets it: by its path, since no connection goes there."""
        return partial(ScoreCache, optional=self.optional, tell=self._tell), (self.path,)

    def __del__(self) -> None:
        # A connection is part of a cycle, so that without this its journal stays beside the file for some time.
        with suppress(sqlite3.Error, AttributeError):  # opened in a thread that is gone, or never made whole
            self.close()

    def columns(self, signature: str) -> list[str] | None:
        """The names of the numbers in a row, or None if nothing that can be read is stored under the signature."""
        with self._connected() as connection:
            if connection is None:
                return None
            found = connection.execute("SELECT columns FROM signatures WHERE signature = ?", (signature,)).fetchone()
        return _listed(found[0]) if found else None

    def get(self, signature: str, keys: Sequence[bytes]) -> dict[bytes, npt.NDArray[np.float64]]:
        """The sound rows stored under any of `keys`."""
        found: dict[bytes, npt.NDArray[np.float64]] = {}
        with self._connected() as connection:
            if connection is None:
                return found
            stored = connection.execute(
                "SELECT number, columns FROM signatures WHERE signature = ?", (signature,)
            ).fetchone()
            number, columns = stored or (None, None)
            width, begun = _begun(signature, columns)
            for start in range(0, len(keys) if width else 0, _ASK):
                asked = keys[start : start + _ASK]
                marks = ",".join("?" * len(asked))
                query = f"SELECT key, row, checksum FROM scores WHERE signature = ? AND key IN ({marks})"
                for key, row, checksum in connection.execute(query, (number, *asked)):
                    if _is_sound(begun, width, key, row, checksum):
                        found[key] = np.frombuffer(row, dtype="<f8")
        return found

    def put(self, signature: str, columns: Sequence[str], keys: Sequence[bytes], rows: npt.NDArray[np.float64]) -> None:
        """Store rows, shape (len(keys), len(columns)), in one transaction.

        Rows that were stored under the signature with other columns are deleted.
        """
        named = json.dumps(list(columns))
        _, begun = _begun(signature, named)
        packed = [(key, row.tobytes()) for key, row in zip(keys, np.asarray(rows, dtype="<f8"), strict=True)]
        with self._connected(writes=True) as connection:
            if connection is None:
                return
            with connection:
                connection.execute(
                    "INSERT OR IGNORE INTO signatures (signature, columns) VALUES (?, ?)", (signature, named)
                )
                stored = connection.execute(
                    "SELECT number, columns FROM signatures WHERE signature = ?", (signature,)
                ).fetchone()
                if stored is None:
                    raise sqlite3.DatabaseError("a damaged index")
                number, before = stored
                if before != named:
                    connection.execute("DELETE FROM scores WHERE signature = ?", (number,))
                    connection.execute("UPDATE signatures SET columns = ? WHERE number = ?", (named, number))
                connection.executemany(
                    "INSERT OR REPLACE INTO scores VALUES (?, ?, ?, ?)",
                    [(number, key, row, _checksum(begun, key, row)) for key, row in packed],
                )
            global _kept
            _kept += len(packed)

    def count(self) -> int:
        """The number of rows stored under all signatures."""
        with self._connected() as connection:
            return 0 if connection is None else int(connection.execute("SELECT COUNT(*) FROM scores").fetchone()[0])

    def check(self) -> CacheState:
        """Read the whole file, and hold every row against its checksum."""
        with self._connected() as connection:
            if connection is None:
                return CacheState()
            try:
                faults = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
                signatures = self._signatures(connection)
                rows = damaged = old = 0
                for number, key, row, checksum in connection.execute("SELECT * FROM scores"):
                    width, begun, is_old = signatures.get(number, (0, 0, False))
                    rows += 1
                    if not _is_sound(begun, width, key, row, checksum):
                        damaged += 1
                    elif is_old:
                        old += 1
            except sqlite3.DatabaseError as error:
                return CacheState(fault=_reason(error))
        return CacheState(rows, damaged, old, None if faults == "ok" else str(faults).splitlines()[-1])

    def prune(self) -> CacheState:
        """Delete rows that are damaged or old; a file that cannot be read is deleted. Returns the state before."""
        state = self.check()
        if state.fault is not None:
            self.close()
            for ending in ("", "-wal", "-shm"):
                with suppress(FileNotFoundError):
                    os.unlink(f"{self.path}{ending}")
            return state
        with self._connected() as connection:
            if connection is None:
                return state
            with connection:
                signatures = self._signatures(connection)
                gone = [
                    (number, key)
                    for number, key, row, checksum in connection.execute("SELECT * FROM scores")
                    if (known := signatures.get(number)) is None
                    or known[2]
                    or not _is_sound(known[1], known[0], key, row, checksum)
                ]
                connection.executemany("DELETE FROM scores WHERE signature = ? AND key = ?", gone)
                connection.execute("DELETE FROM signatures WHERE number NOT IN (SELECT signature FROM scores)")
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return state

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @staticmethod
    def _signatures(connection: sqlite3.Connection) -> dict[int, tuple[int, int, bool]]:
        """Number of a signature -> the width of its rows, the beginning of their checksums, and whether it is old."""
        own = f"|nlgauge:{version('nlgauge')}"
        stored = connection.execute("SELECT number, signature, columns FROM signatures")
        return {n: (*_begun(signature, columns), not str(signature).endswith(own)) for n, signature, columns in stored}

    @contextmanager
    def _connected(self, writes: bool = False) -> Iterator[sqlite3.Connection | None]:
        """The open file; None once the cache has stepped aside. An error in it is reported in one line.

        A page can be damaged although the first page is sound. An error when scores are stored comes after they are
        made, so it costs the cache and not the scores.
        """
        if self._connection is None and not self._aside:
            try:
                self._connection = self._open()
            except (sqlite3.Error, OSError) as error:
                if not (self.optional and _is_unwritable(error)):
                    raise self._refusal(error) from None
                self._step_aside(error)
        try:
            yield self._connection
        except (sqlite3.Error, OSError) as error:
            if not writes:
                raise self._refusal(error) from None
            self._step_aside(error)

    def _refusal(self, error: Exception) -> InputError:
        advice = "delete it, name another with --cache, or pass --no-cache"
        return InputError(f"score cache {self.path} cannot be used ({_reason(error)}); {advice}")

    def _step_aside(self, error: Exception) -> None:
        self._aside = True
        with suppress(sqlite3.Error):
            self.close()
        self._connection = None
        self._tell(
            f"score cache {self.path} cannot be written ({_reason(error)}), so scores are not kept from here on; name"
            " another folder with --cache, or pass --no-cache"
        )

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self.path, timeout=60, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.executescript(_SCHEMA)
            if _shape(connection) != _SHAPE:
                raise sqlite3.DatabaseError("its tables are not those of a score cache")
        except sqlite3.Error:
            connection.close()
            raise
        return connection


def _listed(columns: object) -> list[str] | None:
    """The names that a list in JSON holds; None where it is broken."""
    try:
        names = json.loads(columns) if isinstance(columns, str) else None
    except (ValueError, RecursionError):
        return None
    return names if isinstance(names, list) and all(isinstance(name, str) for name in names) else None


def _begun(signature: object, columns: object) -> tuple[int, int]:
    """The bytes in a row, 0 where its columns are broken; and the checksum of what all rows of a signature share."""
    width = 8 * len(_listed(columns) or ())
    return width, zlib.crc32(f"{signature}\0{columns}".encode("utf-8", "surrogatepass"))


def _checksum(begun: int, key: bytes, row: bytes) -> int:
    return zlib.crc32(row, zlib.crc32(key, begun))


def _is_sound(begun: int, width: int, key: object, row: object, checksum: object) -> bool:
    """Whether a row is as it was stored; a damaged file gives values of any type."""
    if not isinstance(key, bytes) or not isinstance(row, bytes) or not width:
        return False
    return len(row) == width and checksum == _checksum(begun, key, row)


def _shape(connection: sqlite3.Connection) -> list[str]:
    return [column[1] for column in connection.execute("PRAGMA table_info(scores)")]


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())  # a damaged schema is quoted with its line breaks


def _is_unwritable(error: Exception) -> bool:
    code = getattr(error, "sqlite_errorcode", None)
    return isinstance(error, OSError) or (code is not None and code & 0xFF in _UNWRITABLE)
