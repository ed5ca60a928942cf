"""`nlgauge sweep`: how much of another metric makes a metric better; and which strategy makes the best metric of an NLI model."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nlgauge.cli import meta, options

if TYPE_CHECKING:
    from nlgauge.core.suite import Suite

Data = Annotated[
    list[str],
    typer.Argument(metavar="DATA...", help="Texts with ratings, one set or several: JSON lines, TSV, CSV, Parquet."),
]
Suites = Annotated[
    list[str] | None,
    typer.Option("--suite", metavar="FILE", help="A suite of pairs, as for audit; may be given several times."),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option("--metric", "-m", metavar="SPEC", help="Metrics to be made better: chrf, bertscore ..."),
]
Partners = Annotated[
    list[str] | None, typer.Option("--with", metavar="SPEC", help="What they are mixed with: nli, or any other metric.")
]
Pooling = Annotated[
    bool, typer.Option("--pooling", help="Instead: five formulas and three directions of each nli metric named.")
]


def sweep(
    data: Data,
    suite: Suites = None,
    metric: Metrics = None,
    partner: Partners = None,
    weights: Annotated[
        str | None, typer.Option("--weights", help="Of --with: from:to:step, or with commas.  [default: 0:1:0.1]")
    ] = None,
    pooling: Pooling = False,
    criterion: meta.Criteria = None,
    judgements: meta.Judgements = None,
    level: Annotated[
        str | None,
        typer.Option("--level", metavar="LEVEL", help="segment, item (also summary) or system.  [default: segment]"),
    ] = None,
    stat: meta.Stats = None,
    references: meta.References = None,
    missing: Annotated[
        str, typer.Option("--missing", metavar="POLICY", help="Rated segments without a score: refuse or drop.")
    ] = "refuse",
    norm: Annotated[
        str | None, typer.Option("--norm", help="Common scale: minmax, zscore or none.  [default: minmax]")
    ] = None,
    ties: Annotated[str, typer.Option("--ties", help="In preferences: loss, half, exclude or zero.")] = "loss",
    intervals: Annotated[
        str, typer.Option("--intervals", help="Of correlations: auto, fisher, bootstrap or none.")
    ] = "auto",
    width: meta.Width = 3,
    form: meta.Form = "text",
    json: options.Json = None,
    html: options.Html = None,
    seed: options.Seed = 0,
    device: options.Device = "auto",
    dtype: options.DType = "float32",
    cache: options.CacheFolder = None,
    no_cache: options.NoCache = False,
    quiet: options.Quiet = False,
) -> int:
    """Mix metrics: robustness against agreement with people, as the weight goes from 0 to 1."""
    from nlgauge.core.errors import InputError
    from nlgauge.io.files.files import InputFile
    from nlgauge.metaeval.sweeps import WEIGHTS, parse_weights
    from nlgauge.metrics.registry import named
    from nlgauge.report.text import check_form as check_format
    from nlgauge.report.text import render

    check_format(form)
    suites = suite or []
    options.check_outputs({"--json": json, "--html": html}, [*data, *suites, *([judgements] if judgements else [])])
    if judgements is not None and len(data) > 1:
        raise InputError(f"--judgements goes with one data set, got {len(data)}; give the rows of each a 'human' field")
    if not pooling and not metric:
        raise InputError(
            "no metric is named, expected at least one; -m names what is to be made better, --with what it is mixed"
            " with"
        )
    if not pooling and not partner:
        raise InputError("nothing is named to mix the metrics with, expected --with SPEC, such as --with nli")
    if not pooling and not suites:
        raise InputError(
            "no suite is given, expected --suite FILE; a sweep holds robustness against agreement with people"
        )
    if pooling and (weights is not None or norm is not None):
        raise InputError(
            f"{'--weights' if weights is not None else '--norm'} is about mixing metrics, and --pooling mixes none"
        )
    chosen = parse_weights(weights) if weights is not None else WEIGHTS
    both = [
        named(specs) for specs in (metric, partner) if specs
    ]  # a misspelt metric is refused before anything is read
    if pooling and not both:
        raise InputError("no metric is named, expected at least one nli metric: --with nli")
    read = [meta.read_data(path, judgements) for path in data]
    pairs = [_suite(path) for path in suites]
    shared: dict[str, Any] = {
        "criterion": criterion or None,
        "level": level,
        "stats": stat or None,
        "references": references,
        "missing": missing,
        "ties": ties,
        "runtime": options.make_runtime(device, dtype, seed, cache, no_cache, quiet),
    }
    datasets = [dataset for dataset, _ in read]
    found: Any
    if pooling:
        from nlgauge.metaeval.pooling import pooling_study

        found = pooling_study(datasets, pairs, list(dict.fromkeys([*(metric or []), *(partner or [])])), **shared)
    else:
        from nlgauge.metaeval.sweeps import sweep as run

        found = run(
            datasets,
            pairs,
            metric or [],
            partner or [],
            chosen,
            norm=norm or "minmax",
            intervals=intervals,
            seed=seed,
            **shared,
        )
    result = found.result(
        [*(entry for _, inputs in read for entry in inputs), *(dict(InputFile(path).entry) for path in suites)]
    )
    if json is not None:
        result.write(json)
    if html is not None:
        from nlgauge.report.pages import write_html

        write_html(result, html)
    typer.echo(render(result, form, width, quiet=quiet))
    return 0


def _suite(path: str) -> Suite:
    """The suite of a file.

    Raises:
        InputError: the name of a recipe, which audit and perturb know.
    """
    from nlgauge.core.errors import InputError
    from nlgauge.io.suites.suites import read_suite

    if path in ("menli", "checklist") and not os.path.exists(path):
        raise InputError(f"--suite {path} names a recipe, expected a file of pairs; nlgauge perturb makes one")
    return read_suite(path)
