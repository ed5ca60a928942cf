"""Which scores of two metrics trade places: coins over cells, systems or items, held as bits and dealt out as signs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError

Signs = npt.NDArray[np.int8]
GeneraliseTo = Literal["both", "inputs", "systems"]
Averaging = Literal["none", "item", "sys"]

AXES: dict[str, tuple[int, ...]] = {
    "none": (0, 1),
    "item": (0,),
    "sys": (1,),
}  # what a group spans, of (systems, items)
_CELLS = 1 << 24  # draws x cells dealt out at once: 16 MB of signs
_DRAWS = 512  # long rows of draws keep numpy's inner loops long


@dataclass(frozen=True)
class Coins:
    """B patterns of swaps for a grid; an axis of length 1 means that one coin serves the whole of it.

    Attributes:
        bits: a set bit swaps, packed by rows, shape (B, bytes).
        shape: (S or 1, N or 1).
    """

    bits: npt.NDArray[np.uint8]
    shape: tuple[int, int]

    def signs(self, draws: slice) -> Signs:
        """1 where a score stays, -1 where it is swapped, shape (draws, S or 1, N or 1)."""
        n = self.shape[0] * self.shape[1]
        signs = np.unpackbits(self.bits[draws], axis=1, count=n).view(np.int8)
        signs *= -2
        signs += 1
        return signs.reshape(-1, *self.shape)

    def blocks(self) -> Iterator[slice]:
        """Ranges of draws of about the same length, short enough to hold their signs."""
        n = len(self.bits)
        most = max(1, min(_DRAWS, _CELLS // (self.shape[0] * self.shape[1])))
        size = -(-n // -(-n // most))
        for start in range(0, n, size):
            yield slice(start, min(start + size, n))


def toss(rng: np.random.Generator, draws: int, grid: tuple[int, int], generalise_to: GeneraliseTo) -> Coins:
    """Fair coins: for every cell (`both`), every item (`inputs`) or every system (`systems`) of a grid (S, N)."""
    shape = {"both": grid, "inputs": (1, grid[1]), "systems": (grid[0], 1)}[generalise_to]
    n = shape[0] * shape[1]
    words = rng.integers(1 << 64, size=(draws, -(-n // 64)), dtype=np.uint64)
    return Coins(words.view(np.uint8)[:, : -(-n // 8)], shape)


def given(swapped: npt.NDArray[np.bool_]) -> Coins:
    """Patterns made elsewhere, shape (B, S or 1, N or 1), True where a score is swapped."""
    return Coins(np.packbits(swapped.reshape(len(swapped), -1), axis=1), (swapped.shape[1], swapped.shape[2]))


def collapse(table: Array, coins: tuple[int, int], averaging: Averaging) -> Array:
    """Sums over the cells of a group that share a coin: (..., S, N) to (..., groups, coins of a group)."""
    if coins[0] == 1 and averaging != "sys":
        table = table.sum(axis=-2, keepdims=True)
    if coins[1] == 1 and averaging != "item":
        table = table.sum(axis=-1, keepdims=True)
    return by_group(table, averaging)


def by_group(grid: npt.NDArray[Any], averaging: Averaging) -> npt.NDArray[Any]:
    """(..., S, N) to (..., groups, cells of a group)."""
    if averaging == "none":
        return grid.reshape(*grid.shape[:-2], 1, -1)
    return grid.swapaxes(-1, -2) if averaging == "item" else grid


def standardise(metrics: Array, used: npt.NDArray[np.bool_]) -> tuple[Array, npt.NDArray[np.bool_]]:
    """Mean 0 and standard deviation 1 (ddof 0) over the cells in use, 0 elsewhere; and which metrics are constant there (all 0).

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
