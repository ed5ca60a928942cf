"""`nlgauge select` and `nlgauge sweep`: would a metric pick the right model, and what makes a metric better?"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from nlgauge.cli import options
from nlgauge.cli.main import as_typed
from nlgauge.core.errors import InputError
from nlgauge.core.options import Argument, Range, Typed
from nlgauge.core.suite import Suite
from nlgauge.io.files import InputFile
from nlgauge.io.suites.suites import read_suite
from nlgauge.metaeval.evaluate import Level, Stats
from nlgauge.metaeval.pooling import pooling_study
from nlgauge.metaeval.select import AGREEMENT, STATS, select_models
from nlgauge.metaeval.sweep import WEIGHTS, parse_weights
from nlgauge.metaeval.sweep import sweep as run_sweep
from nlgauge.metrics.registry import named

_WITHOUT = ("width", "verbose", "encoder")  # of the options that verbs share
POOLING = "pooling"  # in the place of a metric


@dataclass(frozen=True)
class Choices:
    """Options: the candidates, and the choices among them."""

    hybrids: Annotated[int, Range(least=0), Typed("Hybrid systems in each group; 0 takes the systems as they are.")] = (
        10_000
    )
    pool: Annotated[int, Range(least=1), Typed("Models that a metric chooses from.")] = 100
    stats: Annotated[
        list[str] | None,
        Typed(
            "hits_at_1, mrr, diff; or pearson, spearman, kendall_b over all models.  [default: the first three]",
            ("--stat",),
            "STAT",
            words=(*STATS, *AGREEMENT),
        ),
    ] = None
    draws: Annotated[int | None, Range(least=1), Typed("Simulate so many choices beside the exact numbers.")] = None


@options.verb(without=_WITHOUT)
def select(
    *,
    data: options.Rated,
    held: options.Judged,
    choices: Choices,
    shown: options.Shown,
    files: options.Files,
    run: options.Common,
) -> int:
    """Hits@1, MRR and Diff: how good is the best model by a metric, in the eyes of people?

    Pools of models are drawn, the metric picks its best, and people's ratings judge the pick: `hits_at_1` is the share
    of draws in which it is also people's best, `mrr` the mean of 1 / its rank by people, `diff` what is lost on the
    scale of the ratings (lower is better). The last line, `(any of the pool)`, is what a random choice gets. Numbers
    are exact expectations over all draws; `--draws` adds a simulation beside them.

    A test set has few systems. A hybrid is a made-up one: for each item it takes the output of a system drawn at
    random, the same for people and all metrics, and its scores are means over items. `--hybrids 0` takes the systems as
    they are.

    Hybrids of one set share their outputs, so ten thousand are not ten thousand independent observations. There are
    therefore no intervals and no tests: compare metrics with `nlgauge meta`. A pool larger than the models is refused
    before anything is scored. Scores of models stay in the cache.
    """
    shown.check()
    if choices.hybrids == 0 and choices.draws is None:
        options.refuse_idle({"seed": run.typed_seed is not None}, "is about draws: name --hybrids or --draws as well")
    files.check(data, held.judgements)
    dataset, inputs = held.read(data)
    outcome = select_models(
        dataset,
        held.metric or [],
        held.criterion or None,
        seed=run.seed,
        runtime=run.runtime(),
        **{**asdict(choices), "stats": choices.stats or STATS},
    )
    result = as_typed(outcome.result(inputs))
    files.write_segments(outcome.held.columns)
    return shown.put_out(result, files, run.quiet)


# --- `nlgauge sweep`: how much of another metric makes one better, or which pooling strategy of an NLI model is best


@options.verb(without={*_WITHOUT, "segments"})
def sweep(
    *,
    data: Annotated[
        list[str], Argument("Texts with ratings, one set or several: JSON lines, TSV, CSV, Parquet.", metavar="DATA...")
    ],
    held: options.Judged,
    suite: Annotated[
        list[str] | None, Typed("A suite of pairs, as for audit; may be given several times.", metavar="FILE")
    ] = None,
    partner: Annotated[
        list[str] | None,
        options.specs(
            "What each metric is mixed with: nli, or any other; pooling tries five formulas and three directions of"
            " each nli metric instead.",
            "--with",
        ),
    ] = None,
    weights: Annotated[
        str | None, Typed("Of --with; or numbers with commas.  [default: 0:1:0.1]", metavar="FROM:TO:STEP")
    ] = None,
    level: Level = None,
    stat: Stats = None,
    shown: options.Shown,
    files: options.Files,
    run: options.Common,
) -> int:
    """Mix metrics: robustness against agreement with people, as the weight goes from 0 to 1.

    A mixture is `weight * other + (1 - weight) * metric`. Each has two numbers: the correlation with ratings of DATA,
    and the accuracy on adversarial pairs (`--suite`). `*` marks the best weight, and the last lines say what to type.
    Scores of models stay in the cache.

    Both metrics are brought to one scale first: in a data set for each group, in a suite for each kind of error, over
    right and faulty texts together. At level `system` a number is the mean of segments, also at the ends. Several
    references are combined before scaling. Pairs whose texts should score the same are left out.

    The best weight has the highest mean gain of those at which neither number falls, the smallest of equals, and 0 if
    every mixture costs something. It is chosen on the data that show its gain: with several sets or suites a second
    table has the weight that is best on the other sets, and what that gains here.

    `-m nli --with pooling` tries five formulas and three directions of each `nli` metric instead. It says which wins
    how often, and what the choice by the other sets costs. Translation and summaries need two runs. A suite whose
    better texts are the references is refused, as by `nlgauge audit`.
    """
    shown.check()
    paths, metrics, partners = suite or [], held.metric or [], partner or []
    files.check(data, paths, held.judgements)
    if held.judgements is not None and len(data) > 1:
        raise InputError(f"--judgements goes with one data set, got {len(data)}; give the rows of each a 'human' field")
    if not metrics:
        raise InputError(
            "no metric is named, expected at least one; -m names what is to be made better, --with what it is mixed"
            " with"
        )
    if not partners:
        raise InputError("nothing is named to mix the metrics with, expected --with SPEC, such as --with nli")
    pools = POOLING in partners
    if pools:
        if len(partners) > 1:
            raise InputError(f"--with pooling stands alone, got {', '.join(partners)}; -m names the nli metrics")
        idle = {"weights": weights is not None, "seed": run.typed_seed is not None}
        options.refuse_idle(idle, "is about mixing metrics, and --with pooling mixes none")
    elif not paths:
        raise InputError(
            "no suite is given, expected --suite FILE; a sweep holds robustness against agreement with people"
        )
    steps = parse_weights(weights) if weights is not None else WEIGHTS
    for specs in (metrics,) if pools else (metrics, partners):
        named(specs)  # a misspelt metric is refused before anything is read
    read = [held.read([path]) for path in data]
    datasets, suites = [dataset for dataset, _ in read], [_suite(path) for path in paths]
    shared: dict[str, Any] = {"criterion": held.criterion or None, "level": level, "stats": stat or None}
    shared |= {"runtime": run.runtime()}
    outcome: Any
    if pools:
        outcome = pooling_study(datasets, suites, list(dict.fromkeys(metrics)), **shared)
    else:
        outcome = run_sweep(datasets, suites, metrics, partners, steps, seed=run.seed, **shared)
    inputs = [entry for _, entries in read for entry in entries]
    result = as_typed(outcome.result([*inputs, *(dict(InputFile(path).entry) for path in paths)]))
    return shown.put_out(result, files, run.quiet)


def _suite(path: str) -> Suite:
    """The suite of a file."""
    if path in ("menli", "checklist") and not os.path.exists(path):
        raise InputError(f"--suite {path} names a recipe, expected a file of pairs; nlgauge perturb makes one")
    return read_suite(path)
