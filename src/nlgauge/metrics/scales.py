"""Common scales for the terms of a sum: the values that become 0 and 1, from a pool or from a bounds file."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.core.metric import signature_of, spec_of
from nlgauge.core.result import replacing
from nlgauge.core.scores import Scores
from nlgauge.core.segment import unique
from nlgauge.core.spec import Spec, Sum, parse
from nlgauge.metrics.base import Metric
from nlgauge.runtime.pool import Moments
from nlgauge.runtime.runtime import Runtime

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


def moments(metric: Metric, values: Mapping[str, Array], runtime: Runtime) -> dict[str, Moments]:
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


def bounds_key(term: Metric) -> str:
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
