"""An alignment in lines of text: every word with its best match, and the matrix where it fits."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import numpy as np

from nlgauge.core.errors import InputError
from nlgauge.core.marks import Alignment
from nlgauge.report.alignment.sides import Match, empty_sides, matches, summary
from nlgauge.report.labels import columns, fold, number, reads_right_to_left, shorten

_NARROWEST = 24
_WORD, _BAR, _HEADING = 24, 24, 12  # most columns of a word, a bar, a column heading of the matrix
_ISOLATED = "\u2068{}\u2069"  # keeps a right-to-left word from turning the numbers beside it round
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def alignment_text(alignment: Alignment, width: int = 80) -> str:
    """The alignment in lines of at most `width` terminal columns, without colours or control characters.

    Each word of the hypothesis stands with the reference word it is matched to, their similarity as a number and as a
    bar from 0 to 1, and its weight in precision; then each word of the reference likewise. The matrix of all
    similarities follows where the width allows.

    Raises:
        InputError: a width below 24.
    """
    if width < _NARROWEST:
        raise InputError(
            f"width is {width} columns, expected at least {_NARROWEST}; make the terminal wider or write the picture to"
            " a file"
        )
    blocks = [textwrap.wrap(summary(alignment), width)]
    if alignment.hypothesis and alignment.reference:
        hypothesis, reference = matches(alignment)
        blocks += [
            _table(hypothesis, ("hypothesis", "reference"), width),
            _table(reference, ("reference", "hypothesis"), width),
        ]
        blocks += [_matrix(alignment, (hypothesis, reference), width)]
    else:
        blocks += [textwrap.wrap(empty_sides(alignment), width)]
    blocks += [fold(str(alignment.signature), width)]
    return "\n\n".join("\n".join(line.rstrip() for line in block) for block in blocks if block)


def _table(side: Sequence[Match], names: tuple[str, str], width: int) -> list[str]:
    room = (width - 16) // 2  # beside the numbers and the gaps
    own = min(_WORD, room, max(columns(names[0]), *(columns(match.word) for match in side)))
    other = min(_WORD, room, max(columns(names[1]), *(columns(match.matched) for match in side)))
    bar = min(_BAR, width - own - other - 17)
    similarity = 4 + (bar + 1 if bar > 0 else 0)
    lines = [
        "  ".join(
            [_padded(names[0], own), _padded(names[1], other), _padded("similarity", similarity), _padded("weight", 6)]
        )
    ]
    for match in side:
        shown = f"{number(match.similarity):>4}" + (" " + _bar(match.similarity, bar) if bar > 0 else "")
        lines.append(
            "  ".join([_padded(match.word, own), _padded(match.matched, other), shown, f"{number(match.weight, 3):>6}"])
        )
    return lines


def _matrix(alignment: Alignment, sides: tuple[Sequence[Match], Sequence[Match]], width: int) -> list[str]:
    rows, reference = sides
    stub = min(_WORD, max(columns(match.word) for match in rows))
    widths = [max(5, min(_HEADING, columns(match.word))) + 1 for match in reference]
    if stub + sum(widths) > width:
        return []
    heading = " " * stub + "".join(
        _padded(match.word, size, right=True) for match, size in zip(reference, widths, strict=True)
    )
    signs = {(match.index, match.matched_index): "◂" for match in rows}
    for match in reference:
        cell = match.matched_index, match.index
        signs[cell] = "◆" if cell in signs else "▴"
    lines = textwrap.wrap("Hypothesis down, reference across. ◂ best of row, ▴ best of column, ◆ both.", width)
    lines.append(heading)
    for i, match in enumerate(rows):
        cells = (number(float(value)) + signs.get((i, j), " ") for j, value in enumerate(alignment.similarities[i]))
        lines.append(
            _padded(match.word, stub) + "".join(f"{cell:>{size}}" for cell, size in zip(cells, widths, strict=True))
        )
    return lines


def _padded(word: str, size: int, *, right: bool = False) -> str:
    shown = shorten(word, size - right)
    blank = " " * (size - columns(shown))
    shown = _ISOLATED.format(shown) if reads_right_to_left(shown) else shown
    return blank + shown if right else shown + blank


def _bar(share: float, size: int) -> str:
    eighths = round(8 * size * float(np.clip(np.nan_to_num(share), 0, 1)))
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(size)
