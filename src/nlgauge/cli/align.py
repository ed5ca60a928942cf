"""`nlgauge align`: what a matching metric saw in one pair."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nlgauge.cli import options

if TYPE_CHECKING:
    from nlgauge.core.alignment import Alignment

_NARROWEST = 24  # columns the text needs; a narrower terminal folds the lines itself


def align(
    hyp: Annotated[str, typer.Option("--hyp", metavar="TEXT", help="The hypothesis.")],
    ref: Annotated[str, typer.Option("--ref", metavar="TEXT", help="The reference.")],
    metric: Annotated[
        str, typer.Option("--metric", "-m", metavar="SPEC", help="A bertscore specification.")
    ] = "bertscore",
    svg: Annotated[str | None, typer.Option("--svg", metavar="FILE", help="Write the picture as SVG.")] = None,
    json: options.Json = None,
    html: options.Html = None,
    seed: options.Seed = 0,
    device: options.Device = "auto",
    dtype: options.DType = "float32",
    cache: options.CacheFolder = None,
    no_cache: options.NoCache = False,
    quiet: options.Quiet = False,
) -> None:
    """Show token similarities, matches and weights of a hypothesis and a reference."""
    from nlgauge.core.result import Result, replacing
    from nlgauge.metrics.embedding.alignment import align as measure
    from nlgauge.report.alignment.page import alignment_html
    from nlgauge.report.alignment.svg import alignment_svg
    from nlgauge.report.alignment.text import alignment_text

    options.check_outputs({"--svg": svg, "--html": html, "--json": json}, [])
    runtime = options.make_runtime(device, dtype, seed, cache, no_cache, quiet)
    found = measure(hyp, ref, metric, runtime)
    for path, draw in ((svg, alignment_svg), (html, alignment_html)):
        if path is not None:
            with replacing(path) as file:
                file.write(draw(found))
    if json is not None:
        described = {"spec": metric, "signature": str(found.signature), "higher_is_better": True}
        Result("align", rows(found), metrics=[described]).write(json)
    if not quiet:
        typer.echo(alignment_text(found, width=max(_NARROWEST, shutil.get_terminal_size((100, 24)).columns)))


def rows(found: Alignment) -> list[dict[str, Any]]:
    """Precision, recall and F first, then a row a word with its weight and its match on the other side."""
    measured = [{"side": None, "part": part, "value": getattr(found, part)} for part in ("precision", "recall", "f1")]
    words: list[dict[str, Any]] = []
    sides = (
        (
            "hypothesis",
            found.hypothesis,
            found.reference,
            found.hypothesis_weights,
            found.hypothesis_matches,
            found.similarities,
        ),
        (
            "reference",
            found.reference,
            found.hypothesis,
            found.reference_weights,
            found.reference_matches,
            found.similarities.T,
        ),
    )
    for side, own, other, weights, matches, similarities in sides:
        for i, (word, weight, match) in enumerate(zip(own, weights, matches, strict=True)):
            similarity = None if match is None else float(similarities[i, match])
            words.append(
                {
                    "side": side,
                    "index": i,
                    "word": word,
                    "weight": float(weight),
                    "match": match,
                    "matched": None if match is None else other[match],
                    "similarity": similarity,
                    "similarities": [float(x) for x in similarities[i]],
                }
            )
    return [*measured, *words]
