import numpy as np
import pytest

from nlgauge.stats.differences.swaps import means
from nlgauge.stats.differences.swaps.coins import given
from nlgauge.stats.differences.swaps.groups import NAMED

CLOSE = {
    "rtol": 0,
    "atol": 1e-9,
    "equal_nan": True,
}  # a variance that cancels to 1e-4 of its terms keeps 12 of 16 digits


def test_a_function_sees_the_means_of_the_mixtures():
    # a distance depends on the scale: without a swap it is that of the data
    human, z = np.array([1.0, 0, 2]), np.random.default_rng(0).normal(size=(2, 3, 4)).round(1)
    used, stays = np.ones((3, 4), dtype=np.bool_), given(np.zeros((1, 3, 4), dtype=np.bool_))

    def distance(x, z):
        return -((x - z) ** 2).mean(axis=-1)

    one, other = distance(z.mean(axis=2), human)
    assert means.system_draws(human, z, used, stays, distance)[0, 0] == pytest.approx(one - other)


@pytest.mark.parametrize("statistic", ["pearson", "spearman", "kendall_b"])
def test_system_scores_of_mixtures(by_definition, kind, patterns, statistic):
    human, z = by_definition.data(kind)
    used = ~np.isnan(human)
    people, _ = means.system_scores(human, z, used)
    found = means.system_draws(people, z, used, given(patterns), NAMED[statistic])
    np.testing.assert_allclose(
        found, by_definition.looped(by_definition.of_systems, statistic, human, z, patterns, None), **CLOSE
    )
