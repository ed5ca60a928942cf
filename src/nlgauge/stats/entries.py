"""Which entries count? Scores and judgements laid flat, with what is missing settled before anything is computed."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError
from nlgauge.core.options import check_option

Codes = npt.NDArray[np.int64]

NameOf = Callable[[int], str]

MissingPolicy = Literal["refuse", "drop", "worst", "zero"]
PairPolicy = Literal["refuse", "drop", "worst"]


@dataclass(frozen=True)
class Entries:
    """M metrics against one set of judgements over n entries.

    Attributes:
        x: scores, shape (M, n), oriented so that more is better.
        z: judgements, shape (n,); NaN where nobody judged.
        keep: which entries of each metric count, shape (M, n).
        groups: the group of each entry, shape (n,), from 0.
        labels: the name of each group, shape (G,).
        units: what a held-out split must not tear apart: the item of each entry where items are known, else the entry,
            shape (n,).
        systems: the system of each entry, shape (n,); None where systems are not given.
    """

    x: Array
    z: Array
    keep: Mask
    groups: Codes
    labels: tuple[Hashable, ...]
    units: Codes
    systems: Codes | None = None

    def of(self, metrics: npt.NDArray[Any]) -> Entries:
        """The same with some of the metrics."""
        return replace(self, x=self.x[metrics], keep=self.keep[metrics])


def lay_flat(
    x: Array, z: Array, groups: Sequence[Hashable] | None, systems: Sequence[Hashable] | None, averaging: str
) -> Entries:
    """Entries of M vectors (M, n) with labels, or of M grids (M, S, N): rows are systems, columns are items.

    All that are judged count, and scores may be missing there; see `segment_entries`.
    """
    if z.ndim not in (1, 2) or x.shape[1:] != z.shape:
        raise InputError(
            f"scores have shape {x.shape[1:]} and judgements {z.shape}, expected the same: (n,), or (systems, items)"
        )
    n = z.size
    flat_x, flat_z = x.reshape(len(x), n), z.reshape(n)
    judged = np.broadcast_to(~np.isnan(flat_z), flat_x.shape)
    if z.ndim == 2:
        if groups is not None or systems is not None:
            raise InputError(
                "a grid of systems by items takes no groups or systems: its rows and columns say them; or give vectors"
                " with labels"
            )
        rows, columns = np.divmod(np.arange(n), z.shape[1])
        by, size = (rows, z.shape[0]) if averaging == "sys" else (columns, z.shape[1])
        if averaging == "none":
            by, size = np.zeros_like(rows), 1
        return Entries(flat_x, flat_z, judged, by, tuple(range(size)), columns, rows)
    by, labels = codes(groups, n, "groups") if groups is not None else (np.zeros(n, dtype=np.int64), (None,))
    units = by if groups is not None and averaging != "sys" else np.arange(n)
    if averaging == "none":
        by, labels = np.zeros(n, dtype=np.int64), (None,)
    elif groups is None:
        raise InputError(
            f"averaging={averaging!r} needs groups, a label for each entry; or give a grid of systems by items"
        )
    of = codes(systems, n, "systems")[0] if systems is not None else None
    return Entries(flat_x, flat_z, judged, by, labels, units, of)


def oriented(x: Array, higher_is_better: bool | Sequence[bool]) -> Array:
    """Scores oriented so that higher is better, shape (M, ...).

    For example, an error rate is negated; a bad metric keeps its sign.
    """
    up = np.broadcast_to(np.asarray(higher_is_better, dtype=np.bool_), x.shape[:1])
    return np.where(up.reshape(-1, *(1,) * (x.ndim - 1)), x, -x)


def numbers(values: Any, what: str) -> Array:
    """The values as float64, with None read as NaN; infinities are refused."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"{what} are not numbers of one shape; give lists of equal lengths, with None where one is missing"
        ) from None
    if np.isinf(array).any():
        where = tuple(int(i) for i in np.argwhere(np.isinf(array))[0])
        raise InputError(
            f"{what} hold an infinite value at {where}, expected finite numbers; use None or NaN for what could not be"
            " scored"
        )
    return array


def check_vectors(x: Array, z: Array) -> Array:
    """x as float64, refused unless it is as long as z."""
    x = np.asarray(x, dtype=np.float64)
    if x.ndim == 0 or np.ndim(z) == 0 or x.shape[-1] != np.shape(z)[-1]:
        raise InputError(f"vectors have shapes {x.shape} and {np.shape(z)}, expected equal lengths")
    return x


def codes(labels: Sequence[Hashable] | npt.NDArray[Any], n: int, what: str) -> tuple[Codes, tuple[Hashable, ...]]:
    """Whole numbers for labels, in the order of their first appearance, and the distinct labels in that order."""
    listed = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
    if len(listed) != n:
        raise InputError(f"{what} hold {len(listed)} labels for {n} entries, expected one label per entry")
    places = {label: place for place, label in enumerate(dict.fromkeys(listed))}
    if any(label is None or label != label for label in places):
        nameless = next(i for i, label in enumerate(listed) if label is None or label != label)
        raise InputError(f"{what} hold {listed[nameless]} at entry {nameless}, expected a label for every entry")
    return np.fromiter(map(places.__getitem__, listed), dtype=np.int64, count=n), tuple(places)


def namer(shape: tuple[int, ...], ids: Sequence[Hashable] | None) -> NameOf:
    """A function that names an entry of a vector, or of a grid of systems by items laid flat.

    Raises:
        InputError: there is not one id per entry.
    """
    n = math.prod(shape)
    if ids is not None and len(ids) != n:
        raise InputError(f"ids hold {len(ids)} names for {n} entries, expected one per entry (a grid row by row)")

    def name_of(i: int) -> str:
        if ids is not None:
            return f"segment {ids[i]!r}"
        return f"entry {i}" if len(shape) == 1 else "system {}, item {}".format(*divmod(i, shape[1]))

    return name_of


def settle_missing(x: Array, wanted: Mask, missing: str, name_of: NameOf = str) -> tuple[Array, Mask]:
    """Apply a policy to scores that are NaN where one is needed.

    Args:
        x: scores, shape (M, n), oriented so that higher is better.
        wanted: where a score is needed, shape (n,).
        missing: `refuse`; `drop` the entry; fill in the metric's `worst` score; or fill in `zero`.

    Returns:
        The scores after filling, and the entries that count for each metric, shape (M, n).
    """
    check_option("missing", missing, MissingPolicy, error=InputError)
    absent = np.isnan(x) & wanted
    if not absent.any():
        return x, np.broadcast_to(wanted, x.shape)
    if missing == "refuse":
        which = np.flatnonzero(absent.any(axis=0))
        named = ", ".join(name_of(int(i)) for i in which[:3]) + (
            f" and {len(which) - 3} more" if len(which) > 3 else ""
        )
        raise InputError(
            f"a score is missing in {len(which)} of {int(wanted.sum())} entries ({named}); score them, or choose"
            " missing='drop', 'worst' or 'zero' (--missing drop)"
        )
    if missing == "drop":
        return x, wanted & ~absent
    if missing == "zero":
        return np.where(absent, 0.0, x), np.broadcast_to(wanted, x.shape)
    if np.isnan(x).all(axis=1).any():
        raise InputError("missing='worst' takes the lowest score of the metric, but a metric has no score at all")
    return np.where(absent, np.nanmin(x, axis=1, keepdims=True), x), np.broadcast_to(wanted, x.shape)


def segment_entries(laid: Entries, missing: str, name_of: NameOf = str, *, as_given: bool = False) -> Entries:
    """One entry per segment that is judged.

    `as_given` leaves missing scores as NaN, so that the statistic meets them; else see `settle_missing`.
    """
    if as_given:
        return laid
    x, keep = settle_missing(laid.x, ~np.isnan(laid.z), missing, name_of)
    return replace(laid, x=x, keep=keep)


def settle_preferences(better: Array, worse: Array, missing: str) -> tuple[Array, Array]:
    """Apply a policy to pairs with a missing score: `refuse`, `drop` the pair, or count it as lost (`worst`).

    Returns:
        Scores of the better texts, shape (1, n), and of the worse texts, shape (n,), in the place of scores and
        judgements. A NaN among the worse means that the pair does not count; a NaN among the better means that the
        pair is to be refused.
    """
    check_option("missing", missing, PairPolicy, error=InputError)
    absent = np.isnan(better) | np.isnan(worse)
    instead = {"refuse": (np.nan, 0.0), "drop": (0.0, np.nan), "worst": (0.0, 1.0)}[missing]
    return np.where(absent, instead[0], better)[None], np.where(absent, instead[1], worse)


# --- Segments or systems? Means by system, and the entries that a statistic is computed from at either level

SystemScores = Literal["rated", "all"]


def settle_scores(
    laid: Entries, level: str, missing: str, over: str = "rated", name_of: NameOf = str
) -> tuple[Array, Mask]:
    """Scores after the policy for missing ones, and the segments that count for each metric, shape (M, n).

    At level `system`, `over` says which segments are needed, see `system_means`.
    """
    check_option("system_scores", over, SystemScores, error=InputError)
    everywhere = level == "system" and laid.systems is not None and over == "all"
    return settle_missing(
        laid.x, np.ones(len(laid.z), dtype=np.bool_) if everywhere else ~np.isnan(laid.z), missing, name_of
    )


def system_entries(laid: Entries, missing: str, over: str, name_of: NameOf = str) -> Entries:
    """One entry per system and group: the mean over the segments of the system.

    Systems without a judgement or a score do not count.
    """
    if laid.systems is None:
        return segment_entries(laid, missing, name_of)
    x, keep = settle_scores(laid, "system", missing, over, name_of)
    places, of = np.unique(np.stack([laid.groups, laid.systems]), axis=1, return_inverse=True)
    of, n_systems = of.reshape(-1), places.shape[1]
    means, judged = system_means(
        np.stack([without_offset(row) for row in x]), without_offset(laid.z), keep, of, n_systems, over
    )
    kept = ~np.isnan(means) & ~np.isnan(judged)
    return Entries(means, judged, kept, places[0].astype(np.int64), laid.labels, np.arange(n_systems))


def system_means(
    x: Array, z: Array, keep: Mask, systems: Codes, n_systems: int, over: str = "rated"
) -> tuple[Array, Array]:
    """The mean score and the mean judgement of each system.

    Args:
        x, z: scores, shape (M, n), and judgements, shape (n,), NaN where there is none.
        keep: entries whose score counts, shape (M, n).
        systems, n_systems: the system of each entry, shape (n,), and their number S.
        over: `rated` averages scores over the segments that have a judgement, `all` over all segments.

    Returns:
        Shapes (M, S) and (S,); NaN for a system with nothing to average.

    References:
        Deutsch, Dror and Roth (2022), "Re-Examining System-Level Correlations of Automatic Summarization Evaluation
        Metrics", for `all`.
    """
    check_option("system_scores", over, SystemScores, error=InputError)
    rated = ~np.isnan(z)
    counted = keep & rated if over == "rated" else keep
    return np.stack([_means(row, used, systems, n_systems) for row, used in zip(x, counted, strict=True)]), _means(
        z, rated, systems, n_systems
    )


def _means(values: Array, used: Mask, systems: Codes, n_systems: int) -> Array:
    counts = np.bincount(systems[used], minlength=n_systems)
    sums = np.bincount(systems[used], weights=values[used], minlength=n_systems)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(sums / counts)


def without_offset(v: Array) -> Array:
    """Values minus the lowest of them, where that is exact; NaN stays NaN.

    For example, means of 1e9 + 0.1 then lose no digits. The difference is exact for two numbers of one sign that lie
    within a factor of two. Other values keep their offset, which is not large.
    """
    if np.isnan(v).all():
        return v
    low, high = np.nanmin(v), np.nanmax(v)
    sizes = np.abs(low), np.abs(high)
    return v - low if np.sign(low) == np.sign(high) and max(sizes) <= 2 * min(sizes) else v


# --- One coefficient from many groups: the mean of a coefficient per item or system, or one ratio of pooled counts


@dataclass(frozen=True)
class Ratio:
    """A statistic that is a ratio of counts, so that groups can be pooled; all fields have the same shape.

    Attributes:
        numerator: the pairs won, for an accuracy; the pairs won minus the pairs lost, for a Kendall-like statistic.
        denominator: the pairs counted.
        ties: the pairs that only one side ties, however they count.
    """

    numerator: Array
    denominator: Array
    ties: Array

    @property
    def value(self) -> Array:
        """The ratio; NaN where nothing is counted."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.numerator / self.denominator)


Kernel = Callable[..., Array | Ratio]


@dataclass(frozen=True)
class Grouped:
    """A statistic of M metrics in each of G groups.

    Attributes:
        values: the statistic, shape (M, G); NaN where undefined.
        sizes: how many entries count, shape (M, G).
        counts: the counts behind the values, where they are ratios; each field has shape (M, G).
    """

    values: Array
    sizes: npt.NDArray[np.int64]
    counts: Ratio | None


def by_group(kernel: Kernel, entries: Entries, *, smallest: int = 2, options: dict[str, Any] | None = None) -> Grouped:
    """Evaluate a kernel inside each group; groups of the same size are evaluated together.

    Args:
        kernel: maps x of shape (M, g, s) and z of shape (g, s) to values, or a `Ratio`, of shape (M, g).
        entries: scores, judgements and groups.
        smallest: groups with fewer entries are undefined.
        options: keyword arguments of the kernel; an array of shape (M, 1) holds one value per metric.
    """
    n_metrics, n_groups = len(entries.x), len(entries.labels)
    values, sizes = np.full((n_metrics, n_groups), np.nan), np.zeros((n_metrics, n_groups), dtype=np.int64)
    counts = np.zeros((3, n_metrics, n_groups))
    is_ratio = False
    for metrics, keep in same_entries(entries.keep):
        chosen = {k: v[metrics] if isinstance(v, np.ndarray) else v for k, v in (options or {}).items()}
        sizes[metrics] = np.bincount(entries.groups[keep], minlength=n_groups)
        x = entries.x if len(metrics) == n_metrics else entries.x[metrics]
        for groups, index in blocks_of_groups(entries.groups, keep, n_groups):
            if index.shape[1] < smallest:
                continue
            found = kernel(x[:, index], entries.z[index], **chosen)
            where = np.ix_(metrics, groups)
            if isinstance(found, Ratio):
                is_ratio = True
                values[where] = found.value
                counts[:, where[0], where[1]] = found.numerator, found.denominator, found.ties
            else:
                values[where] = found
    return Grouped(values, sizes, Ratio(*counts) if is_ratio else None)


@dataclass(frozen=True)
class Means:
    """The mean over groups of each of M metrics; every field has shape (M,).

    Attributes:
        values: the means; NaN where no group is defined.
        n_used: the number of groups in the mean.
        n_undefined: the number of groups left out: too small, constant on a side, or without a pair.
        n_zeroed: the number of groups in the mean that are undefined and count as 0.
    """

    values: Array
    n_used: npt.NDArray[np.int64]
    n_undefined: npt.NDArray[np.int64]
    n_zeroed: npt.NDArray[np.int64]


def mean_of_groups(grouped: Grouped, *, undefined: str = "skip", common: bool = False) -> Means:
    """The plain mean over the groups with a defined value.

    Args:
        grouped: values by group.
        undefined: `skip` leaves undefined groups out; `zero` counts those with two entries or more as 0.
        common: use only the groups in which every metric is defined, so that all means are over the same groups.
    """
    values = grouped.values
    zeroed = np.isnan(values) & (grouped.sizes >= 2) if undefined == "zero" else np.zeros(values.shape, dtype=np.bool_)
    used = ~np.isnan(values) | zeroed
    if common:
        used = np.broadcast_to(used.all(axis=0), used.shape)
    n_used = used.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(used & ~zeroed, values, 0.0).sum(axis=1) / n_used
    return Means(means, n_used, values.shape[1] - n_used, (used & zeroed).sum(axis=1))


def pool(counts: Ratio) -> Means:
    """One ratio over all groups: the sum of numerators divided by the sum of denominators.

    A group without a pair is undefined.
    """
    total = Ratio(counts.numerator.sum(axis=1), counts.denominator.sum(axis=1), counts.ties.sum(axis=1))
    n_used = (counts.denominator > 0).sum(axis=1)
    return Means(total.value, n_used, counts.denominator.shape[1] - n_used, np.zeros_like(n_used))


def blocks_of_groups(groups: Codes, keep: Mask, n_groups: int) -> Iterator[tuple[Codes, Codes]]:
    """Groups of the same size together: their codes, shape (g,), and the positions of their entries, shape (g, s).

    Groups without entries are left out.
    """
    kept = np.flatnonzero(keep)
    kept = kept[np.argsort(groups[kept], kind="stable")]
    sizes = np.bincount(groups[kept], minlength=n_groups)
    starts = np.cumsum(sizes) - sizes
    for size in np.unique(sizes[sizes > 0]):
        chosen = np.flatnonzero(sizes == size)
        yield chosen, kept[starts[chosen][:, None] + np.arange(size)]


def same_entries(keep: Mask) -> Iterator[tuple[npt.NDArray[np.int64], Mask]]:
    """Metrics that keep the same entries, together: the numbers of the metrics and the mask that they share."""
    seen: dict[bytes, list[int]] = {}
    for m, row in enumerate(keep):
        seen.setdefault(row.tobytes(), []).append(m)
    for metrics in seen.values():
        yield np.array(metrics), keep[metrics[0]]
