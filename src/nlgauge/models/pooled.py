"""One vector per text: the mean of its token vectors at one layer or several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from nlgauge.models.encoder import Encoder, cut_layers
from nlgauge.models.tokens import Ids
from nlgauge.models.vectors import Vectors
from nlgauge.models.workers import side_by_side
from nlgauge.runtime.runtime import by_length, runs


def mean_vectors(
    network: Any,
    sequences: Sequence[Ids],
    layers: Sequence[int],
    *,
    budget: int | None = None,
    outer: tuple[int, int] = (0, 0),
    advance: Callable[[int], None] = lambda count: None,
) -> torch.Tensor:
    """Mean vectors of n texts, float32 on the network's device, shape (n, layers, d).

    Args:
        network: an encoder, see `nlgauge.models.encoder.Network`.
        sequences: piece ids of each text, special tokens included.
        layers: the layers in any order; 0 is the embeddings.
        budget: the largest number of tokens in one forward pass. If None, the network's own.
        outer: how many tokens at the start and at the end stay out of the mean; (0, 0) counts special tokens in, as
            SEScore does.
        advance: told the number of texts done.
    """
    means = torch.empty(len(sequences), len(layers), network.width, dtype=torch.float32, device=network.device)
    lengths = np.array([len(s) for s in sequences], dtype=np.int64)
    batches = list(by_length(lengths, budget or network.batch_tokens))
    first, last = outer

    with cut_layers(network, layers) as forward:

        def fill(batch: Ids) -> int:
            found = forward([sequences[i] for i in batch])
            row = 0
            for low, high in runs(lengths[batch]):
                n, length = high - low, int(lengths[batch[low]])
                rows = torch.from_numpy(batch[low:high]).to(network.device)
                for place, states in enumerate(found):
                    block = states[row : row + n * length].view(n, length, -1)[:, first : length - last]
                    means[rows, place] = block.float().mean(dim=1)
                row += n * length
            return len(batch)

        for done in side_by_side(fill, batches, network.device):
            advance(done)
    return means


def encoder_means(
    encoder: Encoder,
    sequences: Sequence[Ids],
    layers: Sequence[int],
    *,
    outer: tuple[int, int] = (0, 0),
    advance: Callable[[int], None] = lambda count: None,
) -> torch.Tensor:
    """Mean vectors of n texts, shape (n, layers, d); from the vectors that metrics of the call share, if they do."""
    if encoder.shared is None:
        how: dict[str, Any] = {"budget": encoder.budget, "outer": outer, "advance": advance}
        return mean_vectors(encoder.network, sequences, layers, **how)
    found = encoder.encode_sequences(sequences, layers)
    return means_of(found, encoder, len(sequences), outer, advance)


def means_of(
    found: Sequence[Vectors],
    encoder: Encoder,
    n: int,
    outer: tuple[int, int] = (0, 0),
    advance: Callable[[int], None] = lambda count: None,
) -> torch.Tensor:
    """Mean vectors of n texts from their token vectors at each layer, shape (n, layers, d); as in `mean_vectors`."""
    means = torch.empty(n, len(found), encoder.width, dtype=torch.float32, device=encoder.network.device)
    for place, vectors in enumerate(found):
        assert vectors.norms is not None
        for i, (start, length) in enumerate(zip(vectors.starts.tolist(), vectors.lengths.tolist(), strict=True)):
            rows = slice(start + outer[0], start + length - outer[1])
            means[i, place] = (vectors.matrix[rows] * vectors.norms[rows]).mean(dim=0)
    advance(n)
    return means


def cosines(vectors: torch.Tensor, pairs: Ids) -> npt.NDArray[np.float64]:
    """The cosine of each pair of rows of a matrix (rows, d), shape (n,); 0 if a vector is 0."""
    wide = vectors.cpu().double()
    wide = wide / wide.norm(dim=1, keepdim=True).clamp_min(torch.finfo(torch.float64).tiny)
    found: npt.NDArray[np.float64] = (
        (wide[torch.from_numpy(pairs[:, 0])] * wide[torch.from_numpy(pairs[:, 1])]).sum(dim=1).clamp(-1, 1).numpy()
    )
    return found
