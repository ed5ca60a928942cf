import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.stats.ratings.sampling import extended_sample, inclusion_probabilities, item_sizes, systematic_sample

sizes_of_items = st.lists(st.floats(0, 100), min_size=1, max_size=30)


def test_probabilities_by_hand():
    # sizes 1 2 3, mean 2; half of two items uniformly: (0.5 + 1, 1 + 1, 1.5 + 1) / 2 = 0.75 1 1.25, times 2 / 3
    assert inclusion_probabilities(np.array([1.0, 2, 3]), 2).tolist() == pytest.approx([0.5, 2 / 3, 5 / 6])
    # 0 0 4 with a floor of 0.1: 0.1 0.1 2.8, times 2 / 3 is above 1, so the third is sure and the others share the rest
    assert inclusion_probabilities(np.array([0.0, 0, 4]), 2, floor=0.1).tolist() == pytest.approx([0.5, 0.5, 1])


@given(sizes_of_items, st.data())
def test_probabilities_sum_to_the_budget_and_stay_above_the_floor(sizes, data):
    n = data.draw(st.integers(1, len(sizes)))
    found = inclusion_probabilities(np.array(sizes), n, floor=0.3)
    assert found.sum() == pytest.approx(n)
    assert (found > 0).all()
    assert (found <= 1).all()
    assert (found >= 0.3 * n / len(sizes) - 1e-9).all() or (found == 1).any()
    assert len(set(systematic_sample(found, 1).tolist())) == n


def test_samples_have_these_probabilities_and_so_do_their_beginnings():
    chances = np.array([1.0, 0.9, 0.5, 0.3, 0.2, 0.1])
    rng, draws = np.random.default_rng(3), 2000
    drawn = np.array([systematic_sample(chances, rng) for _ in range(draws)])  # (B, 3)
    whole = np.array([(drawn == i).any(axis=1).mean() for i in range(6)])
    first = np.array([(drawn[:, :1] == i).any(axis=1).mean() for i in range(6)])
    error = 4 * 0.5 / np.sqrt(draws)  # four standard errors of a share
    assert np.abs(whole - chances).max() < error
    assert np.abs(first - chances / 3).max() < error


def test_an_extended_sample_has_the_probabilities_of_a_larger_one():
    sizes, rng, draws = np.linspace(0.2, 2, 40), np.random.default_rng(5), 600
    before, after = inclusion_probabilities(sizes, 8), inclusion_probabilities(sizes, 20)
    hits = np.zeros(40)
    for _ in range(draws):
        chosen = systematic_sample(before, rng)
        more = extended_sample(chosen, before, after, 12, rng)
        assert len({*chosen.tolist(), *more.tolist()}) == 20
        hits[chosen] += 1
        hits[more] += 1
    assert np.abs(hits / draws - after).max() < 4 * 0.5 / np.sqrt(draws) + 1 / 40
    assert sorted(extended_sample(np.arange(30), before, np.ones(40), 10, 1).tolist()) == list(range(30, 40))


def test_hard_items_and_items_that_metrics_see_apart_are_larger():
    # three systems, four items: the second is hard, the third is seen apart, the others are neither
    metrics = np.array([[[9.0, 1, 8, 9], [9, 1, 9, 9], [9, 1, 10, 9]]])
    sizes = item_sizes(metrics)
    assert sizes.mean() == pytest.approx(1)
    assert sizes[1] > sizes[0]
    assert sizes[2] > sizes[0]
    # variance sees nothing but the third: standard deviations 0 0 1 0 of the same scale, scaled to mean 1
    assert item_sizes(metrics, "variance").tolist() == pytest.approx([0, 0, 4, 0])
    assert item_sizes(metrics, "random").tolist() == [1] * 4
    assert item_sizes(np.full((1, 3, 4), 7.0)).tolist() == [1] * 4  # a constant metric says nothing


def test_refusals():
    with pytest.raises(InputError, match="n is 4, expected 1 to 3"):
        inclusion_probabilities(np.ones(3), 4)
    with pytest.raises(InputError, match="negative or not finite"):
        inclusion_probabilities(np.array([1.0, np.nan]), 1)
    with pytest.raises(InputError, match="floor is 0"):
        inclusion_probabilities(np.ones(3), 1, floor=0)
    with pytest.raises(InputError, match=r"sum to 1\.5"):
        systematic_sample(np.array([0.5, 1.0]))
    with pytest.raises(InputError, match="method"):
        item_sizes(np.ones((1, 2, 3)), "irt")
