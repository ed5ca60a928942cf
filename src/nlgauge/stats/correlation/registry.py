"""Which statistics are there? Their names, what each computes and which options it takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from nlgauge.core.errors import InputError, nearest
from nlgauge.core.options import broken_plugin, find_plugin, load_plugin, plugin_names
from nlgauge.stats.correlation import coefficients, preferences, system_pairs
from nlgauge.stats.correlation.averaging import Kernel
from nlgauge.stats.correlation.calibration import agreement

GROUP = (  # entry points of third parties: a function of x and z, shape (..., n) to (...), NaN where undefined
    "nlgauge.statistics"
)
SELECTION = ("hits_at_1", "mrr", "diff")  # of `nlgauge.stats.systems.selection`: what the choice of a system is worth

Kind = Literal["correlation", "pairs", "preferences", "calibrated", "soft", "differences", "difference_pairs"]


@dataclass(frozen=True)
class Statistic:
    """A statistic that can be asked for by name.

    Attributes:
        summary: a description in one line.
        kernel: maps scores and judgements, shape (..., n), to values or a `Ratio`, shape (...).
        kind: `correlation`; `pairs` (a ratio of pairs, which can be pooled over groups); `preferences` (x and z are
            the scores of better and worse texts); `calibrated` (a threshold is found first); `soft` (it needs segments
            of every system); `differences` (of outputs for one item, pooled); `difference_pairs` (of two systems).
        options: the keyword arguments that the statistic takes beside those of all.
        grouped: the default averaging over groups.
        level: `system` where the statistic is one of systems.
        chance: the value of random scores without ties; None where it depends on the judgements.
        ties: where values that are equal but for rounding are tied: among `judgements`, among scores too (`both`:
            statistics with a rule for ties), or nowhere. Coefficients of ranks take scores as they are, as scipy does.
        folds: the folds of items in which a threshold is found on all others, unless the caller says; 0 for none.
    """

    summary: str
    kernel: Kernel
    kind: Kind = "correlation"
    options: tuple[str, ...] = ()
    grouped: Literal["item", "micro"] = "item"
    level: Literal["segment", "system"] = "segment"
    chance: float | None = 0.0
    folds: int = 0
    ties: Literal["none", "judgements", "both"] = "none"

    @property
    def pools(self) -> bool:
        """Whether counts can be pooled over groups."""
        return self.kind in ("pairs", "preferences")


def _tau_eq(x: Any, z: Any, **options: Any) -> Any:
    ratio = agreement(x, z, **options)
    return type(ratio)(2 * ratio.numerator - ratio.denominator, ratio.denominator, ratio.ties)


_NEAR = ("epsilon", "human_epsilon")
_CALIBRATED = ("human_epsilon", "folds", "seed")

STATISTICS: dict[str, Statistic] = {
    "pearson": Statistic("Pearson's r", coefficients.pearson),
    "spearman": Statistic("Spearman's rho, ties sharing their mean rank", coefficients.spearman, ties="judgements"),
    "kendall_b": Statistic("Kendall's tau-b", coefficients.kendall_b, ties="judgements"),
    "kendall_c": Statistic("Kendall's (Stuart's) tau-c", coefficients.kendall_c, ties="judgements"),
    "wmt_kendall_like": Statistic(
        "WMT's Kendall-like statistic over pairs at least `threshold` apart",
        preferences.kendall_like,
        "pairs",
        ("threshold", "ties"),
        "micro",
        ties="both",
    ),
    "rr_kendall": Statistic(
        "Kendall-like statistic of better/worse pairs: x the better texts, z the worse",
        preferences.rr_kendall,
        "preferences",
        ("ties",),
        "micro",
    ),
    "acc_eq": Statistic("pairwise accuracy with ties", agreement, "pairs", _NEAR, chance=None, ties="both"),
    "tau_eq": Statistic("2 acc_eq - 1", _tau_eq, "pairs", _NEAR, chance=None, ties="both"),
    "acc_eq_calibrated": Statistic(
        "acc_eq at the tie threshold that suits it best",
        agreement,
        "calibrated",
        _CALIBRATED,
        chance=None,
        ties="both",
    ),
    "acc_eq_held_out": Statistic(
        "acc_eq at the tie threshold that suits it best on other items (5 folds)",
        agreement,
        "calibrated",
        _CALIBRATED,
        chance=None,
        folds=5,
        ties="both",
    ),
    "tau_eq_calibrated": Statistic(
        "2 acc_eq_calibrated - 1", _tau_eq, "calibrated", _CALIBRATED, chance=None, ties="both"
    ),
    "pairwise_accuracy": Statistic(
        "share of system pairs ordered as by people, pooled over sets",
        system_pairs.pairwise,
        "pairs",
        ("ties",),
        "micro",
        "system",
        None,
        ties="both",
    ),
    "soft_pairwise_accuracy": Statistic(
        "1 - mean |p_human - p_metric| over system pairs",
        system_pairs.pairwise,
        "soft",
        ("draws", "seed"),
        level="system",
        chance=None,
    ),
    "pdp": Statistic("Pearson's r of differences between outputs for one item", coefficients.pearson, "differences"),
    "pdp_pairs": Statistic(
        "Pearson's r of differences between two systems over items, mean over pairs of systems",
        coefficients.pearson,
        "difference_pairs",
    ),
    "auc": Statistic("area under the ROC curve; z is 0 or 1", coefficients.auc, chance=0.5),
    "preference_accuracy": Statistic(
        "share of pairs with the better text ahead: x the better texts, z the worse",
        preferences.preference,
        "preferences",
        ("ties", "interval"),
        chance=0.5,
    ),
}


def names() -> list[str]:
    """Every known statistic: first those of nlgauge, then those of installed plug-ins."""
    return list(dict.fromkeys([*STATISTICS, *plugin_names(GROUP)]))


def statistic(name: str) -> Statistic:
    """The statistic with this name.

    Raises:
        InputError: the name is unknown; the error gives the nearest known ones.
        SpecError: the package that adds it is broken.
    """
    if name in STATISTICS:
        return STATISTICS[name]
    point = find_plugin(GROUP, name)
    if point is None:
        if name in SELECTION:
            raise InputError(f"{name} is about the choice of a system: see 'nlgauge select' (in Python select_models)")
        raise InputError(f"unknown statistic {name!r}{nearest(name, names())}")
    kernel: Callable[..., Any] = load_plugin(point, "statistic")
    if not callable(kernel):
        raise broken_plugin(point, "statistic", f"is {type(kernel).__name__}, expected a function of x and z")
    return Statistic((kernel.__doc__ or name).strip().splitlines()[0], kernel)
