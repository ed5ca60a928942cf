"""Metrics: each is a set of frozen options with one `score`; and how systems are compared by metrics."""

from typing import TYPE_CHECKING

from nlgauge.core.doors import door

if TYPE_CHECKING:
    from nlgauge.core.metric import Policy, check_needs, over_references, trained_on
    from nlgauge.metrics.embedding.bertscore import BertScore
    from nlgauge.metrics.embedding.sentences import Cosine
    from nlgauge.metrics.embedding.vectors import best_layer
    from nlgauge.metrics.faithful import Claim, Evidence, Faithful, evidence
    from nlgauge.metrics.learned.regressor import Regressor, SEScore
    from nlgauge.metrics.lexical.rouge import Rouge
    from nlgauge.metrics.lexical.sacrebleu import Bleu, ChrF, Ter
    from nlgauge.metrics.nli import Nli, SummaC
    from nlgauge.metrics.registry import METRICS
    from nlgauge.metrics.stored import Stored
    from nlgauge.metrics.wrapped import Combination, save_bounds
    from nlgauge.scoring.accumulate import as_evaluate, numbers_of
    from nlgauge.scoring.compare import ComparisonOptions
    from nlgauge.scoring.job import SourceScores, score_source
    from nlgauge.scoring.systems import Comparison, Interval, compare_scores, intervals
    from nlgauge.scoring.thresholds import Thresholds, read_thresholds
else:
    __getattr__, __dir__ = door(__name__)

__all__ = [
    "METRICS", "BertScore", "Bleu", "ChrF", "Claim", "Combination", "Comparison", "ComparisonOptions", "Cosine",
    "Evidence", "Faithful", "Interval", "Nli", "Policy", "Regressor", "Rouge", "SEScore", "SourceScores", "Stored",
    "SummaC", "Ter", "Thresholds", "as_evaluate", "best_layer", "check_needs", "compare_scores", "evidence",
    "intervals", "numbers_of", "over_references", "read_thresholds", "save_bounds", "score_source", "trained_on",
]  # fmt: skip
