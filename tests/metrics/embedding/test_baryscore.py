"""BaryScore: barycenters by hand, its distance by linear programming, and the contract."""

import numpy as np
import pytest

from nlgauge.core.segment import Segment
from nlgauge.metrics.embedding.baryscore import BaryScore, barycenter
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric
from nlgauge.testing.segments import SEGMENTS

pytest.importorskip("torch")
CPU = Runtime(device="cpu")
PARITY = 1e-5  # float32 vectors, of transformers there and packed here


def test_the_barycenter_of_shifted_sets_lies_between_them():
    layer = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 9.0]])
    way = np.array([1.0, 0.0])
    assert barycenter([layer, layer + 2 * way], np.ones(3)) == pytest.approx(layer + way)
    assert barycenter([layer], np.ones(3)) == pytest.approx(layer)


def test_points_move_to_where_the_weight_is():
    # weights 3 to 1 at 0 and 8, two points of weight one half: one at 0, one at (1/4 * 0 + 1/4 * 8) / (1/2) = 4
    layer = np.array([[0.0], [8.0]])
    assert sorted(barycenter([layer, layer], np.array([3.0, 1.0])).ravel()) == pytest.approx([0, 4])


def test_the_mean_transport_cost_of_a_barycenter_is_low(cheapest):
    """No worse than that of the pieces' means, which is where it starts."""
    rng = np.random.default_rng(5)
    layers, weights = [rng.normal(size=(6, 3)) for _ in range(3)], rng.random(6)

    def cost(points):
        squares = [((points[:, None] - layer[None]) ** 2).sum(-1) for layer in layers]
        return sum(cheapest(table, np.ones(6), weights) for table in squares)

    assert cost(barycenter(layers, weights)) < cost(np.mean(layers, axis=0))


def test_with_equal_weights_pieces_keep_their_places_and_the_distance_is_exact(plain, cheapest):
    texts = ["the cat sat on the mat", "a dog lay on the rug"]
    sides = []
    for text in texts:
        layers = plain(text)[1][1:]
        layers = layers / np.linalg.norm(layers, axis=-1, keepdims=True)
        sides.append(barycenter(list(layers), np.ones(layers.shape[1])))
    squares = ((sides[0][:, None] - sides[1][None]) ** 2).sum(-1)
    found = BaryScore(model=plain.folder).score([Segment("s", texts[0], (texts[1],))], CPU)
    expected = cheapest(squares, np.ones(len(squares)), np.ones(squares.shape[1]))
    assert found.values[0] == pytest.approx(expected, abs=PARITY)
    assert not found.higher_is_better


@pytest.mark.parametrize("idf", [False, True])
def test_baryscore_keeps_the_contract_of_a_metric(tiny_model, idf):
    # Under idf the first plan of a text with equal pieces is one of several; rounding chooses.
    metric = BaryScore(model=str(tiny_model("bert")), idf=idf)
    check_metric(metric, SEGMENTS[:10], runtime=CPU, tolerance=PARITY)
