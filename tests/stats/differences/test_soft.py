import itertools

import numpy as np
import pytest
from scipy.stats import norm

from nlgauge.core.errors import InputError
from nlgauge.stats.correlation.system_pairs import soft_pairwise
from nlgauge.stats.differences import soft as soft_difference
from nlgauge.stats.differences.soft import soft_accuracy_test
from nlgauge.stats.differences.swaps.coins import given


def alike(rng, n_systems, n_items, n_metrics=2):
    human = 0.3 * rng.normal(size=(n_systems, 1)) + rng.normal(size=(n_systems, n_items))
    return human, human + rng.normal(size=(n_metrics, n_systems, n_items))


def plain_accuracy(human, metric):
    """Soft pairwise accuracy with normal tails, pair by pair."""
    apart = []
    for i, j in itertools.combinations(range(len(human)), 2):
        common = ~np.isnan(human[i]) & ~np.isnan(human[j])
        if common.any():
            p = [
                0.5 if not (d := x[i][common] - x[j][common]).any() else norm.sf(d.sum() / np.sqrt((d**2).sum()))
                for x in (human, metric)
            ]
            apart.append(abs(p[0] - p[1]))
    return 1 - np.mean(apart)


def z_score(metrics, judged):
    cells = metrics[:, judged]
    return (metrics - cells.mean(axis=1)[:, None, None]) / cells.std(axis=1)[:, None, None]


@pytest.mark.parametrize(("population", "shape"), [("inputs", (1, 5)), ("systems", (4, 1))])
@pytest.mark.parametrize("gaps", [False, True])
def test_every_pattern_of_a_small_grid(monkeypatch, population, shape, gaps):
    human, metrics = alike(np.random.default_rng(0), 4, 5, n_metrics=3)
    metrics[2] = np.rint(metrics[2])
    metrics[0, 1] = metrics[0, 2]  # two systems that a metric does not tell apart
    if gaps:
        human[0, 1] = human[2, 3:] = np.nan
    patterns = np.array(list(itertools.product([False, True], repeat=shape[0] * shape[1]))).reshape(-1, *shape)
    monkeypatch.setattr(soft_difference, "toss", lambda *_: given(patterns))
    found = soft_accuracy_test(human, metrics, generalise_to=population)
    z = z_score(metrics, ~np.isnan(human))
    for (i, a), (j, b) in itertools.combinations(enumerate(z), 2):
        differences = np.array(
            [plain_accuracy(human, np.where(s, b, a)) - plain_accuracy(human, np.where(s, a, b)) for s in patterns]
        )
        assert found.deltas[i, j] == pytest.approx(differences[0], abs=1e-12)
        assert found.p[i, j] == pytest.approx(((differences >= differences[0] - 1e-10).sum() + 1) / (len(patterns) + 1))
        assert found.p[j, i] == pytest.approx(((differences <= differences[0] + 1e-10).sum() + 1) / (len(patterns) + 1))
    assert found.test == f"perm_{population}"


def test_the_normal_tail_is_close_to_all_sign_patterns():
    # 12 segments, 4096 patterns: the tail of the sum of flipped differences, ties counted half, is normal within .02
    rng = np.random.default_rng(1)
    signs = np.array(list(itertools.product([1, -1], repeat=12)))
    for gaps in rng.normal(size=(20, 12)) + rng.normal(size=(20, 1)) / 3:
        null = signs @ gaps
        exact = (np.mean(null > gaps.sum() + 1e-9) + np.mean(null >= gaps.sum() - 1e-9)) / 2
        assert norm.sf(gaps.sum() / np.sqrt((gaps**2).sum())) == pytest.approx(exact, abs=0.02)


def test_values_are_those_of_sampled_signs_up_to_their_noise():
    human, metrics = alike(np.random.default_rng(2), 6, 80, n_metrics=4)
    sampled = soft_pairwise(metrics, human, np.ones(human.shape, dtype=bool), draws=4000).values
    # a sampled p has sd at most .5 / sqrt(4000) = .008; the mean of 15 differences of two of them strays by less
    np.testing.assert_allclose(soft_accuracy_test(human, metrics, draws=1).values, sampled, atol=0.03)


@pytest.mark.parametrize("population", ["inputs", "systems"])
def test_identical_and_constant_metrics(population):
    human, metrics = alike(np.random.default_rng(3), 5, 10)
    metrics[1] = 2 * metrics[0] + 7
    found = soft_accuracy_test(
        human, np.concatenate([metrics, np.ones((1, 5, 10))]), generalise_to=population, draws=60
    )
    assert found.p[0, 1] == found.p[1, 0] == 1
    assert np.isnan(found.p[2]).all()
    assert found.n_undefined.tolist() == [0, 0, 1]
    assert found.n_used.tolist() == [1, 1, 0]


@pytest.mark.parametrize("population", ["inputs", "systems"])
def test_a_clear_difference_is_found(population):
    rng = np.random.default_rng(4)
    human, metrics = alike(rng, 10, 60)
    metrics[1] = rng.normal(size=human.shape)
    assert soft_accuracy_test(human, metrics, generalise_to=population, draws=199).p[0, 1] <= 0.05


def test_order_of_systems_does_not_matter():
    human, metrics = alike(np.random.default_rng(5), 6, 20)
    human, metrics = np.rint(human), np.rint(metrics)  # many tied systems
    order = np.random.default_rng(6).permutation(6)
    plain, other = (
        soft_accuracy_test(human, metrics, draws=100),
        soft_accuracy_test(human[order], metrics[:, order], draws=100),
    )
    np.testing.assert_allclose(plain.values, other.values, atol=1e-12)
    assert plain.p[0, 1] == other.p[0, 1]


def test_systems_that_share_nothing_are_refused():
    human = np.array([[1.0, np.nan], [np.nan, 2.0]])
    with pytest.raises(InputError, match="no two of the 2 systems share"):
        soft_accuracy_test(human, np.zeros((2, 2, 2)))
    with pytest.raises(InputError, match="generalise_to is 'both'"):
        soft_accuracy_test(np.zeros((2, 2)), np.zeros((2, 2, 2)), generalise_to="both")
