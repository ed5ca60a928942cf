"""Metrics as other tools call them: MLflow, inspect_ai, evaluate and torchmetrics."""

from typing import TYPE_CHECKING

from nlgauge.core.doors import door

if TYPE_CHECKING:
    from nlgauge.adapters.inspect import as_inspect
    from nlgauge.adapters.mlflow import as_mlflow
    from nlgauge.scoring.accumulate import as_evaluate
    from nlgauge.training.meters import as_torchmetrics
else:
    __getattr__, __dir__ = door(__name__)

__all__ = ["as_evaluate", "as_inspect", "as_mlflow", "as_torchmetrics"]
