"""Weighted sums of metrics; each metric is first brought to a common scale over the pool of the call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from nlgauge.core.errors import InputError, SpecError, nearest
from nlgauge.core.metric import BaseMetric, signature_of, spec_of, whole
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.core.spec import Sum, parse, unquote, weight_text
from nlgauge.metrics.base import Metric, notes_of
from nlgauge.metrics.scales import POOLED, bounds_identity, bounds_key, moments, read_bounds, zero_and_width
from nlgauge.metrics.scoring.run import score_segments
from nlgauge.metrics.wrapped import Composed
from nlgauge.runtime.runtime import Runtime


@dataclass(frozen=True)
class Combination(Composed):
    """The sum of weight * scaled metric; higher is better.

    A metric for which lower is better enters with its sign reversed.

    Attributes:
        terms: pairs of weight and metric.
        norm: `minmax` or `zscore` over the segments of the call, `none`, or `file("bounds.json")` with bounds that
            were saved by an earlier call.

    References:
        Chen and Eger (2023), "MENLI", section 5.1.3, "Combined Metrics", and section 6, "Rescaling".
    """

    terms: tuple[tuple[float, Metric], ...]
    norm: str = "minmax"
    info: MetricInfo = field(init=False, compare=False)

    def __post_init__(self) -> None:
        if self.norm not in (*POOLED, "none") and not self.norm.startswith("file("):
            raise SpecError(f"norm is {self.norm!r}{nearest(self.norm, (*POOLED, 'none', 'file(...)'))}")
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
        return tuple(whole(term) for _, term in self.terms)

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
        of_terms = tuple(f"{spec_of(term)}: {note}" for _, term in self.terms for note in notes_of(term))
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
        flags = {
            name: np.logical_or.reduce([s.flags[name] for s in scored.values() if name in s.flags])
            for s in scored.values()
            for name in s.flags
        }
        return Scores(
            signature_of(self, runtime),
            ids(segments),
            values,
            {spec: s.values for spec, s in scored.items()},
            flags=flags,
            scale=scale,
        )

    @cached_property
    def _bounds_file(self) -> str | None:
        if not self.norm.startswith("file("):
            return None
        return unquote(self.norm.removeprefix("file(").removesuffix(")"))


def check_bounds(metrics: Iterable[Metric]) -> None:
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
