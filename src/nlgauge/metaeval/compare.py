"""Which metric is better? Every metric against every other on the judgements of one group, or on the mean over groups."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError, nearest
from nlgauge.metaeval.frames import Frame
from nlgauge.metaeval.measure import pairs_of_frame
from nlgauge.stats.correlation.averaging import Ratio
from nlgauge.stats.correlation.preferences import mcnemar
from nlgauge.stats.correlation.registry import statistic
from nlgauge.stats.correlation.result import Correlation
from nlgauge.stats.differences.bootstrap import bootstrap_test
from nlgauge.stats.differences.item_swaps import acc_eq_test, item_swap_test
from nlgauge.stats.differences.permutation import permutation_test
from nlgauge.stats.differences.power import simulated_power
from nlgauge.stats.differences.result import MetricComparison, pairs_of, square
from nlgauge.stats.differences.soft import soft_accuracy_test
from nlgauge.stats.differences.williams import williams_test

POPULATIONS = {"perm_both": "both", "perm_inputs": "inputs", "perm_systems": "systems"}
ABOUT = {
    "auto": (
        "perm_systems at level system; below it perm_both, item_swap for accuracies with ties, mcnemar for"
        " preference_accuracy"
    ),
    "williams": "Williams' test of two Pearson correlations, segments (or systems) taken as independent",
    "perm_both": "every score trades places on its own; new items for these systems",
    "perm_inputs": "whole items trade places; new items for these systems",
    "perm_systems": "whole systems trade places; new systems on these items",
    "item_swap": (
        "values of whole items trade places; any statistic that is averaged over items; new items for these systems"
    ),
    "bootstrap": "items drawn with replacement; new items for these systems",
    "mcnemar": "exact test on the pairs that one metric alone gets right",
}
TESTS = tuple(ABOUT)
_NAMED = ("pearson", "spearman", "kendall_b")


@dataclass(frozen=True)
class MetricTest:
    """The test that is asked for.

    Attributes:
        test: one of `TESTS`.
        alternative: `greater` or `two-sided`.
        draws: of permutations.
        seed: of permutations.
        compat: `mt-metrics-eval` or `nlpstats`, or None.
    """

    test: str
    alternative: str = "greater"
    draws: int = 1000
    seed: int = 0
    compat: str | None = None


def check_test(name: str) -> None:
    """Refuse an unknown test, with the nearest known."""
    if name not in TESTS:
        raise InputError(f"unknown test {name!r}{nearest(name, TESTS)}")


def usual(stat: str, level: str, averaging: str) -> str | None:
    """The test that `auto` stands for; None where a statistic has none.

    A claim about metrics at system level is one about systems not seen yet, so systems are swapped; below that every
    score is, or every item where the statistic is an accuracy with ties.
    """
    kind = statistic(stat).kind
    if stat == "preference_accuracy" and averaging == "none":
        return "mcnemar"
    if level == "system" or kind == "soft":
        return "perm_systems"
    if averaging == "item" and (kind in ("calibrated", "preferences") or stat in ("acc_eq", "tau_eq")):
        return "item_swap"
    return None if kind in ("calibrated", "preferences") or averaging == "micro" else "perm_both"


def versus(
    frame: Frame,
    found: Sequence[Correlation],
    level: str,
    up: Sequence[bool],
    options: Mapping[str, Any],
    asked: MetricTest,
) -> MetricComparison:
    """Test all pairs of metrics in one group.

    Args:
        frame: of systems at level `system` (of segments for soft pairwise accuracy), else of segments.
        found: the values of the metrics there.
        level: `segment`, `item` or `system`.
        up: whether higher is better, for each metric.
        options: of the statistic.
        asked: the test; `auto` is settled.

    Raises:
        InputError: a test that does not go with the statistic or level.
    """
    stat, averaging, kind = found[0].stat, found[0].averaging, statistic(found[0].stat).kind
    x = np.where(np.asarray(up)[:, None], frame.x, -frame.x)
    about: dict[str, Any] = {"alternative": asked.alternative}
    drawn: dict[str, Any] = {**about, "draws": asked.draws, "seed": asked.seed}
    if asked.test == "mcnemar":
        return _mcnemar(frame, x, stat, options, asked)
    if asked.test == "williams":
        if stat != "pearson" or averaging != "none":
            raise InputError(
                f"williams compares two values of Pearson's r over one vector, got {stat} with averaging {averaging};"
                " choose perm_both"
            )
        return williams_test(frame.z, x, **about, compat=asked.compat)  # type: ignore[arg-type]
    if asked.test == "item_swap":
        return _item_swap(frame, x, found, drawn, asked)
    if kind == "soft":
        if asked.test not in ("perm_inputs", "perm_systems"):
            raise InputError(f"{stat} has perm_inputs and perm_systems, got {asked.test}")
        scores, human = _with_scores(frame, x).grid()
        return soft_accuracy_test(
            human, np.where(np.isnan(human), 0.0, scores), generalise_to=POPULATIONS[asked.test], **drawn
        )  # type: ignore[arg-type]
    if averaging == "micro" or kind in ("preferences", "calibrated"):
        raise InputError(
            f"{asked.test} does not go with {stat} and averaging {averaging}"
            + ("; choose item_swap" if averaging == "item" else "")
        )
    human, scores = _grid(frame, x, level, averaging, asked.test)
    if asked.test == "bootstrap":
        if level == "system" or len(human) == 1:
            raise InputError(
                "bootstrap draws items and needs the system and the item of every segment, below level 'system'; choose"
                " perm_both"
            )
        return bootstrap_test(human, scores, averaging=averaging, statistic=_coefficient(stat, options), **drawn)  # type: ignore[arg-type]
    return permutation_test(
        human,
        scores,
        generalise_to=POPULATIONS[asked.test],
        level="system" if level == "system" else "segment",  # type: ignore[arg-type]
        averaging=averaging,
        statistic=_coefficient(stat, options),
        compat=asked.compat,
        **drawn,  # type: ignore[arg-type]
    )


def power_of(
    frame: Frame,
    found: Sequence[Correlation],
    pair: tuple[int, int],
    up: Sequence[bool],
    options: Mapping[str, Any],
    asked: MetricTest,
) -> float:
    """How often the test would find the first metric of a pair better on as many systems like these; for what it did not find.

    Systems are drawn with replacement, 200 times; permutations are 199 a draw.
    """
    x = np.where(np.asarray(up)[:, None], frame.x, -frame.x)
    few = dataclasses.replace(asked, draws=min(asked.draws, 199))

    def test(first: Array, second: Array, z: Array) -> float:
        drawn = dataclasses.replace(frame, x=np.stack([first, second]), z=z)
        return float(versus(drawn, [found[i] for i in pair], "system", [True, True], options, few).p[0, 1])

    known = ~np.isnan(frame.z)
    return simulated_power(test, x[pair[0], known], x[pair[1], known], frame.z[known], seed=asked.seed).value


def versus_mean(
    frames: Sequence[Frame],
    stat: str,
    averaging: str,
    up: Sequence[bool],
    options: Mapping[str, Any],
    asked: MetricTest,
) -> MetricComparison | None:
    """The same for the plain mean over groups, where every score trades places on its own inside its group; None where there is no such test.

    Each group is a row of a grid, each metric brought to one scale inside each row, and the mean is that over rows.
    """
    if (
        averaging != "none"
        or asked.test not in ("perm_both", "perm_systems")
        or statistic(stat).kind not in ("correlation", "pairs")
    ):
        return None
    width = max(len(frame.z) for frame in frames)
    human = np.full((len(frames), width), np.nan)
    scores = np.zeros((len(up), *human.shape))
    for g, frame in enumerate(frames):
        n = len(frame.z)
        x = np.where(np.asarray(up)[:, None], frame.x, -frame.x)
        spread = x.std(axis=1, keepdims=True)
        human[g, :n] = frame.z
        scores[:, g, :n] = (x - x.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1.0)
    return permutation_test(
        human,
        scores,
        generalise_to="both",
        averaging="sys",
        statistic=_coefficient(stat, options),
        alternative=asked.alternative,
        draws=asked.draws,
        seed=asked.seed,  # type: ignore[arg-type]
    )


def _coefficient(stat: str, options: Mapping[str, Any]) -> str | Callable[[Array, Array], Array]:
    if stat in _NAMED:
        return stat
    known = statistic(stat)
    own = {key: value for key, value in options.items() if value is not None and key in known.options}

    def coefficient(x: Array, z: Array) -> Array:
        found = known.kernel(x, z, **own)
        return np.asarray(found.value if isinstance(found, Ratio) else found)

    return coefficient


def _grid(frame: Frame, x: Array, level: str, averaging: str, test: str) -> tuple[Array, Array]:
    """Judgements and oriented scores as a grid of systems by items, or as one row where that is all there is."""
    if level == "system":
        if test != "perm_systems":
            raise InputError(
                f"{test} draws or swaps segments, and at level 'system' there is one number a system; choose"
                " perm_systems"
            )
        return frame.z, x
    if frame.systems is not None and frame.items is not None:
        scores, human = _with_scores(frame, x).grid()
    elif averaging == "item" and frame.items is not None:
        if test == "perm_systems":
            raise InputError("perm_systems swaps systems, and not every segment names its own; choose perm_both")
        scores, human = dataclasses.replace(frame, x=x, systems=_places(frame.items)).grid()
    elif test == "perm_both" and averaging == "none":
        scores, human = x[:, None, :], frame.z[None, :]
    else:
        raise InputError(f"{test} needs the system and the item of every segment; choose perm_both")
    return human, np.where(np.isnan(human), 0.0, scores)  # what is not judged is not read


def _places(items: Sequence[str]) -> tuple[str, ...]:
    """First, second, ... output of its item: rows for outputs whose systems are not known."""
    seen: dict[str, int] = {}
    found = []
    for item in items:
        seen[item] = seen.get(item, -1) + 1
        found.append(str(seen[item]))
    return tuple(found)


def _with_scores(frame: Frame, x: Array) -> Frame:
    return dataclasses.replace(frame, x=x)


def _item_swap(
    frame: Frame, x: Array, found: Sequence[Correlation], drawn: Mapping[str, Any], asked: MetricTest
) -> MetricComparison:
    """The values of items, as they were averaged; under compat the outcomes of system pairs."""
    if found[0].averaging != "item":
        raise InputError(
            f"item_swap needs a value for each item, got averaging {found[0].averaging!r}; choose level='item'"
        )
    if asked.compat == "mt-metrics-eval":
        human, scores = _grid(frame, x, "item", "item", "perm_both")
        return acc_eq_test(human, scores, [one.epsilon or 0.0 for one in found], compat="mt-metrics-eval", **drawn)
    return item_swap_test(np.array([list(one.groups.values()) for one in found], dtype=np.float64), **drawn)


def _mcnemar(frame: Frame, x: Array, stat: str, options: Mapping[str, Any], asked: MetricTest) -> MetricComparison:
    if stat != "preference_accuracy":
        raise InputError(f"mcnemar compares two preference accuracies, got {stat}")
    ties = options.get("ties") or "loss"
    if ties not in ("loss", "zero", "exclude"):
        raise InputError(f"mcnemar settles ties as 'loss' or 'exclude', got {ties!r}")
    better, worse = pairs_of_frame(frame, options.get("threshold"))
    wins = x[:, better] > x[:, worse]
    left, right = pairs_of(len(x))
    forth, back = np.empty(len(left)), np.empty(len(left))
    for i, (a, b) in enumerate(zip(left, right, strict=True)):
        tested = mcnemar(
            x[a, better], x[a, worse], x[b, better], x[b, worse], ties="exclude" if ties == "exclude" else "loss"
        )
        one, other = tested.first_only, tested.second_only
        forth[i], back[i] = (
            (tested.p, tested.p)
            if asked.alternative == "two-sided"
            else (_sign(one, one + other), _sign(other, one + other))
        )
    values = wins.mean(axis=1) if len(better) else np.full(len(x), np.nan)
    n_used = np.full(len(x), len(better))
    none = np.zeros((len(x), len(x)), dtype=np.int64)
    return MetricComparison(
        "mcnemar",
        "both",
        asked.alternative,
        values,
        values[:, None] - values,
        square(forth, back, len(x)),  # type: ignore[arg-type]
        n_used,
        np.zeros_like(n_used),
        None,
        none,
    )


def _sign(wins: int, n: int) -> float:
    """Chance of at least so many wins among n fair ones."""
    from scipy.stats import binom

    return float(binom.sf(wins - 1, n, 0.5)) if n else 1.0
