import numpy as np
import pytest

from nlgauge.core.errors import InputError
from nlgauge.stats.systems import hybrids as module
from nlgauge.stats.systems.hybrids import hybrid_draws, hybrid_scores

HUMAN = np.array([[1.0, 2.0, np.nan], [5.0, np.nan, np.nan], [3.0, 4.0, np.nan]])
METRICS = np.stack([np.arange(9.0).reshape(3, 3), -np.ones((3, 3))])


def test_three_hybrids_by_hand():
    draws = np.array([[0, 2, 1], [1, 1, 0], [2, -1, -1]])
    people, scores, n = hybrid_scores(HUMAN, METRICS, draws)
    # people: (1 + 4) / 2; 5 alone; 3 alone. The first metric: (0 + 7 + 5) / 3; (3 + 4 + 2) / 3; 6
    assert people.tolist() == [2.5, 5.0, 3.0]
    assert n.tolist() == [2, 1, 1]
    assert scores.tolist() == [[4.0, 3.0, 6.0], [-1.0, -1.0, -1.0]]


def test_drawn_among_the_judged():
    draws = hybrid_draws(~np.isnan(HUMAN), 6000)
    assert draws.shape == (6000, 3)
    # the first segment has three judged systems, the second systems 0 and 2, the third none; a share of 6000 has sd
    # .0065, five of them
    assert np.bincount(draws[:, 0]) / 6000 == pytest.approx([1 / 3] * 3, abs=0.033)
    assert np.bincount(draws[:, 1], minlength=3) / 6000 == pytest.approx([0.5, 0, 0.5], abs=0.033)
    assert (draws[:, 2] == -1).all()
    _, _, n = hybrid_scores(HUMAN, METRICS, draws)
    assert (n == 2).all()


def test_drawn_among_all():
    draws = hybrid_draws(~np.isnan(HUMAN), 6000, among="all")
    for column in draws.T:
        assert np.bincount(column) / 6000 == pytest.approx([1 / 3] * 3, abs=0.033)
    people, _, n = hybrid_scores(HUMAN, METRICS, draws)
    assert np.isnan(people[n == 0]).all()
    assert np.mean(n == 0) == 0  # the first segment is judged throughout


def test_a_hybrid_without_a_judgement_has_no_human_score():
    people, _, n = hybrid_scores(HUMAN[:, 1:], METRICS[:, :, 1:], np.array([[1, 0]]))
    assert np.isnan(people[0])
    assert n[0] == 0


def test_the_seed_is_the_draw_and_blocks_are_not(monkeypatch):
    rng = np.random.default_rng(0)
    human, metrics = rng.normal(size=(5, 30)), rng.normal(size=(2, 5, 30))
    draws = hybrid_draws(np.ones((5, 30), dtype=bool), 50, seed=4)
    np.testing.assert_array_equal(draws, hybrid_draws(np.ones((5, 30), dtype=bool), 50, seed=4))
    assert (draws != hybrid_draws(np.ones((5, 30), dtype=bool), 50, seed=5)).any()
    whole = hybrid_scores(human, metrics, draws)
    monkeypatch.setattr(module, "_CELLS", 100)
    for one, other in zip(whole, hybrid_scores(human, metrics, draws), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: hybrid_scores(HUMAN, METRICS, np.array([[0, 3, 0]])), "name systems 0 to 3, expected 0 to 2"),
        (lambda: hybrid_scores(HUMAN, METRICS, np.array([[0, 1]])), "expected whole numbers, .hybrids, 3 items."),
        (lambda: hybrid_scores(HUMAN, METRICS, np.array([[0.0, 1.0, 2.0]])), "type float64"),
        (lambda: hybrid_scores(HUMAN, METRICS[:, :2], np.array([[0, 1, 2]])), "judgements have shape"),
        (
            lambda: hybrid_scores(HUMAN, np.full((1, 3, 3), np.nan), np.array([[0, 1, 2]])),
            "metric 0 has no finite score for system 0, item 0",
        ),
        (lambda: hybrid_draws(np.zeros((2, 2), dtype=bool), 5), "no judgement at all"),
        (lambda: hybrid_draws(np.ones((2, 2), dtype=bool), 0), "draws is 0"),
        (lambda: hybrid_draws(np.ones((2, 2), dtype=bool), 5, among="some"), "among is 'some'"),
    ],
)
def test_what_cannot_be_mixed_is_refused(call, says):
    with pytest.raises(InputError, match=says):
        call()
