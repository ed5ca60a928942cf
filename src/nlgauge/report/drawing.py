"""Pieces of SVG pictures: text that is escaped and measured, a frame, a heat map of numbers with a sign."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from nlgauge.report.colours import ink
from nlgauge.report.labels import clean, ems, shorten

DARK, QUIET, RULE, GRID = "#1f2933", "#5b6672", "#9aa5b1", "#d9dee3"
SIZE = 12  # of letters, in pixels
_FAMILY = "Helvetica Neue, Arial, Liberation Sans, Noto Sans, DejaVu Sans, sans-serif"
_LONGEST = 32.0  # ems of a label; the whole text shows where the mouse rests
_ROW, _CELL, _EDGE = 22, 74, 8
_TURN = 35  # degrees of the labels over the columns


@dataclass(frozen=True)
class Cell:
    """A cell of a heat map: what stands in it, its colour (none where there is no number), and what the mouse shows."""

    text: str
    colour: str = ""
    title: str = ""


def text(
    x: float,
    y: float,
    label: str,
    *,
    anchor: str = "start",
    turn: int = 0,
    quiet: bool = False,
    bold: bool = False,
    size: int = SIZE,
    fill: str = "",
) -> str:
    """A text at a position: made safe for XML, escaped, and cut where it is too long; its title then holds it all."""
    from markupsafe import escape

    whole = clean(label)
    shown = shorten(whole, _LONGEST, ems)
    turned = f' transform="rotate({turn} {x:.1f} {y:.1f})"' if turn else ""
    weight = ' font-weight="600"' if bold else ""
    title = f"<title>{escape(whole)}</title>" if shown != whole else ""
    colour = fill or (QUIET if quiet else DARK)
    start = f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" fill="{colour}"{weight}{turned}>'
    return f"{start}{title}{escape(shown)}</text>"


def room(labels: Sequence[str], size: int = SIZE) -> float:
    """The width in pixels of the widest of some labels; 0 for none."""
    return max((size * ems(shorten(clean(label), _LONGEST, ems)) for label in labels), default=0.0)


def line(x1: float, y1: float, x2: float, y2: float, colour: str = RULE) -> str:
    """A straight line."""
    return f'<line x1="{x1:.1f}" x2="{x2:.1f}" y1="{y1:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def svg(width: float, height: float, label: str, parts: Sequence[str]) -> str:
    """A picture made of parts; the label is for those who cannot see it."""
    from markupsafe import escape

    w, h = math.ceil(width), math.ceil(height)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="img" '
        f'aria-label="{escape(clean(label))}" font-family="{_FAMILY}">{"".join(parts)}</svg>'
    )


def heat_map(
    label: str, columns: Sequence[str], rows: Sequence[tuple[str, str]], cells: Sequence[Sequence[Cell]]
) -> str:
    """A heat map as SVG.

    Args:
        label: what it shows, for those who cannot see it.
        columns: the names of the m columns, turned so that they need little room.
        rows: (block, name) of the n rows; the name of a block is written once, with a line above.
        cells: n by m.
    """
    blocks = room([block for block, _ in rows])
    left = _EDGE + (blocks + 2 * _EDGE if blocks else 0) + room([name for _, name in rows]) + _EDGE
    up, along = (f(math.radians(_TURN)) for f in (math.sin, math.cos))
    head = 2 * SIZE + up * room(columns)
    starts = [left + _CELL * (j + 0.5) for j in range(len(columns))]
    right = left + _CELL * len(columns)
    width = max([right, *(x + along * room([name]) for x, name in zip(starts, columns, strict=True))]) + SIZE
    parts = [text(x, head - 8, name, turn=-_TURN) for x, name in zip(starts, columns, strict=True)]
    before = None
    for i, ((block, name), own) in enumerate(zip(rows, cells, strict=True)):
        y = head + _ROW * i
        if block != before:
            parts.append(line(_EDGE, y, right, y))
            parts += [text(_EDGE, y + 15, block, quiet=True)] if block else []
            before = block
        parts.append(text(left - _EDGE, y + 15, name, anchor="end"))
        parts += [_cell(left + _CELL * j, y, cell) for j, cell in enumerate(own)]
    return svg(width, head + _ROW * len(rows) + 6, label, parts)


def _cell(x: float, y: float, cell: Cell) -> str:
    from markupsafe import escape

    middle = x + _CELL / 2
    if not cell.colour:
        return text(middle, y + 15, cell.text, anchor="middle", quiet=True, size=11)
    return (
        f'<g><title>{escape(clean(cell.title))}</title><rect x="{x + 1:.1f}" y="{y + 1:.1f}" width="{_CELL - 2}"'
        f' height="{_ROW - 2}"'
        f' fill="{cell.colour}"/>{text(middle, y + 15, cell.text, anchor="middle", fill=ink(cell.colour))}</g>'
    )
