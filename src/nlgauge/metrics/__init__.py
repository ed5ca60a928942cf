"""Metrics: each is a set of frozen options with one `score`; and how systems are compared by metrics."""

from typing import TYPE_CHECKING

from nlgauge.core.doors import door

if TYPE_CHECKING:
    from nlgauge.core.metric import check_needs
    from nlgauge.scoring.job import SourceScores, numbers_of, score_source
else:
    __getattr__, __dir__ = door(__name__)

__all__ = ["SourceScores", "check_needs", "numbers_of", "score_source"]
