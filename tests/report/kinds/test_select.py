"""The table of a selection of models, worked on rows written out."""

from nlgauge.core.result import Result
from nlgauge.report.kinds.select import selection_tables


def test_a_selection_has_a_column_a_statistic_and_a_line_for_chance():
    rows = [
        {
            "metric": "m",
            "criterion": "q",
            "stat": s,
            "group": g,
            "value": v,
            "chance": c,
            "n_used": 50,
            "pool": 10,
            "simulated": None,
        }
        for g in (None, "mean")
        for s, v, c in (("hits_at_1", 0.5, 0.1), ("mrr", 0.7, 0.3), ("diff", 0.02, 0.4))
    ]
    (table,) = selection_tables(Result("select", rows), 2)
    assert table.header == ("metric", "hits_at_1", "mrr", "diff ↓")
    assert table.legend == ("↓ lower is better",)
    assert table.body == (("m", "0.50", "0.70", "0.02"), ("(any of the pool)", "0.10", "0.30", "0.40"))
    assert "the best of 10" in table.title
