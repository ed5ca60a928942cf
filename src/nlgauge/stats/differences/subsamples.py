"""The daggers in BARTScore's tables: a metric is better if it wins on over 95 % of random 80 % parts of the documents.

What is wrong with it: two such parts share most of their documents, so a small lead wins nearly all of them. Of two
metrics of equal quality it calls the first better about one time in four, and the second as often. Of two identical
metrics it calls the second better, since neither wins. Use it to check published marks, not to decide.
"""

from __future__ import annotations

import random

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError

_SHARE, _DRAWS, _OFTEN = 0.8, 1000, 950
_SEED = 666


def subsample_verdicts(values: Array) -> npt.NDArray[np.int64]:
    """Which metrics are called better than which, from their values on single documents.

    Args:
        values: the coefficient of every metric on every document, shape (M, D); NaN where undefined. For a pair of
            metrics, a document counts if both are defined on it, so the means compared need not be those of a table in
            which each metric drops its own undefined documents.

    Returns:
        1 where the row is called better than the column, -1 where it is called worse, else 0; shape (M, M).

    References:
        Yuan, Neubig and Liu (2021), "BARTScore: Evaluating Generated Text as Text Generation", section 4; its
        analysis.py.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] < 2:
        raise InputError(f"values have shape {values.shape}, expected (metrics, documents) with two documents or more")
    n = values.shape[1]
    order, stream = list(range(n)), random.Random(_SEED)
    parts = np.zeros((_DRAWS, n))
    for part in parts:
        stream.shuffle(order)  # shuffled from where the last draw left it
        part[order[: int(_SHARE * n)]] = 1
    verdicts = np.zeros((len(values), len(values)), dtype=np.int64)
    for i in range(len(values)):
        for j in range(i + 1, len(values)):
            both = ~np.isnan(values[i]) & ~np.isnan(values[j])
            gaps = parts @ np.where(both, values[i] - values[j], 0.0)
            wins = int((gaps > 1e-12).sum())
            verdicts[i, j] = (wins > _OFTEN) - (wins < _DRAWS - _OFTEN)
            verdicts[j, i] = -verdicts[i, j]
    return verdicts
