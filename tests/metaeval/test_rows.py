"""What stands in a row: numbers of a group, of all groups, and of a test of two metrics."""

import math

import numpy as np
import pytest

from nlgauge.metaeval.rows import (
    group_numbers,
    mean_numbers,
    mean_of_known,
    pooled_numbers,
    rows_of_test,
    standings,
)
from nlgauge.stats.correlate import Correlation
from nlgauge.stats.tests import MetricComparison


def one(value, n_pairs=None, n_ties=None, chance=0.5):
    return Correlation(
        stat="pairwise_accuracy",
        value=value,
        n_used=3,
        n_undefined=1,
        n_missing=0,
        n_pairs=n_pairs,
        n_ties=n_ties,
        level="system",
        averaging="none",
        chance=chance,
    )


def compared(p, values, alternative="greater"):
    n = len(values)
    values = np.array(values)
    counts = np.zeros(n, dtype=np.int64)
    none = np.zeros((n, n), dtype=np.int64)
    return MetricComparison(
        "perm_both", "both", alternative, values, values[:, None] - values, np.array(p), counts, counts, 99, none
    )


def test_a_group_has_its_own_numbers():
    row = group_numbers(one(0.25, n_pairs=4, n_ties=1))
    assert (row["value"], row["n_used"], row["n_undefined"], row["n_pairs"], row["n_ties"]) == (0.25, 3, 1, 4, 1)


def test_a_mean_counts_the_groups_that_are_defined():
    row = mean_numbers([one(0.2), one(0.6), one(math.nan)])
    assert (row["value"], row["n_used"], row["n_undefined"]) == (pytest.approx(0.4), 2, 1)
    assert math.isnan(mean_of_known([math.nan]))


def test_pooled_pairs_weigh_by_their_number():
    # 1 of 1 and 1 of 3 pairs: 2 of 4, while the mean of the shares is 2 / 3
    row = pooled_numbers([one(1.0, 1, 0), one(1 / 3, 3, 2)])
    assert (row["value"], row["n_pairs"], row["n_ties"]) == (pytest.approx(0.5), 4, 2)


def test_only_a_one_sided_test_ranks():
    p = [[np.nan, 0.01], [0.99, np.nan]]
    assert standings(compared(p, [0.9, 0.1]), 2, "none", 0.05)[1] == {"rank": 2, "not_outperformed": False}
    assert standings(compared(p, [0.9, 0.1], "two-sided"), 2, "none", 0.05) == [{}, {}]
    assert standings(None, 1, "none", 0.05) == [{}]


def test_each_metric_has_a_row_against_each_other():
    bases = [{"metric": "a"}, {"metric": "b"}]
    p = [[np.nan, 0.03], [0.98, np.nan]]
    first, second = rows_of_test(
        bases, [0.9, 0.1], compared(p, [0.9, 0.1]), "holm", lambda i, j, p: {"power": 0.3} if p > 0.5 else {}
    )
    assert (first["metric"], first["against"], first["delta"]) == ("a", "b", pytest.approx(0.8))
    assert (first["p"], first["p_adjusted"]) == (0.03, pytest.approx(0.06))  # two p-values: the smaller counts twice
    assert "power" not in first
    assert (second["against"], second["power"], second["draws"]) == ("a", 0.3, 99)


def test_a_two_sided_test_of_two_metrics_is_one_test():
    # three tests, of which the smallest p is taken three times, the next twice, the last once
    p = [[np.nan, 0.01, 0.02], [0.01, np.nan, 0.5], [0.02, 0.5, np.nan]]
    bases, values = [{"metric": name} for name in "abc"], [0.9, 0.5, 0.1]
    rows = rows_of_test(bases, values, compared(p, values, "two-sided"), "holm", lambda i, j, p: {})
    found = {(row["metric"], row["against"]): row["p_adjusted"] for row in rows}
    assert found["a", "b"] == found["b", "a"] == pytest.approx(0.03)
    assert found["a", "c"] == found["c", "a"] == pytest.approx(0.04)
    assert found["b", "c"] == found["c", "b"] == pytest.approx(0.5)


def test_a_pooled_share_has_the_chance_of_the_pooled_pairs():
    # 10 pairs at 0.5 and 30 at 0.3
    row = pooled_numbers([one(0.5, 10, 0, chance=0.5), one(0.9, 30, 0, chance=0.3), one(math.nan, 0, 0, math.nan)])
    assert (row["value"], row["chance"], row["n_pairs"]) == (pytest.approx(0.8), pytest.approx(0.35), 40)


def test_one_sided_tests_in_both_directions_are_two_tests():
    # whoever picks the better of two metrics by the data has made a two-sided test: 2 x 0.02
    def adjusted(p, alternative):
        test = compared([[np.nan, p[0]], [p[1], np.nan]], [0.9, 0.1], alternative)
        rows = rows_of_test([{"metric": "a"}, {"metric": "b"}], [0.9, 0.1], test, "holm", lambda i, j, p: {})
        return [row["p_adjusted"] for row in rows]

    assert adjusted((0.02, 0.98), "greater") == pytest.approx([0.04, 0.98])
    assert adjusted((0.04, 0.04), "two-sided") == pytest.approx([0.04, 0.04])
