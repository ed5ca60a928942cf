"""One statistic of every metric in one group: which entries it pairs, and how it averages."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError, nearest
from nlgauge.metaeval.frames import Frame, Places, check_items, needed
from nlgauge.stats.coefficients import chance_preference
from nlgauge.stats.correlate import OF_SOME, Correlation, Kind, Options, check_averaging, correlations, statistic
from nlgauge.stats.entries import Entries, Ratio, by_group, codes
from nlgauge.stats.preferences import darr_pairs, within_items
from nlgauge.stats.swaps import NAMED

_OF_ALL = ("undefined", "common", "compat")  # options that every statistic takes
_OF_DRAWS = ("draws", "seed")  # of intervals and tests too
_KNOWN = (*OF_SOME, "alternative", *_OF_ALL)
_WITHIN = ("wmt_kendall_like",)  # defined between outputs for one input, at whatever level


@dataclass(frozen=True)
class Measure:
    """How a statistic of M metrics is computed.

    Attributes:
        stat: the name of the statistic.
        level: `segment`, `item` or `system`.
        averaging: `none`, `item`, `sys` or `micro`.
        up: for each metric, whether higher is better.
        options: the options of the statistic; None stands for the default of an option.
    """

    stat: str
    level: str
    averaging: str
    up: Sequence[bool]
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> Kind:
        """The kind of the statistic."""
        return statistic(self.stat).kind

    @property
    def of_stat(self) -> Options:
        """The options that the statistic itself declares."""
        chosen: Any = {
            key: self.options[key] for key in statistic(self.stat).options if self.options.get(key) is not None
        }
        return chosen  # type: ignore[no-any-return]

    def turned(self, frame: Frame) -> Frame:
        """The frame with the scores of every metric oriented so that higher is better."""
        return dataclasses.replace(frame, x=np.where(np.asarray(self.up)[:, None], frame.x, -frame.x))


def averaging_of(name: str, level: str, averaging: str | None) -> str:
    """The averaging of a statistic at a level: the one asked for, or else the usual one.

    Raises:
        InputError: the averaging or the level does not go with the statistic.
    """
    if statistic(name).level == "system" and level != "system":
        raise InputError(f"{name} compares systems; choose level='system'")
    is_of_differences = statistic(name).kind in ("differences", "difference_pairs")
    if is_of_differences and (level, averaging or "none") != ("segment", "none"):
        raise InputError(f"{name} pools the differences between outputs for one item; choose level='segment'")
    if averaging is not None:
        check_averaging(name, averaging)
        if (level == "system" and averaging != "none") or (level == "item" and averaging == "none"):
            raise InputError(
                f"averaging {averaging!r} does not go with level {level!r}; leave it out, or choose level='segment'"
            )
        return averaging
    if level == "segment":
        return "micro" if name in _WITHIN else "none"
    return "item" if level == "item" else "none"


def measure(frame: Frame, how: Measure) -> list[Correlation]:
    """Compare the scores of M metrics with the judgements of a group.

    Args:
        frame: systems where a plain statistic is taken at level `system`, otherwise segments.
        how: statistic, level, averaging, directions and options.

    Raises:
        InputError: items or systems are needed and not known, each item has only one rated output, or the statistic
            does not take an option.
    """
    chosen = how.of_stat
    every = {key: how.options[key] for key in _OF_ALL if how.options.get(key) is not None}
    chosen.update(every)  # type: ignore[typeddict-item]
    chosen["higher_is_better"] = list(how.up)
    if how.kind == "preferences":
        return _preferences(frame, how, chosen)
    if how.kind in ("soft", "difference_pairs"):
        x, z = frame.grid()
        return correlations(how.stat, x, z, **chosen)
    chosen.update({"ids": frame.ids, "averaging": how.averaging})
    groups: Sequence[str] | None = None
    if how.level == "system":
        chosen["level"] = "system"
    elif how.kind == "differences":
        check_items(frame)
        groups = frame.items
    elif how.averaging == "sys":
        groups = needed(frame.systems, "system", frame)
    elif how.averaging != "none":
        check_items(frame)
        groups = frame.items
    return correlations(how.stat, frame.x, frame.z, groups, **chosen)


def as_pearson(frame: Frame, how: Measure) -> tuple[Frame, Measure]:
    """A frame and a measure of which Pearson's r is the statistic; others stay as they are.

    So `pdp` gets intervals and tests: drawing or swapping whole items leaves the differences within items as they are.
    """
    if how.kind != "differences":
        return frame, how
    _, items = np.unique(np.array(needed(frame.items, "item", frame)), return_inverse=True)
    x, z, _ = within_items(frame.x, frame.z, items)
    return dataclasses.replace(frame, x=x, z=z), dataclasses.replace(how, stat="pearson")


def as_averaged(frame: Frame, found: Sequence[Correlation], how: Measure) -> tuple[Frame, Sequence[Correlation]]:
    """The frame and the values by group as the means take them.

    With `common`, groups in which a metric is undefined have no judgement. With `undefined="zero"`, undefined values
    are 0. So tests and intervals are about the number that they stand beside.
    """
    labels = {"item": frame.items, "sys": frame.systems}.get(how.averaging)
    zero, common = _counts_as_zero(how), bool(how.options.get("common"))
    if labels is None or not (zero or common):
        return frame, found
    rated = Counter(label for label, z in zip(labels, frame.z.tolist(), strict=True) if z == z)
    filled = [
        {label: 0.0 if zero and v != v and rated[str(label)] > 1 else v for label, v in one.groups.items()}
        for one in found
    ]
    lost = {label for values in filled for label, v in values.items() if common and v != v}
    counted = [{label: np.nan if label in lost else v for label, v in values.items()} for values in filled]
    z = np.where([label in lost for label in labels], np.nan, frame.z)
    return dataclasses.replace(frame, z=z), [
        dataclasses.replace(one, groups=values) for one, values in zip(found, counted, strict=True)
    ]


def coefficient_of(how: Measure) -> str | Callable[[Array, Array], Array]:
    """The statistic of one group as tests take it: by name, or as a function of scores and judgements."""
    zero = _counts_as_zero(how)
    if how.stat in NAMED and not zero:
        return how.stat
    kernel, options = statistic(how.stat).kernel, how.of_stat

    def coefficient(x: Array, z: Array) -> Array:
        found = kernel(x, z, **options)
        values = np.asarray(found.value if isinstance(found, Ratio) else found)
        return np.asarray(np.where(np.isnan(values), 0.0, values)) if zero else values

    return coefficient


def has_epsilon(how: Measure) -> bool:
    """Whether scores that differ by a little are tied: by how much is said in the units of each metric."""
    return bool(np.any(how.of_stat.get("epsilon", 0.0)))


def _counts_as_zero(how: Measure) -> bool:
    """Whether a group without a value counts as 0 in the mean."""
    return how.options.get("undefined") == "zero" and how.averaging in ("item", "sys")


def takes(name: str) -> tuple[str, ...]:
    """The options of a statistic.

    Statistics of pairs of texts also take `threshold`, the smallest difference of two ratings that makes a pair.
    """
    stat = statistic(name)
    return (*stat.options, "threshold") if stat.kind == "preferences" else stat.options


def check_options(names: Sequence[str], options: Mapping[str, Any], tested: bool = False) -> None:
    """Refuse an option that none of the statistics takes.

    Each statistic takes some of `ties`, `threshold`, `epsilon`, `human_epsilon`, `folds`, `undefined`, `common` and
    `compat`. Intervals and tests take `draws` and `seed`; tests also take `alternative` (`greater` or `two-sided`).

    Raises:
        InputError: an option or a statistic is unknown; the error gives the nearest known name.
    """
    for option, value in options.items():
        if option not in _KNOWN:
            raise InputError(f"meta_evaluate has no option {option!r}{nearest(option, _KNOWN)}")
        if value is None or option in (*_OF_ALL, *_OF_DRAWS) or (tested and option == "alternative"):
            continue
        if not any(option in takes(name) for name in names):
            raise InputError(f"{' and '.join(names)} take no {option}; leave it out")


def pairs_of_frame(frame: Frame, threshold: float | None) -> tuple[Places, Places]:
    """The positions of the better and the worse text of every pair.

    Where people gave pairs, these are used. Otherwise every two outputs for one input form a pair if their ratings
    differ, and differ by at least the threshold.
    """
    if frame.pairs is not None:
        if threshold is not None:
            raise InputError("threshold changes nothing: people gave the pairs, which have no ratings; leave it out")
        return frame.pairs[:, 0], frame.pairs[:, 1]
    check_items(frame)
    numbers: dict[str, int] = {}
    items = needed(frame.items, "item", frame)
    groups = np.array([numbers.setdefault(item, len(numbers)) for item in items], dtype=np.int64)
    return darr_pairs(frame.z, groups, threshold=0.0 if threshold is None else threshold)


def pooled_over_items(stat: str, averaging: str) -> bool:
    """Whether a statistic counts pairs within items, and pools the pairs of all items."""
    kind = statistic(stat).kind
    return (kind == "preferences" and averaging in ("none", "micro")) or (kind == "pairs" and averaging == "micro")


def item_ratios(frame: Frame, how: Measure) -> tuple[Array, Array]:
    """The value of each metric within each item, and the pairs that it counts there: shapes (M, N).

    Pairs that people gave, of items that are not known, are an item each. Higher scores are better in the frame.
    """
    kernel, options = statistic(how.stat).kernel, dict(how.of_stat)
    if how.kind == "preferences":
        better, worse = pairs_of_frame(frame, how.options.get("threshold"))
        names = [str(i) for i in better.tolist()] if frame.items is None else [frame.items[i] for i in better]
        sides = [(row[better][None], row[worse]) for row in frame.x]
    else:
        names, sides = list(needed(frame.items, "item", frame)), [(row[None], frame.z) for row in frame.x]
    of, labels = codes(names, len(names), "items")
    found = []
    for x, z in sides:
        entries = Entries(x, z, ~np.isnan(z)[None], of, labels, of)
        counts = by_group(kernel, entries, smallest=1 if how.kind == "preferences" else 2, options=options).counts
        assert counts is not None  # ratios of pairs
        found.append((counts.value[0], counts.denominator[0]))
    values, pairs = zip(*found, strict=True)
    return np.stack(values), np.stack(pairs)


def _preferences(frame: Frame, how: Measure, chosen: Options) -> list[Correlation]:
    better, worse = pairs_of_frame(frame, how.options.get("threshold"))
    groups: list[str] | None = None
    if how.averaging in ("item", "micro"):
        items = needed(frame.items, "item", frame)
        groups = [items[i] for i in better]
    elif how.averaging == "sys":
        raise InputError(f"{how.stat} compares outputs of two systems; averaging is 'none', 'item' or 'micro'")
    x, chosen["averaging"] = frame.x, how.averaging
    found = correlations(how.stat, x[:, better], x[:, worse], groups, **chosen)
    if how.stat != "preference_accuracy" or not len(better):
        return found
    tied = (x[:, better] == x[:, worse]).astype(np.float64)  # what noise that ties as often would win
    if how.averaging == "item" and groups is not None:
        of, _ = codes(groups, len(groups), "items")
        tied = np.stack([np.bincount(of, weights=row) for row in tied]) / np.bincount(of)
    guesses = chance_preference(tied.mean(axis=1), chosen.get("ties") or "loss").tolist()
    return [dataclasses.replace(one, chance=guess) for one, guess in zip(found, guesses, strict=True)]
