"""The protocol of metrics, and the check of what segments must have."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError
from nlgauge.core.metric import BaseMetric, Documents, signature_of, spec_of, whole
from nlgauge.core.scores import MEANINGS, FinishParts, MetricInfo, Scores, ids, mean_of_defined
from nlgauge.core.segment import Segment
from nlgauge.core.spec import Signature
from nlgauge.runtime.runtime import Runtime

_ALIKE = ("precision", "recall", "f1")  # parts that run as the metric does
_REFERENCE = "reference"  # the number of the best one


@runtime_checkable
class Metric(Protocol):
    """A frozen dataclass whose fields are its options, with a `score`.

    Beside these it may have any member of `BaseMetric`, which says what holds where it has none. A class that inherits
    from that one need not look further.
    """

    @property
    def info(self) -> MetricInfo:
        """Facts that hold for any options of the metric; most metrics set it on the class."""
        ...

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """One value per segment, in the order of the segments."""
        ...


MetricLike: TypeAlias = str | Metric | Callable[..., Any]  # a specification, a metric, or a function of the user's


def documents_of(metric: BaseMetric, segments: Sequence[Segment]) -> Sequence[str]:
    """The texts that the metric takes frequencies from; none for a metric that takes none from the call."""
    return [text for kind in corpora_of(metric, segments) for text in kind.texts]


def corpora_of(metric: BaseMetric, segments: Sequence[Segment]) -> Sequence[Documents]:
    """The same texts by what they are."""
    return metric.documents(segments) if metric.pooled else ()


def rounds(metric: BaseMetric) -> int | None:
    """How often all segments are gone through before the metric can score a part of them; None if it never can."""
    return metric.rounds if metric.pooled else 0


def trained_on(metric: Metric) -> tuple[str, ...]:
    """Ids of the perturbations that the metric's model saw in training; a sum has those of the models of all its terms.

    An audit marks these perturbations.
    """
    return tuple(whole(metric).trained_on)


def cut_words(metric: BaseMetric) -> str:
    """The fate of a text that is longer than the metric's model reads, for a note."""
    advice = " (long=windows reads all of it)" if _reads_in_windows(metric) else ""
    return MEANINGS["truncated"] + (f" of {metric.limit} tokens" if metric.limit is not None else "") + advice


def _reads_in_windows(metric: BaseMetric) -> bool:
    """Whether it has the option to read a long text in windows, or a metric inside has."""
    return hasattr(metric, "long") or any(map(_reads_in_windows, metric.inside))


def part_directions(metric: Any, names: Iterable[str]) -> dict[str, bool | None]:
    """Whether higher is better, of those parts of its scores of which this is known; None for what is no score."""
    up: bool = metric.info.higher_is_better
    known = {**dict.fromkeys(_ALIKE, up), _REFERENCE: None, **metric.info.parts}
    return {name: known[name] for name in names if name in known}


def check_needs(metric: Any, segments: Sequence[Segment], runtime: Runtime | None = None) -> None:
    """Refuse segments that lack what the metric reads, or that it refuses itself; the error names the first.

    A part of a pool, as its runtime says, is not refused for what the pool as a whole may have.
    """
    if len(segments) and not isinstance(segments[0], Segment):
        raise InputError(
            f"{metric.info.name}.score takes segments and a Runtime, got {type(segments[0]).__name__}; for texts write"
            f" nlgauge.score(hyps, refs, metrics={spec_of(metric)!r})"
        )
    metric = whole(metric)
    for need in sorted(metric.info.needs):
        if all(map(attrgetter(need), segments)):  # the usual case, without a loop of our own
            continue
        for segment in segments:
            value = getattr(segment, need)
            if value is None or (need != "source" and len(value) == 0):
                advice = metric.lacking.get(need, "")  # what to do instead
                raise InputError(f"{metric.info.name} needs {need}; segment {segment.id!r} has none{advice}")
    if runtime is None or runtime.pool is None or not metric.pooled:
        metric.refuse(segments)


def check_lacking(
    metrics: Mapping[str, BaseMetric], lacking: Mapping[str, str], inputs: Sequence[Mapping[str, str]]
) -> None:
    """Refuse a source some of whose segments lack what a metric reads.

    Args:
        metrics: specification -> metric.
        lacking: field of a segment -> id of the first segment without it.
        inputs: the files read, of which the error names the first.
    """
    files = "".join(f" ({entry['path']})" for entry in inputs[:1])
    for spec, metric in metrics.items():
        for need in sorted(metric.info.needs & lacking.keys()):
            advice = metric.lacking.get(need, "")
            raise InputError(f"{spec} needs {need}; segment {lacking[need]!r} has none{files}{advice}")


def leave_out(
    metrics: Mapping[str, BaseMetric], optional: Collection[str], segments: Iterable[Segment]
) -> tuple[dict[str, BaseMetric], list[str]]:
    """The metrics without those of `optional` that cannot score these segments, and a note that names these."""
    kept, left = dict(metrics), []
    held = [*segments] if optional else []
    for name in (name for name in metrics if name in optional):
        try:
            check_needs(metrics[name], held)
        except InputError as error:
            left.append(re.split("[:;]", str(error), maxsplit=1)[0])
            del kept[name]
    return kept, [f"embedded metrics left out: {', '.join(left)}"] if left else []


def scores_of_stats(
    metric: Any,
    segments: Sequence[Segment],
    runtime: Runtime,
    stats: Array,
    flags: Mapping[str, Mask],
    values: Array | None = None,
    finish_parts: FinishParts | None = None,
) -> Scores:
    """Scores of a metric whose `corpus` makes a number of summed statistics.

    Args:
        metric: has `corpus`, a function from totals of shape (..., k) to numbers of shape (...).
        segments: what was scored, n of them.
        runtime: for the signature.
        stats: the statistics of each segment, shape (n, k).
        flags: each of shape (n,).
        values: shape (n,); None makes them by `corpus`, too.
        finish_parts: what makes the parts of the corpus number.
    """
    return Scores(
        signature_of(metric, runtime),
        ids(segments),
        metric.corpus(stats) if values is None else values,
        stats=stats,
        finish=metric.corpus,
        flags=flags,
        higher_is_better=metric.info.higher_is_better,
        finish_parts=finish_parts,
    )


def described(
    spec: str, metric: BaseMetric, signature: Signature, counts: Mapping[str, int], references: Collection[int] = ()
) -> dict[str, Any]:
    """A metric as a result of kind `score` lists it; `references` are the numbers of them that segments have."""
    theirs = metric.peer_signature(references) if references else None
    return {
        "spec": spec,
        "signature": str(signature),
        "higher_is_better": metric.info.higher_is_better,
        "range": [end if math.isfinite(end) else None for end in metric.info.range],
        "flags": counts,
        **({"peer_signature": theirs} if theirs is not None else {}),
    }


# --- Flags of text beyond a model's vocabulary, and of numbers beyond the range of its precision

# Of 39,645 English texts of evaluation sets 0.02 % are above it with the embedded encoder; Chinese ones have 0.65.
LIMIT = 0.1


def unknown(shares: Array) -> Mask:
    """The flag `unknown`: where the share of unknown pieces in a text of the segment is above the limit."""
    return np.asarray(shares > LIMIT, dtype=np.bool_)


def nonfinite(values: Array) -> Mask:
    """The flag `nonfinite`: where a model computed NaN or infinity, as float16 does beyond 65,504.

    Args:
        values: what comes out of the model, shape (n,), or (n, k) with several numbers per segment.
    """
    broken = ~np.isfinite(values)
    return np.asarray(broken.any(axis=1) if broken.ndim == 2 else broken, dtype=np.bool_)


def known(values: Array, shares: Array) -> Array:
    """The values, NaN where no piece of a text is known: any two such texts of equal length look the same.

    Infinity becomes NaN, too: a score is a number or undefined.
    """
    return np.asarray(np.where((shares < 1) & np.isfinite(values), values, np.nan))


# --- How a metric that reads one reference scores several: the reference policy, applied in this one place

Policy = Literal["best", "best_each", "mean", "first"]


def over_references(
    segments: Sequence[Segment],
    policy: Policy,
    score_single: Callable[[Sequence[Segment]], Scores],
    *,
    sums: bool = False,
) -> Scores:
    """Score each segment against each of its references, then fold the scores.

    Args:
        segments: segments with one reference or more.
        policy: `best` takes value and parts of the reference with the best value (the first among equals). `best_each`
            takes the best of the value and of every part on its own, as bert_score does, so that F need not be the
            harmonic mean of the P and R beside it. `mean` takes the mean of each; `first` takes the first reference
            alone.
        score_single: scores segments that have exactly one reference. It is called once, with all (segment, reference)
            pairs.
        sums: under `best`, keep the statistics of the chosen references, from whose sums the corpus number comes;
            otherwise it is the mean of the values.

    Returns:
        Scores of `segments`. A flag is set where it is set for the chosen reference (`best`, `first`), for all
        references, or for any if the score is undefined. Under `best`, `Scores.parts` gains `reference`, the index of
        the chosen one.
    """
    counts = np.array([len(s.references) for s in segments], dtype=np.int64)
    if policy == "first":
        return score_single(
            [s if len(s.references) == 1 else replace(s, references=s.references[:1]) for s in segments]
        )
    if not len(counts) or counts.max() == 1:
        single = score_single(segments)
        first = {"reference": np.zeros(len(segments))} if policy == "best" else {}
        return replace(single, parts={**single.parts, **first})
    single = score_single([replace(s, references=(r,)) for s in segments for r in s.references])
    fold = _Fold(np.concatenate([[0], np.cumsum(counts)[:-1]]), counts, 1.0 if single.higher_is_better else -1.0)
    if policy == "best":
        chosen = fold.argbest(single.values)
        parts = {name: column[chosen] for name, column in single.parts.items()}
        parts["reference"] = (chosen - fold.starts).astype(np.float64)
        return Scores(
            single.signature,
            ids(segments),
            single.values[chosen],
            parts,
            single.stats[chosen] if sums and single.stats is not None else None,
            single.finish if sums else mean_of_defined,
            {name: column[chosen] for name, column in single.flags.items()},
            single.higher_is_better,
        )
    reduce = fold.best if policy == "best_each" else fold.mean
    values = reduce(single.values)
    return Scores(
        single.signature,
        ids(segments),
        values,
        {name: reduce(column) for name, column in single.parts.items()},
        flags={name: fold.flag(column, np.isnan(values)) for name, column in single.flags.items()},
        higher_is_better=single.higher_is_better,
    )


@dataclass(frozen=True)
class _Fold:
    starts: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    sign: float

    def best(self, column: Array) -> Array:
        signed = np.where(np.isnan(column), -np.inf, column * self.sign)
        top = np.maximum.reduceat(signed, self.starts)
        return np.where(np.isneginf(top), np.nan, top * self.sign)

    def argbest(self, column: Array) -> npt.NDArray[np.int64]:
        signed = np.where(np.isnan(column), -np.inf, column * self.sign)
        top = np.repeat(np.maximum.reduceat(signed, self.starts), self.counts)
        places = np.where(signed == top, np.arange(len(column)), len(column))
        return np.minimum.reduceat(places, self.starts)

    def flag(self, column: Mask, undefined: Mask) -> Mask:
        every, any_of = np.logical_and.reduceat(column, self.starts), np.logical_or.reduceat(column, self.starts)
        return np.asarray(every | any_of & undefined, dtype=np.bool_)

    def mean(self, column: Array) -> Array:
        return np.asarray(np.add.reduceat(column, self.starts) / self.counts)
