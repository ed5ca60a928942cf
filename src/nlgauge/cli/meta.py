"""`nlgauge meta`: metrics held against human judgements."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nlgauge.cli import options

if TYPE_CHECKING:
    from nlgauge.core.segment import Dataset
    from nlgauge.metaeval.align import JoinedScores
    from nlgauge.report.tables.table import Table

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA", help="Texts with ratings: JSON lines, TSV, CSV, Parquet, or the folder of a test set."
    ),
]
Metrics = Annotated[
    list[str] | None, typer.Option("--metric", "-m", metavar="SPEC", help="Metrics to score: chrf, bleu, bertscore ...")
]
ScoreFiles = Annotated[
    list[str] | None,
    typer.Option("--scores", metavar="FILE", help="Scores made elsewhere; every column of numbers is a metric."),
]
Lower = Annotated[
    list[str] | None,
    typer.Option("--lower-is-better", metavar="NAME", help="A column of --scores that falls with quality."),
]
Criteria = Annotated[
    list[str] | None,
    typer.Option("--criterion", "-c", metavar="NAME", help="What was rated; 'all' for every criterion."),
]
Judgements = Annotated[
    str | None, typer.Option("--judgements", metavar="FILE", help="Ratings in a table of their own, joined to DATA.")
]
References = Annotated[
    str | None,
    typer.Option(
        "--references",
        metavar="POLICY",
        help="Several references: own, mean, best (max), first; source in their place.",
    ),
]
Stats = Annotated[
    list[str] | None,
    typer.Option("--stat", metavar="STAT", help="Statistics; see 'nlgauge list statistics'.  [default: pearson]"),
]
Missing = Annotated[
    str,
    typer.Option("--missing", metavar="POLICY", help="Rated segments without a score: refuse, drop, worst or zero."),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option("--exclude", metavar="SYSTEM", help="Leave a system out, as references rated like systems."),
]
Form = Annotated[str, typer.Option("--format", "-f", help="text, json, tsv, markdown or latex.")]
Width = Annotated[int, typer.Option("--width", "-w", min=0, max=15, help="Digits after the point.")]


def meta(
    data: Data,
    metric: Metrics = None,
    scores: ScoreFiles = None,
    lower: Lower = None,
    criterion: Criteria = None,
    judgements: Judgements = None,
    pairs: Annotated[
        str | None,
        typer.Option(
            "--pairs", metavar="FILE", help="Better/worse pairs: JSON lines with two ids, or RR-seglevel.csv."
        ),
    ] = None,
    preset: Annotated[
        str | None, typer.Option("--preset", metavar="NAME", help="A protocol; see 'nlgauge list statistics'.")
    ] = None,
    level: Annotated[
        str | None,
        typer.Option("--level", metavar="LEVEL", help="segment, item (also summary) or system.  [default: segment]"),
    ] = None,
    stat: Stats = None,
    averaging: Annotated[
        str | None, typer.Option("--averaging", help="none, item, sys or micro.  [default: the level's own]")
    ] = None,
    references: References = None,
    missing: Missing = "refuse",
    system_scores: Annotated[
        str, typer.Option("--system-scores", help="Level system: metrics over the rated segments, or over all.")
    ] = "rated",
    aggregate: Annotated[
        str, typer.Option("--aggregate", help="Level system: the metric's own corpus number, or the mean of segments.")
    ] = "corpus",
    exclude: Exclude = None,
    outliers: Annotated[
        str | None, typer.Option("--outliers", help="mad: leave out systems far from the median human score.")
    ] = None,
    ties: Annotated[str | None, typer.Option("--ties", help="loss, half, exclude or zero.  [default: loss]")] = None,
    threshold: Annotated[
        float | None, typer.Option("--threshold", min=0, help="Least difference of two ratings that makes a pair.")
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option("--epsilon", min=0, help="Scores no further apart than this are tied.")
    ] = None,
    folds: Annotated[
        int | None, typer.Option("--folds", min=2, help="Calibrate ties on other items, in so many folds.")
    ] = None,
    undefined: Annotated[
        str | None, typer.Option("--undefined", help="Items without a value: skip, or count as zero.")
    ] = None,
    common: Annotated[
        bool, typer.Option("--common", help="Average all metrics over the items on which all of them are defined.")
    ] = False,
    test: Annotated[
        str | None,
        typer.Option("--test", metavar="TEST", help="Test every metric against every other: auto, williams, ..."),
    ] = None,
    alternative: Annotated[
        str | None, typer.Option("--alternative", help="greater or two-sided.  [default: greater]")
    ] = None,
    adjust: Annotated[
        str, typer.Option("--adjust", help="p-values for the number of tests: none, holm or bh.")
    ] = "none",
    power: Annotated[
        bool, typer.Option("--power", help="Level system: how often a test would find what it did not find here.")
    ] = False,
    intervals: Annotated[str, typer.Option("--intervals", help="auto, fisher, bootstrap or none.")] = "auto",
    draws: Annotated[
        int | None, typer.Option("--draws", "-n", min=1, help="Of tests and intervals.  [default: 1000]")
    ] = None,
    compat: Annotated[
        str | None,
        typer.Option("--compat", metavar="TOOL", help="mt-metrics-eval, nlpstats or realsumm: its procedure."),
    ] = None,
    criteria: Annotated[
        bool, typer.Option("--criteria", help="Show how the criteria agree with each other, too.")
    ] = False,
    width: Width = 3,
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
    """Hold metrics against human judgements."""
    from nlgauge.metaeval.evaluate import meta_evaluate
    from nlgauge.report.text import check_form as check_format
    from nlgauge.report.text import render

    check_format(form)
    files = [data, *(scores or []), *([judgements] if judgements else []), *([pairs] if pairs else [])]
    options.check_outputs({"--json": json, "--html": html, "--segments": segments}, files)
    dataset, inputs = read_data(data, judgements)
    tables = [read_table(path) for path in scores or []]
    given = read_preferences(pairs) if pairs is not None else None
    chosen: dict[str, Any] = {
        "ties": ties,
        "threshold": threshold,
        "epsilon": epsilon,
        "folds": folds,
        "undefined": undefined,
        "alternative": alternative,
        "draws": draws,
        "compat": compat,
        "common": common or None,
    }
    found = meta_evaluate(
        dataset,
        metric or [],
        criterion or None,
        level,
        stat or None,
        preset=preset,
        scores=merge(tables),
        lower_is_better=lower or [],
        pairs=given[0] if given else None,
        averaging=averaging,
        references=references,
        missing=missing,
        system_scores=system_scores,
        aggregate=aggregate,  # type: ignore[arg-type]
        exclude=exclude or [],
        outliers=outliers,
        intervals=intervals,
        test=test,
        adjust=adjust,
        power=power,
        runtime=options.make_runtime(device, dtype, seed, cache, no_cache, quiet),
        **{key: value for key, value in chosen.items() if value is not None},
        **({"seed": seed} if seed else {}),
    )
    result = found.result([*inputs, *(entry for _, entry in tables), *([given[1]] if given else [])])
    columns = options.columns()
    more = agreement(found.held, found.rows, width) if criteria else []
    shown = render(result, form, width, quiet=quiet, columns=columns, more=more)
    if criteria:
        result = dataclasses.replace(result, rows=[*result.rows, *agreement_rows(found.held, found.rows)])
        shown = render(result, form, width, quiet=quiet) if form in ("json", "tsv") else shown
    if segments is not None:
        write_segments(found.held, segments)
    if json is not None:
        result.write(json)
    if html is not None:
        from nlgauge.report.pages import write_html

        write_html(result, html)
    typer.echo(shown)
    return 0


def read_data(path: str, judgements: str | None = None) -> tuple[Dataset, list[Any]]:
    """All segments of an input, with ratings of a table of their own joined to them; and the files read."""
    from nlgauge.core.segment import Dataset
    from nlgauge.core.tables import judged
    from nlgauge.io.read import open_data

    source = open_data(path)
    try:
        segments = tuple(segment for block in source.blocks() for segment in block)
        summary = source.check()
    finally:
        source.close()
    dataset, inputs = Dataset(segments, path, summary.notes), list(summary.inputs)
    if judgements is None:
        return dataset, inputs
    table, entry = read_table(judgements)
    return judged(dataset, table), [*inputs, entry]


def read_table(path: str) -> tuple[Any, dict[str, str]]:
    """A table of scores or ratings, and the file it is from."""
    from nlgauge.io.files.files import InputFile
    from nlgauge.io.scores import read_scores

    return read_scores(path), dict(InputFile(path).entry)


def read_preferences(path: str) -> tuple[Any, dict[str, str]]:
    """Better/worse pairs, and the file they are from."""
    from nlgauge.io.files.files import InputFile
    from nlgauge.io.preferences import read_pairs, read_relative_ranks

    plain = path.removesuffix(".gz")
    read = read_relative_ranks if plain.endswith(".csv") else read_pairs
    return read(path), dict(InputFile(path).entry)


def merge(tables: list[tuple[Any, dict[str, str]]]) -> dict[str, Any]:
    """Column -> its table; a name in two files is refused."""
    from nlgauge.core.errors import InputError

    found: dict[str, Any] = {}
    for table, entry in tables:
        for name in table.columns:
            if name in found:
                raise InputError(f"{entry['path']}: column {name!r} is in {found[name].name} as well; rename one")
            found[name] = table
    return found


def write_segments(held: JoinedScores, path: str) -> None:
    """A row a segment: its scores by every metric, and its ratings as `human.CRITERION`."""
    from nlgauge.io.write import segment_columns, writing

    with writing(path) as write:
        write(
            {
                **segment_columns(held.segments, held.scores),
                **{f"human.{name}": values for name, values in held.human.items()},
            }
        )


def agreement(held: JoinedScores, rows: Sequence[Any], width: int) -> list[Table]:
    """Tables of criteria against each other, one per statistic and level."""
    from nlgauge.metaeval.matrices import bands, criteria_matrix
    from nlgauge.report.tables.meta import criteria_table

    tables = []
    for level, stat in dict.fromkeys((row["level"], row["stat"]) for row in rows):
        names, values = criteria_matrix(held, stat, level)
        tables.append(criteria_table(names, values, bands(values), stat, level, width))
    return tables


def agreement_rows(held: JoinedScores, rows: Sequence[Any]) -> list[dict[str, Any]]:
    """The same numbers as rows of the result file."""
    from nlgauge.metaeval.matrices import criteria_rows

    return [
        row
        for level, stat in dict.fromkeys((row["level"], row["stat"]) for row in rows)
        for row in criteria_rows(held, stat, level)
    ]
