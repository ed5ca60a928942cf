"""How well the pieces of a text fit each other: each is masked in turn, and a masked language model asked for it.

References:
    Salazar et al. (2020), "Masked Language Model Scoring", section 2 (pseudo-log-likelihood).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from nlgauge.core.arrays import Array, Mask
from nlgauge.models.infill.filler import MaskedModel
from nlgauge.models.tokens import Ids
from nlgauge.runtime.runtime import by_length


@dataclass(frozen=True)
class PseudoLikelihoods:
    """A masked language model's scores of n texts.

    Attributes:
        sums: the sum of the log-probabilities of the pieces, each given all others, shape (n,), float64.
        counts: the number of pieces, shape (n,).
        truncated: whether the text was cut, shape (n,).
        unknown: the share of unknown pieces, shape (n,).
    """

    sums: Array
    counts: Array
    truncated: Mask
    unknown: Array


def pseudo_likelihoods(
    model: MaskedModel, texts: Sequence[str], advance: Callable[[float], None] = lambda count: None
) -> PseudoLikelihoods:
    """The pseudo-log-likelihood of each text: as many passes as it has pieces.

    Args:
        model: the model.
        texts: n texts. A text beyond the model's limit is cut.
        advance: called with the number of texts done, in parts of texts.
    """
    tokenizer = model.tokenizer
    tokens = tokenizer.tokens(texts)
    counts = np.array([text.n_content for text in tokens], dtype=np.int64)
    owners = np.repeat(np.arange(len(tokens)), counts)
    places = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts) + len(tokenizer.prefix)
    found = np.zeros(len(owners))
    if len(owners):
        from nlgauge.models.workers import side_by_side

        network, mask = model.network, tokenizer.mask
        assert mask is not None
        lengths = np.array([len(tokens[i].ids) for i in owners], dtype=np.int64)
        batches = list(by_length(lengths, model.budget or network.batch_tokens))

        def work(batch: Ids) -> Array:
            rows = [tokens[i].ids.copy() for i in owners[batch]]
            wanted = np.array([row[place] for row, place in zip(rows, places[batch], strict=True)], dtype=np.int64)
            for row, place in zip(rows, places[batch], strict=True):
                row[place] = mask
            said = network.at(rows, places[batch].tolist())
            values: Array = said[np.arange(len(batch)), wanted].double().cpu().numpy()
            return values

        for batch, values in zip(batches, side_by_side(work, batches, network.device), strict=True):
            found[batch] = values
            advance(float((1 / counts[owners[batch]]).sum()))
    sums = np.zeros(len(tokens))
    np.add.at(sums, owners, found)
    truncated = np.array([text.truncated for text in tokens], dtype=np.bool_)
    shares = tokenizer.unknown_shares(tokenizer.content(text) for text in tokens)
    return PseudoLikelihoods(sums, counts.astype(np.float64), truncated, shares)
