"""Token vectors of texts, and those that the metrics of one call share: each sequence is encoded once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nlgauge.models.locate import locate
from nlgauge.models.tokens import HeldTokens, Ids
from nlgauge.runtime.runtime import Runtime

if TYPE_CHECKING:
    import torch

_USUAL_WIDTH = 1024  # of a model whose configuration does not say


@dataclass(frozen=True)
class Vectors:
    """Token vectors of several texts in one matrix.

    Attributes:
        matrix: unit vectors, float32, shape (rows, d).
        starts: the first row of each text, shape (n,). The rows of a text are consecutive.
        lengths: the number of rows of each text, shape (n,).
        norms: the length that each vector had, shape (rows, 1); empty where nobody asks for it.
    """

    matrix: torch.Tensor
    starts: Ids
    lengths: Ids
    norms: torch.Tensor | None = None


class SharedVectors:
    """Unit vectors of sequences, held until `clear`.

    Args:
        layers: the layers at which every sequence is encoded.

    Attributes:
        tokens: the pieces of the texts that were read, held as long.
    """

    def __init__(self, layers: Sequence[int]) -> None:
        self.layers = tuple(sorted(set(layers)))
        self.tokens: HeldTokens = {}
        self._chunks: list[Sequence[Vectors]] = []  # what was encoded at once, at each layer
        self._places: dict[bytes, tuple[int, int]] = {}  # sequence -> its chunk, and its number there

    def vectors(
        self,
        sequences: Sequence[Ids],
        layers: Sequence[int],
        encode: Callable[[Sequence[Ids], Sequence[int]], Sequence[Vectors]],
    ) -> list[Vectors]:
        """The vectors of sequences at some of the layers; what is new is encoded first."""
        keys = [ids.tobytes() for ids in sequences]
        new = {key: ids for key, ids in zip(keys, sequences, strict=True) if key not in self._places}
        if new:
            self._places |= {key: (len(self._chunks), number) for number, key in enumerate(new)}
            self._chunks.append(encode(list(new.values()), self.layers))
        places = np.array([self._places[key] for key in keys], dtype=np.int64)
        return [self._at(self.layers.index(layer), places) for layer in layers]

    def clear(self) -> None:
        """Forget all vectors and tokens."""
        self.tokens.clear()
        self._chunks.clear()
        self._places.clear()

    def _at(self, layer: int, places: Ids) -> Vectors:
        """Vectors at one layer, from places (n, 2) in chunks; they are copied only out of several chunks."""
        import torch

        chunks = [self._chunks[number][layer] for number in np.unique(places[:, 0])]
        order = np.searchsorted(np.unique(places[:, 0]), places[:, 0])
        starts = np.array([chunks[c].starts[i] for c, i in zip(order, places[:, 1], strict=True)], dtype=np.int64)
        lengths = np.array([chunks[c].lengths[i] for c, i in zip(order, places[:, 1], strict=True)], dtype=np.int64)
        if len(chunks) == 1:
            return Vectors(chunks[0].matrix, starts, lengths, chunks[0].norms)
        before = np.concatenate([[0], np.cumsum([len(chunk.matrix) for chunk in chunks])])
        norms = [chunk.norms for chunk in chunks if chunk.norms is not None]
        return Vectors(torch.cat([chunk.matrix for chunk in chunks]), starts + before[order], lengths, torch.cat(norms))


def source_of(model: str, revision: str | None, dtype: str, runtime: Runtime) -> tuple[Hashable, ...]:
    """The key of an encoder's vectors: the files of the model, its precision and its device."""
    return "vectors", locate(model, revision), dtype, runtime.device


def bytes_of(wanted: Mapping[Hashable, Sequence[int]]) -> int:
    """The memory that a piece takes at the layers of each source."""
    total = 0
    for source, layers in wanted.items():
        assert isinstance(source, tuple)
        width = source[1].config.get("hidden_size") or source[1].config.get("d_model") or _USUAL_WIDTH
        total += 4 * int(width) * len(layers)
    return total
