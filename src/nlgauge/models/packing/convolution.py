"""What DeBERTa v2 adds to its first block: a convolution of the embeddings, over the neighbours of each token.

References:
    He et al. (2021), "DeBERTa"; the second version has "nGiE", an encoding of n-grams.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch.nn import functional

from nlgauge.models.packing import kernels
from nlgauge.models.packing.lengths import to_device
from nlgauge.models.tokens import Ids


class Convolution:
    """A product of each token and its neighbours, side by side, with one matrix.

    Args:
        tensor: reads a tensor by its name.
        act: gelu or tanh, which follows.
        epsilon: of the layer norm.
        rows: see `kernels.linear`.
    """

    def __init__(self, tensor: Callable[[str], torch.Tensor], act: str, epsilon: float, rows: int) -> None:
        weight = tensor("encoder.conv.conv.weight")  # (d, d, number of neighbours with the token itself)
        self._reach, self._epsilon, self._act = weight.shape[2] // 2, epsilon, act
        joined = weight.permute(0, 2, 1).reshape(len(weight), -1).contiguous()
        self._product = kernels.linear(joined, tensor("encoder.conv.conv.bias"), rows, gelu=act == "gelu")
        self._norm = tensor("encoder.conv.LayerNorm.weight"), tensor("encoder.conv.LayerNorm.bias")

    def __call__(self, embedded: torch.Tensor, states: torch.Tensor, lengths: Ids) -> torch.Tensor:
        """The states of the first block with those of the neighbourhood, shape (rows, d).

        Args:
            embedded: what the first block read, shape (rows, d).
            states: what it gave, shape (rows, d).
            lengths: the number of tokens of each text; rows beyond the last text are a text of their own.
        """
        rows, width = embedded.shape
        sizes = np.append(lengths, rows - lengths.sum())
        ends = np.repeat(np.cumsum(sizes), sizes)
        begins = ends - np.repeat(sizes, sizes)
        places = np.arange(rows)[:, None] + np.arange(-self._reach, self._reach + 1)
        places[(places < begins[:, None]) | (places >= ends[:, None])] = rows  # a row of zeros
        padded = functional.pad(embedded, (0, 0, 0, 1))
        beside = padded[to_device(places.ravel(), embedded.device)].view(rows, -1)
        found = self._product(beside)
        if self._act == "tanh":
            found = torch.tanh(found)
        return functional.layer_norm(states + found, (width,), *self._norm, self._epsilon)
