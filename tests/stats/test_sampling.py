from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.stats.sampling import (
    extended_sample,
    inclusion_probabilities,
    item_sizes,
    powered_means,
    rating_features,
    systematic_sample,
)


def rated_at(human, places):
    few = np.full(human.shape, np.nan)
    few[:, list(places)] = human[:, list(places)]
    return few


def population(seed=0, systems=4, items=120):
    """Ratings with a quality of each system, a difficulty of each item, and a metric that sees some of both."""
    rng = np.random.default_rng(seed)
    hard = rng.gamma(1.0, 1.0, items)
    human = np.linspace(0, 0.6, systems)[:, None] - hard * rng.gamma(1.0, 1.0, (systems, items))
    return human, (human + rng.normal(0, 1.0, human.shape))[None]


def test_plain_means_by_hand():
    # two of four items, 1 3 and 5 5: means 2 and 5, variance of ratings 2 and 0, of their mean (1 - 2/4) / 2 * 2 = 0.5;
    # both are drawn towards 0.25 by 5 items: (1 * 0.5 + 5 * 0.25) / 6 and (0 + 5 * 0.25) / 6; t of 0.975, 1 df: 12.7062
    found = powered_means(rated_at(np.array([[1.0, 3, 0, 0], [5, 5, 0, 0]]), [0, 1]))
    assert found.values.tolist() == [2, 5]
    assert found.high - found.values == pytest.approx(12.7062 * np.sqrt([1.75 / 6, 1.25 / 6]), rel=1e-5)
    assert found.strength == 0
    assert found.n_plain.tolist() == pytest.approx([2, np.nan], nan_ok=True)  # what it cost: two items
    # difference -3, variance 0.5 of the only pair, which is its own mean: t = -3 / sqrt(0.5) = -4.243; of 1 df the
    # probability is 1/2 + arctan(t) / pi
    assert found.deltas[0, 1] == -3
    assert found.lead[0, 1] == pytest.approx(0.5 + np.arctan(-3 / np.sqrt(0.5)) / np.pi)
    assert found.lead[1, 0] == pytest.approx(1 - found.lead[0, 1])


def test_the_mean_over_all_samples_is_the_mean_of_the_population():
    human = np.array([[1.0, 4, 2, 8, 5], [3, 3, 9, 1, 0]])
    means = [powered_means(rated_at(human, places)).values for places in combinations(range(5), 3)]
    assert np.mean(means, axis=0) == pytest.approx(human.mean(axis=1))


def test_weights_by_hand():
    # items chosen with probability 1/2 and 1/4 weigh 2 and 4: (2 * 1 + 4 * 4) / 6 and (2 * 2 + 4 * 2) / 6
    human = rated_at(np.array([[1.0, 4, 0], [2, 2, 0]]), [0, 1])
    assert powered_means(human, None, np.array([0.5, 0.25, 1])).values.tolist() == pytest.approx([3, 2])


def test_a_metric_that_says_what_people_say_leaves_almost_nothing_open():
    human, _ = population()
    few = rated_at(human, range(0, 120, 4))
    found, plain = powered_means(few, rating_features(human[None] * 3 - 1)), powered_means(few)
    truth = human.mean(axis=1)
    assert found.strength > 0.9
    assert np.abs(found.values - truth).max() < 0.3 * np.abs(plain.values - truth).max()
    assert found.n_plain.min() > 60
    assert found.n_plain_deltas > 60


def test_a_metric_that_is_there_twice_says_what_it_says_once():
    human, metrics = population()
    few = rated_at(human, range(0, 120, 4))
    once, twice = (powered_means(few, rating_features(np.concatenate([metrics] * n))) for n in (1, 2))
    assert twice.values == pytest.approx(once.values, abs=0.05)  # the ridge shrinks two slopes less than one


def test_what_single_ratings_would_have_cost_is_a_mean_over_the_pairs():
    # a, b, c rated on two of four items: the differences a - b, a - c and b - c are (-2, -4), (0, -2) and (2, 2), of
    # variance 2, 2 and 0. There is no metric, so the cost is that of the two items, whatever the number of pairs.
    human = rated_at(np.array([[1.0, 1, 0, 0], [3, 5, 0, 0], [1, 3, 0, 0]]), [0, 1])
    assert powered_means(human).n_plain_deltas == pytest.approx(2)


def test_metrics_that_say_nothing_cost_nothing():
    human, _ = population()
    few = rated_at(human, range(0, 120, 4))
    noise = np.random.default_rng(1).normal(size=(3, *human.shape))
    found, plain = powered_means(few, rating_features(noise)), powered_means(few)
    assert (found.high - found.low).mean() < 1.1 * (plain.high - plain.low).mean()
    constant = powered_means(few, rating_features(np.ones((1, *human.shape))))
    assert (constant.values == plain.values).all()


def test_when_all_is_rated_nothing_is_open():
    human, metrics = population()
    human[1] = human[0]
    found = powered_means(human, rating_features(metrics), np.ones(120))
    assert found.values == pytest.approx(human.mean(axis=1))
    assert found.low == pytest.approx(found.high)
    assert found.lead[0, 1] == 0.5 or abs(found.deltas[0, 1]) < 1e-12
    assert found.lead[3, 2] == 1
    assert found.n_plain == pytest.approx(120)


def test_items_that_are_not_rated_for_all_systems_do_not_count():
    human, metrics = population()
    features = rating_features(metrics)
    few = rated_at(human, range(40))
    half = few.copy()
    half[0, 40:] = human[0, 40:]
    assert powered_means(half, features).n == 40
    assert (powered_means(half, features).values == powered_means(few, features).values).all()


@pytest.mark.parametrize("method", ["random", "informative"])
def test_intervals_hold_what_they_promise(method):
    human, metrics = population(systems=5)
    truth, rng = human.mean(axis=1), np.random.default_rng(2)
    gaps, pairs = truth[:, None] - truth, np.triu_indices(5, 1)
    chances, features = inclusion_probabilities(item_sizes(metrics, method), 30), rating_features(metrics)
    inside = []
    for _ in range(80):
        few = rated_at(human, systematic_sample(chances, rng))
        found = powered_means(few, features, chances)
        inside.append(((found.delta_low <= gaps) & (gaps <= found.delta_high))[pairs].mean())
    assert 0.9 < np.mean(inside) < 0.99  # 80 draws of 10 pairs that hang together


def test_refusals():
    human, metrics = population()
    with pytest.raises(InputError, match="2 rated items"):
        powered_means(rated_at(human, [3]))
    with pytest.raises(InputError, match="2 systems"):
        powered_means(human[:1])
    with pytest.raises(InputError, match="features have shape"):
        powered_means(human, rating_features(metrics)[:5])
    with pytest.raises(InputError, match="above 0"):
        powered_means(human, None, np.zeros(120))


def test_features_by_hand():
    # one metric, two systems, two items: 0 2 / 2 4 has mean 2 and standard deviation sqrt(2); items have means 1 and 3
    found = rating_features(np.array([[[0.0, 2], [2, 4]]])) * np.sqrt(2)
    assert found[0] == pytest.approx(np.array([[-1, -1], [1, -1]]))  # item 1: output against item, item
    assert found[1] == pytest.approx(np.array([[-1, 1], [1, 1]]))


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


def test_sampling_refusals():
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
