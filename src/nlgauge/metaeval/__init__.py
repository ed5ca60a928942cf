"""Compare metrics with human judgements: joins, statistics by level, tests between metrics, model selection."""

from typing import TYPE_CHECKING

from nlgauge.core.doors import door

if TYPE_CHECKING:
    from nlgauge.metaeval.align import JoinedScores
    from nlgauge.metaeval.compare import MetricTest
    from nlgauge.metaeval.evaluate import MetaEvaluation
    from nlgauge.metaeval.intervals import IntervalMethod
    from nlgauge.metaeval.layers import LayerStudy, layer_study
    from nlgauge.metaeval.matrices import criteria_matrix, metrics_matrix
    from nlgauge.metaeval.plan import RatingPlan
    from nlgauge.metaeval.pooling import PoolingStudy, pooling_study, strategies
    from nlgauge.metaeval.protocols.presets import PRESETS, Preset, preset
    from nlgauge.metaeval.select import ModelSelection
    from nlgauge.metaeval.span_methods import marks_by
    from nlgauge.metaeval.spans import SpanEvaluation, evaluate_spans
    from nlgauge.metaeval.sweep_rows import Strategy
    from nlgauge.metaeval.sweeps import Sweep
    from nlgauge.metaeval.thresholds.fit import fit_thresholds
else:
    __getattr__, __dir__ = door(__name__)

__all__ = [
    "PRESETS", "IntervalMethod", "JoinedScores", "LayerStudy", "MetaEvaluation", "MetricTest", "ModelSelection",
    "PoolingStudy", "Preset", "RatingPlan", "SpanEvaluation", "Strategy", "Sweep", "criteria_matrix", "evaluate_spans",
    "fit_thresholds", "layer_study", "marks_by", "metrics_matrix", "pooling_study", "preset", "strategies",
]  # fmt: skip
