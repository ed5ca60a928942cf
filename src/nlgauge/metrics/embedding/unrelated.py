"""Measure a baseline: what unrelated sentences score at every layer of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np

from nlgauge.core.errors import InputError
from nlgauge.core.options import Range, check_option
from nlgauge.core.segment import Segment
from nlgauge.metrics.embedding.bertscore import BertScore
from nlgauge.models.locate import locate
from nlgauge.runtime.runtime import Runtime


def measure_unrelated(
    texts: Sequence[str], model: str, runtime: Runtime, *, pairs: int, seed: int, revision: str | None = None
) -> dict[int, tuple[float, float, float]]:
    """P, R and F of random pairs of unrelated sentences, at every layer; pairs that the model cannot read do not count.

    Args:
        texts: raw sentences; those of 32 words or more are left out, as in the paper.
        model: the model, named as in specifications.
        pairs: the number of pairs to draw.
        seed: the seed of the draw.

    Returns:
        layer -> (P, R, F), for layers 0 to the model's depth.

    Raises:
        InputError: there are fewer than two usable sentences, or no pair has a score.

    References:
        Zhang et al. (2020), section 3: one million sentences of under 32 words from Common Crawl. More pairs give a
        more precise baseline and take longer.
    """
    check_option("seed", seed, Annotated[int, Range(least=0)], error=InputError)
    usable = [t for t in dict.fromkeys(t.strip() for t in texts) if 0 < len(t.split()) < 32]
    if len(usable) < 2:
        raise InputError(f"a baseline needs at least two different sentences of under 32 words, found {len(usable)}")
    rng = np.random.default_rng(seed)
    first = rng.integers(len(usable), size=pairs)
    second = (first + rng.integers(1, len(usable), size=pairs)) % len(usable)  # never the sentence itself
    segments = [Segment(str(i), usable[a], (usable[b],)) for i, (a, b) in enumerate(zip(first, second, strict=True))]
    rows = {}
    for layer in range(locate(model, revision).depth + 1):
        scores = BertScore(model=model, revision=revision, layer=layer).score(segments, runtime)
        if scores.n_undefined == len(scores):
            raise InputError(f"model {model!r} scores none of {pairs} pairs of these sentences; does it read them?")
        rows[layer] = tuple(float(np.nanmean(scores.parts[part])) for part in ("precision", "recall", "f1"))
    return rows  # type: ignore[return-value]
