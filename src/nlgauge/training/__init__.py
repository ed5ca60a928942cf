"""Training: pairs in, weights out."""

from typing import TYPE_CHECKING

from nlgauge.core.doors import door

if TYPE_CHECKING:
    from nlgauge.training.data import LabelledPair, read_pairs
    from nlgauge.training.dev import Dev
    from nlgauge.training.examples import Example, rated_examples, read_triples
    from nlgauge.training.heads import write_head
    from nlgauge.training.infill import train_infill
    from nlgauge.training.linear import Fitted, train_beer, train_blend
    from nlgauge.training.loop import Checkpoint, Watch
    from nlgauge.training.matching import Matched, match_tokens
    from nlgauge.training.meters import as_torchmetrics
    from nlgauge.training.nli import Accuracy, accuracy, train_nli
    from nlgauge.training.recipe import InfillRecipe, NliRecipe, Recipe, RegressorRecipe, Schedule, SpanRecipe
    from nlgauge.training.regressor import Trained, train_regressor
    from nlgauge.training.ridge import RidgeTrained, train_ridge
    from nlgauge.training.span_examples import SpanExample, read_span_examples
    from nlgauge.training.span_thresholds import SpanScore, fix_thresholds, score_spans
    from nlgauge.training.spans import MarkedPair, train_spans
else:
    __getattr__, __dir__ = door(__name__)

__all__ = [
    "Accuracy", "Checkpoint", "Dev", "Example", "Fitted", "InfillRecipe", "LabelledPair", "MarkedPair", "Matched",
    "NliRecipe", "Recipe", "RegressorRecipe", "RidgeTrained", "Schedule", "SpanExample", "SpanRecipe", "SpanScore",
    "Trained", "Watch", "accuracy", "as_torchmetrics", "fix_thresholds", "match_tokens", "rated_examples", "read_pairs",
    "read_span_examples", "read_triples", "score_spans", "train_beer", "train_blend", "train_infill", "train_nli",
    "train_regressor", "train_ridge", "train_spans", "write_head",
]  # fmt: skip
