"""A complete audit: metrics score a suite, and their scores are evaluated by preference or by checklist."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from nlgauge.audits.deviation import RULES, DeviationRow, deviation_rows, normalised_drops
from nlgauge.audits.overlap import overlap_notes
from nlgauge.audits.penalties import shipped, with_penalties
from nlgauge.audits.preference import PreferenceRow, check_copies, check_names, preference_rows, won
from nlgauge.audits.sides import Sides, score_sides
from nlgauge.audits.statistics import suite_statistics
from nlgauge.audits.suite import suite as made_suite
from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError, SpecError, nearest
from nlgauge.core.options import OneOf, Range, check_option
from nlgauge.core.result import Outcome, Result
from nlgauge.core.scores import count_notes, say, warning
from nlgauge.core.segment import Dataset, Frame
from nlgauge.core.suite import Design, Pair, Suite
from nlgauge.io.suites.published import PUBLISHED
from nlgauge.io.suites.suites import suite_of
from nlgauge.metrics.base import MetricLike, cut_words, notes_of, trained_on
from nlgauge.metrics.languages import LanguageCheck
from nlgauge.metrics.registry import named, takes_metrics
from nlgauge.perturbations.checklist import ChecklistRow, checklist_rows, criterion_of, task_of
from nlgauge.perturbations.registry import PERTURBATIONS
from nlgauge.runtime.runtime import Runtime
from nlgauge.stats.draws import SHARE_NAMES, Interval
from nlgauge.stats.preferences import TIES

_ONE_LINE = str.maketrans("\t\r\n", "   ")


@dataclass(frozen=True, repr=False)
class Audit(Outcome):
    """The outcome of an audit.

    Attributes:
        suite: the pairs.
        design: `preference` or `checklist`.
        sides: specification as typed -> scores of both texts of every pair.
        rows: flat objects with the fields of the result file.
        notes: what a reader must know.
        tolerance: in pairs whose scores should be the same, the relative difference up to which they count as the same.
        confidence: level of the intervals.
        statistics: the statistics that the authors of a published suite report, as flat objects.
    """

    suite: Suite
    design: Design
    sides: Mapping[str, Sides]
    rows: Sequence[Mapping[str, Any]]
    notes: tuple[str, ...]
    tolerance: float = 0.05
    confidence: float = 0.95
    statistics: Sequence[Mapping[str, Any]] = ()

    def result(self, inputs: Sequence[Mapping[str, str]] = ()) -> Result:
        """The result file, schema 1, kind `audit`."""
        metrics = [
            {"spec": s.spec, "signature": s.signature, "higher_is_better": s.higher_is_better, "flags": s.counts}
            for s in self.sides.values()
        ]
        settings = {"confidence": self.confidence}
        return Result("audit", self.rows, inputs, metrics, self.notes, settings, statistics=self.statistics)

    def worst(self, spec: str, most: int = 10, phenomenon: str | None = None) -> list[dict[str, Any]]:
        """The pairs that a metric judged most wrongly, the worst first.

        For a preference these are pairs that the metric lost, by how clearly. For a checklist they are pairs whose drop
        is farthest from people's penalty.

        Args:
            spec: the metric's specification as typed.
            most: return at most this many pairs.
            phenomenon: return only pairs of this phenomenon.

        Returns:
            For each pair its `id`, `phenomenon`, `reference` (or source), `better`, `worse`, both scores and the
            `margin`, which is negative or 0 for a lost pair. For a checklist also the `drop` and people's `penalty`.

        Raises:
            InputError: the metric was not audited.
        """
        if spec not in self.sides:
            raise InputError(f"metric {spec!r} was not audited{nearest(spec, self.sides)}")
        sides = self.sides[spec]
        people = self._people(sides) if self.design == "checklist" else None
        if people is None:
            lower = np.array([self._pair(sides, i).expect == "lower" for i in range(len(sides.places))], dtype=np.bool_)
            wrong = np.where(lower & (sides.margin <= 0), -sides.margin, np.nan)
        else:
            wrong = np.abs(people[0] - people[1])
        worst = [int(i) for i in np.argsort(-wrong, kind="stable") if not math.isnan(wrong[i])]
        if phenomenon is not None:
            worst = [i for i in worst if self._pair(sides, i).phenomenon == phenomenon]
        return [self._case(sides, i, people) for i in worst[:most]]

    def _people(self, sides: Sides) -> Array:
        """The drop of each pair by a metric, and people's penalty for such pairs, shape (2, n); NaN where unknown."""
        own = [row for row in self.rows if row["metric"] == sides.spec]
        penalties = {(row["task"], row["criterion"], row["template"]): row["penalty"] for row in own}
        pairs = [self.suite.pairs[place] for place in sides.places]
        drops = normalised_drops(sides, self.suite, own[0]["norm"])
        return np.stack([drops, [penalties[p.task, p.criterion, p.phenomenon] for p in pairs]])

    def pair_columns(self) -> dict[str, Any]:
        """The pairs as columns: fields and texts, and for each metric `SPEC.better`, `SPEC.worse` and `SPEC.won`.

        If a metric has no score for a pair, its cells are NaN. Tabs and line breaks in texts become blanks.
        """
        pairs = self.suite.pairs
        columns: dict[str, Any] = {
            name: [getattr(p, name) for p in pairs]
            for name in ("id", "phenomenon", "group", "task", "criterion", "expect")
        }
        columns |= {side: [getattr(p, side).translate(_ONE_LINE) for p in pairs] for side in ("better", "worse")}
        for spec, sides in self.sides.items():
            outcome = won(sides, [pairs[place] for place in sides.places], self.tolerance)
            for name, values in (("better", sides.better), ("worse", sides.worse), ("won", outcome)):
                column = np.full(len(pairs), np.nan)
                column[list(sides.places)] = values
                columns[f"{spec}.{name}"] = column
        return columns

    def _pair(self, sides: Sides, i: int) -> Pair:
        return self.suite.pairs[sides.places[i]]

    def _case(self, sides: Sides, i: int, people: Array | None) -> dict[str, Any]:
        pair = self._pair(sides, i)
        return {
            "id": pair.id,
            "phenomenon": pair.phenomenon,
            "reference": sides.held(pair),
            "better": pair.better,
            "worse": pair.worse,
            "score_better": float(sides.better[i]),
            "score_worse": float(sides.worse[i]),
            "margin": float(sides.margin[i]),
            **({} if people is None else {"drop": float(people[0, i]), "penalty": float(people[1, i])}),
        }


@warning
@takes_metrics
def audit(
    suite: Suite | Dataset | Frame,
    metrics: MetricLike | Sequence[MetricLike],
    *,
    task: str | None = None,
    design: Design | None = None,
    ties: str = "loss",
    penalties: Sequence[ChecklistRow] | None = None,
    normalise: str = "auto",
    tolerance: float = 0.05,
    confidence: float = 0.95,
    interval: str = "wilson",
    references: str | None = None,
    scripts: LanguageCheck = "note",
    columns: Mapping[str, str] | None = None,
    runtime: Runtime | None = None,
) -> Audit:
    """Audit metrics with a suite.

    Args:
        suite: a suite from `nlgauge.suite` or `nlgauge.read_suite`, or a frame with one row per pair; or texts, from
            which the checklists of the task are made.
        metrics: specifications or metric objects.
        task: of texts, as in `nlgauge.suite`; with it a frame has one row per segment.
        design: `preference` (does the metric prefer the better text?) or `checklist` (does its score drop as much as
            the ratings of people?). If None, the design of the suite.
        ties: for `preference`: `loss`, `half`, `exclude` or `zero`. Ties are also counted separately under every rule.
        penalties: for `checklist`: rows with a `penalty`. If None, the penalties that were recovered from the paper.
        normalise: for `checklist`: `self`, `minmax`, `none` or `auto`.
        tolerance: how far a score may move, as a share, under a perturbation that should change nothing.
        references, scripts: `own`, `source`, or None (the way of a published suite, else `own`); as in `nlgauge.suite`.
        confidence, interval: level of intervals; for `preference`, `wilson` or the exact, wider `clopper-pearson`.
        columns, runtime: names of the columns of a frame; device, precision, cache.

    Raises:
        InputError: no pair has what a metric needs; pairs of a `checklist` lack a task; or no metric could fail.
        SpecError: a metric is unknown.

    References: Chen and Eger (2023), "MENLI"; Sai et al. (2021), "Perturbation CheckLists".
    """
    if isinstance(suite, Dataset) or task is not None:
        suite = made_suite("checklist", suite, task=task, columns=columns)
    else:
        suite = suite if isinstance(suite, Suite) and columns is None else suite_of(suite, columns)
    wanted, suite = _design(suite, design, ties, normalise, tolerance, interval)
    references = references or (PUBLISHED[suite.published].references if suite.published else "own")
    listed = checklist_of(suite) if wanted == "checklist" else []
    _check_penalties(penalties, wanted, listed)
    runtime = runtime or Runtime()
    built = named(metrics, runtime.encoder)
    copies = check_copies(suite, built, references, refuse=design is None) if wanted == "preference" else []
    sides = score_sides(suite, built, runtime, references=references, scripts=scripts)
    limits: dict[str, Any] = {"tolerance": tolerance, "confidence": confidence}
    rows: list[PreferenceRow] | list[DeviationRow]
    if wanted == "checklist":
        people = shipped(listed) if penalties is None else with_penalties(listed, penalties)
        rows = [r for s in sides.values() for r in deviation_rows(suite, s, people, normalise=normalise, **limits)]
        flagged, notes = [*_undefined_drops(sides, rows)], [*_about_checklist(suite, people, rows, penalties)]
    else:
        rows = [r for s in sides.values() for r in preference_rows(suite, s, ties=ties, interval=interval, **limits)]
        flagged, notes = [*_flagged(sides, "they count as losses")], [*_about_preference(suite, sides, ties, interval)]
    marked = [replace(row, trained_on=row.attack in trained_on(sides[row.metric].metric)) for row in rows]
    say(*flagged)
    notes = [*suite.notes, *copies, *flagged, *_of_metrics(suite, sides), *notes, *_about_training(marked)]
    limits["statistics"] = suite_statistics(suite, sides.values(), **limits)
    return Audit(suite, wanted, sides, [r.as_row() for r in marked], (*notes, *_about_skipped(suite)), **limits)


def _design(
    suite: Suite, design: Design | None, ties: str, normalise: str, tolerance: float, interval: str
) -> tuple[Design, Suite]:
    """The requested design, and the suite for it, after the options and the names in the suite are checked.

    Raises:
        InputError: the value of an option is not allowed, or different pairs would be counted as one.
    """
    check_names(suite)
    for name, value, kind in (
        ("ties", ties, Annotated[str, OneOf(TIES)]),
        ("normalise", normalise, Annotated[str, OneOf(("auto", *RULES))]),
        ("tolerance", tolerance, Annotated[float, Range(least=0, below=1, meaning="a share")]),
        ("design", design, Design | None),
        ("interval", interval, Interval),
    ):
        check_option(name, value, kind, error=InputError)
    wanted = design or suite.design
    of_preference = {"ties": ties != "loss", "interval": interval != "wilson"}
    idle = of_preference if wanted == "checklist" else {"normalise": normalise != "auto"}
    for name in (name for name, is_given in idle.items() if is_given):
        other = "preference" if wanted == "checklist" else "checklist"
        raise InputError(f"{name} goes with design {other!r}, and this audit is a {wanted}; leave it out")
    return wanted, in_our_words(suite) if wanted == "checklist" else suite


def in_our_words(suite: Suite) -> Suite:
    """A checklist whose tasks and criteria are written as ours: `MT` as `mt`, `Fluency` as `fluency`."""
    pairs = tuple(
        replace(pair, task=_known_task(pair.task), criterion=pair.criterion and criterion_of(pair.criterion))
        for pair in suite
    )
    return suite if pairs == suite.pairs else replace(suite, pairs=pairs)


def _known_task(name: str | None) -> str | None:
    """Our name of a task; the name itself if it is none of ours."""
    try:
        return name and task_of(name)
    except SpecError:
        return name


def checklist_of(suite: Suite) -> list[ChecklistRow]:
    """The rows that the pairs of a suite belong to, and rows whose perturbation applied to no text.

    Raises:
        InputError: pairs have no task and criterion.
    """
    bare = next((p for p in suite.pairs if p.task is None or p.criterion is None), None)
    if bare is not None:
        lacking = "task" if bare.task is None else "criterion"
        raise InputError(f"pair {bare.id!r} names no {lacking}; a checklist needs both (perturb --task makes them)")
    keys = dict.fromkeys((p.task or "", p.criterion or "", p.phenomenon) for p in suite.pairs)
    keys |= dict.fromkeys(
        (s.task, s.criterion, s.perturbation) for s in suite.skipped if s.task is not None and s.criterion is not None
    )
    listed = {(row.task, row.criterion, row.template): (i, row) for i, row in enumerate(checklist_rows())}
    rows = [listed.get(key, (len(listed), ChecklistRow(*key, label=key[2]))) for key in keys]
    return [row for _, row in sorted(rows, key=lambda entry: entry[0])]


def _check_penalties(penalties: Sequence[ChecklistRow] | None, design: Design, listed: Sequence[ChecklistRow]) -> None:
    """Refuse penalties for a design without drops, and for a name that neither the checklist nor a perturbation has."""
    if penalties is None:
        return
    if design != "checklist":
        raise InputError("penalties are given, but the suite asks for preferences; they go with a checklist")
    names = dict.fromkeys([row.template for row in listed] + PERTURBATIONS.names())
    for row in penalties:
        if row.template not in names:
            raise InputError(
                f"a penalty is given for {row.template!r}, which is no perturbation{nearest(row.template, names)}"
            )


def _of_metrics(suite: Suite, sides: Mapping[str, Sides]) -> Iterator[str]:
    """The notes of the metrics, and the published suites that their heads have read."""
    yield from (f"{spec}: {note}" for spec, s in sides.items() for note in notes_of(s.metric))
    if suite.published is not None:
        yield from overlap_notes(suite, [s.signature for s in sides.values()])


def _about_checklist(
    suite: Suite, people: Sequence[ChecklistRow], rows: Sequence[DeviationRow], given: Sequence[ChecklistRow] | None
) -> Iterator[str]:
    if given is None:
        yield (
            "penalties: estimates recovered from the deviations printed by Sai et al. (2021), not the annotators'"
            " means; see 'certainty'"
        )
    if suite.design == "preference":  # pairs of a file
        yield "these pairs do not say how many texts were left alone: 'n/a' (n_not_applicable) counts none"
    missing = [row.template for row in people if math.isnan(row.penalty)]
    if missing:
        yield f"no penalty for {', '.join(dict.fromkeys(missing))}: the drop is given in place of the deviation"
    metrics_by_rule: dict[str, list[str]] = {}
    for metric, rule in dict.fromkeys((row.metric, row.norm) for row in rows):
        metrics_by_rule.setdefault(rule, []).append(metric)
    for rule, metrics in metrics_by_rule.items():
        yield f"scale of {', '.join(metrics)}: {rule} ({RULES[rule]})"
    if given is not None:
        idle = [row.template for row in given if row.template not in {p.template.partition(":")[0] for p in people}]
        if idle:
            yield f"penalties given for {', '.join(dict.fromkeys(idle))} are not used: no such row in this audit"


def _about_preference(suite: Suite, sides: Mapping[str, Sides], ties: str, interval: str) -> Iterator[str]:
    rule = {
        "loss": "each tie counts as a loss",
        "zero": "each tie counts as worth nothing",
        "half": "each tie counts as half a win",
        "exclude": "ties are left out",
    }[ties]
    bounds = SHARE_NAMES[interval]
    yield (
        f"accuracy: share of pairs that a metric gets right (the better text scores higher; chance is 0.5); {rule};"
        f" intervals are {bounds}, of means over phenomena with the effective number of pairs"
    )
    unused = len(suite) - max(len(s.places) for s in sides.values())
    if unused and len({s.places for s in sides.values()}) == 1:
        yield (
            f"{unused} of {len(suite)} pairs are made for metrics of another kind (with a source in place of a"
            " reference, or the other way round)"
        )


def _flagged(sides: Mapping[str, Sides], undefined: str | None) -> Iterator[str]:
    """How many pairs are unread, cut or empty; and what becomes of undefined ones, unless another note says so."""
    for spec, s in sides.items():
        yield from s.unread
        yield from count_notes(spec, s.counts, len(s.places), "pairs", undefined, s.first, cut_words(s.metric))


def _undefined_drops(sides: Mapping[str, Sides], rows: Sequence[DeviationRow]) -> Iterator[str]:
    """The same for a checklist, of whose drops some are undefined although both scores are there."""
    yield from _flagged(sides, None)
    for spec in sides:
        drops = [row for row in rows if row.metric == spec]
        undefined = sum(row.n_undefined for row in drops)
        if undefined:
            yield f"{spec}: {undefined} of {sum(row.n for row in drops)} drops are undefined; they are left out"


def _about_training(rows: Sequence[PreferenceRow | DeviationRow]) -> Iterator[str]:
    """A note for phenomena that a metric's model was trained on: they are no blind test of that metric."""
    attacks: dict[str, dict[str, None]] = {}
    for row in rows:
        if row.trained_on:
            attacks.setdefault(row.metric, {})[row.attack] = None
    for metric, names in attacks.items():
        yield (
            f"{metric} was trained on {', '.join(names)}: its results there, and the means over them, say little about"
            " attacks that it has not seen"
        )


def _about_skipped(suite: Suite) -> Iterator[str]:
    most: dict[tuple[str, str, str | None], int] = {}  # the same texts may be left alone under two criteria
    for s in suite.skipped:
        most[s.perturbation, s.reason, s.group] = max(s.n, most.get((s.perturbation, s.reason, s.group), 0))
    by_name: dict[str, dict[str, int]] = {}
    for (name, reason, _), n in most.items():
        reasons = by_name.setdefault(name, {})
        reasons[reason] = reasons.get(reason, 0) + n
    told = []
    for name, reasons in by_name.items():
        ordered = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
        told.append(f"{name} to {sum(reasons.values())} ({', '.join(f'{reason} {n}' for reason, n in ordered)})")
    if told:
        yield f"texts left alone: {'; '.join(told)}"
