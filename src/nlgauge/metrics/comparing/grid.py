"""Which segments belong together: those of one system, and those of several systems that answer one item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from nlgauge.core.errors import InputError, nearest

Places = npt.NDArray[np.int64]


def by_system(ids: Sequence[str], systems: Sequence[str | None]) -> dict[str | None, Places]:
    """System -> positions of its segments, in order of first appearance; both arguments have length n."""
    if len(systems) != len(ids):
        raise InputError(f"{len(ids)} segments but {len(systems)} systems; give one system per segment")
    places: dict[str | None, list[int]] = {}
    for i, system in enumerate(systems):
        places.setdefault(system, []).append(i)
    return {name: np.array(where, dtype=np.int64) for name, where in places.items()}


def aligned(
    ids: Sequence[str], systems: Sequence[str | None], items: Sequence[str | None], baseline: str
) -> dict[str, Places]:
    """System -> positions of its segments, in the baseline's order of items.

    The baseline comes first, then the other systems in order of first appearance.

    Args:
        ids: the ids of the segments, for errors, length n.
        systems: the system of each segment, length n.
        items: the input that each segment answers, length n.
        baseline: the system whose items every other system must have.

    Raises:
        InputError: a segment has no system or item, a system lacks an item or has it twice, the baseline is unknown,
            or there is only one system.
    """
    if len(items) != len(ids):
        raise InputError(f"{len(ids)} segments but {len(items)} items; give one item per segment")
    if not len(ids):
        raise InputError("no systems: there are no segments; a comparison needs at least two systems with texts")
    grid: dict[str, dict[str, int]] = {}
    for name, where in by_system(ids, systems).items():
        for i in where.tolist():
            item = items[i]
            if name is None or item is None:
                what = "system" if name is None else "item"
                raise InputError(
                    f"segment {ids[i]!r} names no {what}; systems are compared item by item, so every segment needs"
                    " both"
                )
            first = grid.setdefault(name, {}).setdefault(item, i)
            if first != i:
                twice = f"(segments {ids[first]!r} and {ids[i]!r})"
                raise InputError(
                    f"system {name!r} has item {item!r} twice {twice}, expected once; are several groups together?"
                )
    if baseline not in grid:
        raise InputError(f"baseline {baseline!r} is not among the systems{nearest(baseline, grid)}")
    if len(grid) < 2:
        raise InputError(f"{baseline!r} is the only system; a comparison needs at least two")
    wanted = grid[baseline]
    for name, own in grid.items():
        _check_items(name, own, baseline, wanted)
        _check_items(baseline, wanted, name, own)
    others = [name for name in grid if name != baseline]
    return {name: np.array([grid[name][item] for item in wanted], dtype=np.int64) for name in (baseline, *others)}


def _check_items(name: str, own: Mapping[str, int], other: str, wanted: Mapping[str, int]) -> None:
    lacking = [item for item in wanted if item not in own]
    if lacking:
        more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
        raise InputError(
            f"system {name!r} lacks item {lacking[0]!r}{more}, which {other!r} has; compare systems on the same"
            " items (nlgauge score has --common and --exclude)"
        )
