"""Types that every package shares; standard library and numpy only."""

from typing import TYPE_CHECKING

from nlgauge.core.doors import door

if TYPE_CHECKING:
    from nlgauge.core.arrays import Array
    from nlgauge.core.explanation import ErrorSpan, Explanation, Explanations
    from nlgauge.core.metric import BaseMetric
    from nlgauge.core.options import OneOf, Range, checked
    from nlgauge.core.result import Result, replacing
    from nlgauge.core.scores import ids
    from nlgauge.core.signature import version
    from nlgauge.core.signing import show, signature_of
    from nlgauge.core.suite import Skipped
    from nlgauge.core.systems import Selection, select_systems
    from nlgauge.core.tables import Preference, Preferences, ScoreTable, judged
else:
    __getattr__, __dir__ = door(__name__)

__all__ = [
    "Array", "BaseMetric", "ErrorSpan", "Explanation", "Explanations", "OneOf", "Preference", "Preferences", "Range",
    "Result", "ScoreTable", "Selection", "Skipped", "checked", "ids", "judged", "replacing", "select_systems", "show",
    "signature_of", "version",
]  # fmt: skip
