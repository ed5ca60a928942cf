import numpy as np
import pytest
from hypothesis import given as over
from hypothesis import strategies as st

from nlgauge.stats.differences.swaps.coins import collapse, given, toss
from nlgauge.stats.grids import in_groups

GRID = (3, 70)


@pytest.mark.parametrize(("population", "shape"), [("both", (3, 70)), ("inputs", (1, 70)), ("systems", (3, 1))])
def test_one_coin_for_every_score_item_or_system(population, shape):
    coins = toss(np.random.default_rng(0), 4000, GRID, population)
    signs = coins.signs(slice(None)).astype(float)
    assert signs.shape == (4000, *shape)
    assert set(np.unique(signs)) == {-1.0, 1.0}
    flat = signs.reshape(4000, -1)
    # a mean of 4000 signs has sd 0.0158, and so has a correlation; five of them allowed
    assert np.abs(flat.mean(axis=0)).max() < 0.08
    assert np.abs(np.corrcoef(flat.T) - np.eye(flat.shape[1])).max() < 0.08


def test_blocks_deal_out_every_draw_once_and_the_same_signs():
    coins = toss(np.random.default_rng(1), 1100, GRID, "both")
    blocks = list(coins.blocks())
    assert [draw for block in blocks for draw in range(1100)[block]] == list(range(1100))
    assert len(blocks) > 1
    np.testing.assert_array_equal(np.concatenate([coins.signs(block) for block in blocks]), coins.signs(slice(None)))


@over(st.lists(st.lists(st.booleans(), min_size=6, max_size=6), min_size=1, max_size=9))
def test_given_patterns_come_back_as_signs(patterns):
    swapped = np.array(patterns).reshape(-1, 2, 3)
    np.testing.assert_array_equal(given(swapped).signs(slice(None)), np.where(swapped, -1, 1))


@pytest.mark.parametrize("averaging", ["none", "item", "sys"])
@pytest.mark.parametrize("shape", [(3, 4), (1, 4), (3, 1)])
def test_a_sum_over_shared_coins_is_the_sum_over_cells(averaging, shape):
    rng = np.random.default_rng(2)
    table, signs = rng.normal(size=(2, 3, 4)), rng.choice([-1, 1], size=(1, *shape))
    collapsed = (collapse(table, shape, averaging) * in_groups(signs, averaging)).sum(axis=-1)
    axes = {"none": (1, 2), "item": 1, "sys": 2}[averaging]
    np.testing.assert_allclose(
        collapsed.reshape(2, -1), (table * signs).sum(axis=axes).reshape(2, -1), atol=1e-12
    )  # another order of sums
