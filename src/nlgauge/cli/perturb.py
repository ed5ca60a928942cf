"""`nlgauge perturb`: texts made worse on purpose, as pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, cast

import typer

from nlgauge.audits.suites import applied, perturbed_suite, rows_to_perturb
from nlgauge.cli import options
from nlgauge.cli.terminal import echo
from nlgauge.core.errors import InputError
from nlgauge.core.result import STDOUT
from nlgauge.core.suite import Suite
from nlgauge.io.parallel import read_texts
from nlgauge.io.suites.rows import write_pairs
from nlgauge.metrics.languages import LANGUAGE_CHECKS, LanguageCheck
from nlgauge.perturbations.checklist import TASKS, ChecklistRow
from nlgauge.perturbations.perturb import PERTURBATIONS
from nlgauge.report.tables import Table

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA", help="Texts: JSON lines, TSV, CSV, Parquet; references are perturbed, else hypotheses."
    ),
]
Output = Annotated[
    str, typer.Option("--output", "-o", metavar="FILE", help="Pairs, as .jsonl or .tsv (also .gz); - prints them.")
]


@dataclass(frozen=True)
class Chosen:
    """Which perturbations are made."""

    perturbation: Annotated[
        list[str] | None,
        options.choice(
            "--perturbation",
            "-p",
            among=PERTURBATIONS.names(),
            metavar="NAME",
            help="One of 'nlgauge list perturbations', with options.",
        ),
    ] = None
    task: Annotated[
        str | None,
        options.choice("--task", among=TASKS, help="All rows of the checklist of a task, or those named."),
    ] = None
    criterion: Annotated[
        str | None, typer.Option("--criterion", metavar="NAME", help="Only the rows of one criterion, as fluency.")
    ] = None


@dataclass(frozen=True)
class Making:
    """Options: the texts to perturb, and how they are analysed and joined."""

    field: Annotated[
        str | None,
        options.choice(
            "--field", among="ref hyp", help="What is perturbed.  [default: ref where there are references]"
        ),
    ] = None
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            min=1,
            metavar="N",
            help="At most N texts, drawn by the seed; of a suite that is read, about N pairs.",
        ),
    ] = None
    legacy_join: Annotated[
        bool, typer.Option("--legacy-join", help="Join tokens by blanks, as the checklists' released code does.")
    ] = False
    language: Annotated[
        str,
        options.choice("--language", among="builtin spacy spacy:PIPELINE stanza", help="What analyses texts."),
    ] = "builtin"
    scripts: Annotated[
        str,
        options.choice("--scripts", among=LANGUAGE_CHECKS, help="Note text in scripts that is not read, or refuse it."),
    ] = "note"


@options.common(without={"device", "dtype", "cache", "no_cache", "encoder"})
def perturb(
    *, data: Data, columns: options.Columns = None, output: Output, chosen: Chosen, making: Making, run: options.Common
) -> int:
    """Perturb texts, and write pairs of before and after."""
    options.check_outputs({"--output": output}, [data])
    _check(chosen)
    rows = rows_to_perturb(chosen.perturbation or [], chosen.task, chosen.criterion)
    suite = perturbed_suite(
        read_texts(data, options.columns_of(columns)),
        rows,
        seed=run.seed,
        field=cast(Literal["ref", "hyp"] | None, making.field),  # checked there
        limit=making.limit,
        legacy_join=making.legacy_join,
        language=making.language,
        scripts=cast(LanguageCheck, making.scripts),
    )
    write_pairs(suite, output)
    if not run.quiet:
        aside = output == STDOUT  # where the pairs are, nothing else stands
        echo(_table(suite, rows).text(), err=aside)
        for note in suite.notes:
            echo(f"note: {note}", err=aside)
    return 0


def _check(chosen: Chosen) -> None:
    if chosen.task is None and chosen.criterion is not None:
        raise InputError("--criterion needs --task: criteria differ from task to task")
    if chosen.task is None and not chosen.perturbation:
        raise InputError(
            "nothing to do: name perturbations (-p negation) or a task (--task mt); see 'nlgauge list perturbations'"
        )


def _table(suite: Suite, rows: Sequence[ChecklistRow]) -> Table:
    """One line per perturbation: how many texts it changed, and how many it left alone, by reason."""
    header = ("perturbation", "criterion", "changed", "left alone", "why")
    body = []
    for row, changed, left in applied(suite, rows):
        why = ", ".join(f"{reason} {n}" for reason, n in left.most_common())
        body.append((row.template, row.criterion or "-", str(changed), str(left.total()), why))
    return Table("", header, tuple(body), left=len(header))
