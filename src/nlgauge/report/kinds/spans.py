"""Marked errors against those of people: agreement, tests between methods, and what the surest marks are worth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from nlgauge.core.result import Result
from nlgauge.report.drawing import Curve, axes_of, csv_file, plot_of
from nlgauge.report.pages import render_result
from nlgauge.report.tables import (
    SIGNIFICANT,
    Kind,
    Row,
    Table,
    by_keys,
    compared,
    difference,
    measured,
    number,
    p_of,
    values_of,
    with_interval,
)

_HEADING = "Marked errors against people"
_HEADS = {
    "one_to_one_f1": "one to one F",
    "character_f1": "characters F",
    "segment_f1": "segments F",
    "left_clean": "left clean",
}
_LEGEND = (
    "one to one: each mark is matched with at most one of the other side, with partial credit",
    "left clean: of the texts in which people marked nothing, those without a mark",
)
_SHARES = (0.0, 1.0)


def span_tables(result: Result, digits: int = 3) -> list[Table]:
    """The tables of a result of kind `spans`."""
    return [*_agreement(_whole(result.rows), digits), *_tests(compared(result.rows), digits), *_points(result, digits)]


def _whole(rows: Sequence[Row]) -> list[Row]:
    return [row for row in measured(rows) if row["threshold"] is None]


def _curve_rows(rows: Sequence[Row]) -> list[Row]:
    """The agreement of the surest marks of methods that say how sure they are."""
    return [row for row in measured(rows) if row["threshold"] is not None]


def _agreement(rows: Sequence[Row], digits: int) -> Iterator[Table]:
    stats = values_of(rows, "stat")
    if not stats:
        return
    body = []
    for (name,), own in by_keys(rows, "metric").items():
        cells: list[str] = []
        for row in own:
            cells.append(with_interval(row, number(row["value"], digits), digits))
            if row["stat"] == stats[0]:
                cells += [number(row["precision"], digits), number(row["recall"], digits)]
        body.append((name, *cells))
    first, *others = (_HEADS.get(stat, stat) for stat in stats)
    n = {row["stat"]: row["n"] for row in rows}
    title = f"errors against those that people marked: {n[stats[0]]} texts, {n[stats[-1]]} of them without an error"
    yield Table(title, ("method", first, "precision", "recall", *others), tuple(body), legend=_LEGEND)


def _tests(rows: Sequence[Row], digits: int) -> Iterator[Table]:
    """A line for every two methods and statistic; the method is first that is better by the first statistic."""
    if not rows:
        return
    body: list[tuple[str, ...]] = []
    marked, shown = set(), set()
    for (name, other), own in by_keys(rows, "metric", "against").items():
        if own[0]["delta"] < 0 or (other, name) in shown:
            continue
        shown.add((name, other))
        for row in own:
            if p_of(row) < SIGNIFICANT:
                marked.add((len(body), 4))
            measure = _HEADS.get(row["stat"], str(row["stat"]))
            body.append((name, other, measure, difference(row, digits), number(p_of(row), digits)))
    header = ("method", "over", "measure", "difference", "p")
    yield Table("differences", header, tuple(body), frozenset(marked), 3, f"p < {SIGNIFICANT:g}")


def _points(result: Result, digits: int) -> Iterator[Table]:
    for (name,), own in by_keys(_curve_rows(result.rows), "metric").items():
        body = []
        for (threshold,), (found, clean) in by_keys(own, "threshold").items():
            parts = (found["precision"], found["recall"], found["value"], clean["value"])
            body.append((f"{threshold:g}", str(found["n_marks"]), *(number(part, digits) for part in parts)))
        header = ("confidence from", "marks", "precision", "recall", "one to one F", "left clean")
        yield Table(f"{name}: the surest marks alone", header, tuple(body), left=0)


def _curve(rows: Sequence[Row]) -> dict[str, Any] | None:
    """Precision over recall: a line for each method with confidences, a point for others."""
    drawn = [row for row in _curve_rows(rows) if row["precision"] is not None]
    if not drawn:
        return None
    lines = by_keys(drawn, "metric")
    single = {row["metric"]: row for row in _whole(rows) if row["stat"] == drawn[0]["stat"]}
    curves, numbers = [], []
    for name, row in single.items():
        own = lines.get((name,), [row])
        points = [(one["recall"], one["precision"]) for one in own]
        froms = ["" if one["threshold"] is None else f" from {one['threshold']:g}" for one in own]
        titles = [f"{name}{a}: precision {y:.3f}, recall {x:.3f}" for a, (x, y) in zip(froms, points, strict=True)]
        curves.append(Curve(name, points, titles=titles))
        numbers += [
            {"method": name, "threshold": one["threshold"], "recall": x, "precision": y}
            for one, (x, y) in zip(own, points, strict=True)
        ]
    axes = axes_of(curves, "recall", "precision", x_within=_SHARES, y_within=_SHARES)
    return {**plot_of("precision over recall", curves, axes), "csv": csv_file("Precision and recall", numbers)}


def spans_html(result: Result) -> str:
    """The page of a result of kind `spans`: its tables, and precision over recall where marks have confidences."""
    points = list(_points(result, 3))
    tables = span_tables(result)
    return render_result(
        "spans.html",
        result,
        heading=_HEADING,
        tables=tables[: len(tables) - len(points)],
        curve=_curve(result.rows),
        points=points,
    )


KIND = Kind(parts=lambda paper: span_tables(paper.result, paper.places), page=spans_html)
