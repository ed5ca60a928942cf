"""Score a source block by block up to the result of the command; in Python, score texts, batches and systems."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import (
    BaseMetric,
    Metric,
    MetricLike,
    check_lacking,
    cut_words,
    described,
    leave_out,
    own_notes,
    part_directions,
    signature_of,
    whole,
)
from nlgauge.core.result import Outcome, Result, Row
from nlgauge.core.scores import Note, Scores, ScoreSet, count, count_notes, say, warning
from nlgauge.core.segment import Dataset, Frame, Segment, is_frame
from nlgauge.core.spec import Signature
from nlgauge.io.frames import dataset_of
from nlgauge.io.segments import Source, Summary
from nlgauge.metrics.guards import GuardCheck
from nlgauge.metrics.languages import LanguageCheck
from nlgauge.metrics.registry import EMBEDDED, expanded, metric, named, takes_metrics
from nlgauge.metrics.run import grouped_notes, score_blocks, score_grouped, score_segments
from nlgauge.metrics.wrapped import save_bounds
from nlgauge.runtime.runtime import Runtime
from nlgauge.scoring.compare import ComparisonOptions, Totals
from nlgauge.scoring.looks import Looking, Looks, beside, by_texts

if TYPE_CHECKING:
    from nlgauge.scoring.systems import Pairwise
    from nlgauge.scoring.thresholds import Thresholds


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
        left: notes on the encoder that was chosen, and on the metrics that were left out; empty if none was.
    """

    metrics: Mapping[str, BaseMetric]
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
        draws = [pairs.draws for pairs in self._all_pairwise()]
        return self.comparison.settings | ({"draws": max(draws)} if draws else {})

    @property
    def part_directions(self) -> dict[str, dict[str, bool | None]]:
        """Specification -> part of the segment scores -> whether higher is better, as far as it is known."""
        return {spec: part_directions(metric, self.totals[spec].part_names) for spec, metric in self.metrics.items()}

    @cached_property
    def pairwise(self) -> Mapping[str, Mapping[str | None, Pairwise]]:
        """Specification -> group -> every pair of systems by that metric; empty where pairs were not asked for."""
        return {spec: self.comparison.pairwise(self.totals[spec]) for spec in self.metrics if self.comparison.pairs}

    def _all_pairwise(self) -> list[Pairwise]:
        return [pairs for groups in self.pairwise.values() for pairs in groups.values()]

    def rows(self, spec: str) -> Iterator[dict[str, Any]]:
        """The rows of one metric: one per system and group, then one per pair of systems if these were asked for."""
        totals = self.totals[spec]
        if self.comparison.pairs:
            for group, pairs in self.pairwise[spec].items():
                of_group = {"group": group} if self.comparison.by_group else {}
                for row in pairs.rows(spec, self.metrics[spec].info.judges):
                    parts = {} if "against" in row else totals.parts((group, str(row["system"])))
                    yield {**row, **parts, **of_group}
            return
        resampled = self.comparison.of(totals) if self.comparison.resamples else {}
        for (group, system), value, n, n_undefined in totals.rows():
            row = {"system": system, "metric": spec, "value": value, "low": None, "high": None}
            row |= {"n": n, "n_undefined": n_undefined, **totals.parts((group, system))}
            if self.comparison.by_group:
                row["group"] = group
            yield row | resampled.get((group, system), {})

    def count_notes(self, spec: str) -> Iterator[str]:
        """How many segments of a metric were cut, empty or undefined."""
        totals = self.totals[spec]
        return count_notes(spec, totals.counts, self.summary.n, first=totals.first, cut=cut_words(self.metrics[spec]))

    def notes(self) -> Iterator[str]:
        """Notes for the reader of the scores."""
        yield from [*self.left, *self.looks.notes()]
        for spec, built in self.metrics.items():
            yield from self.count_notes(spec)
            yield from own_notes({spec: built})
            yield from self.totals[spec].notes
        with_references = [t for spec, t in self.totals.items() if "references" in self.metrics[spec].info.needs]
        n_references = sorted(with_references[0].references) if with_references else []
        if n_references and n_references[-1] > 1:
            yield f"{' to '.join(map(str, dict.fromkeys((n_references[0], n_references[-1]))))} references per segment"
        groups = [group for group in self.summary.groups if group is not None]
        if len(groups) > 1 and not self.comparison.by_group:
            shown = ", ".join([*groups[:_SHOWN], *(["..."] if len(groups) > _SHOWN else [])])
            yield f"{len(groups)} groups ({shown}) are scored together; --by-group gives each its row"
        if self.comparison.pairs:
            yield from dict.fromkeys(note for pairs in self._all_pairwise() for note in pairs.notes())
            if self.comparison.by_group:
                yield "systems are compared and ranked in each group alone, and p-values adjusted for its pairs"
            return
        yield from dict.fromkeys(self.comparison.notes(self.totals.values()))
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
    told: list[str] = []
    if isinstance(metrics, Mapping):
        built = {spec: whole(metric) for spec, metric in metrics.items()}
    else:
        runtime, told = by_texts(runtime, metrics, source.blocks())
        built = named(metrics, runtime.encoder)
    summary = source.check()
    built, left = leave_out(built, optional, chain.from_iterable(source.blocks()))
    check_lacking(built, summary.lacking, summary.inputs, source.advice)
    comparison.check(summary)
    looking = Looks(language, guards).over(built, is_paired=comparison.test is not None)
    signatures = {spec: signature_of(metric, runtime) for spec, metric in built.items()}
    comparison.check_metrics(signatures.values())
    if comparison.test is not None:
        comparison.check_items((s.group, s.system, s.item, s.id) for block in source.blocks() for s in block)
    looking.ahead(source.blocks())
    totals = {spec: Totals(comparison.by_group, keep=comparison.resamples) for spec in built}
    blocks = score_blocks(built, source.blocks(), runtime, summary.n)
    if comparison.by_group and save_norm is None and (alone := grouped_notes(built, len(summary.groups))):
        segments = [*chain.from_iterable(source.blocks())]
        blocks, left = iter([(segments, score_grouped(built, segments, runtime))]), [*left, *alone]
    for block, scores in blocks:
        looking.add(block)
        for spec, values in scores.items():
            totals[spec].add(block, values)
        if on_block is not None:
            on_block(block, scores)
        if save_norm is not None:  # some metric is pooled, so that this block is the only one
            save_bounds(save_norm, scores.values())
    signatures = {spec: totals[spec].signature or expected for spec, expected in signatures.items()}
    scored = SourceScores(built, signatures, totals, summary, comparison, looking, [*told, *left])
    say(*looking.notes(), *(note for spec in built for note in scored.count_notes(spec)))
    return scored


# --- Scores of texts by named metrics: the public `score`


@warning
@takes_metrics
def score(
    hyps: Dataset | Frame | Sequence[str] | Mapping[str, Sequence[str]],
    refs: Sequence[str] | Sequence[Sequence[str]] | None = None,
    srcs: Sequence[str] | None = None,
    metrics: MetricLike | Sequence[MetricLike] | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    runtime: Runtime | None = None,
    language: LanguageCheck = "note",
    guards: GuardCheck = "note",
) -> ScoreSet:
    """Score hypotheses with every metric named.

    Args:
        hyps: one text per item, length N; or a mapping from system to such a list; or a `Dataset` or a frame (pandas,
            polars, Arrow, `datasets`) with one row per segment, which brings its own references and sources.
        refs: `[item][reference]`, or a flat list with one reference per item; length N.
        srcs: one source per item, length N; may be left out before metrics.
        metrics: specifications or metric objects; `embedded` names every metric that runs without a download, and
            those of them that need what segments lack are left out with a warning.
        columns: which column of a frame holds which field, where they have other names, as in `nlgauge.read`.
        runtime: device, precision and cache; None is the CPU or the first GPU, float32, no cache.
        language: segments in scripts that a metric does not read are noted (`note`), refused before anything is scored
            (`strict`), or not looked for (`off`).
        guards: texts that guards distrust are counted (`note`), refused before anything is scored (`refuse`), or not
            looked for (`off`).

    Returns:
        A dictionary: specification as typed -> Scores of shape (n,). The key of a metric object is the specification
        that rebuilds it. `to_frame()` has a row per segment and a column per metric.

    Warns:
        ScoreWarning: texts were cut, are empty, distrusted or got no score; one warning counts them by metric.

    Raises:
        InputError: lengths are unequal, a segment lacks what a metric needs, or a text is refused.
        SpecError: a metric or option is unknown, or one specification occurs twice.
    """
    if metrics is None:
        metrics, srcs = _metrics_for_sources(srcs), None
    looks = Looks(language, guards)
    return score_and_look(texts_as_dataset(hyps, refs, srcs, columns), metrics, runtime, looks)[0]


def _metrics_for_sources(third: Any) -> MetricLike | Sequence[MetricLike]:
    """The metrics that were given as the third argument, in the place of sources.

    Raises:
        InputError: the argument holds no metric.
    """
    specs = [third] if isinstance(third, str) or not isinstance(third, Sequence) else third
    try:
        for spec in () if specs == [EMBEDDED] else specs[:1]:
            metric(spec)
    except SpecError as error:
        said = "" if third is None else f"; the third argument holds none: {error}"
        raise InputError(f'score() is given no metrics, as in metrics=["bleu", "chrf"]{said}') from None
    return cast("MetricLike | Sequence[MetricLike]", third)


def score_and_look(
    data: Dataset,
    metrics: MetricLike | Sequence[MetricLike],
    runtime: Runtime | None,
    looks: Looks,
    is_paired: bool = False,
) -> tuple[ScoreSet, Looking]:
    """The scores of `score`, and what looks found in the texts; `is_paired` if systems are compared item by item."""
    segments = data.segments
    systems, items = tuple(s.system for s in segments), tuple(s.item for s in segments)
    asked, optional = expanded(metrics)
    runtime, told = by_texts(runtime or Runtime(), asked, [segments])
    built, left = leave_out(named(asked, runtime.encoder), optional, segments)
    looking = looks.seen(built, segments, is_paired=is_paired)
    scored = score_segments(built, segments, runtime) if segments else _scores_of_none(built, runtime)
    about_flags = {spec: [*scores.flag_notes(spec, cut=cut_words(built[spec]))] for spec, scores in scored.items()}
    about_metrics, about_input = _parted(looking.notes())
    say(*left, *about_metrics, *chain.from_iterable(about_flags.values()), *about_input)
    noted = ScoreSet()
    for spec, scores in scored.items():
        noted[spec] = replace(
            scores,
            name=spec,
            systems=systems,
            items=items,
            notes=(*told, *left, *about_metrics, *about_flags[spec], *scores.notes, *about_input),
        )
    return noted, looking


def _scores_of_none(metrics: Mapping[str, BaseMetric], runtime: Runtime) -> dict[str, Scores]:
    """The scores of no segments, made without the metrics: some of them refuse an empty list."""
    return {
        spec: Scores(signature_of(metric, runtime), (), np.empty(0), higher_is_better=metric.info.higher_is_better)
        for spec, metric in metrics.items()
    }


def _parted(notes: Sequence[str]) -> tuple[list[str], list[str]]:
    """Notes about metrics, and notes about the input: a warning shows the first, and a score tells more than a text."""
    about_input: list[str] = [note for note in notes if isinstance(note, Note) and note.about == "input"]
    return [note for note in notes if note not in about_input], about_input


def texts_as_dataset(
    hyps: Dataset | Frame | Sequence[str] | Mapping[str, Sequence[str]],
    refs: Sequence[str] | Sequence[Sequence[str]] | None,
    srcs: Sequence[str] | None,
    columns: Mapping[str, str] | None,
) -> Dataset:
    """The texts given to `score`, as one data set."""
    if not isinstance(hyps, Dataset) and not is_frame(hyps):
        if columns is not None:
            raise InputError("columns are named for a frame; lists of texts have none")
        return Dataset.from_texts(hyps, refs, srcs)
    if refs is not None or srcs is not None:
        column = ", or give one column per argument: hyps=frame[...], refs=frame[...]" if is_frame(hyps) else ""
        raise InputError(f"a {type(hyps).__name__} holds its references and sources; leave refs and srcs out{column}")
    return dataset_of(hyps, columns)


# --- Which of several systems is better, by every metric? The public `compare`


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
        from nlgauge.scoring.systems import system_test
        from nlgauge.scoring.thresholds import with_agreement

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
    from nlgauge.scoring.systems import check_adjusted, compare_pairs  # what no plain score needs
    from nlgauge.scoring.thresholds import thresholds_for

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


# --- Texts that come in batches, as in a training loop, and are scored together at the end

_REFUSED = re.compile(r"[^A-Za-z0-9_./ -]")  # in names, by loggers


class Accumulator:
    """Collects texts batch by batch and scores them all at once, so that no score depends on the batches.

        meter = nlgauge.Accumulator("chrf")
        for batch in loader:
            meter.update(model(batch), batch["references"])
        meter.compute()["chrf"].system

    Args:
        metrics: specifications or metric objects.
        runtime: device, precision and cache, as in `score`.

    Raises:
        SpecError: a metric or option is unknown.
    """

    def __init__(self, metrics: MetricLike | Sequence[MetricLike], runtime: Runtime | None = None) -> None:
        self._runtime = runtime or Runtime()
        self._metrics = named(metrics, self._runtime.encoder)
        self._specs = [metrics] if isinstance(metrics, str) or not isinstance(metrics, Sequence) else list(metrics)
        self._segments: list[Segment] = []

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the metrics, which are the keys of what `compute` returns."""
        return tuple(self._metrics)

    def __len__(self) -> int:
        return len(self._segments)

    def __repr__(self) -> str:
        return f"Accumulator({', '.join(self._metrics)}; {len(self)} segments)"

    def update(
        self,
        hyps: Sequence[str],
        refs: Sequence[str] | Sequence[Sequence[str]] | None = None,
        srcs: Sequence[str] | None = None,
    ) -> None:
        """Add a batch; the arguments are those of `score`. Nothing is scored yet.

        Raises:
            InputError: lengths are unequal, or an entry is not text. Nothing of the batch is kept.
        """
        self._segments += Dataset.from_texts(hyps, refs, srcs).segments

    @warning
    def compute(self) -> dict[str, Scores]:
        """Score everything that was added, in order, with ids from 1; more can be added later.

        Raises:
            InputError: nothing was added, or a segment lacks what a metric needs.
        """
        if not self._segments:
            raise InputError("nothing was added yet; call update with a batch of texts first")
        numbered = (replace(s, id=str(i), item=str(i)) for i, s in enumerate(self._segments, start=1))
        return score(Dataset(tuple(numbered)), metrics=self._specs, runtime=self._runtime)

    def reset(self) -> None:
        """Forget all texts."""
        self._segments = []


def numbers_of(scores: Mapping[str, Scores]) -> dict[str, float]:
    """Corpus-level scores and what they are made of as one flat dictionary, which loggers take as it is.

    Args:
        scores: specification -> its scores, as `score` returns them.

    Returns:
        For example `{"bleu": 30.2, "bleu.precision1": 60.1}`. What Weights & Biases or MLflow would refuse in a name
        becomes `_`: `chrf:word_order=2` is `chrf_word_order_2`. An undefined score is NaN.
    """
    numbers = [
        (name, value)
        for spec, own in scores.items()
        for name, value in {spec: own.system, **{f"{spec}.{part}": x for part, x in own.system_parts.items()}}.items()
    ]
    return dict(zip(loggable([name for name, _ in numbers]), (value for _, value in numbers), strict=True))


def loggable(names: Iterable[str]) -> list[str]:
    """Names that loggers take: what they would refuse becomes `_`, and a name that would occur twice gets a number."""
    taken: dict[str, None] = {}
    for name in names:
        made = key = _REFUSED.sub("_", name)
        again = 2
        while key in taken:
            key, again = f"{made}_{again}", again + 1
        taken[key] = None
    return list(taken)
