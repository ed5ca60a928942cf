"""Is a change within its allowance? Verdicts on paired differences, their power, and several runs of one item."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.stats.draws import clopper_pearson
from nlgauge.stats.gate_bounds import (
    DRAWS,
    Bets,
    Studentized,
    believed_loss,
    cluster_error,
    clustered,
    items_without_loss,
    studentized,
    tango_bounds,
    tango_statistic,
    unseen_bound,
    unseen_p,
    worst_case_bound,
    worst_case_p,
)
from nlgauge.stats.tests import holm

# --- Several runs of one item: how much is flicker, and which items pass too rarely?


def within_variance(runs: Sequence[Array]) -> Array:
    """The variance of each item's mean that is due to its runs alone, shape (n,); NaN for a single run.

    Args:
        runs: the scores of each item, one array per item.
    """
    return np.array([one.var(ddof=1) / len(one) if len(one) > 1 else math.nan for one in runs])


def flicker(differences: Array, *sides: Sequence[Array]) -> float:
    """The share of the variance of differences that more runs of each item would take away, in [0, 1].

    Args:
        differences: of the means of items, shape (n,).
        sides: the scores of each item, for each of the two systems that has several runs.

    Returns:
        NaN where no item has two runs, or no difference varies.
    """
    known = [found for side in sides if not np.isnan(found := within_variance(side)).all()]
    total = float(np.var(differences, ddof=1)) if len(differences) > 1 else 0.0
    if not known or total <= 0:
        return math.nan
    return min(1.0, sum(float(np.nanmean(found)) for found in known) / total)


def rarely_passing(
    passes: Sequence[int], runs: Sequence[int], demand: float, *, alpha: float = 0.05
) -> npt.NDArray[np.bool_]:
    """The items that pass clearly more rarely than demanded, shape (n,); any sound item is among them with alpha.

    An item that passes 7 of 10 runs where 8 are demanded may be sound: with a true rate of .8 it does so every third
    time. An item is flagged if a Clopper-Pearson bound of its rate, by Holm over all items, is below the demand.

    Args:
        passes: runs that pass, of each item.
        runs: all runs of each item.
        demand: the share of runs that must pass, above 0 and up to 1.
        alpha: the chance that any item is flagged whose true rate is the demand.
    """
    from scipy import special

    if not 0 < demand <= 1:
        raise InputError(f"demand is {demand}, expected a share of runs above 0 and up to 1")
    k, n = np.asarray(passes, dtype=np.float64), np.asarray(runs, dtype=np.float64)
    if k.shape != n.shape or (k > n).any() or (k < 0).any():
        raise InputError("passes and runs do not go together, expected at most as many passes as runs, per item")
    p = np.where(k == n, 1.0, special.betainc(np.maximum(n - k, 1), k + 1, 1 - demand))
    return np.asarray((n > 0) & (holm(p) <= alpha))


# --- What can a gate show? The smallest allowance with which no change passes, by its own rule on differences at hand

POWER = 0.8
FEW = 10  # items or clusters that changed: below this no bound of a mean keeps its level (docs/studies/gate.md)
FEW_GROUPS = 30  # clusters: fewer miss a kind of which one in ten is, such as the long ones, with more than .05
ENOUGH = 100  # changed items from which on the normal curve is as good as the rule (docs/studies/gate.md)
SAMPLES, RESAMPLES = 200, 500  # of no change, each with its mirror image, and of each: a power of .8 within .02
_ABOVE = 1 + 1e-6  # where a bound just passes, the last digit of a p-value would decide
_UNCHANGED = 9  # for each changed item: further ones move nothing but the number by which a sum is divided
_FARTHER, _HALVINGS, _MOST = 1.5, 4, 1e9  # how numbers of items are looked for


@dataclass(frozen=True)
class GatePower:
    """The power of a gate on differences like those at hand.

    Had nothing been lost, each difference might as well have the other sign. So samples without a loss are items (or
    clusters) drawn from those at hand, each with a sign by a coin, and scaled to their standard error; each sample is
    judged by the rule of the gate. On the normal curve, which is right where many items change, an allowance of 2.49
    standard errors passes with power .8 (for alpha .05).

    Attributes:
        values: differences of the items, or of the clusters in units of a mean of all items, shape (n,).
        error: the standard error of their mean.
        alpha: the level of the gate.
        is_rate: whether the rule is that of pass rates.
        is_clustered: whether the values are clusters, of which a few never pass.
        largest: the largest possible loss; None where it has no limit.
        weight: the size of the largest cluster, in mean sizes.
        seed: of the samples.
    """

    values: Array
    error: float
    alpha: float
    is_rate: bool
    is_clustered: bool
    largest: float | None
    weight: float = 1.0
    seed: int = 0

    def smallest(self, n: int | None = None) -> float:
        """The smallest allowance with which no change passes with power .8; infinite where there is none.

        Args:
            n: items, or clusters; by default as many as there are.
        """
        from scipy import special

        n = len(self.values) if n is None else n
        if not self.error > 0 and self._changed.any():  # all differ by the same, or there is one item
            return self.error if self.largest is None or math.isnan(self.error) else float(self._rare(0.0, 0.0, n))
        if self.is_clustered and n < FEW_GROUPS:
            return math.inf
        if self._share * n >= ENOUGH:
            error = self.error * math.sqrt(len(self.values) / n)
            rare = 0.0 if self.largest is None else float(self._rare(-float(special.ndtri(POWER)) * error, error, n))
            return max(self._reach * error, rare)
        needed = np.sort(self._rates(n) if self.is_rate else self._means(n))
        return float(max(needed[math.ceil(POWER * len(needed)) - 1], 0.0)) * _ABOVE

    def needed(self, allow: float) -> int | None:
        """How many items, or clusters, would do: no change passes with power .8; None where no number is known."""
        if not allow > 0:
            return None
        if not self._changed.any():
            return None if self.largest is None else items_without_loss(self.largest, allow, self.alpha, self.weight)
        if not self.error > 0 and (self.largest is None or math.isnan(self.error)):
            return None if math.isnan(self.error) else 1
        errors = min(self._reach * self.error / allow, math.sqrt(_MOST))
        n = max(math.ceil(len(self.values) * errors**2), FEW_GROUPS if self.is_clustered else 1)
        return _least(lambda tried: self.smallest(tried) <= allow, n)

    @property
    def _reach(self) -> float:
        """Standard errors, on the normal curve."""
        from scipy import special

        return float(special.ndtri(1 - self.alpha) + special.ndtri(POWER))

    @cached_property
    def _changed(self) -> Array:
        """Differences that are not 0, scaled so that their standard error around 0 is that of the mean."""
        values = self.values[self.values != 0]
        around = math.sqrt(float(values @ values) * len(self.values) / max(1, len(self.values) - 1)) / len(self.values)
        return np.asarray(values if self.is_rate or not self.error > 0 else values * (self.error / around))

    @property
    def _share(self) -> float:
        return len(self._changed) / len(self.values)

    def _shares(self, rng: np.random.Generator, draws: int) -> Array:
        """Shares of items that change, each as likely as the one at hand makes it; after Jeffreys."""
        k, n = len(self._changed), len(self.values)
        return rng.beta(k + 0.5, n - k + 0.5, draws) if 0 < k < n else np.full(draws, k / n)

    def _rates(self, n: int) -> Array:
        """The allowance with which each sample of n items just passes, by Tango's bound."""
        from scipy import special

        rng = np.random.default_rng(self.seed)
        changed = rng.binomial(n, self._shares(rng, 10 * SAMPLES))
        losses = rng.binomial(changed, 0.5)
        low = tango_bounds(changed - losses, losses, n, float(special.ndtri(1 - self.alpha)))[0]
        return np.where(changed >= FEW, -low, self._at_worst(losses.astype(np.float64), n))

    def _means(self, n: int) -> Array:
        """The same by the bootstrap-t and Student's bound, of which the wider counts; and of the mirror image."""
        from scipy import special

        rng = np.random.default_rng(self.seed)
        k, shares = len(self._changed), self._shares(rng, SAMPLES)
        drawn = min(n, math.ceil((1 + _UNCHANGED) * max(FEW, n * float(shares.max()))))
        is_changed = rng.random((SAMPLES, drawn)) < (shares * (n / drawn))[:, None]
        values = np.zeros((SAMPLES, drawn))
        if k:
            known = self._changed[rng.integers(k, size=(SAMPLES, k))]
            own = np.take_along_axis(known, rng.integers(k, size=(SAMPLES, drawn)), axis=1)
            values = np.where(is_changed, own * rng.choice([-1.0, 1.0], size=(SAMPLES, drawn)), 0.0)
        losing = np.concatenate([(values < 0).sum(axis=1), (values > 0).sum(axis=1)])
        at_worst = self._at_worst(losing.astype(np.float64), n)
        is_few = is_changed.sum(axis=1) < FEW
        if is_few.all():
            return at_worst
        found = studentized(values, draws=max(RESAMPLES, math.ceil(2 / self.alpha)), seed=rng)
        student = -float(special.stdtrit(drawn - 1, self.alpha)) * found.error
        low, high = found.bounds(self.alpha)
        wider = np.concatenate([np.maximum(student - found.mean, -low), np.maximum(student + found.mean, high)])
        most = np.concatenate([believed_loss(values), believed_loss(-values)])
        mean, error = np.concatenate([found.mean, -found.mean]), np.tile(found.error, 2)
        rare = self._rare(mean * (drawn / n), error * (drawn / n), n, most)
        return np.where(np.tile(is_few, 2), at_worst, np.maximum(wider * (drawn / n), rare))

    def _rare(self, mean: Array | float, error: Array | float, n: int, believed: Array | float = math.nan) -> Array:
        """The allowance that means of n items pass, as losses too rare for them let it."""
        most, weight = (believed, 1.0) if self.largest is None else (self.largest, self.weight)
        return -unseen_bound(np.asarray(mean), np.asarray(error), n, np.asarray(most), self.alpha, weight)

    def _at_worst(self, losing: Array, n: int) -> Array:
        """The allowance that the worst case of so many losing items just passes, for each sample."""
        from scipy import special

        if self.largest is None:
            return np.full(len(losing), np.inf)
        beyond = special.betaincinv(losing + 1.0, np.maximum(n - losing, 1.0), 1 - self.alpha)
        share = np.where(losing < n, beyond, 1.0)
        return share * self.weight / (1 - share + share * self.weight) * self.largest


def _least(is_enough: Callable[[int], bool], n: int) -> int | None:
    """The least number from n on that is enough, within some percent; None where none below a thousand million is."""
    short = n - 1
    while n < _MOST and not is_enough(n):
        short, n = n, math.ceil(n * _FARTHER)
    if n >= _MOST:
        return None
    for _ in range(_HALVINGS):
        middle = (short + n) // 2
        if middle in (short, n):
            break
        short, n = (short, middle) if is_enough(middle) else (middle, n)
    return n


# --- Is a paired difference within its allowance? The bounds that suit the scores, and PASS, FAIL or INCONCLUSIVE

Verdict = Literal["PASS", "FAIL", "INCONCLUSIVE"]
PASS, FAIL, INCONCLUSIVE = "PASS", "FAIL", "INCONCLUSIVE"
_SAME = 1e-9  # of the largest score: what differs by less is rounding


@dataclass(frozen=True, kw_only=True)
class Bound:
    """Bounds of the mean difference of paired items, in which below 0 is worse.

    Attributes:
        method: `tango`, `bootstrap-t`, `unseen` (the same, but losses or gains too rare for the sample decide),
            `worst-case`, `betting`, `t` (too few clusters to pass) or `fixed` (these items alone).
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
    differences: Mapping[Any, Array],
    clusters: Sequence[Hashable] | None = None,
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> dict[Any, Studentized]:
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
    most: float | None = None,
    is_sequential: bool = False,
    draws: int = DRAWS,
    seed: int = 0,
    drawn: Studentized | None = None,
    has_power: bool = True,
) -> Bound:
    """Bound the mean of paired differences by the method that keeps its level on them.

    Pass rates get Tango's interval; other scores the bootstrap-t over items or clusters, or Student's bound where that
    is wider, and no PASS that losses too rare for so many items could undo, nor a FAIL that such gains could. If fewer
    than ten items or clusters differ from the others, nothing tells what the others would do: then only the worst case
    lets the mean pass.

    Args:
        differences: new minus old of each item, higher is better, shape (n,); all defined.
        clusters: the cluster of each item, length n; None where items are independent.
        allow: the drop of the mean that is allowed, 0 or more.
        alpha: the chance of a false PASS at a drop equal to `allow`, and that of a false FAIL.
        is_rate: whether the scores are 0 and 1, one run each.
        largest: the most that an item can lose; with `is_sequential` also the most that it can gain. None where there
            is no limit: then as much is believed to be lost as the losses at hand suggest, and none of a few.
        most: the most that an item can gain; None where there is no limit: as much as the gains at hand suggest.
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
    made = _Made(_rounded(values), clusters, allow, alpha, largest, most, draws, seed, drawn, has_power)
    if is_sequential:
        return made.sequential()
    if clusters is not None and made.n_units < FEW_GROUPS:
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
    return n_units >= (FEW_GROUPS if is_clustered else 2)


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
    most: float | None
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
        error = math.sqrt(max(gains + losses - (gains - losses) ** 2 / n, 0.0)) / n
        # The normal curve is too sure of rare losses, which have to be clear by Student's bound, too.
        student = self._student(error * math.sqrt(n / max(n - 1, 1)))
        high, p_fail = max(high, student.high), max(float(special.ndtr(at)), student.p_fail)
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
        rare = self._unseen(error, sums / sizes.mean())
        no_gain = replace(wider, high=max(wider.high, rare.high), p_fail=max(wider.p_fail, rare.p_fail))
        if self._apart_from(self.common).sum() < FEW:
            return self._at_worst(self._bound("bootstrap-t", error, no_gain), self.largest)
        ends = replace(no_gain, low=min(wider.low, rare.low), p_pass=max(wider.p_pass, rare.p_pass))
        is_lost = float(self.values.mean()) < -self.allow
        decides = ends.high > wider.high if is_lost else ends.low < wider.low
        return self._bound("unseen" if decides else "bootstrap-t", error, ends)

    def few_clusters(self) -> Bound:
        sums, sizes = self.sums
        if len(sizes) < 2:
            return self._bound("t", math.nan, _NOTHING_KNOWN)
        error = float(cluster_error(sums[None], sizes)[0])
        known, rare = self._student(error), self._unseen(error, sums / sizes.mean())
        high, p_fail = max(known.high, rare.high), max(known.p_fail, rare.p_fail)
        return self._bound("t", error, _Ends(math.nan, high, 1.0, p_fail))

    def sequential(self) -> Bound:
        if self.largest is None:
            raise InputError("bets need limits, and the metric has none; name its --scale LOW:HIGH (scale=(LOW, HIGH))")
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
        """Bounds that reckon with losses and gains too rare to be among the values, in units of a mean of all items."""
        n, mean, ends = len(values), float(self.values.mean()), []
        for sign, limit in ((1, self.largest), (-1, self.most)):
            most, weight = (float(believed_loss(sign * values)), 1.0) if limit is None else (limit, self.weight)
            end = unseen_bound(np.array(sign * mean), np.array(error), n, np.array(most), self.alpha, weight)
            p = unseen_p(sign * mean, error, n, most, sign * -self.allow, weight)
            ends.append((sign * float(end), p) if most > 0 else (math.inf * sign, 0.0))
        (low, p_pass), (high, p_fail) = ends
        return _Ends(low, high, p_pass, p_fail)

    def _at_worst(self, bound: Bound, largest: float | None) -> Bound:
        """The same with the lower bound of the worst case."""
        if largest is None:
            return replace(bound, method="worst-case", low=math.nan, p_pass=1.0)
        sums, sizes = self.sums
        common = self.common
        is_losing = (sums / sizes < common) & self._apart_from(common)
        losing, others = int(is_losing.sum()), sizes[~is_losing]
        # Beside the clusters that did not lose: a mean of all would take those that did for smaller than they are.
        weight = float(sizes.max() / others.mean()) if len(others) else 1.0
        low = worst_case_bound(losing, len(sums), largest, self.alpha, common=common, weight=weight)
        p = worst_case_p(losing, len(sums), largest, -self.allow, common=common, weight=weight)
        made = replace(bound, method="worst-case", low=low, p_pass=p)
        if not common:
            return made
        needed = items_without_loss(largest + common, self.allow + common, self.alpha, self.weight)
        size = len(self.values) / len(sums)
        return replace(made, smallest_drop=math.nan, items_needed=None if needed is None else math.ceil(needed * size))

    def _bound(self, method: str, error: float, ends: _Ends) -> Bound:
        sums, sizes = self.sums
        n, size, delta = len(self.values), float(sizes.mean()), float(self.values.mean())
        is_rate, is_clustered = method == "tango", self.clusters is not None
        largest = 1.0 if is_rate else self.largest
        smallest, units = math.nan, None
        if self.has_power:
            power = GatePower(sums / size, error, self.alpha, is_rate, is_clustered, largest, self.weight, self.seed)
            smallest, units = power.smallest(), power.needed(self.allow)
        return Bound(
            method=method,
            delta=delta,
            error=error,
            # Bets may have been won before the mean turned; no claim is made that the mean itself contradicts.
            low=min(ends.low, delta) if math.isfinite(ends.low) else math.nan,
            high=max(ends.high, delta) if math.isfinite(ends.high) else math.nan,
            p_pass=ends.p_pass if delta > -self.allow else 1.0,
            p_fail=ends.p_fail if delta < -self.allow else 1.0,
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


# --- Is a mean surely above a number? Bounds of one system's mean score, by the methods of paired differences


def bound_level(
    scores: Array,
    value: float,
    clusters: Sequence[Hashable] | None = None,
    *,
    alpha: float = 0.05,
    is_rate: bool = False,
    least: float = -math.inf,
    best: float = math.inf,
) -> Bound:
    """Bound a mean score, of which PASS says that it is above `value`.

    A pass rate gets the interval of Clopper and Pearson. Other scores are differences from their commonest value, so
    that scores which are nearly all alike are not taken for certain.

    Args:
        scores: of each item, higher is better, shape (n,); all defined.
        value: the number.
        clusters: the cluster of each item, length n; None where items are independent.
        alpha: the chance of a false PASS, and of a false FAIL, where the mean is equal to `value`.
        is_rate: whether the scores are 0 and 1, one run each.
        least, best: the lowest and the highest possible score.

    Returns:
        `delta`, `low` and `high` are the mean and its bounds; `allow` has no meaning.

    Raises:
        InputError: there is no score.
    """
    known = np.asarray(scores, dtype=np.float64)
    if is_rate and clusters is None and len(known):
        return _rate(known, value, alpha)
    values, counts = np.unique(known, return_counts=True)
    common = float(values[counts.argmax()]) if len(values) else 0.0
    centre = max(common, value)
    found = bound_difference(
        known - centre,
        clusters,
        allow=centre - value,
        alpha=alpha,
        largest=centre - least if math.isfinite(least) and centre > least else None,
        most=best - centre if math.isfinite(best) and best > centre else None,
    )
    mean = float(known.mean())
    return replace(
        found,
        delta=mean,
        low=found.low + centre,
        high=found.high + centre,
        items_needed=found.items_needed if found.method == "worst-case" else _needed(found, mean - value),
    )


def _needed(found: Bound, above: float) -> int | None:
    """The items with which a mean so far above is seen with power .8."""
    if not (above > 0 and math.isfinite(found.smallest_drop)):
        return None
    return max(1, math.ceil(found.n * (found.smallest_drop / above) ** 2))


def _rate(known: Array, value: float, alpha: float) -> Bound:
    from scipy import special

    n, wins = len(known), int(known.sum())
    low, high = clopper_pearson(wins, n, 1 - 2 * alpha)
    share = min(1.0, max(0.0, value))
    rate = wins / n
    error = math.sqrt(rate * (1 - rate) / n)
    found = Bound(
        method="clopper-pearson",
        delta=rate,
        error=error,
        low=low,
        high=high,
        p_pass=1.0 if wins == 0 else float(special.betainc(wins, n - wins + 1, share)),
        p_fail=1.0 if wins == n else float(special.betainc(n - wins, wins + 1, 1 - share)),
        allow=0.0,
        alpha=alpha,
        n=n,
        n_changed=n,
        n_clusters=None,
        smallest_drop=float(special.ndtri(1 - alpha) + special.ndtri(0.8)) * error,
        items_needed=None,
    )
    if wins == n and 0 < value < 1:  # so many passes in a row are rare enough
        return replace(found, items_needed=math.ceil(math.log(alpha) / math.log(value)))
    return replace(found, items_needed=_needed(found, rate - value))
