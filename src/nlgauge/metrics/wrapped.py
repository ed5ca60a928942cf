"""Metrics made of others: with another policy for references, or summed on a common scale."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError, SpecError, nearest
from nlgauge.core.metric import (
    BaseMetric,
    Documents,
    Policy,
    over_references,
    signature_of,
    spec_of,
    whole,
)
from nlgauge.core.result import replacing
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment, unique
from nlgauge.core.spec import Signature, Spec, Sum, parse, unquote, weight_text
from nlgauge.metrics.run import joined_flags, score_segments
from nlgauge.runtime.pool import Moments
from nlgauge.runtime.runtime import Runtime

# --- A metric inside another: with a different policy for references, or with more needs than its own


@dataclass(frozen=True)
class WrappedMetric(BaseMetric):
    """A metric around another one, which alone uses the cache."""

    metric: BaseMetric

    @property
    def inside(self) -> tuple[BaseMetric, ...]:
        """The metric that it is around."""
        return (self.metric,)

    @property
    def spec(self) -> str:
        """The specification of the metric inside: a wrapper is an option of an evaluation, not of the metric."""
        return spec_of(self.metric)

    def documents(self, segments: Sequence[Segment]) -> Sequence[Documents]:
        """None: scores that the metric inside signs have its own, which are taken from what it is given."""
        return ()

    def _inside(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        return score_segments({"": self.metric}, segments, runtime)[""]


@dataclass(frozen=True)
class ReferencePolicyMetric(WrappedMetric):
    """A metric with a different policy for several references.

    Attributes:
        metric: the metric that scores one reference.
        policy: `mean`, `best`, `best_each` or `first` over single references; or `source`: the source stands for the
            reference, as in factuality sets.
    """

    policy: Policy | Literal["source"]

    @property
    def info(self) -> MetricInfo:
        """The info of the metric inside, except for what it reads."""
        info = self.metric.info
        needs = info.needs - {"references"} | {"source"} if self.policy == "source" else info.needs
        return replace(info, needs=needs, cached=False)

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """One value per segment.

        Corpus numbers are means of these. They are the metric's own where each segment has one reference, or the first
        or the source is taken.
        """
        if self.policy == "source":
            scores = self._single([replace(s, references=(s.source or "",)) for s in segments], runtime)
        else:
            scores = over_references(segments, self.policy, lambda single: self._single(single, runtime))
        inside = scores.signature
        folded = ("references_folded", self.policy)
        return replace(scores, signature=Signature(inside.spec, (*inside.entries[:-1], folded, *inside.entries[-1:])))

    def _single(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        # A segment occurs once per reference here, so its id does not tell the copies apart.
        renamed = [replace(s, id=str(i)) for i, s in enumerate(segments)]
        return replace(self._inside(renamed, runtime), ids=tuple(s.id for s in segments))


@dataclass(frozen=True)
class CompanionMetric(WrappedMetric):
    """A metric that sees only segments that it and another metric can both score, so that their sum can be computed.

    Attributes:
        metric: the metric that scores.
        needs: what either of the two metrics needs.
    """

    needs: frozenset[str]

    @property
    def info(self) -> MetricInfo:
        """The info of the metric inside, except for what it needs."""
        return replace(self.metric.info, needs=self.needs, cached=False)

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """As the metric inside."""
        return self._inside(segments, runtime)


# --- Common scales for the terms of a sum: the values that become 0 and 1, from a pool or from a bounds file

POOLED = ("minmax", "zscore")  # norms that are measured over the segments of the call


def zero_and_width(values: Array | Moments, norm: str, name: str) -> tuple[float, float]:
    """The value that becomes 0 over a pool, and its distance from the value that becomes 1.

    Args:
        values: the values of the pool, shape (n,), NaN where undefined; or how they lie.
        norm: `minmax` or `zscore`.
        name: the name of the metric, for the message.

    Raises:
        InputError: the values are all equal.
    """
    lie = values if isinstance(values, Moments) else Moments.of(values)
    if not lie.low < lie.high:
        raise InputError(
            f"{name} is the same for all {lie.n} segments of the call, so {norm} over them is undefined; score a"
            ' larger pool, or add [norm=none] or [norm=file("bounds.json")] to the sum (--save-norm writes such a'
            " file)"
        )
    return (lie.low, lie.high - lie.low) if norm == "minmax" else (lie.mean, lie.deviation)


def moments(metric: BaseMetric, values: Mapping[str, Array], runtime: Runtime) -> dict[str, Moments]:
    """How values lie that are to be scaled: those of the call, or of the pool that it is a part of.

    Args:
        metric: the metric that scales them.
        values: of each of its terms, each of shape (n,).
        runtime: says whether there is a pool.

    Raises:
        Unsettled: there is one, and it is not known yet how they lie in it.
    """
    if runtime.pool is None:
        return {name: Moments.of(column) for name, column in values.items()}
    own = signature_of(metric, runtime)
    wanted = {f"scale of {name} in {own}": partial(Moments.of, column) for name, column in values.items()}
    return dict(zip(values, runtime.pool.moments(wanted), strict=True))


def bounds_key(term: BaseMetric) -> str:
    """The key of a term in a bounds file: its specification.

    A nested sum is written without its pooled norm, since the file replaces it; `[norm=none]` is kept.
    """
    return str(_without_pooled_norm(parse(spec_of(term))))


def _without_pooled_norm(parsed: Spec | Sum) -> Spec | Sum:
    if isinstance(parsed, Spec):
        return parsed
    terms = tuple((weight, _without_pooled_norm(part)) for weight, part in parsed.terms)
    return Sum(terms, "none" if parsed.norm == "none" else "minmax")


def save_bounds(path: str, scores: Iterable[Scores]) -> None:
    """Write the values that became 0 and 1 in each term of sums, for `[norm=file("PATH")]`; whole or not at all."""
    bounds = {key: list(pair) for s in scores for key, pair in s.scale.items()}
    with replacing(path) as file:
        file.write(json.dumps({"bounds": bounds}, ensure_ascii=False, indent=1, allow_nan=False) + "\n")


def read_bounds(path: str, key: str) -> tuple[float, float]:
    """The values that become 0 and 1 in the term with this key, from a file that `save_bounds` wrote.

    Raises:
        InputError: the file cannot be read, or lacks two rising numbers for the term.
    """
    content = _content(path)
    try:
        low, high = json.loads(content, object_pairs_hook=unique)["bounds"][key]
        low, high = float(low), float(high)
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        raise InputError(
            f'{path}: expected {{"bounds": {{"{key}": [low, high]}}}} with two numbers, on the metric\'s scale turned'
            " so that higher is better"
        ) from None
    if not (low < high and math.isfinite(high - low)):
        raise InputError(
            f"{path}: bounds of {key} are {low:g} and {high:g}, expected two finite numbers, the lower first"
        )
    return low, high


def bounds_identity(path: str) -> str:
    """Digest of a file of bounds, for signatures."""
    return "sha256:" + sha256(_content(path)).hexdigest()[:16]


def _content(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot read bounds {path}: {error.strerror}") from None


# --- Weighted sums of metrics; each metric is first brought to a common scale over the pool of the call


@dataclass(frozen=True)
class Combination(BaseMetric):
    """The sum of weight * scaled metric; higher is better.

    Write it wherever a metric is named: `0.3*nli + 0.7*bertscore`. Terms can have options (`0.5*chrf:word_order=2 +
    0.5*bleu`), can be sums in brackets, and can be columns of a file: `0.2*nli + 0.8*scores:file="theirs.tsv"`.
    `nlgauge sweep` finds the best weight on rated data of yours.

    Metrics have different scales, so each term is scaled first; the choice stands behind the sum, as in `0.3*nli +
    0.7*bertscore[norm=zscore]`. A metric for which lower is better enters with its sign reversed.

    - `minmax`, the default: by its lowest and highest value over the segments of the call, to 0 and 1;
    - `zscore`: to mean 0 and standard deviation 1 over them;
    - `none`: not at all;
    - `file("bounds.json")`: by the two numbers that `--save-norm bounds.json` wrote in an earlier run.

    Under `minmax` and `zscore` a score depends on the other segments of the call, and the signature says so
    (`pool:call`). They are undefined for a single segment, and where a term is the same for all, which is an error: to
    score few segments later, keep the scale of a first run in a file. Its digest is part of the signature.

    Attributes:
        terms: pairs of weight and metric.
        norm: `minmax` or `zscore` over the segments of the call, `none`, or `file("bounds.json")` with bounds that
            were saved by an earlier call.

    References:
        Chen and Eger (2023), "MENLI", section 5.1.3, "Combined Metrics", and section 6, "Rescaling".
    """

    terms: tuple[tuple[float, BaseMetric], ...]
    norm: str = "minmax"
    info: MetricInfo = field(init=False, compare=False)

    def __post_init__(self) -> None:
        if self.norm not in (*POOLED, "none") and not self.norm.startswith("file("):
            raise SpecError(f"norm is {self.norm!r}{nearest(self.norm, (*POOLED, 'none', 'file(...)'))}")
        object.__setattr__(self, "terms", tuple((weight, whole(term)) for weight, term in self.terms))
        for weight, term in self.terms:
            if not (isinstance(weight, int | float | np.number) and np.isfinite(weight)):
                raise SpecError(f"the weight of {spec_of(term)} is {weight!r}, expected a finite number")
        specs = [spec_of(term) for _, term in self.terms]
        for spec, count in Counter(specs).items():
            if count > 1:
                raise SpecError(f"metric {spec!r} stands twice in one sum; add up its weights")
        infos = [term.info for _, term in self.terms]
        object.__setattr__(
            self,
            "info",
            MetricInfo(
                "combination",
                frozenset().union(*(info.needs for info in infos)),
                range=(-np.inf, np.inf),
                copy_is_best=all(info.copy_is_best for info in infos) and all(weight > 0 for weight, _ in self.terms),
                parts={spec: info.higher_is_better for spec, info in zip(specs, infos, strict=True)},
                summary="weighted sum of metrics",
                tasks=frozenset().union(*(info.tasks for info in infos)),
                paper="; ".join(dict.fromkeys(info.paper for info in infos if info.paper)),
            ),
        )

    @property
    def spec(self) -> str:
        """The specification that rebuilds the sum."""
        return str(Sum(tuple((weight, parse(spec_of(term))) for weight, term in self.terms), self.norm))

    @property
    def inside(self) -> tuple[BaseMetric, ...]:
        """The terms."""
        return tuple(term for _, term in self.terms)

    @property
    def pooled(self) -> bool:
        """Whether a score depends on the other segments of the call."""
        return self.norm in POOLED or super().pooled

    @property
    def rounds(self) -> int | None:
        """How often all segments are gone through before a part can be scored: for the terms, then for the scales."""
        of_terms = super().rounds
        return None if of_terms is None else of_terms + (self.norm in POOLED)

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes of the terms, and one if the weights do not add up to 1, so that values lie outside 0 to 1."""
        of_terms = tuple(f"{spec_of(term)}: {note}" for _, term in self.terms for note in term.notes)
        total = sum(weight for weight, _ in self.terms)
        if abs(total - 1) < 1e-9 or self.norm in ("none", "zscore"):
            return of_terms
        ratio = "the order of segments is what their ratio makes it"
        return (*of_terms, f"the weights add up to {total:g}, not to 1; {ratio}")

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The signatures of the terms, and the digest of a bounds file."""
        facts: dict[str, Any] = {
            "terms": " + ".join(f"{weight_text(weight)}*({signature_of(term, runtime)})" for weight, term in self.terms)
        }
        if self._bounds_file is not None:
            for _, term in self.terms:  # bounds that are missing are refused before anything is scored
                read_bounds(self._bounds_file, bounds_key(term))
            facts["bounds"] = bounds_identity(self._bounds_file)
        return facts

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values of the sum, shape (n,).

        The parts are the values of the terms, named by their specifications. A flag is set where any term sets it.

        Raises:
            InputError: a metric is constant over the pool (a pool of one segment always is), so that `minmax` and
                `zscore` are undefined.
        """
        scored = score_segments({spec_of(term): term for _, term in self.terms}, segments, runtime)
        values = np.zeros(len(segments))
        scale: dict[str, tuple[float, float]] = {}
        up = [term.info.higher_is_better for _, term in self.terms]
        turned = {spec: s.values if higher else -s.values for (spec, s), higher in zip(scored.items(), up, strict=True)}
        lie = moments(self, turned, runtime) if self.norm in POOLED else {}
        for (weight, term), (spec, oriented) in zip(self.terms, turned.items(), strict=True):
            scale |= scored[spec].scale
            if self.norm in POOLED:
                zero, width = zero_and_width(lie[spec], self.norm, spec)
                oriented = (oriented - zero) / width
                scale |= {bounds_key(term): (zero, zero + width)}
            elif self._bounds_file is not None:
                low, high = read_bounds(self._bounds_file, bounds_key(term))
                oriented = (oriented - low) / (high - low)
            values = values + weight * oriented
        return Scores(
            signature_of(self, runtime),
            ids(segments),
            values,
            {spec: s.values for spec, s in scored.items()},
            flags=joined_flags(scored),
            scale=scale,
        )

    @cached_property
    def _bounds_file(self) -> str | None:
        if not self.norm.startswith("file("):
            return None
        return unquote(self.norm.removeprefix("file(").removesuffix(")"))


def check_bounds(metrics: Iterable[BaseMetric]) -> None:
    """Refuse metrics whose scales cannot be saved in one bounds file; call it before anything is scored.

    Raises:
        InputError: no sum among them is scaled over the pool, or two sums scale one term in different ways.
    """
    norms: dict[str, str] = {}
    for key, norm in (term for built in metrics for term in _scaled_terms(built)):
        if norms.setdefault(key, norm) != norm:
            raise InputError(
                f"{key} is scaled by {norms[key]} in one sum and by {norm} in another; keep their bounds in two files,"
                " in two runs"
            )
    if not norms:
        raise InputError(
            "no metric is a sum that is scaled over the pool (norm minmax or zscore), so there are no bounds to keep"
        )


def _scaled_terms(built: Any) -> Iterator[tuple[str, str]]:
    if isinstance(built, Combination):
        for _, term in built.terms:
            if built.norm in POOLED:
                yield bounds_key(term), built.norm
            yield from _scaled_terms(term)
