"""Input and output: segments, scores and suites are read from files, and rows are written back."""

from typing import TYPE_CHECKING

from nlgauge.core.doors import door

if TYPE_CHECKING:
    from nlgauge.io.files import InputFile, Limits, Lines, limited
    from nlgauge.io.marked import MarkedText, read_marked
    from nlgauge.io.ratings import (
        JudgeCard,
        Verdicts,
        read_card,
        read_pairs,
        read_relative_ranks,
        read_verdicts,
        write_card,
    )
    from nlgauge.io.read import open_data
    from nlgauge.io.results import read_result
    from nlgauge.io.scores import read_scores
    from nlgauge.io.segments import Source
    from nlgauge.io.suites.rows import write_pairs
    from nlgauge.io.wmt.annotations import (
        Markings,
        read_da_scores,
        read_esa_scores,
        read_mqm,
        read_mqm_averages,
    )
    from nlgauge.io.wmt.export import eval_set, export_scores, write_eval_set
    from nlgauge.io.wmt.items import check_answers, write_answers
    from nlgauge.io.wmt.mtme import EvalSet, read_eval_set
    from nlgauge.io.wmt.submissions import read_submission
else:
    __getattr__, __dir__ = door(__name__)

__all__ = [
    "EvalSet", "InputFile", "JudgeCard", "Limits", "Lines", "MarkedText", "Markings", "Source", "Verdicts",
    "check_answers", "eval_set", "export_scores", "limited", "open_data", "read_card", "read_da_scores",
    "read_esa_scores", "read_eval_set", "read_marked", "read_mqm", "read_mqm_averages", "read_pairs",
    "read_relative_ranks", "read_result", "read_scores", "read_submission",
    "read_verdicts", "write_answers", "write_card", "write_eval_set", "write_pairs",
]  # fmt: skip
