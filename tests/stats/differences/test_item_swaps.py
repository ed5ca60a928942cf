import itertools

import numpy as np
import pytest
from scipy.stats import binomtest

from nlgauge.core.errors import InputError
from nlgauge.stats.correlation.coefficients import acc_eq
from nlgauge.stats.differences.item_swaps import acc_eq_test, item_swap_test


def test_four_items_by_full_enumeration():
    # differences .3, .1, -.2, .4: mean .15; of the 16 sign patterns of their sum (.6), those reaching it: all kept
    # (.6), the third turned (1.0), the second turned (.4) no, second and third turned (.8), fourth no: .3 + .1 - .2 -
    # .4; first no: -.3 + .1 + ...
    values = np.array([[0.8, 0.5, 0.3, 0.9], [0.5, 0.4, 0.5, 0.5]])
    gaps = values[0] - values[1]
    sums = np.array([np.dot(signs, gaps) for signs in itertools.product([1, -1], repeat=4)])
    exact = np.mean(sums >= gaps.sum() - 1e-12)
    assert exact == 3 / 16
    found = item_swap_test(values, draws=20000)
    assert found.p[0, 1] == pytest.approx(exact, abs=0.014)  # sd .0028, five of them allowed
    assert found.deltas[0, 1] == pytest.approx(0.15)
    assert (found.test, found.generalise_to) == ("item_swap", "inputs")


def test_items_without_a_value_by_full_enumeration():
    values = np.array([[0.8, np.nan, 0.3], [0.5, 0.4, np.nan]])
    differences = []
    for swapped in itertools.product([False, True], repeat=3):
        one, two = np.where(swapped, values[::-1], values)
        differences.append(
            np.nanmean(one) - np.nanmean(two) if not (np.isnan(one).all() or np.isnan(two).all()) else np.nan
        )
    differences = np.array(differences)
    found = item_swap_test(values, draws=20000)
    assert found.n_undefined.tolist() == [1, 1]
    assert found.p[0, 1] == pytest.approx(
        np.nanmean(differences >= differences[0] - 1e-12), abs=0.018
    )  # sd at most .0035, five of them
    assert found.n_undefined_draws[0, 1] == 0


def test_identical_values_and_undefined_metrics():
    row = np.random.default_rng(0).random(9)
    found = item_swap_test(np.stack([row, row, np.full(9, np.nan)]), draws=99)
    assert found.p[0, 1] == found.p[1, 0] == 1
    assert np.isnan(found.p[2]).all()
    assert found.n_used.tolist() == [9, 9, 0]


def ratings(rng, n_systems, n_items, n_metrics=2):
    """Judgements in few steps, so that they tie, and metrics of equal quality that tie too."""
    truth = rng.normal(size=(n_systems, 1)) * 0.5 + rng.normal(size=(n_systems, n_items))
    return np.rint(truth), np.rint(2 * (truth + rng.normal(size=(n_metrics, n_systems, n_items)))) / 2


def test_acc_eq_test_takes_the_accuracy_of_each_item():
    human, metrics = ratings(np.random.default_rng(1), 5, 12)
    human[0, 3] = human[1:, 7] = np.nan
    near = np.array([0.0, 0.5])
    found = acc_eq_test(human, metrics, near, draws=50, seed=3)
    by_item = np.full((2, 12), np.nan)
    for m, item in itertools.product(range(2), range(12)):
        judged = ~np.isnan(human[:, item])
        if judged.sum() > 1:
            by_item[m, item] = acc_eq(metrics[m][judged, item], human[judged, item], epsilon=near[m])
    assert np.isnan(by_item).sum() == 2
    expected = item_swap_test(by_item, draws=50, seed=3)
    np.testing.assert_array_equal(found.p, expected.p)
    np.testing.assert_array_equal(found.values, expected.values)


def test_pair_swaps_are_a_sign_test():
    # two systems: one pair an item. The first metric alone is right on 5 items, the second alone on 1, both on 2:
    # P(Bin(6, 1/2) >= 5) = 7/64
    human = np.array([[0.0] * 8, [1.0] * 8])
    first, second = np.array([1, 1, 1, 1, 1, 0, 1, 1]), np.array([0, 0, 0, 0, 0, 1, 1, 1])
    metrics = np.array([[np.zeros(8), 2.0 * first - 1], [np.zeros(8), 2.0 * second - 1]])
    found = acc_eq_test(human, metrics, compat="mt-metrics-eval", draws=9)
    assert found.p[0, 1] == pytest.approx(7 / 64)
    assert found.p[1, 0] == pytest.approx(63 / 64)  # P(Bin(6, 1/2) <= 5)
    two_sided = acc_eq_test(human, metrics, compat="mt-metrics-eval", draws=9, alternative="two-sided")
    assert two_sided.p[1, 0] == pytest.approx(binomtest(5, 6).pvalue)


def as_mt_metrics_eval(human, metrics, draws, rng):
    """Its procedure on a full grid: hybrid order matrices from one coin a pair and item, accuracy by item, the mean."""
    left, right = np.triu_indices(len(human), 1)
    truth = np.sign(human[left] - human[right])
    right_pairs = [np.sign(m[left] - m[right]) == truth for m in metrics]
    delta = right_pairs[0].mean(axis=0).mean() - right_pairs[1].mean(axis=0).mean()
    hits = 0
    for _ in range(draws):
        keep = rng.integers(0, 2, size=truth.shape).astype(bool)
        one, two = np.where(keep, right_pairs[0], right_pairs[1]), np.where(keep, right_pairs[1], right_pairs[0])
        hits += one.mean(axis=0).mean() - two.mean(axis=0).mean() >= delta - 1e-12
    return hits / draws


def test_pair_swaps_are_the_procedure_of_mt_metrics_eval():
    rng = np.random.default_rng(2)
    human, metrics = ratings(rng, 4, 10)
    found = acc_eq_test(human, metrics, compat="mt-metrics-eval")
    assert found.p[0, 1] == pytest.approx(
        as_mt_metrics_eval(human, metrics, 4000, rng), abs=0.04
    )  # sd at most .0079, five of them


def test_pair_swaps_with_gaps_weigh_items_alike():
    # Three systems judged on the first item (3 pairs, weight 1/3 each), two on the second (1 pair, weight 1). The first
    # metric is right throughout, the second wrong throughout: the sum is (X1 - 1.5) / 1.5 + 2 X2 - 1 at its maximum 2,
    # reached with chance 1/8 x 1/2
    human = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, np.nan]])
    metrics = np.stack([np.nan_to_num(human), -np.nan_to_num(human)])
    found = acc_eq_test(human, metrics, compat="mt-metrics-eval", draws=20000)
    assert found.p[0, 1] == pytest.approx(1 / 16, abs=0.009)  # sd .0017, five of them
    assert found.p[1, 0] == 1


def test_a_true_null_under_pair_swaps_is_rejected_far_too_often():
    # 15 systems, 40 items, metrics of equal quality: a pair of systems shares its scores with 26 others.
    # mt-metrics-eval's own code rejects .205 of such nulls; 150 data sets: sd .033, so that .10 is three of them below
    rng = np.random.default_rng(3)
    p = [acc_eq_test(*ratings(rng, 15, 40), compat="mt-metrics-eval", draws=1).p[0, 1] for _ in range(150)]
    assert np.mean(np.array(p) <= 0.05) > 0.10


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: item_swap_test(np.zeros(4)), r"values have shape \(4,\)"),
        (lambda: item_swap_test(np.zeros((2, 0))), "an item or more"),
        (lambda: item_swap_test(np.array([[0.0, np.inf]])), "metric 0 on item 1 is infinite"),
        (lambda: item_swap_test(np.zeros((2, 4)), draws=0), "draws is 0"),
        (lambda: acc_eq_test(np.zeros((2, 3)), np.zeros((1, 2, 3)), compat="nlpstats"), "compat is 'nlpstats'"),
        (lambda: acc_eq_test(np.zeros((2, 3)), np.zeros((1, 2, 3)), -1.0), "epsilon is negative"),
    ],
)
def test_what_cannot_be_tested_is_refused(call, says):
    with pytest.raises(InputError, match=says):
        call()


def test_weights_pool_the_pairs_of_items_and_groups_are_averaged():
    values, pairs = np.array([[1.0, 0.0], [0.0, 0.2]]), np.array([[1.0, 9.0], [1.0, 9.0]])
    assert item_swap_test(values, draws=9).values.tolist() == [0.5, 0.1]
    pooled = item_swap_test(values, weights=pairs, draws=20000)
    np.testing.assert_allclose(pooled.values, [0.1, 0.18])  # 1 / 10; 1.8 / 10
    # the difference is -.08; first item swapped -.28, second .28, both .08: three of four are at least as large
    assert pooled.p[0, 1] == pytest.approx(0.75, abs=0.016)  # sd .003, five of them
    grouped = item_swap_test(np.hstack([values, [[0.4], [0.0]]]), groups=np.array([0, 0, 1]), draws=9)
    np.testing.assert_allclose(grouped.values, [(0.5 + 0.4) / 2, (0.1 + 0.0) / 2])
    assert grouped.n_used.tolist() == [2, 2]
    with pytest.raises(InputError, match=r"weights have shape \(2, 1\), expected \(2, 2\)"):
        item_swap_test(values, weights=pairs[:, :1])
