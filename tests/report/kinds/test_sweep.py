"""Sweeps for the terminal: one column per weight, the best marked, and what to mix in words."""

import pytest

from nlgauge.core.result import Result
from nlgauge.metaeval.pooling import left_out, rank, winning
from nlgauge.metaeval.sweep import curves, mark_best, with_gains
from nlgauge.report.kinds.sweep import best_lines, sweep_tables

NAN = float("nan")


def point(weight, correlation, accuracy, **about):
    return {
        "metric": "chrf",
        "with": "nli",
        "partner": "nli",
        "weight": weight,
        "spec": {0.0: "chrf", 1.0: "nli"}.get(weight, "0.5*chrf + 0.5*nli"),
        "dataset": "d",
        "suite": "s",
        "stat": "pearson",
        "criterion": "q",
        "level": "segment",
        "averaging": "none",
        "group": "mean",
        "phenomenon": "mean-all",
        "correlation": correlation,
        "low": correlation - 0.1,
        "high": correlation + 0.1,
        "accuracy": accuracy,
        "accuracy_low": accuracy - 0.1,
        "accuracy_high": accuracy + 0.1,
        **about,
    }


def result_of(*numbers, **about):
    rows = [point(w, c, a, **about) for w, c, a in numbers]
    with_gains(rows)
    mark_best(rows)
    return Result("sweep", [*rows, *curves(rows)])


def test_a_column_a_weight_and_a_star_at_the_best():
    [table] = sweep_tables(result_of((0.0, 0.5, 0.4), (0.5, 0.6, 0.5), (1.0, 0.3, 0.6)))
    assert table.text().split("\n") == [
        "pearson with q (level segment) and accuracy under attack: d and s",
        "metric  with  weight        0     0.5      1",
        "------  ----  --------  -----  ------  -----",
        "chrf    nli   pearson   0.500  0.600*  0.300",
        "              accuracy  0.400  0.500*  0.600",
        "* the best weight",
    ]


def test_what_to_mix_is_said_as_it_is_typed():
    [line] = best_lines(result_of((0.0, 0.5, 0.4), (0.5, 0.6, 0.5), (1.0, 0.3, 0.6)))
    said = "best weight 0.5: pearson +0.100 (+20.0 %), accuracy +0.100 (+25.0 %); -m '0.5*chrf + 0.5*nli'"
    assert line == f"chrf with nli: {said}"


@pytest.mark.parametrize(
    ("alone", "ends", "said"),
    [
        (0.003, (-0.1, 0.1), "pearson +0.273, "),  # 9,100 % of what may be nothing
        (0.003, (NAN, NAN), "pearson +0.273, "),
        (0.1, (NAN, NAN), "pearson +0.176 (+176.0 %), "),
        (-0.2, (-0.3, -0.1), "pearson +0.476 (+238.0 %), "),
    ],
)
def test_a_gain_is_a_share_only_of_what_is_told_from_0(alone, ends, said):
    rows = [point(0.0, alone, 0.4, low=ends[0], high=ends[1]), point(0.5, 0.276, 0.5), point(1.0, 0.2, 0.3)]
    with_gains(rows)
    mark_best(rows)
    assert said in best_lines(Result("sweep", rows))[0]


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ([(0.0, 0.5, 0.4), (1.0, 0.3, 0.6)], "neither lower; best alone"),
        ([(0.0, 0.5, 0.4), (1.0, 0.6, 0.6)], "best weight 1, the other alone"),
        ([(0.0, 0.5, 0.0), (1.0, 0.6, 0.6)], "no gain can be told"),
    ],
)
def test_what_cannot_be_mixed_better_is_said(numbers, said):
    [line] = best_lines(result_of(*numbers))
    assert said in line


def test_several_pairs_end_in_their_mean():
    rows = [point(w, c, a, metric=m) for m in ("chrf", "bleu") for w, c, a in ((0.0, 0.5, 0.4), (0.5, 0.6, 0.5))]
    with_gains(rows)
    mark_best(rows)
    lines = best_lines(Result("sweep", [*rows, *curves(rows)]))
    assert len(lines) == 3
    gains = "pearson +20.0 % (median +20.0 %), accuracy +25.0 % (median +25.0 %)"
    assert lines[-1] == f"mean of all with NLI metrics: best weight 0.5: {gains}"


def test_statistics_have_a_table_each():
    rows = [point(w, 0.5, 0.5, stat=stat) for stat in ("pearson", "spearman") for w in (0.0, 1.0)]
    with_gains(rows)
    mark_best(rows)
    result = Result("sweep", [*rows, *curves(rows)])
    assert len(sweep_tables(result)) == 2
    assert "chrf with nli (spearman with q): " in "\n".join(best_lines(result))


def test_a_study_has_a_grid_a_set_winners_and_choices():
    rows = [
        {
            "table": "values",
            "metric": "nli",
            "setup": "ref",
            "kind": "correlation",
            "set": where,
            "stat": "pearson",
            "criterion": "q",
            "level": "segment",
            "formula": formula,
            "direction": "both",
            "spec": "nli",
            "value": value,
            "n": 3,
        }
        for where in "de"
        for formula, value in (("e", 0.5), ("-c", 0.25))
    ]
    rank(rows)
    result = Result("sweep", [*rows, *winning(rows), *left_out(rows)])
    assert [table.title for table in sweep_tables(result)] == [
        "nli: pearson with q, d",
        "nli: pearson with q, e",
        "how often each is the best of 2: agreement with people, references",
        "chosen without the set",
    ]
    assert best_lines(result) == []
    assert "0.500*" in sweep_tables(result)[0].text()
