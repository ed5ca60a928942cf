"""The protocol of metrics: `info` and `score`, what else one may say of itself, how it is signed and what it needs."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, cast, runtime_checkable

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError
from nlgauge.core.scores import MEANINGS, FinishParts, MetricInfo, Note, Scores, ids, mean_of_defined
from nlgauge.core.segment import Segment
from nlgauge.core.spec import Signature, quote, version

if TYPE_CHECKING:
    from nlgauge.runtime.runtime import Runtime  # this room knows no other


@runtime_checkable
class Metric(Protocol):
    """A frozen dataclass whose fields are its options, with a `score`.

    Beside these it may have any member of `BaseMetric`, which says what holds where it has none, and of those that few
    have (see `said`). A class that inherits from that one need not look further.
    """

    @property
    def info(self) -> MetricInfo:
        """Facts that hold for any options of the metric; most metrics set it on the class."""
        ...

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """One value per segment, in the order of the segments."""
        ...


MetricLike: TypeAlias = str | Metric | Callable[..., Any]  # a specification, a metric, or a function of the user's


@dataclass(frozen=True)
class Documents:
    """Texts of which frequencies are taken.

    Attributes:
        kind: what they are.
        of: what tells texts apart -> the texts, of which each counts once for that; None if each counts by itself.
        texts: the texts.
    """

    kind: str
    of: dict[Hashable, tuple[str, ...]] | None
    texts: list[str]

    def keys(self) -> list[bytes]:
        """Of each text 16 bytes by which it is known in another part of the pool; none if it is like no other."""
        if self.of is None:
            return [b""] * len(self.texts)
        named = (repr((key, place)) for key, texts in self.of.items() for place in range(len(texts)))
        return [blake2b(name.encode(), digest_size=16).digest() for name in named]


class BaseMetric:
    """The base class of metrics: what a metric may say of itself, as it is where a metric says nothing."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def info(self) -> MetricInfo:
            """Facts that hold for any options of the metric."""
            ...

        def score(self, segments: Sequence[Segment], runtime: Any) -> Scores:
            """One value per segment, in the order of the segments."""
            ...

    @property
    def inside(self) -> tuple[BaseMetric, ...]:
        """The metrics that it scores with. They answer for it where it does not answer itself."""
        return ()

    @property
    def pooled(self) -> bool:
        """Whether a score depends on the other segments of the call."""
        return any(one.pooled for one in self.inside)

    @property
    def rounds(self) -> int | None:
        """Of a pooled metric, the number of passes over all segments that must precede scoring.

        Such a metric takes what depends on the pool from `runtime.pool`, where there is one. None: it cannot be scored
        in parts.
        """
        needed = [rounds(one) for one in self.inside]
        known = [n for n in needed if n is not None]
        return max(known, default=None) if len(known) == len(needed) else None

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the reader of its numbers."""
        return tuple(dict.fromkeys(note for one in self.inside for note in one.notes))

    @property
    def lacking(self) -> Mapping[str, str]:
        """Need -> the end of the error about a segment without it: what to do instead."""
        return {need: advice for one in reversed(self.inside) for need, advice in one.lacking.items()}

    def facts(self, runtime: Any) -> Mapping[str, Any]:
        """The values that the options resolve to, for the signature, found without loading a model."""
        return {}

    def documents(self, segments: Sequence[Segment]) -> Sequence[Documents]:
        """Of a pooled metric, the texts that frequencies are taken from, for the signature; no other is asked."""
        return [documents for one in self.inside if one.pooled for documents in one.documents(segments)]

    def counted(self, scores: Scores) -> Scores:
        """Of a cached metric whose corpus number is not the mean, the scores with the statistics for that number.

        They are made from values and parts, which is what the cache keeps.
        """
        return scores

    def refuse(self, segments: Sequence[Segment]) -> None:
        """Raise an `InputError` for segments that it cannot score, before any metric of the call scores."""
        for one in self.inside:
            one.refuse(segments)

    def unread(self, writing: Any) -> str | None:
        """Why it cannot read a text written like this, and what to do instead; None if it can, or does not say."""
        reasons = dict.fromkeys(reason for one in self.inside if (reason := one.unread(writing)) is not None)
        return "; ".join(reasons) or None


class _Foreign:
    """A metric of a class that does not inherit from `BaseMetric`: what it does not say, that one says."""

    __slots__ = ("metric",)
    _usual = BaseMetric()

    def __init__(self, metric: object) -> None:
        self.metric = metric

    def __getattr__(self, name: str) -> Any:
        if name == "metric":  # while a copy is made it is not there yet
            raise AttributeError(name)
        return getattr(self.metric if hasattr(self.metric, name) else self._usual, name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Foreign) and self.metric == other.metric

    def __hash__(self) -> int:
        return hash(self.metric)

    def __repr__(self) -> str:
        return repr(self.metric)


def whole(metric: Any) -> BaseMetric:
    """The metric with the answers of `BaseMetric` for what it does not say.

    A metric of nlgauge is returned as it is. Others need not inherit from `BaseMetric`: one that has `info` and `score`
    alone, or any of the other members beside them, is asked for what it has. Such a metric is wrapped where it comes
    in, by `named`; what is behind that need not ask.
    """
    return cast(BaseMetric, metric if isinstance(metric, BaseMetric | _Foreign) else _Foreign(metric))


def own_notes(metrics: Mapping[str, BaseMetric]) -> list[Note]:
    """The notes of metrics, named by specification; those with equal words stand once in brief."""
    return [Note.of(f"{spec}: {note}", spec, note) for spec, built in metrics.items() for note in built.notes]


def said(metric: Any, member: str) -> list[Any]:
    """What a metric says by a member that few have, or else what each of those inside says by it.

    These are for one reader each, which has the function that asks:

    - `limit`, the largest number of tokens that its model reads of a text: `limit`.
    - `long`, an option to read a text beyond that: `cut_words`.
    - `trained_on`, the ids of perturbations that its model saw in training: `trained_on`.
    - `vectors_of(runtime)`, the encoders it reads and the layers of each: `metrics.run.vectors_of`.
    - `pieces(texts, runtime)`, how many pieces its encoder reads of texts: `scoring.workers.estimate`.
    - `unfit(segments)`, why its number for a system with such texts says little: `scoring.looks.UnfitTexts`.
    - `compares_outputs`, whether it compares the outputs for one input: `audits.preference.pairs_for`.

    Of the metric itself alone are asked: `spec`, the specification that rebuilds it, if that is not its name with the
    options that were changed (`spec_of`); `peer_signature(references)`, which the package prints that it equals
    (`described`); and of a pooled one `scorer(pool, runtime)`, a function that scores parts of the pool one by one
    (`metrics.run`).
    """
    own = getattr(metric, member, None)
    if own is not None:
        return [own]
    return [each for one in getattr(metric, "inside", ()) for each in said(one, member)]


# --- How a metric is signed: its options, and what they resolve to


def signature(metric: Any, facts: Mapping[str, Any] | None = None) -> Signature:
    """The signature of a metric: its options, then facts such as a layer chosen by rule or a digest of weights.

    A fact replaces the option of the same name. An entry that is None, such as an option that is not used, is left out.
    """
    known: dict[str, Any] = {field.name: getattr(metric, field.name) for field in options_of(metric)}
    if whole(metric).pooled:
        known["pool"] = "call"
    known.update(facts or {})
    entries = [(key, show(value)) for key, value in known.items() if value is not None]
    return Signature(spec_of(metric), (("metric", metric.info.name), *entries, ("nlgauge", version("nlgauge"))))


def signature_of(metric: Any, runtime: Any = None) -> Signature:
    """The signature of a metric under a runtime, with the facts of `metric.facts(runtime)`. No model is loaded."""
    return signature(metric, None if runtime is None else whole(metric).facts(runtime))


def spec_of(metric: Any) -> str:
    """The shortest specification of the metric: its name and those options that differ from their defaults."""
    own = getattr(metric, "spec", None)
    if isinstance(own, str):
        return own
    changed = []
    for field in options_of(metric):
        value = getattr(metric, field.name)
        if value != field.default:
            changed.append(f"{field.name}={quote(show(value))}")
    name: str = metric.info.name
    return name + (":" + ",".join(changed) if changed else "")


def options_of(metric: Any) -> list[dataclasses.Field[Any]]:
    """The fields that are options."""
    return [field for field in dataclasses.fields(metric) if field.init]


def show(value: Any) -> str:
    """An option's value as a text: what `quote` puts into a specification, and a signature holds as it is."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value)
    return str(value)


# --- What is asked of a metric, and the check of what segments must have

_ALIKE = ("precision", "recall", "f1")  # parts that run as the metric does
_REFERENCE = "reference"  # the number of the best one


def rounds(metric: BaseMetric) -> int | None:
    """How often all segments are gone through before the metric can score a part of them; None if it never can."""
    return metric.rounds if metric.pooled else 0


def trained_on(metric: Metric) -> tuple[str, ...]:
    """Ids of the perturbations that the metric's model saw in training; a sum has those of the models of all its terms.

    An audit marks these perturbations.
    """
    return tuple(dict.fromkeys(name for own in said(metric, "trained_on") for name in own))


def limit(metric: Metric) -> int | None:
    """The largest number of tokens that its model reads of a text, the least of a sum's; None if there is no limit."""
    return min(said(metric, "limit"), default=None)


def cut_words(metric: BaseMetric) -> str:
    """The fate of a text that is longer than the metric's model reads, for a note."""
    most = limit(metric)
    advice = " (long=windows reads all of it)" if said(metric, "long") else ""
    return MEANINGS["truncated"] + (f" of {most} tokens" if most is not None else "") + advice


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
    metrics: Mapping[str, BaseMetric],
    lacking: Mapping[str, str],
    inputs: Sequence[Mapping[str, str]],
    advice: Callable[[], Mapping[str, str]] = dict,
) -> None:
    """Refuse a source some of whose segments lack what a metric reads.

    Args:
        metrics: specification -> metric.
        lacking: field of a segment -> id of the first segment without it.
        inputs: the files read, of which the error names the first.
        advice: gives what is lacking -> what to do, for the end of the error.
    """
    files = "".join(f" ({entry['path']})" for entry in inputs[:1])
    for spec, metric in metrics.items():
        for need in sorted(metric.info.needs & lacking.keys()):
            told = metric.lacking.get(need, "") + advice().get(need, "")
            raise InputError(f"{spec} needs {need}; segment {lacking[need]!r} has none{files}{told}")


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
    """Scores of a metric whose `corpus` makes a number of summed statistics, of shape (..., k).

    Statistics are of shape (n, k), flags and values of shape (n,); without values `corpus` makes them, too.
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
    peer = getattr(metric, "peer_signature", None)
    is_narrow = dict(signature.entries).get("dtype", "float32") != "float32"  # no package computes so
    theirs = peer(references) if peer is not None and references and not is_narrow else None
    return {
        "spec": spec,
        "signature": str(signature),
        "higher_is_better": metric.info.higher_is_better,
        "range": [end if math.isfinite(end) else None for end in metric.info.range],
        "flags": counts,
        **({"peer_signature": theirs} if theirs is not None else {}),
        **({} if metric.info.judges else {"judges": False}),
    }


# --- Flags of text beyond a model's vocabulary, and of numbers beyond the range of its precision

# Of 39,645 English texts of evaluation sets 0.02 % are above it with the embedded encoder; Chinese ones have 0.65.
LIMIT = 0.1


def unknown(shares: Array) -> Mask:
    """The flag `unknown`: where the share of unknown pieces in a text of the segment is above the limit."""
    return np.asarray(shares > LIMIT, dtype=np.bool_)


def nonfinite(values: Array) -> Mask:
    """The flag `nonfinite`: where a model computed NaN or infinity, as float16 does beyond 65,504.

    Values are what comes out of the model, shape (n,), or (n, k) with several numbers per segment.
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
    starts, sign = np.concatenate([[0], np.cumsum(counts)[:-1]]), 1.0 if single.higher_is_better else -1.0
    if policy == "best":
        chosen = _first_best(single.values * sign, starts, counts)
        parts = {name: column[chosen] for name, column in single.parts.items()}
        parts["reference"] = (chosen - starts).astype(np.float64)
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

    def fold(column: Array) -> Array:
        if policy == "mean":
            return np.asarray(np.add.reduceat(column, starts) / counts)
        top = _highest(column * sign, starts)
        return np.where(np.isneginf(top), np.nan, top * sign)

    values = fold(single.values)
    undefined = np.isnan(values)
    every, any_of = np.logical_and.reduceat, np.logical_or.reduceat
    return Scores(
        single.signature,
        ids(segments),
        values,
        {name: fold(column) for name, column in single.parts.items()},
        flags={
            name: every(column, starts) | any_of(column, starts) & undefined for name, column in single.flags.items()
        },
        higher_is_better=single.higher_is_better,
    )


def _highest(signed: Array, starts: npt.NDArray[np.int64]) -> Array:
    """The highest value of each segment's references, shape (segments,); -inf where all are undefined."""
    return np.asarray(np.maximum.reduceat(np.where(np.isnan(signed), -np.inf, signed), starts))


def _first_best(signed: Array, starts: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The place of the first among the best references of each segment, shape (segments,)."""
    top = np.repeat(_highest(signed, starts), counts)
    is_top = np.where(np.isnan(signed), -np.inf, signed) == top
    return np.minimum.reduceat(np.where(is_top, np.arange(len(signed)), len(signed)), starts)
