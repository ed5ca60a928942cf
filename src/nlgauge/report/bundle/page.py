"""Several results as one page: a contents list, and the page of each as a section."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jinja2 import TemplateError
from markupsafe import Markup

from nlgauge.core.errors import InputError
from nlgauge.core.result import Result
from nlgauge.report.bundle.explorer import explorer_of
from nlgauge.report.bundle.segments import Segments
from nlgauge.report.bundle.verdict import Verdict, verdict_of
from nlgauge.report.figure import data_url
from nlgauge.report.figures.bars import bar_figures
from nlgauge.report.figures.buckets import bucket_figures, quarter_figures
from nlgauge.report.figures.ranks import rank_figure
from nlgauge.report.figures.segments import correlation_figure, scatter_figures
from nlgauge.report.figures.systems import system_figures
from nlgauge.report.flat import csv
from nlgauge.report.html import render
from nlgauge.report.pages import page
from nlgauge.report.paths import names_of, without_folders
from nlgauge.report.trust import trust_of

_MOST = 9  # figures of one sort
_AGAINST = "Each point is an item that both systems wrote about; on the dashed line both have the same score."
_BUCKETED = (
    "Mean scores of segments with their 95 % intervals (Student's); n counts segments. For metrics of whole corpora,"
    " such as BLEU, they are no corpus scores."
)
_QUARTERED = "All segments by their score, cut into quarters: how many segments of each system are in each."
# What rows of another kind do to the making of a page.
_ODD = (
    ArithmeticError, AttributeError, LookupError, RuntimeError, StopIteration, TemplateError, TypeError, ValueError,
)  # fmt: skip
_HEADING = re.compile(r"(</?h)([1-5])(?=[ >])")


@dataclass(frozen=True)
class _Part:
    """One result on the page: where it stands, what it is about, its markup, and of scores what they come to."""

    anchor: str
    name: str
    about: str
    heading: Markup
    body: Markup
    rows: str
    verdict: Verdict | None


def bundle_html(results: Mapping[str, Result], title: str | None = None, segments: Segments | None = None) -> str:
    """Results as one self-contained HTML file; beside each score stands what the others say of its metric.

    Args:
        results: file -> its result, in the order of the page.
        title: what the page is called; None says what its scores are of.
        segments: scores of segments, shown behind the results.

    Raises:
        InputError: the rows of a result are not those of its kind.
    """
    names = names_of(list(results))
    anchors = {f"result-{i}": without_folders(result) for i, result in enumerate(results.values(), 1)}
    parts = [
        _part(anchor, path, names[path], result, anchors)
        for path, (anchor, result) in zip(results, anchors.items(), strict=True)
    ]
    shown = segments and _shown(segments)
    return render("bundle.html", title=_title(parts) if title is None else title, parts=parts, segments=shown)


def _title(parts: Sequence[_Part]) -> str:
    """What the page is about: the scores on it, or else its first part."""
    first = next((part for part in parts if part.verdict), parts[0] if parts else None)
    if first is None:
        return "Segments"
    return first.heading.striptags() + (f" by {first.about}" if first.verdict else "")


def _part(anchor: str, path: str, name: str, result: Result, anchors: Mapping[str, Result]) -> _Part:
    try:
        verdict = verdict_of(anchor, result, anchors) if result.kind == "score" else None
        whole = page(result, None, **_beside(anchor, result, anchors))
        rows = data_url("text/csv", csv(replace(result, metrics=()), spreadsheet=True))  # signatures stand above
    except _ODD as error:
        if isinstance(error, InputError):
            raise
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(
            f"{path}: its rows are not those of a result of kind {result.kind!r} ({reason:.200}); write it again with"
            " --json"
        ) from None
    heading, body = _inside(whole)
    about = ", ".join(str(metric["spec"]) for metric in result.metrics)
    return _Part(anchor, name, about, heading, body, rows, verdict)


def _beside(anchor: str, result: Result, anchors: Mapping[str, Result]) -> dict[str, Any]:
    """The parts of a result's section that its own page does not have; and the names of its places, here of many."""
    if result.kind == "choose":
        return {"anchor": anchor}
    if result.kind != "score":
        return {}
    ranks = rank_figure(result)
    figures = [bar_figures(result), *([[ranks]] if ranks else [])]
    return {"trust": trust_of(result, anchors), "figures": figures}


def _shown(segments: Segments) -> dict[str, Any]:
    """The content of the section of segments."""
    main, systems = segments.main, segments.systems
    groups = [
        ("Metrics and people", "", scatter_figures(main, systems)),
        ("System against system", _AGAINST, system_figures(main, systems, segments.items, segments.falling)),
        *((f"By {one.name}", _BUCKETED, bucket_figures(main, systems, one)) for one in segments.buckets),
        ("In quarters", _QUARTERED, quarter_figures(main, systems, segments.falling)),
    ]
    return {
        "n": len(segments.keys),
        "explorer": explorer_of(segments),
        "matrix": correlation_figure(main),
        "groups": [(title, note, figures[:_MOST], len(figures)) for title, note, figures in groups if figures],
    }


def _inside(whole: str) -> tuple[Markup, Markup]:
    """The heading of a page of ours, and all that it holds, with headings one level deeper.

    Tags can be told apart from the texts of users, in which every `<` is escaped.
    """
    body = whole.partition("<main>\n")[2].rpartition("</main>")[0]
    heading = body.partition("<h1>")[2].partition("</h1>")[0]
    return Markup(heading), Markup(_HEADING.sub(lambda found: f"{found[1]}{int(found[2]) + 1}", body))
