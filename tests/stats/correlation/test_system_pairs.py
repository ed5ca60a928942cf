from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.stats.correlation.system_pairs import pairwise, sign_flip_p, soft_pairwise

system_scores = st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2)), min_size=2, max_size=8)
ALL_SIGNS = np.array(list(product([-1.0, 1.0], repeat=4)))


def value(ratio):
    return float(ratio.value)


def test_pairwise_accuracy_by_hand():
    # people 3 2 1 1, metric 3 1 2 2: pairs 12 agree, 13 agree, 14 agree, 23 and 24 disagree, 34 tied by both: agree
    assert value(pairwise([3, 1, 2, 2], [3, 2, 1, 1])) == 4 / 6


@pytest.mark.parametrize(("ties", "expected"), [("loss", 1 / 3), ("zero", 1 / 3), ("half", 2 / 3), ("exclude", 1.0)])
def test_a_tie_on_one_side_is_settled_as_asked(ties, expected):
    # people 2 1 0, metric 2 2 1 would tie one pair; people 2 2 0 and metric 2 1 1: 12 tied by people, 13 agrees, 23
    # tied by the metric
    ratio = pairwise([2, 1, 1], [2, 2, 0], ties=ties)
    assert value(ratio) == pytest.approx(expected)
    assert ratio.ties == 2


@given(system_scores)
def test_pairwise_accuracy_is_the_share_of_equal_signs(data):
    agree = [np.sign(a - b) == np.sign(h - k) for (a, h), (b, k) in combinations(data, 2)]
    assert value(pairwise(*np.array(data, dtype=float).T)) == pytest.approx(np.mean(agree))


def full_enumeration(x, y):
    """Mid p of "x beats y" over all sixteen sign patterns."""
    gaps = np.array(x) - np.array(y)
    null = ALL_SIGNS @ gaps
    return np.mean((null > gaps.sum() + 1e-9) + 0.5 * (np.abs(null - gaps.sum()) < 1e-9))


def test_sign_flips_by_full_enumeration():
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 4, size=(2, 3, 4)) / 10  # tenths: sums tie up to rounding only
    p = sign_flip_p(scores, np.ones((3, 4), bool), ALL_SIGNS)
    for m, i, j in product(range(2), range(3), range(3)):
        if i != j:
            assert p[m, i, j] == pytest.approx(full_enumeration(scores[m, i], scores[m, j]), abs=1e-12)


def test_gaps_in_the_judgements_leave_each_pair_the_segments_both_have():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(1, 3, 4))
    judged = np.array([[1, 1, 1, 0], [1, 1, 0, 1], [1, 1, 1, 1]], bool)
    p = sign_flip_p(scores, judged, ALL_SIGNS)[0]
    for i, j in combinations(range(3), 2):
        common = judged[i] & judged[j]
        assert p[i, j] == pytest.approx(
            full_enumeration(np.where(common, scores[0, i], 0), np.where(common, scores[0, j], 0))
        )


def test_systems_without_a_common_segment_are_counted_as_undefined():
    judged = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1]], bool)
    found = soft_pairwise(np.zeros((1, 3, 4)), np.zeros((3, 4)), judged, draws=10)
    assert (found.n_pairs, found.n_undefined) == (2, 1)
    assert np.isnan(found.human_p[0, 1])
    assert np.isnan(soft_pairwise(np.zeros((1, 2, 4)), np.zeros((2, 4)), judged[:2], draws=10).values[0])


def soft(x, z, **options):
    x, z = np.asarray(x, dtype=float), np.asarray(z, dtype=float)
    return soft_pairwise(x[None], z, np.ones(z.shape, bool), **options)


def test_the_order_of_the_systems_does_not_matter_though_systems_tie():
    # three systems on eight segments, two of them tied under the metric; the released p-values give another number in
    # another order
    rng = np.random.default_rng(3)
    z = rng.integers(0, 3, size=(3, 8)).astype(float)
    x = z[[0, 0, 2]] + np.array([[0.0], [0.0], [0.1]])
    orders = [list(order) for order in permutations(range(3))]
    ours = {round(float(soft(x[o], z[o]).values[0]), 12) for o in orders}
    released = {round(float(soft(x[o], z[o], as_released=True).values[0]), 12) for o in orders}
    assert len(ours) == 1
    assert len(released) > 1


def test_p_values_of_a_pair_add_up_to_one():
    found = soft(np.random.default_rng(0).normal(size=(4, 30)), np.random.default_rng(1).integers(0, 3, size=(4, 30)))
    upper = np.triu_indices(4, 1)
    for p in (found.human_p, found.metric_p[0]):
        np.testing.assert_allclose((p + p.T)[upper], 1, atol=1e-15)


def test_a_metric_that_equals_the_judgements_scores_one_and_its_negative_little():
    z = np.random.default_rng(0).normal(size=(5, 200)) + np.arange(5)[:, None]
    assert soft(z, z).values[0] == 1
    assert soft(-z, z).values[0] < 0.1


def test_draws_approach_full_enumeration():
    # 20,000 draws: sd of p at most 0.0035; the mean of three differences of two p-values stays within 0.02
    rng = np.random.default_rng(5)
    x, z = rng.normal(size=(3, 4)), rng.normal(size=(3, 4))
    exact = 1 - np.mean(
        [abs(full_enumeration(x[i], x[j]) - full_enumeration(z[i], z[j])) for i, j in combinations(range(3), 2)]
    )
    assert soft(x, z, draws=20000).values[0] == pytest.approx(exact, abs=0.02)


def test_many_metrics_share_the_draws_and_an_offset_costs_nothing():
    rng = np.random.default_rng(6)
    x, z = rng.integers(0, 1 << 16, size=(3, 4, 50)) / 1024, rng.integers(0, 4, size=(4, 50)).astype(float)
    judged = np.ones(z.shape, bool)
    together = soft_pairwise(x, z, judged).values
    assert together.tolist() == [soft_pairwise(x[[m]], z, judged).values[0] for m in range(3)]
    assert soft_pairwise(x + 1e9, z, judged).values.tolist() == together.tolist()


def test_the_released_procedure_is_followed():
    # written out from its description: one float32 mask of signs, `>=`, upper triangle only
    rng = np.random.default_rng(7)
    x, z = rng.integers(0, 9, size=(2, 4, 12)).astype(float)
    signs = 2 * np.rint(np.random.default_rng(11).random((100, 12), dtype=np.float32)) - 1
    apart = []
    for i, j in combinations(range(4), 2):
        p = [np.mean(signs @ (v[i] - v[j]).astype(np.float32) >= (v[i] - v[j]).sum()) for v in (x, z)]
        apart.append(abs(p[0] - p[1]))
    assert soft(x, z, draws=100, seed=11, as_released=True).values[0] == pytest.approx(1 - np.mean(apart))


def test_refusals():
    with pytest.raises(InputError, match="compares systems in pairs, got 1"):
        soft([[1, 2]], [[1, 2]])
    with pytest.raises(InputError, match="needs a judgement for every segment"):
        soft_pairwise(np.zeros((1, 2, 2)), np.zeros((2, 2)), np.array([[True, False], [True, True]]), as_released=True)
    with pytest.raises(InputError, match="draws is 0"):
        soft(np.zeros((2, 2)), np.zeros((2, 2)), draws=0)
