"""What people say: whom they rank first, how far they agree, and how far a metric may get beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from nlgauge.core.result import Result
from nlgauge.io.files import counted
from nlgauge.report.drawing import Axis, axis_of, csv_file, strip
from nlgauge.report.kinds.score import digits_of
from nlgauge.report.tables import (
    MEAN,
    PEOPLE,
    SIGNIFICANT,
    Row,
    Table,
    absent,
    by_keys,
    descending,
    listed,
    number,
    values_of,
    with_interval,
)

MOST_NAMED = 5  # systems, or pairs of them, that a sentence names
FOLDED = 10  # lines above which a page shows a table only when it is asked to
_EXCHANGES = "†"
_REST, _CEILING = "rest", "people"  # in the place of a rater, and of a metric
_HOW = {"one": "one rater left out", "half": "half of the raters left out"}
_NOT_BELOW = "not below people; by how much a metric is better than a rater, these ratings cannot tell"


@dataclass(frozen=True)
class Panel:
    """A table, what it says in words, and on a page a picture for each of its lines.

    Attributes:
        said: sentences.
        numbers: what is drawn, to be taken away as CSV.
        pictures: of the lines, behind column `beside`; empty for none.
        axis: of the pictures.
    """

    table: Table
    said: tuple[str, ...] = ()
    numbers: Sequence[Mapping[str, Any]] = ()
    pictures: tuple[Any, ...] = ()
    beside: int = 0
    axis: Axis | None = None

    @property
    def folded(self) -> bool:
        """Whether a page shows the table only when it is asked to."""
        return not self.pictures and len(self.table.body) > FOLDED

    @property
    def csv(self) -> tuple[str, str]:
        """The name and the URL of a file with the numbers."""
        return csv_file(self.table.title, self.numbers)


def _parts(rows: Sequence[Row], *keys: str) -> Iterator[tuple[Any, ...]]:
    """Criterion and values of some keys, the group behind a comma, and the rows; of groups with a mean that alone."""
    for found, own in by_keys(rows, "criterion", *keys).items():
        groups = by_keys(({"group": None, **row} for row in own), "group")
        names = [name for (name,) in groups if name not in (MEAN, None)]
        if (MEAN,) in groups:
            where = f", mean of {len(names)} groups" if len(names) > 1 else "".join(f", {name}" for name in names)
            yield (*found, where, groups[MEAN,])
            continue
        for (name,), part in groups.items():
            yield (*found, "" if name is None else f", {name}", part)


# --- The ranking of people, and beside it the place that each metric gives to a system


def ranking(result: Result, digits: int | None = None, *, places: bool = True) -> list[Panel]:
    """For each criterion and group the systems as people rank them, with what each metric makes of them.

    Args:
        digits: after the point; None for 2 or 4, by the scale of the ratings.
        places: with a column for each metric.
    """
    return [_ranking(criterion, where, rows, digits, places) for criterion, where, rows in _parts(result.people)]


def _ranking(criterion: str, where: str, rows: Sequence[Row], digits: int | None, places: bool) -> Panel:
    people = _ranked(criterion, rows)
    by_metric = by_keys((row for row in rows if row["metric"] != f"{PEOPLE}{criterion}"), "metric")
    each = digits_of({}, people) if digits is None else digits
    header, columns = ["system", "rank", "mean", "items"], []
    columns += [[row["system"], str(row["rank"])] for row in people]
    known = any(row.get("n_raters") is not None for row in people)
    needed = any(row.get("items_needed") is not None for row in people)
    header += [*(["raters"] if known else []), *(["items needed"] if needed else [])]
    for line, row in zip(columns, people, strict=True):
        line += [with_interval(row, number(row["value"], each), each), str(row["n"])]
        line += [_counted(row.get("n_raters"))] if known else []
        line += [_counted(row.get("items_needed"))] if needed else []
    exchanging = False
    for (metric,), own in by_metric.items() if places else ():
        header.append(metric)
        by_system = {row["system"]: row for row in own}
        marked = any(row.get("exchanged") for row in own)
        exchanging |= marked
        for line, row in zip(columns, people, strict=True):
            line.append(_place(by_system.get(row["system"]), marked))
    above = "every system above is significantly better than every system below"
    legend = (
        f"rank: a new one begins where {above} (p < {SIGNIFICANT:g}, Holm)",
        *(["items needed: to tell the system from the next one below with probability 0.8"] if needed else []),
        *(["under a metric: the place that it gives"] if places and by_metric else []),
        *([f"{_EXCHANGES} it puts a system above this one that people put significantly below"] if exchanging else []),
    )
    axis = axis_of(row.get(end) for row in people for end in ("value", "low", "high"))
    ruled = frozenset(i for i, (a, b) in enumerate(pairwise(people), start=1) if a["rank"] != b["rank"])
    title = f"how people rank the systems: {criterion}{where}"
    numbers = [
        {name: row.get(name) for name in ("system", "rank", "value", "low", "high", "n", "n_raters", "items_needed")}
        | {spec: _rank_of(row["system"], own) for (spec,), own in by_metric.items()}
        for row in people
    ]
    return Panel(
        Table(title, tuple(header), tuple(map(tuple, columns)), legend=legend, ruled=ruled),
        tuple(_exchanges(by_metric, len(people))),
        numbers,
        tuple(strip(row, axis, each) for row in people),
        2,
        axis,
    )


def _ranked(criterion: str, rows: Sequence[Row]) -> list[Row]:
    """The rows of people, the best system first."""
    own = [row for row in rows if row["metric"] == f"{PEOPLE}{criterion}"]
    return sorted(own, key=lambda row: (row["rank"], descending(row["value"])))


def _counted(n: int | None) -> str:
    return "-" if n is None else str(n)


def _rank_of(system: str, rows: Sequence[Row]) -> int | None:
    return next((row["rank"] for row in rows if row["system"] == system), None)


def _place(row: Row | None, marked: bool) -> str:
    sign = f" {_EXCHANGES}" if row and row.get("exchanged") else "  " if marked else ""
    return f"{_counted(row and row.get('rank'))}{sign}"


def _exchanges(by_metric: Mapping[tuple[Any, ...], Sequence[Row]], n_systems: int) -> Iterator[str]:
    """Which systems each metric exchanges, the most first; in one sentence the metrics that exchange none."""
    found = {
        metric: [(below, row["system"]) for row in rows for below in row.get("exchanged") or ()]
        for (metric,), rows in by_metric.items()
    }
    for metric, pairs in sorted(found.items(), key=lambda one: -len(one[1])):
        if pairs:
            named = few([f"{below} above {above}" for below, above in pairs])
            yield f"{metric} exchanges {counted(len(pairs), 'pair')} that people tell apart: it puts {listed(named)}."
    none = [metric for metric, pairs in found.items() if not pairs]
    if none and n_systems > 1:
        yield f"{listed(none)} {'exchanges' if len(none) == 1 else 'exchange'} no systems that people tell apart."


def few(names: Sequence[str]) -> list[str]:
    """The first of some names, and how many more there are."""
    more = len(names) - MOST_NAMED
    return [*names[:MOST_NAMED], *([f"{more} more"] if more > 0 else [])]


# --- How far raters agree: all of them in words, each with the rest, and each two


def agreement(result: Result, digits: int = 3) -> list[Panel]:
    """For each criterion and group how far raters agree: each with the rest; then, where there are some, every two."""
    return [
        panel
        for criterion, where, rows in _parts(result.raters)
        for panel in _agreement(f"{criterion}{where}", rows, digits)
    ]


def _agreement(about: str, rows: Sequence[Row], digits: int) -> Iterator[Panel]:
    whole = next((row for row in rows if row.get("rater") is None), None)
    each = [row for row in rows if row.get("rater") is not None and row.get("against") == _REST]
    pairs = [row for row in rows if row.get("rater") is not None and row.get("against") != _REST]
    scale = digits_of({}, [{"value": row.get("mean")} for row in each])
    body = [
        (
            row["rater"],
            *_numbers(row, ("mean", "deviation"), scale),
            _counted(row["n"]),
            *_numbers(row, ("alpha", "pearson"), digits),
        )
        for row in each
    ]
    header = ("rater", "mean", "deviation", "segments", "alpha", "r")
    legend = ("alpha, r: with the mean of all others, on the segments that both rated",) if body else ()
    said = (*([_alpha(whole, digits)] if whole else []), *_about_raters(each, scale, digits))
    yield Panel(Table(f"how far people agree: {about}", header, tuple(body), legend=legend), said, rows)
    if pairs:
        graded = any(not absent(row.get("kappa")) for row in pairs)
        names = ("alpha", "pearson", "same", *(["kappa"] if graded else []))
        lines = [
            (row["rater"], str(row["against"]), _counted(row["n"]), *_numbers(row, names, digits)) for row in pairs
        ]
        shown = tuple("r" if name == "pearson" else name for name in names)
        told = ("same: share of equal ratings", *(["kappa: Cohen's"] if graded else []))
        title = f"every two raters: {about}"
        yield Panel(
            Table(title, ("rater", "against", "segments", *shown), tuple(lines), left=2, legend=told), (), pairs
        )


def _numbers(row: Row, names: Sequence[str], digits: int) -> Iterator[str]:
    return (number(row.get(name), digits, missing="-") for name in names)


def _alpha(whole: Row, digits: int) -> str:
    """Krippendorff's alpha, and what it is: one less the share of the differences that chance would make."""
    if absent(whole.get("alpha")):
        return "How far people agree cannot be seen: no segment has two ratings, or all ratings are equal."
    raters = "" if whole.get("n_raters") is None else f" of {counted(whole['n_raters'], 'rater')}"
    alpha = with_interval(whole, number(whole["alpha"], digits), digits)
    chance = f"{100 * (1 - whole['alpha']):.0f} %"
    return (
        f"Krippendorff's alpha {alpha}{raters} on {counted(whole['n'], 'segment')}, {whole['scale']}: ratings of one"
        f" segment differ {chance} as much as by chance (1: all are equal; 0: chance)."
    )


def _about_raters(each: Sequence[Row], scale: int, digits: int) -> Iterator[str]:
    """Who is strict and who is mild, and who agrees least with the rest."""
    means = sorted((row for row in each if not absent(row.get("mean"))), key=lambda row: float(row["mean"]))
    if len(means) > 1:
        low, high = ((number(row["mean"], scale), row["rater"]) for row in (means[0], means[-1]))
        yield f"The mean of a rater is from {low[0]} ({low[1]}) to {high[0]} ({high[1]})."
    known = sorted((row for row in each if not absent(row.get("pearson"))), key=lambda row: float(row["pearson"]))
    if len(known) > 1:
        least, most = ((row["rater"], number(row["pearson"], digits)) for row in (known[0], known[-1]))
        yield f"With the mean of the others {least[0]} agrees least (r {least[1]}), and {most[0]} most (r {most[1]})."


# --- How far a metric may get: people who were left out, scored as if they were a metric


def ceiling_tables(result: Result, digits: int = 3, *, only: str = "") -> list[Table]:
    """For each criterion people who were left out, metrics and controls, with a column for each statistic.

    Args:
        only: `one` or `half`; empty for both.
    """
    tables = []
    for criterion, left_out, where, rows in _parts(result.ceiling, "left_out"):
        if only and left_out != only:
            continue
        tasks = by_keys(rows, "stat", "level")
        order = _by_value(next(iter(tasks.values())), rows)
        body, marked = [], set()
        for i, name in enumerate(order):
            own = {task: row for task, part in tasks.items() for row in part if row["metric"] == name}
            cells = [_reached(own.get(task), digits, spread=name == _CEILING) for task in tasks]
            marked |= {(i, j) for j, task in enumerate(tasks, 1) if own.get(task, {}).get("passed")}
            body.append((_line_name(name, next(iter(own.values()))), *cells))
        splits = max(row["n_splits"] for row in rows)
        title = f"how far a metric may get: {criterion}{where}, {_HOW[left_out]}, mean of {counted(splits, 'split')}"
        header = ("", *(f"{stat} ({level})" for stat, level in tasks))
        legend = (
            ("[low, high]: the lowest and the highest split",) if any("[" in c for line in body for c in line) else ()
        )
        tables.append(Table(title, header, tuple(body), frozenset(marked), marked_as=_NOT_BELOW, legend=legend))
    return tables


def ceilings(result: Result, digits: int = 3) -> list[tuple[str, list[Panel]]]:
    """For each criterion and statistic a title, and a panel for one rater left out and one for half of them."""
    found: dict[str, list[tuple[str, Sequence[Row]]]] = {}
    for criterion, stat, level, left_out, where, rows in _parts(result.ceiling, "stat", "level", "left_out"):
        title = f"how far a metric may get: {stat} with {criterion}, level {level}{where}"
        found.setdefault(title, []).append((left_out, rows))
    shown = []
    for title, parts in found.items():
        axis = axis_of(row.get(end) for _, rows in parts for row in rows for end in ("value", "low", "high"))
        shown.append((title, [_reach(left_out, rows, axis, digits) for left_out, rows in parts]))
    return shown


def _reach(left_out: str, rows: Sequence[Row], axis: Axis, digits: int) -> Panel:
    own = {row["metric"]: row for row in rows}
    people = own.get(_CEILING, {}).get("value")
    based, order = Axis(axis.ticks, None if absent(people) else people), _by_value(rows, rows)
    lines = [own[name] for name in order]
    body = tuple((_line_name(row["metric"], row), number(row["value"], digits)) for row in lines)
    marked = frozenset((i, 1) for i, row in enumerate(lines) if row.get("passed"))
    splits = counted(max(row["n_splits"] for row in rows), "split")
    passed = [row["metric"] for row in lines if row.get("passed")]
    said = f"* {listed(few(passed))}: {_NOT_BELOW}" if passed else ""
    names = ("metric", "left_out", "value", "low", "high", "n_splits", "n")
    return Panel(
        Table(f"{_HOW[left_out]}, {splits}", ("", "value"), body, marked),
        (said,) if said else (),
        [{name: row.get(name) for name in names} for row in lines],
        tuple(strip({**row, "low": None} if row["metric"] != _CEILING else row, based, digits) for row in lines),
        1,
        based,
    )


def _by_value(first: Sequence[Row], rows: Sequence[Row]) -> list[str]:
    """People, then metrics by what they reach in the first of some statistics, then controls."""
    values = {row["metric"]: row["value"] for row in first}
    controls = {row["metric"] for row in rows if row.get("control")}
    names = values_of(rows, "metric")
    return sorted(names, key=lambda name: (name != _CEILING, name in controls, descending(values.get(name))))


def _line_name(name: str, row: Row) -> str:
    if row.get("control"):
        return f"{name} (control)"
    return {"one": "one rater", "half": "half of the raters"}[row["left_out"]] if name == _CEILING else name


def _reached(row: Row | None, digits: int, *, spread: bool) -> str:
    if row is None:
        return ""
    return with_interval(row if spread else {}, number(row["value"], digits), digits)


# --- All of it in a sentence or two, for the first screen of a report


def in_short(result: Result, digits: int = 2) -> list[str]:
    """For each criterion whom people put first, and how near to people the best metric comes."""
    said = []
    for criterion, where, rows in _parts(result.people):
        people = _ranked(criterion, rows)
        first = [row["system"] for row in people if row["rank"] == 1]
        name = f"{criterion}{where}"
        if len(people) < 2 or not first:
            continue
        if len(first) == 1:
            said.append(f"By people's {name} {first[0]} is first, told apart from every other system.")
        elif len(first) < len(people):
            others = counted(len(people) - len(first), "other")
            said.append(f"By people's {name} {listed(few(first))} share the first rank, before {others}.")
        else:
            said.append(f"By people's {name} all {len(people)} systems share one rank: {listed(few(first))}.")
    for criterion, where, rows in _parts(result.ceiling):
        (stat, level, left_out), task = next(iter(by_keys(rows, "stat", "level", "left_out").items()))
        best = [
            row for row in task if row["metric"] != _CEILING and not row.get("control") and not absent(row["value"])
        ]
        people_row = next((row for row in task if row["metric"] == _CEILING and not absent(row["value"])), None)
        if best and people_row:
            top = max(best, key=lambda row: float(row["value"]))
            side = {"one": "one rater", "half": "half of the raters"}[left_out]
            values = f"{number(top['value'], digits)}, {'not below' if top.get('passed') else 'below'} {side}"
            about = f"By {stat} ({level}) with {criterion}{where} {top['metric']} comes nearest to people"
            said.append(f"{about}: {values}, {number(people_row['value'], digits)}.")
    return said
