"""Does a metric rank systems as people do? Pairwise accuracy, and its soft form that weighs how sure people are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array, Mask, by_value
from nlgauge.core.errors import InputError
from nlgauge.stats.correlation.averaging import Ratio
from nlgauge.stats.correlation.pairs import pair_counts
from nlgauge.stats.correlation.preferences import accuracy_of
from nlgauge.stats.draws import Seed, check_draws, fair_coins, generator

_SLACK = 1e-12  # sums of the same numbers in another order differ by less, relative to the sum of their sizes


@by_value
@dataclass(frozen=True)
class SoftAccuracy:
    """Soft pairwise accuracy of M metrics.

    Attributes:
        values: the accuracies, shape (M,), in [0, 1]; NaN without a pair of systems.
        human_p: the probability that system i would lead system j by at least as much as it does, if the two were
            equal. Shape (S, S); NaN where no segment of both is judged. p[i, j] + p[j, i] = 1, except in a
            compatibility mode.
        metric_p: the same for each metric, shape (M, S, S).
        n_pairs: pairs of systems that count.
        n_undefined: pairs of systems without a segment in common.
    """

    values: Array
    human_p: Array
    metric_p: Array
    n_pairs: int
    n_undefined: int


def pairwise(x: Array, z: Array, *, ties: str = "loss") -> Ratio:
    """The pairs of systems that metric and people order alike.

    A pair that both tie counts as ordered alike; `ties` settles the pairs that only one side ties.

    Args:
        x: system scores, shape (..., S).
        z: human system scores, shape (..., S); leading axes broadcast.
        ties: `loss` (Kocmi et al.), `half`, `exclude`, or `zero`, which for an accuracy is `loss`.

    References:
        Kocmi et al. (2021), "To Ship or Not to Ship", section 4.
    """
    counts = pair_counts(x, z)
    return accuracy_of(counts.concordant + counts.tied_both, counts.discordant, counts.tied_x + counts.tied_z, ties)


def soft_pairwise(
    x: Array, z: Array, judged: Mask, *, draws: int = 1000, seed: Seed = 0, as_released: bool = False
) -> SoftAccuracy:
    """1 minus the mean over pairs of systems of |p_human - p_metric|.

    Both p-values come from one-sided paired sign-flip tests over segments. A pair of systems is compared on the
    segments that are judged for both.

    A draw that ties with the data counts half, which gives (p_ij + 1 - p_ji) / 2. The released code counts it whole,
    so that tied systems get p = 1 whichever comes first, and the value depends on the order of the systems.

    Args:
        x: segment scores, shape (M, S, N); any value where not judged.
        z: segment judgements, shape (S, N).
        judged: where both hold a number, shape (S, N).
        draws: the number of sign patterns, K; all systems, all metrics and the judgements share them.
        seed: a whole number or a generator, which is advanced.
        as_released: compute p as the released code does: with `>=`, in float32, in the order given.

    Raises:
        InputError: there are fewer than 2 systems, or a segment has no judgement under `as_released`.

    References:
        Thompson et al. (2024), "Improving Statistical Significance in Human Evaluation of Automatic Metrics via Soft
        Pairwise Accuracy".
    """
    check_draws(draws)
    if z.shape[0] < 2:
        raise InputError(f"soft pairwise accuracy compares systems in pairs, got {z.shape[0]}")
    rng = generator(seed)
    scores = np.concatenate([z[None], x])
    if as_released:
        if not judged.all():
            raise InputError(
                "compat='mt-metrics-eval' needs a judgement for every segment: with gaps that package pairs unlike"
                " segments"
            )
        p = _released_p(scores, rng, draws)
    else:
        p = sign_flip_p(scores, judged, np.asarray(2 * fair_coins(rng, draws, z.shape[1]) - 1, dtype=np.float64))
    upper = np.triu_indices(z.shape[0], 1)
    apart = np.abs(p[1:] - p[:1])[:, *upper]  # (M, pairs)
    defined = ~np.isnan(p[0][upper])
    values = 1 - apart[:, defined].mean(axis=1) if defined.any() else np.full(len(x), np.nan)
    return SoftAccuracy(values, p[0], p[1:], int(defined.sum()), int((~defined).sum()))


def sign_flip_p(scores: Array, judged: Mask, signs: Array) -> Array:
    """Mid p-values of "system i beats system j" when the signs of their differences are flipped.

    Args:
        scores: shape (M, S, N).
        judged: segments to use, shape (S, N).
        signs: 1 and -1, shape (K, N).

    Returns:
        Shape (M, S, S); NaN on the diagonal and where two systems share no segment.
    """
    n_metrics, n_systems, n = scores.shape
    scores = np.where(judged, scores, 0.0)
    # Only differences between systems matter. Without the mean of each segment the sums are small and more exact.
    scores = np.where(judged, scores - scores.sum(axis=1, keepdims=True) / np.maximum(judged.sum(axis=0), 1), 0.0)
    sizes = np.abs(scores).sum(axis=2)  # (M, S)
    p = np.full((n_metrics, n_systems, n_systems), np.nan)
    if judged.all():
        flipped = (signs @ scores.reshape(-1, n).T).T.reshape(n_metrics, n_systems, -1)  # (M, S, K)
        totals = scores.sum(axis=2)
    for i in range(n_systems - 1):
        for j in range(i + 1, n_systems):
            common = judged[i] & judged[j]
            if not common.any():
                continue
            if judged.all():
                null, seen = flipped[:, i] - flipped[:, j], totals[:, i] - totals[:, j]
            else:
                gaps = np.where(common, scores[:, i] - scores[:, j], 0.0)
                null, seen = gaps @ signs.T, gaps.sum(axis=1)
            slack = _SLACK * (sizes[:, i] + sizes[:, j])
            above = (null > (seen + slack)[:, None]).sum(axis=1)
            reach = (null >= (seen - slack)[:, None]).sum(axis=1)
            p[:, i, j] = (above + reach) / (2 * len(signs))
            p[:, j, i] = 1 - p[:, i, j]
    return p


def _released_p(scores: Array, rng: np.random.Generator, draws: int) -> Array:
    signs = 2 * np.rint(rng.random((draws, scores.shape[2]), dtype=np.float32)) - 1
    single: npt.NDArray[np.float32] = scores.astype(np.float32)
    totals, flipped = single.sum(axis=2), np.stack([signs @ rows.T for rows in single])  # (M, S), (M, K, S)
    null = flipped[:, :, :, None] - flipped[:, :, None, :]
    p = (null >= (totals[:, :, None] - totals[:, None, :])[:, None]).sum(axis=1) / draws
    return np.where(np.eye(scores.shape[1], dtype=np.bool_), np.nan, p)
