import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.stats import selection as module
from nlgauge.stats.selection import (
    hybrid_draws,
    hybrid_scores,
    selection_quality,
    simulate_selection,
)

FIELDS = ("hits_at_1", "mrr", "diff")


def enumerated(metric, human, k):
    """All draws, every system at the top of the metric's tie taken in turn."""
    rows = []
    for drawn in itertools.combinations(range(len(metric)), k):
        m, h = metric[list(drawn)], human[list(drawn)]
        chosen = h[m == m.max()]
        rank = 1 + (h > chosen[:, None]).sum(axis=1)
        rows.append([np.mean(rank == 1), np.mean(1 / rank), np.mean(h.max() - chosen)])
    return np.mean(rows, axis=0)


def numbers(found):
    return [getattr(found, name) for name in FIELDS]


def test_three_systems_by_hand():
    # metric order C B A, people B C A with scores 3, 2, 1; draws of 2: AB takes B (best), AC takes C (best), BC takes C
    # (second, 1 below)
    found = selection_quality(np.array([0.1, 0.2, 0.3]), np.array([1.0, 3.0, 2.0]), 2)
    assert numbers(found) == pytest.approx([2 / 3, (1 + 1 + 1 / 2) / 3, 1 / 3])
    assert (found.k, found.n, found.tied, found.draws) == (2, 3, 0, None)


@given(st.integers(1, 7), st.integers(0, 2**32 - 1), st.booleans(), st.booleans(), st.data())
def test_every_draw_of_few_systems(n, seed, coarse_metric, coarse_people, data):
    rng = np.random.default_rng(seed)
    metric = rng.integers(0, 3, n).astype(float) if coarse_metric else rng.normal(size=n)
    human = rng.integers(0, 3, n).astype(float) if coarse_people else rng.normal(size=n)
    k = data.draw(st.integers(1, n))
    # sums of shares of at most 35 draws: rounding only
    assert numbers(selection_quality(metric, human, k)) == pytest.approx(enumerated(metric, human, k), abs=1e-12)


@pytest.mark.parametrize("tied", [False, True])
def test_simulation_agrees(tied):
    rng = np.random.default_rng(0)
    human = rng.normal(size=400)
    metric = human + rng.normal(size=400)
    if tied:
        metric, human = np.rint(4 * metric), np.rint(10 * human)
    exact, drawn = selection_quality(metric, human, 20), simulate_selection(metric, human, 20, draws=20000)
    # standard errors: at most .5 / sqrt(20000) = .0035 for shares, five of them; diffs have sd near their mean
    assert exact.hits_at_1 == pytest.approx(drawn.hits_at_1, abs=0.018)
    assert exact.mrr == pytest.approx(drawn.mrr, abs=0.018)
    assert exact.diff == pytest.approx(drawn.diff, rel=0.08)
    assert exact.tied == drawn.tied
    assert (exact.tied > 0) is tied


def test_wide_ties_over_random_orders(monkeypatch):
    rng = np.random.default_rng(1)
    metric, human = rng.integers(0, 3, 60).astype(float), rng.integers(0, 30, 60).astype(float)
    full = selection_quality(metric, human, 8)
    monkeypatch.setattr(module, "_WIDE_TIE", 1)
    ordered = selection_quality(metric, human, 8, seed=2)
    assert (ordered.hits_at_1, ordered.diff) == (full.hits_at_1, full.diff)
    # a single order strays by about .03; a mean of 100 by .003, five of them
    assert ordered.mrr == pytest.approx(full.mrr, abs=0.015)


def test_places_and_better_ones_before_them():
    people = np.array([1, 2, 2, 3, 3])
    peers = np.array([4, 2, 2, 0, 0])  # how many are above each
    places, passed = module._orders(peers, np.random.default_rng(0))
    assert (np.sort(places, axis=1) == np.arange(5)).all()
    earlier = places[:, None, :] < places[:, :, None]
    np.testing.assert_array_equal(passed, (earlier & (people > people[:, None])).sum(axis=2))


def test_a_perfect_metric_a_constant_one_and_one_upside_down():
    human = np.arange(30.0)
    perfect, constant, reversed_ = (selection_quality(m, human, 5) for m in (human, np.zeros(30), -human))
    assert numbers(perfect) == pytest.approx([1, 1, 0], abs=1e-12)
    # a constant one chooses at random: 1/5, the mean of 1, 1/2, ..., 1/5, and the mean of all against the mean of the
    # highest of 5: (30 + 1) x 5 / 6 - 1 less 14.5
    assert numbers(constant) == pytest.approx([1 / 5, (1 + 1 / 2 + 1 / 3 + 1 / 4 + 1 / 5) / 5, 31 * 5 / 6 - 1 - 14.5])
    assert numbers(reversed_)[:2] == pytest.approx([0, 1 / 5], abs=1e-12)


def test_draws_of_one_and_of_all():
    rng = np.random.default_rng(2)
    metric, human = rng.normal(size=(2, 40))
    assert numbers(selection_quality(metric, human, 1)) == pytest.approx([1, 1, 0], abs=1e-12)
    chosen = human[metric.argmax()]
    assert chosen < human.max()
    assert numbers(selection_quality(metric, human, 40)) == pytest.approx(
        [0, 1 / (1 + (human > chosen).sum()), human.max() - chosen]
    )


@given(st.integers(2, 25), st.integers(0, 2**32 - 1))
@settings(deadline=None)
def test_order_and_scale_do_not_matter(n, seed):
    rng = np.random.default_rng(seed)
    metric, human = rng.integers(0, 6, n).astype(float), rng.normal(size=n)
    order = rng.permutation(n)
    plain, other = selection_quality(metric, human, 2), selection_quality(np.exp(metric[order]), 10 * human[order], 2)
    assert numbers(other)[:2] == pytest.approx(numbers(plain)[:2], abs=1e-12)
    assert other.diff == pytest.approx(10 * plain.diff, abs=1e-11)


def test_ten_thousand_hybrids_stay_exact():
    # shares of C(10000, 100), about 1e242, from sums of logarithms; Hits@1 of a metric with one system moved to the
    # top: it is drawn with chance 1/100 and taken then; otherwise the metric is perfect
    human = np.arange(10000.0)
    metric = human.copy()
    metric[0] = 10001.0
    found = selection_quality(metric, human)
    assert found.hits_at_1 == pytest.approx(0.99, abs=1e-9)
    assert found.mrr == pytest.approx(0.99 + 0.01 / 100, abs=1e-9)  # the worst of a hundred


@pytest.mark.parametrize(
    ("metric", "human", "k", "says"),
    [
        (np.zeros(3), np.zeros(4), 2, r"shapes \(3,\) and \(4,\)"),
        (np.array([0.0, np.nan]), np.zeros(2), 1, "system 1 has no finite metric score"),
        (np.zeros(2), np.array([np.inf, 0]), 1, "system 0 has no finite human score"),
        (np.zeros(4), np.zeros(4), 5, "k is 5, expected 1 to the number of systems, 4"),
        (np.zeros(4), np.zeros(4), 0, "k is 0"),
    ],
)
def test_what_cannot_be_chosen_from_is_refused(metric, human, k, says):
    for function in (selection_quality, simulate_selection):
        with pytest.raises(InputError, match=says):
            function(metric, human, k)


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
    monkeypatch.setattr("nlgauge.stats.draws._CELLS", 100)
    for one, other in zip(whole, hybrid_scores(human, metrics, draws), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: hybrid_draws(np.zeros((2, 2), dtype=bool), 5), "no judgement at all"),
        (lambda: hybrid_draws(np.ones((2, 2), dtype=bool), 0), "draws is 0"),
    ],
)
def test_what_cannot_be_mixed_is_refused(call, says):
    with pytest.raises(InputError, match=says):
        call()
