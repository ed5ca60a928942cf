"""Is a paired difference within its allowance? The bounds that suit the scores, and PASS, FAIL or INCONCLUSIVE."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.stats.differences.multiplicity import holm
from nlgauge.stats.gates.betting import Bets
from nlgauge.stats.gates.power import FEW, POWER, Power
from nlgauge.stats.gates.repeats import within_variance
from nlgauge.stats.gates.studentized import DRAWS, Studentized, cluster_error, clustered, studentized
from nlgauge.stats.gates.tango import tango_bounds, tango_statistic
from nlgauge.stats.gates.worst import (
    believed_loss,
    items_without_loss,
    unseen_bound,
    unseen_p,
    worst_case_bound,
    worst_case_p,
)
from nlgauge.stats.shares import clopper_pearson

Verdict = Literal["PASS", "FAIL", "INCONCLUSIVE"]
PASS, FAIL, INCONCLUSIVE = "PASS", "FAIL", "INCONCLUSIVE"
_SAME = 1e-9  # of the largest score: what differs by less is rounding


@dataclass(frozen=True, kw_only=True)
class Bound:
    """Bounds of the mean difference of paired items, in which below 0 is worse.

    Attributes:
        method: `tango`, `bootstrap-t`, `unseen` (the same, but losses too rare for the sample decide the lower bound),
            `worst-case`, `betting`, `t` (few clusters) or `fixed` (these items alone).
        delta: the mean difference.
        error: its standard error.
        low, high: one-sided bounds, each of level 1 - alpha; NaN where nothing bounds it.
        p_pass: p-value of the claim that the true mean is above minus the allowance.
        p_fail: p-value of the claim that it is below.
        allow, alpha: the allowance, and the level of each claim.
        n, n_changed: items, and those whose scores differ.
        n_clusters: clusters; None where items are independent.
        smallest_drop: the smallest allowance with which no change would pass with power .8: a drop as large is told
            from none. NaN where nothing would pass, or where it is not known.
        items_needed: items with which no change would pass with power .8; None where no number is enough or known.
    """

    method: str
    delta: float
    error: float
    low: float
    high: float
    p_pass: float
    p_fail: float
    allow: float
    alpha: float
    n: int
    n_changed: int
    n_clusters: int | None
    smallest_drop: float
    items_needed: int | None

    @property
    def verdict(self) -> Verdict:
        """PASS if the lower bound is above minus the allowance, FAIL if the upper bound is below it."""
        return verdict(self.p_pass, self.p_fail, self.alpha)


def verdict(p_pass: float, p_fail: float, alpha: float) -> Verdict:
    """The verdict on two claims, of which at most one can be shown."""
    return "FAIL" if p_fail <= alpha else "PASS" if p_pass <= alpha else "INCONCLUSIVE"


def with_holm(bounds: Sequence[Bound]) -> list[Bound]:
    """Bounds of several metrics of which any may fail a gate: p-values of FAIL are adjusted after Holm.

    Those of PASS stay: a gate passes only if all metrics do, and then one of them would have to pass wrongly that is
    judged at alpha itself.

    References:
        Berger (1982), "Multiparameter Hypothesis Testing and Acceptance Sampling", for the intersection.
    """
    fair = holm(np.array([one.p_fail for one in bounds], dtype=np.float64))
    return [replace(one, p_fail=float(p)) for one, p in zip(bounds, fair, strict=True)]


def drawn_together(
    differences: Mapping[str, Array],
    clusters: Sequence[Hashable] | None = None,
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> dict[str, Studentized]:
    """The resamples of several metrics on the same items, for `bound_difference`: to draw items takes most of the time.

    Args:
        differences: name -> differences of the items, shape (n,); all defined.
        clusters, draws, seed: as for `bound_difference`.
    """
    if not differences:
        return {}
    table = np.stack([_rounded(values) for values in differences.values()])  # (R, n)
    found = studentized(table, clusters, draws=draws, seed=seed)
    return {name: found.of(place) for place, name in enumerate(differences)}


def bound_difference(
    differences: Array,
    clusters: Sequence[Hashable] | None = None,
    *,
    allow: float,
    alpha: float = 0.05,
    is_rate: bool = False,
    largest: float | None = None,
    is_sequential: bool = False,
    draws: int = DRAWS,
    seed: int = 0,
    drawn: Studentized | None = None,
    has_power: bool = True,
) -> Bound:
    """Bound the mean of paired differences by the method that keeps its level on them.

    Pass rates get Tango's interval; other scores the bootstrap-t over items or clusters, or Student's bound where that
    is wider, and no PASS that a loss too rare for so many items could undo. If fewer than ten items or clusters differ
    from the others, nothing tells what the others would do: then only the worst case lets the mean pass.

    Args:
        differences: new minus old of each item, higher is better, shape (n,); all defined.
        clusters: the cluster of each item, length n; None where items are independent.
        allow: the drop of the mean that is allowed, 0 or more.
        alpha: the chance of a false PASS at a drop equal to `allow`, and that of a false FAIL.
        is_rate: whether the scores are 0 and 1, one run each.
        largest: the most that an item can lose; with `is_sequential` also the most that it can gain. None where there
            is no limit: then as much is believed to be lost as the losses at hand suggest, and none of a few.
        is_sequential: whether one may look after each item, or cluster; in the order of the items.
        draws: resamples.
        seed: of the resamples.
        drawn: the resamples of these differences by `drawn_together`, where there are any.
        has_power: whether to find the smallest drop and the items needed, too, which takes longer than the verdict.

    Raises:
        InputError: there is no item, or a number is out of its range.
    """
    values = np.asarray(differences, dtype=np.float64)
    _check(values, allow, alpha)
    made = _Made(_rounded(values), clusters, allow, alpha, largest, draws, seed, drawn, has_power)
    if is_sequential:
        return made.sequential()
    if clusters is not None and made.n_units < FEW:
        return made.few_clusters()
    if is_rate and clusters is None:
        return made.rate()
    return made.mean()


def bound_fixed(differences: Array, *sides: Sequence[Array], allow: float, alpha: float = 0.05) -> Bound:
    """Bound the mean difference of these very items, of which nothing is open but what further runs would give.

    Args:
        differences: of the means of items, below 0 is worse, shape (n,); all defined.
        sides: the scores of the runs of each item, for each side; a side with one run of each item is taken as it is.
        allow, alpha: as in `bound_difference`.
    """
    values = np.asarray(differences, dtype=np.float64)
    _check(values, allow, alpha)
    within = [np.nan_to_num(within_variance(side)) for side in sides]
    free = sum(len(runs) - 1 for side in sides for runs in side)
    error = math.sqrt(sum(float(one.sum()) for one in within)) / len(values)
    values = _rounded(values)
    delta = float(values.mean())
    apart = delta + allow
    if error > 0:
        from scipy import special

        reach = -float(special.stdtrit(free, alpha)) * error
        p_fail = float(special.stdtr(free, apart / error))
        p_pass, drop = 1 - p_fail, reach + float(special.ndtri(POWER)) * error
    else:
        is_kept = apart >= -_SAME * max(allow, abs(delta))
        reach, drop, p_pass, p_fail = 0.0, 0.0, float(not is_kept), float(is_kept)
    return Bound(
        method="fixed",
        delta=delta,
        error=error,
        low=delta - reach,
        high=delta + reach,
        p_pass=p_pass,
        p_fail=p_fail,
        allow=allow,
        alpha=alpha,
        n=len(values),
        n_changed=int((values != 0).sum()),
        n_clusters=None,
        smallest_drop=drop,
        items_needed=None,
    )


def needs_draws(n_units: int, is_rate: bool, is_clustered: bool, is_sequential: bool) -> bool:
    """Whether `bound_difference` resamples so many items or clusters."""
    if is_sequential or (is_rate and not is_clustered):
        return False
    return n_units >= (FEW if is_clustered else 2)


def _rounded(values: Array) -> Array:
    """Differences without those that are rounding."""
    return np.where(np.abs(values) <= _SAME * np.abs(values).max(), 0.0, values)


def _check(values: Array, allow: float, alpha: float) -> None:
    if values.ndim != 1 or not len(values):
        raise InputError("there is no item with scores on both sides, expected at least one")
    if not np.isfinite(values).all():
        raise InputError("a difference is not finite; leave undefined items out first")
    if not (allow >= 0 and math.isfinite(allow)):
        raise InputError(f"allow is {allow}, expected a drop of 0 or more")
    if not 0 < alpha < 0.5:
        raise InputError(f"alpha is {alpha}, expected a share between 0 and 0.5 such as 0.05")


@dataclass(frozen=True)
class _Made:
    """The differences, and one method of bounds for each case."""

    values: Array
    clusters: Sequence[Hashable] | None
    allow: float
    alpha: float
    largest: float | None
    draws: int
    seed: int
    drawn: Studentized | None
    has_power: bool

    @property
    def sums(self) -> tuple[Array, Array]:
        sums, sizes = clustered(self.values, self.clusters)
        return sums[0], sizes

    @property
    def n_units(self) -> int:
        return len(self.sums[1])

    @property
    def weight(self) -> float:
        """The size of the largest cluster, in mean sizes."""
        _, sizes = self.sums
        return float(sizes.max() / sizes.mean())

    @property
    def common(self) -> float:
        """The difference that more than half of the items, or clusters, have; 0 where there is none, or no limit."""
        sums, sizes = self.sums
        middle = float(np.median(sums / sizes))
        is_shared = self.largest is not None and 2 * self._apart_from(middle).sum() < len(sums)
        return middle if is_shared else 0.0

    def _apart_from(self, value: float) -> npt.NDArray[np.bool_]:
        sums, sizes = self.sums
        return np.asarray(np.abs(sums / sizes - value) > _SAME * np.abs(self.values).max())

    def rate(self) -> Bound:
        from scipy import special

        gains, losses, n = int((self.values > 0).sum()), int((self.values < 0).sum()), len(self.values)
        z = float(special.ndtri(1 - self.alpha))
        low, high = (float(end) for end in tango_bounds(gains, losses, n, z))
        at = float(tango_statistic(gains, losses, n, -self.allow))
        net = max(losses - gains, 0)
        # The normal curve is too sure of rare losses: the net loss must be clear by the binomial, too.
        high = max(high, -clopper_pearson(net, n, 1 - 2 * self.alpha)[0])
        p_fail = max(float(special.ndtr(at)), 1.0 if net == 0 else float(special.betainc(net, n - net + 1, self.allow)))
        error = math.sqrt(max(gains + losses - (gains - losses) ** 2 / n, 0.0)) / n
        made = self._bound("tango", error, _Ends(low, high, float(special.ndtr(-at)), p_fail))
        return made if gains + losses >= FEW else self._at_worst(made, largest=1.0)

    def mean(self) -> Bound:
        sums, sizes = self.sums
        if len(sizes) < 2:
            return self._at_worst(self._bound("worst-case", math.nan, _NOTHING_KNOWN), self.largest)
        found = self.drawn or studentized(self.values, self.clusters, draws=self.draws, seed=self.seed)
        low, high = (float(end[0]) for end in found.bounds(self.alpha))
        error = float(found.error[0])
        student = self._student(error)
        # With some twenty changes that are no more skewed than chance makes them, resampling alone is too sure.
        wider = _Ends(
            min(low, student.low),
            max(high, student.high),
            max(float(found.p_above(-self.allow)[0]), student.p_pass),
            max(float(found.p_below(-self.allow)[0]), student.p_fail),
        )
        if self._apart_from(self.common).sum() < FEW:
            return self._at_worst(self._bound("bootstrap-t", error, wider), self.largest)
        rare = self._unseen(error, sums / sizes.mean())
        method = "unseen" if rare.low < wider.low else "bootstrap-t"
        ends = replace(wider, low=min(wider.low, rare.low), p_pass=max(wider.p_pass, rare.p_pass))
        return self._bound(method, error, ends)

    def few_clusters(self) -> Bound:
        sums, sizes = self.sums
        if len(sizes) < 2:
            return self._bound("t", math.nan, _NOTHING_KNOWN)
        error = float(cluster_error(sums[None], sizes)[0])
        return self._bound("t", error, replace(self._student(error), low=math.nan, p_pass=1.0))

    def sequential(self) -> Bound:
        if self.largest is None:
            raise InputError("bets need the largest possible difference, and the metric has no limits")
        sums, sizes = self.sums
        bets = Bets.on(sums / sizes, self.largest, sizes)
        p = bets.p_above(-self.allow, self.alpha), bets.p_below(-self.allow, self.alpha)
        error = float(cluster_error(sums[None], sizes)[0])
        made = self._bound("betting", error, _Ends(*bets.bounds(self.alpha), *p))
        return replace(made, smallest_drop=math.nan, items_needed=None)  # which depend on their order

    def _student(self, error: float) -> _Ends:
        """Student's bounds; where all differences are alike, the mean."""
        from scipy import special

        delta, free = float(self.values.mean()), self.n_units - 1
        if not error > 0:
            apart = delta + self.allow
            return _Ends(delta, delta, 0.0 if apart > 0 else 1.0, 0.0 if apart < 0 else 1.0)
        at, reach = (delta + self.allow) / error, -float(special.stdtrit(free, self.alpha)) * error
        return _Ends(delta - reach, delta + reach, float(special.stdtr(free, -at)), float(special.stdtr(free, at)))

    def _unseen(self, error: float, values: Array) -> _Ends:
        """Bounds that reckon with losses too rare to be among the values, which are in units of a mean of all items."""
        largest, weight = self.largest, self.weight
        if largest is None:
            largest, weight = float(believed_loss(values)), 1.0
        n, mean = len(values), float(self.values.mean())
        low = float(unseen_bound(np.array(mean), np.array(error), n, np.array(largest), self.alpha, weight))
        return _Ends(low, math.nan, unseen_p(mean, error, n, largest, -self.allow, weight), 1.0)

    def _at_worst(self, bound: Bound, largest: float | None) -> Bound:
        """The same with the lower bound of the worst case."""
        if largest is None:
            return replace(bound, method="worst-case", low=math.nan, p_pass=1.0)
        sums, sizes = self.sums
        common = self.common
        losing = int(((sums / sizes < common) & self._apart_from(common)).sum())
        low = worst_case_bound(losing, len(sums), largest, self.alpha, common=common, weight=self.weight)
        p = worst_case_p(losing, len(sums), largest, -self.allow, common=common, weight=self.weight)
        made = replace(bound, method="worst-case", low=low, p_pass=p)
        if not common:
            return made
        needed = items_without_loss(largest + common, self.allow + common, self.alpha, self.weight)
        size = len(self.values) / len(sums)
        return replace(made, smallest_drop=math.nan, items_needed=None if needed is None else math.ceil(needed * size))

    def _bound(self, method: str, error: float, ends: _Ends) -> Bound:
        sums, sizes = self.sums
        n, size = len(self.values), float(sizes.mean())
        is_rate, is_clustered = method == "tango", self.clusters is not None
        largest = 1.0 if is_rate else self.largest
        smallest, units = math.nan, None
        if self.has_power:
            power = Power(sums / size, error, self.alpha, is_rate, is_clustered, largest, self.weight, self.seed)
            smallest, units = power.smallest(), power.needed(self.allow)
        return Bound(
            method=method,
            delta=float(self.values.mean()),
            error=error,
            low=ends.low if math.isfinite(ends.low) else math.nan,
            high=ends.high if math.isfinite(ends.high) else math.nan,
            p_pass=ends.p_pass,
            p_fail=ends.p_fail,
            allow=self.allow,
            alpha=self.alpha,
            n=n,
            n_changed=int((self.values != 0).sum()),
            n_clusters=None if self.clusters is None else self.n_units,
            smallest_drop=smallest if math.isfinite(smallest) else math.nan,
            items_needed=None if units is None else math.ceil(units * size),
        )


@dataclass(frozen=True)
class _Ends:
    """Bounds of a mean, and the p-values of both claims."""

    low: float
    high: float
    p_pass: float
    p_fail: float


_NOTHING_KNOWN = _Ends(math.nan, math.nan, 1.0, 1.0)
