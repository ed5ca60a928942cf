"""Training: pairs in, weights out."""

from typing import TYPE_CHECKING

from nlgauge.core.doors import door

if TYPE_CHECKING:
    from nlgauge.training.examples import Example, rated_examples, read_triples
    from nlgauge.training.heads import write_head
    from nlgauge.training.infill import train_infill
    from nlgauge.training.linear import Fitted, train_beer, train_blend
    from nlgauge.training.loop import Checkpoint, Dev, Watch
    from nlgauge.training.meters import Matched, as_torchmetrics, match_tokens
    from nlgauge.training.nli import Accuracy, LabelledPair, accuracy, read_pairs, train_nli
    from nlgauge.training.recipe import InfillRecipe, NliRecipe, Recipe, RegressorRecipe, Schedule
    from nlgauge.training.regressor import RidgeTrained, Trained, train_regressor, train_ridge
else:
    __getattr__, __dir__ = door(__name__)

__all__ = [
    "Accuracy", "Checkpoint", "Dev", "Example", "Fitted", "InfillRecipe", "LabelledPair", "Matched", "NliRecipe",
    "Recipe", "RegressorRecipe", "RidgeTrained", "Schedule", "Trained", "Watch", "accuracy", "as_torchmetrics",
    "match_tokens", "rated_examples", "read_pairs", "read_triples", "train_beer", "train_blend", "train_infill",
    "train_nli", "train_regressor", "train_ridge", "write_head",
]  # fmt: skip
