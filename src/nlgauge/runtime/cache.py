"""The score cache: one SQLite file, keyed by signature and digest of the texts, so that no segment is scored twice."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

import numpy as np
import numpy.typing as npt

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment

_SCHEMA = """
CREATE TABLE IF NOT EXISTS signatures (
    number INTEGER PRIMARY KEY, signature TEXT UNIQUE NOT NULL, columns TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS scores (
    signature INTEGER NOT NULL, key BLOB NOT NULL, row BLOB NOT NULL, PRIMARY KEY (signature, key)
) WITHOUT ROWID;
"""
_ASK = 500  # keys in one query; SQLite's oldest limit on parameters is 999


def default_path() -> Path:
    """The user's cache file: `$NLGAUGE_CACHE` if it is set, else a file in the platform's cache folder."""
    own = os.environ.get("NLGAUGE_CACHE")
    if own:
        return Path(own) / "scores.sqlite"
    base = (
        os.environ.get("XDG_CACHE_HOME")
        or (os.environ.get("LOCALAPPDATA") if os.name == "nt" else None)
        or Path.home() / ".cache"
    )
    return Path(base) / "nlgauge" / "scores.sqlite"


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


class ScoreCache:
    """Rows of float64 by (signature, key). Several processes may use it at once. A killed run keeps what it stored.

    Args:
        path: the SQLite file. It and its folder are made when it is first read or written.

    Raises:
        InputError: the file is not a score cache of nlgauge, or cannot be opened.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._connection: sqlite3.Connection | None = None

    def columns(self, signature: str) -> list[str] | None:
        """The names of the numbers in a row, or None if nothing is stored under the signature."""
        with self._connected() as connection:
            found = connection.execute("SELECT columns FROM signatures WHERE signature = ?", (signature,)).fetchone()
        return json.loads(found[0]) if found else None

    def get(self, signature: str, keys: Sequence[bytes]) -> dict[bytes, npt.NDArray[np.float64]]:
        """The rows stored under any of `keys`."""
        found: dict[bytes, npt.NDArray[np.float64]] = {}
        with self._connected() as connection:
            number = connection.execute("SELECT number FROM signatures WHERE signature = ?", (signature,)).fetchone()
            for start in range(0, len(keys) if number else 0, _ASK):
                asked = keys[start : start + _ASK]
                marks = ",".join("?" * len(asked))
                query = f"SELECT key, row FROM scores WHERE signature = ? AND key IN ({marks})"
                for key, row in connection.execute(query, (number[0], *asked)):
                    found[key] = np.frombuffer(row, dtype="<f8")
        return found

    def put(self, signature: str, columns: Sequence[str], keys: Sequence[bytes], rows: npt.NDArray[np.float64]) -> None:
        """Store rows, shape (len(keys), len(columns)), in one transaction.

        Rows that were stored under the signature with other columns are deleted.
        """
        named = json.dumps(list(columns))
        with self._connected() as connection, connection:
            connection.execute(
                "INSERT OR IGNORE INTO signatures (signature, columns) VALUES (?, ?)", (signature, named)
            )
            number, before = connection.execute(
                "SELECT number, columns FROM signatures WHERE signature = ?", (signature,)
            ).fetchone()
            if before != named:
                connection.execute("DELETE FROM scores WHERE signature = ?", (number,))
                connection.execute("UPDATE signatures SET columns = ? WHERE number = ?", (named, number))
            connection.executemany(
                "INSERT OR REPLACE INTO scores VALUES (?, ?, ?)",
                [(number, key, row.tobytes()) for key, row in zip(keys, np.asarray(rows, dtype="<f8"), strict=True)],
            )

    def count(self) -> int:
        """The number of rows stored under all signatures."""
        with self._connected() as connection:
            return int(connection.execute("SELECT COUNT(*) FROM scores").fetchone()[0])

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """The open file. An error in it is reported in one line, whenever it is found.

        A page can be damaged although the first page is sound.
        """
        try:
            if self._connection is None:
                self._connection = self._open()
            yield self._connection
        except (sqlite3.Error, OSError) as error:
            advice = "delete it, name another with --cache, or pass --no-cache"
            raise InputError(f"score cache {self.path} cannot be used ({error}); {advice}") from None

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self.path, timeout=60, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.executescript(_SCHEMA)
        except sqlite3.Error:
            connection.close()
            raise
        return connection
