"""Verdicts of judges, a JSON object a line: scores of answers, and choices between two of them."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from nlgauge.core.errors import InputError
from nlgauge.core.tables import Key, Preference, Preferences, ScoreTable
from nlgauge.io.files.files import InputFile
from nlgauge.io.files.lines import Faults, counted
from nlgauge.io.logs.values import LogLines, name, score

Choice = Literal["first", "second", "tie"]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a judge said once.

    Attributes:
        item: the input.
        judge: who judged: a person, or a model with its prompt.
        criterion: what was asked; None if the file does not say.
        repeat: which time it was asked, from 1.
        system: whose answer was scored; None for a choice.
        score: the score; NaN where none could be read.
        first: whose answer was shown first; None for a score.
        second: whose answer was shown second.
        verdict: which of the two is better; None where nothing could be read.
    """

    item: str
    judge: str
    criterion: str | None = None
    repeat: int = 1
    system: str | None = None
    score: float = math.nan
    first: str | None = None
    second: str | None = None
    verdict: Choice | None = None

    @property
    def winner(self) -> str | None:
        """The system that won; None for a tie, and where nothing could be read."""
        return {"first": self.first, "second": self.second}.get(self.verdict or "")


@dataclass(frozen=True)
class Verdicts:
    """The verdicts of a file.

    Attributes:
        rows: all of them, in order.
        name: the name of the file.
        notes: what a reader must know, with how many could not be read.
    """

    rows: tuple[Verdict, ...]
    name: str = ""
    notes: tuple[str, ...] = ()

    @property
    def judges(self) -> tuple[str, ...]:
        """The judges in order of first appearance."""
        return tuple(dict.fromkeys(row.judge for row in self.rows))

    def scores(self) -> ScoreTable:
        """Scores as a table: a column for each judge, or JUDGE.CRITERION where criteria are named.

        Repeats of a verdict are averaged, without those that could not be read; NaN where none could.

        Raises:
            InputError: there are choices alone.
        """
        found: dict[tuple[str | None, str], dict[str, list[float]]] = {}
        for row in self.rows:
            if row.first is None:
                column = row.judge if row.criterion is None else f"{row.judge}.{row.criterion}"
                found.setdefault((row.system, row.item), {}).setdefault(column, []).append(row.score)
        if not found:
            raise InputError(f"{self.name}: no verdict with a score, expected 'system' and 'score'")
        columns = dict.fromkeys(column for cells in found.values() for column in cells)
        values = {
            column: np.array([_mean(cells.get(column, ())) for cells in found.values()])
            for column in columns  # each (n,)
        }
        keys = tuple(Key(None, system, item) for system, item in found)
        return ScoreTable(keys, values, "segment", self.name, self.notes)

    def preferences(self, judge: str | None = None) -> Preferences:
        """Choices as preferences, one for each verdict with a winner; ties and unread ones are counted in the notes.

        Args:
            judge: whose; None for all.

        Raises:
            InputError: nobody won.
        """
        rows = [row for row in self.rows if row.first is not None and judge in (None, row.judge)]
        pairs = []
        for row in rows:
            if row.winner is not None:
                other = row.second if row.winner == row.first else row.first
                pairs.append(Preference(Key(None, row.winner, row.item), Key(None, other, row.item)))
        if not pairs:
            raise InputError(f"{self.name}: no verdict with a winner, expected 'first', 'second' and 'verdict'")
        ties = sum(row.verdict == "tie" for row in rows)
        notes = [f"{self.name}: {counted(ties, 'tie')} left out of the preferences"] if ties else []
        return Preferences(tuple(pairs), self.name, (*self.notes, *notes))


def read_verdicts(path: str | os.PathLike[str]) -> Verdicts:
    """Read verdict lines.

    Each line has `item` and `judge`, perhaps `criterion` and `repeat`; then `system` and `score`, or `first`, `second`
    and `verdict` (`first`, `second` or `tie`). A `score` or `verdict` of null could not be read: it is undefined and
    counted. `raw`, what the judge said, and other fields are ignored.

    Raises:
        InputError: a line lacks a field or has a wrong one; the error names the line.
    """
    file = InputFile(path)
    lines, faults = LogLines(file), Faults(file.name)
    rows: list[Verdict] = []
    for where, fields in lines:
        with faults.row(where):
            rows.append(_verdict(fields))
    faults.check()
    if not rows:
        raise InputError(f"{file.name} is empty: no verdict in it, expected item, judge and score or verdict")
    return Verdicts(tuple(rows), file.name, tuple(_notes(file.name, lines, rows)))


def _notes(file: str, lines: LogLines, rows: list[Verdict]) -> Iterator[str]:
    yield from lines.notes()
    unread = Counter(row.judge for row in rows if (row.verdict is None if row.first else math.isnan(row.score)))
    asked = Counter(row.judge for row in rows)
    for judge, n in unread.items():
        yield f"{file}: {n} of {counted(asked[judge], 'verdict')} of {judge!r} could not be read"


def _verdict(fields: Mapping[str, Any]) -> Verdict:
    item, judge, repeat = name(fields.get("item")), name(fields.get("judge")), fields.get("repeat", 1)
    for field, value in (("item", item), ("judge", judge)):
        if value is None:
            raise InputError(f"field {field!r} is missing, expected a string; fields found: {', '.join(fields)}")
    if type(repeat) is not int:
        raise InputError(f"field 'repeat' is {repeat!r:.40}, expected a whole number")
    criterion, first, second = (name(fields.get(field)) for field in ("criterion", "first", "second"))
    assert item is not None  # both were checked
    assert judge is not None
    if "verdict" not in fields and "score" in fields:
        value = fields["score"]
        if value is not None and type(value) not in (bool, int, float):
            raise InputError(f"field 'score' is {value!r:.40}, expected a number or null")
        return Verdict(
            item=item,
            judge=judge,
            criterion=criterion,
            repeat=repeat,
            system=name(fields.get("system")),
            score=score(value),
        )
    if "verdict" not in fields or first is None or second is None:
        raise InputError("expected 'system' and 'score', or 'first', 'second' and 'verdict'")
    if first == second:
        raise InputError(f"'first' and 'second' are both {first!r}, expected two systems")
    verdict = fields["verdict"]
    if verdict is not None and verdict not in get_args(Choice):
        raise InputError(f"field 'verdict' is {verdict!r:.40}, expected first, second, tie or null")
    return Verdict(
        item=item, judge=judge, criterion=criterion, repeat=repeat, first=first, second=second, verdict=verdict
    )


def _mean(values: Any) -> float:
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else math.nan
