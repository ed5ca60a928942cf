"""The picture of an alignment: similarities as shades, matches as rails, weights as bars."""

from __future__ import annotations

import math
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.marks import Alignment
from nlgauge.report.alignment.layout import MARGIN, Layout, label
from nlgauge.report.alignment.sides import empty_sides, matches, measures, summary
from nlgauge.report.colours import ink, shade
from nlgauge.report.labels import clean, number, reads_right_to_left

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
        self.at = Layout(self.hypothesis, self.reference, 5 if self.complete else 0, str(alignment.signature))
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
            bar = _add(
                bars,
                "rect",
                x=at.left - 5 - length,
                y=middle - thickness / 2,
                width=length,
                height=thickness,
                fill_opacity=0.75,
            )
            _add(bar, "title", f"{word}: {number(weight, 3)} of precision")
            if at.numbered:
                _add(bars, "text", number(weight), x=at.left - 8 - length, y=middle + 3.5)

    def column_labels(self) -> None:
        at, (width, _) = self.at, self.at.cell
        edge = at.top - (at.bar_number[1] + at.bar + 13 if self.reference else 8)
        corner = at.left - (at.bar_number[0] + at.bar + 13 if self.hypothesis else 8)
        self._side("reference →", corner, edge, REFERENCE)
        labels = _add(
            self.root,
            "g",
            text_anchor="middle" if at.level_labels else "start",
            font_size=at.font,
            **{"class": "columns"},
        )
        bars = _add(self.root, "g", fill=REFERENCE, font_size=10, text_anchor="middle", **{"class": "column-weights"})
        for j, (word, share) in enumerate(zip(self.reference, bar_shares(self.data.reference_weights), strict=True)):
            middle = at.left + (j + 0.5) * width
            if at.level_labels:
                _word(_add(labels, "text", x=middle, y=edge), word)
            else:
                _word(
                    _add(labels, "text", transform=f"translate({middle + at.font * 0.25:g} {edge:g}) rotate(-45)"), word
                )
            thickness, length = min(10, width * 0.5), at.bar * share
            weight = self.data.reference_weights[j]
            bar = _add(
                bars,
                "rect",
                x=middle - thickness / 2,
                y=at.top - 5 - length,
                width=thickness,
                height=length,
                fill_opacity=0.75,
            )
            _add(bar, "title", f"{word}: {number(weight, 3)} of recall")
            if at.numbered:
                _add(bars, "text", number(weight), x=middle, y=at.top - 9 - length)

    def cells(self) -> None:
        at, (width, height) = self.at, self.at.cell
        low, high = similarity_scale(self.data.similarities)
        matched = {(match.index, match.matched_index) for match in self.rows} | {
            (match.matched_index, match.index) for match in self.columns
        }
        titled = self.data.similarities.size <= _MOST_TITLES
        shades = _add(self.root, "g", **{"class": "cells"})
        numbers = _add(
            self.root, "g", font_size=11, text_anchor="middle", pointer_events="none", **{"class": "numbers"}
        )
        for i, hypothesis in enumerate(self.hypothesis):
            for j, reference in enumerate(self.reference):
                similarity = float(self.data.similarities[i, j])
                colour = "#ffffff" if math.isnan(similarity) else shade(round((similarity - low) / (high - low), 2))
                x, y = at.left + j * width, at.top + i * height
                cell = _add(shades, "rect", x=x + 0.5, y=y + 0.5, width=width - 1, height=height - 1, fill=colour)
                if titled:
                    _add(cell, "title", f"{hypothesis} · {reference}: {number(similarity)}")
                if at.numbered:
                    text = _add(
                        numbers, "text", number(similarity), x=x + width / 2, y=y + height / 2 + 4, fill=ink(colour)
                    )
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
            _rails(
                rows, at.left + match.matched_index * width, at.top + match.index * height, width, height, across=True
            )
        for match in self.columns:
            _rails(
                columns,
                at.left + match.index * width,
                at.top + match.matched_index * height,
                width,
                height,
                across=False,
            )

    def legend(self) -> None:
        at, signs, text = self.at, MARGIN, MARGIN + 74
        group = _add(self.root, "g", font_size=12, **{"class": "legend"})
        low, high = similarity_scale(self.data.similarities)
        steps, y = 21, at.legend_line(0)
        for k in range(steps):
            _add(group, "rect", x=text + 30 + 6 * k, y=y - 6, width=6.2, height=12, fill=shade(k / (steps - 1)))
        _add(group, "rect", x=text + 30, y=y - 6, width=6 * steps, height=12, fill="none", stroke=_LINE)
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
                _add(group, "rect", x=x, y=y - 4, width=16, height=8, fill=HYPOTHESIS, fill_opacity=0.75)
                _add(group, "rect", x=x + 20, y=y - 8, width=8, height=16, fill=REFERENCE, fill_opacity=0.75)
            else:
                _add(group, "rect", x=x, y=y - 9, width=28, height=18, fill=shade(0.55))
                for across in (True, False):
                    if sign in ("both", "row" if across else "column"):
                        _rails(group, x, y - 9, 28, 18, across=across)
            _add(group, "text", line, x=text, y=y + 4)

    def absence(self) -> None:
        at, (width, height) = self.at, self.at.matrix
        _add(
            self.root,
            "rect",
            x=at.left,
            y=at.top,
            width=width,
            height=height,
            fill="none",
            stroke=_LINE,
            stroke_dasharray="5 4",
        )
        _add(
            self.root,
            "text",
            empty_sides(self.data),
            x=at.left + width / 2,
            y=at.top + height / 2 + 4,
            text_anchor="middle",
            fill=_QUIET,
        )


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
    shown = label(word)
    if reads_right_to_left(word):
        parent.set("unicode-bidi", "plaintext")  # the full stop of an Arabic word stands at its left
    parent.text = shown
    if shown != word:
        parent.text = None
        title = _add(parent, "title", word)
        title.tail = shown


def _add(parent: Element, tag: str, text: str | None = None, **attributes: object) -> Element:
    """A child element; attribute names bear "_" for "-", numbers are rounded to a hundredth of a pixel."""
    child = ElementTree.SubElement(parent, tag)
    for name, value in attributes.items():
        child.set(name.replace("_", "-"), f"{round(value, 2):g}" if isinstance(value, (int, float)) else str(value))
    child.text = text
    return child
