import numpy as np
import pytest

from nlgauge.stats.correlation.averaging import by_group
from nlgauge.stats.correlation.chance import (
    chance_acc_eq,
    chance_acc_eq_calibrated,
    chance_preference,
    chance_soft_pairwise,
    human_ties,
    tied_by_people,
)
from nlgauge.stats.correlation.entries import Entries
from nlgauge.stats.correlation.preferences import preference_accuracy


def test_share_of_human_ties_by_hand():
    # judgements 0 0 1: one pair of three; with a width of 1 all three
    assert float(human_ties(np.zeros((2, 3)), np.array([0.0, 0, 1])).value[0]) == pytest.approx(1 / 3)
    assert human_ties(np.zeros(3), np.array([0.0, 0, 1]), human_epsilon=1).value == 1.0


def test_ties_are_averaged_as_the_statistic_is():
    # items: one tied pair of one, none of three
    entries = Entries(
        np.zeros((1, 5)),
        np.array([1.0, 1, 1, 2, 3]),
        np.ones((1, 5), bool),
        np.array([0, 0, 1, 1, 1]),
        (0, 1),
        np.arange(5),
    )
    assert tied_by_people(entries, "item").tolist() == [0.5]
    assert tied_by_people(entries, "micro").tolist() == [0.25]
    assert by_group(human_ties, entries).values.tolist() == [[1, 0]]


@pytest.mark.parametrize(
    ("tied", "plain", "calibrated"), [(0.0, 0.5, 0.5), (0.2, 0.4, 0.4), (1 / 3, 1 / 3, 1 / 3), (0.6, 0.2, 0.6)]
)
def test_noise_orders_half_of_the_pairs_and_may_tie_all(tied, plain, calibrated):
    assert chance_acc_eq(tied) == pytest.approx(plain)
    assert chance_acc_eq_calibrated(tied) == pytest.approx(calibrated)


def test_soft_pairwise_accuracy_of_noise():
    # a p-value drawn evenly lies 1/2 from a sure one (p = 0), 1/4 from an even one (p = 1/2) on average
    sure, even = np.array([[np.nan, 0], [1, np.nan]]), np.array([[np.nan, 0.5], [0.5, np.nan]])
    assert [float(chance_soft_pairwise(p)) for p in (sure, even)] == [0.5, 0.75]
    evenly = np.linspace(0, 1, 100001)
    assert chance_soft_pairwise(np.array([[np.nan, 0.2], [0.8, np.nan]])) == pytest.approx(
        np.mean(1 - np.abs(evenly - 0.2)), abs=1e-4
    )


@pytest.mark.parametrize("ties", ["loss", "half", "exclude", "zero"])
def test_guesses_with_ties(ties):
    # 20,000 pairs, 30 % tied: sd below 0.004
    rng = np.random.default_rng(0)
    better, worse = rng.normal(size=(2, 20000))
    tied = rng.random(20000) < 0.3
    worse[tied] = better[tied]
    found = preference_accuracy(better, worse, ties=ties)
    assert found.value == pytest.approx(float(chance_preference(0.3, ties)), abs=0.015)
    assert found.chance == pytest.approx(float(chance_preference(tied.mean(), ties)))
