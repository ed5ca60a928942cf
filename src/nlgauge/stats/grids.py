"""A grid of systems by items: judgements and scores that fit each other, cut into groups, brought to one scale."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Mask
from nlgauge.core.errors import InputError

Averaging = Literal["none", "item", "sys"]

# what a group spans, of (systems, items)
AXES: dict[str, tuple[int, ...]] = {"none": (0, 1), "item": (0,), "sys": (1,)}


def check_grid(human: Array, metrics: Array, *, everywhere: bool = False) -> tuple[Array, Array]:
    """Judgements (S, N) and scores (M, S, N) as float64; a single row of S system scores counts as one item.

    Judgements may be missing (NaN). Scores are needed where there is a judgement, or everywhere; others that are
    missing become 0.

    Raises:
        InputError: shapes that do not fit, a needed score that is missing or infinite, an infinite judgement.
    """
    human, metrics = np.asarray(human, dtype=np.float64), np.asarray(metrics, dtype=np.float64)
    if human.ndim == 1 and metrics.ndim == 2:
        human, metrics = human[:, None], metrics[:, :, None]
    if human.ndim != 2 or metrics.ndim != 3 or metrics.shape[1:] != human.shape:
        raise InputError(
            f"judgements have shape {human.shape} and scores {metrics.shape}, expected (systems, items) and (metrics,"
            " systems, items)"
        )
    finite = np.isfinite(metrics)
    bad = np.argwhere(~finite & (everywhere | ~np.isnan(human)))
    if len(bad):
        metric, system, item = (int(i) for i in bad[0])
        raise InputError(
            f"metric {metric} has no finite score for system {system}, item {item} ({len(bad)} such entries); "
            "drop these entries or fill in a worst score, for all metrics alike"
        )
    if np.isinf(human).any():
        system, item = (int(i) for i in np.argwhere(np.isinf(human))[0])
        raise InputError(f"the judgement of system {system}, item {item} is infinite; a missing judgement is NaN")
    return human, np.where(finite, metrics, 0.0)


def in_groups(grid: npt.NDArray[Any], averaging: Averaging) -> npt.NDArray[Any]:
    """(..., S, N) to (..., groups, cells of a group)."""
    if averaging == "none":
        return grid.reshape(*grid.shape[:-2], 1, -1)
    return grid.swapaxes(-1, -2) if averaging == "item" else grid


def standardise(metrics: Array, used: Mask) -> tuple[Array, Mask]:
    """Mean 0 and standard deviation 1 (ddof 0) over the cells in use, 0 elsewhere; and which metrics are constant.

    Args:
        metrics: shape (M, S, N).
        used: shape (S, N).
    """
    if not used.any():
        raise InputError("no judgement at all: every entry is missing")
    cells = metrics[:, used]
    mean = cells.mean(axis=1)
    centred = cells - mean[:, None]
    spread = np.sqrt((centred**2).mean(axis=1))
    constant = spread <= 1e-14 * np.abs(cells).max(axis=1)  # rounding is no spread
    z = np.zeros(metrics.shape)
    z[:, used] = np.where(constant[:, None], 0.0, centred) / np.where(constant, 1.0, spread)[:, None]
    return z, constant
