"""Positions and sizes in the picture of an alignment, in pixels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from nlgauge.report.labels import ELLIPSIS, ems, fold, shorten

MARGIN = 24.0
LABEL_EMS = 15.0  # longer words are shortened
SLANT = math.radians(45)
_MATRIX = 720.0  # what a matrix of many words may take; cells shrink down to _SMALLEST to stay within
_SMALLEST, _LARGEST = 16.0, 36.0
_HEADER, _LEGEND_LINE, _SIGNATURE_LINE = 38.0, 23.0, 15.0
_SIGNATURE_CHAR = 6.75  # of the monospaced 11 px type, on the generous side
_NARROWEST = 600.0


@dataclass(frozen=True)
class Layout:
    """Sizes and positions that follow from the words alone.

    Attributes:
        rows: labels of the rows (hypothesis words); likewise `columns` (reference words).
        legend_lines: the number of lines in the legend.
        signature: the text under the legend.
    """

    rows: Sequence[str]
    columns: Sequence[str]
    legend_lines: int
    signature: str

    @cached_property
    def level_labels(self) -> bool:
        """Whether the column labels stand level, in columns as wide as they need.

        Otherwise they are slanted over narrow columns.
        """
        return (
            bool(self.columns)
            and len(self.columns) * self._level_width <= _MATRIX
            and len(self.rows) * _LARGEST <= _MATRIX
        )

    @cached_property
    def _level_width(self) -> float:
        return max(_LARGEST + 10, 14 + 13 * max(map(_label_ems, self.columns), default=0))

    @cached_property
    def _square(self) -> float:
        return min(_LARGEST, max(_SMALLEST, math.floor(_MATRIX / max(len(self.rows), len(self.columns), 1))))

    @property
    def cell(self) -> tuple[float, float]:
        """Width and height of a cell."""
        return (self._level_width, _LARGEST) if self.level_labels else (self._square, self._square)

    @property
    def numbered(self) -> bool:
        """Whether cells have room for numbers."""
        return self.cell[0] >= 29

    @property
    def font(self) -> float:
        """Size of the labels."""
        return 13.0 if self.cell[1] >= 24 else 12.0 if self.cell[1] >= 18 else 11.0

    @property
    def bar(self) -> float:
        """Length of the longest weight bar."""
        return 40.0 if self.numbered else 32.0

    @property
    def bar_number(self) -> tuple[float, float]:
        """Room for the number at the end of a bar: width beside rows, height above columns.

        There is none where cells have no numbers.
        """
        return (28.0, 14.0) if self.numbered else (0.0, 0.0)

    @cached_property
    def left(self) -> float:
        """The left edge of the matrix."""
        labels = self.font * max(map(_label_ems, self.rows), default=0)
        return MARGIN + max(labels, 84) + 8 + (self.bar_number[0] + self.bar + 5 if self.rows else 0)

    @cached_property
    def top(self) -> float:
        """The top edge of the matrix."""
        longest = self.font * max(map(_label_ems, self.columns), default=0)
        labels = self.font * 1.4 if self.level_labels else max(longest * math.sin(SLANT) + self.font, 20)
        return MARGIN + _HEADER + labels + 8 + (self.bar_number[1] + self.bar + 5 if self.columns else 0)

    @property
    def matrix(self) -> tuple[float, float]:
        """Width and height of the matrix, or of the box that says why there is none."""
        width, height = len(self.columns) * self.cell[0], len(self.rows) * self.cell[1]
        return (width, height) if self.rows and self.columns else (max(width, 340), max(height, 56))

    @property
    def legend_top(self) -> float:
        """Where the legend begins."""
        return self.top + self.matrix[1] + 26

    @property
    def signature_top(self) -> float:
        """Where the signature begins."""
        return self.legend_top + self.legend_lines * _LEGEND_LINE + 10

    @cached_property
    def width(self) -> float:
        """The width of the whole picture."""
        right = self.left + self.matrix[0]
        if not self.level_labels:  # slanted labels lean out over the right edge
            ends = (
                self.left + (j + 0.5) * self.cell[0] + _label_ems(word) * self.font * math.cos(SLANT)
                for j, word in enumerate(self.columns)
            )
            right = max(right, *ends, 0)
        return math.ceil(max(right + MARGIN, _NARROWEST))

    @cached_property
    def signature_lines(self) -> list[str]:
        """The signature in lines no wider than the picture."""
        return fold(self.signature, int((self.width - 2 * MARGIN) / _SIGNATURE_CHAR))

    @property
    def height(self) -> float:
        """The height of the whole picture."""
        return math.ceil(self.signature_top + len(self.signature_lines) * _SIGNATURE_LINE + MARGIN - 6)

    def legend_line(self, index: int) -> float:
        """Middle of a line of the legend."""
        return self.legend_top + (index + 0.5) * _LEGEND_LINE

    def signature_line(self, index: int) -> float:
        """Baseline of a line of the signature."""
        return self.signature_top + (index + 0.8) * _SIGNATURE_LINE


def label(word: str) -> str:
    """The word as it is shown in the picture."""
    return shorten(word, LABEL_EMS, ems)


def _label_ems(word: str) -> float:
    return min(ems(word), LABEL_EMS + ems(ELLIPSIS))
