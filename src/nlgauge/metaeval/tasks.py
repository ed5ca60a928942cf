"""One task on joined data: the numbers of every metric, group by group and over groups, and the tests between metrics."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.metaeval.align import JoinedScores
from nlgauge.metaeval.compare import MetricTest, power_of, usual, versus, versus_mean
from nlgauge.metaeval.frames import Aggregate, Frame, SystemScores, check_level, segment_frame, system_frame
from nlgauge.metaeval.intervals import IntervalMethod, repeats, with_interval_of_mean, with_intervals
from nlgauge.metaeval.measure import averaging_of, measure, takes
from nlgauge.metaeval.presets import Task
from nlgauge.stats.correlation.registry import statistic
from nlgauge.stats.correlation.result import Correlation
from nlgauge.stats.differences.clusters import not_outperformed, rank_clusters
from nlgauge.stats.differences.multiplicity import benjamini_hochberg, holm
from nlgauge.stats.differences.power import critical_correlation
from nlgauge.stats.differences.result import MetricComparison

MEAN = "mean"
POOLED = "pooled"
ADJUST = ("none", "holm", "bh")
_LEAST_SYSTEMS = 3  # two points always lie on a line
_FEW_SYSTEMS = 10
Row = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """How tasks are done.

    Attributes:
        options: of the statistics.
        asked: the test, or None.
        intervals: how they are made.
        adjust: `none`, `holm` or `bh`.
        alpha: below this a difference counts.
        system_scores, aggregate, outliers, power: as in `meta_evaluate`.
    """

    options: Mapping[str, Any] = field(default_factory=dict)
    asked: MetricTest | None = None
    intervals: IntervalMethod = field(default_factory=IntervalMethod)
    adjust: str = "none"
    alpha: float = 0.05
    system_scores: SystemScores = "rated"
    aggregate: Aggregate = "corpus"
    outliers: str | None = None
    power: bool = False


def task_rows(held: JoinedScores, criterion: str, task: Task, plan: Plan) -> tuple[list[Row], list[str]]:
    """Rows of one criterion and task, and notes.

    Raises:
        InputError: data that the task cannot be done on.
    """
    return _Run(held, criterion, task, plan).rows()


@dataclass
class _Part:
    """One group: what is compared, and what came out."""

    frame: Frame
    found: list[Correlation]
    raw: list[float]


class _Run:
    def __init__(self, held: JoinedScores, criterion: str, task: Task, plan: Plan) -> None:
        self.held, self.criterion, self.task, self.plan = held, criterion, task, plan
        self.level = check_level(task.level)
        self.stat = statistic(task.stat)
        self.averaging = averaging_of(task.stat, self.level, task.averaging)
        self.options = {
            key: value
            for key, value in plan.options.items()
            if key in (*takes(task.stat), "undefined", "common", "compat")
        }
        if self.options.get("compat") == "realsumm" and self.averaging != "item":
            del self.options["compat"]  # which leaves out items
        self.metrics = held.metrics
        self.up = [held.is_higher_better(name) for name in self.metrics]
        self.notes: list[str] = []
        if plan.power and (self.level != "system" or self.stat.kind == "soft" or plan.asked is None):
            raise InputError(
                "power is that of a test at level 'system', of a statistic of system scores; name a test and"
                " level='system'"
            )

    def rows(self) -> tuple[list[Row], list[str]]:
        parts = self._parts()
        tests = self._tests(parts)
        ends = self._ends_of_mean(parts)
        found: list[Row] = []
        for m, metric in enumerate(self.metrics):
            for group, part in parts.items():
                numbers = {**_numbers(part.found[m]), "raw": part.raw[m]}
                found.append({**self._base(metric, group), **numbers, **_standing(tests.get(group), m, self.plan)})
            whole = _mean([part.found[m] for part in parts.values()])
            whole["low"], whole["high"] = ends[m]
            raw = _plain_mean([part.raw[m] for part in parts.values()])
            test = tests.get(MEAN) if len(parts) > 1 else next(iter(tests.values()), None)
            found.append({**self._base(metric, MEAN), **whole, "raw": raw, **_standing(test, m, self.plan)})
            if self.task.stat == "pairwise_accuracy":
                found.append({**self._base(metric, POOLED), **_pooled([part.found[m] for part in parts.values()])})
        if len(parts) == 1 and tests:
            tests = {**tests, MEAN: next(iter(tests.values()))}
        values = {(row["metric"], row["group"]): row["value"] for row in found}
        for group, test in tests.items():
            own = group if group in parts else next(iter(parts)) if len(parts) == 1 else MEAN
            found += self._test_rows(group, test, values, parts.get(own))
        return found, self.notes

    def _base(self, metric: str, group: str | None) -> Row:
        return {
            "metric": metric,
            "criterion": self.criterion,
            "level": self.task.level,
            "averaging": self.averaging,
            "stat": self.task.stat,
            "group": group,
        }

    def _parts(self) -> dict[str | None, _Part]:
        parts: dict[str | None, _Part] = {}
        few: list[str] = []
        for group in self.held.groups:
            frame = self._frame(group)
            if not len(frame.z):
                self.notes.append(f"group {group!r} has no rating for {self.criterion!r}")
                continue
            if self._compares_systems and len(frame.z) < _LEAST_SYSTEMS and self.stat.kind == "correlation":
                few.append(f"{group or 'the data'}: {len(frame.z)}")
                frame = dataclasses.replace(frame, z=np.full(len(frame.z), np.nan))
            parts[group] = self._measured(frame)
        if few and len(few) == len(parts):
            raise InputError(
                f"{self.task.stat} at level 'system' needs 3 rated systems or more (two points always lie on a line);"
                f" {', '.join(few)}"
            )
        if few:
            self.notes.append(f"{self.task.stat} is undefined with fewer than 3 rated systems: {', '.join(few)}")
        self._check_constant(parts)
        for group, part in parts.items():
            used = [one.n_used for one in part.found]
            if self.averaging in ("item", "sys") and min(used) < max(used):
                fewest = self.metrics[used.index(min(used))]
                where = f"{group}: " if group is not None else ""
                self.notes.append(
                    f"{where}{self.task.stat} is over up to {max(used)} {self.averaging}s, of {fewest} over"
                    f" {min(used)}, for it is constant in the others; 'common' takes the same for all metrics,"
                    " undefined='zero' counts such as 0"
                )
        if self._compares_systems and self.task.stat == "pearson":
            for n in sorted({int((~np.isnan(part.frame.z)).sum()) for part in parts.values()} - {0}):
                self.notes.append(
                    f"with {n} systems |r| must exceed {critical_correlation(n):.3f} to be told from 0 (two-sided p <"
                    " 0.05)"
                )
        return parts

    @property
    def _compares_systems(self) -> bool:
        return self.level == "system" and self.stat.kind != "soft"

    def _frame(self, group: str | None) -> Frame:
        if not self._compares_systems:
            if self.held.system_tables:
                name = next(iter(self.held.system_tables))
                raise InputError(
                    f"{name} has scores of systems alone; choose level='system', or give its scores of segments"
                )
            return segment_frame(self.held, self.criterion, group)
        frame, note = system_frame(
            self.held, self.criterion, group, self.plan.system_scores, self.plan.aggregate, self.plan.outliers
        )
        self.notes += note
        return frame

    def _measured(self, frame: Frame) -> _Part:
        def found(chosen: Frame, up: Sequence[bool]) -> list[Correlation]:
            return measure(chosen, self.task.stat, self.level, self.averaging, up, self.options)

        one = found(frame, self.up)
        said = {c.note for c in one}
        if len(said) == 1:
            self.notes += [f"{self.task.stat}: {note}" for note in said if note]
        else:
            self.notes += [
                f"{self.task.stat} of {metric}: {c.note}" for metric, c in zip(self.metrics, one, strict=True)
            ]
        raw = [c.value for c in one]
        down = [m for m, good in enumerate(self.up) if not good]
        if down:  # once more as if higher were better for all
            for m, turned in zip(
                down, found(dataclasses.replace(frame, x=frame.x[down]), [True] * len(down)), strict=True
            ):
                raw[m] = turned.value
        if self.averaging == "none" and self.level == "segment" and self.stat.kind != "preferences" and repeats(frame):
            self.notes.append(
                f"{self.task.stat}, averaging none, takes outputs for different items together, which rewards seeing"
                " how hard an item is; level 'item' does not"
            )
        with_ends, said = with_intervals(frame, one, self.level, self.up, self.options, self.plan.intervals)
        if said and not all(math.isnan(c.low) for c in with_ends):
            self.notes.append(f"[low, high] of {self.task.stat}: 95 %, {said}")
        return _Part(frame, with_ends, raw)

    def _ends_of_mean(self, parts: Mapping[str | None, _Part]) -> list[tuple[float, float]]:
        """The interval of the only group, or of the mean over groups."""
        if len(parts) == 1:
            return [(one.low, one.high) for one in next(iter(parts.values())).found]
        frames = [part.frame for part in parts.values() if not np.isnan(part.frame.z).all()]
        ends = (
            with_interval_of_mean(frames, self.task.stat, self.averaging, self.up, self.options, self.plan.intervals)
            if frames
            else None
        )
        if ends is None:
            return [(math.nan, math.nan)] * len(self.metrics)
        over = "systems" if self.level == "system" else "segments"
        how = self.plan.intervals
        self.notes.append(
            f"[low, high] of the mean of {self.task.stat}: 95 %, percentile bootstrap over {over}, {how.draws} draws,"
            f" seed {how.seed}"
        )
        return [(float(low), float(high)) for low, high in ends]

    def _check_constant(self, parts: Mapping[str | None, _Part]) -> None:
        """All ties: refuse judgements without a difference, and name metrics without one."""
        judged = [part.frame.z[~np.isnan(part.frame.z)] for part in parts.values()]
        if judged and self.held.pairs is None and all(len(z) and np.ptp(z) == 0 for z in judged):
            raise InputError(
                f"{self.criterion!r} is {judged[0][0]:g} for all that is compared; there is no difference a metric"
                " could follow"
            )
        for m, metric in enumerate(self.metrics):
            constant = [str(g) for g, part in parts.items() if len(part.frame.z) > 1 and np.ptp(part.frame.x[m]) == 0]
            if constant:
                self.notes.append(f"{metric} is the same for all segments or systems of {', '.join(constant[:4])}")

    def _tests(self, parts: Mapping[str | None, _Part]) -> dict[str | None, MetricComparison]:
        if self.plan.asked is None or len(self.metrics) < 2:
            return {}
        name = (
            usual(self.task.stat, self.level, self.averaging)
            if self.plan.asked.test == "auto"
            else self.plan.asked.test
        )
        if name is None:
            self.notes.append(f"no test is known for {self.task.stat}")
            return {}
        asked = dataclasses.replace(self.plan.asked, test=name)
        defined = {g: part.frame for g, part in parts.items() if not np.isnan(part.frame.z).all()}
        tests: dict[str | None, MetricComparison] = {
            g: versus(frame, parts[g].found, self.level, self.up, self.options, asked) for g, frame in defined.items()
        }
        if len(parts) > 1 and asked.compat is None:
            mean = versus_mean(list(defined.values()), self.task.stat, self.averaging, self.up, self.options, asked)
            if mean is None:
                self.notes.append(f"{name} is made in each group; there is no such test of the mean over groups")
            else:
                tests[MEAN] = mean
        self._say(tests, defined)
        return tests

    def _say(self, tests: Mapping[str | None, MetricComparison], frames: Mapping[str | None, Frame]) -> None:
        one = next(iter(tests.values()))
        side = "row better than column" if one.alternative == "greater" else "row and column differ"
        drawn = (
            f", {one.draws} draws, seed {self.plan.asked.seed}"
            if one.draws is not None and self.plan.asked is not None
            else ""
        )
        adjusted = {
            "none": "not adjusted for the number of tests",
            "holm": "adjusted after Holm",
            "bh": "adjusted after Benjamini and Hochberg",
        }
        to = "new systems on these items" if one.generalise_to == "systems" else "new items of these systems"
        if one.test == "mcnemar":
            to = "new pairs, taken as independent"
        self.notes.append(f"p of {self.task.stat}: {one.test}, {side}{drawn}, about {to}; {adjusted[self.plan.adjust]}")
        systems = [len(set(f.systems)) for f in frames.values() if f.systems is not None]
        if systems and min(systems) < _FEW_SYSTEMS and one.test != "mcnemar":
            self.notes.append(
                f"with {min(systems)} systems a difference between metrics may be one of these systems; ten or more say"
                " more"
            )

    def _test_rows(
        self,
        group: str | None,
        test: MetricComparison,
        values: Mapping[tuple[str, str | None], float],
        part: _Part | None,
    ) -> Iterator[Row]:
        adjusted = adjust(test.p, self.plan.adjust)
        about = {
            "test": test.test,
            "alternative": test.alternative,
            "generalise_to": test.generalise_to,
            "draws": test.draws,
        }
        for i, metric in enumerate(self.metrics):
            for j, other in enumerate(self.metrics):
                if i != j:
                    p = {
                        "p": float(test.p[i, j]),
                        "p_adjusted": float(adjusted[i, j]) if self.plan.adjust != "none" else None,
                    }
                    value = {"value": values[metric, group], "against": other, "delta": float(test.deltas[i, j])}
                    if test.delta_low is not None and test.delta_high is not None:
                        value |= {"delta_low": float(test.delta_low[i, j]), "delta_high": float(test.delta_high[i, j])}
                    if (
                        self.plan.power
                        and part is not None
                        and test.deltas[i, j] > 0
                        and adjusted[i, j] >= self.plan.alpha
                    ):
                        value["power"] = self._power(part, test, (i, j))
                    yield {**self._base(metric, group), **value, **p, **about}

    def _power(self, part: _Part, test: MetricComparison, pair: tuple[int, int]) -> float:
        assert self.plan.asked is not None  # there is a test
        return power_of(
            part.frame, part.found, pair, self.up, self.options, dataclasses.replace(self.plan.asked, test=test.test)
        )


def adjust(p: Array, how: str) -> Array:
    """p-values of a square of tests adjusted for their number."""
    return {"none": lambda values: values, "holm": holm, "bh": benjamini_hochberg}[how](p)


def _standing(test: MetricComparison | None, m: int, plan: Plan) -> Row:
    """Rank of a metric, and whether none beats it."""
    if test is None or test.alternative != "greater":
        return {}
    p = adjust(test.p, plan.adjust)
    ranks: npt.NDArray[np.int64] = rank_clusters(test.values, p, alpha=plan.alpha)
    return {"rank": int(ranks[m]) or None, "not_outperformed": bool(not_outperformed(p, alpha=plan.alpha)[m])}


def _numbers(one: Correlation) -> Row:
    return {
        "value": one.value,
        "low": one.low,
        "high": one.high,
        "n_used": one.n_used,
        "n_undefined": one.n_undefined,
        "ties": one.ties,
        "n_ties": one.n_ties,
        "n_pairs": one.n_pairs,
        "epsilon": one.epsilon,
        "chance": one.chance,
    }


def _mean(parts: Sequence[Correlation]) -> Row:
    """The plain mean over groups; `n_used` counts groups."""
    defined = [one for one in parts if not math.isnan(one.value)]
    return {
        "value": _plain_mean([one.value for one in parts]),
        "low": math.nan,
        "high": math.nan,
        "n_used": len(defined),
        "n_undefined": len(parts) - len(defined),
        "ties": parts[0].ties if parts else None,
        "n_ties": None,
        "n_pairs": None,
        "epsilon": None,
        "chance": _plain_mean([one.chance for one in parts]),
    }


def _pooled(parts: Sequence[Correlation]) -> Row:
    """One share of the pairs of all groups; pairs never cross groups."""
    pairs = [one.n_pairs or 0 for one in parts]
    won = sum(one.value * n for one, n in zip(parts, pairs, strict=True) if n)
    ties = sum(one.n_ties or 0 for one in parts)
    return {
        **_mean(parts),
        "value": won / sum(pairs) if sum(pairs) else math.nan,
        "n_pairs": sum(pairs),
        "n_ties": ties,
    }


def _plain_mean(values: Sequence[float]) -> float:
    defined = [value for value in values if not math.isnan(value)]
    return float(np.mean(defined)) if defined else math.nan
