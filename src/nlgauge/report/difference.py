"""Where two texts differ: the newer one in pieces, for a mark around what is new."""

from __future__ import annotations

import difflib
import re

_PIECES = re.compile(r"\s+|\w+|[^\w\s]")


def marked(before: str, after: str, opening: str = "[", closing: str = "]") -> str:
    """`after` with marks around what is not in `before`, and `[]` where something of `before` is gone."""
    return "".join(f"{opening}{part}{closing}" if new else part for part, new in pieces(before, after))


def pieces(before: str, after: str) -> list[tuple[str, bool]]:
    """`after`, cut into pieces that it shares with `before` and pieces that are new.

    An empty new piece marks a place where something is gone.
    """
    old, new = _PIECES.findall(before), _PIECES.findall(after)
    out: list[tuple[str, bool]] = []
    for op, _, _, start, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        out.append(("".join(new[start:end]), op != "equal"))
    return out
