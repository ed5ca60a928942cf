"""An audit from end to end: a suite put to metrics, by preference or by checklist."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from nlgauge.audits.deviation import RULES, deviation_rows
from nlgauge.audits.penalties import shipped, with_penalties
from nlgauge.audits.preference import preference_rows, won
from nlgauge.audits.sides import Sides, score_sides
from nlgauge.core.errors import InputError, nearest
from nlgauge.core.options import OneOf, check_option
from nlgauge.core.result import Result
from nlgauge.core.suite import Design, Pair, Suite
from nlgauge.metrics.base import Metric, trained_on
from nlgauge.metrics.registry import named
from nlgauge.perturbations.checklist import ChecklistRow, checklist_rows
from nlgauge.perturbations.registry import PERTURBATIONS
from nlgauge.runtime.runtime import Runtime
from nlgauge.stats.correlation.preferences import Ties


@dataclass(frozen=True)
class Audit:
    """What an audit found.

    Attributes:
        suite: the pairs.
        design: `preference` or `checklist`.
        sides: specification as typed -> scores of both sides.
        rows: flat objects; fields are those of the result file.
        notes: what a reader must know.
        tolerance: relative difference up to which scores count as the same, where they should be.
    """

    suite: Suite
    design: Design
    sides: Mapping[str, Sides]
    rows: Sequence[Mapping[str, Any]]
    notes: tuple[str, ...]
    tolerance: float = 0.05

    def result(self, inputs: Sequence[Mapping[str, str]] = ()) -> Result:
        """The result file, schema 1, kind `audit`."""
        metrics = [
            {"spec": s.spec, "signature": s.signature, "higher_is_better": s.higher_is_better}
            for s in self.sides.values()
        ]
        return Result("audit", self.rows, inputs, metrics, self.notes)

    def worst(self, spec: str, most: int = 10, phenomenon: str | None = None) -> list[dict[str, Any]]:
        """The pairs that a metric got most wrong, the worst first.

        Args:
            spec: the metric as typed.
            most: how many.
            phenomenon: only pairs of this one.

        Returns:
            For each `id`, `phenomenon`, `reference` (or source), `better`, `worse`, both scores and the `margin`
            (negative).

        Raises:
            InputError: a metric that was not audited.
        """
        if spec not in self.sides:
            raise InputError(f"metric {spec!r} was not audited{nearest(spec, self.sides)}")
        sides = self.sides[spec]
        margin = sides.margin
        lost = [
            i for i in np.argsort(margin, kind="stable") if margin[i] <= 0 and self._pair(sides, i).expect == "lower"
        ]
        if phenomenon is not None:
            lost = [i for i in lost if self._pair(sides, i).phenomenon == phenomenon]
        return [self._case(sides, int(i)) for i in lost[:most]]

    def pair_columns(self) -> dict[str, Any]:
        """A column a field of the pairs, and for each metric `SPEC.better`, `SPEC.worse` and `SPEC.won` (null where it has no score)."""
        pairs = self.suite.pairs
        columns: dict[str, Any] = {
            name: [getattr(p, name) for p in pairs]
            for name in ("id", "phenomenon", "group", "task", "criterion", "expect")
        }
        for spec, sides in self.sides.items():
            outcome = won(sides, [pairs[place] for place in sides.places], self.tolerance)
            for name, values in (("better", sides.better), ("worse", sides.worse), ("won", outcome)):
                column = np.full(len(pairs), np.nan)
                column[list(sides.places)] = values
                columns[f"{spec}.{name}"] = column
        return columns

    def _pair(self, sides: Sides, i: int) -> Pair:
        return self.suite.pairs[sides.places[i]]

    def _case(self, sides: Sides, i: int) -> dict[str, Any]:
        pair = self._pair(sides, i)
        held = pair.references[0] if pair.references and pair.setup != "src" else pair.source
        return {
            "id": pair.id,
            "phenomenon": pair.phenomenon,
            "reference": held,
            "better": pair.better,
            "worse": pair.worse,
            "score_better": float(sides.better[i]),
            "score_worse": float(sides.worse[i]),
            "margin": float(sides.margin[i]),
        }


def audit(
    suite: Suite,
    metrics: str | Metric | Sequence[str | Metric],
    *,
    design: Design | None = None,
    ties: str = "loss",
    penalties: Sequence[ChecklistRow] | None = None,
    normalise: str = "auto",
    tolerance: float = 0.05,
    confidence: float = 0.95,
    references: str = "own",
    runtime: Runtime | None = None,
) -> Audit:
    """Put a suite to metrics.

    Args:
        suite: from `nlgauge.suite`, or read from a file.
        metrics: specifications or metric objects.
        design: `preference` (which text is better?) or `checklist` (is the drop what people's is?); the suite's own if
            None.
        ties: preference: `loss`, `half`, `exclude` or `zero`; ties are counted apart whatever the rule.
        penalties: checklist: rows with a `penalty`; those recovered from the paper if None.
        normalise: checklist: `self`, `minmax`, `none` or `auto`.
        tolerance: how much a score may move under a perturbation that should change nothing, as a share.
        confidence: of the intervals.
        references: `own`, or `source` to hold texts against their source.
        runtime: device, precision, cache.

    Raises:
        InputError: no pair has what a metric needs; a checklist is asked of pairs without task and criterion.
        SpecError: an unknown metric.

    References:
        Chen and Eger (2023), "MENLI"; Sai et al. (2021), "Perturbation CheckLists for Evaluating NLG Evaluation
        Metrics".
    """
    check_option("ties", ties, Ties, error=InputError)
    if normalise != "auto":
        check_option("normalise", normalise, Annotated[str, OneOf(RULES)], error=InputError)
    if not 0 <= tolerance < 1:
        raise InputError(f"tolerance is {tolerance:g}, expected a share from 0 to below 1")
    wanted = design or suite.design
    check_option("design", wanted, Design, error=InputError)
    listed = checklist_of(suite) if wanted == "checklist" else []
    if penalties is not None:
        if wanted != "checklist":
            raise InputError("penalties are given, but the suite asks for preferences; they go with a checklist")
        _check_penalties(penalties, listed)
    sides = score_sides(suite, named(metrics), runtime or Runtime(), references=references)
    notes = list(suite.notes)
    rows: list[dict[str, Any]] = []
    if wanted == "checklist":
        known = shipped(listed) if penalties is None else with_penalties(listed, penalties)
        for found in sides.values():
            rows += deviation_rows(suite, found, known, normalise=normalise, tolerance=tolerance, confidence=confidence)
        notes += _about_checklist(known, rows, penalties)
    else:
        for found in sides.values():
            rows += preference_rows(suite, found, ties=ties, tolerance=tolerance, confidence=confidence)
        notes += _about_preference(suite, sides, rows, ties)
    notes += [*_mark_trained(sides, rows), *_about_skipped(suite)]
    return Audit(
        suite,
        wanted,
        sides,
        [{k: v for k, v in row.items() if not k.startswith("_")} for row in rows],
        tuple(notes),
        tolerance,
    )


def checklist_of(suite: Suite) -> list[ChecklistRow]:
    """The rows that the pairs of a suite fill, and those of which every text was left alone.

    Raises:
        InputError: pairs without task and criterion.
    """
    bare = next((p for p in suite.pairs if p.task is None or p.criterion is None), None)
    if bare is not None:
        lacking = "task" if bare.task is None else "criterion"
        raise InputError(f"pair {bare.id!r} names no {lacking}; a checklist needs both (perturb --task makes them)")
    keys = dict.fromkeys((p.task, p.criterion, p.phenomenon) for p in suite.pairs)
    keys |= dict.fromkeys(
        (s.task, s.criterion, s.perturbation) for s in suite.skipped if s.task is not None and s.criterion is not None
    )
    table = {(row.task, row.criterion, row.template): (i, row) for i, row in enumerate(checklist_rows())}
    found = [table.get(key, (len(table), ChecklistRow(key[0], key[1], key[2], key[2]))) for key in keys]  # type: ignore[arg-type]
    return [row for _, row in sorted(found, key=lambda entry: entry[0])]


def _check_penalties(given: Sequence[ChecklistRow], listed: Sequence[ChecklistRow]) -> None:
    """A penalty for nothing that there is, is a misspelt one."""
    known = dict.fromkeys([row.template for row in listed] + PERTURBATIONS.names())
    for row in given:
        if row.template not in known:
            raise InputError(
                f"a penalty is given for {row.template!r}, which is no perturbation{nearest(row.template, known)}"
            )


def _about_checklist(
    known: Sequence[ChecklistRow], rows: Sequence[Mapping[str, Any]], given: Sequence[ChecklistRow] | None
) -> Iterator[str]:
    if given is None:
        yield (
            "penalties: estimates recovered from the deviations printed by Sai et al. (2021), not the annotators'"
            " means; see 'certainty'"
        )
    missing = [row.template for row in known if row.penalty != row.penalty]
    if missing:
        yield f"no penalty for {', '.join(dict.fromkeys(missing))}: the drop is given in place of the deviation"
    rules: dict[str, list[str]] = {}
    for metric, rule in dict.fromkeys((row["metric"], row["norm"]) for row in rows):
        rules.setdefault(rule, []).append(metric)
    for rule, metrics in rules.items():
        yield f"scale of {', '.join(metrics)}: {rule} ({RULES[rule]})"
    if given is not None:
        idle = [row.template for row in given if row.template not in {k.template.partition(":")[0] for k in known}]
        if idle:
            yield f"penalties given for {', '.join(dict.fromkeys(idle))} are not used: no such row in this audit"


def _about_preference(
    suite: Suite, sides: Mapping[str, Sides], rows: Sequence[Mapping[str, Any]], ties: str
) -> Iterator[str]:
    rule = {"loss": "a loss", "zero": "worth nothing", "half": "half a win", "exclude": "left out"}[ties]
    yield f"ties count as {rule}; intervals are Wilson's, of means over phenomena normal"
    unused = len(suite) - max(len(s.places) for s in sides.values())
    if unused and len({s.places for s in sides.values()}) == 1:
        yield (
            f"{unused} of {len(suite)} pairs are made for metrics of another kind (with a source in place of a"
            " reference, or the other way round)"
        )
    undefined = sum(row["n_undefined"] for row in rows if row["phenomenon"] == "mean-all" and row["group"] != "all")
    if undefined:
        yield f"{undefined} pairs with an undefined score, counted as losses"


def _mark_trained(sides: Mapping[str, Sides], rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Mark the rows of what a metric's model was shown in training, and say so: it is no blind test of that metric."""
    for spec, found in sides.items():
        known = set(trained_on(found.metric))
        seen = [row for row in rows if row["metric"] == spec and row.get("phenomenon", row.get("template")) in known]
        for row in seen:
            row["trained_on"] = True
        names = list(dict.fromkeys(row.get("phenomenon", row.get("template")) for row in seen))
        if names:
            yield (
                f"{spec} was trained on {', '.join(names)}: what it does there, and the means over them, say little of"
                " attacks it has not seen"
            )


def _about_skipped(suite: Suite) -> Iterator[str]:
    by_name: dict[str, dict[str, int]] = {}
    for s in suite.skipped:
        reasons = by_name.setdefault(s.perturbation, {})
        reasons[s.reason] = reasons.get(s.reason, 0) + s.n
    told = []
    for name, reasons in by_name.items():
        ordered = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
        told.append(f"{name} to {sum(reasons.values())} ({', '.join(f'{reason} {n}' for reason, n in ordered)})")
    if told:
        yield f"texts left alone: {'; '.join(told)}"
