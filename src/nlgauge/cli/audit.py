"""`nlgauge audit`: what a metric cannot see."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nlgauge.cli import options
from nlgauge.cli.perturb import Criterion, Field, Language, LegacyJoin, Limit, Names, Task

if TYPE_CHECKING:
    from nlgauge.core.suite import Suite
    from nlgauge.runtime.runtime import Runtime

Data = Annotated[
    str | None, typer.Argument(metavar="[DATA]", help="Texts to make a suite from: JSON lines, TSV, CSV, Parquet.")
]
SuiteOption = Annotated[
    str | None,
    typer.Option(
        "--suite", metavar="FILE", help="A suite of pairs; or menli or checklist, made from DATA.  [default: checklist]"
    ),
]
Metrics = Annotated[
    list[str], typer.Option("--metric", "-m", metavar="SPEC", help="Metrics to audit: chrf, bleu, bertscore ...")
]
Penalties = Annotated[
    str | None,
    typer.Option(
        "--penalties", metavar="FILE", help="Human penalties: TSV or JSON lines with template and penalty (0 to 1)."
    ),
]
Paraphrases = Annotated[
    str | None,
    typer.Option(
        "--paraphrases", metavar="FILE", help="menli: text and paraphrase, as JSON lines, TSV or CSV; or PAWS."
    ),
]
BackTranslation = Annotated[
    str | None,
    typer.Option(
        "--back-translation",
        metavar="OUT,BACK",
        help="menli: paraphrase by two translation models, folders or ids of the hub.",
    ),
]
Choose = Annotated[
    str, typer.Option("--choose", help="menli: of several paraphrases max_edit_distance, given or first.")
]
Form = Annotated[str, typer.Option("--format", "-f", help="text, json, tsv, markdown or latex.")]


def audit(
    data: Data = None,
    metric: Metrics = [],  # noqa: B006 - typer's way to take several
    suite: SuiteOption = None,
    task: Task = None,
    criterion: Criterion = None,
    perturbation: Names = None,
    penalties: Penalties = None,
    paraphrases: Paraphrases = None,
    back_translation: BackTranslation = None,
    choose: Choose = "max_edit_distance",
    design: Annotated[
        str | None, typer.Option("--design", help="preference or checklist.  [default: the suite's own]")
    ] = None,
    ties: Annotated[str, typer.Option("--ties", help="Preference: loss, half, exclude or zero.")] = "loss",
    normalise: Annotated[str, typer.Option("--normalise", help="Checklist: self, minmax, none or auto.")] = "auto",
    tolerance: Annotated[
        float, typer.Option("--tolerance", help="How much a score may move where nothing should.")
    ] = 0.05,
    references: Annotated[
        str, typer.Option("--references", help="own, or source to hold texts against their source.")
    ] = "own",
    field: Field = None,
    limit: Limit = None,
    legacy_join: LegacyJoin = False,
    language: Language = "builtin",
    worst: Annotated[
        int, typer.Option("--worst", min=0, metavar="N", help="Show the N cases that each metric got most wrong.")
    ] = 0,
    width: Annotated[int, typer.Option("--width", "-w", min=0, max=15, help="Digits after the point.")] = 3,
    intervals: Annotated[
        bool, typer.Option("--intervals", help="Show intervals in the table; they always stand in --json.")
    ] = False,
    form: Form = "text",
    json: options.Json = None,
    html: options.Html = None,
    segments: options.Segments = None,
    seed: options.Seed = 0,
    device: options.Device = "auto",
    dtype: options.DType = "float32",
    cache: options.CacheFolder = None,
    no_cache: options.NoCache = False,
    quiet: options.Quiet = False,
) -> int:
    """Find out what a metric cannot see."""
    from nlgauge.audits.penalties import read_penalties
    from nlgauge.audits.run import audit as run
    from nlgauge.metrics.registry import named
    from nlgauge.report.text import check_form as check_format
    from nlgauge.report.text import render

    check_format(form)
    files = [
        f
        for f in (data, suite if suite not in ("menli", "checklist") else None, penalties, paraphrases)
        if f is not None
    ]
    options.check_outputs({"--json": json, "--html": html, "--segments": segments}, files)
    named(metric)  # a misspelt metric is refused before anything is read
    given = None if penalties is None else read_penalties(penalties)
    runtime = options.make_runtime(device, dtype, seed, cache, no_cache, quiet)
    made = _suite(
        data,
        suite,
        runtime,
        task=task,
        criterion=criterion,
        perturbations=perturbation or [],
        paraphrases=paraphrases,
        back_translation=back_translation,
        how=choose,
        field=field,
        limit=limit,
        legacy_join=legacy_join,
        language=language,
        seed=seed,
    )
    if design is None and given is not None and suite != "menli":
        design = "checklist"
    found = run(
        made,
        metric,
        design=design,
        ties=ties,
        penalties=given,
        normalise=normalise,
        tolerance=tolerance,
        references=references,  # type: ignore[arg-type]
        runtime=runtime,
    )
    result = found.result(_inputs(files))
    if segments is not None:
        from nlgauge.io.write import writing

        with writing(segments) as write:
            write(found.pair_columns())
    if json is not None:
        result.write(json)
    if html is not None:
        from nlgauge.report.pages import write_html

        write_html(
            result,
            html,
            {spec: found.worst(spec, max(worst, 5)) for spec in found.sides} if found.design == "preference" else {},
        )
    cases = {spec: found.worst(spec, worst) for spec in found.sides} if worst else {}
    typer.echo(render(result, form, width, quiet=quiet, intervals=intervals, worst=cases))
    return 0


def _suite(
    data: str | None,
    name: str | None,
    runtime: Runtime,
    *,
    paraphrases: str | None,
    back_translation: str | None,
    **chosen: Any,
) -> Suite:
    """The suite that the options describe: read from a file, or made from the data."""
    from nlgauge.audits.suite import suite
    from nlgauge.core.errors import InputError, nearest
    from nlgauge.io.read import read
    from nlgauge.io.suites.suites import paraphrases_in, read_suite

    if name is not None and name not in ("menli", "checklist"):
        idle = {
            "--task": chosen["task"],
            "--criterion": chosen["criterion"],
            "-p": chosen["perturbations"],
            "--field": chosen["field"],
            "--limit": chosen["limit"],
            "--legacy-join": chosen["legacy_join"],
            "--paraphrases": paraphrases,
            "--back-translation": back_translation,
            "--language": chosen["language"] if chosen["language"] != "builtin" else None,
        }
        used = [option for option, value in idle.items() if value]
        if used:
            raise InputError(f"{used[0]} says how a suite is made from data; {name} is a suite already")
        if not os.path.exists(name) and not os.path.splitext(name)[1]:  # a name, not a path
            raise InputError(
                f"no suite {name!r} is known, and there is no file of that name{nearest(name, ('menli', 'checklist'))}"
            )
        return read_suite(name, None if data is None else read(data))
    if data is None:
        raise InputError("nothing to audit on: give data to make a suite from (with --task), or a suite (--suite FILE)")
    if paraphrases is not None and back_translation is not None:
        raise InputError("--paraphrases and --back-translation are both given; choose one")
    source: Any = None if paraphrases is None else paraphrases_in(paraphrases)
    if back_translation is not None:
        source = _back_translator(back_translation, runtime)
    return suite(name or "checklist", read(data), paraphrases=source, **chosen)


def _back_translator(names: str, runtime: Runtime) -> Any:
    from nlgauge.core.errors import InputError
    from nlgauge.models.locate import locate
    from nlgauge.models.seq2seq import Backtranslator

    out, comma, back = (part.strip() for part in names.partition(","))
    if not comma or not out or not back:
        raise InputError(f"--back-translation {names!r}: expected two models, OUT,BACK, as in en-de-model,de-en-model")
    for model in (out, back):
        locate(model)  # a model that is not there is refused before anything is perturbed
    return Backtranslator(out, back, runtime=runtime)


def _inputs(files: list[str]) -> list[dict[str, str]]:
    from pathlib import Path

    from nlgauge.io.files.files import InputFile

    return [dict(InputFile(f).entry) for f in files if not Path(f).is_dir()]
