from functools import cache

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr

from nlgauge.core.errors import InputError
from nlgauge.stats.differences import bootstrap as bootstrap_difference
from nlgauge.stats.differences.bootstrap import bootstrap_test, mean_resampled, resample_items
from nlgauge.stats.draws import resample_counts

LEVELS = pytest.mark.parametrize(
    "where",
    [{"averaging": "none"}, {"averaging": "item"}, {"averaging": "sys"}, {"level": "system"}],
    ids=["none", "item", "sys", "system"],
)
POPULATIONS = pytest.mark.parametrize("population", ["both", "inputs", "systems"])


def alike(rng, n_systems, n_items, n_metrics=2):
    human = 0.5 * rng.normal(size=(n_systems, 1)) + rng.normal(size=(n_systems, n_items))
    return human, human + 1.5 * rng.normal(size=(n_metrics, n_systems, n_items))


def plain(correlate, human, metric):
    kept = ~np.isnan(human) & ~np.isnan(metric)
    if kept.sum() < 2 or np.ptp(human[kept]) < 1e-9 or np.ptp(metric[kept]) < 1e-9:
        return np.nan
    return coefficient(correlate, human[kept].tobytes(), metric[kept].tobytes())


@cache
def coefficient(correlate, human, metric):
    """What scipy says of the same few numbers is asked once: draws often repeat a group."""
    return correlate(np.frombuffer(human), np.frombuffer(metric))[0]


def looped(correlate, human, metrics, rows, columns, level="segment", averaging="item"):
    """The statistic on every draw, from the drawn grids themselves."""
    drawn = []
    for r, c in zip(rows, columns, strict=True):
        s, n = np.repeat(np.arange(len(r)), r.astype(int)), np.repeat(np.arange(len(c)), c.astype(int))
        h, found = human[np.ix_(s, n)], []
        for m in (metric[np.ix_(s, n)] for metric in metrics):
            if level == "system":
                some = ~np.isnan(h).all(axis=1)
                people = [np.nanmean(x) for x in h[some]]
                found.append(
                    plain(
                        correlate,
                        np.array(people),
                        np.array([x[~np.isnan(y)].mean() for x, y in zip(m[some], h[some], strict=True)]),
                    )
                )
            elif averaging == "none":
                found.append(plain(correlate, h.ravel(), m.ravel()))
            else:
                pairs = zip(h.T, m.T, strict=True) if averaging == "item" else zip(h, m, strict=True)
                values = [plain(correlate, *pair) for pair in pairs]
                found.append(np.nan if np.isnan(values).all() else np.nanmean(values))
        drawn.append(found)
    return np.array(drawn)


@LEVELS
@POPULATIONS
@pytest.mark.parametrize("statistic", ["pearson", "kendall_b"])
def test_draws_from_counts_are_those_of_the_drawn_grids(monkeypatch, where, population, statistic):
    rng = np.random.default_rng(0)
    human, metrics = alike(rng, 4, 5)
    human[1, 2] = human[3, 3] = np.nan
    rows, columns = resample_counts(rng, 25, 4), resample_counts(rng, 25, 5)
    counts = iter({"both": [rows, columns], "inputs": [columns], "systems": [rows]}[population])
    monkeypatch.setattr(bootstrap_difference, "resample_counts", lambda *_: next(counts))
    found = bootstrap_test(
        human, metrics, generalise_to=population, statistic=statistic, draws=25, confidence=0.8, **where
    )
    ones = {"inputs": (np.ones_like(rows), columns), "systems": (rows, np.ones_like(columns)), "both": (rows, columns)}[
        population
    ]
    correlate = {"pearson": pearsonr, "kendall_b": kendalltau}[statistic]
    drawn = looped(correlate, human, metrics, *ones, **where)
    observed = looped(correlate, human, metrics, np.ones((1, 4)), np.ones((1, 5)), **where)[0]
    np.testing.assert_allclose(found.values, observed, atol=1e-12)
    differences = drawn[:, 0] - drawn[:, 1]
    kept = differences[~np.isnan(differences)]
    d = observed[0] - observed[1]
    assert found.n_undefined_draws[0, 1] == 25 - len(kept)
    assert found.p[0, 1] == pytest.approx(((kept - d >= d - 1e-10).sum() + 1) / (len(kept) + 1))
    assert found.p[1, 0] == pytest.approx(((kept - d <= d + 1e-10).sum() + 1) / (len(kept) + 1))
    # ends of the middle 80 %: a sum in another order moves them by rounding
    np.testing.assert_allclose(
        [found.delta_low[0, 1], found.delta_high[0, 1]], np.quantile(kept, [0.1, 0.9]), atol=1e-9
    )
    np.testing.assert_allclose(
        [found.delta_low[1, 0], found.delta_high[1, 0]], -np.quantile(kept, [0.9, 0.1]), atol=1e-9
    )
    np.testing.assert_allclose(found.low, np.nanquantile(drawn, 0.1, axis=0), atol=1e-9)


def test_two_items_by_full_enumeration():
    # tau of each metric on two items of two systems: (1, 1) and (1, -1). Drawing items gives differences 0, 1, 1, 2
    # about d = 1: d* - d >= d for the last: 1/4; |d* - d| >= d for first and last: 1/2. 20,000 draws: sd at most .0035,
    # five of them allowed
    human = np.array([[0.0, 0.0], [1.0, 1.0]])
    metrics = np.array([[[0.0, 0.0], [1.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]])
    one = bootstrap_test(human, metrics, statistic="kendall_b", draws=20000)
    two = bootstrap_test(human, metrics, statistic="kendall_b", draws=20000, alternative="two-sided")
    assert one.p[0, 1] == pytest.approx(0.25, abs=0.018)
    assert two.p[0, 1] == two.p[1, 0] == pytest.approx(0.5, abs=0.018)
    assert (one.delta_low[0, 1], one.delta_high[0, 1], one.confidence) == (0.0, 2.0, 0.95)


@LEVELS
@POPULATIONS
def test_identical_and_constant_metrics(where, population):
    human, metrics = alike(np.random.default_rng(1), 5, 6)
    metrics[1] = 3 * metrics[0] - 1
    found = bootstrap_test(
        human, np.concatenate([metrics, np.full((1, 5, 6), 0.3)]), generalise_to=population, draws=40, **where
    )
    assert found.p[0, 1] == found.p[1, 0] == 1
    assert np.isnan(found.p[2]).all()
    assert (found.n_used > 0).tolist() == (found.n_undefined == 0).tolist() == [True, True, False]
    assert found.delta_low[0, 1] == pytest.approx(0, abs=1e-9)


@POPULATIONS
def test_a_clear_difference_is_found(population):
    rng = np.random.default_rng(2)
    human, metrics = alike(rng, 12, 60)
    metrics[1] = rng.normal(size=human.shape)
    found = bootstrap_test(human, metrics, generalise_to=population, draws=199)
    assert found.p[0, 1] == pytest.approx(1 / 200)
    assert found.delta_low[0, 1] > 0
    assert found.delta_high[1, 0] < 0


def test_a_wide_population_makes_a_wide_interval():
    human, metrics = alike(np.random.default_rng(3), 8, 40)
    widths = {}
    for population in ("inputs", "systems", "both"):
        found = bootstrap_test(human, metrics, generalise_to=population, averaging="none", draws=400)
        widths[population] = (found.high - found.low)[0]
    assert widths["both"] > max(widths["inputs"], widths["systems"])


@pytest.mark.parametrize(
    ("shape", "options", "says"),
    [
        ((1, 5), {"generalise_to": "systems"}, "over systems needs 2 or more, got 1"),
        ((5, 1), {}, "over items needs 2 or more, got 1"),
        ((5, 2), {"generalise_to": "items"}, "generalise_to is 'items'"),
        ((5, 2), {"confidence": 95}, "level is 95"),
        ((5, 2), {"level": "item"}, "level is 'item'"),
    ],
)
def test_what_cannot_be_drawn_is_refused(shape, options, says):
    with pytest.raises(InputError, match=says):
        bootstrap_test(np.zeros(shape), np.ones((2, *shape)), **options)


def test_the_weighted_mean_of_items_on_every_draw():
    found = resample_items(np.array([[1.0, 0.0]]), np.array([[1.0, 9.0]]), draws=200)
    assert found.values[0].tolist() == [0.1]
    assert sorted(set(found.drawn[:, 0].tolist())) == [0.0, 0.1, 1.0]  # items 1 1, 0 1 and 0 0
    whole = mean_resampled([found, resample_items(np.array([[0.5, 0.5]]), draws=200)])
    assert whole.values[0].tolist() == [0.3]
    assert sorted(set(whole.drawn[:, 0].tolist())) == [0.25, 0.3, 0.75]
    with pytest.raises(InputError, match="2 or more, got 1"):
        resample_items(np.array([[1.0]]))
