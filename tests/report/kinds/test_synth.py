"""The table of a synthesis, worked on rows written out."""

from nlgauge.core.result import Result
from nlgauge.report.kinds.synth import synth_head, synth_table

NAN = float("nan")


def row(operation, edits, share, severity, major, score=NAN):
    return {
        "operation": operation,
        "texts": 2,
        "edits": edits,
        "share": share,
        "severity": severity,
        "major": major,
        "score": score,
    }


def test_each_operation_has_a_line_and_all_have_one():
    rows = [row("delete", 1, 0.25, -5.0, 1.0), row("swap", 3, 0.75, -1.5, NAN), row("all", 4, 1.0, -2.375, NAN, -4.75)]
    result = Result("synth", rows)
    assert synth_head(result) == "2 triples, 2.00 edits each on the mean, mean score -4.75"
    assert synth_table(result).body == (
        ("delete", "1", "25.0 %", "-5.00", "100.0 %"),
        ("swap", "3", "75.0 %", "-1.50", "-"),  # graded severities have no share of major ones
        ("all", "4", "100.0 %", "-2.38", "-"),  # -2.375, to even
    )


def test_without_edits_there_is_no_table():
    result = Result("synth", [row("all", 0, NAN, NAN, NAN)])
    assert synth_head(result) == "no triples: every text was left alone"
    assert synth_table(result) is None
