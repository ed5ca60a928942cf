"""`nlgauge select` and `nlgauge sweep`: would a metric pick the right model, and what makes a metric better?"""

from __future__ import annotations

import os
import re
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from nlgauge.cli import judged, options
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

_WHOLE = re.compile(r"-?[0-9]{1,18}")  # what 64 bits hold


@dataclass(frozen=True)
class Choices:
    """Options: the candidates, the choices among them, and what counts as their scores."""

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


@options.verb(without={"higher", "lower", "width", "encoder"})
def select(
    *,
    data: judged.Data,
    columns: options.Columns = None,
    scored: judged.ScoreOptions,
    criterion: judged.Criterion = None,
    judgements: judged.Judgements = None,
    choices: Choices,
    shown: options.Shown,
    files: options.Files,
    run: options.Common,
) -> int:
    """Hits@1, MRR and Diff: how good is the best model by a metric, in the eyes of people?

    Pools of models are drawn, the metric picks its best, and people's ratings judge the pick: `hits_at_1` is the share
    of draws in which it is also people's best, `mrr` the mean of 1 / its rank by people, `diff` what is lost on the
    scale of the ratings (lower is better). The last line, `(any of the pool)`, is what a random choice gets. Numbers
    are exact expectations over all draws; `--draws` adds a simulation beside them. Ties of a metric are broken evenly.

    A test set has few systems. A hybrid is a made-up one: for each item it takes the output of a system drawn at
    random, the same for people and all metrics, and its scores are means over items. `--hybrids 0` takes the systems as
    they are; `nlgauge.select_models` takes hybrids that were made elsewhere, too.

    Hybrids of one set share their outputs, so ten thousand are not ten thousand independent observations. There are
    therefore no intervals and no tests: compare metrics with `nlgauge meta`. A pool larger than the models is refused
    before anything is scored. Scores of models stay in the cache.
    """
    shown.check()
    if choices.hybrids == 0 and choices.draws is None:
        options.refuse_idle({"seed": run.typed_seed is not None}, "is about draws: name --hybrids or --draws as well")
    files.check(data, scored.scores, judgements)
    dataset, inputs = judged.read_data(data, judgements, columns)
    tables, entries = scored.read()
    outcome = select_models(
        dataset,
        scored.metric or [],
        criterion,
        scores=tables,
        seed=run.seed,
        runtime=run.runtime(),
        **{**asdict(choices), "stats": choices.stats or STATS},
    )
    result = as_typed(outcome.result([*inputs, *entries]))
    files.write_segments(lambda: judged.joined_columns(outcome.held))
    return shown.put_out(result, files, run.quiet)


# --- `nlgauge sweep`: how much of another metric makes one better, or which pooling strategy of an NLI model is best


@dataclass(frozen=True)
class Mixed:
    """Options: the metrics to mix, and the suites that the sums must withstand."""

    suite: Annotated[
        list[str] | None, Typed("A suite of pairs, as for audit; may be given several times.", metavar="FILE")
    ] = None
    metric: Annotated[
        list[str] | None, options.specs("Metrics to be made better: chrf, bertscore ...", "--metric", "-m")
    ] = None
    partner: Annotated[
        list[str] | None, options.specs("What they are mixed with: nli, or any other metric.", "--with")
    ] = None
    weights: Annotated[
        str | None, Typed("Of --with; or numbers with commas.  [default: 0:1:0.1]", metavar="FROM:TO:STEP")
    ] = None
    pooling: Annotated[bool, Typed("Instead: five formulas and three directions of each nli metric named.")] = False

    def check(self) -> None:
        """Refuse what cannot be mixed before anything is read."""
        if not self.pooling and not self.metric:
            raise InputError(
                "no metric is named, expected at least one; -m names what is to be made better, --with what it is"
                " mixed with"
            )
        if not self.pooling and not self.partner:
            raise InputError("nothing is named to mix the metrics with, expected --with SPEC, such as --with nli")
        if not self.pooling and not self.suite:
            raise InputError(
                "no suite is given, expected --suite FILE; a sweep holds robustness against agreement with people"
            )
        if self.pooling and self.weights is not None:
            raise InputError("--weights is about mixing metrics, and --pooling mixes none")

    def check_metrics(self) -> None:
        """Refuse a misspelt metric before anything is read."""
        several = [named(specs) for specs in (self.metric, self.partner) if specs]
        if self.pooling and not several:
            raise InputError("no metric is named, expected at least one nli metric: --with nli")


@options.verb(without={"segments", "width", "encoder"})
def sweep(
    *,
    data: Annotated[
        list[str], Argument("Texts with ratings, one set or several: JSON lines, TSV, CSV, Parquet.", metavar="DATA...")
    ],
    columns: options.Columns = None,
    mixed: Mixed,
    criterion: judged.Criteria = None,
    judgements: judged.Judgements = None,
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
    right and faulty texts together. One that gives all of them the same score is refused. At level `system` a number is
    the mean of segments, also at the ends. Several references are combined before scaling; `nlgauge meta` with a sum
    scales first. Pairs whose texts should score the same are left out.

    The best weight has the highest mean gain of those at which neither number falls, the smallest of equals, and 0 if
    every mixture costs something. It is chosen on the data that show its gain: with several sets or suites a second
    table has the weight that is best on the other sets, and what that gains here. On the page intervals over pairs of
    metrics are too narrow: their gains depend on each other.

    `--pooling` tries five formulas and three directions of each `nli` metric instead. It says which wins how often, and
    what the choice by the other sets costs. Translation and summaries need two runs. A suite whose better texts are the
    references is refused, as by `nlgauge audit`.
    """
    shown.check()
    paths = mixed.suite or []
    files.check(data, paths, judgements)
    if judgements is not None and len(data) > 1:
        raise InputError(f"--judgements goes with one data set, got {len(data)}; give the rows of each a 'human' field")
    mixed.check()
    if mixed.pooling:
        idle = {"seed": run.typed_seed is not None}
        options.refuse_idle(idle, "is about intervals, and --pooling shows none")
    weights = parse_weights(mixed.weights) if mixed.weights is not None else WEIGHTS
    mixed.check_metrics()
    read = [judged.read_data(path, judgements, columns) for path in data]
    datasets, suites = [dataset for dataset, _ in read], [_suite(path) for path in paths]
    shared: dict[str, Any] = {"criterion": criterion or None, "level": level, "stats": stat or None}
    shared |= {"runtime": run.runtime()}
    metrics, partners = mixed.metric or [], mixed.partner or []
    outcome: Any
    if mixed.pooling:
        outcome = pooling_study(datasets, suites, list(dict.fromkeys([*metrics, *partners])), **shared)
    else:
        outcome = run_sweep(datasets, suites, metrics, partners, weights, seed=run.seed, **shared)
    inputs = [entry for _, entries in read for entry in entries]
    result = as_typed(outcome.result([*inputs, *(dict(InputFile(path).entry) for path in paths)]))
    return shown.put_out(result, files, run.quiet)


def _suite(path: str) -> Suite:
    """The suite of a file.

    Raises:
        InputError: the name of a recipe, which audit and perturb know.
    """
    if path in ("menli", "checklist") and not os.path.exists(path):
        raise InputError(f"--suite {path} names a recipe, expected a file of pairs; nlgauge perturb makes one")
    return read_suite(path)
