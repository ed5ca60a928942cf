"""How much of another metric makes a metric better? Robustness and agreement, as the weight goes from 0 to 1."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from nlgauge.audits.preference import ALL_GROUPS, check_copies, preference_rows
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import signature_of, spec_of
from nlgauge.core.options import OneOf, check_option
from nlgauge.core.result import NewRow, Outcome, Result, Row
from nlgauge.core.scores import add, warning
from nlgauge.core.segment import Dataset, Frame
from nlgauge.core.suite import Suite
from nlgauge.io.frames import datasets_of
from nlgauge.metaeval.align import chosen_criteria, judged
from nlgauge.metaeval.evaluate import meta_evaluate
from nlgauge.metaeval.gains import curves, mark_best, with_gains
from nlgauge.metaeval.intervals import Kind
from nlgauge.metaeval.mixing import NORMS, Attacked, ScoredDataset, judged_by, sum_of
from nlgauge.metaeval.scoring import readable, stand_ins
from nlgauge.metaeval.sweep_rows import joined_rows
from nlgauge.metrics.base import Metric, MetricLike, trained_on
from nlgauge.metrics.registry import named, takes_metrics
from nlgauge.runtime.runtime import Runtime
from nlgauge.stats.preferences import Ties

WEIGHTS = tuple(round(0.1 * i, 1) for i in range(11))
NLI = ("nli", "summac")  # names of metrics that ask an NLI model


@dataclass(frozen=True, repr=False)
class Sweep(Outcome):
    """The result of `sweep`.

    Attributes:
        rows: the rows of the result file, each a flat mapping; see `docs/sweep.md`.
        metrics: the specification, signature and direction of each metric.
        notes: how things were done.
        settings: seed and confidence of the intervals; see `nlgauge.core.Result`.
    """

    rows: tuple[Row, ...]
    metrics: tuple[Row, ...]
    notes: tuple[str, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)

    def best(self, metric: str, partner: str, **where: Any) -> Row:
        """The row of the best weight for two metrics; `where` narrows the choice down by stat or criterion.

        Raises:
            InputError: no row matches, or several do. There is no row where a metric alone scores 0 or is undefined.
        """
        wanted = {"metric": metric, "with": partner, "best": True, **where}
        found = [row for row in self.rows if all(row.get(key) == value for key, value in wanted.items())]
        if len(found) != 1:
            raise InputError(f"{len(found)} rows fit {wanted}, expected one; name stat and criterion")
        return found[0]

    def result(self, inputs: Sequence[Mapping[str, str]] = ()) -> Result:
        """The result file: schema 1, kind `sweep`; `inputs` lists the files that were read."""
        return Result("sweep", self.rows, inputs, self.metrics, self.notes, self.settings)


@warning
@takes_metrics
def sweep(
    datasets: Dataset | Frame | Sequence[Dataset | Frame],
    suites: Suite | Sequence[Suite],
    metrics: MetricLike | Sequence[MetricLike],
    partners: MetricLike | Sequence[MetricLike],
    weights: Sequence[float] = WEIGHTS,
    *,
    criterion: str | Sequence[str] | None = None,
    level: str | None = None,
    stats: str | Sequence[str] | None = None,
    references: str | None = None,
    missing: str = "refuse",
    norm: str = "minmax",
    ties: str = "loss",
    intervals: str = "auto",
    confidence: float = 0.95,
    seed: int = 0,
    columns: Mapping[str, str] | None = None,
    runtime: Runtime | None = None,
) -> Sweep:
    """Mix every metric with every partner at every weight; compare the sums with people and test them under attacks.

    Args:
        datasets, suites: texts with ratings; pairs with a known order.
        metrics: the metrics to improve, as specifications or metric objects.
        partners: the metrics to mix with each of them: `weight * partner + (1 - weight) * metric`.
        weights: weights of the partner, in [0, 1]; 0 and 1, each metric alone, are added.
        criterion, level, stats, references, intervals: as in `meta_evaluate`; several references are folded before the
            scores are scaled.
        missing: what to do with rated segments without a score: `refuse`, or `drop` them for both metrics.
        norm: how two metrics are brought to one scale before they are mixed: `minmax`, `zscore` or `none`, in each
            group of a data set (language pair, task) and each phenomenon of a suite.
        ties: how ties count in preferences: `loss`, `half`, `exclude` or `zero`.
        confidence, seed: of the intervals.
        columns, runtime: as in `nlgauge.read`, for all frames in `datasets`; device, precision and cache.

    Raises:
        InputError: the data do not fit together, or a metric is constant over a pool.
        SpecError: a metric is unknown, or no metric and partner differ.

    References: Chen and Eger (2023), "MENLI", sections 5.1.3 and 5.2, figures 2 and 3; preprint, tables 9 and 10.
    """
    sets, attacks = datasets_of(datasets, columns), [suites] if isinstance(suites, Suite) else list(suites)
    check(sets, attacks, norm=norm, ties=ties, missing=missing, intervals=intervals)
    runtime = runtime or Runtime(seed=seed)
    mixed, into = (named(each, runtime.encoder) for each in (metrics, partners))
    study = _Study(mixed, into, check_weights(weights), norm, references, runtime)
    copies = of_copies(attacks, study.metrics, references)
    rehearse(sets, study.metrics, criterion, references, level=level, stats=stats)
    options = {"level": level, "stats": stats, "missing": missing, "intervals": intervals, "seed": seed or None}
    people, notes = _people(study, sets, criterion, options)
    robust, more = _attacks(study, attacks, ties, confidence)
    rows = list(joined_rows(people, robust, study.pairs, study.weights, norm, study.is_nli))
    with_gains(rows)
    mark_best(rows)
    rows += curves(rows, confidence)
    notes += [*copies, *more, *about_training(study.metrics, {pair.phenomenon for suite in attacks for pair in suite})]
    told = tuple(dict.fromkeys([*notes, *_about(norm, ties)]))
    return Sweep(tuple(rows), study.entries(), told, {"seed": seed, "confidence": confidence})


class _Study:
    """Which metrics are mixed with which, and how."""

    def __init__(
        self,
        ones: Mapping[str, Metric],
        others: Mapping[str, Metric],
        weights: tuple[float, ...],
        norm: str,
        references: str | None,
        runtime: Runtime,
    ) -> None:
        self.weights, self.norm, self.references, self.runtime = weights, norm, references, runtime
        self.metrics = {**ones, **others}
        self.pairs = [(a, b) for a in ones for b in others if spec_of(ones[a]) != spec_of(others[b])]
        self.is_nli = {name: built.info.name in NLI for name, built in others.items()}
        self.counts: dict[str, dict[str, int]] = {name: {} for name in self.metrics}
        if not self.pairs:
            raise SpecError(
                f"{next(iter(ones))} has nothing to be mixed with but itself; name another metric as partner"
            )

    def entries(self) -> tuple[Row, ...]:
        """The metrics, as a result file lists them."""
        return tuple(
            {
                "spec": name,
                "signature": str(signature_of(metric, self.runtime)),
                "higher_is_better": metric.info.higher_is_better,
                "flags": self.counts[name],
            }
            for name, metric in self.metrics.items()
        )

    def count(self, name: str, counts: Mapping[str, int]) -> None:
        """Add what was counted for a metric on one data set or suite."""
        self.counts[name] = add(self.counts[name], counts)


def _people(
    study: _Study, datasets: Sequence[Dataset], criterion: Any, options: Mapping[str, Any]
) -> tuple[list[NewRow], list[str]]:
    """The rows of every sum compared with people, and notes."""
    rows: list[NewRow] = []
    notes: list[str] = []
    for dataset in datasets:
        held = judged_by(dataset, study.metrics, criterion, study.runtime, study.references)
        for name, counts in held.counts.items():
            study.count(name, counts)
        more, told = _agreement(held, study.pairs, study.weights, study.norm, criterion, options)
        rows += more
        notes += [f"{dataset.name}: {note}" if len(datasets) > 1 else note for note in [*dataset.notes, *told]]
    return rows, notes


def _attacks(study: _Study, suites: Sequence[Suite], ties: str, confidence: float) -> tuple[list[NewRow], list[str]]:
    """The rows of every sum under attack, and notes."""
    rows: list[NewRow] = []
    notes: list[str] = []
    for suite in suites:
        attacked = Attacked(suite, study.metrics, study.runtime, held_against(study.references))
        for pair in study.pairs:
            rows += _robustness(attacked, pair, study.weights, study.norm, ties, confidence)
        for name in study.metrics:
            study.count(name, attacked.counts(name))
        told = [*suite.notes, *attacked.count_notes()]
        notes += [f"{suite.name}: {note}" if len(suites) > 1 else note for note in told]
    return rows, notes


def check(
    datasets: Sequence[Dataset],
    suites: Sequence[Suite],
    *,
    norm: str = "none",
    ties: str,
    missing: str,
    intervals: str = "none",
    either: bool = False,
) -> None:
    """Refuse what cannot be done, before anything is scored; with `either`, sets of one kind are enough."""
    for what, given in (("data set", datasets), ("suite", suites)):
        if not given and either:
            continue
        if not given:
            raise InputError(f"no {what} is given, expected at least one")
        names = [one.name for one in given]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise InputError(
                f"{what} {twice!r} is given twice"
                if twice
                else f"{len(names)} {what}s have one name; give each a name of its own"
            )
    check_option("norm", norm, Annotated[str, OneOf(NORMS)], error=InputError)
    check_option("ties", ties, Ties, error=InputError)
    check_option("missing", missing, Literal["refuse", "drop"], error=InputError)
    check_option("intervals", intervals, Kind, error=InputError)
    for suite in suites:
        if all(pair.expect == "same" for pair in suite):
            raise InputError(
                f"no pair of {suite.name or 'the suite'} has a better text; a sweep asks which of two is better"
            )


def rehearse(
    datasets: Sequence[Dataset],
    metrics: Mapping[str, Metric],
    criterion: str | Sequence[str] | None,
    references: str | None,
    **options: Any,
) -> None:
    """Compare stand-in scores with people first: what is refused with them is refused before anything is scored."""
    for dataset in datasets:
        segments, _, _ = judged(dataset, chosen_criteria(dataset, criterion))
        readable(metrics, segments, references)
        meta_evaluate(dataset, (), criterion, scores=stand_ins(metrics, segments), intervals="none", **options)


def of_copies(suites: Sequence[Suite], metrics: Mapping[str, Metric], references: str | None) -> list[str]:
    """Refuse suites that no metric can fail, before anything is scored; see `check_copies`."""
    told = [(suite, note) for suite in suites for note in check_copies(suite, metrics, held_against(references))]
    return [f"{suite.name}: {note}" if len(suites) > 1 else note for suite, note in told]


def held_against(references: str | None) -> str:
    """The anchors of a suite: references, unless sources stand in for them."""
    return "source" if references == "source" else "own"


def about_training(metrics: Mapping[str, Metric], phenomena: Collection[str]) -> Iterator[str]:
    """Name the attacks that a metric's model saw in training.

    These attacks are no blind test of the metric, nor of a sum that includes it.
    """
    for name, metric in metrics.items():
        seen = [one for one in trained_on(metric) if one in phenomena]
        if seen:
            yield (
                f"{name} was trained on {', '.join(seen)}: what it does there, and the means over them, say little of"
                " attacks it has not seen"
            )


def check_weights(weights: Sequence[float]) -> tuple[float, ...]:
    """The weights in rising order, with 0 and 1 added.

    Raises:
        InputError: a weight is outside [0, 1].
    """
    for weight in weights:
        if not 0 <= weight <= 1:
            raise InputError(f"weight {weight:g} is outside of 0 to 1")
    return tuple(sorted({0.0, 1.0, *(float(w) for w in weights)}))


def parse_weights(text: str) -> tuple[float, ...]:
    """Weights as typed: `from:to:step`, or several with commas between them.

    Raises:
        InputError: the text is neither; the error says what was expected.
    """
    expected = InputError(f"weights are {text!r}, expected from:to:step (0:1:0.1) or numbers in [0, 1] (0.2,0.3)")
    try:
        if ":" not in text:
            found = tuple(float(part) for part in text.split(","))
        else:
            low, high, step = (float(part) for part in text.split(":"))
            if not 1e-4 <= step <= 1 or not 0 <= low <= high <= 1:
                raise expected
            found = tuple(round(low + step * i, 10) for i in range(math.floor((high - low) / step + 1e-9) + 1))
    except ValueError:
        raise expected from None
    if not all(0 <= weight <= 1 for weight in found):
        raise expected
    return found


def _agreement(
    held: ScoredDataset,
    pairs: Sequence[tuple[str, str]],
    weights: Sequence[float],
    norm: str,
    criterion: Any,
    options: Mapping[str, Any],
) -> tuple[list[NewRow], list[str]]:
    """The rows of every sum compared with people, by group and for their mean.

    A sum that several pairs share is measured once.
    """
    scores = {}
    for one, other in pairs:
        both = held.mixture(one, other, norm)
        for weight in weights:
            name = sum_of(one, other, weight, norm)
            if name not in scores:
                scores[name] = held.as_scores(name, both.at(weight))
    found = meta_evaluate(
        held.dataset,
        (),
        criterion,
        scores=scores,
        **{key: value for key, value in options.items() if value is not None},
    )
    return [{**row, "dataset": held.dataset.name} for row in found.rows], [*held.notes, *found.notes]


def _robustness(
    attacked: Attacked, pair: tuple[str, str], weights: Sequence[float], norm: str, ties: str, confidence: float
) -> Iterator[NewRow]:
    for weight, sides in attacked.mixed(*pair, norm, weights).items():
        found = preference_rows(attacked.suite, sides, ties=ties, confidence=confidence, distances=False)
        several = any(row.group == ALL_GROUPS for row in found)
        shown = trained_on(sides.metric)
        for row in found:
            if row.expect == "lower" and (not several or row.group == ALL_GROUPS):
                where = {"pair": pair, "weight": weight, "suite": attacked.suite.name}
                yield {**row.as_row(), **where, "trained_on": row.phenomenon in shown}


def _about(norm: str, ties: str) -> Iterator[str]:
    how = {"minmax": "by their least and greatest", "zscore": "to mean 0 and deviation 1", "none": "not at all"}[norm]
    yield f"scores are scaled {how}, in each group of a data set and each phenomenon of a suite, before they are mixed"
    yield (
        "gains are shares of what the metric alone has; best: the greatest mean of both gains among the weights at"
        " which neither number falls"
    )
    if ties != "loss":
        yield f"ties in preferences count as {ties}"
