"""`nlgauge align`: what a matching metric saw in one pair."""

from __future__ import annotations

import shutil
from typing import Annotated, Any

import typer

from nlgauge.cli import options
from nlgauge.cli.typed import as_typed
from nlgauge.core.alignment import Alignment
from nlgauge.core.result import Result, replacing
from nlgauge.metrics.embedding.alignment import align as measure
from nlgauge.report.alignment.page import alignment_html
from nlgauge.report.alignment.svg import alignment_svg
from nlgauge.report.alignment.text import alignment_text

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
    alignment = measure(hyp, ref, metric, run.runtime())
    for path, draw in ((svg, alignment_svg), (files.html, alignment_html)):
        if path is not None:
            with replacing(path) as file:
                file.write(draw(alignment))
    if files.json is not None:
        described = {"spec": metric, "signature": str(alignment.signature), "higher_is_better": True}
        as_typed(Result("align", rows(alignment), metrics=[described])).write(files.json)
    if run.quiet:
        typer.echo(" ".join(f"{value:.4f}" for value in (alignment.precision, alignment.recall, alignment.f1)))
    else:
        columns = shutil.get_terminal_size((100, 24)).columns
        typer.echo(alignment_text(alignment, width=max(_NARROWEST, columns)))


def rows(alignment: Alignment) -> list[dict[str, Any]]:
    """Precision, recall and F first, then one row per word with its weight and its match on the other side."""
    measures = ("precision", "recall", "f1")
    measured = [{"side": None, "part": part, "value": getattr(alignment, part)} for part in measures]
    hypothesis, reference = alignment.hypothesis, alignment.reference
    forward, backward = alignment.similarities, alignment.similarities.T
    words = [
        *_side(
            "hypothesis", hypothesis, reference, alignment.hypothesis_weights, alignment.hypothesis_matches, forward
        ),
        *_side("reference", reference, hypothesis, alignment.reference_weights, alignment.reference_matches, backward),
    ]
    return [*measured, *words]


def _side(side: str, words: Any, others: Any, weights: Any, matches: Any, similarities: Any) -> list[dict[str, Any]]:
    return [
        {
            "side": side,
            "index": i,
            "word": word,
            "weight": float(weight),
            "match": match,
            "matched": None if match is None else others[match],
            "similarity": None if match is None else float(similarities[i, match]),
            "similarities": [float(x) for x in similarities[i]],
        }
        for i, (word, weight, match) in enumerate(zip(words, weights, matches, strict=True))
    ]
