"""The rows of a result for tables and pages: rows by key, and the number of a row as it is shown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
MEAN, POOLED = "mean", "pooled"  # in the place of a group, a criterion, a data set or a metric
MEAN_PREFIX = "mean-"  # phenomena that are means of others begin so
ALL, ADEQUACY = "mean-all", "mean-adequacy"
PEOPLE = "human."  # criteria in the place of a metric begin so
TASK = ("stat", "criterion", "level")
SIGNIFICANT = 0.05
FALLS = "↓"  # behind the name of what is better when it is lower
LOWER_IS_BETTER = f"{FALLS} lower is better"


_RANKED = "rank: "  # how the note begins that says by which rule ranks begin
_BY_ALL = "a new rank begins where every metric above is significantly better than every metric below"


def rank_rule(notes: Iterable[str]) -> str:
    """By which rule the ranks of a result begin: what its notes say, or the rule that needs no note."""
    return next((note.removeprefix(_RANKED) for note in notes if note.startswith(_RANKED)), _BY_ALL)


def values_of(rows: Iterable[Row], key: str) -> list[Any]:
    """The values of one key, each once, in order of appearance."""
    return list(dict.fromkeys(row[key] for row in rows))


def by_keys(rows: Iterable[Row], *keys: str) -> dict[tuple[Any, ...], list[Row]]:
    """Rows by their values of some keys, in order of appearance."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return groups


def measured(rows: Iterable[Row]) -> list[Row]:
    """Rows that hold the value of a metric, not a test of one metric against another."""
    return [row for row in rows if row.get("against") is None]


def compared(rows: Iterable[Row]) -> list[Row]:
    """Rows that hold a test of one metric against another."""
    return [row for row in rows if row.get("against") is not None]


def is_of_people(row: Row) -> bool:
    """Whether a row compares a criterion with another, as `--criteria` adds them."""
    return str(row["metric"]).startswith(PEOPLE) and "chance" not in row


def p_values(rows: Iterable[Row]) -> dict[tuple[str, str], float]:
    """(metric, other) -> p, adjusted where p-values were adjusted."""
    return {(row["metric"], row["against"]): p_of(row) for row in rows}


def p_of(row: Row) -> float:
    """The p-value of a row, adjusted where it was adjusted."""
    p: float = row["p"] if row.get("p_adjusted") is None else row["p_adjusted"]
    return p


def claim_of(row: Row) -> str:
    """The claim that a small p supports, given the alternative of the test."""
    return "row better than column" if row["alternative"] == "greater" else "row and column differ"


def means_last(names: Iterable[str]) -> list[str]:
    """Phenomena in order of appearance, with means after the others."""
    once = dict.fromkeys(names)
    return sorted(once, key=lambda name: name.startswith(MEAN_PREFIX))


def whole(rows: Sequence[Row], phenomenon: str = ALL) -> list[Row]:
    """The rows of a sweep in which data sets and suites are taken together: their means, or the only ones.

    The mean over pairs of metrics is left out.
    """
    points = points_of(rows, phenomenon)
    return [row for row in points if row["dataset"] == MEAN] or points


def points_of(rows: Sequence[Row], phenomenon: str) -> list[Row]:
    """The rows of a sweep for pairs of metrics on data sets and suites, or on their means."""
    return [
        row
        for row in rows
        if row["metric"] != MEAN and None not in (row["dataset"], row["suite"]) and row["phenomenon"] == phenomenon
    ]


def weight_tasks(rows: Sequence[Row]) -> dict[tuple[Any, ...], list[Row]]:
    """(stat, criterion, level) -> the rows of a sweep about it."""
    return by_keys((row for row in rows if row["stat"] is not None), *TASK)


UNDEFINED = "undefined"


def absent(value: float | None) -> bool:
    """Whether there is no number: None, or NaN."""
    return value is None or math.isnan(value)


def with_nan(rows: Sequence[Row]) -> list[Row]:
    """Rows of a result file as they were before: None becomes NaN in ends of intervals and where others have floats."""
    floats = {name for row in rows for name, value in row.items() if isinstance(value, float)}
    floats |= {name for row in rows for name in row if name.endswith(("low", "high"))}
    return [{k: math.nan if v is None and k in floats else v for k, v in row.items()} for row in rows]


def number(value: float | None, digits: int = 3, *, sign: str = "", missing: str = UNDEFINED) -> str:
    """A number with a given number of decimals; `missing` where there is none.

    Args:
        value: the number.
        digits: the number of decimals; a number that rounds to 0 is never negative.
        sign: "+" shows the sign of every number.
        missing: the text for None and NaN.
    """
    if value is None or math.isnan(value):
        return missing
    text = f"{value:{sign}.{digits}f}"
    return text.replace("-", sign) if float(text) == 0 else text


def percent(share: float | None) -> str:
    """A change as people read it: +3.1 %."""
    return UNDEFINED if share is None or math.isnan(share) else f"{number(100 * share, 1, sign='+')} %"


def between(low: float | None, high: float | None, digits: int = 3, *, sign: str = "") -> str:
    """An interval on a page, "0.12 to 0.34"; empty where there is none."""
    return "" if absent(low) else f"{number(low, digits, sign=sign)} to {number(high, digits, sign=sign)}"


def with_interval(row: Mapping[str, Any], text: str, digits: int, *, sign: str = "") -> str:
    """A cell of a table, "0.23 [0.12, 0.34]"; the text alone where the row has no interval."""
    if absent(row.get("low")):
        return text
    return f"{text} [{number(row['low'], digits, sign=sign)}, {number(row['high'], digits, sign=sign)}]"


def descending(value: float | None) -> float:
    """A key to sort by: the greatest number first, what is absent last."""
    return math.inf if value is None or math.isnan(value) else -value
