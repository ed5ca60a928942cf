"""Greedy matching of token vectors: the best similarity of every token, for many pairs at once.

References:
    Zhang et al. (2020), "BERTScore", section 3, equation for P and R.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import torch

from nlgauge.models.tokens import Ids
from nlgauge.models.vectors import Vectors
from nlgauge.models.workers import side_by_side

_CELLS = 1 << 18  # most numbers in a batch of gathered vectors: 1 MB a side stays in a core's cache


def greedy(
    vectors: Vectors, weights: npt.NDArray[np.float32], hypotheses: Ids, references: Ids
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Weighted means of the best similarities, hypothesis to reference and back.

    A similarity below 0 is not replaced by 0. Padding is minus infinity, so it never wins over a real token.

    Args:
        vectors: unit vectors of all texts.
        weights: weight of each row of `vectors.matrix`, shape (rows,). The weights of a text need not sum to 1.
        hypotheses: text numbers, shape (n,), each with at least one row; `references` likewise.

    Returns:
        Precision and recall, float64, shape (n,); NaN if all weights of a side are 0.
    """
    n = len(hypotheses)
    precision, recall = np.empty(n), np.empty(n)
    device = vectors.matrix.device
    row_weights = torch.from_numpy(weights).to(device)
    starts = torch.from_numpy(vectors.starts).to(device)
    lengths = torch.from_numpy(vectors.lengths).to(device)
    hyp_lengths, ref_lengths = vectors.lengths[hypotheses], vectors.lengths[references]

    def match(batch: Ids) -> None:
        hyp_rows, hyp_real = rows_of(starts, lengths, torch.from_numpy(hypotheses[batch]).to(device))
        ref_rows, ref_real = rows_of(starts, lengths, torch.from_numpy(references[batch]).to(device))
        hyp, ref = (  # (b, L, d)
            vectors.matrix.index_select(0, rows.view(-1)).view(*rows.shape, -1) for rows in (hyp_rows, ref_rows)
        )
        similarity = torch.bmm(hyp, ref.transpose(1, 2))
        if not bool(ref_real.all()):
            similarity.masked_fill_(~ref_real[:, None, :], -torch.inf)
        best_of_hyp = similarity.amax(2)
        if not bool(hyp_real.all()):
            similarity.masked_fill_(~hyp_real[:, :, None], -torch.inf)
        best_of_ref = similarity.amax(1)
        precision[batch] = _mean(best_of_hyp, row_weights[hyp_rows], hyp_real)
        recall[batch] = _mean(best_of_ref, row_weights[ref_rows], ref_real)

    for _ in side_by_side(match, list(pair_batches(hyp_lengths, ref_lengths, vectors.matrix.shape[1])), device):
        pass
    return precision, recall


def similarities(vectors: Vectors, hypothesis: int, reference: int) -> npt.NDArray[np.float64]:
    """All cosine similarities of two texts, shape (n, m)."""
    sides = [
        vectors.matrix[int(vectors.starts[t]) : int(vectors.starts[t]) + int(vectors.lengths[t])]
        for t in (hypothesis, reference)
    ]
    return np.asarray((sides[0] @ sides[1].T).cpu().numpy(), dtype=np.float64)


def pair_batches(hyp_lengths: Ids, ref_lengths: Ids, width: int) -> Iterator[Ids]:
    """Batches of pairs of texts with similar lengths, as many as fit the budget for vectors of that width."""
    order = np.lexsort((hyp_lengths, ref_lengths))
    start, widest = 0, 0
    for place, pair in enumerate(order):
        longest = max(widest, int(hyp_lengths[pair]), int(ref_lengths[pair]))
        if place > start and (place - start + 1) * longest * max(width, longest) > _CELLS:
            yield order[start:place]
            start, longest = place, max(int(hyp_lengths[pair]), int(ref_lengths[pair]))
        widest = longest
    if start < len(order):
        yield order[start:]


def rows_of(starts: torch.Tensor, lengths: torch.Tensor, texts: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Row numbers of each text, shape (b, L), and which are real. Short texts are filled up with their first row."""
    own = lengths[texts]
    steps = torch.arange(int(own.max()), device=texts.device)
    real = steps[None, :] < own[:, None]
    return starts[texts][:, None] + steps[None, :] * real, real


def _mean(best: torch.Tensor, weights: torch.Tensor, real: torch.Tensor) -> npt.NDArray[np.float64]:
    weights = torch.where(real, weights, 0.0)
    best = torch.where(real, best, 0.0)  # minus infinity times 0 is NaN
    total = weights.sum(1)
    return np.asarray(
        (torch.where(real, best * (weights / total[:, None]), 0.0).sum(1)).cpu().numpy(), dtype=np.float64
    )
