import numpy as np

from nlgauge.stats.differences.swaps.definition import swapped_differences


def test_three_metrics_on_one_item_by_hand():
    # two systems; the statistic is the score of the first less that of the second: 1, 4 and 0 as the data are.
    metrics = np.array([[[3.0], [2.0]], [[5.0], [1.0]], [[0.0], [0.0]]])
    nobody, first, both = np.array([[[False], [False]], [[True], [False]], [[True], [True]]])
    found = swapped_differences(lambda grid: float(grid[0, 0] - grid[1, 0]), metrics, [nobody, first, both])
    # metrics 0 and 1, the first system swapped: (5 - 2) - (3 - 1) = 1; all swapped: 4 - 1
    np.testing.assert_array_equal(found, [[-3, 1, 3], [1, -5, -1], [4, -6, -4]])
