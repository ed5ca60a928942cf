import numpy as np
import pytest

from nlgauge.stats.differences.permutation import permutation_test
from nlgauge.stats.differences.swaps import pearson
from nlgauge.stats.differences.swaps.coins import given, toss
from nlgauge.stats.differences.swaps.groups import NAMED
from nlgauge.stats.draws import pairs_of
from nlgauge.stats.grids import standardise

CLOSE = {
    "rtol": 0,
    "atol": 1e-9,
    "equal_nan": True,
}  # a variance that cancels to 1e-4 of its terms keeps 12 of 16 digits


@pytest.mark.parametrize("averaging", ["none", "item", "sys"])
def test_pearson_from_sums_is_pearson_of_the_mixtures(by_definition, kind, patterns, averaging):
    human, z = by_definition.data(kind)
    found = pearson.segment_draws(human, z, given(patterns), averaging)
    np.testing.assert_allclose(
        found, by_definition.looped(by_definition.averaged, "pearson", human, z, patterns, averaging), **CLOSE
    )


@pytest.mark.parametrize("averaging", ["none", "item", "sys"])
def test_blocks_and_threads_change_no_draw(monkeypatch, averaging):
    rng = np.random.default_rng(0)
    human = rng.normal(size=(4, 30))
    z, _ = standardise(rng.normal(size=(5, 4, 30)), np.ones((4, 30), dtype=bool))
    coins = toss(rng, 90, (4, 30), "both")
    whole = pearson.segment_draws(human, z, coins, averaging)
    monkeypatch.setattr(pearson, "_CELLS", 7)
    monkeypatch.setattr(pearson, "_ONE_THREAD", 1000)
    monkeypatch.setattr(pearson, "_THREADS", 1)
    monkeypatch.setattr("nlgauge.stats.differences.swaps.coins._DRAWS", 13)
    cut = pearson.segment_draws(human, z, coins, averaging)
    np.testing.assert_allclose(cut, whole, atol=1e-13)  # sums in another order


def test_single_precision_changes_no_p_value(monkeypatch):
    # 60 items, metrics in steps, which are constant within some items, a copy and a copy on another scale
    rng = np.random.default_rng(7)
    human = np.rint(rng.normal(size=(4, 60)))
    scores = np.rint(human + rng.normal(size=(5, 4, 60)))
    scores[3], scores[4] = scores[0], 3 * scores[0] + 1
    rough = permutation_test(human, scores, draws=200)
    z, _ = standardise(scores, np.ones(human.shape, dtype=np.bool_))
    coins, (left, right) = toss(np.random.default_rng(0), 200, human.shape, "both"), pairs_of(5)
    found = pearson.segment_draws(human, z, coins, "item", rough.values[left] - rough.values[right])
    monkeypatch.setattr(pearson, "_MANY", 1000)
    exact = permutation_test(human, scores, draws=200)
    assert np.array_equal(rough.p, exact.p, equal_nan=True)
    assert (rough.p[[0, 0, 3], [3, 4, 4]] == 1).all()
    # 1e-6: the mean over items of rounding errors of 1e-7 each
    assert found == pytest.approx(pearson.segment_draws(human, z, coins, "item"), abs=1e-6, nan_ok=True)


@pytest.mark.parametrize("level", [0.0, 30.0])
def test_draws_that_are_the_data_on_paper_tie_with_them(level):
    # five items of two systems: each r is 1 or -1, so that most draws tie with the data, however high an item scores
    rng = np.random.default_rng(4)
    human, metrics = rng.normal(size=(2, 5)), rng.normal(size=(3, 2, 5)) + level * rng.normal(size=5)
    how = {"draws": 60, "seed": 1, "generalise_to": "inputs"}
    plain = permutation_test(human, metrics, statistic=lambda x, z: NAMED["pearson"](x, z), **how).p
    assert permutation_test(human, metrics, **how).p.tolist() == pytest.approx(plain, nan_ok=True)
    how["generalise_to"] = "both"
    plain = permutation_test(human, metrics, statistic=lambda x, z: NAMED["pearson"](x, z), **how).p
    assert permutation_test(human, metrics, **how).p == pytest.approx(plain, nan_ok=True)
