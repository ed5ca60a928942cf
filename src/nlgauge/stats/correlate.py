"""Which statistics are there? Their names, what each computes and which options it takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypedDict, Unpack

import numpy as np

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError, nearest
from nlgauge.core.options import broken_plugin, check_option, find_plugin, load_plugin, plugin_names
from nlgauge.stats import coefficients, preferences
from nlgauge.stats.coefficients import settled
from nlgauge.stats.draws import SHARES, Interval, Seed
from nlgauge.stats.entries import (
    Entries,
    Grouped,
    Kernel,
    Means,
    SystemScores,
    blocks_of_groups,
    by_group,
    lay_flat,
    mean_of_groups,
    namer,
    numbers,
    oriented,
    pool,
    same_entries,
    segment_entries,
    settle_missing,
    settle_preferences,
    system_entries,
)
from nlgauge.stats.preferences import (
    agreement,
    calibrate_entries,
    calibrate_held_out,
    classes_held_out,
    mean_of_system_pairs,
    pairwise_difference_pearson,
    soft_pairwise,
)

# Entry points of third parties: a function of x and z, shape (..., n) to (...), NaN where undefined.
GROUP = "nlgauge.statistics"
SELECTION = ("hits_at_1", "mrr", "diff")  # of `nlgauge.stats.selection`: what the choice of a system is worth

Kind = Literal[
    "correlation", "pairs", "preferences", "calibrated", "classes", "soft", "differences", "difference_pairs"
]


@dataclass(frozen=True)
class Statistic:
    """A statistic that can be asked for by name.

    One of your own is a function of scores and judgements, shape (..., n) to (...), NaN where undefined, under the
    entry-point group `nlgauge.statistics`. It is then known by its name, and averaged like any other.

    Attributes:
        summary: a description in one line.
        kernel: maps scores and judgements, shape (..., n), to values or a `Ratio`, shape (...).
        kind: `correlation`; `pairs` (a ratio of pairs, which can be pooled over groups); `preferences` (x and z are
            the scores of better and worse texts); `calibrated` (a tie threshold is found first); `classes` (binary
            labels, told at a threshold that is given or found on other items); `soft` (it needs segments of every
            system); `differences` (of outputs for one item, pooled); `difference_pairs` (of two systems).
        options: the keyword arguments that the statistic takes beside those of all.
        grouped: the default averaging over groups.
        level: `system` where the statistic is one of systems.
        chance: the value of random scores without ties; None where it depends on the judgements, NaN where it is not
            known.
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
_CLASSES: dict[str, Any] = {
    "kind": "classes", "options": ("threshold", "folds", "seed"), "folds": 5, "ties": "both"
}  # fmt: skip

STATISTICS: dict[str, Statistic] = {
    "pearson": Statistic("Pearson's r", coefficients.pearson),
    "spearman": Statistic("Spearman's rho, ties sharing their mean rank", coefficients.spearman, ties="judgements"),
    "kendall_b": Statistic("Kendall's tau-b, scipy's default", coefficients.kendall_b, ties="judgements"),
    "kendall_c": Statistic(
        "Kendall's (Stuart's) tau-c, of work on captions; differs from tau-b", coefficients.kendall_c, ties="judgements"
    ),
    "wmt_kendall_like": Statistic(
        "WMT's Kendall-like statistic, (won - lost) / pairs, over pairs at least `threshold` apart for people",
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
        "accuracy with ties at the tie threshold that suits the metric best on these items",
        agreement,
        "calibrated",
        _CALIBRATED,
        chance=None,
        ties="both",
    ),
    "acc_eq_held_out": Statistic(
        "accuracy with ties at the tie threshold that suits the metric best on other items (5 folds)",
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
        preferences.pairwise,
        "pairs",
        ("ties",),
        "micro",
        "system",
        None,
        ties="both",
    ),
    "soft_pairwise_accuracy": Statistic(
        "1 - mean |p_human - p_metric| over system pairs",
        preferences.pairwise,
        "soft",
        ("draws", "seed"),
        level="system",
        chance=None,
    ),
    "pdp": Statistic(
        "Pearson's r of differences between outputs for one item, all items together",
        coefficients.pearson,
        "differences",
    ),
    "pdp_pairs": Statistic(
        "Pearson's r of differences between two systems over items, mean over pairs of systems",
        coefficients.pearson,
        "difference_pairs",
    ),
    "auc": Statistic("area under the ROC curve; z is 0 or 1", coefficients.auc, chance=0.5),
    "balanced_accuracy": Statistic(
        "mean of the shares of 1 and of 0 told right, at a threshold found on other items (5 folds); z is 0 or 1",
        coefficients.balanced_accuracy,
        **_CLASSES,
        chance=0.5,
    ),
    "f1": Statistic(
        "F1 of the label 1, at a threshold found on other items (5 folds); z is 0 or 1",
        coefficients.f1,
        **_CLASSES,
        chance=math.nan,
    ),
    "mcc": Statistic(
        "Matthews' correlation of labels, at a threshold found on other items (5 folds); z is 0 or 1",
        coefficients.mcc,
        **_CLASSES,
    ),
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


# --- Other packages' procedures, to check published numbers: what each one accepts and what is wrong with it

_THREE = ("pearson", "spearman", "kendall_b")
_PAIRS = (
    *("wmt_kendall_like", "acc_eq", "tau_eq", "acc_eq_calibrated", "tau_eq_calibrated"),
    *("pairwise_accuracy", "soft_pairwise_accuracy"),
)

KNOWN = {"mt-metrics-eval": (*_THREE, "kendall_c", *_PAIRS), "nlpstats": _THREE, "realsumm": _THREE}

_NOTES = {
    "mt-metrics-eval": "as mt-metrics-eval: a group with a missing score drops out unseen, and 0 stands for undefined",
    "nlpstats": "as nlpstats: system means are taken over all segments on either side",
    "realsumm": "as REALSumm: only items with p <= 0.05 are averaged, which raises the mean",
}


def check_compat(compat: str, name: str, averaging: str, level: str) -> None:
    """Refuse an unknown procedure, and what the package in question cannot do."""
    if compat not in KNOWN:
        raise InputError(f"compat is {compat!r}{nearest(compat, KNOWN)}")
    if name not in KNOWN[compat]:
        raise InputError(f"compat={compat!r} has no {name}; it has {', '.join(KNOWN[compat])}")
    if compat == "realsumm" and (averaging != "item" or level != "segment"):
        raise InputError("compat='realsumm' averages over items at segment level; give averaging='item'")
    if compat == "nlpstats" and averaging == "sys":
        raise InputError("compat='nlpstats' has no averaging over systems; choose 'none' or 'item', or level='system'")


def compat_note(compat: str | None, left_out: int = 0, of: int = 0) -> str:
    """A note for the result on what is wrong with a procedure."""
    if compat is None:
        return ""
    return _NOTES[compat] + (f"; {left_out} of {of} left out" if compat == "realsumm" else "")


def not_significant(name: str, entries: Entries) -> Mask:
    """The groups whose own p-value is above 0.05, shape (M, G); undefined groups are not among them."""
    from scipy import stats

    tests: dict[str, Any] = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall_b": stats.kendalltau}
    found = np.zeros((len(entries.x), len(entries.labels)), dtype=np.bool_)
    for m, (row, keep) in enumerate(zip(entries.x, entries.keep, strict=True)):
        for groups, index in blocks_of_groups(entries.groups, keep, len(entries.labels)):
            for g, positions in zip(groups, index, strict=True):
                x, z = row[positions], entries.z[positions]
                if len(x) > 1 and np.ptp(x) > 0 and np.ptp(z) > 0:
                    found[m, g] = float(tests[name](x, z).pvalue) > 0.05
    return found


# --- What was asked for? A statistic with its options checked and its defaults filled in

Averaging = Literal["none", "item", "sys", "micro"]
Level = Literal["segment", "system"]
Undefined = Literal["skip", "zero"]


class PlainOptions(TypedDict, total=False):
    """Options of every statistic; each may be left out.

    Attributes:
        averaging: `none` pools all entries; `item` and `sys` compute a coefficient in each group and average these;
            `micro` pools the pair counts of groups. The default is `item` for a grid and where there are groups
            (`micro` for Kendall-like statistics), and `none` elsewhere. `none` and `sys` also reward a metric for
            knowing which inputs are hard.
        level: `segment`, or `system` for one coefficient of system means. A vector without `systems` is taken to hold
            system means already.
        systems: the system of each entry of a vector.
        system_scores: average a metric over the `rated` segments or over `all`, which varies less but needs all scores.
        missing: what to do where there is a judgement but no score: `refuse`; `drop` the entry, which favours a metric
            that fails on hard ones; or fill in the `worst` score of the metric, or `zero`.
        undefined: `skip` groups without a defined value (a side is constant, up to rounding), or count them as `zero`,
            which is fair to a metric that ties everything; groups with one entry are always skipped.
        common: with several metrics, use only the groups in which all of them are defined.
        higher_is_better: False for an error rate, whose scores are negated first. One value, or one per metric.
        ids: names of the entries, for errors.
        compat: follows the procedure of a package, to check published numbers; `note` says what is wrong with it.
            `mt-metrics-eval` drops items that lack a score without notice, takes 0 for undefined, and with a threshold
            of 0 counts pairs that people tie as lost. `nlpstats` takes system means over all segments of either side.
            `realsumm` averages only the items with p <= 0.05, which raises the mean.
        ties: how a tie of the metric counts, where pairs are counted: `loss` (default) is a miss, `half` half a win,
            `exclude` no pair, and `zero` a pair that adds nothing.
        threshold: the smallest difference of two judgements that counts, inclusive (`wmt_kendall_like`); 25 by
            default. Pairs that people tie never count. Of binary labels (`balanced_accuracy`, `f1`, `mcc`) the score
            from which, or down to which for an error rate, the label is 1; found on other items unless it is given.
        epsilon: scores that differ by at most this are tied (`acc_eq`, `tau_eq`); 0 by default. One number, or one per
            metric.
        human_epsilon: the same for judgements.
        interval: of a share of pairs without groups (`preference_accuracy`): `wilson`, or `clopper-pearson`, which is
            exact and wider.
    """

    averaging: str | None
    level: str | None
    systems: Sequence[Hashable] | None
    system_scores: str
    missing: str
    undefined: str
    common: bool
    higher_is_better: bool | Sequence[bool]
    ids: Sequence[Hashable] | None
    compat: str | None
    ties: str | None
    threshold: float | None
    epsilon: float | Sequence[float] | None
    human_epsilon: float | None
    interval: str | None


class Options(PlainOptions, total=False):
    """Options of `correlation` and `correlations`: those of `PlainOptions`, and those that involve random draws.

    Attributes:
        folds: calibrate on all folds of items but one, and evaluate on that one. By default a tie threshold is
            calibrated on the data reported, which is too optimistic, and more so for metrics with many distinct values;
            that of binary labels is found in 5 folds.
        draws: the number of sign patterns for `soft_pairwise_accuracy`; 1000 by default.
        seed: the seed of folds or draws; 0 by default.
    """

    folds: int | None
    draws: int | None
    seed: Seed | None


DEFAULTS: Options = {
    "averaging": None, "level": None, "systems": None, "system_scores": "rated", "missing": "refuse",
    "undefined": "skip", "common": False,
    "higher_is_better": True, "ids": None, "compat": None, "ties": None, "threshold": None, "epsilon": None,
    "human_epsilon": None, "interval": None,
    "folds": None, "draws": None, "seed": None,
}  # fmt: skip
# options of some statistics only
OF_SOME = ("ties", "threshold", "epsilon", "human_epsilon", "interval", "folds", "draws", "seed")


@dataclass(frozen=True)
class StatisticPlan:
    """A statistic with its options checked and its defaults filled in."""

    name: str
    stat: Statistic
    level: str
    averaging: str
    own: dict[str, Any]
    options: Options

    @property
    def n_folds(self) -> int:
        """In how many folds of items a threshold is found on others; 0 where it is given, or found on all."""
        given = self.stat.kind == "classes" and "threshold" in self.own
        return 0 if given else int(self.own.get("folds", self.stat.folds))

    def on_grid(self, x: Array, z: Array) -> tuple[Array, Array]:
        """Scores, a row per metric, and judgements, those equal that are equal on paper, as far as the statistic ties.

        A package in `compat` takes them as float64 holds them.
        """
        ties = "none" if self.options["compat"] is not None else self.stat.ties
        if ties == "both":
            x = np.stack([settled(row) for row in x])
        return x, z if ties == "none" else settled(z)

    @property
    def smallest(self) -> int:
        """The smallest group that is defined: a pair of texts is one entry, while a pair of scores needs two."""
        return 1 if self.stat.kind == "preferences" else 2


def prepare(
    name: str, xs: Any, z: Any, groups: Sequence[Hashable] | None, options: Options
) -> tuple[StatisticPlan, Array, Array, list[bool]]:
    """The plan, and the numbers: oriented scores, judgements, and which metrics kept their orientation.

    For a statistic of preferences, the judgements are the scores of the worse texts, one row per metric.

    Raises:
        InputError: as in `make_plan`; or values are not numbers, are infinite, or have the wrong shape.
    """
    preferences = statistic(name).kind == "preferences"
    x, given = numbers(xs, "scores"), numbers(z, "scores of the worse texts" if preferences else "judgements")
    if x.ndim < 2 or not len(x):
        raise InputError(f"scores have shape {x.shape}, expected those of one metric or more, a row each")
    if preferences and x.shape != given.shape:
        raise InputError(
            f"scores of the better texts have shape {x.shape[1:]}, of the worse {given.shape[1:]}, expected the same"
        )
    plan = make_plan(name, given.ndim - preferences, groups, options)
    turned = np.asarray(plan.options["higher_is_better"], dtype=np.bool_)
    if turned.shape not in ((), (1,), (len(x),)):
        raise InputError(
            f"higher_is_better has {turned.size} values for {len(x)} metrics, expected one, or one per metric"
        )
    near = plan.own.get("epsilon", 0.0)
    if np.ndim(near):
        if len(near) != len(x):
            raise InputError(f"epsilon has {len(near)} values for {len(x)} metrics, expected one, or one per metric")
        plan.own["epsilon"] = np.asarray(near, dtype=np.float64)[:, None]
    up = np.broadcast_to(turned, len(x)).tolist()
    if plan.stat.kind == "classes" and "threshold" in plan.own:
        plan.own["threshold"] = oriented(np.full((len(x), 1), plan.own["threshold"]), up)
    x, given = plan.on_grid(x, given)
    return plan, oriented(x, up), oriented(given, up) if preferences else given, up


def make_plan(name: str, axes: int, groups: Sequence[Hashable] | None, options: Options) -> StatisticPlan:
    """Check the options and fill in the defaults.

    Args:
        name: the name of the statistic.
        axes: 1 for vectors, 2 for grids of systems by items.
        groups: as given; only whether there are any matters here.
        options: as given.

    Raises:
        InputError: a name or option is unknown, a value is out of its range, or choices exclude each other.
    """
    for option in options:
        if option not in DEFAULTS:
            raise InputError(f"correlation has no option {option!r}{nearest(option, DEFAULTS)}")
    stat, options = statistic(name), DEFAULTS | options
    given: Mapping[str, Any] = options
    own = {option: given[option] for option in OF_SOME if given[option] is not None}
    for option in own:
        if option not in stat.options:
            raise InputError(
                f"{name} has no option {option!r}; "
                + (f"it has {', '.join(stat.options)}" if stat.options else "it has none")
            )
    if stat.kind == "classes" and {"threshold", "folds"} <= own.keys():
        raise InputError(f"{name} takes the threshold given, or finds it in folds; leave one of them out")
    if stat.kind == "classes" and not math.isfinite(own.get("threshold", 0.0)):
        raise InputError(f"threshold is {own['threshold']}, expected a score")
    level = options["level"] or stat.level
    usual = stat.grouped if (groups is not None or axes == 2) and stat.kind != "classes" else "none"
    if level == "system":
        usual = "micro" if groups is not None and stat.pools else "none"
    averaging = options["averaging"] or usual
    check_averaging(name, averaging)
    if averaging == "sys" and stat.kind == "classes" and "threshold" not in own:
        raise InputError(f"{name} finds thresholds on other items; choose averaging='none' or 'item', or a threshold")
    check_option("level", level, Level, error=InputError)
    check_option("undefined", options["undefined"], Undefined, error=InputError)
    check_option("interval", options["interval"], Interval | None, error=InputError)
    check_option("system_scores", options["system_scores"], SystemScores, error=InputError)
    if options["compat"] is not None and (set(stat.options) & {"epsilon", "human_epsilon", "threshold"}):
        own["exact"] = True
    if level == "system":
        _check_systems(name, stat, averaging, axes, groups is not None)
    if options["compat"] is not None:
        check_compat(options["compat"], name, averaging, level)
    return StatisticPlan(name, stat, level, averaging, own, options)


def check_averaging(name: str, averaging: str) -> None:
    """Refuse an averaging that does not exist, or that the statistic of this name does not have.

    Raises:
        InputError: for such an averaging; the error gives the nearest known name.
    """
    check_option("averaging", averaging, Averaging, error=InputError)
    if averaging == "micro" and not statistic(name).pools:
        raise InputError(f"{name} is no ratio of pairs that could be pooled; choose averaging='none', 'item' or 'sys'")


def _check_systems(name: str, stat: Statistic, averaging: str, axes: int, is_grouped: bool) -> None:
    """Refuse what does not go with level `system`."""
    if averaging in ("item", "sys"):
        raise InputError(
            "level='system' leaves one coefficient: choose averaging='none', or 'micro' for pairs pooled over groups"
        )
    if is_grouped and not stat.pools:
        raise InputError(f"{name} of systems is one coefficient and takes no groups; call it once per group")
    if axes == 2 and averaging == "micro":
        raise InputError("a grid holds one set of systems, which leaves nothing to pool: choose averaging='none'")


def entries_of(plan: StatisticPlan, laid: Entries, shape: tuple[int, ...]) -> Entries:
    """The entries that a statistic is computed from, at its level.

    Args:
        plan: what was asked for.
        laid: scores and judgements.
        shape: the shape of the judgements as given, to name a missing score.
    """
    options = plan.options
    missing, over, as_given = options["missing"], options["system_scores"], options["compat"] == "mt-metrics-eval"
    if options["compat"] == "nlpstats":
        missing, over = "drop", "all"
        if plan.level == "segment" and (np.isnan(laid.x) != np.isnan(laid.z)).any():
            raise InputError("compat='nlpstats' wants scores and judgements to be missing in the same places")
    name_of = namer(shape, options["ids"])
    if plan.level == "system":
        entries = system_entries(laid, missing, over, name_of)
        means, judged = plan.on_grid(entries.x, entries.z)  # sums in some order
        return replace(entries, x=means, z=judged)
    return segment_entries(laid, missing, name_of, as_given=as_given)


# --- How well does a metric agree with people? One entry point to every statistic, for one metric or many at once


@dataclass(frozen=True, kw_only=True)
class Correlation:
    """A statistic, and what it was computed from.

    Attributes:
        stat: the name of the statistic.
        value: the value; NaN where undefined.
        n_used: how many parts the value rests on: entries (averaging `none`), systems (level `system`) or groups
            (`item`, `sys`, `micro`).
        n_undefined: how many more were given and could not be used: without a judgement, with a dropped score, or a
            group that is too small or constant.
        n_zeroed: groups among those used that have no defined value and count as 0.
        n_pairs: pairs in the denominator, where pairs are pooled or not grouped; None elsewhere.
        n_ties: pairs that only one side ties, where `n_pairs` is given.
        level: `segment` or `system`.
        averaging: `none`, `item`, `sys` or `micro`.
        ties: how ties are settled; None where the statistic leaves no choice.
        epsilon: the difference of scores up to which they are tied; None where there is none. With held-out folds it
            is the threshold calibrated on all data.
        chance: the value that random scores would reach; NaN where it is not known. With t, the share of pairs that
            people tie, it is (1 - t) / 2 for `acc_eq` and `pairwise_accuracy`, at least the larger of that and t after
            calibration, and between 0.5 and 0.75 for `soft_pairwise_accuracy`. A value near it says little.
        low: lower end of a 95 % interval (preference accuracy without groups), Wilson's by default; NaN elsewhere.
        high: upper end.
        raw: the value as if higher were better for every metric; NaN where it was not computed.
        higher_is_better: the orientation declared; scores for which lower is better were negated first.
        compat: the package whose procedure was followed, or None.
        note: what a reader should know beside the number.
        groups: the value of each group by its label, NaN where undefined; empty with averaging `none`.
    """

    stat: str
    value: float
    n_used: int
    n_undefined: int
    n_zeroed: int = 0
    n_pairs: int | None = None
    n_ties: int | None = None
    level: str
    averaging: str
    ties: str | None = None
    epsilon: float | None = None
    chance: float = math.nan
    low: float = math.nan
    high: float = math.nan
    raw: float = math.nan
    higher_is_better: bool = True
    compat: str | None = None
    note: str = ""
    groups: dict[Hashable, float] = field(default_factory=dict, repr=False)


def correlation(
    name: str, x: Any, z: Any, groups: Sequence[Hashable] | None = None, **options: Unpack[Options]
) -> Correlation:
    """Compare the scores of one metric with judgements.

    A grid is averaged by item unless `averaging` says otherwise, and so are entries with `groups`. Entries without a
    judgement are left out and counted. Judgements that are equal to 12 digits tie, so that 0.1 + 0.2 and 0.3 do; scores
    likewise where the statistic has a rule for ties (`acc_eq` and its kin, `pairwise_accuracy`, `wmt_kendall_like`).
    With `compat` float64 decides.

    Args:
        name: a statistic of `nlgauge list statistics`, or of a plug-in.
        x: scores, shape (n,), or (S, N) with one row per system and one column per item. For `rr_kendall` and
            `preference_accuracy`: scores of the better texts.
        z: judgements of the same shape; None or NaN where there is none. For `rr_kendall` and `preference_accuracy`:
            scores of the worse texts.
        groups: a label for each entry of a vector: its item, its system or its language pair. A grid needs none: its
            rows and columns are its groups. `balanced_accuracy`, `f1` and `mcc` take the item of each entry, and find
            thresholds on other items; they are not averaged over items unless this is asked for. `pairwise_accuracy`
            takes the test set of each system, and pairs never cross sets; `pdp` and `pdp_pairs` need the item;
            `preference_accuracy` takes the phenomenon of each pair.
        options: averaging, level, missing, ties and more, as the page on statistics lists them (`Options`).

    Returns:
        The value with everything it rests on.

    Raises:
        InputError: a name or option is unknown, shapes do not match, or a score is missing where there is a judgement.
    """
    return correlations(name, [x], [z] if statistic(name).kind == "preferences" else z, groups, **options)[0]


def correlations(
    name: str, xs: Any, z: Any, groups: Sequence[Hashable] | None = None, **options: Unpack[Options]
) -> list[Correlation]:
    """Compare the scores of M metrics with the same judgements; one result per metric.

    Arguments are those of `correlation`, with one more axis in front of `xs`.

    For `rr_kendall` and `preference_accuracy` the scores of the worse texts have that axis as well.
    """
    plan, x, given, up = prepare(name, xs, z, groups, options)
    if plan.stat.kind == "preferences":
        missing = plan.options["missing"]
        found = [
            _held(plan, *settle_preferences(better, worse, missing), groups)[0]
            for better, worse in zip(x, given, strict=True)
        ]
    else:
        compute = {"soft": _soft, "differences": _differences, "difference_pairs": _difference_pairs}
        found = compute.get(plan.stat.kind, _held)(plan, x, given, groups)
    return [replace(one, higher_is_better=u, compat=plan.options["compat"]) for one, u in zip(found, up, strict=True)]


def _held(plan: StatisticPlan, x: Array, z: Array, groups: Sequence[Hashable] | None) -> list[Correlation]:
    """Every statistic but soft pairwise accuracy: entries, values by group, their mean."""
    laid = lay_flat(x, z, groups, plan.options["systems"], plan.averaging)
    entries = entries_of(plan, laid, z.shape)
    if plan.stat.kind == "calibrated":
        return _calibrated(plan, entries)
    own, said = dict(plan.own), [""] * len(x)
    if plan.stat.kind == "classes" and "threshold" not in own:
        entries, said = told_held_out(plan, entries)
        own = {"threshold": 0.0}
    bounds = SHARES[own.pop("interval", "wilson")]
    if plan.name == "wmt_kendall_like":
        own["human_ties_lose"] = plan.options["compat"] == "mt-metrics-eval"
    grouped = by_group(plan.stat.kernel, entries, smallest=plan.smallest, options=own)
    weak = np.zeros(grouped.values.shape, dtype=np.bool_)
    if plan.options["compat"] == "realsumm":
        weak = not_significant(plan.name, entries)
        grouped = replace(grouped, values=np.where(weak, np.nan, grouped.values))
    found = _summarised(plan, grouped, entries)
    extra: dict[str, Any] = {"ties": plan.own.get("ties", "loss") if "ties" in plan.stat.options else None}
    near = np.broadcast_to(np.ravel(plan.own.get("epsilon", 0.0)), len(found))
    for m, (one, guess) in enumerate(zip(found, _chance(plan, entries), strict=True)):
        procedure = plan.options["compat"]
        note = compat_note(procedure, int(weak[m].sum()), len(entries.labels)) if procedure is not None else ""
        found[m] = replace(one, chance=float(guess), note=note or said[m], **extra)
        if "epsilon" in plan.stat.options:
            found[m] = replace(found[m], epsilon=float(near[m]))
        if plan.stat.kind == "preferences" and plan.averaging == "none" and one.n_pairs is not None:
            given = one.n_used + one.n_undefined
            found[m] = replace(found[m], n_used=one.n_pairs, n_undefined=given - one.n_pairs)
        if plan.name == "preference_accuracy" and plan.averaging == "none" and grouped.counts is not None:
            low, high = bounds(float(grouped.counts.numerator[m, 0]), float(grouped.counts.denominator[m, 0]), 0.95)
            found[m] = replace(found[m], low=low, high=high)
    return found


def told_held_out(plan: StatisticPlan, entries: Entries) -> tuple[Entries, list[str]]:
    """Entries with the classes, 1 or -1, in the place of scores, and a note for each metric on its thresholds."""
    n_units = int(entries.units.max(initial=-1)) + 1
    if n_units < 2 and "folds" not in plan.own:
        said = ["there is no other item to find a threshold on"] * len(entries.x)
        return replace(entries, x=np.full(entries.x.shape, np.nan)), said
    folds = plan.own.get("folds", min(plan.n_folds, n_units))
    told, cuts = classes_held_out(entries, plan.stat.kernel, folds, plan.own.get("seed", 0))
    up = np.broadcast_to(plan.options["higher_is_better"], len(told))
    said = []
    for row, good in zip(cuts, up, strict=True):
        known = sorted((row if good else -row)[~np.isnan(row)])
        ends = f": {known[0]:.4g} to {known[-1]:.4g}" if known else ""
        lacking = f"{folds - len(known)} have none, since all labels of the others are alike"
        note = f"thresholds of {folds} folds, each found on the others{ends}"
        said.append(f"{note}; {lacking}" if len(known) < folds else note)
    return replace(entries, x=told), said


def _calibrated(plan: StatisticPlan, entries: Entries) -> list[Correlation]:
    """acc_eq and tau_eq at the threshold that suits each metric best, on these data or, with folds, on others."""
    near: dict[str, Any] = {"human_epsilon": plan.own.get("human_epsilon", 0.0), "exact": plan.own.get("exact", False)}
    thresholds = calibrate_entries(entries, **near)
    n_units = len(np.unique(entries.units))
    folds = plan.own.get("folds", min(plan.stat.folds, max(2, n_units)))  # an item each where there are few
    if folds:
        undefined = n_units < 2 and "folds" not in plan.own  # nothing else to calibrate on, and nobody chose folds
        parts = [] if undefined else calibrate_held_out(entries, folds, plan.own.get("seed", 0), **near)
        with_tie = np.full((len(entries.x), len(entries.labels)), np.nan)
        for m, part in enumerate(parts):
            with_tie[m] = _mean(part)
        scale, shift = (2, -1) if plan.name.startswith("tau") else (1, 0)
        sizes = by_group(agreement, entries).sizes
        found = _summarised(plan, Grouped(scale * with_tie + shift, sizes, None), entries)
        note = f"epsilon calibrated on other items, {folds} folds"
    else:
        epsilon = np.array([[0.0 if math.isnan(t.epsilon) else t.epsilon] for t in thresholds])
        grouped = by_group(plan.stat.kernel, entries, options=near | {"epsilon": epsilon})
        found = _summarised(plan, grouped, entries)
        note = "epsilon calibrated on the data reported, which favours the metric"
    note = "; ".join(filter(None, [note, compat_note(plan.options["compat"])]))
    guesses = _chance(plan, entries)
    return [
        replace(one, epsilon=t.epsilon, note=note, chance=float(guess), n_pairs=None, n_ties=None)
        for one, t, guess in zip(found, thresholds, guesses, strict=True)
    ]


def _settled_grid(plan: StatisticPlan, x: Array, z: Array, groups: Sequence[Hashable] | None) -> tuple[Array, Mask]:
    """Scores of a grid after the policy for missing ones, and the cells that count for each metric: (M, S, N) both."""
    if z.ndim != 2 or x.shape[1:] != z.shape or groups is not None:
        raise InputError(
            f"{plan.name} needs a grid of systems by items, got shapes {x.shape[1:]} and {z.shape}, or groups"
        )
    flat, keep = settle_missing(
        x.reshape(len(x), -1), ~np.isnan(z.reshape(-1)), plan.options["missing"], namer(z.shape, plan.options["ids"])
    )
    return flat.reshape(x.shape), keep.reshape(x.shape)


def _differences(plan: StatisticPlan, x: Array, z: Array, groups: Sequence[Hashable] | None) -> list[Correlation]:
    """Pairwise difference Pearson: all differences within items, pooled."""
    if z.ndim == 1 and groups is None:
        raise InputError(f"{plan.name} needs groups, the item of each entry; or give a grid of systems by items")
    entries = entries_of(plan, lay_flat(x, z, groups, plan.options["systems"], "item"), z.shape)
    found: dict[int, Correlation] = {}
    for metrics, keep in same_entries(entries.keep):
        x_kept, z_kept, items = entries.x[metrics][:, keep], entries.z[keep], entries.groups[keep]
        values, n_pairs = pairwise_difference_pearson(x_kept, z_kept, items)
        for m, value in zip(metrics.tolist(), values.tolist(), strict=True):
            found[m] = Correlation(
                stat=plan.name,
                value=value,
                n_used=int(keep.sum()),
                n_undefined=int(math.isnan(value)),
                n_pairs=n_pairs,
                level="segment",
                averaging="none",
                chance=0.0,
            )
    return [found[m] for m in range(len(x))]


def _difference_pairs(plan: StatisticPlan, x: Array, z: Array, groups: Sequence[Hashable] | None) -> list[Correlation]:
    """The same by pair of systems, averaged."""
    scores, keep = _settled_grid(plan, x, z, groups)
    n_all = math.comb(len(z), 2)
    found = []
    for row, judged in zip(scores, keep, strict=True):
        values, used = mean_of_system_pairs(row[None], z, judged)
        found.append(
            Correlation(
                stat=plan.name,
                value=float(values[0]),
                n_used=int(used[0]),
                n_undefined=n_all - int(used[0]),
                n_pairs=int(used[0]),
                level="segment",
                averaging="none",
                chance=0.0,
            )
        )
    return found


def _soft(plan: StatisticPlan, x: Array, z: Array, groups: Sequence[Hashable] | None) -> list[Correlation]:
    scores, cells = _settled_grid(plan, x, z, groups)
    keep = cells.reshape(len(x), -1)
    released, note = plan.options["compat"] == "mt-metrics-eval", compat_note(plan.options["compat"])
    found: dict[int, Correlation] = {}
    for metrics, kept in same_entries(keep):
        judged = kept.reshape(z.shape)
        soft = soft_pairwise(scores[metrics], z, judged, as_released=released, **plan.own)
        n_systems = int((~np.isnan(soft.human_p)).any(axis=1).sum())
        guess = float(coefficients.chance_soft_pairwise(soft.human_p))
        for m, value in zip(metrics.tolist(), soft.values.tolist(), strict=True):
            found[m] = Correlation(
                stat=plan.name,
                value=value,
                n_used=n_systems,
                n_undefined=len(z) - n_systems,
                n_pairs=soft.n_pairs,
                level="system",
                averaging="none",
                chance=guess,
                note=note,
            )
    return [found[m] for m in range(len(x))]


def _summarised(plan: StatisticPlan, grouped: Grouped, entries: Entries) -> list[Correlation]:
    """One result per metric from its values by group."""
    counts, n_given = grouped.counts, entries.x.shape[1]
    if plan.averaging == "none":
        defined = ~np.isnan(grouped.values[:, 0])
        n_used = np.where(defined, grouped.sizes[:, 0], 0)
        means = Means(grouped.values[:, 0], n_used, n_given - n_used, np.zeros_like(n_used))
    elif plan.averaging == "micro" and counts is not None:
        means = pool(counts)
    else:
        means = mean_of_groups(grouped, undefined=plan.options["undefined"], common=plan.options["common"])
    shown = counts if plan.averaging in ("none", "micro") else None
    is_zero = np.isnan(means.values) & (plan.options["compat"] == "mt-metrics-eval")
    return [
        Correlation(
            stat=plan.name,
            value=float(value),
            n_used=int(means.n_used[m]),
            n_undefined=int(means.n_undefined[m]),
            n_zeroed=int(means.n_zeroed[m]),
            n_pairs=None if shown is None else int(shown.denominator[m].sum()),
            n_ties=None if shown is None else int(shown.ties[m].sum()),
            level=plan.level,
            averaging=plan.averaging,
            groups={} if plan.averaging == "none" else dict(zip(entries.labels, row.tolist(), strict=True)),
        )
        for m, (value, row) in enumerate(zip(np.where(is_zero, 0.0, means.values), grouped.values, strict=True))
    ]


def _chance(plan: StatisticPlan, entries: Entries) -> Array:
    """The value that noise would reach, shape (M,)."""
    if plan.stat.chance is not None:
        return np.full(len(entries.x), plan.stat.chance)
    if np.any(plan.own.get("epsilon", 0.0)):
        return np.full(len(entries.x), np.nan)  # depends on how the noise is spread
    if plan.own.get("ties") in ("half", "exclude"):
        return np.full(len(entries.x), 0.5)  # pairs that people tie count half, or not at all
    tied = coefficients.tied_by_people(entries, plan.averaging, plan.own.get("human_epsilon", 0.0))
    calibrated = plan.stat.kind == "calibrated"
    accuracy = coefficients.chance_acc_eq_calibrated(tied) if calibrated else coefficients.chance_acc_eq(tied)
    return 2 * accuracy - 1 if plan.name.startswith("tau") else accuracy


def _mean(values: Array) -> Array:
    """Mean over the folds in which a group is defined."""
    defined = ~np.isnan(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(defined, values, 0.0).sum(axis=0) / defined.sum(axis=0))
