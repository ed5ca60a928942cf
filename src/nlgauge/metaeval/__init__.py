"""Compare metrics with human judgements: joins, statistics by level, tests between metrics, model selection."""

from typing import TYPE_CHECKING

from nlgauge.core.doors import door

if TYPE_CHECKING:
    from nlgauge.metaeval.evaluate import MetaEvaluation
    from nlgauge.metaeval.joined import JoinedScores
    from nlgauge.metaeval.matrices import criteria_matrix, metrics_matrix
    from nlgauge.metaeval.measure import IntervalMethod, MetricTest
    from nlgauge.metaeval.pooling import LayerStudy, PoolingStudy, layer_study, pooling_study, strategies
    from nlgauge.metaeval.select import ModelSelection
    from nlgauge.metaeval.spans import SpanEvaluation, evaluate_spans, marks_by
    from nlgauge.metaeval.sweep import Strategy, Sweep
    from nlgauge.metaeval.tasks import PRESETS, Preset, preset
else:
    __getattr__, __dir__ = door(__name__)

__all__ = [
    "PRESETS", "IntervalMethod", "JoinedScores", "LayerStudy", "MetaEvaluation", "MetricTest", "ModelSelection",
    "PoolingStudy", "Preset", "SpanEvaluation", "Strategy", "Sweep", "criteria_matrix", "evaluate_spans",
    "layer_study", "marks_by", "metrics_matrix", "pooling_study", "preset", "strategies",
]  # fmt: skip
