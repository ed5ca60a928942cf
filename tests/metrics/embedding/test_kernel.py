"""Weighted points of two texts: by hand, and against linear programming."""

import numpy as np
import pytest

from nlgauge.metrics.embedding import kernel
from nlgauge.metrics.embedding.kernel import Side

ROUNDING = 1e-9  # float64, other orders of adding


def side(vectors, weights=None):
    vectors = np.array(vectors, dtype=np.float64)
    n = vectors.shape[-2]
    return Side(vectors, np.array(weights if weights is not None else [1.0] * n), np.arange(n))


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (4, 1), (3, 3), (7, 12), (12, 7), (20, 20)])
def test_transport_costs_what_linear_programming_finds(shape, cheapest):
    rng = np.random.default_rng(sum(shape))
    costs, first, second = rng.random(shape), rng.random(shape[0]), rng.random(shape[1])
    cost, flow = kernel.transport(costs, first, second)
    assert cost == pytest.approx(cheapest(costs, first, second), abs=ROUNDING)
    assert cost == pytest.approx((flow * costs).sum(), abs=ROUNDING)
    assert flow.sum(axis=1) == pytest.approx(first / first.sum(), abs=ROUNDING)
    assert flow.sum(axis=0) == pytest.approx(second / second.sum(), abs=ROUNDING)


def test_points_without_weight_move_nothing():
    costs = np.array([[1.0, 2.0], [0.0, 0.0]])
    assert kernel.transport(costs, np.array([1.0, 0.0]), np.array([1.0, 1.0]))[0] == pytest.approx(1.5)


def test_the_best_match_of_each_point_is_weighted():
    # rows: best 1 and 0.6, weights 3 to 1: 0.9; columns: best 1 and 0.8: 0.9
    hyp, ref = side([[1, 0], [0.6, 0.8]], [3, 1]), side([[1, 0], [0, 1]])
    assert kernel.greedy(hyp, ref) == pytest.approx(((3 * 1 + 0.8) / 4, (1 + 0.8) / 2))
    table = np.array([[0.5, 0.1], [0.2, 0.3]])
    assert kernel.greedy(hyp, ref, table) == pytest.approx(((3 * 0.5 + 0.3) / 4, (0.5 + 0.3) / 2))


def test_pairs_of_neighbours_lie_at_their_weighted_mean():
    # weights 1 and 3: (1 * [1, 0] + 3 * [0, 1]) / 4 = [0.25, 0.75], of length sqrt(0.625)
    found = kernel.ngrams(side([[1, 0], [0, 1], [0, 1]], [1, 3, 2]), 2)
    assert found.weights.tolist() == [4, 5]
    assert found.vectors[0] == pytest.approx(np.array([0.25, 0.75]) / np.sqrt(0.625))
    assert found.vectors[1] == pytest.approx([0, 1])
    assert kernel.ngrams(side([[2, 0]]), 2).vectors.tolist() == [[1, 0]]  # shorter than a pair: one window
    weightless = kernel.ngrams(side([[1, 0], [0, 1]], [0, 0]), 2)
    assert (weightless.vectors.tolist(), weightless.weights.tolist()) == ([[0, 0]], [0])


def test_distances_by_hand():
    a, b = np.array([[3.0, 0.0]]), np.array([[0.0, 4.0], [3.0, 0.0], [-1.0, 0.0]])
    assert kernel.distances(a, b, "squared")[0] == pytest.approx([25, 0, 16])
    assert kernel.distances(a, b, "euclidean")[0] == pytest.approx([5, 0, 4])
    assert kernel.distances(a, b, "cosine")[0] == pytest.approx([1, 0, 2])


def test_power_means_by_hand():
    layers = [np.array([[9.0, 9.0], [0.6, 0.8]]), np.array([[9.0, 9.0], [0.0, 1.0]])]
    assert kernel.power_means(layers, np.array([1])).ravel() == pytest.approx([0, 0.8, 0.3, 0.9, 0.6, 1])
    third = [*layers, np.array([[9.0, 9.0], [-0.6, 0.6]])]
    assert kernel.power_means(third)[:, 1].ravel() == pytest.approx([-0.6, 0.6, 0, 0.8, 0.6, 1])
    assert kernel.power_means(layers[:1])[:, 1].ravel() == pytest.approx([0.6, 0.8] * 3)
    assert [layer[1].tolist() for layer in third] == [[0.6, 0.8], [0, 1], [-0.6, 0.6]]  # read, not written


def test_vectors_in_parts_are_one_long_vector():
    rng = np.random.default_rng(0)
    parts = [rng.random((3, n, 4)) for n in (5, 6)]  # (k, n, d)
    long = [np.concatenate(list(part), axis=1) for part in parts]
    for n in (1, 2):
        found, expected = (
            [kernel.ngrams(side(vectors.copy(), np.ones(vectors.shape[-2])), n) for vectors in both]
            for both in (parts, long)
        )
        for cost in ("squared", "euclidean", "cosine"):
            of_parts, of_long = (kernel.unit_distances(a.vectors, b.vectors, cost) for a, b in (found, expected))
            assert of_parts == pytest.approx(of_long, abs=ROUNDING)
            assert of_long == pytest.approx(kernel.distances(*(s.vectors for s in expected), cost), abs=1e-7)
        assert kernel.greedy(*found) == pytest.approx(kernel.greedy(*expected))
    kept = side(parts[0], [1.0] * 5).take(np.arange(5) > 2)
    assert kept.vectors.shape == (3, 2, 4)


def test_which_pieces_are_marks_or_continue_a_word():
    pieces = [".", "..", "##ing", "the", "。", "[CLS]", "##"]
    assert kernel.is_mark(pieces).tolist() == [True, False, False, False, False, False, False]
    assert kernel.is_subword(pieces).tolist() == [False, False, True, False, False, False, True]
    # Other vocabularies mark what stands behind a blank, be it a word or a sign; what continues a word has no mark.
    pieces = ["▁(", "Ġ(", "▁", "▁the", "ing", "▁(("]
    assert kernel.is_mark(pieces).tolist() == [True, True, False, False, False, False]
    assert not kernel.is_subword(pieces).any()
