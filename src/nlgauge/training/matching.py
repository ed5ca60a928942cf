"""BERTScore of token vectors that a gradient passes through, so that a model can be trained towards it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nlgauge.core.arrays import by_value
from nlgauge.core.errors import InputError

if TYPE_CHECKING:
    import torch


@by_value
@dataclass(frozen=True)
class Matched:
    """Precision, recall and F of n pairs of texts, tensors of shape (n,), in cosine units."""

    precision: torch.Tensor
    recall: torch.Tensor
    f1: torch.Tensor


def match_tokens(
    hypotheses: torch.Tensor,
    references: torch.Tensor,
    hypothesis_weights: torch.Tensor,
    reference_weights: torch.Tensor,
    hypothesis_mask: torch.Tensor,
    reference_mask: torch.Tensor,
) -> Matched:
    """BERTScore from token vectors; every step has a gradient, so `1 - f1` is a loss.

    The values are those of the metric `bertscore` for the same vectors and weights. Of several equal best matches the
    gradient goes to one.

    Args:
        hypotheses: token vectors of any length, shape (n, H, d), padded; for generated texts they may be mixtures of
            embeddings, weighted by the probabilities of words.
        references: shape (n, R, d).
        hypothesis_weights: what each token counts, shape (n, H): 1 or its idf, and 0 for special tokens, which can be
            matched but count nothing.
        reference_weights: shape (n, R).
        hypothesis_mask: True for tokens and False for padding, shape (n, H).
        reference_mask: shape (n, R).

    Returns:
        Precision, recall and F. A side that weighs nothing gives 0; F is 0 where precision and recall have opposite
        signs.

    Raises:
        InputError: shapes do not fit, or a text has no token.

    References:
        Zhang et al. (2020), "BERTScore", sections 3 and 7 (a differentiable score for training).
    """
    import torch

    _check(hypotheses, hypothesis_weights, hypothesis_mask, "hypotheses")
    _check(references, reference_weights, reference_mask, "references")
    if hypotheses.shape[::2] != references.shape[::2]:
        raise InputError(
            f"hypotheses have shape {tuple(hypotheses.shape)} and references {tuple(references.shape)}, expected as"
            " many texts and dimensions"
        )
    left, right = (torch.nn.functional.normalize(side, dim=-1) for side in (hypotheses, references))
    cosines = left @ right.transpose(1, 2)  # (n, H, R)
    both = hypothesis_mask[:, :, None] & reference_mask[:, None, :]
    cosines = cosines.masked_fill(~both, -2.0)  # below any cosine, and finite, so that padding has a gradient of 0
    precision = _mean(cosines.amax(dim=2), hypothesis_weights * hypothesis_mask)
    recall = _mean(cosines.amax(dim=1), reference_weights * reference_mask)
    agree = precision * recall > 0
    total = torch.where(agree, precision + recall, torch.ones_like(precision))
    f1 = torch.where(agree, 2 * precision * recall / total, torch.zeros_like(precision))
    return Matched(precision, recall, f1)


def _check(vectors: torch.Tensor, weights: torch.Tensor, mask: torch.Tensor, what: str) -> None:
    if vectors.ndim != 3 or weights.shape != vectors.shape[:2] or mask.shape != vectors.shape[:2]:
        raise InputError(
            f"{what} have vectors {tuple(vectors.shape)}, weights {tuple(weights.shape)} and mask"
            f" {tuple(mask.shape)}, expected (n, tokens, d) and twice (n, tokens)"
        )
    if not bool(mask.any(dim=1).all()):
        raise InputError(f"one of the {what} has no token")


def _mean(values: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """The weighted mean along the last axis; 0 where nothing weighs."""
    import torch

    total = weights.sum(dim=1)
    return (values * weights).sum(dim=1) / torch.where(total > 0, total, torch.ones_like(total))
