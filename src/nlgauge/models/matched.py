"""How two texts match: numbers from one matrix of similarities between their tokens, as features of a regressor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import numpy.typing as npt
import torch

from nlgauge.core.arrays import Array, Mask
from nlgauge.models.encoder import Encoder
from nlgauge.models.features import N_MATCHED
from nlgauge.models.matching import pair_batches, rows_of
from nlgauge.models.pooled import means_of
from nlgauge.models.tokens import Ids
from nlgauge.models.vectors import Vectors
from nlgauge.models.workers import side_by_side

_QUANTILES = (0.0, 0.1, 0.25, 0.5)
_LOW = (0.5, 0.7)
_RAMP = 0.05  # a similarity counts as low in part from so much below a border to so much above it
_SHARP = 0.02  # of similarity: how sharply the best match wins where a place is asked for
_SIDE = ("mean", "min", "10 %", "25 %", "50 %", "below .5", "below .7")
# In the order of the columns. `hyp` looks from the hypothesis to the reference, `ref` the other way.
MATCHED = (
    *(f"{side} {name}" for side, name in product(("hyp", "ref"), _SIDE)),
    *("F", "displacement", "log ratio of lengths", "size of that", "log length of the reference"),
)


assert len(MATCHED) == N_MATCHED


def read_pairs(
    encoder: Encoder,
    sequences: Sequence[Ids],
    layers: Sequence[int],
    layer: int,
    pairs: tuple[Ids, Ids],
    bare: Mask,
    advance: Callable[[int], None] = lambda count: None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean vectors of texts, and the features of pairs of them, from one pass of the encoder.

    Args:
        encoder: the encoder.
        sequences: piece ids of each text, special tokens included.
        layers: the layers whose means are wanted.
        layer: the layer whose token vectors are matched.
        pairs: numbers of hypotheses and of references, each of shape (n,).
        bare: whether a text has nothing but special tokens, shape (texts,).
        advance: told the number of texts done.

    Returns:
        Means, float32, shape (texts, layers, d), and features, float64, shape (n, 19), which are 0 where a text of the
        pair is bare.
    """
    wanted = tuple(dict.fromkeys((*layers, layer)))
    at = dict(zip(wanted, encoder.encode_sequences(sequences, wanted), strict=True))
    advance(len(sequences))
    vectors, first, last = at[layer], len(encoder.tokenizer.prefix), len(encoder.tokenizer.suffix)
    weights = np.ones(len(vectors.matrix), dtype=np.float32)
    ends = vectors.starts + vectors.lengths
    for rows in (*(vectors.starts + i for i in range(first)), *(ends - 1 - i for i in range(last))):
        weights[rows] = 0.0
    real = np.flatnonzero(~(bare[pairs[0]] | bare[pairs[1]]))
    found = np.zeros((len(pairs[0]), N_MATCHED))
    if len(real):
        found[real] = match_features(vectors, weights, pairs[0][real], pairs[1][real])
    return means_of([at[layer] for layer in layers], encoder, len(sequences)), torch.from_numpy(found)


def match_features(vectors: Vectors, weights: npt.NDArray[np.float32], hypotheses: Ids, references: Ids) -> Array:
    """The features `MATCHED` of n pairs of texts, float64, shape (n, 19).

    Statistics are over tokens that count; a token may be matched with one that does not, as in BERTScore. All of them
    move smoothly with the similarities: shares have a slope in place of a border, and the place of a match is a mean
    over all places under weights that the best ones have nearly alone. So rounding, which differs between processors,
    changes no feature by more than it changes similarities, times twenty.

    Args:
        vectors: unit vectors of all texts.
        weights: 1 for each row of `vectors.matrix` that counts and 0 for special tokens, shape (rows,).
        hypotheses: text numbers, shape (n,), each with at least one token that counts; `references` likewise.

    References:
        Zhang et al. (2020), "BERTScore", section 3, for the matrix and its best similarities.
    """
    found, device = np.empty((len(hypotheses), N_MATCHED)), vectors.matrix.device
    starts, lengths = (torch.from_numpy(numbers).to(device) for numbers in (vectors.starts, vectors.lengths))
    counts = torch.from_numpy(weights > 0).to(device)

    def fill(batch: Ids) -> None:
        sides = []
        for texts in (hypotheses, references):
            rows, real = rows_of(starts, lengths, torch.from_numpy(texts[batch]).to(device))
            sides.append((vectors.matrix[rows], real, real & counts[rows]))
        (hyp, hyp_real, hyp_counts), (ref, ref_real, ref_counts) = sides
        similarity = torch.bmm(hyp, ref.transpose(1, 2)).double()  # (b, L, M)
        across = similarity.masked_fill(~ref_real[:, None, :], -torch.inf)
        back = similarity.masked_fill(~hyp_real[:, :, None], -torch.inf)
        best = across.amax(2), back.amax(1)
        one, other = _side(best[0], hyp_counts), _side(best[1], ref_counts)
        total = (one[0] + other[0]).clamp_min(1e-9)
        n_hyp, n_ref = hyp_counts.sum(1).double(), ref_counts.sum(1).double()
        ratio = torch.log(n_hyp / n_ref)
        of_pair = (
            2 * one[0] * other[0] / total,
            _displacement(across, hyp_real, hyp_counts, ref_real),
            ratio,
            ratio.abs(),
        )
        found[batch] = torch.stack([*one, *other, *of_pair, torch.log(n_ref)], dim=1).cpu().numpy()

    widths = vectors.lengths[hypotheses], vectors.lengths[references], vectors.matrix.shape[1]
    for _ in side_by_side(fill, list(pair_batches(*widths)), device):
        pass
    return found


def _side(best: torch.Tensor, counted: torch.Tensor) -> list[torch.Tensor]:
    """The features of one side from the best similarities of its tokens, both of shape (b, L); each of shape (b,)."""
    n = counted.sum(1)
    mean = torch.where(counted, best, 0.0).sum(1) / n
    ordered = torch.where(counted, best, torch.inf).sort(1).values
    parts = [mean]
    for share in _QUANTILES:
        place = share * (n - 1).double()
        below = place.long()
        above = torch.minimum(below + 1, n - 1)
        low, high = (ordered.gather(1, at[:, None])[:, 0] for at in (below, above))
        parts.append(low + (place - below) * (high - low))
    for border in _LOW:
        under = ((border + _RAMP - best) / (2 * _RAMP)).clamp(0, 1)
        parts.append(torch.where(counted, under, 0.0).sum(1) / n)
    return parts


def _displacement(
    similarity: torch.Tensor, real: torch.Tensor, counted: torch.Tensor, real_across: torch.Tensor
) -> torch.Tensor:
    """How far tokens of the hypothesis stand from their matches, mean, as a share of the texts, from 0 to 1."""
    at = (_places(real_across)[:, None, :] * torch.softmax(similarity / _SHARP, dim=2)).sum(2)
    return torch.where(counted, (at - _places(real)).abs(), 0.0).sum(1) / counted.sum(1)


def _places(real: torch.Tensor) -> torch.Tensor:
    """The place of each token in its text, from 0 to 1, shape (b, L)."""
    steps = torch.arange(real.shape[1], device=real.device, dtype=torch.float64)
    return (steps[None, :] + 0.5) / real.sum(1, keepdim=True)
