"""Many systems out of few: a hybrid takes the output for each segment from a system drawn at random."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError
from nlgauge.stats.draws import Seed, check_draws, generator

Draws = npt.NDArray[np.integer[Any]]

_CELLS = 1 << 21  # segments of hybrids gathered at once


def hybrid_draws(
    judged: npt.NDArray[np.bool_], hybrids: int, *, among: Literal["rated", "all"] = "rated", seed: Seed = 0
) -> Draws:
    """Which system every segment of every hybrid comes from.

    Args:
        judged: where a judgement is, shape (S, N).
        hybrids: H, 10,000 in the paper.
        among: `rated`: systems whose output for the segment was judged, so that no segment of a hybrid lacks a
            judgement; `all`: any system, and the human score of a hybrid is over those segments that happen to be
            judged.
        seed: a whole number or a generator, which is advanced.

    Returns:
        Shape (H, N), systems from 0; -1 for a segment that nobody judged, which is left out under `rated`.

    References:
        Graham and Liu (2016), "Achieving Accurate Conclusions in Evaluation of Automatic Machine Translation Metrics",
        section 3.
    """
    judged = np.asarray(judged, dtype=np.bool_)
    check_draws(hybrids)
    if judged.ndim != 2 or judged.size == 0:
        raise InputError(f"judged has shape {judged.shape}, expected (systems, items)")
    if among not in ("rated", "all"):
        raise InputError(f"among is {among!r}, expected 'rated' or 'all'")
    n_systems, n_items = judged.shape
    rng = generator(seed)
    kind: type[np.integer[Any]] = np.int16 if n_systems < 1 << 15 else np.int64
    if among == "all" or judged.all():
        return np.asarray(rng.integers(n_systems, size=(hybrids, n_items), dtype=kind))
    sizes = judged.sum(axis=0)
    if not sizes.any():
        raise InputError("no judgement at all: there is no system to draw a segment from")
    listed = np.argsort(~judged, axis=0, kind="stable")  # the judged systems of each segment first
    drawn = np.empty((hybrids, n_items), dtype=kind)
    for part in _blocks(hybrids, n_items):
        places = np.floor(rng.random((part.stop - part.start, n_items)) * sizes).astype(np.int64)
        drawn[part] = listed[np.minimum(places, np.maximum(sizes - 1, 0)), np.arange(n_items)]
    drawn[:, sizes == 0] = -1
    return drawn


def hybrid_scores(human: Array, metrics: Array, draws: Draws) -> tuple[Array, Array, npt.NDArray[np.int64]]:
    """Scores of hybrids: means over their segments, the same segments and systems for people and every metric.

    Args:
        human: segment judgements, shape (S, N); NaN where missing.
        metrics: segment scores, shape (M, S, N).
        draws: system of every segment, shape (H, N), as `hybrid_draws` or a shared task gives them; a segment of -1 is
            left out.

    Returns:
        Human scores, shape (H,), NaN where none of a hybrid's segments is judged; metric scores, shape (M, H), over all
        its segments; and over how many judgements each human score is, shape (H,).

    Raises:
        InputError: shapes that do not fit, a system that does not exist, a missing metric score.

    References:
        Zhang et al. (2020), "BERTScore", section 4 and appendix E.2.
    """
    human, metrics = np.asarray(human, dtype=np.float64), np.asarray(metrics, dtype=np.float64)
    draws = np.asarray(draws)
    if human.ndim != 2 or metrics.ndim != 3 or metrics.shape[1:] != human.shape:
        raise InputError(
            f"judgements have shape {human.shape} and scores {metrics.shape}, expected (systems, items) and (metrics,"
            " systems, items)"
        )
    if draws.ndim != 2 or draws.shape[1] != human.shape[1] or draws.dtype.kind not in "iu":
        raise InputError(
            f"draws have shape {draws.shape} and type {draws.dtype}, expected whole numbers, (hybrids, {human.shape[1]}"
            " items)"
        )
    if draws.size and (draws.min() < -1 or draws.max() >= len(human)):
        raise InputError(
            f"draws name systems {draws.min()} to {draws.max()}, expected 0 to {len(human) - 1}, or -1 for a segment"
            " left out"
        )
    if not np.isfinite(metrics).all():
        metric, system, item = (int(i) for i in np.argwhere(~np.isfinite(metrics))[0])
        raise InputError(
            f"metric {metric} has no finite score for system {system}, item {item}; every output may be drawn"
        )
    n_systems, n_items = human.shape
    judged = ~np.isnan(human)
    # One more system, which stands for no output and adds nothing.
    columns = np.concatenate([np.where(judged, human, 0.0)[None], judged[None], np.ones((1, *human.shape)), metrics])
    padded = np.concatenate([columns, np.zeros((len(columns), 1, n_items))], axis=1).reshape(len(columns), -1)
    sums = np.empty((len(columns), len(draws)))
    for part in _blocks(len(draws), n_items):
        systems = np.where(draws[part] < 0, n_systems, draws[part]).astype(np.int64)
        cells = systems * n_items + np.arange(n_items)
        for column, row in zip(padded, sums, strict=True):
            row[part] = column[cells].sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return sums[0] / sums[1], sums[3:] / sums[2], np.rint(sums[1]).astype(np.int64)


def _blocks(hybrids: int, n_items: int) -> Iterator[slice]:
    step = max(1, _CELLS // n_items)
    for start in range(0, hybrids, step):
        yield slice(start, min(start + step, hybrids))
