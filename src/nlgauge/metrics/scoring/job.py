"""Score a whole source: block by block, with intervals and tests, up to the result that a command prints."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from nlgauge.core.metric import signature_of
from nlgauge.core.result import Outcome, Result
from nlgauge.core.scores import Scores, count_notes, ids, say, warning
from nlgauge.core.segment import Segment
from nlgauge.core.spec import Signature
from nlgauge.metrics.base import (
    Metric,
    MetricLike,
    Source,
    Summary,
    check_lacking,
    cut_words,
    described,
    leave_out,
    notes_of,
    part_directions,
)
from nlgauge.metrics.comparing.plan import ComparisonOptions
from nlgauge.metrics.guards.counting import GuardCheck
from nlgauge.metrics.languages import LanguageCheck
from nlgauge.metrics.looks import Looking, Looks, beside
from nlgauge.metrics.registry import named
from nlgauge.metrics.scales import save_bounds
from nlgauge.metrics.scoring.run import score_blocks
from nlgauge.metrics.scoring.totals import Totals
from nlgauge.runtime.runtime import Runtime

if TYPE_CHECKING:
    from nlgauge.metrics.comparing.pairwise import Pairwise

Block = Callable[[Sequence[Segment], Mapping[str, Scores]], None]
_SHOWN = 8  # systems or groups in a note


@dataclass(frozen=True, repr=False)
class SourceScores(Outcome):
    """The scores of every system of a source.

    Attributes:
        metrics: specification -> metric.
        signatures: specification -> signature.
        totals: specification -> values by system, and by group where groups were asked for.
        summary: the summary of the source.
        comparison: how systems are compared.
        looks: what was found in the texts, whatever the metric.
        left: a note on the metrics that were left out; empty if none was.
    """

    metrics: Mapping[str, Metric]
    signatures: Mapping[str, Signature]
    totals: Mapping[str, Totals]
    summary: Summary
    comparison: ComparisonOptions
    looks: Looking
    left: Sequence[str] = ()

    def __repr__(self) -> str:
        return (
            f"SourceScores({self.summary.n} segments of {len(self.summary.systems)} systems: {', '.join(self.metrics)})"
        )

    def result(self) -> Result:
        """The result that `nlgauge score` prints: one row per metric, system and group."""
        rows = (row for spec in self.metrics for row in self.rows(spec))
        return Result(
            "score",
            beside(rows, self.looks.by_system(self.comparison.by_group)),
            self.summary.inputs,
            [
                described(spec, m, self.signatures[spec], self.totals[spec].counts, self.totals[spec].references)
                for spec, m in self.metrics.items()
            ],
            [*self.summary.notes, *self.notes()],
            self.settings,
        )

    @property
    def settings(self) -> Mapping[str, Any]:
        """Test, draws, seed and confidence as they were: many pairs take more draws than a baseline."""
        ran = [found.draws for groups in self.pairwise.values() for found in groups.values()]
        return self.comparison.settings | ({"draws": max(ran)} if ran else {})

    @property
    def part_directions(self) -> dict[str, dict[str, bool | None]]:
        """Specification -> part of the segment scores -> whether higher is better, as far as it is known."""
        return {spec: part_directions(metric, self.totals[spec].part_names) for spec, metric in self.metrics.items()}

    @cached_property
    def pairwise(self) -> Mapping[str, Mapping[str | None, Pairwise]]:
        """Specification -> group -> every pair of systems by that metric; empty where pairs were not asked for."""
        return {spec: self.comparison.pairwise(self.totals[spec]) for spec in self.metrics if self.comparison.pairs}

    def rows(self, spec: str) -> Iterator[dict[str, Any]]:
        """The rows of one metric: one per system and group, then one per pair of systems if these were asked for."""
        totals = self.totals[spec]
        if self.comparison.pairs:
            for group, found in self.pairwise[spec].items():
                of_group = {"group": group} if self.comparison.by_group else {}
                for row in found.rows(spec):
                    parts = {} if "against" in row else totals.parts((group, str(row["system"])))
                    yield {**row, **parts, **of_group}
            return
        beside = self.comparison.of(totals) if self.comparison.resamples else {}
        for (group, system), value, n, n_undefined in totals.rows():
            row = {"system": system, "metric": spec, "value": value, "low": None, "high": None}
            row |= {"n": n, "n_undefined": n_undefined, **totals.parts((group, system))}
            if self.comparison.by_group:
                row["group"] = group
            yield row | beside.get((group, system), {})

    def count_notes(self, spec: str) -> Iterator[str]:
        """How many segments of a metric were cut, empty or undefined."""
        totals = self.totals[spec]
        return count_notes(spec, totals.counts, self.summary.n, first=totals.first, cut=cut_words(self.metrics[spec]))

    def notes(self) -> Iterator[str]:
        """Notes for the reader of the scores."""
        yield from [*self.left, *self.looks.notes()]
        for spec, metric in self.metrics.items():
            yield from self.count_notes(spec)
            for note in notes_of(metric):
                yield f"{spec}: {note}"
        reading = [total for spec, total in self.totals.items() if "references" in self.metrics[spec].info.needs]
        numbers = sorted(reading[0].references) if reading else []
        if numbers and numbers[-1] > 1:
            yield f"{' to '.join(map(str, dict.fromkeys((numbers[0], numbers[-1]))))} references per segment"
        groups = [group for group in self.summary.groups if group is not None]
        if len(groups) > 1 and not self.comparison.by_group:
            shown = ", ".join([*groups[:_SHOWN], *(["..."] if len(groups) > _SHOWN else [])])
            yield f"{len(groups)} groups ({shown}) are scored together; --by-group gives each its row"
        if self.comparison.pairs:
            each = [found for groups in self.pairwise.values() for found in groups.values()]
            yield from dict.fromkeys(note for found in each for note in found.notes())
            if self.comparison.by_group:
                yield "systems are compared and ranked in each group alone, and p-values adjusted for its pairs"
            return
        compared = [n for totals in self.totals.values() for n in totals.sizes]
        yield from self.comparison.notes(min(compared, default=0))
        if self.comparison.test is None and len(set(self.summary.systems.values())) > 1:
            counts = ", ".join(f"{system or '-'} {n}" for system, n in [*self.summary.systems.items()][:_SHOWN])
            yield f"systems have different numbers of segments ({counts}); their scores are over different items"


@warning
def score_source(
    source: Source,
    metrics: MetricLike | Sequence[MetricLike] | Mapping[str, Metric],
    comparison: ComparisonOptions | None = None,
    *,
    runtime: Runtime | None = None,
    on_block: Block | None = None,
    save_norm: str | None = None,
    language: LanguageCheck = "note",
    guards: GuardCheck = "note",
    optional: Collection[str] = (),
) -> SourceScores:
    """Score all segments of a source.

    Memory does not grow with the number of segments unless values are kept for resampling.

    Args:
        source: segments, as `nlgauge.io.open_data` opens them.
        metrics: specifications or metric objects.
        comparison: how systems are compared; None for scores alone.
        runtime: device, precision and cache.
        on_block: called with each block of segments and its scores.
        save_norm: a file to write the scales of sums to.
        language: what happens to segments in languages that a metric does not read: `note`, `strict` or `off`.
        guards: what happens to texts that guards distrust: `note`, `refuse` or `off`.
        optional: names in `metrics` that are left out, with a note, where segments lack what they need.

    Returns:
        Scores by system; `.result()` is what `nlgauge score` prints.

    Raises:
        InputError: segments lack what the metrics need, or systems cannot be compared.
        SpecError: a metric is unknown.
    """
    comparison, runtime = comparison or ComparisonOptions(), runtime or Runtime()
    metrics = dict(metrics) if isinstance(metrics, Mapping) else named(metrics, runtime.encoder)
    summary = source.check()
    metrics, left = leave_out(metrics, optional, chain.from_iterable(source.blocks()))
    check_lacking(metrics, summary.lacking, summary.inputs)
    comparison.check(summary)
    looking = Looks(language, guards).over(metrics)
    looking.ahead(source.blocks())
    signatures = {spec: signature_of(metric, runtime) for spec, metric in metrics.items()}
    if comparison.resamples:
        Rehearsal(comparison, signatures).compare(source.blocks())
    totals = {spec: Totals(comparison.by_group, keep=comparison.resamples) for spec in metrics}
    for block, scores in score_blocks(metrics, source.blocks(), runtime, summary.n):
        looking.add(block)
        for spec, values in scores.items():
            totals[spec].add(block, values)
        if on_block is not None:
            on_block(block, scores)
        if save_norm is not None:  # some metric is pooled, so that this block is the only one
            save_bounds(save_norm, scores.values())
    signatures = {spec: totals[spec].signature or before for spec, before in signatures.items()}
    scored = SourceScores(metrics, signatures, totals, summary, comparison, looking, left)
    say(*looking.notes(), *(note for spec in metrics for note in scored.count_notes(spec)))
    return scored


class Rehearsal:
    """Systems compared by stand-in scores: what is refused with them is refused before anything is scored.

    Args:
        comparison: how systems are compared.
        signatures: specification -> signature.
    """

    def __init__(self, comparison: ComparisonOptions, signatures: Mapping[str, Signature]) -> None:
        from nlgauge.metrics.comparing.table import check_compat

        for self._stand_in in signatures.values():
            check_compat(self._stand_in, comparison.compat)
        self._few = replace(comparison, draws=2, compat=None)
        self._totals = Totals(comparison.by_group, keep=True)

    def add(self, block: Sequence[Segment]) -> None:
        """Take in a block of segments."""
        self._totals.add(block, Scores(self._stand_in, ids(block), np.zeros(len(block))))

    def compare(self, blocks: Iterable[Sequence[Segment]] = ()) -> None:
        """Raise an InputError if systems have different items, or one has an item twice; or a group has one system."""
        for block in blocks:
            self.add(block)
        self._few.pairwise(self._totals) if self._few.pairs else self._few.of(self._totals)
