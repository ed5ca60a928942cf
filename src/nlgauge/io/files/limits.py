"""How large a file, a line, a text may be: what is larger is refused in one line before memory is gone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, NoReturn

from nlgauge.core.errors import InputError, nearest

UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_SIZE = re.compile(r"([0-9]{1,15})([kMGT]?)")


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The largest inputs that are read. The defaults leave room for books, and for files of a hundred million rows.

    Attributes:
        segment: characters of one text. A long novel has 3 million.
        line: characters of one line, of a row of CSV that runs over several lines, or of an entry of a JSON array.
        file: bytes of one file, after it was unpacked.
        ratio: how many times larger a file may become when it is unpacked. Text becomes 3 to 10 times larger, the same
            line again and again a few hundred times. It counts from 100 MB on.
        array: bytes of a file that is one JSON array, which is held in memory.
        columns: columns of a table.
        depth: how deeply JSON may be nested.
    """

    segment: int = 10_000_000
    line: int = 50_000_000
    file: int = 10**12
    ratio: int = 200
    array: int = 1 << 30
    columns: int = 100_000
    depth: int = 100

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if type(value) is not int or value < 1:
                raise InputError(f"limit {name!r} is {value!r}, expected a whole number from 1")

    def check(self, name: str, size: int, where: str, *, is_whole: bool = True) -> None:
        """Refuse what is larger than a limit.

        Args:
            name: the limit.
            size: what came.
            where: file and line.
            is_whole: whether `size` is all of it, and not what has been read so far.

        Raises:
            InputError: the size is above the limit; the message says both and how to raise the limit.
        """
        if size > getattr(self, name):
            self._refuse(name, size, where, is_whole)

    def check_cells(self, cells: Sequence[str], where: str) -> None:
        """Refuse a row with a text that is longer than a segment may be."""
        self.check("segment", max(map(len, cells), default=0), where)

    def check_json(self, text: str, value: Any, where: str) -> None:
        """Refuse a value of JSON that is nested too deeply or holds too long a text."""
        if len(text) <= self.segment and text.count("[") + text.count("{") <= self.depth:
            return  # nearly always
        level, depth = [value], 0
        while level:
            depth += isinstance(level[0], list | dict) or any(isinstance(one, list | dict) for one in level)
            self.check("depth", depth, where, is_whole=False)
            self.check_cells([one for one in level if isinstance(one, str)], where)
            level = [
                inner
                for one in level
                if isinstance(one, list | dict)
                for inner in (one.values() if isinstance(one, dict) else one)
            ]

    def _refuse(self, name: str, size: int, where: str, is_whole: bool) -> NoReturn:
        most = getattr(self, name)
        more = "" if is_whole else "at least "
        enough = 2 * size if is_whole else max(2 * size, 10 * most)
        raise InputError(
            f"{where}: {_WHAT[name].format(size=f'{more}{size:,}')}, expected at most {most:,}; if that is meant, raise"
            f" the limit with --limits {name}={enough} (in Python Limits({name}={enough}))"
        )


_WHAT: Mapping[str, str] = {
    "segment": "a text of {size} characters",
    "line": "a line of {size} characters",
    "file": "{size} bytes unpacked",
    "ratio": "unpacked it is {size} times larger",
    "array": "one JSON array of {size} bytes (jq -c '.[]' makes JSON lines of it)",
    "columns": "{size} columns",
    "depth": "JSON that is {size} levels deep",
}
_current: ContextVar[Limits] = ContextVar("limits of what is read", default=Limits())  # noqa: B039 - it is frozen


def current() -> Limits:
    """The limits of files that are opened now."""
    return _current.get()


@contextmanager
def limited(limits: Limits) -> Iterator[None]:
    """Read files that are opened inside the block with other limits.

    Example:
        with limited(Limits(segment=50_000_000)):
            scores = read_scores("long.jsonl")
    """
    token = _current.set(limits)
    try:
        yield
    finally:
        _current.reset(token)


def parse_limits(typed: Sequence[str]) -> Limits:
    """The limits of `--limits`: `segment=20M,line=1G`; what is not named keeps its default.

    Raises:
        InputError: a name or a size is wrong.
    """
    known, given = [field.name for field in fields(Limits)], dict[str, int]()
    for pair in (pair.strip() for listed in typed for pair in listed.split(",")):
        name, _, size = (part.strip() for part in pair.partition("="))
        match = _SIZE.fullmatch(size)
        if name not in known:
            raise InputError(f"--limits {pair!r}: unknown limit {name!r}{nearest(name, known)}")
        if match is None or int(match[1]) < 1:
            raise InputError(f"--limits {pair!r}: expected {name}=SIZE with a whole number from 1, as in 500k, 20M, 1G")
        if name in given:
            raise InputError(f"--limits names {name!r} twice, expected once")
        given[name] = int(match[1]) * UNITS[match[2]]
    return replace(Limits(), **given)
