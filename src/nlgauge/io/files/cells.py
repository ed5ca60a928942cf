"""Numbers in text: what is one, what stands for none, and what is neither."""

from __future__ import annotations

import math
import re

MISSING = frozenset({"", "none", "nan", "na", "null"})
# Python's float() takes more: 1_000, digits of other scripts, "infinity"; none of these is a score somebody meant.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def number(cell: str) -> float:
    """The number a cell holds; NaN where it stands for none (`None`, `nan`, `NA`, `null` or nothing, in any case).

    Raises:
        ValueError: neither; its text says what came and what was expected.
    """
    cell = cell.strip(" \t\r")
    if cell.lower() in MISSING:
        return math.nan
    if _NUMBER.fullmatch(cell) is None:
        advice = "; write the decimal mark as a dot" if re.fullmatch(r"[+-]?[0-9]*,[0-9]+", cell) else ""
        raise ValueError(f"{cell!r}, expected a number or None{advice}")
    value = float(cell)
    if math.isinf(value):
        raise ValueError(f"{cell!r}, too large for a number of 64 bits")
    return value


def ordinal(cell: str) -> int:
    """The position a cell holds, counted from 1.

    Raises:
        ValueError: its text says what came and what was expected.
    """
    if not re.fullmatch(r"[0-9]{1,12}", cell) or int(cell) < 1:
        raise ValueError(f"{cell!r}, expected a whole number from 1")
    return int(cell)


def counted(n: int, one: str, several: str | None = None) -> str:
    """ "1 line", "2 lines"."""
    return f"{n} {one if n == 1 else several or one + 's'}"
