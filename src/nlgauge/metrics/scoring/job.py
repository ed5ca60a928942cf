"""Score a whole source: block by block, with intervals and tests, up to the result that a command prints."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nlgauge.core.counts import count_notes, say, warning
from nlgauge.core.errors import InputError, nearest
from nlgauge.core.result import Outcome, Result
from nlgauge.core.scores import Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.core.signature import Signature
from nlgauge.core.signing import signature_of
from nlgauge.metrics.base import (
    Metric,
    MetricLike,
    Source,
    Summary,
    check_lacking,
    described,
    leave_out,
    notes_of,
    part_directions,
)
from nlgauge.metrics.guards.counting import GuardCheck, GuardCounts, check_guards, guard_counts
from nlgauge.metrics.languages import LanguageCheck, UnreadScripts, check_language, unread_scripts
from nlgauge.metrics.registry import named
from nlgauge.metrics.scales import save_bounds
from nlgauge.metrics.scoring.run import score_blocks
from nlgauge.metrics.scoring.totals import Totals
from nlgauge.runtime.runtime import Runtime

if TYPE_CHECKING:
    from nlgauge.metrics.comparing.pairwise import Pairwise

Test = Literal["bootstrap", "randomization"]
Block = Callable[[Sequence[Segment], Mapping[str, Scores]], None]
Key = tuple[str | None, str | None]  # group, system
_TESTS = {"bootstrap": "paired bootstrap", "randomization": "paired approximate randomisation"}
_SHOWN = 8  # systems or groups in a note
_COMPARED = ("low", "high", "baseline", "delta", "delta_low", "delta_high", "p")


@dataclass(frozen=True, kw_only=True)
class ComparisonOptions:
    """How systems are compared, and whether each score gets an interval.

    Attributes:
        test: the test of every system against the baseline; None for no test.
        baseline: the system that the others are tested against; None for the first.
        draws: the number of resamples; None for 1000 (bootstrap) or 10000 (randomization).
        seed: the seed of the resampling; None for 0, or for sacrebleu's seed.
        compat: `sacrebleu` computes p-values as that package does.
        intervals: give 95 % intervals without a test, too.
        by_group: compare separately for each language pair or task.
        pairs: test every pair of systems and rank them, in place of a baseline; see `nlgauge.compare`.
        adjust: how p-values are adjusted for their number: `holm`, `bh` or `none`; None for `holm` with `pairs`, else
            `none`.
    """

    test: Test | None = None
    baseline: str | None = None
    draws: int | None = None
    seed: int | None = None
    compat: str | None = None
    intervals: bool = False
    by_group: bool = False
    pairs: bool = False
    adjust: str | None = None

    @property
    def resamples(self) -> bool:
        """Whether there are intervals, for which segment values must be kept."""
        return self.intervals or self.test is not None

    @property
    def settings(self) -> dict[str, Any]:
        """Test, draws, seed and confidence, as a result file names them; all None where nothing is resampled."""
        if not self.resamples:
            return {}
        from nlgauge.metrics.comparing.table import INTERVAL_DRAWS, SACREBLEU_SEED, draws_of

        usual = INTERVAL_DRAWS if self.test is None else draws_of(self.test)
        seed = SACREBLEU_SEED if self.compat == "sacrebleu" else 0
        return {
            "test": self.test,
            "draws": usual if self.draws is None else self.draws,
            "seed": seed if self.seed is None else self.seed,
            "adjust": None if self.test is None else self.adjust or ("holm" if self.pairs else "none"),
            "confidence": 0.95,
        }

    def check(self, summary: Summary) -> None:
        """Refuse systems that cannot be compared.

        Raises:
            InputError: there is only one system, segments name no system, or the baseline is not among the systems.
        """
        self._check_together()
        systems = [system for system in summary.systems if system is not None]
        if self.test is not None and len(summary.systems) < 2:
            raise InputError(f"a test compares systems, expected at least two, found {len(systems) or 'none named'}")
        if self.test is not None and None in summary.systems:
            raise InputError("a test compares systems, and some segments name none; give every row a 'system'")
        if self.baseline is not None and self.baseline not in systems:
            raise InputError(f"baseline {self.baseline!r} is not among the systems{nearest(self.baseline, systems)}")

    def _check_together(self) -> None:
        """Refuse options that change nothing beside each other."""
        if self.test is None and (self.pairs or self.adjust is not None):
            raise InputError(f"{'pairs' if self.pairs else 'adjust'} says how systems are tested, and no test is named")
        if self.pairs and (self.baseline is not None or self.compat is not None):
            raise InputError(
                f"pairs tests every pair of systems; leave {'compat' if self.baseline is None else 'baseline'} out"
            )

    def pairwise(self, totals: Totals) -> dict[str | None, Pairwise]:
        """Every pair of systems by one metric, in each group.

        Raises:
            InputError: a group has only one system, or its systems have different items.
        """
        from nlgauge.metrics.comparing.pairwise import compare_pairs

        assert self.test is not None  # checked before anything was scored
        how: dict[str, Any] = {"draws": self.draws, "seed": self.seed or 0, "adjust": self.adjust or "holm"}
        found: dict[str | None, Pairwise] = {}
        for group, (systems, items, scores) in totals.kept().items():
            if len(set(systems)) < 2:
                raise InputError(f"group {group!r} has one system, {systems[0]!r}; a test compares at least two")
            found[group] = compare_pairs(scores, systems, items, test=self.test, **how)
        return found

    def of(self, totals: Totals) -> dict[Key, dict[str, Any]]:
        """Columns of the rows of one metric beside its values: intervals, differences and p-values."""
        from nlgauge.metrics.comparing.table import compare_scores, intervals  # what no plain score needs

        beside: dict[Key, dict[str, Any]] = {}
        for group, (systems, items, scores) in totals.kept().items():
            if self.test is None:
                for interval in intervals(scores, systems, draws=self.draws, seed=self.seed):
                    beside[group, interval.system] = {"low": interval.low, "high": interval.high}
                continue
            found = compare_scores(
                scores,
                systems,
                items,
                test=self.test,
                baseline=next(s for s in systems if s is not None) if self.baseline is None else self.baseline,
                draws=self.draws,
                seed=self.seed,
                compat=self.compat,
            )
            for one in found:
                beside[group, one.system] = {name: getattr(one, name) for name in _COMPARED}
            if self.adjust is not None:
                from nlgauge.stats.differences.multiplicity import adjusted

                tested = [one for one in found if one.p is not None]
                fair = adjusted(np.array([one.p for one in tested]), self.adjust)
                for one, p in zip(tested, fair.tolist(), strict=True):
                    beside[group, one.system]["p_adjusted"] = p
        return beside

    def notes(self, n: int) -> Iterator[str]:
        """How intervals and p-values were computed; `n` is the smallest number of segments that a system has,
        in a group of its own where groups are kept apart.
        """
        if self.resamples and self.compat is None:
            from nlgauge.metrics.comparing.table import resampling_notes

            yield from resampling_notes(n, self.test, self.seed or 0)
        if self.test is not None:
            from nlgauge.metrics.comparing.pairwise import ADJUSTED

            draws, seed = self.settings["draws"], self.settings["seed"]
            fault = ", as {} computes it (too often significant: page 'statistics/comparison' of the documentation)"
            yield (
                f"p: {_TESTS[self.test]} against the baseline, two-sided, {draws} draws,"
                f" seed {seed}{fault.format(self.compat) if self.compat else ''}"
                + (f"; {ADJUSTED[self.adjust]}" if self.adjust is not None else "")
            )


@dataclass(frozen=True, repr=False)
class SourceScores(Outcome):
    """The scores of every system of a source.

    Attributes:
        metrics: specification -> metric.
        signatures: specification -> signature.
        totals: specification -> values by system, and by group where groups were asked for.
        summary: the summary of the source.
        comparison: how systems are compared.
        unread: segments in scripts that metrics do not read, if somebody looked.
        guards: texts that guards distrust, whatever the metric.
        left: a note on the metrics that were left out; empty if none was.
    """

    metrics: Mapping[str, Metric]
    signatures: Mapping[str, Signature]
    totals: Mapping[str, Totals]
    summary: Summary
    comparison: ComparisonOptions
    unread: UnreadScripts
    guards: GuardCounts
    left: Sequence[str] = ()

    def __repr__(self) -> str:
        return (
            f"SourceScores({self.summary.n} segments of {len(self.summary.systems)} systems: {', '.join(self.metrics)})"
        )

    def result(self) -> Result:
        """The result that `nlgauge score` prints: one row per metric, system and group."""
        return Result(
            "score",
            self.guards.beside((row for spec in self.metrics for row in self.rows(spec)), self.comparison.by_group),
            self.summary.inputs,
            [described(spec, m, self.signatures[spec], self.totals[spec].counts) for spec, m in self.metrics.items()],
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
        return count_notes(spec, totals.counts, self.summary.n, first=totals.first)

    def input_notes(self) -> list[str]:
        """How many segments have odd texts, or texts in scripts that a metric does not read."""
        return [*self.unread.notes(), *self.guards.notes()]

    def notes(self) -> Iterator[str]:
        """Notes for the reader of the scores."""
        yield from [*self.left, *self.input_notes()]
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
    metrics = dict(metrics) if isinstance(metrics, Mapping) else named(metrics)
    comparison, runtime = comparison or ComparisonOptions(), runtime or Runtime()
    summary = source.check()
    metrics, left = leave_out(metrics, optional, chain.from_iterable(source.blocks()))
    check_lacking(metrics, summary.lacking, summary.inputs)
    comparison.check(summary)
    unread, counted = _refused_or_counted(source, metrics, language, guards)
    signatures = {spec: signature_of(metric, runtime) for spec, metric in metrics.items()}
    if comparison.resamples:
        Rehearsal(comparison, signatures).compare(source.blocks())
    totals = {spec: Totals(comparison.by_group, keep=comparison.resamples) for spec in metrics}
    for block, scores in score_blocks(metrics, source.blocks(), runtime, summary.n):
        if guards == "note":
            counted.add(block)
        unread.add(block)
        for spec, values in scores.items():
            totals[spec].add(block, values)
        if on_block is not None:
            on_block(block, scores)
        if save_norm is not None:  # some metric is pooled, so that this block is the only one
            save_bounds(save_norm, scores.values())
    signatures = {spec: totals[spec].signature or before for spec, before in signatures.items()}
    scored = SourceScores(metrics, signatures, totals, summary, comparison, unread, counted, left)
    say(*scored.input_notes(), *(note for spec in metrics for note in scored.count_notes(spec)))
    return scored


def _refused_or_counted(
    source: Source, metrics: Mapping[str, Metric], language: str, guards: str
) -> tuple[UnreadScripts, GuardCounts]:
    """Refuse texts where this is asked for; else what counts them, with nothing in it yet."""
    check_language(language)
    check_guards(guards)
    if language == "strict":
        unread_scripts(metrics, source.blocks(), language)
    return UnreadScripts(metrics if language == "note" else {}), guard_counts(source.blocks(), guards)


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
