"""A checklist made from a data set: each text before and after each perturbation of the list."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence

from nlgauge.audits.anchors import Anchor, Field, anchors, cases_of, distinct, script_notes
from nlgauge.core.errors import SpecError, nearest
from nlgauge.core.segment import Dataset
from nlgauge.core.suite import Design, Pair, Skipped, Suite
from nlgauge.metrics.languages import LanguageCheck
from nlgauge.perturbations.base import Case, Inapplicable, Perturbed
from nlgauge.perturbations.checklist import ChecklistRow, select_rows, task_of
from nlgauge.perturbations.perturb import apply
from nlgauge.perturbations.registry import perturbation
from nlgauge.text.languages import Language

_BUGS = 5  # told one by one; all are counted


def rows_for(
    dataset: Dataset, task: str | None, criterion: str | None, perturbations: Sequence[str]
) -> list[ChecklistRow]:
    """The rows of a task's checklist, or only those rows whose perturbations are named.

    Raises:
        SpecError: the task, the criterion or a perturbation is unknown, or neither the data nor the caller name a task.
    """
    name_of_task = task or task_in(dataset)
    rows = list(select_rows(name_of_task, criterion))
    if not perturbations:
        return rows
    chosen = []
    for spec in distinct(perturbations):
        found = _rows_of(spec, rows)
        if not found:
            name = perturbation(spec).info.name
            raise SpecError(
                f"no row {name!r} in the checklist of {name_of_task!r}{nearest(name, {row.template for row in rows})}"
            )
        chosen += found
    return chosen


def rows_to_perturb(
    perturbations: Sequence[str], task: str | None = None, criterion: str | None = None
) -> list[ChecklistRow]:
    """The rows of a task's checklist, or those of some perturbations; without a task, a row of none for each.

    A perturbation outside the checklist of the task is made all the same; its row has no penalty.

    Raises:
        SpecError: the task, the criterion or a perturbation is unknown.
    """
    checklist = () if task is None else select_rows(task, criterion)
    if not perturbations:
        return list(checklist)
    rows: list[ChecklistRow] = []
    for spec in distinct(perturbations):
        beyond = ("", "", spec) if task is None else (task_of(task), criterion or "other", spec, spec)
        rows += _rows_of(spec, checklist) or [ChecklistRow(*beyond)]
    return rows


def _rows_of(spec: str, rows: Sequence[ChecklistRow]) -> list[ChecklistRow]:
    """The rows of a perturbation, as it was typed."""
    name = perturbation(spec).info.name
    return [dataclasses.replace(row, template=spec) for row in rows if row.template == name]


def perturbed_suite(
    dataset: Dataset,
    rows: Sequence[ChecklistRow],
    *,
    seed: int = 0,
    field: Field | None = None,
    limit: int | None = None,
    legacy_join: bool = False,
    language: str | Language = "builtin",
    scripts: LanguageCheck = "note",
) -> Suite:
    """Make pairs of each text before and after each perturbation. The arguments are those of `nlgauge.suite`.

    If the rows have no task, the suite is a preference suite. The references of its pairs are the texts of the item
    that say the same as the text before the perturbation: the other references, or for a hypothesis all references.
    Where there are none, the text itself is the reference, as in a checklist.
    """
    texts = anchors(dataset, field, limit, seed)
    unread = script_notes(texts, scripts)
    cases = cases_of(texts, language)
    built = {row.spec: perturbation(row.spec) for row in rows}
    pairs: list[Pair] = []
    bugs: list[str] = []
    skipped: Counter[tuple[ChecklistRow, str]] = Counter()
    for anchor, case in zip(texts, cases, strict=True):
        outcomes: dict[str, Perturbed | Inapplicable] = {}
        for row in rows:
            if row.spec not in outcomes:
                outcome = outcomes[row.spec] = apply(built[row.spec], case, seed)
                bugs += [outcome.note] if isinstance(outcome, Inapplicable) and outcome.note else []
            outcome = outcomes[row.spec]
            if isinstance(outcome, Inapplicable):
                skipped[row, outcome.reason] += 1
            else:
                pairs.append(_pair(anchor, row, outcome, case if legacy_join else None))
    notes = [*unread, *bugs[:_BUGS], *_about_copies([pair for pair in pairs if not pair.task])]
    if legacy_join:
        notes.append("perturbed texts are tokens joined by blanks (legacy_join), as the released code writes them")
    left_alone = [
        Skipped(perturbation=row.template, reason=reason, n=n, task=row.task or None, criterion=row.criterion or None)
        for (row, reason), n in skipped.items()
    ]
    design: Design = "checklist" if rows and all(row.task for row in rows) else "preference"
    return Suite(tuple(pairs), dataset.name, design, left_alone, (*dataset.notes, *notes))


def applied(suite: Suite, rows: Sequence[ChecklistRow]) -> list[tuple[ChecklistRow, int, Counter[str]]]:
    """For each row how many texts it changed, and how many it left alone, by reason."""
    changed = Counter((pair.task or "", pair.criterion or "", pair.phenomenon) for pair in suite)
    left: dict[tuple[str, str, str], Counter[str]] = {}
    for s in suite.skipped:
        left.setdefault((s.task or "", s.criterion or "", s.perturbation), Counter())[s.reason] += s.n
    keys = ((row.task, row.criterion, row.template) for row in rows)
    return [(row, changed[key], left.get(key, Counter())) for row, key in zip(rows, keys, strict=True)]


def _about_copies(pairs: Sequence[Pair]) -> list[str]:
    """How many pairs of a preference suite have the better text as their only reference."""
    n = sum(pair.references == (pair.better,) for pair in pairs)
    if not n:
        return []
    return [
        f"{n} of {len(pairs)} pairs have no reference but the text before the change, which nearly every metric"
        " prefers; for a suite that a metric can fail, perturb hypotheses that have references (--field hyp), or take"
        " 'nlgauge audit DATA --suite menli', which puts a paraphrase in place of the reference"
    ]


def task_in(dataset: Dataset) -> str:
    """The task that the data name as their group.

    Raises:
        SpecError: the data name no known task, or several.
    """
    groups_by_task: dict[str, str] = {}
    for group in dataset.groups:
        try:
            groups_by_task.setdefault(task_of(group or ""), group or "")
        except SpecError:
            continue
    if len(groups_by_task) != 1:
        which = f"the data name {', '.join(groups_by_task.values())}" if groups_by_task else "the data name none"
        raise SpecError(f"no task is given and {which}; choose one of mt, as, qg, dg, ic, d2t (--task mt)")
    return next(iter(groups_by_task))


def _pair(anchor: Anchor, row: ChecklistRow, outcome: Perturbed, joined: Case | None) -> Pair:
    text = outcome.text
    if joined is not None:
        text = " ".join(t.text for t in joined.language.analyse(text).tokens)
    s = anchor.segment
    others = tuple(other for other in anchor.others if other.strip() != anchor.text.strip())
    return Pair(
        id="/".join(part for part in (s.id, row.criterion, row.template) if part),
        phenomenon=row.template,
        better=anchor.text,
        worse=text,
        references=(anchor.text,) if row.task or not others else others,
        source=s.source,
        expect=outcome.expect,
        task=row.task or None,
        criterion=row.criterion or None,
        group=s.group,
        context=tuple(s.context),
        meta={**outcome.meta, "edits": [list(e) for e in outcome.edits]},
    )
