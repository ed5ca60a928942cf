"""Meta-evaluation as tables and a page: values by group or criterion, and tests between metrics as triangles."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any

from nlgauge.core.result import Result
from nlgauge.report.drawing import Axis, Cell, Curve, amount, axes_of, axis_of, csv_file, plot_of, strip
from nlgauge.report.labels import shorten
from nlgauge.report.pages import render_result
from nlgauge.report.people import agreement, ceiling, ranking
from nlgauge.report.tables import (
    MEAN,
    PEOPLE,
    POOLED,
    SIGNIFICANT,
    Kind,
    Paper,
    Part,
    Row,
    Table,
    absent,
    between,
    by_keys,
    claim_of,
    compared,
    descending,
    difference,
    is_of_people,
    measured,
    number,
    p_of,
    p_values,
    rank_rule,
    triangle,
    values_of,
    with_interval,
)

AVERAGE = "weighted_mean"
# Short names of statistics and levels, for heads of columns; others are short enough.
_SHORT = {
    "pairwise_accuracy": "PA",
    "soft_pairwise_accuracy": "SPA",
    "pearson": "r",
    "spearman": "rho",
    "kendall_b": "tau-b",
    "acc_eq_calibrated": "acc*",
    "acc_eq_held_out": "acc* out",
    "pdp_pairs": "pdp pairs",
    "system": "sys",
    "segment": "seg",
}
_STORED = "scores:"  # how the signature of a number begins that was read, not made
_TEXT = 60  # characters of a text in a cell
_SAID = 5  # sentences about metrics in a terminal

Lines = Mapping[str, Mapping[Any, Row]]  # metric -> column -> row
Task = tuple[int, str, str]  # its number, its statistic, its level


def value_tables(result: Result, digits: int = 3, intervals: bool = True) -> list[Table]:
    """One table per level and statistic, with one line per metric and one column per group.

    With several criteria there is one column per criterion instead, and a table of groups for each criterion follows.
    Where metrics were tested against each other, the best comes first, and a mark says that no other is significantly
    better.
    """
    rows = [row for row in measured(result.rows) if not is_of_people(row) and row["stat"] != AVERAGE]
    is_told = any(row["stat"] == AVERAGE for row in measured(result.rows))  # below the table of a shared task
    rule = "" if is_told else rank_rule(result.notes)
    return [
        _value_table(part, digits, intervals, rule)
        for own in by_keys(rows, "level", "stat").values()
        for part in _parts(own)
    ]


def _parts(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """All rows of a level and statistic; and those of each criterion where there are groups beside the criteria."""
    yield rows
    criteria, groups = values_of(rows, "criterion"), values_of(rows, "group")
    if len(criteria) > 1 and len([group for group in groups if group not in (MEAN, POOLED)]) > 1:
        yield from ([row for row in rows if row["criterion"] == name] for name in criteria if name != MEAN)


def _value_table(rows: Sequence[Row], digits: int, intervals: bool, rule: str) -> Table:
    first, criteria, groups = rows[0], values_of(rows, "criterion"), values_of(rows, "group")
    key, columns, rows = _columns(rows, criteria, groups)
    lines: dict[str, dict[Any, Row]] = {}
    for row in rows:
        lines.setdefault(row["metric"], {})[row[key]] = row
    last = columns[-1] if columns[-1] != POOLED else columns[-2]
    if any("not_outperformed" in row for row in rows):
        lines = dict(sorted(lines.items(), key=lambda line: descending(line[1][last]["value"])))
    heads = [first["stat"]] if len(columns) == 1 else ["-" if column is None else column for column in columns]
    header = ["metric", *heads]
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
    legend = (f"rank: {rule}",) if rule and "rank" in header else ()
    return Table(title, tuple(header), tuple(map(tuple, body)), frozenset(marked), marked_as=best, legend=legend)


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
        body.append((row["metric"], number(row["value"], digits), difference(row, digits), number(p_of(row), digits)))
    marked = {(i, 3) for i, row in enumerate(ordered) if p_of(row) < SIGNIFICANT}
    first = rows[0]
    claim = "better than" if first["alternative"] == "greater" else "different from"
    title = f"{claim} {first['against']}{_about_test(first, several)}"
    return Table(
        title, ("metric", "value", "delta", "p"), tuple(body), frozenset(marked), marked_as=f"p < {SIGNIFICANT:g}"
    )


def _triangle(rows: Sequence[Row], digits: int, several: bool) -> Table:
    first = rows[0]
    values = {row["metric"]: row["value"] for row in rows}
    order = sorted(values, key=lambda metric: descending(values[metric]))
    known = [row for row in rows if row.get("power") is not None]
    power = {(row["metric"], row["against"]): f" (power {number(row['power'], 2)})" for row in known}
    title = f"p of {claim_of(first)}{_about_test(first, several)}"
    legend = ("power: the share of resamples of the systems on which the test finds the difference",) if power else ()
    return triangle(title, order, p_values(rows), digits, power, legend)


def _about_test(row: Row, several: bool) -> str:
    """The criterion, level and statistic of a test, behind its claim."""
    adjusted = ", adjusted" if row.get("p_adjusted") is not None else ""
    alone = row["group"] is None or (row["group"] == MEAN and not several)
    where = "" if alone else f", {'mean of groups' if row['group'] == MEAN else row['group']}"
    return f"{adjusted}: {row['stat']} with {row['criterion']}, level {row['level']}{where}, {row['test']}"


def disagreement_table(rows: Sequence[Row], most: float = _TEXT) -> Table:
    """The segments on which a metric and people disagree most, with their ranks; texts are cut to `most` characters."""
    body = [
        (
            row["metric"],
            row["criterion"],
            row["id"],
            f"{row['human_rank']:g}",
            f"{row['rank']:g}",
            *(shorten(text or "", most, len) for text in (row["hyp"], row["ref"])),
        )
        for row in rows
    ]
    n = rows[0]["n"] if rows else 0
    header = ("metric", "criterion", "id", "rank by people", "by the metric", "text", "reference")
    return Table(
        f"where metrics and people disagree most, ranks among {n} segments", header, tuple(body), left=len(header)
    )


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


def _cell(row: Row | None, digits: int, intervals: bool) -> str:
    if row is None:
        return ""
    text = number(row["value"], digits)
    return with_interval(row, text, digits) if intervals else text


# --- The table of a shared task: every metric by every statistic, the official average, and how firm the ranks are


def official_tables(result: Result, digits: int = 3) -> list[Table]:
    """For each criterion the metrics by task, the best first, and the tasks; nothing where no protocol counts tasks."""
    rows = [row for row in result.rows if row["group"] in (MEAN, POOLED)]
    numbered = [row for row in measured(rows) if row.get("task") is not None]
    stored = {metric["spec"] for metric in result.metrics if str(metric["signature"]).startswith(_STORED)}
    groups = [group for group in values_of(result.rows, "group") if group not in (MEAN, POOLED, None)]
    rule, tables = rank_rule(result.notes), []
    for (criterion,), own in by_keys(numbered, "criterion").items():
        where = f", {groups[0]}" if len(groups) == 1 else f", mean of {len(groups)} language pairs" if groups else ""
        at = (AVERAGE, criterion, MEAN)
        averages = {
            row["metric"]: row["value"] for row in measured(rows) if (row["stat"], row["criterion"], row["group"]) == at
        }
        tests = [row for row in compared(rows) if row["criterion"] == criterion]
        by_task = {key: _by_metric(part) for key, part in by_keys(own, "task", "stat", "level").items()}
        tables += [
            _official_table(
                f"official table: metrics against {criterion}{where}", by_task, averages, stored, rule, digits
            ),
            _tasks_table(by_task, by_keys(tests, "stat", "level")),
        ]
    return tables


def _by_metric(rows: Sequence[Row]) -> dict[str, Row]:
    """The value of each metric over all groups: pooled pairs of systems where they are pooled, else the mean."""
    pooled = {row["metric"]: row["value"] for row in rows if row["group"] == POOLED}
    means = [row for row in rows if row["group"] == MEAN]
    return {row["metric"]: {**row, "value": pooled.get(row["metric"], row["value"])} for row in means}


def _official_table(
    title: str,
    by_task: Mapping[Task, Mapping[str, Row]],
    averages: Mapping[str, float],
    stored: set[str],
    rule: str,
    digits: int,
) -> Table:
    first = next(iter(by_task.values()))
    key = averages or {metric: row["value"] for metric, row in first.items()}
    controls = [metric for metric, row in first.items() if row.get("control")]
    ranked_first = [metric for metric in first if metric not in controls]
    order = [*sorted(ranked_first, key=lambda metric: descending(key[metric])), *controls]
    header = ["metric", "scores", *(["average"] if averages else []), *map(_task_name, by_task)]
    body = []
    for metric in order:
        average = [number(averages.get(metric), digits, missing="-")] if averages else []
        cells = [_with_rank(rows[metric], rows, digits) for rows in by_task.values()]
        scored = "control" if metric in controls else "official" if metric in stored else "ours"
        body.append((metric, scored, *average, *cells))
    ranked = any(row.get("rank") for rows in by_task.values() for row in rows.values())
    legend = (f"(n): rank; {rule}",) if ranked else ()
    return Table(title, tuple(header), tuple(body), left=2, legend=legend)


def _task_name(task: Task) -> str:
    """A task in a head of a column: r sys."""
    _, stat, level = task
    return f"{_SHORT.get(stat, stat)} {_SHORT.get(level, level)}"


def _with_rank(row: Row, rows: Mapping[str, Row], digits: int) -> str:
    rank = row.get("rank")
    widest = max(len(str(other.get("rank") or "")) for other in rows.values())
    return number(row["value"], digits, missing="-") + ("" if rank is None else f" ({rank})".rjust(widest + 3))


def _tasks_table(by_task: Mapping[Task, Mapping[str, Row]], tests: Mapping[tuple[Any, ...], Sequence[Row]]) -> Table:
    """Each task with its weight, the number of ranks that a test tells apart, and the neighbours that it does not."""
    body = []
    for task, rows in by_task.items():
        _, stat, level = task
        first = next(iter(rows.values()))
        p = p_values(row for row in tests.get((stat, level), []) if row["group"] == MEAN)
        known = [metric for metric, row in rows.items() if not absent(row["value"]) and not row.get("control")]
        order = sorted(known, key=lambda metric: -rows[metric]["value"])
        tested = [p[pair] for pair in pairwise(order) if pair in p]
        near = sum(not value < SIGNIFICANT for value in tested)
        ranks = [row["rank"] for row in rows.values() if row.get("rank")]
        body.append(
            (
                _task_name(task),
                f"{stat} ({level})",
                f"{first['weight']:g}",
                str(max(ranks)) if ranks else "-",
                f"{near} of {len(tested)}" if tested else "-",
            )
        )
    return Table(
        "tasks: how many ranks a test tells apart, and how many neighbours it does not",
        ("task", "statistic (level)", "weight", "ranks", "within noise"),
        tuple(body),
        left=2,
        legend=(f"within noise: the better of two neighbours is not significantly better (p >= {SIGNIFICANT:g})",),
    )


# --- All of this on paper


def meta_parts(paper: Paper) -> list[Part]:
    """What people say where it was asked for, the table of a shared task where there is one, values, tests between
    metrics, criteria, and disagreements.
    """
    result, places = paper.result, paper.places
    official = official_tables(result, places)
    tables = value_tables(result, places, intervals=not paper.lean)
    if paper.is_text:
        narrow = value_tables(result, places, intervals=False)
        tables = [a if paper.fits(a) else b for a, b in zip(tables, narrow, strict=True)]
    reach = [panel.table for panel in ceiling(result, places, only="one" if paper.brief else "")]
    people = [*_ranking(paper), *official, *tables, *reach, *_agreement(paper)]
    tests = [] if paper.lean or (official and paper.is_text) else triangles(result, places)
    told = ["p-values of every two metrics: --json FILE, --html FILE or --format markdown"]
    last = [disagreement_table(result.disagreements)] if result.disagreements else []
    return [*people, *tests, *criteria_tables(result, places), *(told if official and paper.is_text else []), *last]


def _ranking(paper: Paper) -> Iterator[Part]:
    """The ranking of people, without metrics where these find no room; and in words, in brief of a few metrics."""
    result = paper.result
    if paper.lean:
        result = replace(result, people=[{**row, "low": None} for row in result.people])  # no intervals
    for panel, narrow in zip(*(ranking(result, paper.digits, places=places) for places in (True, False)), strict=True):
        yield panel.table if not paper.is_text or paper.fits(panel.table) else narrow.table
        yield "\n".join(() if paper.lean else panel.said[:_SAID] if paper.brief else panel.said)


def _agreement(paper: Paper) -> Iterator[Part]:
    """How far raters agree; in brief without long tables."""
    for panel in agreement(paper.result, paper.places):
        yield "\n".join((panel.table.title, *panel.said)) if panel.said else ""
        if panel.table.body and not (paper.brief and panel.folded):
            yield replace(panel.table, title="") if panel.said else panel.table


# --- A meta-evaluation as a page: a summary, values with their intervals on one axis, groups as shades, tests

_DRAWN = ("metric", "value", "low", "high")
_FALLING = ("diff",)  # statistics that are better where they are smaller
Section = dict[str, Any]
Scale = tuple[float, float]  # the values of the lightest and the darkest shade


def meta_html(
    result: Result, heading: str = "Metrics against people", *, selecting: bool = False, tables: Sequence[Table] = ()
) -> str:
    """The page of a result of kind `meta`; or, under another heading, of one of kind `select`.

    Args:
        selecting: its values are those of choices, which chance makes too, and some are better when they are lower.
    """
    rows = [row for row in result.rows if not is_of_people(row)]
    official = official_tables(result)
    studies = list(_studies([row for row in rows if not (official and row["stat"] == AVERAGE)], directed=selecting))
    return render_result(
        "meta.html",
        result,
        heading=heading,
        selecting=selecting,
        summaries=[study["summary"] for study in studies if study["summary"]],
        sections=[section for study in studies for section in study["sections"]],
        tables=[*tables, *([disagreement_table(told, math.inf)] if (told := result.disagreements) else [])],
        official=official,
        rule=rank_rule(result.notes),
        matrices=list(_matrices(result.rows)),
        curves=list(_layers(rows)),
        people=ranking(result),
        below=[*ceiling(result), *agreement(result)],
        alpha=SIGNIFICANT,
    )


def _layers(rows: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """Agreement by layer, one curve for each model, of a result that studies layers.

    References:
        Zhang et al. (2020), "BERTScore", figure 3.
    """
    tasks = by_keys([row for row in measured(rows) if "layer" in row], "stat", "criterion", "level")
    for (stat, criterion, level), own in tasks.items():
        means = [row for row in own if row["group"] == MEAN] or own
        curves = [_of_model(name, found) for (name,), found in by_keys(means, "model").items()]
        plot = plot_of(f"{stat} by layer", curves, axes_of(curves, "layer", stat))
        about = f"{stat} with {criterion}, level {level}"
        numbers = [{name: row[name] for name in ("model", "layer", "value", "low", "high")} for row in means]
        file = csv_file(f"By layer, {about}", numbers)
        yield {"title": "By layer", "about": about, **plot, "csv": file}


def _of_model(name: str, rows: Sequence[Row]) -> Curve:
    """The curve of a model over its layers, with a ring at its best one."""
    values, low, high = ([math.nan if absent(row[k]) else row[k] for row in rows] for k in ("value", "low", "high"))
    known = [i for i, value in enumerate(values) if not math.isnan(value)]
    return Curve(
        name,
        [(row["layer"], value) for row, value in zip(rows, values, strict=True)],
        titles=[f"{name}, layer {row['layer']}: {number(row['value'])}" for row in rows],
        band=list(zip(low, high, strict=True)),
        bold=max(known, key=values.__getitem__, default=None),
    )


def _matrices(rows: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """Tables of criteria with each other and of metrics with criteria, for each level and statistic.

    There are none where criteria are not compared.
    """
    means = [row for row in measured(rows) if row["group"] == MEAN]
    for (level, stat), own in by_keys(means, "level", "stat").items():
        people = [row for row in own if is_of_people(row)]
        if not people:
            continue
        metrics = [row for row in own if not is_of_people(row)]
        criteria = values_of(metrics, "criterion")
        rated = set(values_of(people, "criterion"))
        names = [name for name in criteria if name in rated]
        values = {(f"{PEOPLE}{name}", name): 1.0 for name in names}  # each with itself
        values |= {(row["metric"], row["criterion"]): row["value"] for row in own}
        about = f"{stat}, level {level}"
        keys = [(name, f"{PEOPLE}{name}") for name in names]
        yield _matrix("Criteria with each other", about, names, keys, values)
        keys = [(name, name) for name in values_of(metrics, "metric")]
        yield _matrix("Metrics with criteria", about, criteria, keys, values)


def _matrix(
    title: str,
    about: str,
    columns: Sequence[str],
    rows: Sequence[tuple[str, str]],
    values: Mapping[tuple[str, str], float],
) -> dict[str, Any]:
    lines = [(shown, "", [amount(values.get((key, column))) for column in columns]) for shown, key in rows]
    return {"title": title, "about": about, "columns": columns, "blocks": [("", lines)]}


def _studies(rows: Sequence[Row], *, directed: bool) -> Iterator[dict[str, Any]]:
    """For each level and statistic its sections, one per criterion, with one order of metrics and one axis for all.

    Several criteria have a summary. It takes the place of a section for their mean.
    """
    tests = by_keys(compared(rows), "criterion", "level", "stat")
    for (level, stat), own in by_keys(measured(rows), "level", "stat").items():
        parts = {criterion: part for (criterion,), part in by_keys(own, "criterion").items()}
        means = {c: {row["metric"]: row for row in part if row["group"] == MEAN} for c, part in parts.items()}
        order = _order(means, stat)
        chances = [row["chance"] for row in own if not absent(row["chance"]) and row["chance"] > 0]
        axis = axis_of([*(row[key] for row in own for key in ("value", "low", "high")), *chances])
        values = [row["value"] for row in own if not absent(row["value"])]
        scale = (min(values, default=0.0), max(values, default=1.0))
        shown = [criterion for criterion in parts if criterion != MEAN or len(parts) == 1]
        yield {
            "summary": _summary(means, order, scale, f"{stat}, level {level}") if len(shown) > 1 else None,
            "sections": [
                {
                    **_section(parts[criterion], means[criterion], order, axis),
                    **_groups(parts[criterion], order, scale),
                    "triangles": group_triangles(tests.get((criterion, level, stat), [])),
                    "direction": f"{'lower' if stat in _FALLING else 'higher'} is better" if directed else "",
                }
                for criterion in shown
            ],
        }


def _order(means: Mapping[str, Mapping[str, Row]], stat: str) -> list[str]:
    """Metrics with the best mean over criteria first; what has no number last."""
    metrics = list(dict.fromkeys(metric for rows in means.values() for metric in rows))
    overall = {}
    for metric in metrics:
        own = [rows[metric]["value"] for rows in ([means[MEAN]] if MEAN in means else means.values()) if metric in rows]
        known = [value for value in own if not absent(value)]
        mean = sum(known) / len(known) if known else None
        overall[metric] = -mean if mean is not None and stat in _FALLING else mean
    return sorted(metrics, key=lambda metric: descending(overall[metric]))


def _summary(means: Mapping[str, Mapping[str, Row]], order: Sequence[str], scale: Scale, about: str) -> Section:
    criteria = [criterion for criterion in means if criterion != MEAN]
    columns, mean = list(criteria), means.get(MEAN, {})
    lines = [[_shaded(means[c].get(metric), scale) for c in criteria] for metric in order]
    if mean:
        columns.insert(0, f"mean of {len(criteria)}")
        lines = [[_mean(mean.get(m), scale, len(criteria)), *line] for m, line in zip(order, lines, strict=True)]
    return {
        "about": about,
        "columns": columns,
        "blocks": [("", [(metric, "", line) for metric, line in zip(order, lines, strict=True)])],
        "scale": _ends(scale),
        "mean": bool(mean),
        "ranked": any(row.get("not_outperformed") is not None for rows in means.values() for row in rows.values()),
    }


def _section(rows: Sequence[Row], means: Mapping[str, Row], order: Sequence[str], axis: Axis) -> Section:
    """The values of one criterion, or the means of its groups, on the axis of all."""
    first = rows[0]
    groups = values_of((row for row in rows if row["group"] not in (MEAN, POOLED)), "group")
    counts = {row["metric"]: row for row in rows if row["group"] == groups[0]} if len(groups) == 1 else means
    chances = [row["chance"] for row in means.values() if not absent(row["chance"]) and row["chance"] > 0]
    base = chances[0] if chances else 0.0 if axis.ticks[0] < 0 < axis.ticks[-1] else None
    based = Axis(axis.ticks, base)
    ties = f", ties {first['ties']}" if first["ties"] is not None else ""
    return {
        "title": f"{first['stat']} with {first['criterion']}",
        "about": f"level {first['level']}, averaging {first['averaging']}{ties}",
        "axis": based,
        "base": "" if base is None else "chance" if chances else "0",
        "ranked": any(row.get("rank") is not None for row in means.values()),
        "chance": f"{chances[0]:.3f}" if chances else "",
        "intervals": any(not absent(row["low"]) for row in means.values()),
        "counted": "n" if len(groups) == 1 else "criteria" if first["criterion"] == MEAN else "groups",
        "undefined": any(row["n_undefined"] for row in counts.values()),
        "lines": [_line(means[metric], counts[metric], based) for metric in order if metric in means],
        "csv": csv_file(
            f"{first['stat']} with {first['criterion']}, {first['level']}",
            [{name: means[metric][name] for name in _DRAWN} for metric in order if metric in means],
        ),
    }


def _groups(rows: Sequence[Row], order: Sequence[str], scale: Scale) -> Section:
    """The values of one criterion by group; nothing where there is only one."""
    groups = values_of((row for row in rows if row["group"] != MEAN), "group")
    cells = {(row["metric"], row["group"]): row for row in rows}
    lines = [(metric, "", [_shaded(cells.get((metric, group)), scale) for group in groups]) for metric in order]
    several = len([group for group in groups if group != POOLED]) > 1
    columns = ["-" if group is None else group for group in groups] if several else []
    numbers = [{"group": row["group"], **{name: row[name] for name in _DRAWN}} for row in cells.values()]
    file = csv_file(f"{rows[0]['stat']} by group", numbers)
    return {"groups": columns, "blocks": [("", lines)], "scale": _ends(scale), "group_csv": file}


def _ends(scale: Scale) -> tuple[str, str]:
    return number(scale[0]), number(scale[1])


def _line(row: Row, counted: Row, axis: Axis) -> dict[str, Any]:
    return {
        "metric": row["metric"],
        "value": number(row["value"]),
        "interval": between(row["low"], row["high"]),
        "picture": strip(row, axis),
        "rank": row.get("rank") or "",
        "best": bool(row.get("not_outperformed")),
        "n": counted["n_used"],
        "n_undefined": counted["n_undefined"],
    }


def _shaded(row: Row | None, scale: Scale) -> Cell:
    if row is None:
        return Cell("")
    cell = amount(row["value"], *scale, digits=3)
    return replace(cell, note=between(row["low"], row["high"]), strong=bool(row.get("not_outperformed")))


def _mean(row: Row | None, scale: Scale, n: int) -> Cell:
    """The mean of a metric over n criteria; it says where some of them are missing."""
    missing = row is not None and row["n_used"] != n
    return replace(_shaded(row, scale), note=f"of {row['n_used']}" if row is not None and missing else "")


KIND = Kind(parts=meta_parts, page=meta_html)
