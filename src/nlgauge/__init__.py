"""Scores text with the metrics of the literature, exactly, and says how far to believe them.

The functions and types that most programs need are here; the rest is in `nlgauge.stats`, `nlgauge.io` and the other
packages. Each name is loaded when it is first used, so importing nlgauge does not load torch.
"""

from typing import TYPE_CHECKING

from nlgauge.core.doors import door

if TYPE_CHECKING:
    from nlgauge.audits.run import audit
    from nlgauge.audits.suites import suite
    from nlgauge.choosing.choose import choose
    from nlgauge.core.errors import InputError, MissingExtra, NlgaugeError, ScoreWarning, SpecError
    from nlgauge.core.marks import Alignment
    from nlgauge.core.metric import Metric
    from nlgauge.core.scores import MetricInfo, Scores
    from nlgauge.core.segment import Dataset, Segment
    from nlgauge.core.spec import Signature, __version__
    from nlgauge.core.suite import Pair, Suite
    from nlgauge.gating.gate import gate
    from nlgauge.io.read import read
    from nlgauge.io.suites.suites import read_suite
    from nlgauge.metaeval.evaluate import meta_evaluate
    from nlgauge.metaeval.select import select_models
    from nlgauge.metaeval.sweep import sweep
    from nlgauge.metrics.registry import list_metrics, metric
    from nlgauge.models.names import fetch
    from nlgauge.perturbations.perturb import Perturbed, perturb
    from nlgauge.perturbations.synthesis import synthesize
    from nlgauge.runtime.runtime import Runtime
    from nlgauge.scoring.explaining import align, explain
    from nlgauge.scoring.job import Accumulator, compare, score
    from nlgauge.stats.correlate import correlation
else:
    __getattr__, __dir__ = door(__name__)

__all__ = [
    "Accumulator", "Alignment", "Dataset", "InputError", "Metric", "MetricInfo", "MissingExtra", "NlgaugeError", "Pair",
    "Perturbed", "Runtime", "ScoreWarning", "Scores", "Segment", "Signature", "SpecError", "Suite", "__version__",
    "align", "audit", "choose", "compare", "correlation", "explain", "fetch", "gate", "list_metrics", "meta_evaluate",
    "metric", "perturb", "read", "read_suite", "score", "select_models", "suite", "sweep", "synthesize",
]  # fmt: skip
