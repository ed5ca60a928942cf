import numpy as np
import pytest

from nlgauge.core.errors import InputError
from nlgauge.stats.correlation.coefficients import pearson
from nlgauge.stats.differences.bootstrap import bootstrap_test
from nlgauge.stats.grids import standardise
from nlgauge.stats.intervals.weights import pearson_ends, segment_weights, system_weights


@pytest.fixture(scope="module")
def grid():
    rng = np.random.default_rng(4)
    human = rng.normal(size=(3, 8))
    return human, human + rng.normal(size=(2, 3, 8))


def test_an_item_that_counts_twice_is_an_item_that_stands_there_twice(grid):
    human, metrics = grid
    z, _ = standardise(metrics, np.ones(human.shape, dtype=bool))
    columns = np.array([[2, 1, 1, 0, 1, 1, 1, 1]], dtype=float)
    places = [0, 0, 1, 2, 4, 5, 6, 7]
    copied = pearson(metrics[:, :, places].reshape(2, -1), human[:, places].ravel())
    np.testing.assert_allclose(segment_weights(human, z, None, columns, "none")[0], copied, atol=1e-12)
    means = pearson(metrics[:, :, places].mean(axis=2), human[:, places].mean(axis=1))
    np.testing.assert_allclose(system_weights(human, z, None, columns)[0], means, atol=1e-12)


def test_averages_weigh_the_groups_that_are_drawn(grid):
    human, metrics = grid
    z, _ = standardise(metrics, np.ones(human.shape, dtype=bool))
    columns = np.array([[3, 0, 0, 0, 1, 0, 0, 0]], dtype=float)
    by_item = pearson(metrics.transpose(0, 2, 1), human.T)
    expected = (3 * by_item[:, 0] + by_item[:, 4]) / 4
    np.testing.assert_allclose(segment_weights(human, z, None, columns, "item")[0], expected, atol=1e-12)


def test_the_interval_is_that_of_the_test_between_metrics(grid):
    low, high = pearson_ends(*grid, draws=50, seed=3)
    test = bootstrap_test(*grid, averaging="none", draws=50, seed=3)
    np.testing.assert_array_equal(low, test.low)
    np.testing.assert_array_equal(high, test.high)
    assert (low < test.values).all()
    assert (test.values < high).all()


def test_one_item_has_no_interval():
    with pytest.raises(InputError, match="a bootstrap over items needs 2 or more, got 1"):
        pearson_ends(np.zeros((3, 1)), np.ones((1, 3, 1)))
