"""`nlgauge perturb`: texts made worse on purpose, as pairs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nlgauge.cli import options

if TYPE_CHECKING:
    from nlgauge.core.suite import Suite
    from nlgauge.perturbations.checklist import ChecklistRow

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA", help="Texts: JSON lines, TSV, CSV, Parquet; references are perturbed, else hypotheses."
    ),
]
Names = Annotated[
    list[str] | None,
    typer.Option("--perturbation", "-p", metavar="NAME", help="One of 'nlgauge list perturbations', with options."),
]
Task = Annotated[
    str | None,
    typer.Option(
        "--task", metavar="TASK", help="mt, as, qg, dg, ic or d2t: all rows of its checklist, or those named."
    ),
]
Criterion = Annotated[
    str | None, typer.Option("--criterion", metavar="NAME", help="Only the rows of one criterion, as fluency.")
]
Field = Annotated[
    str | None,
    typer.Option("--field", help="ref or hyp: what is perturbed.  [default: ref where there are references]"),
]
Limit = Annotated[int | None, typer.Option("--limit", min=1, metavar="N", help="At most N texts, drawn by the seed.")]
Language = Annotated[
    str, typer.Option("--language", help="What analyses texts: builtin, spacy, spacy:PIPELINE, stanza.")
]
LegacyJoin = Annotated[
    bool, typer.Option("--legacy-join", help="Join tokens by blanks, as the checklists' released code does.")
]


def perturb(
    data: Data,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Pairs, as .jsonl or .tsv (also .gz).")],
    perturbation: Names = None,
    task: Task = None,
    criterion: Criterion = None,
    field: Field = None,
    limit: Limit = None,
    legacy_join: LegacyJoin = False,
    language: Language = "builtin",
    seed: options.Seed = 0,
    quiet: options.Quiet = False,
) -> int:
    """Perturb texts, and write pairs of before and after."""
    from nlgauge.audits.checklist import perturbed_suite
    from nlgauge.io.read import read
    from nlgauge.io.suites.pairs import write_pairs

    options.check_outputs({"--output": output}, [data])
    rows = _rows(perturbation or [], task, criterion)
    dataset = read(data)
    made = perturbed_suite(
        dataset,
        rows,
        seed=seed,
        field=field,
        limit=limit,
        legacy_join=legacy_join,
        language=language,  # type: ignore[arg-type]
    )
    write_pairs(made, output)
    if not quiet:
        typer.echo(applied(made, rows))
        for note in made.notes:
            typer.echo(f"note: {note}")
    return 0


def _rows(names: list[str], task: str | None, criterion: str | None) -> list[ChecklistRow]:
    """Rows of a checklist where a task is named; else rows of no task, one a perturbation."""
    from nlgauge.audits.anchors import distinct
    from nlgauge.core.errors import InputError
    from nlgauge.perturbations.checklist import ChecklistRow, select_rows, task_of
    from nlgauge.perturbations.registry import perturbation

    built = {name: perturbation(name).info for name in distinct(names)}
    if task is None:
        if criterion is not None:
            raise InputError("--criterion needs --task: criteria differ from task to task")
        if not names:
            raise InputError(
                "nothing to do: name perturbations (-p negation) or a task (--task mt); see 'nlgauge list"
                " perturbations'"
            )
        return [ChecklistRow("", "", name) for name in names]
    if not names:
        return list(select_rows(task, criterion))
    rows: list[ChecklistRow] = []
    known = {row.template: row for row in select_rows(task, criterion)}
    for name, about in built.items():
        row = known.get(about.name)
        # a perturbation outside the checklist of the task may be made all the same; it has no penalty
        rows.append(
            ChecklistRow(
                task_of(task), row.criterion if row else criterion or "other", name, row.label if row else name
            )
        )
    return rows


def applied(suite: Suite, rows: list[ChecklistRow]) -> str:
    """A line a perturbation: how many texts it changed, and how many it left alone, by reason."""
    from nlgauge.report.tables.table import Table

    made = Counter((p.task or "", p.criterion or "", p.phenomenon) for p in suite)
    left: dict[tuple[str, str, str], Counter[str]] = {}
    for s in suite.skipped:
        left.setdefault((s.task or "", s.criterion or "", s.perturbation), Counter())[s.reason] += s.n
    body: list[tuple[Any, ...]] = []
    for row in rows:
        key = (row.task, row.criterion, row.template)
        reasons = left.get(key, Counter())
        told = ", ".join(f"{reason} {n}" for reason, n in reasons.most_common())
        body.append((row.template, row.criterion or "-", str(made[key]), str(reasons.total()), told))
    header = ("perturbation", "criterion", "changed", "left alone", "why")
    return Table("", header, tuple(body), left=len(header)).text()
