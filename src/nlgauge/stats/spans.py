"""Agreement of marked spans with those of people: one to one with partial credit, and by character as in WMT."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError

Place = tuple[int, int]
"""Start and end of a span in characters, end exclusive."""
MAJOR, MINOR = "major", "minor"
_HALF = 0.5  # credit for the right place with the wrong severity
_KINDS = 4  # columns of `one_to_one_counts` and `character_counts`


def one_to_one_counts(gold: Sequence[Sequence[Place]], predicted: Sequence[Sequence[Place]]) -> Array:
    """Credits and numbers of spans of each segment, when each span is matched with at most one of the other side.

    Spans are matched so that the sum of both credits is as large as possible. A match earns the overlap divided by the
    length of the predicted span as precision, and divided by the length of the span of people as recall. Severities
    do not count, and neither do spans of no length. This is the measure to steer by: marking everything gains little.

    Args:
        gold: the spans that people marked in each segment, n lists; spans of one list may overlap.
        predicted: likewise.

    Returns:
        Shape (n, 4): credit of precision, number of predicted spans, credit of recall, number of spans of people.
        Sums over segments go into `f1_of_totals`.

    Raises:
        InputError: the lists have unequal lengths.

    References:
        The measure MPP of arXiv 2603.19921, here without severities.
    """
    counts = np.zeros((_same_length(gold, predicted), _KINDS))
    for row, one, other in zip(counts, gold, predicted, strict=True):
        right, said = _long(one), _long(other)
        row[1], row[3] = len(said), len(right)
        if not len(said) or not len(right):
            continue
        overlap = np.minimum(said[:, None, 1], right[None, :, 1]) - np.maximum(said[:, None, 0], right[None, :, 0])
        shared = np.maximum(overlap, 0)  # (predicted, gold)
        precise = shared / (said[:, 1] - said[:, 0])[:, None]
        complete = shared / (right[:, 1] - right[:, 0])[None, :]
        matches = linear_sum_assignment(precise + complete, maximize=True)
        row[0], row[2] = precise[matches].sum(), complete[matches].sum()
    return counts


def character_counts(
    gold: Sequence[Sequence[tuple[int, int, str]]], predicted: Sequence[Sequence[tuple[int, int, str]]]
) -> Array:
    """Characters that both sides mark, of each segment, with half of the credit where severities differ.

    Each severity has the number of spans that cover each character. The smaller number of both sides counts whole; of
    what is left over, the smaller number of both sides over both severities counts half. It rewards long marks.

    Args:
        gold: start, end and severity (`minor`; everything else counts as `major`) of the spans of each segment.
        predicted: likewise.

    Returns:
        Shape (n, 4): credit, marked characters of the predicted spans, the same credit, those of the spans of people.
        Sums over segments go into `f1_of_totals`.

    Raises:
        InputError: the lists have unequal lengths.

    References:
        The script of WMT25's shared task on error spans. It prints precision and recall with their names swapped.
    """
    counts = np.zeros((_same_length(gold, predicted), _KINDS))
    for row, right, said in zip(counts, gold, predicted, strict=True):
        size = max((end for _, end, _ in (*right, *said)), default=0)
        marked, found = _covered(right, size), _covered(said, size)  # (2, size)
        whole = np.minimum(marked, found)
        half = np.minimum((marked - whole).sum(axis=0), (found - whole).sum(axis=0))
        row[0] = row[2] = whole.sum() + _HALF * half.sum()
        row[1], row[3] = found.sum(), marked.sum()
    return counts


def precision_and_recall(counts: Array) -> tuple[float, float]:
    """Precision and recall of the counts of all segments, shape (n, 4), summed; a share of nothing is 1."""
    credit, said, found, right = counts.sum(axis=0).tolist()
    return credit / said if said else 1.0, found / right if right else 1.0


def f1_of_totals(totals: Array) -> Array:
    """F1 of summed counts; a share of nothing is 1.

    Args:
        totals: sums of `one_to_one_counts` or `character_counts`, shape (..., 4).

    Returns:
        Shape (...), in [0, 1].
    """
    credit, said, found, right = np.moveaxis(np.asarray(totals, dtype=np.float64), -1, 0)
    precision = np.where(said > 0, credit / np.where(said > 0, said, 1), 1.0)
    recall = np.where(right > 0, found / np.where(right > 0, right, 1), 1.0)
    both = precision + recall
    return np.where(both > 0, 2 * precision * recall / np.where(both > 0, both, 1), 0.0)


def span_f1(
    gold: Sequence[Sequence[tuple[int, int, str]]], predicted: Sequence[Sequence[tuple[int, int, str]]]
) -> Array:
    """F1 by character of each segment: 1 if both sides are empty, 0 if one is; its mean is WMT QE 2023's measure.

    Args:
        gold: start, end and severity of the spans of each segment, as in `character_counts`.
        predicted: likewise.

    Returns:
        Shape (n,), in [0, 1].

    References:
        Blain et al. (2023), "Findings of the WMT 2023 Shared Task on Quality Estimation", section on error spans.
    """
    counts = character_counts(gold, predicted)
    both = counts[:, 1] + counts[:, 3]
    return np.where(both > 0, (counts[:, 0] + counts[:, 2]) / np.maximum(both, 1), 1.0)


def clean_counts(gold: Sequence[Sequence[object]], predicted: Sequence[Sequence[object]]) -> Array:
    """Of each segment whether it was left clean, and whether it is: it has no spans of people; shape (n, 2)."""
    counts = np.zeros((_same_length(gold, predicted), 2))
    for row, one, other in zip(counts, gold, predicted, strict=True):
        row[:] = (not len(one) and not len(other), not len(one))
    return counts


def share_of_totals(totals: Array) -> Array:
    """The first of two sums divided by the second, shape (..., 2) to (...); NaN where that is 0."""
    part, whole = np.moveaxis(np.asarray(totals, dtype=np.float64), -1, 0)
    return np.where(whole > 0, part / np.where(whole > 0, whole, 1), np.nan)


def _same_length(gold: Sequence[object], predicted: Sequence[object]) -> int:
    if len(gold) != len(predicted):
        raise InputError(f"{len(gold)} segments of gold spans but {len(predicted)} of predicted ones")
    return len(gold)


def _long(spans: Sequence[Place]) -> npt.NDArray[np.int64]:
    """The spans that have a length, shape (k, 2)."""
    places = np.array([(start, end) for start, end in spans], dtype=np.int64).reshape(-1, 2)
    return places[places[:, 1] > places[:, 0]]


def _covered(spans: Sequence[tuple[int, int, str]], size: int) -> Array:
    """How many spans cover each character, minor ones and the others, shape (2, size)."""
    counts = np.zeros((2, size))
    for start, end, severity in spans:
        counts[0 if severity.lower() == MINOR else 1, start:end] += 1
    return counts
