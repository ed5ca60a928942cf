"""One statistic of every metric in one group: which entries it pairs, and how it averages."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nlgauge.core.errors import InputError, nearest
from nlgauge.metaeval.frames import Frame, Places, check_items, needed
from nlgauge.stats.correlation.chance import chance_preference
from nlgauge.stats.correlation.correlate import correlations
from nlgauge.stats.correlation.preferences import darr_pairs
from nlgauge.stats.correlation.registry import statistic
from nlgauge.stats.correlation.result import Correlation

AVERAGING = ("none", "item", "sys", "micro")
_ALL = (
    "ties",
    "threshold",
    "epsilon",
    "human_epsilon",
    "folds",
    "draws",
    "seed",
    "alternative",
    "undefined",
    "common",
    "compat",
)
_EVERY = ("undefined", "common", "compat")  # options that every statistic takes
_WITHIN = ("wmt_kendall_like",)  # defined between outputs for one input, at whatever level


def averaging_of(name: str, level: str, averaging: str | None) -> str:
    """How a statistic averages at a level unless told otherwise.

    Raises:
        InputError: an averaging or a level that does not go with the statistic.
    """
    stat = statistic(name)
    if stat.level == "system" and level != "system":
        raise InputError(f"{name} compares systems; choose level='system'")
    if averaging is not None:
        if averaging not in AVERAGING:
            raise InputError(f"averaging is {averaging!r}{nearest(averaging, AVERAGING)}")
        if (level == "system" and averaging != "none") or (level == "item" and averaging == "none"):
            raise InputError(
                f"averaging {averaging!r} does not go with level {level!r}; leave it out, or choose level='segment'"
            )
        if averaging == "micro" and not stat.pools:
            raise InputError(
                f"{name} is no ratio of pairs that could be pooled; choose averaging 'none', 'item' or 'sys'"
            )
        return averaging
    if level == "system":
        return "none"
    if level == "item":
        return "item"
    return "micro" if name in _WITHIN else "none"


def measure(
    frame: Frame, name: str, level: str, averaging: str, up: Sequence[bool], options: Mapping[str, Any]
) -> list[Correlation]:
    """Hold M metrics against the judgements of a group.

    Args:
        frame: of segments, or of systems where `level` is `system`.
        name: of the statistic.
        level: `segment`, `item` or `system`.
        averaging: `none`, `item`, `sys` or `micro`.
        up: whether higher is better, for each metric.
        options: keyword arguments of the statistic.

    Raises:
        InputError: items or systems that are needed and not known, one rated output an item, an option the statistic
            does not take.
    """
    stat = statistic(name)
    chosen: dict[str, Any] = {
        key: value for key, value in options.items() if value is not None and (key in stat.options or key in _EVERY)
    }
    chosen["higher_is_better"] = list(up)
    if stat.kind == "preferences":
        return _preferences(frame, name, averaging, chosen, options.get("threshold"))
    if stat.kind == "soft":
        x, z = frame.grid()
        return correlations(name, x, z, **chosen)
    if level == "system":
        return correlations(name, frame.x, frame.z, level="system", averaging="none", ids=frame.ids, **chosen)
    if averaging == "none":
        return correlations(name, frame.x, frame.z, averaging="none", ids=frame.ids, **chosen)
    if averaging == "sys":
        return correlations(
            name, frame.x, frame.z, needed(frame.systems, "system", frame), averaging="sys", ids=frame.ids, **chosen
        )
    check_items(frame)
    return correlations(name, frame.x, frame.z, frame.items, averaging=averaging, ids=frame.ids, **chosen)


def takes(name: str) -> tuple[str, ...]:
    """Options of a statistic; those made of pairs here also take the `threshold` from which on people tell two outputs apart."""
    stat = statistic(name)
    return (*stat.options, "threshold") if stat.kind == "preferences" else stat.options


def check_options(names: Sequence[str], options: Mapping[str, Any], tested: bool = False) -> None:
    """Refuse an option that none of the statistics takes; intervals take `draws` and `seed`, tests take `alternative` too.

    Raises:
        InputError: unknown option or statistic, with the nearest known.
    """
    for option, value in options.items():
        if option not in _ALL:
            raise InputError(f"meta_evaluate has no option {option!r}{nearest(option, _ALL)}")
        if value is None or option in (*_EVERY, "draws", "seed") or (tested and option == "alternative"):
            continue
        if not any(option in takes(name) for name in names):
            raise InputError(f"{' and '.join(names)} take no {option}; leave it out")


def pairs_of_frame(frame: Frame, threshold: float | None) -> tuple[Places, Places]:
    """Positions of the better and the worse text of every pair.

    The pairs that people gave; or else every two outputs for one input that people rate differently, by the threshold
    or more.
    """
    if frame.pairs is not None:
        return frame.pairs[:, 0], frame.pairs[:, 1]
    check_items(frame)
    seen: dict[str, int] = {}
    groups = np.array([seen.setdefault(item, len(seen)) for item in needed(frame.items, "item", frame)], dtype=np.int64)
    return darr_pairs(frame.z, groups, threshold=0.0 if threshold is None else threshold)


def _preferences(
    frame: Frame, name: str, averaging: str, chosen: dict[str, Any], threshold: float | None
) -> list[Correlation]:
    better, worse = pairs_of_frame(frame, threshold)
    groups: Any = None
    if averaging in ("item", "micro"):
        items = needed(frame.items, "item", frame)
        groups = [items[i] for i in better]
    elif averaging == "sys":
        raise InputError(f"{name} compares outputs of two systems; averaging is 'none', 'item' or 'micro'")
    found = correlations(name, frame.x[:, better], frame.x[:, worse], groups, averaging=averaging, **chosen)
    if name != "preference_accuracy" or not len(better):
        return found
    tied = (frame.x[:, better] == frame.x[:, worse]).mean(axis=1)  # what noise that ties as often would win
    guessed = chance_preference(tied, chosen.get("ties", "loss")).tolist()
    return [dataclasses.replace(one, chance=guess) for one, guess in zip(found, guessed, strict=True)]
