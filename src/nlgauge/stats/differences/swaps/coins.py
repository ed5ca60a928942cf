"""Which scores of two metrics are swapped: coins for cells, systems or items, stored as bits and returned as signs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.stats.grids import Averaging, in_groups

Signs = npt.NDArray[np.int8]
GeneraliseTo = Literal["both", "inputs", "systems"]

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
        """Ranges of draws of about the same length, short enough that their signs fit into memory."""
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
    """Patterns that were made elsewhere, shape (B, S or 1, N or 1), True where a score is swapped."""
    return Coins(np.packbits(swapped.reshape(len(swapped), -1), axis=1), (swapped.shape[1], swapped.shape[2]))


def collapse(table: Array, coins: tuple[int, int], averaging: Averaging) -> Array:
    """Sums over the cells of a group that share a coin: (..., S, N) to (..., groups, coins of a group)."""
    if coins[0] == 1 and averaging != "sys":
        table = table.sum(axis=-2, keepdims=True)
    if coins[1] == 1 and averaging != "item":
        table = table.sum(axis=-1, keepdims=True)
    return in_groups(table, averaging)
