"""`nlgauge align`: what a matching metric saw in one pair."""

from __future__ import annotations

import os
import shlex
import shutil
from typing import Annotated

import typer

from nlgauge.cli import options
from nlgauge.cli.terminal import as_typed, echo
from nlgauge.core.errors import InputError
from nlgauge.core.result import STDOUT, replacing
from nlgauge.report.kinds.align import alignment_html, alignment_svg, alignment_text
from nlgauge.scoring.explaining import align as measure

_NARROWEST = 24  # columns the text needs; a narrower terminal folds the lines itself

Hypothesis = Annotated[str, typer.Option("--hyp", metavar="TEXT", help="The hypothesis.")]
Reference = Annotated[str, typer.Option("--ref", metavar="TEXT", help="The reference.")]
Metric = Annotated[str, typer.Option("--metric", "-m", metavar="SPEC", help="A bertscore specification.")]
Svg = Annotated[str | None, typer.Option("--svg", metavar="FILE", help="Write the picture as SVG.")]


@options.common(without={"segments"})
def align(
    *,
    hyp: Hypothesis,
    ref: Reference,
    metric: Metric = "bertscore",
    svg: Svg = None,
    files: options.Files,
    run: options.Common,
) -> None:
    """Show token similarities, matches and weights of a hypothesis and a reference."""
    options.refuse_idle({"seed": run.typed_seed is not None}, "is about draws, and an alignment draws nothing")
    options.check_outputs({"--svg": svg, "--html": files.html, "--json": files.json}, [])
    for option, text in (("--hyp", hyp), ("--ref", ref)):
        if os.path.isfile(text):
            raise InputError(
                f"{option} {text} is a file, expected the text itself; for its first line write {option}"
                f' "$(head -n 1 {shlex.quote(text)})"'
            )
    alignment = measure(hyp, ref, metric, run.runtime())
    for path, draw in ((svg, alignment_svg), (files.html, alignment_html)):
        if path is not None:
            with replacing(path) as file:
                file.write(draw(alignment))
    if files.json is not None:
        as_typed(alignment.result(metric)).write(files.json, "json")
    if svg == STDOUT or files.printed:
        return
    if run.quiet:
        echo(" ".join(f"{value:.4f}" for value in (alignment.precision, alignment.recall, alignment.f1)))
    else:
        columns = shutil.get_terminal_size((100, 24)).columns
        typer.echo(alignment_text(alignment, width=max(_NARROWEST, columns)))  # cleaned there, and isolated
