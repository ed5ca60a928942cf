"""Which metric is better? Each pair of metrics is tested on the judgements of a group, or on the mean over groups."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError, nearest
from nlgauge.metaeval.frames import Frame
from nlgauge.metaeval.intervals import repeats
from nlgauge.metaeval.measure import (
    Measure,
    as_averaged,
    as_pearson,
    coefficient_of,
    has_epsilon,
    item_ratios,
    pairs_of_frame,
    pooled_over_items,
)
from nlgauge.stats.correlate import Correlation, statistic
from nlgauge.stats.draws import Averaging, Seed, generator
from nlgauge.stats.power import simulated_power
from nlgauge.stats.resampling import (
    Resampled,
    acc_eq_test,
    compare_resampled,
    item_swap_test,
    mean_resampled,
    permutation_test,
    resample_grid,
    resample_items,
    soft_accuracy_test,
)
from nlgauge.stats.swaps import GeneraliseTo
from nlgauge.stats.tests import Alternative, Compat, MetricComparison, mcnemar_test, williams_test

POPULATIONS: Mapping[str, GeneraliseTo] = {"perm_both": "both", "perm_inputs": "inputs", "perm_systems": "systems"}
ABOUT = {
    "auto": (
        "perm_systems at level system; below it perm_both, item_swap for accuracies with ties and Kendall-like"
        " statistics, mcnemar for preference_accuracy"
    ),
    "williams": "Williams' test of two Pearson correlations, segments (or systems) taken as independent",
    "perm_both": "every score trades places on its own; new items for these systems",
    "perm_inputs": "whole items trade places; new items for these systems",
    "perm_systems": "whole systems trade places; new systems on these items",
    "item_swap": (
        "values of whole items trade places; any statistic that is averaged over items or pools their pairs; new items"
        " for these systems"
    ),
    "bootstrap": "items drawn with replacement; new items for these systems",
    "mcnemar": "exact test on the pairs that one metric alone gets right",
}
TESTS = tuple(ABOUT)
_OF_WHOLE_ITEMS = ("perm_inputs", "bootstrap")  # tests that keep the differences within an item


@dataclass(frozen=True)
class MetricTest:
    """The test to run between metrics.

    Attributes:
        test: one of `TESTS`.
        alternative: `greater` or `two-sided`.
        draws: the number of permutations.
        seed: the seed of the permutations.
        compat: `mt-metrics-eval`, `nlpstats` or None.
        advance: called with the number of pairs of metrics that were tested.
    """

    test: str
    alternative: Alternative = "greater"
    draws: int = 1000
    seed: int = 0
    compat: Compat | None = None
    advance: Callable[[int], None] = field(default=lambda pairs: None, compare=False)


@dataclass(frozen=True)
class _Comparison:
    """The input of a test: a frame in which higher scores are better, and the values of the metrics on it."""

    frame: Frame
    found: Sequence[Correlation]
    how: Measure
    asked: MetricTest


def check_test(name: str) -> None:
    """Refuse an unknown test; the error gives the nearest known name."""
    if name not in TESTS:
        raise InputError(f"unknown test {name!r}{nearest(name, TESTS)}")


def usual_test(stat: str, level: str, averaging: str, epsilon: bool = False) -> str | None:
    """The test that `auto` stands for; None where a statistic has no test, or none with an epsilon.

    For example, at system level whole systems are swapped, because the claim is about systems not seen yet. Below
    system level every score is swapped on its own; for an accuracy with ties, whole items are.
    """
    kind = statistic(stat).kind
    if kind == "differences":
        return "perm_inputs"
    if kind == "difference_pairs":
        return None
    if stat == "preference_accuracy" and averaging == "none":
        return "mcnemar"
    if level == "system" or kind == "soft":
        return "perm_systems"
    if averaging == "item" and (kind in ("calibrated", "preferences") or stat in ("acc_eq", "tau_eq")):
        return "item_swap"
    if pooled_over_items(stat, averaging):
        return "item_swap"
    return None if kind == "calibrated" or epsilon else "perm_both"


def compare(frame: Frame, found: Sequence[Correlation], how: Measure, asked: MetricTest) -> MetricComparison:
    """Test all pairs of metrics in one group.

    Args:
        frame: systems at level `system` (but segments for soft pairwise accuracy), otherwise segments.
        found: the values of the metrics on the frame.
        how: statistic, level, averaging, directions and options.
        asked: the test to run. It must not be `auto`, which `usual_test` resolves.

    Raises:
        InputError: the test does not go with the statistic or level.
    """
    if how.kind == "difference_pairs" or (how.kind == "differences" and asked.test not in _OF_WHOLE_ITEMS):
        whole = f"; choose {' or '.join(_OF_WHOLE_ITEMS)}" if how.kind == "differences" else ""
        raise InputError(f"{asked.test} does not go with {how.stat}{whole}")
    frame, how = as_pearson(how.turned(frame), how)
    frame, found = as_averaged(frame, found, how)
    compared = _MAKE[asked.test](_Comparison(frame, found, how, asked))
    if asked.test not in POPULATIONS:
        asked.advance(len(found) * (len(found) - 1) // 2)
    return compared


def power_of(
    frame: Frame,
    found: Sequence[Correlation],
    pair: tuple[int, int],
    how: Measure,
    asked: MetricTest,
    alpha: float = 0.05,
) -> float:
    """Power for one pair of metrics: the share of resamples of the systems on which the test would find a difference.

    There are 200 resamples, each with as many systems as the data have, drawn with replacement. On each of them the
    test takes at most 199 permutations.
    """
    turned = how.turned(frame)
    few = dataclasses.replace(asked, draws=min(asked.draws, 199))
    two = dataclasses.replace(how, level="system", up=(True, True))

    def p_value(first: Array, second: Array, z: Array) -> float:
        drawn = dataclasses.replace(frame, x=np.stack([first, second]), z=z)
        return float(compare(drawn, [found[i] for i in pair], two, few).p[0, 1])

    rated = ~np.isnan(frame.z)
    first, second = (turned.x[i, rated] for i in pair)
    return simulated_power(p_value, first, second, frame.z[rated], seed=asked.seed, alpha=alpha).value


def compare_means(
    frames: Sequence[Frame], how: Measure, asked: MetricTest, found: Sequence[Sequence[Correlation]] = ()
) -> MetricComparison | None:
    """Test all pairs of metrics on the plain mean over groups; None where there is no such test.

    Items are drawn, or swapped, inside their group. So is every score of `perm_both`: each group is one row of a grid,
    each metric is brought to one scale inside each row, and the mean is taken over rows.

    Args:
        frames: segments or systems of each group.
        how, asked: as in `compare`.
        found: the values of the metrics in each group; `item_swap` and `bootstrap` need them where the statistic has
            one value per item.
    """
    if asked.test == "bootstrap":
        parts = _comparisons(frames, found, how, asked)
        rng = generator(asked.seed)
        whole = mean_resampled([_resampled(part, rng) for part in parts])
        return compare_resampled(whole, alternative=asked.alternative)
    if asked.test == "item_swap":
        items = [_by_item(part) for part in _comparisons(frames, found, how, asked)]
        return item_swap_test(
            np.concatenate([values for values, _ in items], axis=1),
            weights=None if items[0][1] is None else np.concatenate([w for _, w in items if w is not None], axis=1),
            groups=np.repeat(np.arange(len(items)), [values.shape[1] for values, _ in items]),
            alternative=asked.alternative,
            draws=asked.draws,
            seed=asked.seed,
        )
    is_plain = how.averaging == "none" and how.kind in ("correlation", "pairs")
    if not is_plain or asked.test not in ("perm_both", "perm_systems"):
        return None
    width = max(len(frame.z) for frame in frames)
    human = np.full((len(frames), width), np.nan)
    scores = np.zeros((len(how.up), *human.shape))
    for g, frame in enumerate(frames):
        n, x = len(frame.z), how.turned(frame).x
        spread = x.std(axis=1, keepdims=True)
        human[g, :n] = frame.z
        scores[:, g, :n] = (x - x.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1.0)
    return permutation_test(
        human,
        scores,
        generalise_to="both",
        averaging="sys",
        statistic=coefficient_of(how),
        alternative=asked.alternative,
        draws=asked.draws,
        seed=asked.seed,
        advance=asked.advance,
    )


def _williams(c: _Comparison) -> MetricComparison:
    if c.how.stat != "pearson" or c.how.averaging != "none":
        raise InputError(
            f"williams compares two values of Pearson's r over one vector, got {c.how.stat} with averaging"
            f" {c.how.averaging}; choose perm_both"
        )
    return williams_test(c.frame.z, c.frame.x, alternative=c.asked.alternative, compat=c.asked.compat)


def _permutation(c: _Comparison) -> MetricComparison:
    if c.how.kind == "soft":
        return _soft(c)
    averaging = _averaging(c)
    _check_scale(c)
    human, scores = _grid(c)
    return permutation_test(
        human,
        scores,
        generalise_to=POPULATIONS[c.asked.test],
        level="system" if c.how.level == "system" else "segment",
        averaging=averaging,
        statistic=coefficient_of(c.how),
        alternative=c.asked.alternative,
        draws=c.asked.draws,
        seed=c.asked.seed,
        compat=c.asked.compat,
        advance=c.asked.advance,
    )


def _soft(c: _Comparison) -> MetricComparison:
    if c.asked.test not in ("perm_inputs", "perm_systems"):
        raise InputError(f"{c.how.stat} has perm_inputs and perm_systems, got {c.asked.test}")
    scores, human = c.frame.grid()
    return soft_accuracy_test(
        human,
        np.where(np.isnan(human), 0.0, scores),
        generalise_to=POPULATIONS[c.asked.test],
        alternative=c.asked.alternative,
        draws=c.asked.draws,
        seed=c.asked.seed,
    )


def _bootstrap(c: _Comparison) -> MetricComparison:
    if c.how.kind == "soft":
        return _soft(c)
    return compare_resampled(_resampled(c, c.asked.seed), alternative=c.asked.alternative)


def _resampled(c: _Comparison, seed: Seed) -> Resampled:
    """The statistic on items drawn with replacement: from its values by item, or from the scores."""
    by_item = c.how.kind in ("preferences", "calibrated") or (has_epsilon(c.how) and c.how.averaging == "item")
    if by_item or pooled_over_items(c.how.stat, c.how.averaging):
        return resample_items(*_by_item(c), draws=c.asked.draws, seed=seed)
    averaging = _averaging(c)
    _check_scale(c)
    human, scores = _grid(c)
    if c.how.level == "system":
        raise InputError("bootstrap draws items and works below level 'system'; choose perm_systems")
    return resample_grid(
        human, scores, averaging=averaging, statistic=coefficient_of(c.how), draws=c.asked.draws, seed=seed
    )


def _by_item(c: _Comparison) -> tuple[Array, Array | None]:
    """The value of every metric on every item, and what it counts where the pairs of all items are pooled."""
    if pooled_over_items(c.how.stat, c.how.averaging):
        return item_ratios(c.frame, c.how)
    if c.how.averaging != "item":
        raise InputError(
            f"{c.asked.test} needs a value for each item, got averaging {c.how.averaging!r}; choose level='item'"
        )
    return np.array([list(one.groups.values()) for one in c.found], dtype=np.float64), None


def _comparisons(
    frames: Sequence[Frame], found: Sequence[Sequence[Correlation]], how: Measure, asked: MetricTest
) -> list[_Comparison]:
    """The input of a test in each group."""
    parts = []
    for frame, values in zip(frames, found or [()] * len(frames), strict=True):
        turned, as_measured = as_pearson(how.turned(frame), how)
        parts.append(_Comparison(*as_averaged(turned, values, as_measured), as_measured, asked))
    return parts


def _item_swap(c: _Comparison) -> MetricComparison:
    """Swap the values of items, with the averaging that was used; under `compat`, swap the outcomes of system pairs."""
    values, weights = _by_item(c)
    alternative, draws, seed = c.asked.alternative, c.asked.draws, c.asked.seed
    if c.asked.compat == "mt-metrics-eval":
        human, scores = _cells(c.frame, "perm_both", "item")
        near = np.array([one.epsilon or 0.0 for one in c.found])
        return acc_eq_test(human, scores, near, alternative=alternative, draws=draws, seed=seed, compat=c.asked.compat)
    return item_swap_test(values, weights=weights, alternative=alternative, draws=draws, seed=seed)


def _mcnemar(c: _Comparison) -> MetricComparison:
    if c.how.stat != "preference_accuracy":
        raise InputError(f"mcnemar compares two preference accuracies, got {c.how.stat}")
    better, worse = pairs_of_frame(c.frame, c.how.options.get("threshold"))
    ties = c.how.options.get("ties") or "loss"
    test = mcnemar_test(c.frame.x[:, better], c.frame.x[:, worse], ties=ties, alternative=c.asked.alternative)
    values = np.array([one.value for one in c.found])  # under `exclude` of the pairs that the metric itself orders
    return dataclasses.replace(test, values=values, deltas=values[:, None] - values)


_MAKE: Mapping[str, Callable[[_Comparison], MetricComparison]] = {
    "williams": _williams,
    "perm_both": _permutation,
    "perm_inputs": _permutation,
    "perm_systems": _permutation,
    "item_swap": _item_swap,
    "bootstrap": _bootstrap,
    "mcnemar": _mcnemar,
}


def _averaging(c: _Comparison) -> Averaging:
    """The averaging, for statistics whose scores can be swapped."""
    averaging = c.how.averaging
    if averaging in ("none", "item", "sys") and c.how.kind not in ("preferences", "calibrated"):
        return averaging  # type: ignore[return-value]  # one of the three
    raise InputError(
        f"{c.asked.test} does not go with {c.how.stat} and averaging {averaging}"
        + ("; choose item_swap" if averaging == "item" or pooled_over_items(c.how.stat, averaging) else "")
    )


def _check_scale(c: _Comparison) -> None:
    """Refuse a tie threshold in the units of each metric where the test brings all metrics to one scale."""
    if has_epsilon(c.how):
        raise InputError(
            f"{c.asked.test} brings metrics to one scale, on which the epsilon of {c.how.stat} would be another one;"
            " choose item_swap with level='item', or leave epsilon out"
        )


def _grid(c: _Comparison) -> tuple[Array, Array]:
    """Judgements and scores as a grid of systems by items, or as one row where systems and items are not known."""
    if c.how.level != "system":
        return _cells(c.frame, c.asked.test, c.how.averaging)
    if c.asked.test != "perm_systems":
        raise InputError(
            f"{c.asked.test} draws or swaps segments, and at level 'system' there is one number per system; choose"
            " perm_systems"
        )
    return c.frame.z, c.frame.x


def _cells(frame: Frame, test: str, averaging: str) -> tuple[Array, Array]:
    """Judgements and scores of segments; where no system is named, the outputs of each item in their order."""
    if frame.systems is not None and frame.items is not None:
        scores, human = frame.grid()
    elif averaging == "item" and frame.items is not None:
        if test == "perm_systems":
            raise InputError("perm_systems swaps systems, and not every segment names its own; choose perm_both")
        scores, human = dataclasses.replace(frame, systems=_places(frame.items)).grid()
    elif averaging == "none" and (test == "perm_both" or (test == "bootstrap" and not repeats(frame))):
        scores, human = frame.x[:, None, :], frame.z[None, :]
    else:
        raise InputError(f"{test} needs the system and the item of every segment; choose perm_both")
    return human, np.where(np.isnan(human), 0.0, scores)  # what is not judged is not read


def _places(items: Sequence[str]) -> tuple[str, ...]:
    """First, second, ... output of each item: these are the rows for outputs whose systems are not known."""
    counts: dict[str, int] = {}
    places = []
    for item in items:
        counts[item] = counts.get(item, -1) + 1
        places.append(str(counts[item]))
    return tuple(places)
