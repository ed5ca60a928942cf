"""An alignment: its words with their matches as a picture, in lines of text, and as a page."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.core.marks import Alignment
from nlgauge.report.drawing import ink, shade
from nlgauge.report.labels import ELLIPSIS, clean, columns, ems, fold, number, reads_right_to_left, shorten
from nlgauge.report.pages import render_template
from nlgauge.report.tables import Kind

MARGIN = 24.0
LABEL_EMS = 15.0  # longer words are shortened
SLANT = math.radians(45)
_MATRIX = 720.0  # what a matrix of many words may take; cells shrink down to _SMALLEST to stay within
_SMALLEST, _LARGEST = 16.0, 36.0
_HEADER, _LEGEND_LINE, _SIGNATURE_LINE = 38.0, 23.0, 15.0
_SIGNATURE_CHAR = 6.75  # of the monospaced 11 px type, on the generous side
_NARROWEST = 600.0


@dataclass(frozen=True)
class PictureLayout:
    """Sizes and positions that follow from the words alone.

    Attributes:
        rows: labels of the rows (hypothesis words); likewise `columns` (reference words).
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


def _label_ems(word: str) -> float:
    return min(ems(word), LABEL_EMS + ems(ELLIPSIS))


# --- The content of an alignment in every form: words with their matches, the three scores, and what is missing


@dataclass(frozen=True)
class Match:
    """One word and the word of the other side that is most similar to it.

    Attributes:
        word: the word as it is shown.
        index: its position among the words of its side.
        matched: the word that it is matched to, as it is shown.
        matched_index: the position of that word.
        similarity: the similarity of the two, in [-1, 1].
        weight: the share of the word in precision (hypothesis) or recall (reference), in [0, 1].
    """

    word: str
    index: int
    matched: str
    matched_index: int
    similarity: float
    weight: float


def matches(alignment: Alignment) -> tuple[list[Match], list[Match]]:
    """One match per word of the hypothesis, and one per word of the reference; none where the other side is empty."""
    hypothesis, reference = (tuple(map(clean, words)) for words in (alignment.hypothesis, alignment.reference))
    similarities = alignment.similarities
    return (
        [
            Match(hypothesis[i], i, reference[j], j, float(similarities[i, j]), float(alignment.hypothesis_weights[i]))
            for i, j in enumerate(alignment.hypothesis_matches)
            if j is not None
        ],
        [
            Match(reference[j], j, hypothesis[i], i, float(similarities[i, j]), float(alignment.reference_weights[j]))
            for j, i in enumerate(alignment.reference_matches)
            if i is not None
        ],
    )


def measures(alignment: Alignment) -> tuple[tuple[str, str], ...]:
    """Name and value of precision, recall and F1, in words and digits."""
    values = (("precision", alignment.precision), ("recall", alignment.recall), ("F1", alignment.f1))
    return tuple((name, "undefined" if math.isnan(value) else f"{value:.3f}") for name, value in values)


def summary(alignment: Alignment) -> str:
    """The three numbers in one line."""
    return "  ".join(f"{name} {value}" for name, value in measures(alignment))


def empty_sides(alignment: Alignment) -> str:
    """A sentence that names the sides without words; nothing where both have some."""
    if alignment.hypothesis and alignment.reference:
        return ""
    if not alignment.hypothesis and not alignment.reference:
        return "Both texts are empty: there is nothing to match."
    return f"The {'reference' if alignment.hypothesis else 'hypothesis'} is empty: there is nothing to match."


# --- The picture of an alignment: similarities as shades, matches as rails, weights as bars

# One colour a side: orange for what belongs to the hypothesis and precision, blue for the reference and recall (told
# apart by colour-blind eyes too).
HYPOTHESIS, REFERENCE = "#b45309", "#1d4ed8"
_TEXT, _QUIET, _LINE = "#1f2933", "#5b6672", "#c5ccd3"
_SANS = "'Helvetica Neue', Arial, 'Liberation Sans', 'Noto Sans', 'DejaVu Sans', sans-serif"
_MONO = "'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"
_FEW = 15  # words that can be followed without wider gaps
_MOST_TITLES = 10_000  # cells beyond which none has a title of its own, for the size of the file


def alignment_svg(alignment: Alignment) -> str:
    """The picture as one SVG document on white; it has no script and loads nothing.

    Rows are the words of the hypothesis, columns those of the reference. Rails above and below a cell mark the best
    match of its row, from which precision is computed. Rails at its left and right mark the best match of its column,
    from which recall is computed. A cell with both is framed. Bars show the weights. Cells show numbers where these
    can be read. A side without words is named in place of the matrix.

    References:
        Zhang et al. (2020), "BERTScore", figures 1 and 2.
    """
    return _Picture(alignment).draw()


class _Picture:
    def __init__(self, alignment: Alignment) -> None:
        self.data = alignment
        self.hypothesis, self.reference = (
            tuple(map(clean, words)) for words in (alignment.hypothesis, alignment.reference)
        )
        self.complete = bool(self.hypothesis and self.reference)
        self.rows, self.columns = matches(alignment)
        self.at = PictureLayout(self.hypothesis, self.reference, 5 if self.complete else 0, str(alignment.signature))
        self.root = Element(
            "svg",
            {
                "xmlns": "http://www.w3.org/2000/svg",
                "role": "img",
                "width": f"{self.at.width:g}",
                "height": f"{self.at.height:g}",
                "viewBox": f"0 0 {self.at.width:g} {self.at.height:g}",
                "font-family": _SANS,
                "font-size": "13",
                "fill": _TEXT,
            },
        )

    def draw(self) -> str:
        _add(self.root, "title", f"Token alignment: {summary(self.data)}")
        _add(self.root, "desc", self.description())
        _add(self.root, "rect", width=self.at.width, height=self.at.height, fill="#ffffff")
        self.header()
        self.row_labels()
        self.column_labels()
        if self.complete:
            self.cells()
            self.matches()
            self.legend()
        else:
            self.absence()
        lines = _add(self.root, "g", font_family=_MONO, font_size=11, fill=_QUIET)
        for i, line in enumerate(self.at.signature_lines):
            _add(lines, "text", line, x=MARGIN, y=self.at.signature_line(i))
        return ElementTree.tostring(self.root, encoding="unicode") + "\n"

    def description(self) -> str:
        if not self.complete:
            return empty_sides(self.data)
        rows, columns = (
            ", ".join(f"{m.word} → {m.matched} {number(m.similarity)}" for m in side)
            for side in (self.rows, self.columns)
        )
        return f"Best matches of the hypothesis words: {rows}. Best matches of the reference words: {columns}."

    def header(self) -> None:
        line = _add(self.root, "text", x=MARGIN, y=MARGIN + 14, font_size=17, font_weight="bold")
        for i, ((name, value), colour) in enumerate(
            zip(measures(self.data), (HYPOTHESIS, REFERENCE, _TEXT), strict=True)
        ):
            _add(line, "tspan", f"{name} {value}", fill=colour, dx=18 if i else 0)

    def _side(self, name: str, x: float, y: float, colour: str) -> None:
        """The name of the text along a side of the matrix."""
        style: dict[str, Any] = {"text_anchor": "end", "fill": colour, "font_size": 12, "font_weight": "bold"}
        _add(self.root, "text", name, x=x, y=y, **style)

    def row_labels(self) -> None:
        at, (_, height) = self.at, self.at.cell
        edge = at.left - (at.bar_number[0] + at.bar + 13 if self.hypothesis else 8)
        self._side("hypothesis ↓", edge, at.top - 8, HYPOTHESIS)
        labels = _add(self.root, "g", text_anchor="end", font_size=at.font, **{"class": "rows"})
        bars = _add(self.root, "g", fill=HYPOTHESIS, font_size=10, text_anchor="end", **{"class": "row-weights"})
        for i, (word, share) in enumerate(zip(self.hypothesis, bar_shares(self.data.hypothesis_weights), strict=True)):
            middle = at.top + (i + 0.5) * height
            _word(_add(labels, "text", x=edge, y=middle + at.font * 0.35), word)
            thickness, length = min(10, height * 0.5), at.bar * share
            weight = self.data.hypothesis_weights[i]
            bar = _rect(bars, at.left - 5 - length, middle - thickness / 2, length, thickness, fill_opacity=0.75)
            _add(bar, "title", f"{word}: {number(weight, 3)} of precision")
            if at.numbered:
                _add(bars, "text", number(weight), x=at.left - 8 - length, y=middle + 3.5)

    def column_labels(self) -> None:
        at, (width, _) = self.at, self.at.cell
        edge = at.top - (at.bar_number[1] + at.bar + 13 if self.reference else 8)
        corner = at.left - (at.bar_number[0] + at.bar + 13 if self.hypothesis else 8)
        self._side("reference →", corner, edge, REFERENCE)
        anchor = "middle" if at.level_labels else "start"
        labels = _add(self.root, "g", text_anchor=anchor, font_size=at.font, **{"class": "columns"})
        bars = _add(self.root, "g", fill=REFERENCE, font_size=10, text_anchor="middle", **{"class": "column-weights"})
        for j, (word, share) in enumerate(zip(self.reference, bar_shares(self.data.reference_weights), strict=True)):
            middle = at.left + (j + 0.5) * width
            slanted = {"transform": f"translate({middle + at.font * 0.25:g} {edge:g}) rotate(-45)"}
            place: dict[str, Any] = {"x": middle, "y": edge} if at.level_labels else slanted
            _word(_add(labels, "text", **place), word)
            thickness, length = min(10, width * 0.5), at.bar * share
            weight = self.data.reference_weights[j]
            bar = _rect(bars, middle - thickness / 2, at.top - 5 - length, thickness, length, fill_opacity=0.75)
            _add(bar, "title", f"{word}: {number(weight, 3)} of recall")
            if at.numbered:
                _add(bars, "text", number(weight), x=middle, y=at.top - 9 - length)

    def cells(self) -> None:
        at, (width, height) = self.at, self.at.cell
        low, high = similarity_scale(self.data.similarities)
        matched = {(match.index, match.matched_index) for match in self.rows}
        matched |= {(match.matched_index, match.index) for match in self.columns}
        titled = self.data.similarities.size <= _MOST_TITLES
        shades = _add(self.root, "g", **{"class": "cells"})
        style: dict[str, Any] = {"font_size": 11, "text_anchor": "middle", "pointer_events": "none", "class": "numbers"}
        numbers = _add(self.root, "g", **style)
        for i, hypothesis in enumerate(self.hypothesis):
            for j, reference in enumerate(self.reference):
                similarity = float(self.data.similarities[i, j])
                colour = "#ffffff" if math.isnan(similarity) else shade(round((similarity - low) / (high - low), 2))
                x, y = at.left + j * width, at.top + i * height
                cell = _rect(shades, x + 0.5, y + 0.5, width - 1, height - 1, fill=colour)
                if titled:
                    _add(cell, "title", f"{hypothesis} · {reference}: {number(similarity)}")
                if at.numbered:
                    middle: dict[str, Any] = {"x": x + width / 2, "y": y + height / 2 + 4, "fill": ink(colour)}
                    text = _add(numbers, "text", number(similarity), **middle)
                    if (i, j) in matched:
                        text.set("font-weight", "bold")
        # A wider gap after every fifth word helps the eye to keep its row and its column.
        rows, columns = range(5, len(self.hypothesis), 5), range(5, len(self.reference), 5)
        gaps = [f"M{at.left:g} {at.top + i * height:g}h{at.matrix[0]:g}" for i in rows if len(self.hypothesis) > _FEW]
        gaps += [f"M{at.left + j * width:g} {at.top:g}v{at.matrix[1]:g}" for j in columns if len(self.reference) > _FEW]
        _add(shades, "path", d="".join(gaps) or "M0 0", stroke="#ffffff", stroke_width=3)

    def matches(self) -> None:
        at, (width, height) = self.at, self.at.cell
        rows = _add(self.root, "g", pointer_events="none", **{"class": "row-matches"})
        columns = _add(self.root, "g", pointer_events="none", **{"class": "column-matches"})
        for match in self.rows:
            x, y = at.left + match.matched_index * width, at.top + match.index * height
            _rails(rows, x, y, width, height, across=True)
        for match in self.columns:
            x, y = at.left + match.index * width, at.top + match.matched_index * height
            _rails(columns, x, y, width, height, across=False)

    def legend(self) -> None:
        at, signs, text = self.at, MARGIN, MARGIN + 74
        group = _add(self.root, "g", font_size=12, **{"class": "legend"})
        low, high = similarity_scale(self.data.similarities)
        steps, y = 21, at.legend_line(0)
        for k in range(steps):
            _rect(group, text + 30 + 6 * k, y - 6, 6.2, 12, fill=shade(k / (steps - 1)))
        _rect(group, text + 30, y - 6, 6 * steps, 12, fill="none", stroke=_LINE)
        _add(group, "text", number(low), x=text + 25, y=y + 4, text_anchor="end")
        _add(group, "text", number(high), x=text + 35 + 6 * steps, y=y + 4)
        _add(group, "text", "similarity", x=signs, y=y + 4)
        longest = [number(max(match.weight for match in side), 3) for side in (self.rows, self.columns)]
        lengths = "" if at.numbered else f"; longest {longest[0]} and {longest[1]}"
        lines = (
            ("row", "best match of a hypothesis word: its row's maximum, counts in precision"),
            ("column", "best match of a reference word: its column's maximum, counts in recall"),
            ("both", "both at once"),
            ("bar", f"weight: share of a word in precision (left), in recall (above){lengths}"),
        )
        for k, (sign, line) in enumerate(lines, start=1):
            y = at.legend_line(k)
            x = signs + 18
            if sign == "bar":
                _rect(group, x, y - 4, 16, 8, fill=HYPOTHESIS, fill_opacity=0.75)
                _rect(group, x + 20, y - 8, 8, 16, fill=REFERENCE, fill_opacity=0.75)
            else:
                _rect(group, x, y - 9, 28, 18, fill=shade(0.55))
                for across in (True, False):
                    if sign in ("both", "row" if across else "column"):
                        _rails(group, x, y - 9, 28, 18, across=across)
            _add(group, "text", line, x=text, y=y + 4)

    def absence(self) -> None:
        at, (width, height) = self.at, self.at.matrix
        _rect(self.root, at.left, at.top, width, height, fill="none", stroke=_LINE, stroke_dasharray="5 4")
        x, y = at.left + width / 2, at.top + height / 2 + 4
        _add(self.root, "text", empty_sides(self.data), x=x, y=y, text_anchor="middle", fill=_QUIET)


def similarity_scale(similarities: Array) -> tuple[float, float]:
    """The similarities of the lightest and the darkest shade.

    They are the ends of the data, widened to twentieths and to at least .1.
    """
    defined = similarities[np.isfinite(similarities)]
    if not defined.size:
        return 0.0, 1.0
    low, high = math.floor(defined.min() * 20 + 1e-6) / 20, math.ceil(defined.max() * 20 - 1e-6) / 20
    return min(low, high - 0.1), high


def bar_shares(weights: Array) -> Array:
    """Lengths of bars in [0, 1], the longest 1; all 0 where no weight is positive."""
    lengths = np.nan_to_num(np.maximum(weights, 0.0))
    return np.asarray(lengths / max(float(lengths.max(initial=0.0)), 1e-12))


def _rails(parent: Element, x: float, y: float, width: float, height: float, *, across: bool) -> None:
    """Two rails inside a cell, above and below its middle (`across`) or left and right of it.

    Their white edges stand out from any shade.
    """
    thick = 3.0 if min(width, height) >= 24 else 2.5
    inset = 1 + thick / 2
    x1, x2, y1, y2 = x + inset, x + width - inset, y + inset, y + height - inset
    if across:
        path = f"M{x + 0.5:g} {y1:g}H{x + width - 0.5:g}M{x + 0.5:g} {y2:g}H{x + width - 0.5:g}"
    else:
        path = f"M{x1:g} {y + 0.5:g}V{y + height - 0.5:g}M{x2:g} {y + 0.5:g}V{y + height - 0.5:g}"
    _add(parent, "path", d=path, stroke="#ffffff", stroke_width=thick + 2)
    _add(parent, "path", d=path, stroke=HYPOTHESIS if across else REFERENCE, stroke_width=thick)


def _word(parent: Element, word: str) -> None:
    """Write a word; one that is too long is shortened, and its title holds it all."""
    shown = shorten(word, LABEL_EMS, ems)
    if reads_right_to_left(word):
        parent.set("unicode-bidi", "plaintext")  # the full stop of an Arabic word stands at its left
    if shown == word:
        parent.text = shown
    else:
        _add(parent, "title", word).tail = shown


def _rect(parent: Element, x: float, y: float, width: float, height: float, **attributes: object) -> Element:
    return _add(parent, "rect", None, x=x, y=y, width=width, height=height, **attributes)


def _add(parent: Element, tag: str, text: str | None = None, **attributes: object) -> Element:
    """A child element; attribute names bear "_" for "-", numbers are rounded to a hundredth of a pixel."""
    child = ElementTree.SubElement(parent, tag)
    for name, value in attributes.items():
        child.set(name.replace("_", "-"), f"{round(value, 2):g}" if isinstance(value, (int, float)) else str(value))
    child.text = text
    return child


# --- An alignment in lines of text: every word with its best match, and the matrix where it fits

_TEXT_NARROWEST = 24
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
    if width < _TEXT_NARROWEST:
        raise InputError(
            f"width is {width} columns, expected at least {_TEXT_NARROWEST}; make the terminal wider or write the"
            " picture to a file"
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
    heads = ((names[0], own), (names[1], other), ("similarity", similarity), ("weight", 6))
    lines = ["  ".join(_padded(*head) for head in heads)]
    for match in side:
        shown = f"{number(match.similarity):>4}" + (" " + _bar(match.similarity, bar) if bar > 0 else "")
        words = (_padded(match.word, own), _padded(match.matched, other))
        lines.append("  ".join([*words, shown, f"{number(match.weight, 3):>6}"]))
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


# --- An alignment as a page: the picture, and under it what a reader may want to look up or copy


def alignment_html(alignment: Alignment) -> str:
    """The alignment as one self-contained HTML file.

    It has the picture, and for each side a table of its words with their matches.
    """
    from markupsafe import Markup

    hypothesis, reference = matches(alignment)
    return render_template(
        "alignment.html",
        picture=Markup(alignment_svg(alignment)),
        sides=[("Hypothesis", "reference", "precision", hypothesis), ("Reference", "hypothesis", "recall", reference)],
        measures=measures(alignment),
        absence=empty_sides(alignment),
        signature=clean(str(alignment.signature)),
        number=number,
    )


KIND = Kind(page=lambda result: alignment_html(Alignment.of(result)))  # it has no tables of numbers
