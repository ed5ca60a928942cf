"""Meta-evaluation: compare metrics with human judgements, by criterion, level, statistic and group."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import permutations
from typing import Annotated, Any, ClassVar

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError, each, nearest
from nlgauge.core.metric import BaseMetric, MetricLike, leave_out
from nlgauge.core.options import Range, Typed, check_option, convert
from nlgauge.core.result import NewRow, Outcome, Result, Row
from nlgauge.core.scores import Scores, ids, warning
from nlgauge.core.segment import Dataset, Frame, Segment, is_frame
from nlgauge.core.spec import Signature, Spec, parse
from nlgauge.core.tables import Preferences, ScoreTable
from nlgauge.io.frames import dataset_of
from nlgauge.io.scores import read_scores
from nlgauge.metaeval import joined
from nlgauge.metaeval.joined import (
    Aggregate,
    JoinedScores,
    SystemScores,
    by_level,
    chosen_criteria,
    directions,
    judged,
    paired,
    score_judged,
    settle,
    stand_ins,
    stored_columns,
    stored_signature,
)
from nlgauge.metaeval.measure import (
    ABOUT,
    IntervalKind,
    IntervalMethod,
    MetricTest,
    Task,
    check_options,
    check_test,
    takes,
)
from nlgauge.metaeval.people import people_rows
from nlgauge.metaeval.raters import agreement_rows, ceiling_rows
from nlgauge.metaeval.tasks import MEAN, PRESETS, Preset, Protocol, as_official, mean_of_known, preset, task_rows
from nlgauge.metrics.function import RATINGS
from nlgauge.metrics.languages import LanguageCheck
from nlgauge.metrics.learned.gauge import Sentinel
from nlgauge.metrics.registry import expanded, named, takes_metrics
from nlgauge.runtime.runtime import Runtime
from nlgauge.scoring.looks import Language, by_texts
from nlgauge.stats.correlate import Averaging, Undefined, statistic
from nlgauge.stats.correlate import names as statistics
from nlgauge.stats.draws import Interval
from nlgauge.stats.entries import MissingPolicy
from nlgauge.stats.preferences import Ties
from nlgauge.stats.tests import Adjustment, Rule

PREFERENCE = "preference"  # the criterion of pairs


@dataclass(frozen=True, repr=False)
class Evaluation(Outcome):
    """The result of holding metrics against human judgements.

    Attributes:
        kind: the kind of the result file.
        rows: the rows of the result file, each a flat mapping; page `reference/results` names the fields.
        held: the segments with their scores and judgements, joined.
        notes: what was left out and how things were done.
        settings: how metrics were compared, and what was drawn, as `Result` names it.
    """

    kind: ClassVar[str]
    rows: tuple[Row, ...]
    held: JoinedScores
    notes: tuple[str, ...]
    settings: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def result(self, inputs: Sequence[Mapping[str, str]] = ()) -> Result:
        """The result file; `inputs` lists the files that were read."""
        return Result(self.kind, self.rows, inputs, self.held.as_metrics(), self.notes, self.settings)


@dataclass(frozen=True, repr=False)
class MetaEvaluation(Evaluation):
    """The result of `meta_evaluate`.

    Attributes:
        people, raters, ceiling: where raters were asked for: how they rank the systems, how far they agree, and what
            those who are left out reach as a metric.
    """

    kind: ClassVar[str] = "meta"
    people: tuple[Row, ...] = ()
    raters: tuple[Row, ...] = ()
    ceiling: tuple[Row, ...] = ()

    def result(self, inputs: Sequence[Mapping[str, str]] = ()) -> Result:
        """The result file; `inputs` lists the files that were read."""
        beside = {name: getattr(self, name) for name in ("people", "raters", "ceiling")}
        return dataclasses.replace(super().result(inputs), **beside)

    def value(self, metric: str, **where: Any) -> float:
        """The one value of a metric; `where` narrows the choice down by criterion, stat, level or group.

        Without a group it is the mean over groups.

        Raises:
            InputError: no row matches, or several do.
        """
        return float(self.row(metric, **where)["value"])

    def row(self, metric: str, **where: Any) -> Row:
        """The one row of a metric; the arguments are those of `value`."""
        wanted = {"metric": metric, "group": MEAN, "against": None, **where}
        fitting = [row for row in self.rows if all(row.get(key) == value for key, value in wanted.items())]
        if len(fitting) != 1:
            named_by = {"metric": metric, "group": MEAN, **where}
            raise InputError(
                f"{len(fitting)} numbers fit {named_by}, expected one; name criterion, stat, level and group"
            )
        return fitting[0]


@warning
@takes_metrics
def meta_evaluate(
    dataset: Dataset | Frame,
    metrics: MetricLike | Sequence[MetricLike] = (),
    criterion: str | Sequence[str] | None = None,
    level: str | None = None,
    stats: str | Sequence[str] | None = None,
    *,
    preset: str | None = None,
    scores: ScoreTable | Frame | Mapping[str, Any] | None = None,
    lower_is_better: Sequence[str] = (),
    higher_is_better: Sequence[str] = (),
    pairs: Preferences | None = None,
    averaging: str | None = None,
    references: str | None = None,
    missing: MissingPolicy = "refuse",
    system_scores: SystemScores | None = None,
    aggregate: Aggregate | None = None,
    exclude: Sequence[str] = (),
    outliers: str | None = None,
    intervals: str = "auto",
    test: str | None = None,
    adjust: str = "none",
    alpha: float = 0.05,
    power: bool = False,
    baseline: str | None = None,
    ranks: str | None = None,
    raters: bool = False,
    runtime: Runtime | None = None,
    language: LanguageCheck = "note",
    columns: Mapping[str, str] | None = None,
    **options: Any,
) -> MetaEvaluation:
    """Compare metrics with human judgements.

    Values are in the direction that each metric declares, and absolute values are never taken. Several groups are
    averaged plainly, and a mean over criteria has no interval. A metric that looks at all segments of a call (idf,
    min-max) is scored one group at a time.

    With `references` other than each metric's own, every reference is scored on its own before the scores are combined,
    and the number of a system is the mean of combined scores, or the metric's own number for `first`, `source` and
    texts with one reference; the choice is part of the signature.

    Args:
        dataset: rated texts, or a frame with a row per text.
        metrics: specifications, metric objects or functions, which are scored here; none where `scores` are given, or
            `raters` alone are looked at. `human.NAME` is a column of ratings in the data.
        criterion: what people rated: one criterion, several, `all`, or `mean`, each segment's mean of all.
        level: `segment` (default), `item` or `system`.
        stats: statistics by name; Pearson's r by default. Options behind a colon are of this statistic alone, as in
            `acc_eq:epsilon=0.5`: those that it takes, and `undefined` and `common`.
        preset: a protocol of `nlgauge list statistics`, with its test; arguments given beside it override it.
        scores, lower_is_better, higher_is_better: scores made elsewhere, see `joined_scores`.
        pairs: better/worse pairs that people gave, in place of ratings.
        averaging: over what a statistic is averaged: `none`, `item`, `sys` or `micro`; each level has its usual way.
        references: how several references are used, see `joined_scores`.
        missing: what becomes of rated segments without a score: `refuse`, `drop`, `worst` or `zero`.
        system_scores: level `system`: what a metric's score of a system is made of: `rated` segments or `all`.
        aggregate: level `system`: how segments become a score: the `corpus` number or their `mean`.
        exclude: systems to leave out.
        outliers: level `system`: `mad` leaves out systems far from the median of people's scores.
        intervals: `auto`, `fisher`, `bootstrap` or `none`, at 95 %.
        test: the test of differences between metrics, by name; `auto` takes the usual one of each statistic.
        adjust: what p-values are adjusted after: `none`, `holm` or `bh`.
        alpha: a difference is significant below it.
        power: level `system`: estimate the power for each pair that is not significant.
        baseline: the metric that all others are tested against, and nothing else.
        ranks: where a new rank begins: `all` metrics above beat all below (default), `any` of the rank above beats the
            metric, or `wmt`, which is `any` with p <= alpha.
        raters: look at people, too: how they rank the systems, how far they agree, and what one rater, or half of them,
            reaches as a metric.
        runtime: device, precision, cache and progress.
        language: `note` texts that a metric does not read, `strict`ly refuse them, or `off`.
        columns: names of a frame's columns, as in `nlgauge.read`.
        options: of statistics, tests and intervals: `draws`, `seed`, `threshold`, `epsilon`, `undefined` and so on, see
            `measure.check_options`.

    Raises:
        InputError: arguments that do not fit together or would change nothing, or data without what they need.
        SpecError: an unknown metric.
    """
    if raters and pairs is not None:
        raise InputError("raters are those of ratings, and pairs have none; leave one of them out")
    protocol = _protocol(preset, level, stats, averaging)
    tested = _tested(test if baseline is None else test or "auto", protocol)
    settled = {**protocol.options, **options}
    check_options([task.stat for task in protocol.tasks], settled, tested is not None)
    protocol = dataclasses.replace(
        protocol,
        options=settled,
        metric_test=_test(tested, settled),
        intervals=IntervalMethod(intervals, **_draws(settled)),  # type: ignore[arg-type]  # checked there
        adjust=adjust,  # type: ignore[arg-type]
        alpha=alpha,
        system_scores=system_scores or protocol.system_scores,
        aggregate=aggregate or protocol.aggregate,
        outliers=outliers,  # type: ignore[arg-type]
        power=power,
        baseline=baseline,
        ranks=ranks or protocol.ranks,  # type: ignore[arg-type]
        raters=raters,
        progress=(runtime or Runtime()).progress,
    )
    _refuse_idle(protocol, ranks)
    held = joined_scores(
        without_systems(_dataset(dataset, columns), exclude),
        metrics,
        protocol.criterion if criterion is None and pairs is None else criterion,
        scores=scores,
        lower_is_better=lower_is_better,
        higher_is_better=higher_is_better,
        references=references or protocol.references,
        missing=missing,
        pairs=_checked_pairs(pairs, protocol.tasks),
        unrated=protocol.system_scores == "all",
        runtime=runtime,
        language=language,
        baseline=baseline,
        metrics_needed=not raters or baseline is not None or test not in (None, "none"),
        rehearse=lambda stand_in: _evaluated(stand_in, protocol.rehearsed()),
    )
    return _evaluated(held, protocol)


_OPENED = "rank: a metric opens a new rank as soon as one metric of the rank above beats it"
_GREEDY = {"any": f"{_OPENED} (p < alpha)", "wmt": f"{_OPENED} (p <= alpha), as in WMT's task"}


def _evaluated(held: JoinedScores, protocol: Protocol) -> MetaEvaluation:
    rows: list[NewRow] = []
    notes = list(held.notes)
    for task in protocol.tasks if held.metrics else ():
        for criterion in held.human:
            of_criterion, more = task_rows(held, criterion, task, protocol)
            rows += of_criterion
            notes += more
        rows += _over_criteria(rows, held, task)
    if protocol.official and held.metrics:
        controls, said = with_controls(rows, held, protocol)
        averages, more = as_official(rows, controls, protocol)
        rows += [*averages, *controls]
        notes += [*more, *said]
    if protocol.ranks != "all" and any(row.get("rank") for row in rows):
        notes.append(_GREEDY[protocol.ranks])
    people, more = _of_people(held, protocol) if protocol.raters else ({}, [])
    notes += more
    if not protocol.raters and not any(" draws, seed " in note for note in notes):
        idle = [name for name in ("draws", "seed") if protocol.options.get(name) is not None]
        notes += [f"{' and '.join(idle)} changed nothing: no test and no interval here draws at random"] if idle else []
    return MetaEvaluation(tuple(rows), held, tuple(dict.fromkeys(notes)), protocol.settings(rows), **people)


def _of_people(held: JoinedScores, protocol: Protocol) -> tuple[dict[str, tuple[NewRow, ...]], list[str]]:
    """What `raters` asks for: fields of the outcome, each with its rows, and notes."""
    drawn = {"draws": protocol.intervals.draws, "seed": protocol.intervals.seed}
    found = {
        "people": people_rows(held, draws=protocol.options.get("draws"), seed=protocol.intervals.seed),
        "raters": agreement_rows(held, **drawn),
        "ceiling": ceiling_rows(held, _controls(held), protocol),
    }
    return {name: tuple(rows) for name, (rows, _) in found.items()}, [
        said for _, told in found.values() for said in told
    ]


def joined_scores(
    dataset: Dataset | Frame,
    metrics: MetricLike | Sequence[MetricLike],
    criterion: str | Sequence[str] | None,
    *,
    scores: ScoreTable | Frame | Mapping[str, Any] | None = None,
    lower_is_better: Sequence[str] = (),
    higher_is_better: Sequence[str] = (),
    references: str | None = None,
    missing: MissingPolicy = "refuse",
    pairs: Preferences | None = None,
    unrated: bool = False,
    runtime: Runtime | None = None,
    language: LanguageCheck = "note",
    baseline: str | None = None,
    metrics_needed: bool = True,
    rehearse: Callable[[JoinedScores], object] = lambda held: None,
) -> JoinedScores:
    """Score the segments and join them with the judgements: everything that comes before the first statistic.

    Args:
        dataset: texts with ratings.
        metrics: specifications or metric objects, which are scored here.
        criterion: one criterion, several, `all` or `mean`. It may be left out where the data have one, and with pairs.
        scores: scores made elsewhere: a table or frame with one column per metric, or a mapping from metric to a
            table, to two tables (of segments and of systems), to `Scores`, to a mapping from id to number, or to one
            number per segment.
        lower_is_better, higher_is_better: metrics in `scores` whose direction is known. For others it comes from
            the record beside their file, else from their name; else higher is better. Notes say what was not known.
        references: how to use several references: each metric's `own` way (default); the `mean`, `best` (`max`),
            `best_each` or `first` of the scores against single references; or the `source` in their place.
        missing: what to do with rated segments without a score: `refuse` them, `drop` them for all metrics, or count
            them as `worst` or `zero`.
        pairs: better/worse pairs that people gave, for `rr_kendall` and `preference_accuracy`. Without them, these
            statistics compare every two outputs for one item that have different ratings.
        unrated: keep segments without a rating, over which metrics may be averaged.
        runtime, language: device, precision and cache; note segments in scripts that a metric does not read, `strict`ly
            refuse them, or turn the check `off`.
        metrics_needed: refuse a call without a metric and without scores.
        baseline, rehearse: the metric that others will be tested against, and what will be done with the scores; it is
            called with stand-ins before anything is scored, so that what it refuses costs no time.
    """
    dataset = _dataset(dataset)
    scores = read_scores(scores) if scores is not None and is_frame(scores) else scores
    segments, human, positions, notes = _judgements(dataset, criterion, pairs, unrated)
    asked, optional = expanded(metrics)
    runtime, told = by_texts(runtime or Runtime(), asked, [segments])
    built, left = leave_out(named(asked, runtime.encoder), optional, segments) if asked else ({}, [])
    _refuse_itself(built, human)
    stored = dict.fromkeys(scores.columns, scores) if isinstance(scores, ScoreTable) else dict(scores or {})
    if metrics_needed and not built and not stored:
        raise InputError("no metric and no scores are given, expected at least one of either")
    _check_names(built, stored, lower_is_better, higher_is_better)
    of_segments, tables = by_level(stored)
    first = {**tables, **of_segments}
    up, guessed = directions(first, dict.fromkeys(lower_is_better, False) | dict.fromkeys(higher_is_better, True))
    columns, more = stored_columns(of_segments, segments, up)  # report what does not fit before scoring
    more += [*told, *left, *(note for table in {id(t): t for t in tables.values()}.values() for note in table.notes)]
    down = frozenset(name for name in tables if not up[name])
    plain = frozenset(name for name, one in built.items() if not one.info.judges)

    def joined(scored: Mapping[str, Scores], flagged: Sequence[str] = ()) -> JoinedScores:
        told = (*dataset.notes, *notes, *more, *guessed, *flagged)
        held = JoinedScores(segments, human, {**scored, **columns}, tables, down, positions, told, describing=plain)
        return settle(held, missing)

    if built:
        rehearse(joined(stand_ins(built, segments, baseline)))
    return joined(*score_judged(built, segments, runtime, references, language))


def _judgements(
    dataset: Dataset, criterion: str | Sequence[str] | None, pairs: Preferences | None, unrated: bool
) -> tuple[tuple[Segment, ...], dict[str, Array], npt.NDArray[np.int64] | None, list[str]]:
    """The segments that people judged, their ratings by criterion, the positions of pairs, and notes."""
    if pairs is None:
        segments, human, notes = judged(dataset, chosen_criteria(dataset, criterion), unrated)
        return segments, human, None, notes
    if criterion is not None:
        raise InputError("pairs say themselves what people prefer; leave the criterion out")
    segments, positions, notes = paired(dataset, pairs)
    return segments, {PREFERENCE: np.zeros(len(segments))}, positions, notes


def _refuse_itself(built: Mapping[str, BaseMetric], human: Mapping[str, Array]) -> None:
    """A column of ratings says nothing about itself."""
    for name in human:
        if f"{RATINGS}{name}" in built:
            raise InputError(f"metric {RATINGS}{name} is the criterion itself; name another criterion, or leave it out")


def _dataset(data: Dataset | Frame, columns: Mapping[str, str] | None = None) -> Dataset:
    return data if isinstance(data, Dataset) and columns is None else dataset_of(data, columns)


def _check_names(
    built: Mapping[str, BaseMetric], stored: Mapping[str, Any], lower: Sequence[str], higher: Sequence[str]
) -> None:
    for name in stored:
        if name in built:
            raise InputError(f"{name!r} is both a metric to score and a column of scores; rename the column")
    for option, names in (("lower_is_better", lower), ("higher_is_better", higher)):
        for name in names:
            if name not in stored:
                raise InputError(f"{option} names {name!r}, which is not among the scores given{nearest(name, stored)}")
    for name in lower:
        if name in higher:
            raise InputError(f"{name!r} is named in lower_is_better and in higher_is_better, expected one of them")


def _protocol(
    name: str | None, level: str | None, stats: str | Sequence[str] | None, averaging: str | None
) -> Protocol:
    """The preset of a name, or Pearson's r of segments, with other tasks where such are asked for."""
    own = preset(name) if name is not None else Preset((Task("pearson", "segment"),), "", "")
    wanted = [stats] if isinstance(stats, str) else None if stats is None else list(stats)
    if wanted == []:
        raise InputError("no statistic is named, expected at least one")
    tasks = list(own.tasks)
    if wanted is not None or level is not None:
        levels = list(dict.fromkeys(task.level for task in tasks)) if level is None else [level]
        asked = dict(map(_typed, wanted or dict.fromkeys(task.stat for task in tasks)))
        if len(asked) < len(dict.fromkeys(wanted or asked)):
            raise InputError(f"a statistic is named twice, with other options: {', '.join(wanted or ())}")
        known = {(task.stat, task.level): task for task in tasks}  # of the preset: an option changes nothing else
        tasks = [
            dataclasses.replace(known.get((stat, at), Task(stat, at)), options=behind) if behind else Task(stat, at)
            for stat, behind in asked.items()
            for at in levels
        ]
    if averaging is not None:
        tasks = [dataclasses.replace(task, averaging=averaging) for task in tasks]
    each(lambda task: task.settled(), tasks)
    given = {f.name: getattr(own, f.name) for f in fields(Preset)}
    if not any(task.level == "system" for task in tasks):
        del given["system_scores"], given["aggregate"]
    is_whole = tuple(dataclasses.replace(task, options={}) for task in tasks) == own.tasks
    return Protocol(**{**given, "tasks": tuple(tasks)}, whole=is_whole)


# What may stand behind the name of a statistic; each takes some of the first, and all take the last two.
_BEHIND = {
    "ties": Ties,
    "threshold": float,
    "epsilon": Annotated[float, Range(least=0)],
    "human_epsilon": Annotated[float, Range(least=0)],
    "interval": Interval,
    "folds": Annotated[int, Range(least=2)],
    "undefined": Undefined,
    "common": bool,
}


def _typed(stat: str) -> tuple[str, dict[str, Any]]:
    """A statistic as it is typed, `acc_eq:epsilon=0.5`: its name and its options.

    Raises:
        InputError: the statistic or one of the options is unknown, or a number is out of range.
        SpecError: the options are not spelt as those of a metric, or a value does not fit.
    """
    if ":" not in stat:
        return stat, {}
    parsed = parse(stat)
    if not isinstance(parsed, Spec):
        raise InputError(f"{stat!r} is a sum of metrics, expected a statistic, as in acc_eq:epsilon=0.5")
    own, options = (*takes(parsed.name), "undefined", "common"), {}
    known = [option for option in _BEHIND if option in own]
    for option, raw in parsed.options:
        if option not in known:
            raise InputError(f"{parsed.name} has no option {option!r}{nearest(option, known)}")
        where = f"{parsed.name}:{option}"
        options[option] = convert(raw, _BEHIND[option], where)
        check_option(where, options[option], _BEHIND[option], error=InputError)
    return parsed.name, options


def _checked_pairs(pairs: Preferences | None, tasks: Sequence[Task]) -> Preferences | None:
    """The pairs that people gave; an error where a statistic cannot use them."""
    for task in tasks:
        if pairs is not None and statistic(task.stat).kind != "preferences":
            raise InputError(
                f"{task.stat} needs ratings, and pairs have none; choose rr_kendall or preference_accuracy"
            )
    return pairs


def _tested(test: str | None, protocol: Protocol) -> str | None:
    """The test to run: the preset's own where its tasks are kept and no other is named; None for no test."""
    own = protocol.test if protocol.whole else None
    if test in (None, "auto"):
        return own or test
    return None if test == "none" else test


def _test(name: str | None, options: Mapping[str, Any]) -> MetricTest | None:
    """The test of a name, with those of the options that are its own."""
    if name is None:
        return None
    check_test(name)
    compat = options.get("compat")
    side = {"alternative": options["alternative"]} if options.get("alternative") is not None else {}
    return MetricTest(name, **side, **_draws(options), compat=compat if compat != "realsumm" else None)


def _draws(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: options[name] for name in ("draws", "seed") if options.get(name) is not None}


def _refuse_idle(protocol: Protocol, ranks: str | None) -> None:
    """Refuse options that would change nothing."""
    options, tested = protocol.options, protocol.metric_test is not None
    given = {name for name, value in options.items() if value is not None}
    tasks = [task.settled() for task in protocol.tasks]
    given |= {name for task in tasks for name in task.options}
    averaging = {task.averaging for task in tasks}
    idle: list[tuple[str, str]] = []  # the option, and what it would act on
    if "system" not in {task.level for task in tasks}:
        usual = (("system_scores", "rated"), ("aggregate", "corpus"), ("outliers", None))
        idle += [(name, "level 'system'") for name, value in usual if getattr(protocol, name) != value]
    if averaging == {"none"}:
        idle += [(name, "averages over items or systems") for name in ("undefined", "common") if name in given]
    if not tested and ranks is not None:
        idle.append(("ranks", "a test"))
    if not tested and not protocol.raters and protocol.intervals.kind in ("none", "fisher"):
        idle += [(name, "a test or an interval that draws") for name in ("draws", "seed") if name in given]
    if options.get("compat") == "realsumm" and "item" not in averaging:
        idle.append(("compat", "items that 'realsumm' leaves out"))
    for name, where in idle:
        raise InputError(f"{name} changes nothing here: it acts on {where}, which this run does not have; leave it out")


def without_systems(dataset: Dataset, exclude: Sequence[str]) -> Dataset:
    """The dataset without the excluded systems, and a note on how many systems are left.

    Raises:
        InputError: a name is not that of a system; the error gives the nearest known name.
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


def _over_criteria(rows: Sequence[Row], held: JoinedScores, task: Task) -> list[NewRow]:
    """The plain mean over several criteria, one row per metric."""
    if len(held.human) < 2 or MEAN in held.human:
        return []
    means = []
    for metric in held.metrics:
        own = [
            row
            for row in rows
            if (row["metric"], row["level"], row["stat"], row["group"]) == (metric, task.level, task.stat, MEAN)
            and row.get("against") is None
            and row["criterion"] != MEAN
        ]
        n_defined = sum(not math.isnan(row["value"]) for row in own)
        mean = {
            **own[0],
            "criterion": MEAN,
            "value": mean_of_known([row["value"] for row in own]),
            "low": math.nan,
            "high": math.nan,
            "n_used": n_defined,
            "n_undefined": len(own) - n_defined,
            "chance": math.nan,
            "raw": mean_of_known([row["raw"] for row in own]),
        }
        means.append({key: value for key, value in mean.items() if key not in ("rank", "not_outperformed")})
    return means


# --- Control rows: what is got by knowing the input, or the length of a text, without comparing anything

ITEM_MEAN = "sentinel:item-mean"  # the name of the control that is made of all metrics


def with_controls(rows: Sequence[Row], held: JoinedScores, protocol: Protocol) -> tuple[list[NewRow], list[str]]:
    """Rows of controls for every task, marked as `control`, and a note on metrics that do no better than a control.

    The controls are `sentinel:side=source` (where sources are known), `sentinel:side=hypothesis`, and
    `sentinel:item-mean`: for every output of an item, the mean over all metrics and outputs of this item, each metric
    brought to mean 0 and standard deviation 1.
    """
    controls = _controls(held)
    alone = dataclasses.replace(held, scores=controls, system_tables={}, lower_is_better=frozenset(), counts={})
    bare = dataclasses.replace(protocol.bare(), aggregate="mean")
    found: list[NewRow] = []
    for task in protocol.tasks:
        for criterion in held.human:
            found += task_rows(alone, criterion, task, bare)[0]
    for row in found:
        row["control"] = True
    return found, list(_control_notes(rows, found))


def _controls(held: JoinedScores) -> dict[str, Scores]:
    runtime, segments = Runtime(device="cpu"), held.segments
    sides = [Sentinel(side="hypothesis")]
    if all(segment.source for segment in segments):
        sides.insert(0, Sentinel(side="source"))
    found = {f"sentinel:side={one.side}": one.score(segments, runtime) for one in sides}
    mean = _item_means(held)
    if mean is not None:
        found[ITEM_MEAN] = Scores(Signature(ITEM_MEAN, ()), ids(segments), mean)
    return found


def _item_means(held: JoinedScores) -> Array | None:
    """The mean score of each item over outputs and metrics, shape (n,); None where items or scores are not known."""
    columns = [one.values if one.higher_is_better else -one.values for one in held.scores.values()]
    if not columns or any(segment.item is None for segment in held.segments):
        return None
    standard = []
    for group in held.groups:
        at = held.places[group]
        part = np.stack([column[at] for column in columns])
        spread = np.nanstd(part, axis=1, keepdims=True)
        standard.append((at, (part - np.nanmean(part, axis=1, keepdims=True)) / np.where(spread > 0, spread, 1.0)))
    values = np.zeros(len(held.segments))
    for at, part in standard:
        _, items = np.unique([str(held.segments[i].item) for i in at], return_inverse=True)
        totals = np.bincount(items, weights=np.nan_to_num(part).mean(axis=0)) / np.bincount(items)
        values[at] = totals[items]
    return values


def _control_notes(rows: Sequence[Row], controls: Sequence[Row]) -> Iterator[str]:
    """Which metrics have a control within their interval, or above it, for each task and criterion.

    Where there is no interval, it is which have a control at least as good.
    """
    best: dict[tuple[str, str, str], Row] = {}
    for row in controls:
        key = (row["criterion"], row["stat"], row["level"])
        if row["group"] == MEAN and not math.isnan(row["value"]):
            best[key] = max(row, best.get(key, row), key=lambda one: float(one["value"]))
    for (criterion, stat, level), control in best.items():
        near = [
            row
            for row in rows
            if (row["criterion"], row["stat"], row["level"], row["group"]) == (criterion, stat, level, MEAN)
            and row.get("against") is None
            and (row["value"] if math.isnan(row["low"]) else row["low"]) <= control["value"]
        ]
        if near:
            bounded = any(not math.isnan(row["low"]) for row in near)
            where = "within or above the interval" if bounded else "not below the value"
            yield (
                f"{stat} at level {level}: {control['metric']} gets {control['value']:.3f} without comparing texts,"
                f" which is {where} of {', '.join(row['metric'] for row in near)}; such a number can be had by knowing"
                " the input"
            )


# --- Correlations of criteria with each other


def criteria_rows(held: JoinedScores, stat: str, level: str) -> list[NewRow]:
    """The correlation of every criterion with every other; one stands in the place of a metric, as `human.NAME`.

    For each pair of criteria, only segments that are rated for both count. Averaging and groups are those for metrics.

    Raises:
        InputError: there is only one criterion.

    References:
        Sai et al. (2021), "Perturbation CheckLists for Evaluating NLG Evaluation Metrics", sections 2.1 and 5.1,
        figures 1 and 3.
    """
    names = list(held.human)
    if len(names) < 2:
        raise InputError(f"{names[0]!r} is the only criterion, expected two or more to compare; ask for 'all'")
    rest = dict.fromkeys(("averaging", "low", "high", "n_used", "n_undefined", "ties"))
    rows: list[NewRow] = []
    for one, other in permutations(names, 2):
        both = held.take(~np.isnan(held.human[one]) & ~np.isnan(held.human[other]))
        base = {"metric": f"human.{one}", "criterion": other, "level": level, "stat": stat, "group": MEAN}
        rows.append({**base, "value": _of_criteria(both, one, other, Task(stat, level)), **rest})
    return rows


def _of_criteria(held: JoinedScores, one: str, other: str, task: Task) -> float:
    ratings = held.human[other]
    if not len(ratings) or not np.ptp(ratings):
        return math.nan
    scores = Scores(stored_signature(one, "ratings"), ids(held.segments), held.human[one])
    alone = dataclasses.replace(held, scores={one: scores}, system_tables={})
    rows, _ = task_rows(alone, other, task, Protocol(tasks=(task,), intervals=IntervalMethod("none")))
    return next(float(row["value"]) for row in rows if row["group"] == MEAN)


# --- How metrics are compared with people: the options of `meta_evaluate` that can be typed, each with its help

# Those that other verbs about ratings take, too.
Level = Annotated[joined.Level | None, Typed("summary is item.  [default: segment]")]
Stats = Annotated[
    list[str] | None,
    Typed(
        "Statistics, with options as in acc_eq:epsilon=0.5; see 'nlgauge list statistics'.  [default: pearson]",
        ("--stat",),
        metavar="STAT",
        words=tuple(statistics()),
    ),
]
References = Annotated[
    joined.References | None,
    Typed("How several references count (best: the maximum); source stands in their place."),
]
Missing = Annotated[MissingPolicy, Typed("What happens to rated segments without a score.")]
Exclude = Annotated[list[str] | None, Typed("Leave a system out, as references rated like systems.", metavar="SYSTEM")]


@dataclass(frozen=True, kw_only=True)
class MetaOptions:
    """Options of `meta_evaluate` that are typed; it says what each means. None leaves one to preset or statistic.

    First come the statistics and the segments that they are taken over, then tests between metrics, intervals, and how
    both are drawn.
    """

    preset: Annotated[
        str | None, Typed("A protocol; see 'nlgauge list statistics'.", metavar="NAME", words=tuple(PRESETS))
    ] = None
    level: Level = None
    stats: Stats = None
    averaging: Annotated[Averaging | None, Typed("[default: the level's own]")] = None
    references: References = None
    missing: Missing = "refuse"
    language: Language = "note"
    exclude: Exclude = None
    raters: Annotated[
        bool, Typed("Show people, too: their ranking, their agreement, and what one left out reaches as a metric.")
    ] = False

    test: Annotated[
        str | None,
        Typed(
            "Test every metric against every other: auto, none, williams, ...  [default: the preset's]",
            metavar="TEST",
            words=("none", "auto", *ABOUT),
        ),
    ] = None
    adjust: Annotated[Adjustment, Typed("Adjust p-values for the number of tests.")] = "none"
    baseline: Annotated[
        str | None, Typed("Test every other metric against this one alone, adjusted after Holm.", metavar="METRIC")
    ] = None
    ranks: Annotated[
        Rule | None,
        Typed(
            "With a test: a rank begins where all above beat all below, or any of the rank above beats the metric;"
            " wmt is any with p <= alpha.  [default: all, or the preset's]"
        ),
    ] = None
    power: Annotated[bool, Typed("Level system: give the power of the test for each pair that is not significant.")] = (
        False
    )
    intervals: Annotated[IntervalKind, Typed("How intervals are made.")] = "auto"
    draws: Annotated[
        int | None, Range(least=1), Typed("Draws of tests and intervals.  [default: 1000]", ("--draws", "-n"))
    ] = None
    compat: Annotated[
        str | None,
        Typed("The procedure of that package.", words=("mt-metrics-eval", "nlpstats", "realsumm")),
    ] = None

    def given(self) -> dict[str, Any]:
        """Those that differ from their defaults, as arguments of `meta_evaluate`."""
        return {f.name: value for f in fields(self) if (value := getattr(self, f.name)) not in (f.default, [])}
