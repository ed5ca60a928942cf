"""How two texts match: numbers from one matrix of similarities between their tokens, as features of a regressor."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch

from nlgauge.core.arrays import Array, Mask
from nlgauge.models.encoder import Encoder, wide_dtype
from nlgauge.models.features import MATCHED
from nlgauge.models.matching import pair_batches, rows_of
from nlgauge.models.pooled import encoder_means, means_of
from nlgauge.models.tokens import Ids
from nlgauge.models.vectors import Vectors
from nlgauge.models.workers import side_by_side
from nlgauge.runtime.runtime import Advance, windows

_QUANTILES = (0.0, 0.1, 0.25, 0.5)
_LOW = (0.5, 0.7)
_RAMP = 0.05  # a similarity counts as low in part from so much below a border to so much above it
_SHARP = 0.02  # of similarity: how sharply the best match wins where a place is asked for
_HELD_BYTES = 256 << 20  # token vectors held at once; a window of pairs is cut where it would need more


def read_pairs(
    encoder: Encoder,
    sequences: Sequence[Ids],
    layers: Sequence[int],
    layer: int,
    pairs: tuple[Ids, Ids],
    bare: Mask,
    advance: Advance = lambda count: None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean vectors of texts, and the features of pairs of them, from one pass of the encoder.

    Pairs are read in windows, so that what is held does not grow with their number. Pairs of one reference stand beside
    each other; a text that has pairs in several windows is read in each.

    Args:
        encoder: the encoder.
        sequences: piece ids of each text, special tokens included.
        layers: the layers whose means are wanted.
        layer: the layer whose token vectors are matched.
        pairs: numbers of hypotheses and of references, each of shape (n,).
        bare: whether a text has nothing but special tokens, shape (texts,).
        advance: told how many texts are done, also in parts of one.

    Returns:
        Means, float32, shape (texts, layers, d), and features, float64, shape (n, 19), which are 0 where a text of the
        pair is bare.
    """
    both = np.stack(pairs, axis=1)
    real = np.flatnonzero(~bare[both].any(axis=1))
    real = real[np.lexsort((both[real, 0], both[real, 1]))]
    device = encoder.network.device
    means = torch.empty(len(sequences), len(layers), encoder.width, dtype=torch.float32, device=device)
    found = np.zeros((len(both), len(MATCHED)))
    alone = np.setdiff1d(np.arange(len(sequences)), both[real])
    if layers and len(alone):
        of_alone = encoder_means(encoder, [sequences[i] for i in alone], layers, advance=advance)
        means[torch.from_numpy(alone).to(device)] = of_alone
    else:
        advance(len(alone))
    sizes = np.array([len(ids) for ids in sequences], dtype=np.int64)
    most = max(1, _HELD_BYTES // (4 * encoder.width * len({*layers, layer})))
    if encoder.shared is not None:  # what is shared is held anyway, and cut into portions by those who share it
        most = int(sizes.sum())
    parts = [real[window] for window in windows(both[real], sizes, most)]
    texts = [np.unique(both[part]) for part in parts]
    share = (len(sequences) - len(alone)) / max(1, sum(int(sizes[own].sum()) for own in texts))
    for part, own in zip(parts, texts, strict=True):
        where = np.searchsorted(own, both[part])
        asked = [sequences[i] for i in own]
        of_own, found[part] = _window(encoder, asked, layers, layer, where, lambda done: advance(share * done))
        if layers:
            means[torch.from_numpy(own).to(device)] = of_own
    return means, torch.from_numpy(found)


def _window(
    encoder: Encoder,
    sequences: Sequence[Ids],
    layers: Sequence[int],
    layer: int,
    pairs: Ids,
    advance: Advance,
) -> tuple[torch.Tensor, Array]:
    """Mean vectors of texts and the features of pairs (n, 2) of them; their token vectors are dropped on return."""
    left = sum(map(len, sequences))

    def tell(pieces: int) -> None:
        nonlocal left
        left -= pieces
        advance(pieces)

    wanted = tuple(dict.fromkeys((*layers, layer)))
    at = dict(zip(wanted, encoder.encode_sequences(sequences, wanted, tell), strict=True))
    advance(left)  # others of the call had encoded these
    found = match_features(at[layer], _weights(at[layer], encoder), pairs[:, 0], pairs[:, 1])
    return means_of([at[one] for one in layers], encoder, len(sequences)), found


def _weights(vectors: Vectors, encoder: Encoder) -> npt.NDArray[np.float32]:
    """0 for the rows of special tokens, else 1, shape (rows,)."""
    weights = np.ones(len(vectors.matrix), dtype=np.float32)
    first, last = len(encoder.tokenizer.prefix), len(encoder.tokenizer.suffix)
    ends = vectors.starts + vectors.lengths
    for rows in (*(vectors.starts + i for i in range(first)), *(ends - 1 - i for i in range(last))):
        weights[rows] = 0.0
    return weights


def match_features(vectors: Vectors, weights: npt.NDArray[np.float32], hypotheses: Ids, references: Ids) -> Array:
    """The features `MATCHED` of n pairs of texts, float64, shape (n, 19).

    Statistics are over tokens that count; a token may be matched with one that does not, as in BERTScore. All of them
    move smoothly with the similarities: shares have a slope in place of a border, and the place of a match is a mean
    over all places under weights that the best ones have nearly alone. So rounding, which differs between processors,
    changes no feature by more than twenty-five times what it changes similarities. That is the displacement: if all
    similarities move by up to e, the mean place moves by up to e / 0.02 times the mean distance of places from it,
    which is half a text at most. Shares move by up to 10 e, F by 2 e, the others by e.

    Args:
        vectors: unit vectors of all texts.
        weights: 1 for each row of `vectors.matrix` that counts and 0 for special tokens, shape (rows,).
        hypotheses: text numbers, shape (n,), each with at least one token that counts; `references` likewise.

    References:
        Zhang et al. (2020), "BERTScore", section 3, for the matrix and its best similarities.
    """
    found, device = np.empty((len(hypotheses), len(MATCHED))), vectors.matrix.device
    wide = wide_dtype(device)
    starts, lengths = (torch.from_numpy(numbers).to(device) for numbers in (vectors.starts, vectors.lengths))
    counts = torch.from_numpy(weights > 0).to(device)

    def fill(batch: Ids) -> None:
        sides = []
        for texts in (hypotheses, references):
            rows, real = rows_of(starts, lengths, torch.from_numpy(texts[batch]).to(device))
            sides.append((vectors.matrix[rows], real, real & counts[rows]))
        (hyp, hyp_real, hyp_counts), (ref, ref_real, ref_counts) = sides
        similarity = torch.bmm(hyp, ref.transpose(1, 2)).to(wide)  # (b, L, M)
        across = similarity.masked_fill(~ref_real[:, None, :], -torch.inf)
        back = similarity.masked_fill(~hyp_real[:, :, None], -torch.inf)
        best = across.amax(2), back.amax(1)
        one, other = _side(best[0], hyp_counts), _side(best[1], ref_counts)
        n_hyp, n_ref = hyp_counts.sum(1).to(wide), ref_counts.sum(1).to(wide)
        ratio = torch.log(n_hyp / n_ref)
        of_pair = (
            _harmonic(one[0], other[0]),
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
        place = share * (n - 1).to(best.dtype)
        below = place.long()
        above = torch.minimum(below + 1, n - 1)
        low, high = (ordered.gather(1, at[:, None])[:, 0] for at in (below, above))
        parts.append(low + (place - below) * (high - low))
    for border in _LOW:
        under = ((border + _RAMP - best) / (2 * _RAMP)).clamp(0, 1)
        parts.append(torch.where(counted, under, 0.0).sum(1) / n)
    return parts


def _harmonic(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Harmonic means, shape (b,); 0 where the signs are opposite, as in BERTScore, since there it has no bounds."""
    agree = one * other > 0
    return torch.where(agree, 2 * one * other / torch.where(agree, one + other, 1.0), 0.0)


def _displacement(
    similarity: torch.Tensor, real: torch.Tensor, counted: torch.Tensor, real_across: torch.Tensor
) -> torch.Tensor:
    """How far tokens of the hypothesis stand from their matches, mean, as a share of the texts, from 0 to 1."""
    own, across = (_places(side, similarity.dtype) for side in (real, real_across))
    at = (across[:, None, :] * torch.softmax(similarity / _SHARP, dim=2)).sum(2)
    return torch.where(counted, (at - own).abs(), 0.0).sum(1) / counted.sum(1)


def _places(real: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The place of each token in its text, from 0 to 1, shape (b, L)."""
    steps = torch.arange(real.shape[1], device=real.device, dtype=dtype)
    return (steps[None, :] + 0.5) / real.sum(1, keepdim=True)
