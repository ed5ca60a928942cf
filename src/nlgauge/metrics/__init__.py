"""Metrics: each is a set of frozen options with one `score`; and how systems are compared by metrics."""

from typing import TYPE_CHECKING

from nlgauge.core.doors import door

if TYPE_CHECKING:
    from nlgauge.metrics.base import check_needs, trained_on
    from nlgauge.metrics.combine import Combination
    from nlgauge.metrics.comparing.plan import ComparisonOptions
    from nlgauge.metrics.comparing.table import Comparison, Interval, compare_scores, intervals
    from nlgauge.metrics.comparing.thresholds import Thresholds, read_thresholds
    from nlgauge.metrics.embedding.bertscore import BertScore
    from nlgauge.metrics.embedding.cosine import Cosine
    from nlgauge.metrics.embedding.layers import best_layer
    from nlgauge.metrics.learned.regressor import Regressor
    from nlgauge.metrics.learned.sescore import SEScore
    from nlgauge.metrics.lexical.bleu import Bleu
    from nlgauge.metrics.lexical.chrf import ChrF
    from nlgauge.metrics.lexical.rouge import Rouge
    from nlgauge.metrics.lexical.ter import Ter
    from nlgauge.metrics.nli.evidence import Claim, Evidence
    from nlgauge.metrics.nli.faithful import Faithful, evidence
    from nlgauge.metrics.nli.menli import Nli
    from nlgauge.metrics.nli.summac import SummaC
    from nlgauge.metrics.references import Policy, over_references
    from nlgauge.metrics.registry import METRICS
    from nlgauge.metrics.scales import save_bounds
    from nlgauge.metrics.scoring.accumulate import as_evaluate, numbers_of
    from nlgauge.metrics.scoring.job import SourceScores, score_source
    from nlgauge.metrics.stored import Stored
else:
    __getattr__, __dir__ = door(__name__)

__all__ = [
    "METRICS", "BertScore", "Bleu", "ChrF", "Claim", "Combination", "Comparison", "ComparisonOptions", "Cosine",
    "Evidence", "Faithful", "Interval", "Nli", "Policy", "Regressor", "Rouge", "SEScore", "SourceScores", "Stored",
    "SummaC", "Ter", "Thresholds", "as_evaluate", "best_layer", "check_needs", "compare_scores", "evidence",
    "intervals", "numbers_of", "over_references", "read_thresholds", "save_bounds", "score_source", "trained_on",
]  # fmt: skip
