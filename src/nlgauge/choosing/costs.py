"""What does a metric cost here? Seconds and memory, measured on a few of the user's outputs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter, process_time

from nlgauge.core.segment import Segment
from nlgauge.metrics.base import Metric
from nlgauge.metrics.run import score_segments
from nlgauge.runtime.runtime import PAIRS, Runtime, silent

_WARM, _FEW, _MEASURED = 2, 4, 24  # outputs
_SLOW = 0.5  # seconds for the few, from which on these are enough


@dataclass(frozen=True)
class Cost:
    """The cost of a metric.

    Attributes:
        seconds: of processor time for 1,000 outputs, without loading its model; other programs do not count.
        elapsed: the same by the clock, which counts what else the machine does, and waiting for an answer.
        megabytes: by how much the peak memory of the process grew, models included; a model that an earlier metric
            loaded is not counted again. NaN where the system does not say.
    """

    seconds: float
    elapsed: float
    megabytes: float


def cost_of(metric: Metric, segments: Sequence[Segment], runtime: Runtime) -> Cost:
    """The cost on the first outputs, without a cache; what models are loaded is loaded before."""
    bare = replace(runtime, cache=None, progress=silent).sharing({PAIRS: None})  # nor what other metrics have judged
    before = _peak()
    score_segments({"": metric}, segments[:_WARM], bare)
    each, elapsed = _seconds(metric, segments[_WARM:][:_FEW] or segments, bare)
    if _FEW * elapsed < _SLOW:
        each, elapsed = _seconds(metric, segments[:_MEASURED], bare)
    return Cost(1000 * each, 1000 * elapsed, _peak() - before)


def _seconds(metric: Metric, segments: Sequence[Segment], runtime: Runtime) -> tuple[float, float]:
    """Seconds for each of some outputs: of processor time, and by the clock."""
    start = process_time(), perf_counter()
    score_segments({"": metric}, segments, runtime)
    return (process_time() - start[0]) / len(segments), (perf_counter() - start[1]) / len(segments)


def _peak() -> float:
    """Peak memory of the process in MB; NaN on systems that do not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return float("nan")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << (20 if sys.platform == "darwin" else 10))
