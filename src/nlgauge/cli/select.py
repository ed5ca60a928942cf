"""`nlgauge select` and `nlgauge sweep`: would a metric pick the right model, and what makes a metric better?"""

from __future__ import annotations

import os
import re
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import numpy as np

from nlgauge.cli import judged, options
from nlgauge.cli.main import as_typed
from nlgauge.core.errors import InputError
from nlgauge.core.options import Argument, Range, Typed
from nlgauge.core.suite import Suite
from nlgauge.io.files import InputFile, Lines
from nlgauge.io.suites.suites import read_suite
from nlgauge.metaeval.evaluate import Exclude, Level, Missing, References, Stats, without_systems
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
    draw_matrix: Annotated[
        str | None,
        Typed("Hybrids made elsewhere: one line each, in it one system per item; .npy or text.", metavar="FILE"),
    ] = None
    among: Annotated[str, Typed("Which outputs hybrids are made of.", words="rated all")] = "rated"
    exclude: Exclude = None
    references: References = None
    missing: Missing = "refuse"


@options.verb()
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
    they are. `--among all` draws among unrated outputs, too; the human score is then the mean over those that are
    rated. `--draw-matrix` reads hybrids made elsewhere: a line each, and in it one system per rated item, by name or by
    number (from 0, in the order of the data); -1 leaves an item out.

    Hybrids of one set share their outputs, so ten thousand are not ten thousand independent observations. There are
    therefore no intervals and no tests: compare metrics with `nlgauge meta`. A pool larger than the models is refused
    before anything is scored. Scores of models stay in the cache.
    """
    shown.check()
    draw_matrix = choices.draw_matrix
    if draw_matrix is not None:
        options.refuse_idle({"hybrids": choices.hybrids != 10_000}, "makes hybrids, and --draw-matrix brings them")
    if (choices.hybrids == 0 or draw_matrix is not None) and choices.draws is None:
        options.refuse_idle({"seed": run.typed_seed is not None}, "is about draws: name --hybrids or --draws as well")
    files.check(data, scored.scores, judgements, draw_matrix)
    dataset, inputs = judged.read_data(data, judgements, columns)
    tables, entries = scored.read()
    matrix, entry = read_draws(draw_matrix) if draw_matrix is not None else (None, None)
    how = {**asdict(choices), "draw_matrix": matrix}  # checked there
    how["stats"] = how["stats"] or STATS
    outcome = select_models(
        without_systems(dataset, how.pop("exclude") or []),
        scored.metric or [],
        criterion,
        scores=tables,
        lower_is_better=scored.lower or [],
        higher_is_better=scored.higher or [],
        seed=run.seed,
        runtime=run.runtime(),
        **how,
    )
    result = as_typed(outcome.result([*inputs, *entries, *([entry] if entry else [])]))
    files.write_segments(lambda: judged.joined_columns(outcome.held))
    return shown.put_out(result, files, run.quiet)


def read_draws(path: str) -> tuple[Any, dict[str, str]]:
    """A draw matrix, and the file it is from.

    The file is `.npy`, or text (also `.gz`) with one hybrid per line, systems by number or name between blanks.

    Raises:
        InputError: lines of different lengths, or a file that is no matrix.
    """
    file = InputFile(path)
    if path.endswith(".npy"):
        try:
            loaded = np.load(path, allow_pickle=False)
        except Exception as error:  # numpy parses the header as Python, with all the errors of that
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise InputError(f"{path}: no matrix of numpy ({reason})") from None
        if not isinstance(loaded, np.ndarray):
            raise InputError(f"{path}: an archive of several arrays, expected one matrix as numpy.save writes it")
        return loaded, dict(file.entry)
    lines = Lines(file)
    rows: list[list[str]] = []
    for place, line in lines.filled():
        cells = line.split()
        if rows and len(cells) != len(rows[0]):
            raise InputError(
                f"{lines.at(place)}: {len(cells)} systems, expected {len(rows[0])} as in the first line, one per item"
            )
        rows.append(cells)
    if not rows:
        raise InputError(f"{path} is empty: no line in it, expected one hybrid per line")
    matrix: Any = np.array(rows)
    if all(_WHOLE.fullmatch(cell) for row in rows for cell in row):
        matrix = matrix.astype(np.int64)
    return matrix, dict(file.entry)


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

    def check(self, norm: str | None) -> None:
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
        if self.pooling and (self.weights is not None or norm is not None):
            option = "--weights" if self.weights is not None else "--norm"
            raise InputError(f"{option} is about mixing metrics, and --pooling mixes none")

    def check_metrics(self) -> None:
        """Refuse a misspelt metric before anything is read."""
        several = [named(specs) for specs in (self.metric, self.partner) if specs]
        if self.pooling and not several:
            raise InputError("no metric is named, expected at least one nli metric: --with nli")


@options.verb(without={"segments"})
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
    references: References = None,
    missing: Annotated[str, Typed("What happens to rated segments without a score.", words="refuse drop")] = "refuse",
    norm: Annotated[str | None, Typed("Common scale.  [default: minmax]", words="minmax zscore none")] = None,
    ties: Annotated[str, Typed("How ties of preferences count.", words="loss half exclude zero")] = "loss",
    choice: Annotated[
        str | None,
        Typed(
            "With --pooling: a strategy for a set is chosen by its wins elsewhere, or by its mean.  [default: wins]",
            words="wins mean",
        ),
    ] = None,
    intervals: Annotated[
        str, Typed("How those of correlations are made.", words="auto fisher bootstrap none")
    ] = "auto",
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
    mixed.check(norm)
    if mixed.pooling:
        idle = {"intervals": intervals != "auto", "seed": run.typed_seed is not None}
        options.refuse_idle(idle, "is about intervals, and --pooling shows none")
    elif intervals in ("none", "fisher"):
        options.refuse_idle(
            {"seed": run.typed_seed is not None}, f"is about draws, and --intervals {intervals} has none"
        )
    if choice is not None and not mixed.pooling:
        raise InputError("--choice is about strategies of pooling; add --pooling, or leave it out")
    weights = parse_weights(mixed.weights) if mixed.weights is not None else WEIGHTS
    mixed.check_metrics()
    read = [judged.read_data(path, judgements, columns) for path in data]
    datasets, suites = [dataset for dataset, _ in read], [_suite(path) for path in paths]
    shared: dict[str, Any] = {"criterion": criterion or None, "level": level, "stats": stat or None, "ties": ties}
    shared |= {"references": references, "missing": missing, "runtime": run.runtime()}
    metrics, partners = mixed.metric or [], mixed.partner or []
    outcome: Any
    if mixed.pooling:
        outcome = pooling_study(
            datasets, suites, list(dict.fromkeys([*metrics, *partners])), choice=choice or "wins", **shared
        )
    else:
        shared |= {"norm": norm or "minmax", "intervals": intervals, "seed": run.seed}
        outcome = run_sweep(datasets, suites, metrics, partners, weights, **shared)
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
