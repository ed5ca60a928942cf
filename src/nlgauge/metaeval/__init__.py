"""Compare metrics with human judgements: joins, statistics by level, tests between metrics, model selection."""

from typing import TYPE_CHECKING

from nlgauge.core.doors import door

if TYPE_CHECKING:
    from nlgauge.metaeval.evaluate import MetaEvaluation
    from nlgauge.metaeval.select import ModelSelection
    from nlgauge.metaeval.sweep import Sweep
else:
    __getattr__, __dir__ = door(__name__)

__all__ = ["MetaEvaluation", "ModelSelection", "Sweep"]
