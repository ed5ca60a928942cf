"""Meta-evaluation: metrics held against human judgements, by criterion, level, statistic and group."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nlgauge.core.errors import InputError, nearest
from nlgauge.core.result import Result
from nlgauge.core.segment import Dataset
from nlgauge.core.tables import Preferences, ScoreTable
from nlgauge.metaeval.align import JoinedScores, Missing, chosen_criteria, column, judged, listed, paired, settle
from nlgauge.metaeval.compare import TESTS, MetricTest, check_test
from nlgauge.metaeval.frames import Aggregate, SystemScores, check_level
from nlgauge.metaeval.intervals import KINDS, IntervalMethod
from nlgauge.metaeval.measure import check_options
from nlgauge.metaeval.presets import Task, preset
from nlgauge.metaeval.scoring import score_judged
from nlgauge.metaeval.tasks import ADJUST, MEAN, Plan, Row, task_rows
from nlgauge.metrics.base import Metric
from nlgauge.metrics.registry import named
from nlgauge.runtime.runtime import Runtime
from nlgauge.stats.correlation.registry import statistic

PREFERENCE = "preference"  # the criterion of pairs


@dataclass(frozen=True)
class MetaEvaluation:
    """What `meta_evaluate` found.

    Attributes:
        rows: of the result file, one flat mapping each; see `docs/meta.md`.
        held: the segments with their scores and judgements, joined.
        notes: what was left out and how things were done.
    """

    rows: tuple[Mapping[str, Any], ...]
    held: JoinedScores
    notes: tuple[str, ...]

    def value(self, metric: str, **where: Any) -> float:
        """The one number of a metric; `where` narrows down by criterion, stat, level or group (unless given, the mean over groups).

        Raises:
            InputError: no row or several fit.
        """
        return float(self.row(metric, **where)["value"])

    def row(self, metric: str, **where: Any) -> Mapping[str, Any]:
        """The one row of a metric; arguments as for `value`."""
        wanted = {"metric": metric, "group": MEAN, **where}
        found = [
            row
            for row in self.rows
            if row.get("against") == wanted.get("against") and all(row.get(k) == v for k, v in wanted.items())
        ]
        if len(found) != 1:
            raise InputError(f"{len(found)} numbers fit {wanted}, expected one; name criterion, stat, level and group")
        return found[0]

    def result(self, inputs: Sequence[Mapping[str, str]] = ()) -> Result:
        """The result file; `inputs` are the files read."""
        metrics = [
            {
                "spec": name,
                "signature": str(self.held.signature(name)),
                "higher_is_better": self.held.is_higher_better(name),
            }
            for name in self.held.metrics
        ]
        return Result("meta", self.rows, inputs, metrics, self.notes)


def meta_evaluate(
    dataset: Dataset,
    metrics: str | Metric | Sequence[str | Metric] = (),
    criterion: str | Sequence[str] | None = None,
    level: str | None = None,
    stats: str | Sequence[str] | None = None,
    *,
    preset: str | None = None,
    scores: ScoreTable | Mapping[str, Any] | None = None,
    lower_is_better: Sequence[str] = (),
    pairs: Preferences | None = None,
    averaging: str | None = None,
    references: str | None = None,
    missing: Missing = "refuse",
    system_scores: SystemScores = "rated",
    aggregate: Aggregate = "corpus",
    exclude: Sequence[str] = (),
    outliers: str | None = None,
    intervals: str = "auto",
    test: str | None = None,
    adjust: str = "none",
    alpha: float = 0.05,
    power: bool = False,
    runtime: Runtime | None = None,
    **options: Any,
) -> MetaEvaluation:
    """Hold metrics against human judgements.

    Args:
        dataset: texts with ratings.
        metrics: specifications or metric objects, scored here.
        criterion: one, several, or `all`; may be left out where the data have one.
        level: `segment` (all segments of a group together; so unless given), `item` (also `summary`: inside each item,
            then the mean over items) or `system`.
        stats: names, see `nlgauge list statistics`; `pearson` unless given.
        preset: a protocol by name, see `nlgauge.metaeval.presets`; what is given beside it wins.
        scores: scores made elsewhere: a table with a column a metric, or metric -> table, `Scores`, id -> number, or
            one number a segment.
        lower_is_better: metrics among `scores` that fall with quality.
        pairs: better/worse pairs that people gave, for `rr_kendall` and `preference_accuracy`, which otherwise compare
            every two outputs for one item with different ratings.
        averaging: instead of the level's own: `none`, `item`, `sys` or `micro`.
        references: what to make of several: each metric's `own` way (unless given), `mean`, `best` (`max`), `best_each`
            or `first` of single references, or the `source` in their place.
        missing: rated segments without a score: `refuse`, `drop` for all metrics, or count as `worst` or `zero`.
        system_scores: at level `system`, metrics are taken over the `rated` segments or over `all`.
        aggregate: at level `system`, a metric's own `corpus` number or the `mean` of segment values.
        exclude: systems to leave out, such as references that were rated like systems.
        outliers: `mad` leaves out, at level `system`, systems far from the median human score.
        intervals: 95 % intervals: `auto` (Fisher's formula where entries are independent, else a bootstrap over items),
            `fisher`, `bootstrap` or `none`.
        test: every metric against every other: `auto`, `williams`, `perm_both`, `perm_inputs`, `perm_systems` or
            `mcnemar`.
        adjust: p-values for the number of tests: `none`, `holm` or `bh`.
        alpha: below this a difference breaks ranks.
        power: at level `system`, say of differences that are not significant how often the test would find them.
        runtime: device, precision, cache.
        options: of the statistics: `ties`, `threshold`, `epsilon`, `human_epsilon`, `folds`, `undefined`, `common`,
            `compat`; of
            statistics and tests: `draws`, `seed`; of tests: `alternative` (`greater` or `two-sided`).

    Returns:
        A row for every metric, criterion, statistic and group (language pair, task), and one for their plain mean.
        Values are in the
        direction the metric declares: an error rate that rises as quality falls has a positive one; `raw` is the value
            without that.

    Raises:
        InputError: data that do not fit together: names the ids and how many.
        SpecError: an unknown metric.
    """
    tasks, protocol = _tasks(preset, level, stats, averaging)
    settled = {**protocol["options"], **options}
    check_options([task.stat for task in tasks], settled, test is not None)
    test = protocol["test"] if test == "auto" and protocol["test"] in TESTS else test
    for task in tasks:
        if pairs is not None and statistic(task.stat).kind != "preferences":
            raise InputError(
                f"{task.stat} needs ratings, and pairs have none; choose rr_kendall or preference_accuracy"
            )
    how = IntervalMethod(intervals, **{key: settled[key] for key in ("draws", "seed") if settled.get(key) is not None})
    plan = Plan(settled, _asked(test, settled), how, adjust, alpha, system_scores, aggregate, outliers, power)
    _check(plan)
    held = hold(
        without_systems(dataset, exclude),
        metrics,
        criterion if criterion is not None or pairs is not None else protocol["criterion"],
        scores=scores,
        lower_is_better=lower_is_better,
        references=references or protocol["references"],
        missing=missing,
        pairs=pairs,
        unrated=system_scores == "all" and any(task.level == "system" for task in tasks),
        runtime=runtime,
    )
    rows: list[Row] = []
    notes: list[str] = []
    for task in tasks:
        for one in held.human:
            found, told = task_rows(held, one, task, plan)
            rows += found
            notes += told
        rows += _over_criteria(rows, held, task)
    return MetaEvaluation(tuple(rows), held, tuple(dict.fromkeys([*held.notes, *notes])))


def hold(
    dataset: Dataset,
    metrics: str | Metric | Sequence[str | Metric],
    criterion: str | Sequence[str] | None,
    *,
    scores: ScoreTable | Mapping[str, Any] | None = None,
    lower_is_better: Sequence[str] = (),
    references: str | None = None,
    missing: Missing = "refuse",
    pairs: Preferences | None = None,
    unrated: bool = False,
    runtime: Runtime | None = None,
) -> JoinedScores:
    """Score and join: everything that comes before the first statistic; arguments as in `meta_evaluate`."""
    positions = None
    if pairs is not None:
        if criterion is not None:
            raise InputError("pairs say themselves what people prefer; leave the criterion out")
        segments, positions, notes = paired(dataset, pairs)
        human = {PREFERENCE: np.zeros(len(segments))}
    else:
        segments, human, notes = judged(dataset, chosen_criteria(dataset, criterion), unrated)
    built = named(metrics) if isinstance(metrics, str) or not isinstance(metrics, Sequence) or metrics else {}
    given = dict.fromkeys(scores.columns, scores) if isinstance(scores, ScoreTable) else dict(scores or {})
    if not built and not given:
        raise InputError("no metric and no scores are given, expected at least one of either")
    for name in given:
        if name in built:
            raise InputError(f"{name!r} is both a metric to score and a column of scores; rename the column")
    for name in lower_is_better:
        if name not in given:
            raise InputError(
                f"lower_is_better names {name!r}, which is not among the scores given{nearest(name, given)}"
            )
    tables = {name: values for name, values in given.items() if isinstance(values, ScoreTable)}
    of_systems = {name: table for name, table in tables.items() if table.level == "system"}
    found: dict[str, Any] = {}
    for name, values in given.items():  # what does not fit is told before anything is scored
        if name not in of_systems:
            found[name], more = (column if name in tables else listed)(
                values, name, segments, name not in lower_is_better
            )
            notes += more
    for table in {id(table): table for table in tables.values()}.values():
        notes += table.notes
    scored, told = score_judged(built, segments, runtime or Runtime(), references)
    held = JoinedScores(
        segments,
        human,
        {**scored, **found},
        of_systems,
        frozenset(lower_is_better),
        positions,
        (*dataset.notes, *notes, *told),
    )
    return settle(held, missing)


def _tasks(
    name: str | None, level: str | None, stats: str | Sequence[str] | None, averaging: str | None
) -> tuple[list[Task], dict[str, Any]]:
    """What to compute, and the rest of the protocol."""
    chosen = preset(name) if name is not None else None
    wanted = [stats] if isinstance(stats, str) else None if stats is None else list(stats)
    if wanted == []:
        raise InputError("no statistic is named, expected at least one")
    protocol = {"options": {}, "test": None, "criterion": None, "references": None}
    base = [Task("pearson", "segment")]
    if chosen is not None:
        base = list(chosen.tasks)
        protocol = {
            "options": chosen.options,
            "test": chosen.test,
            "criterion": chosen.criterion,
            "references": chosen.references,
        }
    levels = list(dict.fromkeys(task.level for task in base)) if level is None else [level]
    if wanted is None and level is None:
        tasks = base
    else:
        tasks = [Task(stat, at) for stat in wanted or dict.fromkeys(task.stat for task in base) for at in levels]
    tasks = [dataclasses.replace(task, averaging=averaging) if averaging is not None else task for task in tasks]
    for task in tasks:
        statistic(task.stat)
        check_level(task.level)
    return tasks, protocol


def _asked(test: str | None, options: Mapping[str, Any]) -> MetricTest | None:
    if test is None:
        return None
    check_test(test)
    compat = options.get("compat")
    own = {key: options[key] for key in ("alternative", "draws", "seed") if options.get(key) is not None}
    return MetricTest(test, **own, compat=compat if compat != "realsumm" else None)


def _check(plan: Plan) -> None:
    for name, value, known in (
        ("adjust", plan.adjust, ADJUST),
        ("intervals", plan.intervals.kind, KINDS),
        ("system_scores", plan.system_scores, ("rated", "all")),
        ("aggregate", plan.aggregate, ("corpus", "mean")),
        ("outliers", plan.outliers, (None, "mad")),
    ):
        if value not in known:
            raise InputError(f"{name} is {value!r}{nearest(str(value), [str(k) for k in known if k is not None])}")


def without_systems(dataset: Dataset, exclude: Sequence[str]) -> Dataset:
    """The dataset without some systems, and a note on how many are left.

    Raises:
        InputError: a name that is no system, with the nearest known.
    """
    if not exclude:
        return dataset
    systems = [s for s in dataset.systems if s is not None]
    for name in exclude:
        if name not in systems:
            raise InputError(f"exclude names {name!r}, which is not among the systems{nearest(name, systems)}")
    note = f"{len(systems) - len(set(exclude))} of {len(systems)} systems (left out: {', '.join(exclude)})"
    kept = tuple(s for s in dataset if s.system not in exclude)
    if not kept:
        raise InputError("exclude leaves no system")
    return Dataset(kept, dataset.name, (*dataset.notes, note))


def _over_criteria(rows: Sequence[Row], held: JoinedScores, task: Task) -> list[Row]:
    """The plain mean over several criteria, a row a metric."""
    if len(held.human) < 2 or MEAN in held.human:
        return []
    found = []
    for metric in held.metrics:
        own = [
            r
            for r in rows
            if (r["metric"], r["level"], r["stat"], r["group"]) == (metric, task.level, task.stat, MEAN)
            and r.get("against") is None
            and r["criterion"] != MEAN
        ]
        defined = [r["value"] for r in own if not math.isnan(r["value"])]
        value = float(np.mean(defined)) if defined else math.nan
        raws = [r["raw"] for r in own if not math.isnan(r["raw"])]
        found.append(
            {
                **own[0],
                "criterion": MEAN,
                "value": value,
                "low": math.nan,
                "high": math.nan,
                "n_used": len(defined),
                "n_undefined": len(own) - len(defined),
                "chance": math.nan,
                "raw": float(np.mean(raws)) if raws else math.nan,
            }
        )
        found[-1].pop("rank", None)
        found[-1].pop("not_outperformed", None)
    return found
