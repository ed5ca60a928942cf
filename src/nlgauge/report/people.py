"""What people say: whom they rank first, how far they agree, and how near to them a metric may get."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from nlgauge.core.result import Result
from nlgauge.io.files import counted
from nlgauge.report.drawing import Axis, axis_of, csv_file, strip
from nlgauge.report.tables import (
    MEAN,
    PEOPLE,
    SIGNIFICANT,
    Row,
    Table,
    absent,
    by_keys,
    descending,
    digits_of,
    listed,
    number,
    values_of,
    with_interval,
)

_NAMED = 5  # systems, or pairs of them, that a sentence names
_FOLDED = 10  # lines above which a page shows a table without pictures only when it is asked to
_EXCHANGES = "†"
_LEFT_OUT = {"one": "one rater left out", "half": "half of the raters left out"}
_CEILING = "people"  # in the place of a metric: raters who are left out


@dataclass(frozen=True)
class Panel:
    """A table with what it says in words, and on a page with pictures behind some of its columns.

    Attributes:
        rows: what it was made of.
        said: sentences.
        axes: column -> the axis that its pictures share.
        pictures: (line, column) -> the picture behind this cell.
    """

    table: Table
    rows: Sequence[Row]
    said: tuple[str, ...] = ()
    axes: Mapping[int, Axis] = field(default_factory=dict)
    pictures: Mapping[tuple[int, int], Any] = field(default_factory=dict)

    @property
    def folded(self) -> bool:
        """Whether a page shows the table only when it is asked to."""
        return not self.pictures and len(self.table.body) > _FOLDED

    @property
    def csv(self) -> tuple[str, str]:
        """The name and the URL of a file with the rows."""
        names = dict.fromkeys(name for row in self.rows for name in row)
        rows = [{n: "; ".join(row.get(n, ())) if n == "exchanged" else row.get(n) for n in names} for row in self.rows]
        return csv_file(self.table.title, rows)


def _parts(rows: Sequence[Row], *keys: str) -> Iterator[tuple[Any, ...]]:
    """Criterion and values of some keys, the group behind a comma, and the rows; of groups with a mean that alone."""
    for found, own in by_keys(rows, "criterion", *keys).items():
        groups = by_keys(own, "group")
        names = [name for (name,) in groups if name not in (MEAN, None)]
        means = f", mean of {len(names)} groups" if len(names) > 1 else "".join(f", {name}" for name in names)
        for (name,), part in groups.items():
            if name == MEAN or (MEAN,) not in groups:
                yield (*found, means if name == MEAN else "" if name is None else f", {name}", part)


# --- The ranking of people, and beside it the place that each metric gives to a system


def ranking(result: Result, digits: int | None = None, *, places: bool = True) -> list[Panel]:
    """For each criterion and group the systems as people rank them, with what each metric makes of them.

    Args:
        digits: after the point; None for 2 or 4, by the scale of the ratings.
        places: with a column for each metric.
    """
    parts = _parts(result.people)
    return [_ranking(name, where, rows, digits, places) for name, where, rows in parts if _people(name, rows)[0]]


def _ranking(criterion: str, where: str, rows: Sequence[Row], digits: int | None, places: bool) -> Panel:
    people, by_metric = _people(criterion, rows)
    digits = digits_of({}, people) if digits is None else digits
    columns = {
        "system": [row["system"] for row in people],
        "rank": [_shown(row["rank"]) for row in people],
        "place": [_range(row) for row in people],
        "mean": [with_interval(row, number(row["value"], digits), digits) for row in people],
        "items": [str(row["n"]) for row in people],
    }
    beside = {"raters": "n_raters", "items needed": "items_needed"}
    for name, key in beside.items():
        if any(row.get(key) is not None for row in people):
            columns[name] = [_shown(row[key]) for row in people]
    for metric, own in by_metric.items() if places else ():
        of_system = {row["system"]: row for row in own}
        columns[metric] = [_place(of_system.get(row["system"], {"rank": None}), own) for row in people]
    if not any("-" in cell[1:] for cell in columns["place"]):  # the rank says it all
        del columns["place"]
    above = "every system above is significantly better than every system below"
    exchanging = any(_EXCHANGES in cell for cells in columns.values() for cell in cells)
    signs = {
        f"rank: a new one begins where {above} (p < {SIGNIFICANT:g}, Holm)": people[-1]["rank"],
        "place: after those that are significantly better, before those that are worse": "place" in columns,
        "items needed: to tell it from the next one below with probability .8": "items needed" in columns,
        "under a metric: the place that it gives": places and by_metric,
        f"{_EXCHANGES} it puts a system above this one that people put significantly below": exchanging,
    }
    axis, at = axis_of(row.get(end) for row in people for end in ("value", "low", "high")), [*columns].index("mean")
    ruled = frozenset(i for i, (one, other) in enumerate(pairwise(people), start=1) if one["rank"] != other["rank"])
    body = tuple(zip(*columns.values(), strict=True))
    title = f"how people rank the systems: {criterion}{where}"
    return Panel(
        Table(title, tuple(columns), body, legend=tuple(sign for sign, holds in signs.items() if holds), ruled=ruled),
        rows,
        tuple(_exchanges(by_metric)) if len(people) > 1 else (),
        {at: axis},
        {(i, at): strip(row, axis, digits) for i, row in enumerate(people)},
    )


def _people(criterion: str, rows: Sequence[Row]) -> tuple[list[Row], dict[str, list[Row]]]:
    """The rows of people, the best system first, and those of each metric."""
    by_metric = {metric: own for (metric,), own in by_keys(rows, "metric").items()}
    return by_metric.pop(f"{PEOPLE}{criterion}", []), by_metric


def _range(row: Row) -> str:
    """The places that the tests leave a system."""
    best, worst = row.get("best"), row.get("worst")
    return "-" if best is None else str(best) if best == worst else f"{best}-{worst}"


def _shown(n: int | None) -> str:
    return "-" if n is None else str(n)


def _place(row: Row, own: Sequence[Row]) -> str:
    """The place of a system by a metric, marked if the metric puts another above it that people put below."""
    blank = "  " if any(other["exchanged"] for other in own) else ""
    return _shown(row["rank"]) + (f" {_EXCHANGES}" if row.get("exchanged") else blank)


def _exchanges(by_metric: Mapping[str, Sequence[Row]]) -> Iterator[str]:
    """Which systems each metric exchanges, the most first; in one sentence the metrics that exchange none."""
    found = {
        metric: [f"{below} above {row['system']}" for row in rows for below in row["exchanged"]]
        for metric, rows in by_metric.items()
    }
    for metric, pairs in sorted(found.items(), key=lambda one: -len(one[1])):
        if pairs:
            told = counted(len(pairs), "pair")
            yield f"{metric} exchanges {told} of systems that people tell apart: it puts {listed(few(pairs))}."
    none = [metric for metric, pairs in found.items() if not pairs]
    if none:
        yield f"{listed(none)} {'exchanges' if len(none) == 1 else 'exchange'} no systems that people tell apart."


def few(names: Sequence[str]) -> list[str]:
    """The first of some names, and how many more there are."""
    more = len(names) - _NAMED
    return [*names[:_NAMED], *([f"{more} more"] if more > 0 else [])]


# --- How far raters agree: all of them in words, each with the rest, and each two

_OF_RATERS = {  # field -> head of its column, and what it is
    "mean": ("mean", ""),
    "deviation": ("deviation", ""),
    "n": ("segments", ""),
    "alpha": ("alpha", "alpha: Krippendorff's"),
    "pearson": ("r", ""),
    "same": ("same", "same: share of equal ratings"),
    "kappa": ("kappa", "kappa: Cohen's"),
}


def agreement(result: Result, digits: int = 3) -> list[Panel]:
    """For each criterion and group how far raters agree: each with the rest; then, where there are some, every two."""
    found = []
    for criterion, where, rows in _parts(result.raters):
        whole = [row for row in rows if row["rater"] is None]
        each = [row for row in rows if row["rater"] is not None and row["against"] == "rest"]
        pairs = [row for row in rows if row["rater"] is not None and row["against"] != "rest"]
        said = tuple(_alpha(row, digits) for row in whole)
        found.append(Panel(_raters(f"how far people agree: {criterion}{where}", each, digits), rows, said))
        if pairs:
            found.append(Panel(_raters(f"every two raters: {criterion}{where}", pairs, digits), pairs))
    return found


def _raters(title: str, rows: Sequence[Row], digits: int) -> Table:
    """A line for each row, and a column for each field that some of them have."""
    fields = [name for name in _OF_RATERS if any(not absent(row.get(name)) for row in rows)]
    body = tuple(
        (
            *(row["rater"], "all others" if row["against"] == "rest" else row["against"]),
            *(str(row[name]) if name == "n" else number(row.get(name), digits, missing="-") for name in fields),
        )
        for row in rows
    )
    legend = tuple(_OF_RATERS[name][1] for name in fields if _OF_RATERS[name][1])
    return Table(title, ("rater", "with", *(_OF_RATERS[name][0] for name in fields)), body, left=2, legend=legend)


def _alpha(whole: Row, digits: int) -> str:
    """Krippendorff's alpha, which is one less the share of the differences that chance would make."""
    if absent(whole["alpha"]):
        return "How far people agree cannot be seen: no segment has two ratings, or all ratings are equal."
    raters = "" if whole["n_raters"] is None else f" of {counted(whole['n_raters'], 'rater')}"
    alpha = with_interval(whole, number(whole["alpha"], digits), digits)
    return (
        f"Krippendorff's alpha {alpha}{raters} on {counted(whole['n'], 'segment')}, {whole['scale']}: ratings of one"
        f" segment differ {100 * (1 - whole['alpha']):.0f} % as much as by chance (1: all are equal; 0: chance)."
    )


# --- The ceiling: raters who were left out, scored as if they were a metric


def ceiling(result: Result, digits: int = 3, *, only: str = "") -> list[Panel]:
    """For each criterion raters who were left out, then metrics and controls, with a column for each statistic.

    Args:
        only: `one` or `half`; empty for both.
    """
    parts = _parts([row for row in result.ceiling if only in ("", row["left_out"])], "left_out")
    return [_ceiling(f"{criterion}{where}, {_LEFT_OUT[how]}", rows, digits) for criterion, how, where, rows in parts]


def _ceiling(about: str, rows: Sequence[Row], digits: int) -> Panel:
    tasks = by_keys(rows, "stat", "level")
    order, body, marked, axes, pictures = _order(rows, next(iter(tasks.values()))), [], set(), {}, {}
    for j, part in enumerate(tasks.values(), start=1):
        people = next((row["value"] for row in part if row["metric"] == _CEILING), None)
        axes[j] = Axis(axis_of(row.get(end) for row in part for end in ("value", "low", "high")).ticks, people)
    for i, name in enumerate(order):
        line = [name + (" (control)" if any(row.get("control") for row in rows if row["metric"] == name) else "")]
        for j, part in enumerate(tasks.values(), start=1):
            row = next((row for row in part if row["metric"] == name), {"value": None})
            alone = row if name == _CEILING else {**row, "low": None}
            line.append(with_interval(alone, number(row["value"], digits), digits))
            pictures[i, j] = strip(alone, axes[j], digits)
            marked |= {(i, j)} if row.get("passed") else set()
        body.append(tuple(line))
    held = "raters left out, as if they were a metric; all are held against the ratings of those who stay"
    spread = any("[" in cell for cell in body[0])
    legend = (f"people: {held}", *(["[low, high]: the lowest and the highest split"] if spread else []))
    title = f"the ceiling: {about}, mean of {counted(max(row['n_splits'] for row in rows), 'split')}"
    header = ("", *(f"{stat} ({level})" for stat, level in tasks))
    passed = "passed the ceiling: these ratings cannot tell it from people"
    table = Table(title, header, tuple(body), frozenset(marked), marked_as=passed, legend=legend)
    return Panel(table, rows, (), axes, pictures)


def _order(rows: Sequence[Row], first: Sequence[Row]) -> list[str]:
    """People, then metrics by what they reach in the first statistic, then controls."""
    values = {row["metric"]: row["value"] for row in first}
    controls = {row["metric"] for row in rows if row.get("control")}
    names = values_of(rows, "metric")
    return sorted(names, key=lambda name: (name != _CEILING, name in controls, descending(values.get(name))))


# --- All of it in a sentence or two, for the first screen of a report


def in_short(result: Result) -> Iterator[str]:
    """For each criterion whom people put first, and how near to people the best metric comes."""
    for criterion, where, rows in _parts(result.people):
        people, by = _people(criterion, rows)[0], f"By people's {criterion}{f' ({where[2:]})' if where else ''}"
        first = [row["system"] for row in people if row["rank"] == 1]
        if first and len(people) > 1:
            n = len(people) - len(first)
            before = f", before {counted(n, 'other')}" if n else ""
            yield f"{by} {listed(few(first))} {'is first' if len(first) == 1 else 'share the first rank'}{before}."
    for criterion, where, rows in _parts(result.ceiling):
        (stat, level, _), task = next(iter(by_keys(rows, "stat", "level", "left_out").items()))
        known = [row for row in task if not row.get("control") and not absent(row["value"])]
        reach = [row["value"] for row in known if row["metric"] == _CEILING]
        metrics = sorted((row for row in known if row["metric"] != _CEILING), key=lambda row: -float(row["value"]))
        if reach and metrics:
            best, left_out = metrics[0], _LEFT_OUT[task[0]["left_out"]]
            reached = f"{best['metric']} reaches {number(best['value'], 2)}, the most of the metrics"
            yield (
                f"By {stat} with {criterion} (level {level}{where}) {reached}; people reach {number(reach[0], 2)}"
                f" ({left_out})."
            )
