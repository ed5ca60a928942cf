from dataclasses import replace

from nlgauge.core.result import Result
from nlgauge.report.kinds.meta import meta_html, official_tables
from nlgauge.report.text import render

METRICS = [{"spec": name, "signature": f"{kind}:{name}", "higher_is_better": True} for name, kind in
           (("chrf", "metric"), ("Good", "scores"), ("Far", "scores"))]  # fmt: skip


def row(metric, stat, value, task, group="mean", **more):
    own = {"metric": metric, "criterion": "mqm", "level": "system", "averaging": "none", "stat": stat, "group": group}
    return {**own, "value": value, "low": None, "high": None, "ties": None, "chance": None, "n_used": 3,
            "n_undefined": 0, "task": task, "weight": None if task is None else 1.0, **more}  # fmt: skip


def result(groups=("de-en",)):
    values = {"chrf": 0.5, "Good": 0.9, "Far": 0.7}
    ranks = {"Good": 1, "Far": 2, "chrf": 2}
    rows = [
        row(m, "pearson", v, 1, group=g, rank=ranks[m], not_outperformed=m == "Good")
        for g in (*groups, "mean")
        for m, v in values.items()
    ]
    rows += [row(m, "pairwise_accuracy", v - 0.1, 2, group=g) for g in (*groups, "mean") for m, v in values.items()]
    rows += [row(m, "pairwise_accuracy", v - 0.2, 2, group="pooled") for m, v in values.items()]
    rows += [row(m, "weighted_mean", v / 2, None, level="tasks") for m, v in values.items()]
    rows += [
        row(a, "pearson", values[a], None, against=b, p=p, p_adjusted=None, test="t", alternative="greater", delta=0.1)
        for a, b, p in (("Good", "Far", 0.01), ("Far", "chrf", 0.3), ("Good", "chrf", 0.001))
    ]
    return Result("meta", rows, [], METRICS, (), {})


def test_metrics_by_task_and_how_firm_their_ranks_are():
    metrics, tasks = official_tables(result())
    assert metrics.title == "official table: metrics against mqm, de-en"
    assert metrics.header == ("metric", "scores", "average", "r sys", "PA sys")
    assert metrics.body == (
        ("Good", "official", "0.450", "0.900 (1)", "0.700"),  # pooled pairs of systems, not their mean
        ("Far", "official", "0.350", "0.700 (2)", "0.500"),
        ("chrf", "ours", "0.250", "0.500 (2)", "0.300"),
    )
    # of the neighbours Good and Far, Far and chrf, the second two are not told apart
    assert tasks.body == (
        ("r sys", "pearson (system)", "1", "2", "1 of 2"),
        ("PA sys", "pairwise_accuracy (system)", "1", "-", "-"),
    )
    assert official_tables(result(("de-en", "zh-en")))[0].title.endswith("mqm, mean of 2 language pairs")


def test_the_official_table_comes_first_and_stands_for_the_triangles():
    text = render(result(), "text", quiet=True)
    assert text.startswith("official table: metrics against mqm, de-en\n")
    assert "weighted_mean with mqm" not in text
    assert "row better than column" not in text
    assert text.endswith("--format markdown")
    assert "row better than column" in render(result(), "markdown", quiet=True)


def test_the_legend_of_ranks_is_that_of_the_rule():
    greedy = "a metric opens a new rank as soon as one metric of the rank above beats it (p <= alpha), as in WMT's task"
    made = replace(result(), notes=[f"rank: {greedy}"])
    for form in ("text", "latex"):
        shown = render(made, form, quiet=True)
        assert shown.count("a metric opens a new rank") == 1
        assert "every metric above" not in shown
        assert "every metric above is significantly better" in render(result(), form, quiet=True)
    page = meta_html(made)
    assert "every metric above" not in page
    assert "Rank: a metric opens a new rank as soon as" in page
    assert "Rank: a new rank begins where every metric above" in meta_html(result())


def test_the_page_begins_with_the_official_table():
    files = [{"path": f"{i}.score", "sha256": f"{i:064}"} for i in range(69)]
    page = meta_html(replace(result(), inputs=files))
    head, _, rest = page.partition("official table: metrics against mqm")
    assert head.count("<h2") == 1  # its own
    assert "<summary>69 files</summary>" in head
    assert "weighted_mean" not in rest  # the average stands in the table
    assert "By group" not in rest  # de-en and pooled are one group
    assert ">undefined</th>" not in rest


def test_other_results_have_none():
    rows = [{key: cell for key, cell in one.items() if key not in ("task", "weight")} for one in result().rows]
    assert official_tables(Result("meta", rows, [], METRICS, (), {})) == []
