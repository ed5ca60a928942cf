"""Can a metric read these texts? What rules a metric out, and what must be said of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from nlgauge.core.errors import InputError
from nlgauge.core.scores import UNDEFINED, Scores, count
from nlgauge.core.segment import Segment
from nlgauge.metrics.base import Metric, check_needs
from nlgauge.metrics.languages import UnreadScripts

MOST = 0.5  # share of outputs from which on a metric is ruled out, if it cannot read or score them, or reads a part
TOLD = 0.05  # share of outputs from which on this is told
_FLAGS = {
    UNDEFINED: "have no score",
    "truncated": "are read in part, since they are longer than its model reads",
    "unknown": "have many pieces that its model does not know",
}


def unreadable(metrics: Mapping[str, Metric], segments: Sequence[Segment]) -> tuple[dict[str, str], dict[str, str]]:
    """Metrics that cannot read the texts, before anything is scored.

    Returns:
        Metric -> why it is ruled out; and metric -> what must be said of it, where it cannot read some of the texts.
    """
    out: dict[str, str] = {}
    told: dict[str, str] = {}
    looking = UnreadScripts(metrics)
    looking.add(segments)
    for spec, (n, reason) in looking.unread().items():
        if n > MOST * len(segments):
            out[spec] = f"it cannot read {n} of {len(segments)} outputs: {reason}"
        elif n > TOLD * len(segments):
            told[spec] = f"it cannot read {n} of {len(segments)} outputs: {reason}"
    for spec, metric in metrics.items():
        try:
            check_needs(metric, segments)
        except InputError as error:
            out[spec] = str(error)
    return out, told


def unusable(scores: Scores, segments: Sequence[Segment]) -> tuple[str, str]:
    """Why scores are of no use, and what must be said of them; each empty where there is nothing to say."""
    n, counts = len(scores), count(scores.flags, scores.values)
    shares = {flag: counts.get(flag, 0) for flag in _FLAGS}
    for flag, number in shares.items():
        if number > MOST * n:
            return f"{number} of {n} outputs {_FLAGS[flag]}", ""
    known = scores.values[~np.isnan(scores.values)]
    texts = {(s.hypothesis, s.references, s.source) for s in segments}
    if len(texts) > 1 and len(known) > 1 and float(np.ptp(known)) <= 1e-12 * max(1.0, float(np.abs(known).max())):
        return f"it gives all {len(known)} outputs the same score", ""
    return "", "; ".join(
        f"{number} of {n} outputs {_FLAGS[flag]}" for flag, number in shares.items() if number > TOLD * n
    )
