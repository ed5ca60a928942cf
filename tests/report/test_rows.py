"""What tables and pages ask of rows, worked on rows written out."""

from nlgauge.report.rows import (
    by_keys,
    claim_of,
    compared,
    means_last,
    measured,
    p_values,
    points_of,
    values_of,
    weight_tasks,
    whole,
)


def test_means_stand_last():
    assert means_last(["mean-all", "b", "a", "b"]) == ["b", "a", "mean-all"]


def test_rows_are_grouped_in_order_of_appearance():
    rows = [{"a": 2, "b": 1}, {"a": 1, "b": 1}, {"a": 2, "b": 3}]
    assert values_of(rows, "a") == [2, 1]
    assert by_keys(rows, "a") == {(2,): [rows[0], rows[2]], (1,): [rows[1]]}
    assert list(by_keys(rows, "a", "b")) == [(2, 1), (1, 1), (2, 3)]


def test_tests_stand_apart_from_values_and_their_adjusted_p_counts():
    rows = [
        {"metric": "a", "value": 1.0},
        {"metric": "a", "against": None},
        {"metric": "a", "against": "b", "p": 0.1, "p_adjusted": 0.2, "alternative": "greater"},
        {"metric": "b", "against": "a", "p": 0.9, "alternative": "two-sided"},
    ]
    assert measured(rows) == rows[:2]
    assert compared(rows) == rows[2:]
    assert p_values(compared(rows)) == {("a", "b"): 0.2, ("b", "a"): 0.9}
    assert [claim_of(row) for row in compared(rows)] == ["row better than column", "row and column differ"]


def test_of_a_sweep_the_means_over_sets_are_the_whole():
    def point(dataset, metric="m", phenomenon="mean-all", stat="pearson"):
        about = {"dataset": dataset, "suite": dataset, "metric": metric, "phenomenon": phenomenon}
        return {**about, "stat": stat, "criterion": "q", "level": "item"}

    rows = [point("d"), point("mean"), point("mean", "mean"), point("d", phenomenon="mean-adequacy"), point(None)]
    assert points_of(rows, "mean-all") == rows[:2]
    assert whole(rows) == [rows[1]]
    assert whole(rows, "mean-adequacy") == [rows[3]]  # one set: no mean over sets
    assert list(weight_tasks([*rows, point("d", stat=None)])) == [("pearson", "q", "item")]
