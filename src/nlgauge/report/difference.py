"""Where two texts differ: the newer one in pieces, for a mark around what is new."""

from __future__ import annotations

import difflib
import re

from nlgauge.report.labels import ELLIPSIS

_SHARED = 0.5  # of the longer text: where less is shared, marks around words say nothing
_PIECES = re.compile(r"\s+|\w+|[^\w\s]")


def marked(before: str, after: str, opening: str = "[", closing: str = "]") -> str:
    """`after` with marks around what is not in `before`, and `[]` where something of `before` is gone."""
    return "".join(f"{opening}{part}{closing}" if new else part for part, new in pieces(before, after))


def difference(before: str, after: str, most: int) -> str:
    """`after` with marks, or `before → after` where less than half is shared; each text cut to `most` signs."""
    shared = sum(len(text.strip()) for text, new in pieces(before, after) if not new)
    longer = max(len("".join(text.split())) for text in (before, after))
    if shared >= _SHARED * longer:
        return _cut(marked(before, after), most)
    return f"{_cut(before, most)} → {_cut(after, most)}"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + ELLIPSIS


def pieces(before: str, after: str) -> list[tuple[str, bool]]:
    """`after`, cut into pieces that it shares with `before` and pieces that are new.

    An empty new piece marks a place where something is gone. New pieces with nothing but a space between them are one.
    """
    old, new = _PIECES.findall(before), _PIECES.findall(after)
    out: list[tuple[str, bool]] = []
    for op, _, _, start, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        piece = "".join(new[start:end])
        if op == "equal" or len(out) < 2 or not out[-2][1] or not out[-1][0].isspace():
            out.append((piece, op != "equal"))
        else:
            out[-2:] = [(out[-2][0] + out[-1][0] + piece, True)]
    return out
