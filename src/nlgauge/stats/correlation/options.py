"""What was asked for? A statistic with its options checked and its defaults filled in."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError, nearest
from nlgauge.core.options import check_option
from nlgauge.stats.correlation import compat
from nlgauge.stats.correlation.entries import Entries, FlatScores, namer, numbers, oriented, segment_entries
from nlgauge.stats.correlation.levels import Missing, SystemScores, system_entries
from nlgauge.stats.correlation.registry import Statistic, statistic
from nlgauge.stats.correlation.rounding import settled
from nlgauge.stats.draws import Seed
from nlgauge.stats.shares import Interval

Averaging = Literal["none", "item", "sys", "micro"]
Level = Literal["segment", "system"]
Undefined = Literal["skip", "zero"]


class PlainOptions(TypedDict, total=False):
    """Options of every statistic; each may be left out.

    Attributes:
        averaging: `none` pools all entries; `item` and `sys` compute a coefficient in each group and average these;
            `micro` pools the pair counts of groups. The default is `item` for a grid and where there are groups
            (`micro` for Kendall-like statistics), and `none` elsewhere.
        level: `segment`, or `system` for one coefficient of system means. A vector without `systems` is taken to hold
            system means already.
        systems: the system of each entry of a vector.
        system_scores: average a metric over the `rated` segments or over `all`.
        missing: what to do where there is a judgement but no score: `refuse`; `drop` the entry; or fill in the `worst`
            score of the metric, or `zero`.
        undefined: `skip` groups without a defined value, or count them as `zero`; groups with one entry are always
            skipped.
        common: with several metrics, use only the groups in which all of them are defined.
        higher_is_better: False for an error rate, whose scores are negated first. One value, or one per metric.
        ids: names of the entries, for errors.
        compat: `mt-metrics-eval`, `nlpstats` or `realsumm` follows the procedure of that package, to check published
            numbers.
        ties: `loss` (default), `half`, `exclude` or `zero`, where pairs are counted.
        threshold: the smallest difference of two judgements that counts, inclusive (`wmt_kendall_like`); 25 by
            default.
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
        folds: calibrate on all folds of items but one, and evaluate on that one. By default the threshold is
            calibrated on the data reported.
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
OF_SOME = (
    "ties",
    "threshold",
    "epsilon",
    "human_epsilon",
    "interval",
    "folds",
    "draws",
    "seed",
)  # options of some statistics only


@dataclass(frozen=True)
class Plan:
    """A statistic with its options checked and its defaults filled in."""

    name: str
    stat: Statistic
    level: str
    averaging: str
    own: dict[str, Any]
    options: Options

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
) -> tuple[Plan, Array, Array, list[bool]]:
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
    x, given = plan.on_grid(x, given)
    return plan, oriented(x, up), oriented(given, up) if preferences else given, up


def make_plan(name: str, axes: int, groups: Sequence[Hashable] | None, options: Options) -> Plan:
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
    level = options["level"] or stat.level
    usual = stat.grouped if groups is not None or axes == 2 else "none"
    if level == "system":
        usual = "micro" if groups is not None and stat.pools else "none"
    averaging = options["averaging"] or usual
    check_averaging(name, averaging)
    check_option("level", level, Level, error=InputError)
    check_option("undefined", options["undefined"], Undefined, error=InputError)
    check_option("interval", options["interval"], Interval | None, error=InputError)
    check_option("system_scores", options["system_scores"], SystemScores, error=InputError)
    if options["compat"] is not None and (set(stat.options) & {"epsilon", "human_epsilon", "threshold"}):
        own["exact"] = True
    if level == "system":
        _check_systems(name, stat, averaging, axes, groups is not None)
    if options["compat"] is not None:
        compat.check_compat(options["compat"], name, averaging, level)
    return Plan(name, stat, level, averaging, own, options)


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


def entries_of(plan: Plan, laid: FlatScores, shape: tuple[int, ...]) -> tuple[Entries, Missing]:
    """The entries that a statistic is computed from, at its level, and how many segments do not count for each metric.

    Args:
        plan: what was asked for.
        laid: scores and judgements.
        shape: the shape of the judgements as given, to name a missing score.
    """
    options = plan.options
    missing, over, as_given = options["missing"], options["system_scores"], options["compat"] == "mt-metrics-eval"
    if options["compat"] == "nlpstats":
        missing, over = "drop", "all"
        if plan.level == "segment":
            compat.check_same_gaps(laid.x, laid.z)
    name_of = namer(shape, options["ids"])
    if plan.level == "system":
        entries, n_missing = system_entries(laid, missing, over, name_of)
        means, judged = plan.on_grid(entries.x, entries.z)  # sums in some order
        return replace(entries, x=means, z=judged), n_missing
    return segment_entries(laid, missing, name_of, as_given=as_given)
