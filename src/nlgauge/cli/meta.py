"""`nlgauge meta`: metrics compared with human judgements."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import typer

from nlgauge.cli import judged, options
from nlgauge.cli.planned import SHARED, Planned
from nlgauge.cli.spanned import Spanned
from nlgauge.cli.terminal import as_typed, echo
from nlgauge.core.errors import InputError
from nlgauge.core.result import STDOUT
from nlgauge.core.segment import Dataset, of_groups, take_as_reference
from nlgauge.io.files import counted
from nlgauge.io.wmt.mtme import check_official, read_official
from nlgauge.metaeval.evaluate import MetaEvaluation, MetaOptions, joined_scores, meta_evaluate, without_systems
from nlgauge.metaeval.matrices import criteria_rows
from nlgauge.metaeval.tasks import disagreements, preset
from nlgauge.metaeval.thresholds import fit_thresholds
from nlgauge.report.kinds.meta import disagreement_table, thresholds_table
from nlgauge.report.tables import DATA
from nlgauge.runtime.runtime import Runtime

Pairs = Annotated[
    str | None,
    typer.Option("--pairs", metavar="FILE", help="Better/worse pairs: JSON lines with two ids, or RR-seglevel.csv."),
]
_REFUSED = 3  # a submission with faults, as a gate that fails
Agreement = Annotated[bool, typer.Option("--criteria", help="Show how the criteria agree with each other, too.")]


Disagree = Annotated[
    int | None,
    typer.Option("--disagree", min=1, metavar="N", help="Show the N segments that a metric and people rank apart."),
]


Check = Annotated[
    str | None,
    typer.Option(
        "--check",
        metavar="FILE",
        help="Instead: say what the organisers of DATA, a folder, would refuse in a submission, NAME.seg.score.",
    ),
]


@dataclass(frozen=True)
class Fitted:
    """Options: thresholds of differences, fitted on rated systems."""

    fit_thresholds: Annotated[
        str | None,
        typer.Option(
            "--fit-thresholds",
            metavar="FILE",
            help="Fit how often people agree with differences of systems; for 'nlgauge score --thresholds FILE'.",
        ),
    ] = None
    more_data: Annotated[
        list[str] | None,
        typer.Option("--more-data", metavar="DATA", help="Another set of rated systems, for --fit-thresholds alone."),
    ] = None

    def check(self, criterion: list[str] | None, pairs: str | None, scores: list[str] | None) -> None:
        """Refuse what cannot be fitted before anything is scored."""
        if self.fit_thresholds is None:
            options.refuse_idle({"more_data": self.more_data}, "is another set to fit on; add --fit-thresholds FILE")
        elif self.fit_thresholds == STDOUT:
            raise InputError("--fit-thresholds writes a file, expected its name")
        elif pairs is not None or len(criterion or []) > 1 or criterion == ["all"]:
            raise InputError("--fit-thresholds needs one criterion with ratings; choose one with --criterion")
        elif self.more_data and scores:
            raise InputError("--scores is about DATA alone, and --more-data needs scores, too; give metrics with -m")

    def table(
        self,
        outcome: MetaEvaluation,
        inputs: Sequence[Mapping[str, str]],
        metrics: Sequence[str],
        criterion: list[str] | None,
        how: MetaOptions,
        runtime: Runtime,
    ) -> str:
        """Fit, write the file, and say what it holds; empty where no file was asked for."""
        if self.fit_thresholds is None:
            return ""
        read = [judged.read_data(path) for path in self.more_data or []]
        held = [outcome.held]
        for dataset, _ in read:
            rated = without_systems(dataset, [name for name in how.exclude or [] if name in dataset.systems])
            texts: dict[str, Any] = {"references": how.references, "missing": how.missing, "language": how.language}
            held.append(joined_scores(rated, metrics, criterion, runtime=runtime, **texts))
        entries = [*inputs, *(entry for _, own in read for entry in own)]
        fitted = fit_thresholds(held, seed=runtime.seed, inputs=entries)
        fitted.write(self.fit_thresholds)
        table = thresholds_table([one.summary() for one in fitted.metrics]).text()
        return "\n".join(["", table, *(f"note: {note}" for note in fitted.notes), ""])


@options.common()
def meta(
    *,
    data: judged.Data,
    columns: options.Columns = None,
    lp: options.LanguagePairs = None,
    scored: judged.Scored,
    criterion: judged.Criteria = None,
    judgements: judged.Judgements = None,
    pairs: Pairs = None,
    reference_system: judged.ReferenceSystem = None,
    how: MetaOptions,
    criteria: Agreement = False,
    disagree: Disagree = None,
    fitted: Fitted,
    planned: Planned,
    spanned: Spanned,
    check: Check = None,
    shown: options.Shown,
    files: options.Files,
    run: options.Common,
) -> int:
    """Compare metrics with human judgements."""
    if check is not None:
        others: dict[str, object] = {
            "columns": columns,
            "criterion": criterion,
            "judgements": judgements,
            "pairs": pairs,
        }
        others |= {"reference_system": reference_system, "criteria": criteria, "disagree": disagree}
        for group in (scored, how, fitted, planned, spanned, files):
            others |= options.changed(group, *options.flags_of(group))
        options.refuse_idle(others, "has no part in --check, which holds a submission against the folder of its set")
        return _checked(data, check, lp)
    shown.check(files)
    if spanned.spans:
        idle = {"criterion": criterion, "pairs": pairs, "criteria": criteria, "disagree": disagree}
        spanned.check(idle, how, scored, fitted, planned)
        return spanned.run(data, judgements, columns, lp, reference_system, how, shown, files, run)
    fitted.check(criterion, pairs, scored.scores)
    more = [path for path in (judgements, pairs, *(fitted.more_data or [])) if path is not None]
    files.check([data, *(scored.scores or []), *more], fit_thresholds=fitted.fit_thresholds, plan=planned.plan)
    planned.check({"pairs": pairs, "criteria": criteria, "disagree": disagree}, how, fitted)
    dataset, inputs, official = _read(data, how.preset, judgements, columns, lp, reference_system)
    tables, entries = scored.read()
    given, inputs, runtime = _stored(scored, official, tables), [*inputs, *entries], run.runtime()
    if planned.plan is not None:
        given |= {"runtime": runtime, **{name: value for name, value in how.given().items() if name in SHARED}}
        return planned.run(dataset, scored.metric or [], criterion, given, inputs, shown, files, run)
    typed = how.given() if run.typed_seed is None else {**how.given(), "seed": run.typed_seed}
    preferences, ranked = judged.read_preferences(pairs) if pairs is not None else (None, None)
    outcome = meta_evaluate(
        dataset,
        scored.metric or [],
        criterion or None,
        pairs=preferences,
        runtime=runtime,
        **given,
        **typed,
    )
    result = as_typed(outcome.result([*inputs, *([ranked] if ranked else [])]))
    if criteria:
        result = replace(result, rows=[*result.rows, *_agreement(outcome)])
    if disagree is not None:
        result = replace(result, disagreements=disagreements(outcome.held, disagree))
    files.write_segments(lambda: judged.joined_columns(outcome.held), shown.spreadsheet)
    files.write(result)
    curves = fitted.table(outcome, result.inputs, scored.metric or [], criterion or None, how, runtime)
    if not files.printed:
        shown.show(result, run.quiet)
        if shown.form not in DATA:
            echo(curves, nl=False)
            if disagree is not None:
                echo("\n" + disagreement_table(result.disagreements).text())
    return 0


def _checked(folder: str, path: str, lps: list[str] | None) -> int:
    """Say what is wrong with a submission, a line for each fault."""
    wanted, faults = check_official(folder, path, lps)
    for fault in faults:
        echo(f"{path}: {fault}")
    said = f"{counted(len(faults), 'fault')}, expected" if faults else "as the organisers ask:"
    echo(f"{path}: {said} {wanted}")
    return _REFUSED if faults else 0


def _stored(scored: judged.Scored, official: Mapping[str, Any], tables: Mapping[str, Any]) -> dict[str, Any]:
    """Scores made elsewhere and their directions, as arguments; official scores rise with quality."""
    own = [name for name in official if name not in tables]
    return {
        "scores": {**official, **tables} or None,
        "lower_is_better": scored.lower or [],
        "higher_is_better": [*own, *(scored.higher or [])],
    }


def _read(
    data: str,
    protocol: str | None,
    judgements: str | None,
    columns: list[str] | None,
    lps: list[str] | None,
    reference_system: str | None,
) -> tuple[Dataset, list[judged.Entry], Mapping[str, Any]]:
    """Texts with ratings, the files read, and the official scores where the protocol takes them from a folder."""
    chosen = None if protocol is None else preset(protocol)
    scores: Mapping[str, Any] = {}
    if chosen is None or not chosen.official or not os.path.isdir(data) or judgements is not None:
        dataset, entries = judged.read_data(data, judgements, columns)
        dataset = of_groups(dataset, lps) if lps else dataset
    else:
        run = read_official(data, chosen.humans, lps)
        dataset, entries, scores = run.dataset, [file.entry for file in run.files], run.scores
    return dataset if reference_system is None else take_as_reference(dataset, reference_system), entries, scores


def _agreement(outcome: MetaEvaluation) -> list[dict[str, Any]]:
    """Criteria against each other, for each statistic and level, as rows of the result file."""
    tasks = dict.fromkeys((row["level"], row["stat"]) for row in outcome.rows)
    return [row for level, stat in tasks for row in criteria_rows(outcome.held, stat, level)]
