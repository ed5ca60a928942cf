"""`nlgauge select`: would a metric pick the right model?"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from nlgauge.cli import meta, options


def select(
    data: meta.Data,
    metric: meta.Metrics = None,
    scores: meta.ScoreFiles = None,
    lower: meta.Lower = None,
    criterion: Annotated[str | None, typer.Option("--criterion", "-c", metavar="NAME", help="What was rated.")] = None,
    judgements: meta.Judgements = None,
    hybrids: Annotated[
        int, typer.Option("--hybrids", min=0, help="Hybrid systems in each group; 0 takes the systems as they are.")
    ] = 10_000,
    pool: Annotated[int, typer.Option("--pool", min=1, help="Models a metric chooses from.")] = 100,
    draws: Annotated[
        int | None, typer.Option("--draws", min=1, help="Simulate so many choices beside the exact numbers.")
    ] = None,
    draw_matrix: Annotated[
        str | None,
        typer.Option(
            "--draw-matrix", metavar="FILE", help="Hybrids made elsewhere: a line each, a system an item; .npy or text."
        ),
    ] = None,
    among: Annotated[str, typer.Option("--among", help="Hybrids are made of rated outputs, or of all.")] = "rated",
    exclude: meta.Exclude = None,
    references: meta.References = None,
    missing: meta.Missing = "refuse",
    width: meta.Width = 3,
    form: meta.Form = "text",
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
    """Hits@1, MRR and Diff: how good is the best model by a metric, in the eyes of people?"""
    from nlgauge.metaeval.evaluate import without_systems
    from nlgauge.metaeval.select import select_models
    from nlgauge.report.text import check_form as check_format
    from nlgauge.report.text import render

    check_format(form)
    files = [data, *(scores or []), *([judgements] if judgements else []), *([draw_matrix] if draw_matrix else [])]
    options.check_outputs({"--json": json, "--html": html, "--segments": segments}, files)
    dataset, inputs = meta.read_data(data, judgements)
    tables = [meta.read_table(path) for path in scores or []]
    matrix = read_draws(draw_matrix) if draw_matrix is not None else None
    found = select_models(
        without_systems(dataset, exclude or []),
        metric or [],
        criterion,
        hybrids=hybrids,
        pool=pool,
        draws=draws,
        draw_matrix=None if matrix is None else matrix[0],
        among=among,  # type: ignore[arg-type]
        scores=meta.merge(tables),
        lower_is_better=lower or [],
        references=references,
        missing=missing,
        seed=seed,  # type: ignore[arg-type]
        runtime=options.make_runtime(device, dtype, seed, cache, no_cache, quiet),
    )
    result = found.result([*inputs, *(entry for _, entry in tables), *([] if matrix is None else [matrix[1]])])
    if segments is not None:
        meta.write_segments(found.held, segments)
    if json is not None:
        result.write(json)
    if html is not None:
        from nlgauge.report.pages import write_html

        write_html(result, html)
    typer.echo(render(result, form, width, quiet=quiet))
    return 0


def read_draws(path: str) -> tuple[Any, dict[str, str]]:
    """A draw matrix, and the file it is from: `.npy`, or text (also `.gz`) with a hybrid a line, systems by number or name between blanks.

    Raises:
        InputError: lines of different lengths, or a file that is no matrix.
    """
    import numpy as np

    from nlgauge.core.errors import InputError
    from nlgauge.io.files.files import InputFile
    from nlgauge.io.files.lines import Lines

    file = InputFile(path)
    if path.endswith(".npy"):
        try:
            return np.load(path, allow_pickle=False), dict(file.entry)
        except (ValueError, OSError) as error:
            raise InputError(f"{path}: no matrix of numpy ({str(error).splitlines()[0]})") from None
    lines = Lines(file)
    rows: list[list[str]] = []
    for place, line in lines:
        cells = line.split()
        if not cells:
            continue
        if rows and len(cells) != len(rows[0]):
            raise InputError(
                f"{lines.at(place)}: {len(cells)} systems, expected {len(rows[0])} as in the first line, one an item"
            )
        rows.append(cells)
    if not rows:
        raise InputError(f"{path} is empty: no line in it, expected a hybrid a line")
    matrix: Any = np.array(rows)
    if all(cell.lstrip("-").isdigit() for row in rows for cell in row):
        matrix = matrix.astype(np.int64)
    return matrix, dict(file.entry)
