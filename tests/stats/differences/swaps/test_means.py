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


@pytest.mark.parametrize("statistic", ["pearson", "spearman", "kendall_b"])
def test_system_scores_of_mixtures(by_definition, kind, patterns, statistic):
    human, z = by_definition.data(kind)
    used = ~np.isnan(human)
    people, _ = means.system_scores(human, z, used)
    found = means.system_draws(people, z, used, given(patterns), NAMED[statistic])
    np.testing.assert_allclose(
        found, by_definition.looped(by_definition.of_systems, statistic, human, z, patterns, None), **CLOSE
    )
