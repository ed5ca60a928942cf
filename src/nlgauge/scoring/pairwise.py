"""Which of several systems is better, by every metric? The public `compare`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nlgauge.core.metric import BaseMetric, MetricLike, cut_words, described
from nlgauge.core.result import Outcome, Result, Row
from nlgauge.core.scores import Scores, count, warning
from nlgauge.core.segment import Dataset, Frame
from nlgauge.metrics.guards import GuardCheck
from nlgauge.metrics.languages import LanguageCheck
from nlgauge.metrics.registry import named, takes_metrics
from nlgauge.runtime.runtime import Runtime
from nlgauge.scoring.job import score_and_look, texts_as_dataset
from nlgauge.scoring.looks import Looking, Looks, beside, by_texts
from nlgauge.scoring.systems import Pairwise, check_adjusted, compare_pairs, system_test
from nlgauge.scoring.thresholds import Thresholds, thresholds_for, with_agreement


@dataclass(frozen=True, repr=False)
class SystemComparison(Outcome):
    """The outcome of `compare`.

    Attributes:
        metrics: specification -> metric.
        scores: specification -> scores of all segments.
        pairwise: specification -> the systems compared by that metric.
        thresholds: what differences mean to people, where it was asked for.
        references: the numbers of references that segments have.
        looks: what was found in the texts, whatever the metric.
        told: a note on the encoder that was chosen; empty if it was named.
    """

    metrics: Mapping[str, BaseMetric]
    scores: Mapping[str, Scores]
    pairwise: Mapping[str, Pairwise]
    thresholds: Thresholds | None = None
    references: frozenset[int] = frozenset()
    looks: Looking = field(default_factory=Looking)
    told: Sequence[str] = ()

    @property
    def rows(self) -> list[Row]:
        """The rows of the result file."""
        return [*self.result().rows]

    @property
    def notes(self) -> list[str]:
        """Counts of flagged segments, and how intervals, p-values and ranks were computed."""
        counted = [
            note
            for spec, scores in self.scores.items()
            for note in scores.flag_notes(spec, cut=cut_words(self.metrics[spec]))
        ]
        told = dict.fromkeys(note for found in self.pairwise.values() for note in found.notes())
        return [*self.told, *self.looks.notes(), *counted, *told]

    def ranks(self, metric: str) -> dict[str, int | None]:
        """System -> rank by a metric, the best first; a metric that judges nothing ranks none."""
        found, judges = self.pairwise[metric], self.metrics[metric].info.judges
        return {name: rank if judges else None for name, rank in zip(found.systems, found.ranks, strict=True)}

    def p(self, metric: str, system: str, other: str) -> float:
        """The adjusted p-value of two systems by a metric; NaN if they were not compared."""
        found = self.pairwise[metric]
        return float(found.p_adjusted[found.systems.index(system), found.systems.index(other)])

    def result(self, inputs: Sequence[Mapping[str, str]] = ()) -> Result:
        """The result file, of kind `score`; `inputs` lists the files that were read."""
        metrics = [
            described(spec, self.metrics[spec], scores.signature, count(scores.flags, scores.values), self.references)
            for spec, scores in self.scores.items()
        ]
        first = next(iter(self.pairwise.values()))
        settings = {name: getattr(first, name) for name in ("draws", "seed", "adjust")}
        rows = (
            row for spec, found in self.pairwise.items() for row in found.rows(spec, self.metrics[spec].info.judges)
        )
        plain = Result(
            "score",
            beside(rows, self.looks.by_system()),
            inputs,
            metrics,
            self.notes,
            {"test": system_test(first.test).name, **settings, "confidence": 0.95},
        )
        return with_agreement(plain, self.thresholds, dict.fromkeys(self.metrics, self.references))


@warning
@takes_metrics
def compare(
    systems: Mapping[str, Sequence[str]] | Dataset | Frame,
    refs: Sequence[str] | Sequence[Sequence[str]] | None = None,
    srcs: Sequence[str] | None = None,
    *,
    metrics: MetricLike | Sequence[MetricLike],
    baseline: str | None = None,
    test: str = "randomization",
    draws: int | None = None,
    seed: int = 0,
    adjust: str = "holm",
    alpha: float = 0.05,
    columns: Mapping[str, str] | None = None,
    thresholds: str | Thresholds | None = None,
    runtime: Runtime | None = None,
    language: LanguageCheck = "note",
    guards: GuardCheck = "note",
) -> SystemComparison:
    """Score systems and compare them with each other: values with intervals, differences with p-values, ranks.

    Args:
        systems: system -> its outputs for the same items; or a data set or frame that names systems and items.
        refs, srcs, metrics, columns, runtime, language, guards: as in `score`.
        baseline: compare the others with this system only; None compares every pair.
        test: `randomization` (`randomisation`), whose level holds for any number of items, or `bootstrap`.
        draws: the number of resamples; None for 1000 or 10000 as in `nlgauge score`, and more for many systems.
        seed: the seed of the resamples.
        adjust: how p-values are adjusted for the number of pairs: `holm`, `bh` (Benjamini and Hochberg) or `none`.
        alpha: two systems differ significantly if the adjusted p is below this.
        thresholds: says how often people agree with such a difference: a file, a table that was read, or
            `shipped`.

    Raises:
        InputError: there is only one system, systems have different items or inputs, or an option is not allowed.
        SpecError: a metric is unknown.
    """
    check_adjusted(adjust, alpha)
    dataset = texts_as_dataset(systems, refs, srcs, columns)
    runtime, told = by_texts(runtime or Runtime(), metrics, [dataset.segments])
    built = named(metrics, runtime.encoder)
    table = thresholds_for(thresholds, built, runtime)
    table = table if table is None else table.over([dataset.segments])
    scored, looking = score_and_look(dataset, metrics, runtime, Looks(language, guards), is_paired=True)
    how: dict[str, Any] = {"draws": draws, "seed": seed, "adjust": adjust, "alpha": alpha}
    paired = {
        spec: compare_pairs(one, one.systems, one.items, baseline=baseline, test=test, **how)
        for spec, one in scored.items()
    }
    references = frozenset(len(s.references) for s in dataset)
    return SystemComparison(built, scored, paired, table, references, looking, told)
