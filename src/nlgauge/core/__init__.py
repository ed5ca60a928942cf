"""Types that every package shares; standard library and numpy only."""

from typing import TYPE_CHECKING

from nlgauge.core.doors import door

if TYPE_CHECKING:
    from nlgauge.core.arrays import Array
    from nlgauge.core.marks import ErrorSpan, Explanation, Explanations
    from nlgauge.core.metric import BaseMetric, show, signature_of
    from nlgauge.core.options import OneOf, Range, checked
    from nlgauge.core.result import Result, replacing
    from nlgauge.core.scores import ids
    from nlgauge.core.segment import Selection, select_systems
    from nlgauge.core.spec import version
    from nlgauge.core.suite import Skipped
    from nlgauge.core.tables import Preference, Preferences, ScoreTable, judged
else:
    __getattr__, __dir__ = door(__name__)

__all__ = [
    "Array", "BaseMetric", "ErrorSpan", "Explanation", "Explanations", "OneOf", "Preference", "Preferences", "Range",
    "Result", "ScoreTable", "Selection", "Skipped", "checked", "ids", "judged", "replacing", "select_systems", "show",
    "signature_of", "version",
]  # fmt: skip
