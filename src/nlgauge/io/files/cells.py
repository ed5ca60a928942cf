"""Numbers in text: which cells hold a number, which stand for a missing one, and which are wrong."""

from __future__ import annotations

import math
import re

MISSING = frozenset({"", "none", "nan", "na", "null"})
# Python's float() takes more: 1_000, digits of other scripts, "infinity"; none of these is a score somebody meant.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def number(cell: str) -> float:
    """The number in a cell; NaN if the cell stands for none (`None`, `nan`, `NA`, `null` in any case, or empty).

    Raises:
        ValueError: the cell is neither. The message says what came and what was expected.
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
    """The position in a cell, counted from 1.

    Raises:
        ValueError: the cell holds no position. The message says what came and what was expected.
    """
    if not re.fullmatch(r"[0-9]{1,12}", cell) or int(cell) < 1:
        raise ValueError(f"{cell!r}, expected a whole number from 1")
    return int(cell)


def counted(n: int, one: str, several: str | None = None) -> str:
    """ "1 line", "2 lines"."""
    return f"{n} {one if n == 1 else several or one + 's'}"
