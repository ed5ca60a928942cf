"""Deviations of a checklist: does a metric's score drop as much as the ratings of people?"""

from __future__ import annotations

import dataclasses
import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from nlgauge.audits.preference import Sides
from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.suite import Expect, Suite
from nlgauge.io.files import Faults, InputFile, Lines, number_in, unpacked_name
from nlgauge.io.rows import JsonRows
from nlgauge.perturbations.checklist import ChecklistRow, criterion_of, task_of
from nlgauge.stats.draws import mean_interval

RULES: Mapping[str, str] = {
    "self": "each score divided by that of the unperturbed text compared with itself",
    "minmax": "least to greatest score of the metric over all texts of the task",
    "none": "scores as they are",
}
_Key = tuple[str | None, str | None, str]  # task, criterion and perturbation


@dataclass(frozen=True, kw_only=True)
class DeviationRow:
    """How a metric's drop under one perturbation compares with the drop in people's ratings: one row of the checklist.

    Attributes:
        task, criterion, template, label: fields of the row of the checklist.
        expect: whether scores should fall (`lower`) or stay (`same`).
        n_not_applicable: the number of texts to which the perturbation does not apply.
        n_undefined: the number of pairs without a defined drop.
        penalty: the mean drop in people's ratings, in [0, 1]; NaN if it is not known.
        deviation: drop minus penalty.
        low, high: the confidence interval of the deviation.
        certainty, method: how well the penalty is known, and how it was obtained.
        norm: how scores were scaled, a key of `RULES`.
        invariant: whether the mean drop is within the tolerance; None if scores should fall.
        within: the share of texts whose drop is within the tolerance; NaN if scores should fall.
        trained_on: whether the metric's model was trained on this perturbation.
    """

    metric: str
    task: str
    criterion: str
    template: str
    label: str
    expect: Expect
    n: int
    n_not_applicable: int
    n_undefined: int
    drop: float
    penalty: float
    deviation: float
    low: float
    high: float
    certainty: str
    method: str
    norm: str
    invariant: bool | None
    within: float
    trained_on: bool = False

    @property
    def attack(self) -> str:
        """The subject of the row, as training names it."""
        return self.template

    def as_row(self) -> dict[str, Any]:
        """The flat object of the result file."""
        row = {field.name: getattr(self, field.name) for field in fields(self)}
        if not self.trained_on:
            del row["trained_on"]
        return row


def deviation_rows(
    suite: Suite, sides: Sides, rows: Sequence[ChecklistRow], *, normalise: str = "auto", tolerance: float = 0.05
) -> list[DeviationRow]:
    """For each row of the checklist, the metric's mean drop, the drop in people's ratings, and their difference.

    The deviation is s = (h(p^) - h(p)) - (f(p^) - f(p)) = drop - penalty. It is negative if the metric punishes the
    perturbation less than people do. Intervals are Student's 95 % over texts, and treat the penalty as exact.

    Args:
        suite: pairs with the text before (better) and after (worse) the perturbation.
        normalise: a key of `RULES`. `auto` means `self` where every text is its own reference and a copy of it gets the
            highest score, else `minmax`.
        tolerance: an invariance holds if the mean drop, up or down, is at most this large.

    References:
        Sai et al. (2021), "Perturbation CheckLists for Evaluating NLG Evaluation Metrics", equation 1.
    """
    rule = rule_for(sides, suite) if normalise == "auto" else normalise
    drops = normalised_drops(sides, suite, rule)
    pairs = [suite.pairs[place] for place in sides.places]
    places_by_key: dict[_Key, list[int]] = {}
    for i, pair in enumerate(pairs):
        places_by_key.setdefault((pair.task, pair.criterion, pair.phenomenon), []).append(i)
    left_alone: Counter[_Key] = Counter()
    for s in suite.skipped:
        left_alone[s.task, s.criterion, s.perturbation] += s.n
    deviations = []
    for row in rows:
        key = (row.task, row.criterion, row.template)
        places = places_by_key.get(key, [])
        expect = pairs[places[0]].expect if places else ("same" if row.criterion == "invariance" else "lower")
        drop, low, high = mean_interval(drops[places])
        defined = drops[places][~np.isnan(drops[places])]
        same = expect == "same"
        deviation = DeviationRow(
            metric=sides.spec,
            task=row.task,
            criterion=row.criterion,
            template=row.template,
            label=row.label,
            expect=expect,
            n=len(places),
            n_not_applicable=left_alone[key],
            n_undefined=len(places) - len(defined),
            drop=drop,
            penalty=row.penalty,
            deviation=drop - row.penalty,
            low=low - row.penalty,
            high=high - row.penalty,
            certainty=row.certainty,
            method=row.method,
            norm=rule,
            invariant=bool(abs(drop) <= tolerance) if same and not math.isnan(drop) else None,
            within=float((np.abs(defined) <= tolerance).mean()) if same and len(defined) else math.nan,
        )
        deviations.append(deviation)
    return deviations


def rule_for(sides: Sides, suite: Suite) -> str:
    """`self` if each unperturbed text is its own reference and a copy gets the best score; otherwise `minmax`."""
    info = sides.metric.info
    copies = all(suite.pairs[place].better in suite.pairs[place].references for place in sides.places)
    best = "references" in info.needs and info.higher_is_better and info.copy_is_best
    return "self" if best and copies else "minmax"


def normalised_drops(sides: Sides, suite: Suite, rule: str) -> Array:
    """The drops f(p) - f(p^) on the scale of a rule, shape (n,), above 0 if the perturbed text is scored as worse.

    NaN if a score is undefined or its scale has no width.
    """
    sign = 1 if sides.higher_is_better else -1
    with np.errstate(invalid="ignore", divide="ignore"):
        if rule == "self":
            return np.where(sides.better > 0, sign * (sides.better - sides.worse) / sides.better, np.nan)
        if rule == "none":
            return sign * (sides.better - sides.worse)
        drops = np.full(len(sides.places), np.nan)
        tasks = [suite.pairs[place].task for place in sides.places]
        for task in dict.fromkeys(tasks):
            part = np.array([t == task for t in tasks])
            both = np.concatenate([sides.better[part], sides.worse[part]])
            width = np.nanmax(both) - np.nanmin(both) if not np.isnan(both).all() else np.nan
            drops[part] = sign * (sides.better[part] - sides.worse[part]) / (width if width > 0 else np.nan)
        return drops


# --- Human penalties of a checklist, from the shipped table or from a table of the user


def read_penalties(path: str | os.PathLike[str]) -> list[ChecklistRow]:
    """Read a user's penalties from TSV or CSV with a header, or from JSON lines.

    Each row has `template` and `penalty` (in [0, 1]), and may have `task` and `criterion`.

    Raises:
        InputError: a column is missing, a penalty is not a number in [0, 1], a task is unknown, or a row is repeated.
    """
    file = InputFile(path)
    rows: dict[tuple[str, str, str], ChecklistRow] = {}
    faults = Faults(file.name)
    for place, record in _records(file, faults):
        with faults.row(place):
            row = _row(record)
            key = (row.task, row.criterion, row.template)
            if key in rows:
                raise InputError(
                    f"a second penalty for {row.template!r}, expected one per task, criterion and template"
                )
            rows[key] = row
    faults.check()
    if not rows:
        raise InputError(f"{file.name} is empty: no penalty in it, expected template and penalty")
    return list(rows.values())


def with_penalties(wanted: Sequence[ChecklistRow], given: Sequence[ChecklistRow]) -> list[ChecklistRow]:
    """The rows with their penalties; NaN for a row without one.

    A penalty for a task and criterion takes precedence over one for the task, and that over one for the template alone.
    """
    table = {(row.task, row.criterion, row.template): row for row in given}
    out = []
    for row in wanted:
        name = row.template.partition(":")[0]  # options do not stand in the tables
        keys = ((task, criterion, name) for task in (row.task, "") for criterion in (row.criterion, ""))
        match = next((table[key] for key in keys if key in table), ChecklistRow("", "", ""))
        kept = {name: getattr(match, name) for name in ("penalty", "lower", "upper", "method", "certainty")}
        out.append(dataclasses.replace(row, **kept))
    return out


def _records(file: InputFile, faults: Faults) -> Iterator[tuple[str, dict[str, Any]]]:
    plain = unpacked_name(file.path)
    if plain.endswith((".tsv", ".csv", ".txt")):
        yield from _table(file, "," if plain.endswith(".csv") else "\t", faults)
        return
    rows = JsonRows(file)
    rows.refuse = faults.add
    for place, record in rows:
        if type(record) is dict:
            yield rows.at(place), record
        else:
            faults.add(rows.at(place), "not an object, expected one with 'template' and 'penalty'")


def _table(file: InputFile, delimiter: str, faults: Faults) -> Iterator[tuple[str, dict[str, Any]]]:
    lines = Lines(file)
    header: list[str] | None = None
    for place, line in lines.filled():
        cells = [cell.strip() for cell in line.split(delimiter)]
        if header is None:
            header = cells
            lacking = [name for name in ("template", "penalty") if name not in header]
            if lacking:
                missed = " and no column ".join(map(repr, lacking))
                raise InputError(f"{lines.at(place)}: no column {missed} in the header ({', '.join(header)})")
            continue
        if len(cells) != len(header):
            faults.add(lines.at(place), f"{len(cells)} cells, expected {len(header)} as in the header")
            continue
        yield lines.at(place), dict(zip(header, cells, strict=True))


def _row(record: dict[str, Any]) -> ChecklistRow:
    for name in ("template", "penalty"):
        if record.get(name) in (None, ""):
            raise InputError(f"no {name!r}; fields found: {', '.join(map(repr, record))}")
    try:
        penalty = number_in(record["penalty"]) if isinstance(record["penalty"], str) else float(record["penalty"])
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"penalty is {repr(record['penalty'])[:40]}, expected a number from 0 to 1") from None
    if not 0 <= penalty <= 1:
        raise InputError(
            f"penalty is {penalty:g}, expected 0 to 1 (how much lower people rate the text; divide ratings of"
            " 0 to 10 by 10)"
        )
    try:
        task = task_of(str(record["task"])) if record.get("task") else ""
    except SpecError as error:
        raise InputError(str(error)) from None
    criterion, label = criterion_of(str(record.get("criterion") or "")), str(record.get("label") or "")
    return ChecklistRow(task, criterion, str(record["template"]), label, penalty, method="user", certainty="user")
