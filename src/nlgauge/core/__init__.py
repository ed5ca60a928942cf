"""Types that every package shares; standard library and numpy only."""

from typing import TYPE_CHECKING

from nlgauge.core.doors import door

if TYPE_CHECKING:
    from nlgauge.core.marks import ErrorSpan, Explanation, Explanations
    from nlgauge.core.metric import BaseMetric, signature_of
    from nlgauge.core.options import OneOf, Range, checked
    from nlgauge.core.result import Result
    from nlgauge.core.scores import ids
    from nlgauge.core.spec import version
    from nlgauge.core.tables import Preferences, ScoreTable, judged
else:
    __getattr__, __dir__ = door(__name__)

__all__ = [
    "BaseMetric", "ErrorSpan", "Explanation", "Explanations", "OneOf", "Preferences", "Range", "Result", "ScoreTable",
    "checked", "ids", "judged", "signature_of", "version",
]  # fmt: skip
