"""Weighted sums of metrics, each first brought to a common scale over the pool of the call."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.result import replacing
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.core.signature import signature_of, spec_of
from nlgauge.core.spec import Spec, Sum, parse, weight_text
from nlgauge.metrics.base import Metric, metric, trained_on
from nlgauge.runtime.runtime import Runtime

POOLED = ("minmax", "zscore")


@dataclass(frozen=True)
class Combination:
    """The sum of weight * scaled metric. A metric whose lower values are better enters with its sign turned, so higher is better.

    Attributes:
        terms: (weight, metric).
        norm: `minmax` over the segments of the call, `zscore` likewise, `none`, or `file("bounds.json")` with bounds
            kept from an earlier call.

    References:
        Chen and Eger (2023), "MENLI", section 3, "Combined metrics", and section 6, "Rescaling".
    """

    terms: tuple[tuple[float, Metric], ...]
    norm: str = "minmax"
    info: MetricInfo = field(init=False, compare=False)

    def __post_init__(self) -> None:
        specs = [spec_of(term) for _, term in self.terms]
        for spec in specs:
            if specs.count(spec) > 1:
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
                summary="weighted sum of metrics",
            ),
        )

    @property
    def spec(self) -> str:
        """The specification that rebuilds the sum."""
        return str(Sum(tuple((weight, _parsed(term)) for weight, term in self.terms), self.norm))

    @property
    def pooled(self) -> bool:
        """Whether the other segments of the call are in the score."""
        return self.norm in POOLED or any(getattr(term, "pooled", False) for _, term in self.terms)

    @property
    def trained_on(self) -> tuple[str, ...]:
        """Ids of the perturbations that the model of any term was shown in training."""
        return tuple(dict.fromkeys(name for _, term in self.terms for name in trained_on(term)))

    @property
    def notes(self) -> tuple[str, ...]:
        """That the weights do not add up to 1, which is allowed: values then lie outside 0 to 1."""
        total = sum(weight for weight, _ in self.terms)
        if abs(total - 1) < 1e-9 or self.norm in ("none", "zscore"):
            return ()
        return (f"the weights add up to {total:g}, not to 1; the order of segments is what their ratio makes it",)

    def facts(self, runtime: Runtime) -> Mapping[str, Any]:
        """The terms' own signatures; the digest of a bounds file."""
        facts: dict[str, Any] = {
            "terms": " + ".join(f"{weight_text(weight)}*({signature_of(term, runtime)})" for weight, term in self.terms)
        }
        if self._bounds_file is not None:
            facts["bounds"] = "sha256:" + sha256(_read(self._bounds_file)).hexdigest()[:16]
        return facts

    def score(self, segments: Sequence[Segment], runtime: Runtime) -> Scores:
        """Values of the sum, shape (n,); parts are the terms' own values by their specifications; a flag is up where any term raises it.

        Raises:
            InputError: a metric that is constant over the pool (one segment is such a pool), for which `minmax` and
                `zscore` are undefined.
        """
        from nlgauge.metrics.run import score_segments

        scored = score_segments({spec_of(term): term for _, term in self.terms}, segments, runtime)
        values = np.zeros(len(segments))
        scale: dict[str, tuple[float, float]] = {}
        for (weight, term), (spec, scores) in zip(self.terms, scored.items(), strict=True):
            oriented = scores.values if term.info.higher_is_better else -scores.values
            scale |= scores.scale
            if self.norm != "none":
                zero, width = self._zero_and_width(term, spec, oriented)
                oriented = (oriented - zero) / width
                scale |= {bounds_key(term): (zero, zero + width)} if self.norm in POOLED else {}
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

    def _zero_and_width(self, term: Metric, spec: str, values: Array) -> tuple[float, float]:
        """What becomes 0, and how far from it lies what becomes 1."""
        if self._bounds_file is not None:
            low, high = _bounds(self._bounds_file, bounds_key(term))
            return low, high - low
        return zero_and_width(values, self.norm, spec)

    @cached_property
    def _bounds_file(self) -> str | None:
        return json.loads(self.norm.removeprefix("file(").removesuffix(")")) if self.norm.startswith("file(") else None


def zero_and_width(values: Array, norm: str, name: str) -> tuple[float, float]:
    """What becomes 0 under `minmax` or `zscore` over a pool, and how far from it lies what becomes 1.

    Args:
        values: of the pool, shape (n,); NaN where undefined.
        norm: `minmax` or `zscore`.
        name: of the metric, for the message.

    Raises:
        InputError: the values are all the same.
    """
    low, high = float(np.nanmin(values, initial=np.inf)), float(np.nanmax(values, initial=-np.inf))
    if not low < high:
        raise InputError(
            f"{name} is the same for all {len(values)} segments of the call, so {norm} over them is undefined; score a"
            ' larger pool, or add [norm=none] or [norm=file("bounds.json")] to the sum (--save-norm writes such a'
            " file)"
        )
    if norm == "minmax":
        return low, high - low
    return float(np.nanmean(values)), float(np.nanstd(values))


def combination(parsed: Sum) -> Combination:
    """The metric a parsed sum names."""
    terms = (
        (weight, combination(part) if isinstance(part, Sum) else metric(str(part))) for weight, part in parsed.terms
    )
    return Combination(tuple(terms), parsed.norm)


def bounds_key(term: Metric) -> str:
    """The name of a term in a file of bounds: its specification; of a sum, whatever its own terms are scaled by, unless by nothing."""
    return str(_without_norm(_parsed(term)))


def _without_norm(parsed: Spec | Sum) -> Spec | Sum:
    if isinstance(parsed, Spec):
        return parsed
    return Sum(
        tuple((weight, _without_norm(part)) for weight, part in parsed.terms),
        "none" if parsed.norm == "none" else "minmax",
    )


def check_bounds(metrics: Iterable[Metric]) -> None:
    """Refuse metrics whose scales one file of bounds cannot hold; to be asked before anything is scored.

    Raises:
        InputError: no sum among them is scaled over the pool, or two scale one term in different ways.
    """
    norms: dict[str, str] = {}
    for key, norm in (found for built in metrics for found in _scaled_terms(built)):
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


def save_bounds(path: str, scores: Iterable[Scores]) -> None:
    """Write what became 0 and 1 in each term of sums, for `[norm=file("PATH")]`; whole or not at all."""
    bounds = {key: list(pair) for found in scores for key, pair in found.scale.items()}
    with replacing(path) as file:
        file.write(json.dumps({"bounds": bounds}, ensure_ascii=False, indent=1, allow_nan=False) + "\n")


def _parsed(term: Metric) -> Spec | Sum:
    return parse(spec_of(term))


def _bounds(path: str, spec: str) -> tuple[float, float]:
    content = _read(path)
    try:
        low, high = json.loads(content)["bounds"][spec]
        low, high = float(low), float(high)
    except (ValueError, KeyError, TypeError):
        raise InputError(
            f'{path}: expected {{"bounds": {{"{spec}": [low, high]}}}} with two numbers, in the metric\'s oriented'
            " scale"
        ) from None
    if not low < high:
        raise InputError(f"{path}: bounds of {spec} are {low:g} and {high:g}, expected the lower first")
    return low, high


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot read bounds {path}: {error.strerror}") from None
