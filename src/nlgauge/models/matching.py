"""Texts compared by token vectors: means of layers, greedy matches, and how two texts match as features."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from nlgauge.core.arrays import Array, Mask
from nlgauge.models.encoder import MATCHED, Encoder, Network, Vectors, cut_layers
from nlgauge.models.hub import side_by_side
from nlgauge.models.tokens import Ids
from nlgauge.runtime.runtime import Advance, by_length, runs, wide_dtype, windows


def mean_vectors(
    network: Network,
    sequences: Sequence[Ids],
    layers: Sequence[int],
    *,
    budget: int | None = None,
    outer: tuple[int, int] = (0, 0),
    advance: Callable[[int], None] = lambda count: None,
) -> torch.Tensor:
    """Mean vectors of n texts, float32 on the network's device, shape (n, layers, d).

    Args:
        network: an encoder, `nlgauge.models.packing.PackedBert` or `nlgauge.models.hub.HubNetwork`.
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


def cosines(vectors: torch.Tensor, pairs: Ids, groups: Ids | None = None) -> npt.NDArray[np.float64]:
    """The cosine of each pair of rows of a matrix (rows, d), shape (n,); 0 if a vector is 0.

    Args:
        vectors: the matrix.
        pairs: the numbers of two rows, shape (n, 2).
        groups: the number of each pair's group, shape (n,). Where it is given, each vector is taken less the mean of
            the distinct rows on its side of its group.
    """
    wide = vectors.cpu().double()
    sides = [wide[torch.from_numpy(side)] for side in pairs.T]
    for group in () if groups is None else np.unique(groups):
        own = groups == group
        for side, rows in zip(sides, pairs.T, strict=True):
            side[torch.from_numpy(own)] -= wide[torch.from_numpy(np.unique(rows[own]))].mean(dim=0)
    first, second = (side / side.norm(dim=1, keepdim=True).clamp_min(torch.finfo(side.dtype).tiny) for side in sides)
    found: npt.NDArray[np.float64] = (first * second).sum(dim=1).clamp(-1, 1).numpy()
    return found


# --- Greedy matching of token vectors: the best similarity of every token, for many pairs at once
# References:
#     Zhang et al. (2020), "BERTScore", section 3, equation for P and R.

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


# --- How two texts match: numbers from one matrix of similarities between their tokens, as features of a regressor

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
    encoder: Encoder, sequences: Sequence[Ids], layers: Sequence[int], layer: int, pairs: Ids, advance: Advance
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
