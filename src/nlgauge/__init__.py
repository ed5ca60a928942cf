"""Gauge generated text, and gauge the gauges.

Everything public is reached from here and loaded when first asked for; importing the package loads no torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nlgauge.audits.generate import suite
    from nlgauge.audits.run import audit
    from nlgauge.core.alignment import Alignment
    from nlgauge.core.errors import InputError, MissingExtra, NlgaugeError, SpecError
    from nlgauge.core.scores import MetricInfo, Scores
    from nlgauge.core.segment import Dataset, Segment
    from nlgauge.core.signature import Signature
    from nlgauge.core.suite import Pair, Suite
    from nlgauge.io.read import read
    from nlgauge.io.suites.suites import read_suite
    from nlgauge.metaeval.evaluate import meta_evaluate
    from nlgauge.metaeval.select import select_models
    from nlgauge.metrics.base import Metric
    from nlgauge.metrics.embedding.alignment import align
    from nlgauge.metrics.registry import metric
    from nlgauge.metrics.scoring import score
    from nlgauge.perturbations.base import Perturbed
    from nlgauge.perturbations.perturb import perturb
    from nlgauge.perturbations.synthesis.synthesize import synthesize
    from nlgauge.runtime.runtime import Runtime
    from nlgauge.stats.correlation.correlate import correlation

_HOMES = {
    "Alignment": "nlgauge.core.alignment",
    "Dataset": "nlgauge.core.segment",
    "InputError": "nlgauge.core.errors",
    "Metric": "nlgauge.metrics.base",
    "MetricInfo": "nlgauge.core.scores",
    "MissingExtra": "nlgauge.core.errors",
    "NlgaugeError": "nlgauge.core.errors",
    "Pair": "nlgauge.core.suite",
    "Perturbed": "nlgauge.perturbations.base",
    "Runtime": "nlgauge.runtime.runtime",
    "Scores": "nlgauge.core.scores",
    "Segment": "nlgauge.core.segment",
    "Signature": "nlgauge.core.signature",
    "SpecError": "nlgauge.core.errors",
    "Suite": "nlgauge.core.suite",
    "align": "nlgauge.metrics.embedding.alignment",
    "audit": "nlgauge.audits.run",
    "correlation": "nlgauge.stats.correlation.correlate",
    "meta_evaluate": "nlgauge.metaeval.evaluate",
    "metric": "nlgauge.metrics.registry",
    "perturb": "nlgauge.perturbations.perturb",
    "read": "nlgauge.io.read",
    "read_suite": "nlgauge.io.suites.suites",
    "score": "nlgauge.metrics.scoring",
    "select_models": "nlgauge.metaeval.select",
    "suite": "nlgauge.audits.generate",
    "synthesize": "nlgauge.perturbations.synthesis.synthesize",
}
__all__ = [*sorted(_HOMES), "__version__"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from nlgauge.core.signature import version

        return version("nlgauge")
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'nlgauge' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
