"""Input and output: segments, scores and suites are read from files, and rows are written back."""

from typing import TYPE_CHECKING

from nlgauge.core.doors import door

if TYPE_CHECKING:
    from nlgauge.io.cards import Errors, JudgeCard, Prompts, read_card, write_card
    from nlgauge.io.files.files import InputFile
    from nlgauge.io.files.limits import Limits, limited
    from nlgauge.io.files.lines import Lines
    from nlgauge.io.formats import FORMATS, TABLES
    from nlgauge.io.marked.mqm import read_mqm_spans
    from nlgauge.io.marked.read import read_marked
    from nlgauge.io.marked.rows import read_marked_rows, read_rating_spans, write_rating_spans
    from nlgauge.io.marked.tables import read_span_table, write_span_table
    from nlgauge.io.marked.texts import MarkedText
    from nlgauge.io.preferences import read_pairs, read_ranking, read_relative_ranks
    from nlgauge.io.raw import Raw, read_paraphrases, read_raw
    from nlgauge.io.read import open_data
    from nlgauge.io.results import read_result
    from nlgauge.io.scores import read_scores
    from nlgauge.io.source import Source
    from nlgauge.io.suites.minor import Labelled, read_minor
    from nlgauge.io.suites.pairs import write_pairs
    from nlgauge.io.summeval import read_summeval, read_summeval_scores
    from nlgauge.io.verdicts import Verdict, Verdicts, read_verdicts
    from nlgauge.io.wmt.da import read_da_scores, read_da_segments
    from nlgauge.io.wmt.esa import read_esa_scores
    from nlgauge.io.wmt.evalset import EvalSet
    from nlgauge.io.wmt.export import export_scores
    from nlgauge.io.wmt.mqm import Markings, read_mqm, read_mqm_averages, read_ratings
    from nlgauge.io.wmt.mtme import language_pairs, read_eval_set
    from nlgauge.io.wmt.mtme_write import eval_set, write_eval_set, write_metric_scores
    from nlgauge.io.wmt.official import OfficialRun, read_official
    from nlgauge.io.wmt.submissions import (
        Expected,
        Submission,
        SubmissionRow,
        check_submission,
        expected,
        read_submission,
        write_submission,
    )
else:
    __getattr__, __dir__ = door(__name__)

__all__ = [
    "FORMATS", "TABLES", "Errors", "EvalSet", "Expected", "InputFile", "JudgeCard", "Labelled", "Limits", "Lines",
    "MarkedText", "Markings", "OfficialRun", "Prompts", "Raw", "Source", "Submission", "SubmissionRow", "Verdict",
    "Verdicts", "check_submission", "eval_set", "expected", "export_scores", "language_pairs", "limited", "open_data",
    "read_card", "read_da_scores", "read_da_segments", "read_esa_scores", "read_eval_set", "read_marked",
    "read_marked_rows", "read_minor", "read_mqm", "read_mqm_averages", "read_mqm_spans", "read_official", "read_pairs",
    "read_paraphrases", "read_ranking", "read_rating_spans", "read_ratings", "read_raw", "read_relative_ranks",
    "read_result", "read_scores", "read_span_table", "read_submission", "read_summeval", "read_summeval_scores",
    "read_verdicts", "write_card", "write_eval_set", "write_metric_scores", "write_pairs", "write_rating_spans",
    "write_span_table", "write_submission",
]  # fmt: skip
