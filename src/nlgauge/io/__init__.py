"""Input and output: segments, scores and suites are read from files, and rows are written back."""

from typing import TYPE_CHECKING

from nlgauge.core.doors import door

if TYPE_CHECKING:
    from nlgauge.io.files import InputFile, Limits, Lines, limited
    from nlgauge.io.marked import (
        MarkedText,
        read_marked,
        read_marked_rows,
        read_mqm_spans,
        read_rating_spans,
        read_span_table,
    )
    from nlgauge.io.parallel import Raw, read_paraphrases, read_raw
    from nlgauge.io.ratings import (
        Errors,
        JudgeCard,
        Prompts,
        Verdict,
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
    from nlgauge.io.suites.published import Labelled, read_minor
    from nlgauge.io.suites.rows import write_pairs
    from nlgauge.io.wmt.annotations import (
        Markings,
        read_da_scores,
        read_esa_scores,
        read_mqm,
        read_mqm_averages,
    )
    from nlgauge.io.wmt.export import eval_set, export_scores, write_eval_set, write_metric_scores
    from nlgauge.io.wmt.items import check_answers, write_answers
    from nlgauge.io.wmt.mtme import EvalSet, OfficialRun, language_pairs, read_eval_set, read_official
    from nlgauge.io.wmt.submissions import (
        Expected,
        Submission,
        SubmissionRow,
        check_submission,
        read_submission,
        write_submission,
    )
else:
    __getattr__, __dir__ = door(__name__)

__all__ = [
    "Errors", "EvalSet", "Expected", "InputFile", "JudgeCard", "Labelled", "Limits", "Lines", "MarkedText",
    "Markings", "OfficialRun", "Prompts", "Raw", "Source", "Submission", "SubmissionRow", "Verdict", "Verdicts",
    "check_answers", "check_submission", "eval_set", "export_scores", "language_pairs", "limited", "open_data",
    "read_card", "read_da_scores", "read_esa_scores", "read_eval_set", "read_marked", "read_marked_rows",
    "read_minor", "read_mqm", "read_mqm_averages", "read_mqm_spans", "read_official", "read_pairs",
    "read_paraphrases", "read_rating_spans", "read_raw", "read_relative_ranks", "read_result", "read_scores",
    "read_span_table", "read_submission", "read_verdicts", "write_answers", "write_card",
    "write_eval_set", "write_metric_scores", "write_pairs", "write_submission",
]  # fmt: skip
