"""Where two texts differ: the newer one in pieces, for a mark around what is new."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

_BESIDE = 50  # pieces that are alike on either side of what differs
_PIECES = re.compile(r"\s+|\w+|[^\w\s]")


def marked(before: str, after: str, opening: str = "[", closing: str = "]") -> str:
    """`after` with marks around what is not in `before`, and `[]` where something of `before` is gone."""
    return "".join(f"{opening}{part}{closing}" if new else part for part, new in pieces(before, after))


def shared(before: str, after: str) -> float:
    """The share of the longer text that both have, in [0, 1]; white space does not count."""
    both = sum(len("".join(text.split())) for text, new in pieces(before, after) if not new)
    longer = max(len("".join(text.split())) for text in (before, after))
    return both / longer if longer else 1.0


def pieces(before: str, after: str) -> list[tuple[str, bool]]:
    """`after`, cut into pieces that it shares with `before` and pieces that are new.

    An empty new piece marks a place where something is gone. New pieces with nothing but a space between them are one.
    """
    old, new = _PIECES.findall(before), _PIECES.findall(after)
    # Long texts often differ in one place, and matching is quadratic: what is alike far from it is not looked at.
    same = _alike(old, new)
    head = max(0, same - _BESIDE)
    tail = max(0, _alike(old[same:][::-1], new[same:][::-1]) - _BESIDE)
    looked_at = old[head : len(old) - tail], new[head : len(new) - tail]
    out: list[tuple[str, bool]] = []
    for op, _, _, start, end in difflib.SequenceMatcher(None, *looked_at, autojunk=False).get_opcodes():
        piece = "".join(looked_at[1][start:end])
        if op == "equal" or len(out) < 2 or not out[-2][1] or not out[-1][0].isspace():
            out.append((piece, op != "equal"))
        else:
            out[-2:] = [(out[-2][0] + out[-1][0] + piece, True)]
    if head:  # both ends of what was looked at are alike
        out[0] = "".join(new[:head]) + out[0][0], False
    if tail:
        out[-1] = out[-1][0] + "".join(new[len(new) - tail :]), False
    return out


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many pieces two texts begin with alike."""
    least = min(len(one), len(other))
    return next((i for i in range(least) if one[i] != other[i]), least)
