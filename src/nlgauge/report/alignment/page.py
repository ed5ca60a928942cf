"""An alignment as a page: the picture, and under it what a reader may want to look up or copy."""

from __future__ import annotations

from nlgauge.core.marks import Alignment
from nlgauge.core.result import Result
from nlgauge.report.alignment.sides import empty_sides, matches, measures
from nlgauge.report.alignment.svg import alignment_svg
from nlgauge.report.html import render
from nlgauge.report.labels import clean, number


def alignment_html(alignment: Alignment) -> str:
    """The alignment as one self-contained HTML file.

    It has the picture, and for each side a table of its words with their matches.
    """
    from markupsafe import Markup

    hypothesis, reference = matches(alignment)
    return render(
        "alignment.html",
        picture=Markup(alignment_svg(alignment)),
        sides=[("Hypothesis", "reference", "precision", hypothesis), ("Reference", "hypothesis", "recall", reference)],
        measures=measures(alignment),
        absence=empty_sides(alignment),
        signature=clean(str(alignment.signature)),
        number=number,
    )


def result_html(result: Result) -> str:
    """The same of a result of kind `align`."""
    return alignment_html(Alignment.of(result))
