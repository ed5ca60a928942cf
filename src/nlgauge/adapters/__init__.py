"""Metrics as other tools call them: MLflow, inspect_ai, torchmetrics and the trainers of transformers.

They give the same numbers and signatures as everywhere, and nothing of these tools is imported before you ask for its
adapter. Logs that these tools wrote are read as data. `examples/adapters` and `examples/promptfoo` hold programs;
promptfoo itself was not run.

MLflow, inspect_ai and promptfoo hand over one row at a time:

- A score is that of the row alone. So a metric that takes frequencies or a scale from all texts of a call
  (`bertscore:idf=true`, sums such as `0.5*chrf+0.5*bertscore`) is refused when the scorer is made: score those together
  with `nlgauge.score`. For the same reason the mean that the tool shows is that of segment scores, which for BLEU and
  TER is not the corpus number.
- No score is never 0. A row without an output or without the texts that a metric reads, and an undefined score, is an
  error in MLflow, unscored in inspect_ai and a fault of the grader in promptfoo, with the reason in words. The other
  metrics of the row are scored.
- Models are loaded once, and rows are scored one at a time, whatever number of threads the tool has.
"""

from typing import TYPE_CHECKING

from nlgauge.core.doors import door

if TYPE_CHECKING:
    from nlgauge.adapters.inspect import as_inspect
    from nlgauge.adapters.mlflow import as_mlflow
    from nlgauge.training.meters import as_compute_metrics, as_torchmetrics, match_tokens
else:
    __getattr__, __dir__ = door(__name__)

__all__ = ["as_compute_metrics", "as_inspect", "as_mlflow", "as_torchmetrics", "match_tokens"]
