"""One task on joined data: the numbers of every metric by group and over groups, and the tests between metrics."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from nlgauge.core.errors import InputError, nearest
from nlgauge.core.options import checked
from nlgauge.core.result import NewRow, Row
from nlgauge.metaeval.align import JoinedScores
from nlgauge.metaeval.compare import MetricTest, compare, compare_means, power_of, usual_test
from nlgauge.metaeval.frames import Aggregate, Frame, SystemScores, check_level, segment_frame, system_frame
from nlgauge.metaeval.intervals import IntervalMethod, cautions, ends_of_mean, is_skewed, repeats, with_intervals
from nlgauge.metaeval.measure import Measure, as_averaged, averaging_of, has_epsilon, measure, takes
from nlgauge.metaeval.protocols.presets import Task
from nlgauge.metaeval.rows import (
    MEAN,
    POOLED,
    group_numbers,
    mean_numbers,
    mean_of_known,
    pooled_numbers,
    rows_of_test,
    standings,
)
from nlgauge.runtime.runtime import silent
from nlgauge.stats.correlate import Correlation
from nlgauge.stats.power import critical_correlation
from nlgauge.stats.tests import Adjustment, MetricComparison, Rule

_LEAST_SYSTEMS = 3  # two points always lie on a line
_FEW_SYSTEMS, _FEW_ITEMS = 10, 50
_OVER_ITEMS = ("correlation", "pairs", "calibrated")  # kinds that compare outputs for different items
_REHEARSED = 2  # draws
_ADJUSTED = {
    "none": "not adjusted for the number of tests",
    "holm": "adjusted after Holm",
    "bh": "adjusted after Benjamini and Hochberg",
}

Groups = Mapping[str | None, Frame]
Found = Mapping[str | None, Sequence[Correlation]]  # the value of every metric in each group
Tests = Mapping[str | None, MetricComparison]


@dataclass(frozen=True)
class Plan:
    """How tasks are computed.

    Attributes:
        options: the options of the statistics.
        asked: the test, or None.
        intervals: how intervals are computed.
        adjust: `none`, `holm` or `bh`.
        alpha: a difference is significant if its p-value is below this.
        system_scores, aggregate, outliers, power: as in `meta_evaluate`.
        baseline: the metric that all others are tested against, and nothing else, after Holm unless `adjust` is `bh`;
            None tests every two.
        ranks: where a new rank begins, see `stats.rank_clusters`.
        progress: shows how many pairs of metrics have been tested; see `Runtime`.

    Raises:
        InputError: the value of an option is not among those allowed.
    """

    options: Mapping[str, Any] = field(default_factory=dict)
    asked: MetricTest | None = None
    intervals: IntervalMethod = field(default_factory=IntervalMethod)
    adjust: Adjustment = "none"
    alpha: float = 0.05
    system_scores: SystemScores = "rated"
    aggregate: Aggregate = "corpus"
    outliers: Literal["mad"] | None = None
    power: bool = False
    baseline: str | None = None
    ranks: Rule = "all"
    progress: Callable[..., Any] = silent

    def __post_init__(self) -> None:
        checked(self, error=InputError)
        if self.baseline is not None and self.adjust == "none":
            object.__setattr__(self, "adjust", "holm")  # the family is small, and its claim is one
        if self.asked is None and self.adjust != "none":
            raise InputError(f"adjust is {self.adjust!r}, and there is no p-value to adjust; name a test as well")

    def rehearsed(self) -> Plan:
        """The same plan with too few draws to tell anything but what it refuses."""
        few: dict[str, Any] = {"draws": _REHEARSED}
        asked = None if self.asked is None else dataclasses.replace(self.asked, **few)
        intervals = dataclasses.replace(self.intervals, **few)
        options = {**self.options, **few}
        return dataclasses.replace(self, options=options, asked=asked, intervals=intervals, progress=silent)

    def settings(self, rows: Sequence[Row]) -> dict[str, Any]:
        """The description of tests and intervals in a result file, given its rows: `auto` is the tests made."""
        tests = list(dict.fromkeys(row["test"] for row in rows if row.get("against") is not None))
        bounded = self.intervals.kind != "none"
        drawn = self.intervals if tests or bounded else None
        return {
            "test": ", ".join(tests) or None,
            "draws": drawn and drawn.draws,
            "seed": drawn and drawn.seed,
            "adjust": self.adjust if tests else None,
            "confidence": 0.95 if bounded else None,
        }


def task_rows(held: JoinedScores, criterion: str, task: Task, plan: Plan) -> tuple[list[NewRow], list[str]]:
    """The rows of one criterion and task, and notes.

    Raises:
        InputError: the task cannot be done on these data.
    """
    return _Run(held, criterion, task, plan).rows()


class _Run:
    """One criterion and task: frames, values and tests by group, and the notes collected on the way."""

    def __init__(self, held: JoinedScores, criterion: str, task: Task, plan: Plan) -> None:
        self.held, self.criterion, self.task, self.plan = held, criterion, task, plan
        level = check_level(task.level)
        averaging = averaging_of(task.stat, level, task.averaging)
        allowed = (*takes(task.stat), "undefined", "common", "compat")
        options = {key: value for key, value in plan.options.items() if key in allowed}
        if options.get("compat") == "realsumm" and averaging != "item":
            del options["compat"]  # which leaves out items
        self.metrics = held.metrics
        if plan.baseline is not None and plan.baseline not in self.metrics:
            near = nearest(plan.baseline, self.metrics)
            raise InputError(f"baseline is {plan.baseline!r}, which is not among the metrics{near}")
        self.how = Measure(task.stat, level, averaging, [held.is_higher_better(name) for name in self.metrics], options)
        self.compares_systems = level == "system" and self.how.kind != "soft"
        self.notes: list[str] = []
        if plan.power and (not self.compares_systems or plan.asked is None):
            raise InputError(
                "power is that of a test at level 'system', of a statistic of system scores; name a test and"
                " level='system'"
            )

    def rows(self) -> tuple[list[NewRow], list[str]]:
        groups, found = self._groups()
        tests = dict(self._tests(groups, found))
        whole = {} if self.plan.baseline is not None else tests  # all against one: no rank, none beats all
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
            "level": self.task.level,
            "averaging": self.how.averaging,
            "stat": self.task.stat,
            "group": group,
        }

    def _groups(self) -> tuple[Groups, Found]:
        """The entries of each group, and the values of all metrics on them."""
        groups: dict[str | None, Frame] = {}
        found: dict[str | None, Sequence[Correlation]] = {}
        few: list[str] = []
        for group in self.held.groups:
            frame = self._frame(group)
            if not len(frame.z):
                self.notes.append(f"group {group!r} has no rating for {self.criterion!r}")
                continue
            if self.compares_systems and len(frame.z) < _LEAST_SYSTEMS and self.how.kind == "correlation":
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

    def _frame(self, group: str | None) -> Frame:
        if not self.compares_systems:
            if self.held.without_segments:
                name = self.held.without_segments[0]
                raise InputError(
                    f"{name} has scores of systems alone; choose level='system', or give its scores of segments"
                )
            return segment_frame(self.held, self.criterion, group)
        frame, note = system_frame(
            self.held, self.criterion, group, self.plan.system_scores, self.plan.aggregate, self.plan.outliers
        )
        self.notes += note
        return frame

    def _measured(self, frame: Frame) -> list[Correlation]:
        """The value of every metric in one group, with its interval and with its value before orientation."""
        stat, up = self.task.stat, self.how.up
        found = measure(frame, self.how)
        said = {one.note for one in found}
        if len(said) == 1:
            self.notes += [f"{stat}: {note}" for note in said if note]
        else:
            self.notes += [f"{stat} of {metric}: {c.note}" for metric, c in zip(self.metrics, found, strict=True)]
        raw = [one.value for one in found]
        down = [m for m, good in enumerate(up) if not good]
        if down:  # once more as if higher were better for all
            # what is said per metric, or of all metrics together, needs all of them
            together = self.how.options.get("common") or np.ndim(self.how.options.get("epsilon", 0.0)) > 0
            rows = list(range(len(up))) if together else down
            unturned = dataclasses.replace(self.how, up=[True] * len(rows))
            for m, one in zip(rows, measure(dataclasses.replace(frame, x=frame.x[rows]), unturned), strict=True):
                raw[m] = raw[m] if up[m] else one.value
        mixes_items = self.how.averaging == "none" and self.how.level == "segment" and self.how.kind in _OVER_ITEMS
        if mixes_items and repeats(frame):
            self.notes.append(
                f"{stat}, averaging none, takes outputs for different items together, so a metric is also rewarded for"
                " knowing which items are hard; level 'item' avoids that"
            )
        found, made = with_intervals(as_averaged(frame, found, self.how)[0], found, self.how, self.plan.intervals)
        if made and not all(math.isnan(one.low) for one in found):
            self.notes += [f"[low, high] of {stat}: 95 %, {made}", *cautions(frame, self.how, made)]
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
            constant = [str(g) for g, frame in groups.items() if len(frame.z) > 1 and np.ptp(frame.x[m]) == 0]
            if constant:
                self.notes.append(f"{metric} is the same for all segments or systems of {', '.join(constant[:4])}")

    def _say_what_counts(self, groups: Groups, found: Found) -> None:
        averaging = self.how.averaging
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
        ends = ends_of_mean(frames, self.how, self.plan.intervals) if frames else None
        if ends is None:
            return [(math.nan, math.nan)] * len(self.metrics)
        made = self.plan.intervals.of_draws("systems" if self.how.level == "system" else "segments")
        self.notes.append(f"[low, high] of the mean of {self.task.stat}: 95 %, {made}")
        return [(float(low), float(high)) for low, high in ends]

    def _tests(self, groups: Groups, found: Found) -> Tests:
        """The test of every group in which the values are defined, and of their mean."""
        if self.plan.asked is None:
            return {}
        if len(self.metrics) < 2:
            self.notes.append(f"no test was made: it compares metrics, and {self.metrics[0]} is the only one")
            return {}
        stat, name = self.task.stat, self.plan.asked.test
        epsilon = has_epsilon(self.how)
        usual = self.task.test or usual_test(stat, self.how.level, self.how.averaging, epsilon)
        settled = usual if name == "auto" else name
        if settled is None:
            of_items = " with an epsilon over all segments; level 'item' has one" if epsilon else ""
            self.notes.append(f"no test is known for {stat}{of_items}")
            return {}
        asked = dataclasses.replace(self.plan.asked, test=settled)
        defined = {group: frame for group, frame in groups.items() if not np.isnan(frame.z).all()}
        over_groups = len(groups) > 1 and asked.compat is None
        alone = self._enough_systems(defined)
        n_pairs = len(self.metrics) * (len(self.metrics) - 1) // 2
        with self.plan.progress(n_pairs * (len(alone) + over_groups), f"{settled} of {stat}") as advance:
            asked = dataclasses.replace(asked, advance=advance)
            tests = {group: compare(frame, found[group], self.how, asked) for group, frame in alone.items()}
            if over_groups:
                mean = compare_means(list(defined.values()), self.how, asked, [found[group] for group in defined])
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
            f"p of {self.task.stat}: {test.test}, {side}{drawn}, about {about}; {_ADJUSTED[self.plan.adjust]}"
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
            standings(t, len(self.metrics), self.plan.adjust, self.plan.alpha, self.plan.ranks) for t in tested
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
        part: tuple[Frame, Sequence[Correlation]] | None,
    ) -> list[NewRow]:
        def power(i: int, j: int, p: float) -> NewRow:
            """For a pair that is not significant, where power is asked for."""
            if not self.plan.power or part is None or not test.deltas[i, j] > 0 or not p >= self.plan.alpha:
                return {}
            assert self.plan.asked is not None  # there is a test
            asked = dataclasses.replace(self.plan.asked, test=test.test)
            return {"power": power_of(*part, (i, j), self.how, asked, self.plan.alpha)}

        bases = [self._base(metric, group) for metric in self.metrics]
        numbers = [values[metric, group] for metric in self.metrics]
        one = None if self.plan.baseline is None else self.metrics.index(self.plan.baseline)
        return list(rows_of_test(bases, numbers, test, self.plan.adjust, power, one))
