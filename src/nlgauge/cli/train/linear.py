"""`nlgauge train blend` and `nlgauge train beer`: linear models of ratings, from scores of metrics or from n-grams."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import typer

from nlgauge.cli import judged, options, specs
from nlgauge.cli.terminal import echo
from nlgauge.cli.train import options as shared
from nlgauge.cli.train.scores import Rated, read_rated
from nlgauge.core.result import STDOUT
from nlgauge.core.segment import Segment
from nlgauge.metrics.registry import named as metrics_named
from nlgauge.metrics.registry import on_encoder
from nlgauge.report.tables import Table
from nlgauge.training.linear import Fitted, Within
from nlgauge.training.linear import train_beer as fit_beer
from nlgauge.training.linear import train_blend as fit_blend

Output = Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Where the model goes: a JSON file.")]
Metrics = Annotated[list[str], specs.option("--metric", "-m", help="A metric whose scores are blended; several.")]
RidgePenalty = Annotated[
    float | None,
    typer.Option(
        "--strength", min=1e-9, help="Penalty on the weights.  [default: the best on segments left out one at a time]"
    ),
]
Penalty = Annotated[float, typer.Option("--strength", min=1e-9, help="Penalty on the weights.")]
MostPairs = Annotated[int, typer.Option("--pairs", min=1, help="Most pairs; of more, as many are drawn.")]
Between = Annotated[
    Within,
    options.choice("--within", among="item group", help="Pairs of hypotheses for one input, or any two of a group."),
]
_UNNAMED = frozenset({"name", "phenomena"})
_NO_MODELS = frozenset({"device", "dtype", "cache", "no_cache", "encoder"})


@options.common(without=_UNNAMED | {"typed_seed"})
def train_blend(
    *,
    rated: Rated,
    columns: options.Columns = None,
    metric: Metrics,
    output: Output,
    criterion: judged.Criterion = None,
    strength: RidgePenalty = None,
    named: shared.Named,
    run: options.Common,
) -> None:
    """Fit ratings by a weighted sum of metrics, for blend:model=FILE; scores of models are kept in the cache."""
    options.check_outputs({"--output": output}, rated)
    metrics = metrics_named([on_encoder(spec, run.default_encoder) for spec in metric])  # the file says their models
    segments, ratings, about = _read(rated, criterion, columns, named)
    fitted = fit_blend(segments, ratings, metrics, output, run.runtime(), strength=strength, about=about)
    if run.quiet or output == STDOUT:
        return
    rows = tuple((term.name, f"{term.weight:.4f}") for term in fitted.model.terms)
    echo(Table("", ("metric", "weight"), rows, left=1).text())
    left_out = f"; {fitted.n_left_out} without a score left out" if fitted.n_left_out else ""
    found = f"pearson {fitted.agreement:.4f} with segments left out one at a time"
    echo(f"{fitted.n} segments{left_out}; strength {fitted.strength:g}; {found}")


@options.common(without=_UNNAMED | _NO_MODELS)
def train_beer(
    *,
    rated: Rated,
    columns: options.Columns = None,
    output: Output,
    criterion: judged.Criterion = None,
    within: Between = "item",
    pairs: MostPairs = 100_000,
    strength: Penalty = 1e-3,
    named: shared.Named,
    run: options.Common,
) -> None:
    """Learn to rank hypotheses by their n-grams from ratings, for beer:model=FILE."""
    options.check_outputs({"--output": output}, rated)
    segments, ratings, about = _read(rated, criterion, columns, named)
    how: dict[str, Any] = {"within": within, "most_pairs": pairs, "strength": strength, "about": about}
    fitted: Fitted = fit_beer(segments, ratings, output, run.runtime(cached=False), **how)
    if not run.quiet and output != STDOUT:
        echo(f"{fitted.n} pairs; {100 * fitted.agreement:.1f} % of them in the right order")


def _read(
    paths: list[str], criterion: str | None, columns: list[str] | None, named: shared.Named
) -> tuple[list[Segment], list[float], dict[str, str]]:
    """Rated segments of several files, their ratings, and what the model's file says of them.

    Inputs of different files stay apart, whatever they are called.
    """
    segments: list[Segment] = []
    ratings: list[float] = []
    criteria: list[str] = []
    for number, path in enumerate(paths):
        found, values, of_file = read_rated(path, criterion, columns)
        segments += [replace(s, item=f"{number} {s.item or s.id}") if number else s for s in found]
        ratings += values.tolist()
        criteria.append(of_file)
    rated_for = ", ".join(dict.fromkeys(criteria))
    return segments, ratings, {"criterion": rated_for, "data": named.data, "recipe": named.recipe}
