"""May this change ship? The public `gate`, and what it returns."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import BaseMetric, MetricLike, own_notes
from nlgauge.core.result import NewRow, Outcome, Result
from nlgauge.core.scores import say, warning
from nlgauge.core.segment import Dataset, Frame, is_frame
from nlgauge.gating.outputs import (
    GateBaseline,
    Outputs,
    ScoredSide,
    described,
    from_texts,
    is_baseline,
    paired,
    read_baseline,
    score_side,
    score_sides,
    write_baseline,
)
from nlgauge.gating.verdicts import Decided, Drops, Items, Rules, Scales, Undefined, decide, flickers
from nlgauge.io.evalset import read_set
from nlgauge.io.frames import dataset_of
from nlgauge.io.read import read
from nlgauge.metrics.function import RATINGS
from nlgauge.metrics.guards import GuardCheck
from nlgauge.metrics.languages import LanguageCheck
from nlgauge.metrics.registry import named, takes_metrics
from nlgauge.runtime.runtime import Runtime
from nlgauge.scoring.looks import Looks
from nlgauge.stats.gate_bounds import DRAWS
from nlgauge.stats.gates import PASS

Runs = Sequence[str] | Sequence[Sequence[str]]  # a text per item, or a list of the texts of its runs
Side = Runs | Dataset | Frame | str | os.PathLike[str]
METHODS = {
    "tango": "tango: Tango's score interval of paired pass rates",
    "bootstrap-t": "bootstrap-t: the t statistic of the mean difference, resampled, or Student's bound if wider",
    "unseen": "unseen: as bootstrap-t, but so few items may miss some that lose or gain all they can, and these decide",
    "worst-case": "worst-case: fewer than ten items differ from the rest, so what may lose is taken to lose all it can",
    "fixed": "fixed: what these items lost is known, but for what their runs leave open; it says nothing of others",
    "betting": "betting: bounds that hold after every item, so one may look again at any time; they are wider",
    "t": "t: fewer than thirty groups, which can show a FAIL and never a PASS",
}


@dataclass(frozen=True, repr=False)
class Gate(Outcome):
    """The verdict on a change; true if it passed.

    Attributes:
        verdict: PASS, FAIL or INCONCLUSIVE.
        reasons: why, in sentences.
        rows: one per metric; below 0 a `delta` is worse, whatever the direction of the metric.
        items: the items that lost most, with the texts of both sides.
        warned: what was left out, and what a reader must know of the texts.
        how: how it was judged.
        metrics: each metric with its signature.
        new: the new side with its scores, which `save` keeps.
        built: specification -> metric.
        files: the files that were read.
        settings: draws, seed and level.
    """

    verdict: str
    reasons: Sequence[str]
    rows: Sequence[NewRow]
    items: Sequence[NewRow]
    warned: Sequence[str]
    how: Sequence[str]
    metrics: Sequence[Mapping[str, Any]]
    new: ScoredSide
    built: Mapping[str, BaseMetric] = field(default_factory=dict)
    files: Sequence[Mapping[str, str]] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return self.verdict == PASS

    @property
    def notes(self) -> list[str]:
        """Everything that a reader must know."""
        return [*self.warned, *self.how]

    def __repr__(self) -> str:
        return f"Gate({self.verdict}: {'; '.join(self.reasons)})"

    def result(self) -> Result:
        """The result file, of kind `gate`."""
        return Result(
            "gate",
            self.rows,
            self.files,
            self.metrics,
            self.notes,
            self.settings,
            verdict=self.verdict,
            reasons=self.reasons,
            items=self.items,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Keep the scores of the new side as a baseline, completely or not at all.

        The file is one JSON object: `schema` (1), `kind` (`baseline`), `version`, `inputs`, `metrics` (`spec`,
        `signature`, `higher_is_better`), `items` and `seal`. An item has `seg`, `group`, the digest of references,
        source, context and table in `inputs`, the `texts` of its runs with their `digests`, and in `scores` a number
        per run for each metric, null where it is undefined. Digests are the first 16 digits of SHA-256; `seal` is that
        of all else, as JSON with sorted keys and whole numbers without a point. A text or file that does not fit is
        refused; a specification in it is a name, and nothing is made of it.
        """
        write_baseline(self.new, self.built, path)


@warning
@takes_metrics
def gate(
    base: Side,
    new: Side,
    refs: Sequence[str] | Sequence[Sequence[str]] | None = None,
    srcs: Sequence[str] | None = None,
    *,
    metrics: MetricLike | Sequence[MetricLike],
    allow: Drops | None = None,
    alpha: float = 0.05,
    allow_item: Drops | None = None,
    min_pass: tuple[int, int] | None = None,
    undefined: Undefined = "fail",
    report_only: MetricLike | Sequence[MetricLike] = (),
    scale: Scales | None = None,
    sequential: bool = False,
    items: Items = "sample",
    common: bool = False,
    ids: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
    base_system: str | None = None,
    new_system: str | None = None,
    columns: Mapping[str, str] | None = None,
    rescore: bool = False,
    draws: int = DRAWS,
    seed: int = 0,
    runtime: Runtime | None = None,
    language: LanguageCheck = "note",
    guards: GuardCheck = "note",
) -> Gate:
    """Judge whether new outputs are no worse than old ones for the same items, but for an allowed drop of the mean.

    PASS if a lower bound of the mean difference is above -allow, FAIL if an upper bound is below it, else
    INCONCLUSIVE. If the true drop is equal to `allow`, each of PASS and FAIL comes out with at most `alpha`.

    Args:
        base: the old outputs: one text per item or a list of the texts of its runs, a `Dataset`, a frame, a data file,
            or a baseline file of `nlgauge gate --save`.
        new: the new outputs; any of these but a baseline file.
        refs, srcs: references and sources of lists of texts, as in `nlgauge.score`.
        metrics: specifications or metrics, which all have to pass; `human.NAME` is a column of ratings in the data.
            What judges nothing, such as a length, is shown and decides nothing.
        allow: the drop of the mean that is allowed, in units of the metric; or a mapping from specifications. By
            default a hundredth of the metric's scale, and .01 where that has no limits.
        alpha: the chance of a false PASS, and of a false FAIL.
        allow_item: an item that loses more fails the gate.
        min_pass: (M, N): an item that clearly passes fewer than M of N runs fails the gate; for scores of 0 and 1.
        undefined: what a score is that NEW lacks and BASE has: a reason to `fail`, the `worst`, or to `drop`.
        report_only: further metrics that do not decide, or some of `metrics`.
        scale: the lowest and the highest score of metrics without limits, as (1, 5), or a mapping; ratings and scores
            of other programs else have the least usual one that holds them (0 to 1, 5, 10, 25, 100), with a note.
        sequential: judge so that one may look again after every further item.
        items: `sample` asks what they say of others like them, with groups as clusters where there are several, and
            `independent` does so without; `fixed` asks of these alone, so that one run of each decides.
        common: judge the items that both sides have, where one lacks some.
        ids, groups: the id and the group of each item, of lists of texts.
        base_system, new_system: the system, in data that hold several.
        columns: which column holds which field, as in `nlgauge.read`.
        rescore: score the texts of a baseline file again, where its signatures are others.
        draws, seed: of the bootstrap.
        runtime: device, precision and cache.
        language, guards: as in `nlgauge.score`, for NEW.

    Raises:
        InputError: the sides have other items or inputs, a baseline does not fit, or a number is out of its range.
        SpecError: a metric is unknown.
    """
    runtime = runtime or Runtime()
    built, only = named_with(metrics, report_only, runtime, base)
    rules = Rules(
        allow=allow,
        alpha=alpha,
        allow_item=allow_item,
        min_pass=min_pass,
        undefined=undefined,
        report_only=only,
        scale=scale,
        sequential=sequential,
        items=items,
        draws=draws,
        seed=seed,
    )
    rules.check(built)
    texts = (refs, srcs, ids, groups)
    old = opened(base, "BASE", *texts, columns, base_system)
    fresh = opened(new, "NEW", *texts, columns, new_system)
    if isinstance(fresh, GateBaseline):
        raise InputError(f"{fresh.outputs.name} is a baseline, expected it as BASE; give the new texts as NEW")
    made = judged(old, fresh, built, rules, runtime, Looks(language, guards), rescore, common=common)
    say(*made.warned)
    return made


def named_with(
    metrics: MetricLike | Sequence[MetricLike],
    report_only: MetricLike | Sequence[MetricLike],
    runtime: Runtime,
    base: Any = None,
) -> tuple[dict[str, BaseMetric], frozenset[str]]:
    """All metrics by specification, and those of them that are only reported.

    Raises:
        SpecError: a metric is unknown; if BASE has ratings of that name, it says how to name them.
    """
    try:
        built = named(metrics, runtime.encoder)
    except SpecError:
        typed = [metrics] if isinstance(metrics, str) else metrics if isinstance(metrics, Sequence) else []
        rated = _ratings_of(base)
        meant = next((one for one in typed if isinstance(one, str) and one in rated), None)
        if meant is None:
            raise
        raise SpecError(f"unknown metric {meant!r}; the data has {RATINGS}{meant}") from None
    listed = [report_only] if isinstance(report_only, str) or not isinstance(report_only, Sequence) else report_only
    only = named(report_only, runtime.encoder) if listed else {}
    return {**built, **{spec: one for spec, one in only.items() if spec not in built}}, frozenset(only)


def _ratings_of(side: Any) -> set[str]:
    """The names of the ratings in a data file; none of anything else."""
    if not isinstance(side, str | os.PathLike) or is_baseline(os.fspath(side)):
        return set()
    try:
        return {name for segment in read(side) for name in segment.human}
    except (InputError, OSError):
        return set()


def opened(
    given: Any,
    name: str,
    refs: Any = None,
    srcs: Sequence[str] | None = None,
    ids: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
    columns: Mapping[str, str] | None = None,
    system: str | None = None,
    judgements: str | None = None,
) -> Outputs | GateBaseline:
    """One side, whatever it is given as; arguments as for `gate`, and a table of ratings of a data file."""
    if isinstance(given, str | os.PathLike):
        path = os.fspath(given)
        if is_baseline(path):
            return read_baseline(path)
        dataset, inputs = read_set([path], columns, judgements)
        return Outputs.of(dataset, path, system, inputs)
    if isinstance(given, Dataset) or is_frame(given):
        return Outputs.of(dataset_of(given, columns), name, system)
    if isinstance(given, Mapping):
        raise InputError(f"{name} is a mapping, expected the texts of one system; give one of its lists")
    return Outputs.of(from_texts(given, name, refs, srcs, ids, groups), name)


def judged(
    base: Outputs | GateBaseline,
    new: Outputs,
    metrics: Mapping[str, BaseMetric],
    rules: Rules,
    runtime: Runtime,
    looks: Looks | None = None,
    rescore: bool = False,
    known: ScoredSide | None = None,
    common: bool = False,
) -> Gate:
    """Score what has no scores yet, and judge; arguments as for `gate`.

    Args:
        base, new, metrics, rules, runtime, looks, rescore, common: as for `gate`.
        known: scores of NEW beside a baseline, where there are some already.
    """
    rules.scales(metrics)
    old, fresh = paired(base.outputs if isinstance(base, GateBaseline) else base, new, common)
    looking = (looks or Looks()).seen(metrics, fresh.segments)
    if isinstance(base, GateBaseline):
        after = score_side(fresh, metrics, runtime) if known is None else known.over(fresh)
        before = base.scores_for(metrics, after, old, runtime, rescore)
    else:
        before, after = score_sides([old, fresh], metrics, runtime)
    found = decide(metrics, before, after, rules)
    return Gate(
        found.verdict,
        found.reasons,
        found.rows,
        found.items,
        [*old.notes, *fresh.notes, *looking.notes(), *after.notes, *found.notes],
        _how(found, metrics),
        described(metrics, after),
        after,
        metrics,
        list({file["path"]: file for file in (*old.files, *fresh.files)}.values()),
        {"draws": rules.draws, "seed": rules.seed, "confidence": 1 - rules.alpha},
    )


def _how(found: Decided, metrics: Mapping[str, BaseMetric]) -> list[str]:
    told: list[str] = [*own_notes(metrics)]
    used = dict.fromkeys(row["method"] for row in found.rows)
    told += [METHODS[one] for one in used if one in METHODS]
    deciding = sum(row["decides"] for row in found.rows)
    if deciding > 1:
        told.append(f"p-values of FAIL are adjusted after Holm for {deciding} metrics; all of them have to pass")
    if any(row["n_clusters"] for row in found.rows):
        told.append("items of a group are one cluster; items=independent takes them one by one")
    told += [f"{row['metric']}: {flickers(row['flicker'])}" for row in found.rows if row["flicker"] >= 0]
    return [*dict.fromkeys(told)]
