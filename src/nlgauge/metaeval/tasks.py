"""The rows of a meta-evaluation: a number of one group, a number of all groups, or a test of two metrics."""

from __future__ import annotations

import dataclasses
import math
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from itertools import pairwise, product
from typing import Any, Literal

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError, nearest
from nlgauge.core.options import checked
from nlgauge.core.result import NewRow, Row
from nlgauge.metaeval.joined import GroupScores, JoinedScores, segment_frame, system_frame
from nlgauge.metaeval.measure import (
    IntervalMethod,
    MetricTest,
    Task,
    as_averaged,
    cautions,
    compare,
    compare_means,
    ends_of_mean,
    has_epsilon,
    is_skewed,
    measure,
    power_of,
    repeats,
    usual_test,
    with_intervals,
)
from nlgauge.runtime.runtime import silent
from nlgauge.stats.correlate import Correlation
from nlgauge.stats.power import critical_correlation
from nlgauge.stats.tests import ADJUSTED, Adjustment, MetricComparison, Rule, adjusted, not_outperformed, rank_clusters

MEAN = "mean"  # the group of a mean over groups, and the criterion of a mean over criteria
POOLED = "pooled"  # the group of a share of the pairs of all groups


_NUMBERS = ("value", "low", "high", "n_used", "n_undefined", "ties", "n_ties", "n_pairs", "epsilon", "chance")


def group_numbers(one: Correlation) -> NewRow:
    """The fields for one group."""
    return {name: getattr(one, name) for name in _NUMBERS}


def mean_numbers(parts: Sequence[Correlation]) -> NewRow:
    """The fields for the plain mean over groups; `n_used` counts groups."""
    n_defined = sum(not math.isnan(one.value) for one in parts)
    return {
        **dict.fromkeys(_NUMBERS),
        "value": mean_of_known([one.value for one in parts]),
        "low": math.nan,
        "high": math.nan,
        "n_used": n_defined,
        "n_undefined": len(parts) - n_defined,
        "ties": parts[0].ties if parts else None,
        "chance": mean_of_known([one.chance for one in parts]),
    }


def pooled_numbers(parts: Sequence[Correlation]) -> NewRow:
    """The fields for one share over the pairs of all groups; pairs never cross groups."""
    pairs = [one.n_pairs or 0 for one in parts]
    n_pairs = sum(pairs)

    def pooled(shares: Iterable[float]) -> float:
        return sum(share * n for share, n in zip(shares, pairs, strict=True) if n) / n_pairs if n_pairs else math.nan

    return {
        **mean_numbers(parts),
        "value": pooled(one.value for one in parts),
        "n_pairs": n_pairs,
        "n_ties": sum(one.n_ties or 0 for one in parts),
        "chance": pooled(one.chance for one in parts),
    }


def disagreements(held: JoinedScores, most: int) -> list[NewRow]:
    """The segments that a metric and people rank most differently, at most so many for each criterion and metric.

    Ranks are among all rated segments of the data, 1 is the best, and equal values share their mean rank.

    References:
        Zhang et al. (2020), "BERTScore", table 7, which shows such segments of two metrics.
    """
    from scipy.stats import rankdata

    rows: list[NewRow] = []
    for criterion, ratings in held.human.items():
        for metric, scores in held.scores.items():
            known = np.flatnonzero(~np.isnan(ratings) & ~np.isnan(scores.values))
            up = scores.values[known] * (1 if scores.higher_is_better else -1)
            people, ranks = rankdata(-ratings[known]), rankdata(-up)
            far = np.argsort(-np.abs(ranks - people), kind="stable")[:most]
            for i in far.tolist():
                segment = held.segments[int(known[i])]
                rows.append(
                    {
                        "id": segment.id,
                        "criterion": criterion,
                        "metric": metric,
                        "rank": float(ranks[i]),
                        "human_rank": float(people[i]),
                        "n": len(known),
                        "hyp": segment.hypothesis,
                        "ref": segment.references[0] if segment.references else "",
                    }
                )
    return rows


def mean_of_known(values: Sequence[float]) -> float:
    """The mean of the values that are defined; NaN where none is."""
    defined = [value for value in values if not math.isnan(value)]
    return float(np.mean(defined)) if defined else math.nan


def standings(
    test: MetricComparison | None, n: int, adjust: Adjustment, alpha: float, rule: Rule = "all"
) -> list[NewRow]:
    """The rank of each of n metrics, and whether no other beats it; empty without a test that says which is better."""
    if test is None or test.alternative != "greater":
        return [{} for _ in range(n)]
    p = adjusted(test.p, adjust)
    ranks, best = rank_clusters(test.values, p, alpha=alpha, rule=rule), not_outperformed(p, alpha=alpha)
    return [{"rank": int(ranks[m]) or None, "not_outperformed": bool(best[m])} for m in range(n)]


def rows_of_test(
    bases: Sequence[Row],
    values: Sequence[float],
    test: MetricComparison,
    adjust: Adjustment,
    power: Callable[[int, int, float], NewRow],
    baseline: int | None = None,
) -> Iterator[NewRow]:
    """One row for each metric and each other metric that it is compared with, or for each with the baseline alone.

    Args:
        bases: the fields that all rows of a metric share, one entry per metric.
        values: the statistic of each metric.
        power: returns the field for the power of one test, from the two metrics and the adjusted p.
    """
    made = ~np.eye(len(test.p), dtype=np.bool_)
    if baseline is not None:
        made[:, np.arange(len(made)) != baseline] = False
    p = _adjusted(np.where(made, test.p, np.nan), adjust, test.alternative == "two-sided" and baseline is None)
    for i, j in np.argwhere(made).tolist():
        pair = {"value": values[i], "against": bases[j]["metric"], **_difference(test, i, j)}
        yield {**bases[i], **pair, **power(i, j, float(p[i, j])), **_p(test, p, i, j, adjust)}


def _adjusted(p: Array, adjust: Adjustment, twice: bool) -> Array:
    """Adjusted p-values, shape (M, M); a two-sided test that stands there `twice` is one test."""
    if not twice:
        return adjusted(p, adjust)
    upper = adjusted(np.where(np.triu(np.ones(p.shape, dtype=np.bool_), 1), p, np.nan), adjust)
    return np.where(np.isnan(upper), upper.T, upper)


def _difference(test: MetricComparison, i: int, j: int) -> NewRow:
    delta: NewRow = {"delta": float(test.deltas[i, j])}
    if test.delta_low is not None and test.delta_high is not None:
        delta |= {"delta_low": float(test.delta_low[i, j]), "delta_high": float(test.delta_high[i, j])}
    return delta


def _p(test: MetricComparison, p: Array, i: int, j: int, adjust: Adjustment) -> NewRow:
    return {
        "p": float(test.p[i, j]),
        "p_adjusted": float(p[i, j]) if adjust != "none" else None,
        "test": test.test,
        "alternative": test.alternative,
        "generalise_to": test.generalise_to,
        "draws": test.draws,
    }


# --- Protocols: what a paper or a shared task means when it reports "the correlation"

_REHEARSED = 2  # draws


@dataclass(frozen=True)
class Preset:
    """A protocol.

    Attributes:
        tasks: what the protocol reports.
        about: level, averaging, ties, systems and references in a sentence or two.
        origin: the paper or shared task that the protocol comes from.
        references: how several references are used, as in `meta_evaluate`; None leaves this to each metric.
        criterion: what is rated. None is the only criterion in the data; `all` is every criterion.
        test: the test that belongs to the protocol; None where there is none.
        options: the options of the statistics.
        system_scores, aggregate: as in `meta_evaluate`, for level `system`.
        official: the folder of a test set is read as the organisers ran the task: its systems, its standard reference
            and human scores, and the scores of its metrics beside those scored here.
        humans: whether outputs that people wrote then count as systems.
        weights: the weight of each task in the official average; 0 for a task that is not in it. Empty where there is
            no such average. Correlations are brought to 0 to 1 before they are averaged.
        ranks: where a new rank begins, as in `meta_evaluate`.
        differs: where the official procedure is another one; "" if it is known and the same, but for the tests.
    """

    tasks: tuple[Task, ...]
    about: str
    origin: str
    references: str | None = None
    criterion: str | None = None
    test: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    system_scores: Literal["rated", "all"] = "rated"
    aggregate: Literal["corpus", "mean"] = "corpus"
    official: bool = False
    humans: bool = True
    weights: tuple[float, ...] = ()
    ranks: Literal["all", "any", "wmt"] = "all"
    differs: str = ""


def _read() -> dict[str, Preset]:
    """The protocols of the data file, in its order."""
    table = tomllib.loads(resources.files("nlgauge.data").joinpath("protocols.toml").read_text(encoding="utf-8"))
    return {
        name: Preset(
            **{
                **row,
                "tasks": tuple(Task(**task) for task in row["tasks"]),
                "weights": tuple(row.get("weights", ())),
            }
        )
        for name, row in table.items()
    }


PRESETS: dict[str, Preset] = _read()


def preset(name: str) -> Preset:
    """Return the protocol with this name.

    Raises:
        InputError: the name is unknown; the error gives the nearest known name.
    """
    if name not in PRESETS:
        raise InputError(f"unknown preset {name!r}{nearest(name, PRESETS)}")
    return PRESETS[name]


@dataclass(frozen=True, kw_only=True)
class Protocol(Preset):
    """What was asked of a meta-evaluation: a preset, or a statistic alone, and how metrics are compared.

    Attributes:
        whole: whether its tasks are all those of the preset.
        metric_test: the test between metrics, or None; `test` is that of the preset.
        intervals: how intervals are computed.
        adjust: `none`, `holm` or `bh`.
        alpha: a difference is significant if its p-value is below this.
        outliers, power: as in `meta_evaluate`.
        baseline: the metric that all others are tested against, and nothing else, after Holm unless `adjust` is `bh`;
            None tests every two.
        raters: whether people are looked at, too: how far they agree, and what one of them reaches as a metric.
        progress: shows how many pairs of metrics have been tested; see `Runtime`.

    Raises:
        InputError: the value of an option is not among those allowed.
    """

    about: str = ""
    origin: str = ""
    whole: bool = True
    metric_test: MetricTest | None = None
    intervals: IntervalMethod = field(default_factory=IntervalMethod)
    adjust: Adjustment = "none"
    alpha: float = 0.05
    outliers: Literal["mad"] | None = None
    power: bool = False
    baseline: str | None = None
    raters: bool = False
    progress: Callable[..., Any] = silent

    def __post_init__(self) -> None:
        checked(self, error=InputError)
        if self.baseline is not None and self.adjust == "none":
            object.__setattr__(self, "adjust", "holm")  # the family is small, and its claim is one
        if self.metric_test is None and self.adjust != "none":
            raise InputError(f"adjust is {self.adjust!r}, and there is no p-value to adjust; name a test as well")

    def rehearsed(self) -> Protocol:
        """The same protocol with too few draws to tell anything but what it refuses."""
        few: dict[str, Any] = {"draws": _REHEARSED}
        test = None if self.metric_test is None else dataclasses.replace(self.metric_test, **few)
        intervals = dataclasses.replace(self.intervals, **few)
        options = {**self.options, **few}
        return dataclasses.replace(
            self, options=options, metric_test=test, intervals=intervals, raters=False, progress=silent
        )

    def bare(self) -> Protocol:
        """The same protocol for values alone: no test, no interval."""
        none = IntervalMethod("none")
        return dataclasses.replace(
            self, metric_test=None, intervals=none, adjust="none", power=False, baseline=None, raters=False
        )

    def settings(self, rows: Sequence[Row]) -> dict[str, Any]:
        """The description of tests and intervals in a result file, given its rows: `auto` is the tests made."""
        tests = list(dict.fromkeys(row["test"] for row in rows if row.get("against") is not None))
        bounded = self.intervals.kind != "none"
        drawn = self.intervals if tests or bounded or self.raters else None
        return {
            "test": ", ".join(tests) or None,
            "draws": drawn and drawn.draws,
            "seed": drawn and drawn.seed,
            "adjust": self.adjust if tests else None,
            "confidence": 0.95 if bounded else None,
        }


# --- The summary of a shared task: the weighted average, and ranks within noise

AVERAGE = "weighted_mean"  # the statistic of the official average
_OF_TASKS = ("rank", "not_outperformed", "task", "weight")
_OF_STATISTICS = ("ties", "n_ties", "n_pairs", "epsilon", "chance")
# from 0 to 1 as they are
_SHARES = ("pairwise_accuracy", "soft_pairwise_accuracy", "acc_eq", "acc_eq_calibrated")
# Measured on he-en of WMT23, 16 metrics; the level of the pair test on simulated data: docs/studies/protocols.md
_TESTS_DIFFER = (
    "values of official tables are those of mt-metrics-eval, but for soft pairwise accuracy (up to 0.0014 apart on"
    " he-en of WMT23: there p-values are drawn, and ties depend on the order of systems). Ranks differ: the official"
    " test of acc_eq swaps pairs of systems, which finds a difference in 20 % of cases without one; here whole items"
    " are swapped"
)


def as_official(
    rows: Sequence[NewRow], controls: Sequence[NewRow], protocol: Protocol
) -> tuple[list[NewRow], list[str]]:
    """The rows of the official average, and notes; where all tasks were done, values are given the number of theirs.

    Controls are numbered, too, and take no part in averages.
    """
    notes = list(noise_notes(rows, protocol.tasks, protocol.alpha))
    if not protocol.whole:
        return [], notes
    number_tasks([*rows, *controls], protocol)
    averages = list(average_rows(rows, protocol)) if protocol.weights else []
    procedure = "; ".join(filter(None, [protocol.differs, _TESTS_DIFFER]))
    return averages, [*notes, *([average_note(protocol)] if averages else []), procedure]


def average_rows(rows: Sequence[Row], protocol: Preset) -> Iterator[NewRow]:
    """The weighted mean over the tasks of a protocol: one row per metric and group, and one over all; the best first.

    Correlations count as (r + 1) / 2. A value over several groups is the mean over groups; accuracy on pairs of systems
    is that of the pooled pairs.
    """
    weighted = [(task, w) for task, w in zip(protocol.tasks, protocol.weights, strict=True) if w]
    total = sum(weight for _, weight in weighted)
    own = {
        (row["metric"], row["criterion"], row["group"], row["level"], row["stat"]): row
        for row in rows
        if row.get("against") is None
    }
    averages: list[NewRow] = []
    # The rows of a mean over criteria have no pooled pairs of systems: each criterion has an average of its own.
    for metric, criterion, group in dict.fromkeys(key[:3] for key in own if key[2] != POOLED and key[1] != MEAN):
        mean, first = 0.0, own[metric, criterion, group, weighted[0][0].level, weighted[0][0].stat]
        for task, weight in weighted:
            at = POOLED if group == MEAN and task.stat == "pairwise_accuracy" else group
            value = float(own[metric, criterion, at, task.level, task.stat]["value"])
            mean += weight / total * (value if task.stat in _SHARES else (value + 1) / 2)
        averages.append(
            {
                **{
                    name: None if name in _OF_STATISTICS else cell
                    for name, cell in first.items()
                    if name not in _OF_TASKS
                },
                "level": "tasks",
                "stat": AVERAGE,
                "value": mean,
                "low": math.nan,
                "high": math.nan,
                "n_used": len(weighted),
                "n_undefined": 0,
                "raw": mean,
            }
        )
    yield from sorted(averages, key=lambda row: (math.isnan(row["value"]), -row["value"]))  # the undefined last


def number_tasks(rows: Sequence[NewRow], protocol: Preset) -> None:
    """Give every value its task in an official table, counted from 1, and the weight of the task in the average."""
    weights = protocol.weights or (0.0,) * len(protocol.tasks)
    at = {
        (task.stat, task.level): (number, weight)
        for number, (task, weight) in enumerate(zip(protocol.tasks, weights, strict=True), start=1)
    }
    for row in rows:
        if row.get("against") is None:
            row["task"], row["weight"] = at[row["stat"], row["level"]]


def average_note(protocol: Preset) -> str:
    """How the official average is made."""
    parts = [
        f"{weight:g} {task.stat} ({task.level})"
        for task, weight in zip(protocol.tasks, protocol.weights, strict=True)
        if weight
    ]
    return f"{AVERAGE}: the mean of {', '.join(parts)}; correlations as (r + 1) / 2"


def noise_notes(rows: Sequence[Row], tasks: Sequence[Task], alpha: float) -> Iterator[str]:
    """How many neighbours in the ranking of each task and criterion a test does not tell apart."""
    criteria = dict.fromkeys(row["criterion"] for row in rows)
    for task, criterion in product(tasks, criteria):
        at = (criterion, task.level, task.stat, MEAN)
        mine = [row for row in rows if (row["criterion"], row["level"], row["stat"], row["group"]) == at]
        values = {row["metric"]: row["value"] for row in mine if row.get("against") is None}
        p = {
            (row["metric"], row["against"]): row["p"] if row["p_adjusted"] is None else row["p_adjusted"]
            for row in mine
            if row.get("against") is not None
        }
        order = sorted((m for m, value in values.items() if not math.isnan(value)), key=lambda m: -values[m])
        tested = [p[pair] for pair in pairwise(order) if pair in p]
        near = sum(not value < alpha for value in tested)
        if tested:
            of = f" for {criterion}" if len(criteria) > 1 else ""
            yield (
                f"{task.stat} at level {task.level}{of}: of {len(tested)} neighbours in the ranking, {near} are within"
                f" noise (p >= {alpha:g})"
            )


# --- One task on joined data: the numbers of every metric by group and over groups, and the tests between metrics

_LEAST_SYSTEMS = 3  # two points always lie on a line
_FEW_SYSTEMS, _FEW_ITEMS = 10, 50
_OVER_ITEMS = ("correlation", "pairs", "calibrated")  # kinds that compare outputs for different items

Groups = Mapping[str | None, GroupScores]
Found = Mapping[str | None, Sequence[Correlation]]  # the value of every metric in each group
Tests = Mapping[str | None, MetricComparison]


def task_rows(held: JoinedScores, criterion: str, task: Task, protocol: Protocol) -> tuple[list[NewRow], list[str]]:
    """The rows of one criterion and task, and notes.

    Raises:
        InputError: the task cannot be done on these data.
    """
    return _TaskRun(held, criterion, task, protocol).rows()


class _TaskRun:
    """One criterion and task: frames, values and tests by group, and the notes collected on the way."""

    def __init__(self, held: JoinedScores, criterion: str, asked: Task, protocol: Protocol) -> None:
        self.held, self.criterion, self.asked, self.protocol = held, criterion, asked, protocol
        self.metrics = held.metrics
        self.task = task = asked.settled([held.is_higher_better(name) for name in self.metrics], protocol.options)
        if protocol.baseline is not None and protocol.baseline not in self.metrics:
            near = nearest(protocol.baseline, self.metrics)
            raise InputError(f"baseline is {protocol.baseline!r}, which is not among the metrics{near}")
        self.compares_systems = task.level == "system" and task.kind != "soft"
        self.notes: list[str] = []
        if protocol.power and (not self.compares_systems or protocol.metric_test is None):
            raise InputError(
                "power is that of a test at level 'system', of a statistic of system scores; name a test and"
                " level='system'"
            )

    def rows(self) -> tuple[list[NewRow], list[str]]:
        groups, found = self._groups()
        tests = dict(self._tests(groups, found))
        whole = {} if self.protocol.baseline is not None else tests  # all against one: no rank, none beats all
        rows = self._value_rows(found, whole, self._ends_of_mean(groups, found))
        if len(groups) == 1 and tests:
            tests[MEAN] = next(iter(tests.values()))
        values = {(row["metric"], row["group"]): row["value"] for row in rows}
        for group, test in tests.items():
            of = next(iter(groups)) if group == MEAN and len(groups) == 1 else group
            part = (groups[of], found[of]) if of in groups else None
            rows += self._test_rows(group, test, values, part)
        return rows, self.notes

    def _base(self, metric: str, group: str | None) -> NewRow:
        return {
            "metric": metric,
            "criterion": self.criterion,
            "level": self.asked.level,
            "averaging": self.task.averaging,
            "stat": self.task.stat,
            "group": group,
        }

    def _groups(self) -> tuple[Groups, Found]:
        """The entries of each group, and the values of all metrics on them."""
        groups: dict[str | None, GroupScores] = {}
        found: dict[str | None, Sequence[Correlation]] = {}
        few: list[str] = []
        for group in self.held.groups:
            frame = self._frame(group)
            if not len(frame.z):
                self.notes.append(f"group {group!r} has no rating for {self.criterion!r}")
                continue
            if self.compares_systems and len(frame.z) < _LEAST_SYSTEMS and self.task.kind == "correlation":
                few.append(f"{group or 'the data'}: {len(frame.z)}")
                frame = dataclasses.replace(frame, z=np.full(len(frame.z), np.nan))
            groups[group], found[group] = frame, self._measured(frame)
        if few and len(few) == len(groups):
            raise InputError(
                f"{self.task.stat} at level 'system' needs 3 rated systems or more (two points always lie on a line);"
                f" {', '.join(few)}"
            )
        if few:
            self.notes.append(f"{self.task.stat} is undefined with fewer than 3 rated systems: {', '.join(few)}")
        self._check_constant(groups)
        self._say_what_counts(groups, found)
        return groups, found

    def _frame(self, group: str | None) -> GroupScores:
        if not self.compares_systems:
            if self.held.without_segments:
                name = self.held.without_segments[0]
                raise InputError(
                    f"{name} has scores of systems alone; choose level='system', or give its scores of segments"
                )
            return segment_frame(self.held, self.criterion, group)
        frame, note = system_frame(
            self.held,
            self.criterion,
            group,
            self.protocol.system_scores,
            self.protocol.aggregate,
            self.protocol.outliers,
        )
        self.notes += note
        return frame

    def _measured(self, frame: GroupScores) -> list[Correlation]:
        """The value of every metric in one group, with its interval and with its value before orientation."""
        stat, up = self.task.stat, self.task.up
        found = measure(frame, self.task)
        said = {one.note for one in found}
        if len(said) == 1:
            self.notes += [f"{stat}: {note}" for note in said if note]
        else:
            self.notes += [f"{stat} of {metric}: {c.note}" for metric, c in zip(self.metrics, found, strict=True)]
        raw = [one.value for one in found]
        down = [m for m, good in enumerate(up) if not good]
        if down:  # once more as if higher were better for all
            # what is said per metric, or of all metrics together, needs all of them
            together = self.task.options.get("common") or np.ndim(self.task.options.get("epsilon", 0.0)) > 0
            rows = list(range(len(up))) if together else down
            unturned = dataclasses.replace(self.task, up=[True] * len(rows))
            for m, one in zip(rows, measure(dataclasses.replace(frame, x=frame.x[rows]), unturned), strict=True):
                raw[m] = raw[m] if up[m] else one.value
        mixes_items = self.task.averaging == "none" and self.task.level == "segment" and self.task.kind in _OVER_ITEMS
        if mixes_items and repeats(frame):
            self.notes.append(
                f"{stat}, averaging none, takes outputs for different items together, so a metric is also rewarded for"
                " knowing which items are hard; level 'item' avoids that"
            )
        found, made = with_intervals(as_averaged(frame, found, self.task)[0], found, self.task, self.protocol.intervals)
        if made and not all(math.isnan(one.low) for one in found):
            self.notes += [f"[low, high] of {stat}: 95 %, {made}", *cautions(frame, self.task, made)]
        return [dataclasses.replace(one, raw=value) for one, value in zip(found, raw, strict=True)]

    def _check_constant(self, groups: Groups) -> None:
        """Refuse judgements that are all equal, and name the metrics whose scores are."""
        judged = [frame.z[~np.isnan(frame.z)] for frame in groups.values()]
        if judged and self.held.pairs is None and all(len(z) and np.ptp(z) == 0 for z in judged):
            raise InputError(
                f"{self.criterion!r} is {judged[0][0]:g} for all that is compared; there is no difference a metric"
                " could follow"
            )
        for m, metric in enumerate(self.metrics):
            constant = [g or "the data" for g, frame in groups.items() if len(frame.z) > 1 and np.ptp(frame.x[m]) == 0]
            if constant:
                self.notes.append(f"{metric} is the same for all segments or systems of {', '.join(constant[:4])}")

    def _say_what_counts(self, groups: Groups, found: Found) -> None:
        averaging = self.task.averaging
        for group, values in found.items():
            used = [one.n_used for one in values]
            if averaging in ("item", "sys") and min(used) < max(used):
                fewest = self.metrics[used.index(min(used))]
                where = f"{group}: " if group is not None else ""
                units = {"item": "items", "sys": "systems"}[averaging]
                self.notes.append(
                    f"{where}{fewest} is constant within some {units}: its {self.task.stat} is averaged over"
                    f" {min(used)} {units}, that of other metrics over up to {max(used)}. 'common' averages all metrics"
                    f" over the same {units}; undefined='zero' counts a constant as 0"
                )
        if self.compares_systems and self.task.stat == "pearson":
            for n in sorted({int((~np.isnan(frame.z)).sum()) for frame in groups.values()} - {0}):
                self.notes.append(
                    f"with {n} systems, |r| must exceed {critical_correlation(n):.3f} to differ significantly from 0"
                    " (two-sided p < 0.05)"
                )

    def _ends_of_mean(self, groups: Groups, found: Found) -> list[tuple[float, float]]:
        """The interval of the only group, or of the mean over groups."""
        if len(groups) == 1:
            return [(one.low, one.high) for one in next(iter(found.values()))]
        frames = [frame for frame in groups.values() if not np.isnan(frame.z).all()]
        ends = ends_of_mean(frames, self.task, self.protocol.intervals) if frames else None
        if ends is None:
            return [(math.nan, math.nan)] * len(self.metrics)
        made = self.protocol.intervals.of_draws("systems" if self.task.level == "system" else "segments")
        self.notes.append(f"[low, high] of the mean of {self.task.stat}: 95 %, {made}")
        return [(float(low), float(high)) for low, high in ends]

    def _tests(self, groups: Groups, found: Found) -> Tests:
        """The test of every group in which the values are defined, and of their mean."""
        if self.protocol.metric_test is None:
            return {}
        if len(self.metrics) < 2:
            self.notes.append(f"no test was made: it compares metrics, and {self.metrics[0]} is the only one")
            return {}
        stat, name = self.task.stat, self.protocol.metric_test.test
        epsilon = has_epsilon(self.task)
        usual = self.task.test or usual_test(stat, self.task.level, self.task.averaging, epsilon)
        settled = usual if name == "auto" else name
        if settled is None:
            of_items = " with an epsilon over all segments; level 'item' has one" if epsilon else ""
            self.notes.append(f"no test is known for {stat}{of_items}")
            return {}
        asked = dataclasses.replace(self.protocol.metric_test, test=settled)
        defined = {group: frame for group, frame in groups.items() if not np.isnan(frame.z).all()}
        over_groups = len(groups) > 1 and asked.compat is None
        alone = self._enough_systems(defined)
        n_pairs = len(self.metrics) * (len(self.metrics) - 1) // 2
        with self.protocol.progress(n_pairs * (len(alone) + over_groups), f"{settled} of {stat}") as advance:
            asked = dataclasses.replace(asked, advance=advance)
            tests = {group: compare(frame, found[group], self.task, asked) for group, frame in alone.items()}
            if over_groups:
                mean = compare_means(list(defined.values()), self.task, asked, [found[group] for group in defined])
                if mean is None:
                    self.notes.append(f"{settled} is made in each group; there is no such test of the mean over groups")
                else:
                    tests[MEAN] = mean
        self._say_what_is_tested(next(iter(tests.values())), asked, defined)
        return tests

    def _enough_systems(self, groups: Groups) -> Groups:
        """The groups with systems enough for a test of their own; all, if none has."""
        enough = {group: frame for group, frame in groups.items() if len(frame.z) >= _LEAST_SYSTEMS}
        if not self.compares_systems or not enough or len(enough) == len(groups):
            return groups
        few = ", ".join(str(group) for group in groups if group not in enough)
        self.notes.append(f"{few}: fewer than 3 rated systems, no test of {self.task.stat} there")
        return enough

    def _say_what_is_tested(self, test: MetricComparison, asked: MetricTest, frames: Groups) -> None:
        side = "row better than column" if test.alternative == "greater" else "row and column differ"
        drawn = f", {test.draws} draws, seed {asked.seed}" if test.draws is not None else ""
        about = "new systems on these items" if test.generalise_to == "systems" else "new items of these systems"
        if test.test == "mcnemar":
            about = "new pairs, taken as independent"
        self.notes.append(
            f"p of {self.task.stat}: {test.test}, {side}{drawn}, about {about}; {ADJUSTED[self.protocol.adjust]}"
        )
        if test.test == "williams" and any(map(is_skewed, frames.values())):
            self.notes.append(
                "ratings and scores are skewed, where Williams' test rejects up to 20 % of true null hypotheses at 5 %;"
                f" {'perm_systems' if self.compares_systems else 'perm_both'} keeps its level"
            )
        few = min((len(set(frame.items or frame.ids)) for frame in frames.values()), default=_FEW_ITEMS)
        if test.test == "bootstrap" and few < _FEW_ITEMS:
            self.notes.append(
                f"the bootstrap test calls too much significant with {few} items (14 % in place of 5 % with 5); prefer"
                " perm_inputs or item_swap"
            )
        systems = [len(set(frame.systems)) for frame in frames.values() if frame.systems is not None]
        if systems and min(systems) < _FEW_SYSTEMS and test.test != "mcnemar":
            self.notes.append(
                f"with {min(systems)} systems, a difference between metrics may hold for these systems only; ten or"
                " more systems say more"
            )

    def _value_rows(self, found: Found, tests: Tests, ends: Sequence[tuple[float, float]]) -> list[NewRow]:
        rows: list[NewRow] = []
        tested = [*(tests.get(group) for group in found), tests.get(MEAN)]
        if len(found) == 1:
            tested[-1] = next(iter(tests.values()), None)
        *places, of_mean = (
            standings(t, len(self.metrics), self.protocol.adjust, self.protocol.alpha, self.protocol.ranks)
            for t in tested
        )
        for m, metric in enumerate(self.metrics):
            parts = [values[m] for values in found.values()]
            for group, one, place in zip(found, parts, places, strict=True):
                rows.append({**self._base(metric, group), **group_numbers(one), "raw": one.raw, **place[m]})
            whole = mean_numbers(parts)
            whole["low"], whole["high"] = ends[m]
            raw = mean_of_known([one.raw for one in parts])
            rows.append({**self._base(metric, MEAN), **whole, "raw": raw, **of_mean[m]})
            if self.task.stat == "pairwise_accuracy":
                rows.append({**self._base(metric, POOLED), **pooled_numbers(parts)})
        return rows

    def _test_rows(
        self,
        group: str | None,
        test: MetricComparison,
        values: Mapping[tuple[str, str | None], float],
        part: tuple[GroupScores, Sequence[Correlation]] | None,
    ) -> list[NewRow]:
        def power(i: int, j: int, p: float) -> NewRow:
            """For a pair that is not significant, where power is asked for."""
            if not self.protocol.power or part is None or not test.deltas[i, j] > 0 or not p >= self.protocol.alpha:
                return {}
            assert self.protocol.metric_test is not None  # there is a test
            asked = dataclasses.replace(self.protocol.metric_test, test=test.test)
            return {"power": power_of(*part, (i, j), self.task, asked, self.protocol.alpha)}

        bases = [self._base(metric, group) for metric in self.metrics]
        numbers = [values[metric, group] for metric in self.metrics]
        one = None if self.protocol.baseline is None else self.metrics.index(self.protocol.baseline)
        return list(rows_of_test(bases, numbers, test, self.protocol.adjust, power, one))
