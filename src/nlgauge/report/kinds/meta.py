"""Meta-evaluation as tables: values by group or criterion, and tests between metrics as triangles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from nlgauge.core.result import Result
from nlgauge.report.kinds.kind import Kind
from nlgauge.report.kinds.official import AVERAGE, official_tables
from nlgauge.report.paper import Paper, Part
from nlgauge.report.rows import (
    MEAN,
    PEOPLE,
    POOLED,
    SIGNIFICANT,
    Row,
    absent,
    by_keys,
    claim_of,
    compared,
    descending,
    is_of_people,
    measured,
    number,
    p_of,
    p_values,
    values_of,
    with_interval,
)
from nlgauge.report.table import Table

Lines = Mapping[str, Mapping[Any, Row]]  # metric -> column -> row


def value_tables(result: Result, digits: int = 3, intervals: bool = True) -> list[Table]:
    """One table per level and statistic, with one line per metric and one column per group.

    With several criteria there is one column per criterion instead, and a table of groups for each criterion follows.
    Where metrics were tested against each other, the best comes first, and a mark says that no other is significantly
    better.
    """
    rows = [row for row in measured(result.rows) if not is_of_people(row) and row["stat"] != AVERAGE]
    return [
        _value_table(part, digits, intervals) for own in by_keys(rows, "level", "stat").values() for part in _parts(own)
    ]


def _parts(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """All rows of a level and statistic; and those of each criterion where there are groups beside the criteria."""
    yield rows
    criteria, groups = values_of(rows, "criterion"), values_of(rows, "group")
    if len(criteria) > 1 and len([group for group in groups if group not in (MEAN, POOLED)]) > 1:
        yield from ([row for row in rows if row["criterion"] == name] for name in criteria if name != MEAN)


def _value_table(rows: Sequence[Row], digits: int, intervals: bool) -> Table:
    first, criteria, groups = rows[0], values_of(rows, "criterion"), values_of(rows, "group")
    key, columns, rows = _columns(rows, criteria, groups)
    lines: dict[str, dict[Any, Row]] = {}
    for row in rows:
        lines.setdefault(row["metric"], {})[row[key]] = row
    last = columns[-1] if columns[-1] != POOLED else columns[-2]
    if any("not_outperformed" in row for row in rows):
        lines = dict(sorted(lines.items(), key=lambda line: descending(line[1][last]["value"])))
    header = ["metric", *(_heading(column, first["stat"], len(columns)) for column in columns)]
    body = [
        [metric, *(_cell(cells.get(column), digits, intervals) for column in columns)]
        for metric, cells in lines.items()
    ]
    marked = {
        (i, j)
        for i, cells in enumerate(lines.values())
        for j, column in enumerate(columns, start=1)
        if column in cells and cells[column].get("not_outperformed")
    }
    if len(columns) == 1:
        for title, shown in _about_one_column(lines, last, digits):
            header.append(title)
            body = [[*line, cell] for line, cell in zip(body, shown, strict=True)]
    best = f"no other metric is significantly better (p < {SIGNIFICANT:g})"
    title = _title(first, criteria, groups)
    return Table(title, tuple(header), tuple(map(tuple, body)), frozenset(marked), marked_as=best)


def _columns(rows: Sequence[Row], criteria: list[Any], groups: list[Any]) -> tuple[str, list[Any], Sequence[Row]]:
    """The key of a row that gives the columns, its values, and the rows that they take."""
    names = [group for group in groups if group not in (MEAN, POOLED)]
    if len(criteria) > 1:
        return "criterion", criteria, [row for row in rows if row["group"] == MEAN]
    if len(names) > 1:
        return "group", [*names, *(group for group in groups if group in (MEAN, POOLED))], rows
    # the row of the only group counts its segments, that of the mean would count groups
    return "group", names, [row for row in rows if row["group"] in names]


def _about_one_column(lines: Lines, column: Any, digits: int) -> list[tuple[str, list[str]]]:
    """The columns beside a single statistic: rank and chance where there are any, and the number of texts used."""
    rows = [cells[column] for cells in lines.values()]
    beside = []
    if any(row.get("rank") is not None for row in rows):
        beside.append(("rank", [str(row.get("rank") or "-") for row in rows]))
    if any((row["chance"] or 0) > 0 for row in rows):
        beside.append(("chance", [number(row["chance"], digits) for row in rows]))
    beside.append(("n", [str(row["n_used"]) for row in rows]))
    if any(row.get("n_undefined") for row in rows):
        beside.append(("undefined", [str(row["n_undefined"]) for row in rows]))
    return beside


def triangles(result: Result, digits: int = 3) -> list[Table]:
    """p-values of row against column, the best metric first, marked where they are below 0.05.

    There is one table per criterion, level, statistic and group; the mean of groups, where it was tested, comes last.
    """
    tests = by_keys(compared(result.rows), "criterion", "level", "stat").values()
    return [table for rows in tests for table in group_triangles(rows, digits)]


def group_triangles(rows: Sequence[Row], digits: int = 3) -> list[Table]:
    """The tests of one criterion, level and statistic: a table per group, of a single group only once."""
    groups = by_keys(rows, "group")
    mean = groups.pop((MEAN,), None)
    parts = [mean] if mean and len(groups) < 2 else [*groups.values(), *([mean] if mean else [])]
    return [
        (_triangle if len(values_of(own, "against")) > 1 else _against_one)(own, digits, len(parts) > 1)
        for own in parts
    ]


def _against_one(rows: Sequence[Row], digits: int, several: bool) -> Table:
    """Every metric against one of them: difference, its interval where there is one, and p; the best first."""
    ordered = sorted(rows, key=lambda row: descending(row["value"]))
    body = []
    for row in ordered:
        ends = {"low": row.get("delta_low"), "high": row.get("delta_high")}
        delta = with_interval(ends, number(row["delta"], digits, sign="+"), digits, sign="+")
        body.append((row["metric"], number(row["value"], digits), delta, number(p_of(row), digits)))
    marked = {(i, 3) for i, row in enumerate(ordered) if p_of(row) < SIGNIFICANT}
    first = rows[0]
    claim = "better than" if first["alternative"] == "greater" else "different from"
    title = f"{claim} {first['against']}{_about_test(first, several)}"
    return Table(
        title, ("metric", "value", "delta", "p"), tuple(body), frozenset(marked), marked_as=f"p < {SIGNIFICANT:g}"
    )


def _triangle(rows: Sequence[Row], digits: int, several: bool) -> Table:
    first = rows[0]
    power = {(row["metric"], row["against"]): row["power"] for row in rows if row.get("power") is not None}
    p = p_values(rows)
    values = {row["metric"]: row["value"] for row in rows}
    order = sorted(values, key=lambda metric: descending(values[metric]))
    body, marked = [], set()
    for i, metric in enumerate(order[:-1]):
        line = [metric, *([""] * i)]
        for j, other in enumerate(order[i + 1 :], start=i + 1):
            strength = f" (power {number(power[metric, other], 2)})" if (metric, other) in power else ""
            line.append(number(p[metric, other], digits) + strength)
            if p[metric, other] < SIGNIFICANT:
                marked.add((i, j))
        body.append(tuple(line))
    title = f"p of {claim_of(first)}{_about_test(first, several)}"
    legend = f"p < {SIGNIFICANT:g}"
    powers = ("power: the share of resamples of the systems on which the test finds the difference",) if power else ()
    return Table(title, ("", *order[1:]), tuple(body), frozenset(marked), marked_as=legend, legend=powers)


def _about_test(row: Row, several: bool) -> str:
    """The criterion, level and statistic of a test, behind its claim."""
    adjusted = ", adjusted" if row.get("p_adjusted") is not None else ""
    alone = row["group"] is None or (row["group"] == MEAN and not several)
    where = "" if alone else f", {'mean of groups' if row['group'] == MEAN else row['group']}"
    return f"{adjusted}: {row['stat']} with {row['criterion']}, level {row['level']}{where}, {row['test']}"


def disagreement_table(rows: Sequence[Row], width: int = 60) -> Table:
    """The segments on which a metric and people disagree most, with their ranks; texts cut to a width."""
    body = [
        (
            row["metric"],
            row["criterion"],
            row["id"],
            f"{row['human_rank']:g}",
            f"{row['rank']:g}",
            *(text if len(text) <= width else f"{text[: width - 1]}…" for text in (row["hyp"], row["ref"])),
        )
        for row in rows
    ]
    n = rows[0]["n"] if rows else 0
    header = ("metric", "criterion", "id", "rank by people", "by the metric", "text", "reference")
    return Table(f"where metrics and people disagree most, ranks among {n} segments", header, tuple(body), left=3)


def criteria_tables(result: Result, digits: int = 3) -> list[Table]:
    """Criteria against each other, one table per level and statistic; none where they were not compared."""
    people = [row for row in result.rows if is_of_people(row)]
    return [_criteria(rows, digits) for rows in by_keys(people, "level", "stat").values()]


def _criteria(rows: Sequence[Row], digits: int) -> Table:
    first, names = rows[0], [name.removeprefix(PEOPLE) for name in values_of(rows, "metric")]
    values = {(row["metric"].removeprefix(PEOPLE), row["criterion"]): row["value"] for row in rows}
    body = tuple((one, *(number(values.get((one, other), 1.0), digits) for other in names)) for one in names)
    known = [values[pair] for pair in combinations(names, 2) if not absent(values[pair])]
    title = f"{first['stat']} of criteria with each other: level {first['level']}{strength_of(known)}"
    return Table(title, ("", *names), body)


def strength_of(values: Sequence[float]) -> str:
    """How strong correlations are, in words: the shares below 0.3, from 0.3 to 0.5 and above; "" where there are none.

    References:
        Sai et al. (2021), "Perturbation CheckLists for Evaluating NLG Evaluation Metrics", section 2.1, for the bounds.
    """
    if not values:
        return ""
    weak, strong = (sum(value < 0.3 for value in values), sum(value > 0.5 for value in values))
    shares = (weak / len(values), (len(values) - weak - strong) / len(values), strong / len(values))
    return "; {:.0%} of the pairs below 0.3, {:.0%} to 0.5, {:.0%} above".format(*shares)


def _title(row: Row, criteria: Sequence[str], groups: Sequence[str | None]) -> str:
    of = criteria[0] if len(criteria) == 1 else f"{sum(c != MEAN for c in criteria)} criteria"
    names = [g for g in groups if g not in (MEAN, POOLED, None)]
    where = f", {names[0]}" if len(names) == 1 else f", {len(names)} groups" if names else ""
    ties = f", ties {row['ties']}" if row["ties"] is not None else ""
    return f"{row['stat']} with {of}: level {row['level']}, averaging {row['averaging']}{ties}{where}"


def _heading(column: str | None, stat: str, n: int) -> str:
    return stat if n == 1 else "-" if column is None else column


def _cell(row: Row | None, digits: int, intervals: bool) -> str:
    if row is None:
        return ""
    text = number(row["value"], digits)
    return with_interval(row, text, digits) if intervals else text


def thresholds_table(rows: Sequence[Row]) -> Table:
    """Metrics, and by how much two systems must differ so that people agree so often.

    Args:
        rows: metric, systems, pairs, largest difference, differences for shares (`for_60` and so on; None where no pair
            was so far apart), and calibration errors.
    """
    shares = [name for name in (rows[0] if rows else {}) if name.startswith("for_")]
    header = ("metric", "systems", "pairs", *(f"{name.removeprefix('for_')} %" for name in shares), "largest", "ECE")
    body = [
        (
            row["metric"],
            str(row["systems"]),
            str(row["pairs"]),
            *("-" if row[name] is None else f"{row[name]:.3g}" for name in shares),
            f"{row['largest']:.3g}",
            f"{row['ece']:.3f} ({row['ece_by_chance']:.3f} by chance)",
        )
        for row in rows
    ]
    title = "difference of two systems with which people agree in so many cases"
    return Table(title, header, tuple(body), legend=("ECE: expected calibration error on systems left out",))


def meta_parts(paper: Paper) -> list[Part]:
    """The table of a shared task where there is one, values, tests between metrics, and criteria."""
    result, places = paper.result, paper.places
    official = official_tables(result, places)
    tables = value_tables(result, places, intervals=not paper.lean)
    if paper.is_text:
        narrow = value_tables(result, places, intervals=False)
        tables = [a if paper.fits(a) else b for a, b in zip(tables, narrow, strict=True)]
    if official and paper.is_text:
        told = "p-values of every two metrics: --json FILE, --html FILE or --format markdown"
        return [*official, *tables, *criteria_tables(result, places), told]
    tests = [] if paper.lean else triangles(result, places)
    return [*official, *tables, *tests, *criteria_tables(result, places)]


KIND = Kind(parts=meta_parts, page="nlgauge.report.kinds.meta_page:meta_html")
