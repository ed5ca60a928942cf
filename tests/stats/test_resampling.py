import itertools
import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import binomtest, kendalltau, norm, pearsonr

from nlgauge.core.errors import InputError
from nlgauge.stats import resampling
from nlgauge.stats.coefficients import acc_eq
from nlgauge.stats.draws import resample_counts
from nlgauge.stats.preferences import soft_pairwise
from nlgauge.stats.resampling import (
    acc_eq_test,
    compare_resampled,
    item_swap_test,
    mean_resampled,
    permutation_test,
    resample_grid,
    resample_items,
    soft_accuracy_test,
)
from nlgauge.stats.swaps import given_swaps
from nlgauge.stats.tests import williams


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


def pair_swap_p(human, metrics, draws, rng):
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
        pair_swap_p(human, metrics, 4000, rng), abs=0.04
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
    monkeypatch.setattr(resampling, "toss", lambda *_: given_swaps(patterns))
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


LEVELS = pytest.mark.parametrize(
    "where",
    [{"averaging": "none"}, {"averaging": "item"}, {"averaging": "sys"}, {"level": "system"}],
    ids=["none", "item", "sys", "system"],
)
POPULATIONS = pytest.mark.parametrize("population", ["both", "inputs", "systems"])


def alike_with_noise(rng, n_systems, n_items, n_metrics=2):
    human = 0.5 * rng.normal(size=(n_systems, 1)) + rng.normal(size=(n_systems, n_items))
    return human, human + 1.5 * rng.normal(size=(n_metrics, n_systems, n_items))


def plain(correlate, human, metric):
    kept = ~np.isnan(human) & ~np.isnan(metric)
    if kept.sum() < 2 or np.ptp(human[kept]) < 1e-9 or np.ptp(metric[kept]) < 1e-9:
        return np.nan
    return coefficient(correlate, human[kept].tobytes(), metric[kept].tobytes())


SCIPYS = {"pearson": pearsonr, "spearman": stats.spearmanr, "kendall_b": kendalltau}


@cache
def coefficient(correlate, human, metric):
    """What scipy says of the same few numbers is asked once: draws often repeat a group, and so do coins."""
    return correlate(np.frombuffer(human), np.frombuffer(metric))[0]


def looped(correlate, human, metrics, columns, averaging):
    """The statistic on every draw of items, from the drawn grids themselves."""
    drawn = []
    for c in columns:
        n, found = np.repeat(np.arange(len(c)), c.astype(int)), []
        h = human[:, n]
        for m in (metric[:, n] for metric in metrics):
            if averaging == "none":
                found.append(plain(correlate, h.ravel(), m.ravel()))
            else:
                pairs = zip(h.T, m.T, strict=True) if averaging == "item" else zip(h, m, strict=True)
                values = [plain(correlate, *pair) for pair in pairs]
                found.append(np.nan if np.isnan(values).all() else np.nanmean(values))
        drawn.append(found)
    return np.array(drawn)


AVERAGING = pytest.mark.parametrize("averaging", ["none", "item", "sys"])


def bootstrap(human, metrics, alternative="greater", **options):
    return compare_resampled(resample_grid(human, metrics, **options), alternative)


@AVERAGING
@pytest.mark.parametrize("statistic", ["pearson", "kendall_b"])
def test_draws_from_counts_are_those_of_the_drawn_grids(monkeypatch, averaging, statistic):
    rng = np.random.default_rng(0)
    human, metrics = alike_with_noise(rng, 4, 5)
    human[1, 2] = human[3, 3] = np.nan
    columns = resample_counts(rng, 25, 5)
    monkeypatch.setattr(resampling, "resample_counts", lambda *_: columns)
    found = bootstrap(human, metrics, averaging=averaging, statistic=statistic, draws=25)
    drawn = looped(SCIPYS[statistic], human, metrics, columns, averaging)
    observed = looped(SCIPYS[statistic], human, metrics, np.ones((1, 5)), averaging)[0]
    np.testing.assert_allclose(found.values, observed, atol=1e-12)
    differences = drawn[:, 0] - drawn[:, 1]
    kept = differences[~np.isnan(differences)]
    d = observed[0] - observed[1]
    assert found.n_undefined_draws[0, 1] == 25 - len(kept)
    assert found.p[0, 1] == pytest.approx(((kept - d >= d - 1e-10).sum() + 1) / (len(kept) + 1))
    assert found.p[1, 0] == pytest.approx(((kept - d <= d + 1e-10).sum() + 1) / (len(kept) + 1))
    # ends of the middle 95 %: a sum in another order moves them by rounding
    ends = [0.025, 0.975]
    np.testing.assert_allclose([found.delta_low[0, 1], found.delta_high[0, 1]], np.quantile(kept, ends), atol=1e-9)
    np.testing.assert_allclose(
        [found.delta_low[1, 0], found.delta_high[1, 0]], -np.quantile(kept, ends[::-1]), atol=1e-9
    )
    np.testing.assert_allclose(found.low, np.nanquantile(drawn, 0.025, axis=0), atol=1e-9)


def test_two_items_by_full_enumeration():
    # tau of each metric on two items of two systems: (1, 1) and (1, -1). Drawing items gives differences 0, 1, 1, 2
    # about d = 1: d* - d >= d for the last: 1/4; |d* - d| >= d for first and last: 1/2. 20,000 draws: sd at most .0035,
    # five of them allowed
    human = np.array([[0.0, 0.0], [1.0, 1.0]])
    metrics = np.array([[[0.0, 0.0], [1.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]])
    one = bootstrap(human, metrics, statistic="kendall_b", draws=20000)
    two = bootstrap(human, metrics, statistic="kendall_b", draws=20000, alternative="two-sided")
    assert one.p[0, 1] == pytest.approx(0.25, abs=0.018)
    assert two.p[0, 1] == two.p[1, 0] == pytest.approx(0.5, abs=0.018)
    assert (one.delta_low[0, 1], one.delta_high[0, 1], one.confidence) == (0.0, 2.0, 0.95)


@AVERAGING
def test_resamples_of_identical_and_constant_metrics(averaging):
    human, metrics = alike_with_noise(np.random.default_rng(1), 5, 6)
    metrics[1] = 3 * metrics[0] - 1
    found = bootstrap(human, np.concatenate([metrics, np.full((1, 5, 6), 0.3)]), averaging=averaging, draws=40)
    assert found.p[0, 1] == found.p[1, 0] == 1
    assert np.isnan(found.p[2]).all()
    assert (found.n_used > 0).tolist() == (found.n_undefined == 0).tolist() == [True, True, False]
    assert found.delta_low[0, 1] == pytest.approx(0, abs=1e-9)


def test_resamples_show_a_clear_difference():
    rng = np.random.default_rng(2)
    human, metrics = alike_with_noise(rng, 12, 60)
    metrics[1] = rng.normal(size=human.shape)
    found = bootstrap(human, metrics, draws=199)
    assert found.p[0, 1] == pytest.approx(1 / 200)
    assert found.delta_low[0, 1] > 0
    assert found.delta_high[1, 0] < 0


def test_one_item_cannot_be_resampled():
    with pytest.raises(InputError, match="over items needs 2 or more, got 1"):
        bootstrap(np.zeros((5, 1)), np.ones((2, 5, 1)))


def test_the_weighted_mean_of_items_on_every_draw():
    found = resample_items(np.array([[1.0, 0.0]]), np.array([[1.0, 9.0]]), draws=200)
    (values, *_), drawn = found
    assert values.tolist() == [0.1]
    assert sorted(set(drawn[:, 0].tolist())) == [0.0, 0.1, 1.0]  # items 1 1, 0 1 and 0 0
    (values, *_), drawn = mean_resampled([found, resample_items(np.array([[0.5, 0.5]]), draws=200)])
    assert values.tolist() == [0.3]
    assert sorted(set(drawn[:, 0].tolist())) == [0.25, 0.3, 0.75]
    with pytest.raises(InputError, match="2 or more, got 1"):
        resample_items(np.array([[1.0]]))


# --- The permutation tests of two other packages, from their own streams of random numbers

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "nlpstats.json").read_text(encoding="utf-8"))
HUMAN, FIRST, SECOND = (np.array(GOLDEN[name]) for name in ("human", "first", "second"))
WHERE = {"system": {"level": "system"}, "input": {"averaging": "item"}, "global": {"averaging": "none"}}
NAMES = {"pearson": "pearson", "spearman": "spearman", "kendall": "kendall_b"}


def name(case):
    return "-".join((case["method"], case["level"], case["coefficient"], case["alternative"]))


@pytest.mark.parametrize("case", [c for c in GOLDEN["cases"] if c["method"] != "williams"], ids=name)
def test_agrees_with_nlpstats(case):
    found = permutation_test(
        HUMAN,
        np.stack([FIRST, SECOND]),
        generalise_to=case["method"],
        statistic=NAMES[case["coefficient"]],
        alternative=case["alternative"],
        draws=GOLDEN["draws"],
        seed=GOLDEN["seed"],
        compat="nlpstats",
        **WHERE[case["level"]],
    )
    assert found.p[0, 1] == pytest.approx(case["p_with_ties"], abs=1e-12)  # whole numbers of hits, divided by 200


@pytest.mark.parametrize(
    "case", [c for c in GOLDEN["cases"] if c["method"] == "williams" and c["level"] != "input"], ids=name
)
def test_williams_agrees_with_nlpstats(case):
    vectors = [m.mean(axis=1) if case["level"] == "system" else m.ravel() for m in (HUMAN, FIRST, SECOND)]
    correlate = SCIPYS[NAMES[case["coefficient"]]]
    r12, r13, r23 = (correlate(vectors[a], vectors[b])[0] for a, b in ((0, 1), (0, 2), (1, 2)))
    found = williams(r12, r13, r23, len(vectors[0]), alternative=case["alternative"], compat="nlpstats")
    assert found == pytest.approx(case["p"], abs=1e-12)  # the same formula


def mt_metrics_eval_p(human, first, second, averaging, statistic, draws, seed):
    """Its procedure: p of the second metric against the first, coins of numpy's old generator, stopping after blocks
    of 1000.

    A tie with the data counts, where there the last digits decide.
    """
    groups = {"none": human.reshape(1, -1), "item": human.T, "sys": human}[averaging]
    sizes = (~np.isnan(groups)).sum(axis=1)
    order = (lambda m: m.T.ravel()) if averaging == "item" else np.ravel
    gold, one, two = order(human), order(first), order(second)
    judged = ~np.isnan(gold)
    gold, one, two = gold[judged], stats.zscore(one[judged]), stats.zscore(two[judged])
    ends = np.cumsum(sizes[sizes > 0])

    def corr(scores):
        parts = zip(np.split(gold, ends[:-1]), np.split(scores, ends[:-1]), strict=True)
        return np.average([coefficient(SCIPYS[statistic], g.tobytes(), s.tobytes()) for g, s in parts])

    np.random.seed(seed)
    delta, hits = corr(two) - corr(one), 0
    for draw in range(1, draws + 1):
        keep = np.random.binomial(1, 0.5, len(one))
        hits += corr((1 - keep) * one + keep * two) - corr(keep * one + (1 - keep) * two) >= delta - 1e-10
        if draw % 1000 == 0 and not 0.02 <= hits / draw <= 0.5:
            break
    return hits / draw


@pytest.mark.parametrize(
    ("statistic", "averaging"),
    [
        ("pearson", "none"),
        ("pearson", "item"),
        ("kendall_b", "sys"),
        *(pytest.param(*one, marks=pytest.mark.slow) for one in (("pearson", "sys"), ("kendall_b", "item"))),
        pytest.param("kendall_b", "none", marks=pytest.mark.slow),
    ],
)
def test_agrees_with_the_procedure_of_mt_metrics_eval(averaging, statistic):
    human = HUMAN.copy()
    human[0, 3] = human[2, 5] = np.nan
    scores = np.stack([FIRST, SECOND])
    found = permutation_test(
        human, scores, averaging=averaging, statistic=statistic, draws=80, seed=3, compat="mt-metrics-eval"
    )
    assert found.p[0, 1] == pytest.approx(
        mt_metrics_eval_p(human, SECOND, FIRST, averaging, statistic, 80, 3), abs=1e-12
    )
    assert found.p[1, 0] == pytest.approx(
        mt_metrics_eval_p(human, FIRST, SECOND, averaging, statistic, 80, 3), abs=1e-12
    )


def test_golden_numbers_mostly_have_no_ties():
    golden = [c for c in GOLDEN["cases"] if c["method"] != "williams"]
    assert sum(c["p"] == c["p_with_ties"] for c in golden) > len(golden) / 2


def test_mt_metrics_eval_swaps_averaged_scores_of_systems():
    people, first, second = (m.mean(axis=1, keepdims=True) for m in (HUMAN, FIRST, SECOND))
    found = permutation_test(
        HUMAN, np.stack([FIRST, SECOND]), level="system", draws=400, seed=5, compat="mt-metrics-eval"
    )
    assert found.p[0, 1] == pytest.approx(
        mt_metrics_eval_p(people, second, first, "none", "pearson", 400, 5), abs=1e-12
    )


@pytest.mark.slow  # 3,000 draws in a loop
def test_mt_metrics_eval_stops_early():
    rng = np.random.default_rng(0)
    human = rng.normal(size=(4, 5))
    close, far = human + 0.3 * rng.normal(size=(2, 4, 5))[0], rng.normal(size=(4, 5))
    found = permutation_test(
        human, np.stack([close, far]), averaging="none", draws=1500, seed=1, compat="mt-metrics-eval"
    )
    assert found.p[0, 1] == pytest.approx(mt_metrics_eval_p(human, far, close, "none", "pearson", 1500, 1), abs=1e-12)
    assert found.p[1, 0] == pytest.approx(mt_metrics_eval_p(human, close, far, "none", "pearson", 1500, 1), abs=1e-12)


def test_their_fault_is_kept_a_constant_metric_gets_p_zero():
    scores = np.stack([FIRST, np.full(FIRST.shape, 2.0)])
    assert permutation_test(HUMAN, scores, draws=50, compat="mt-metrics-eval").p[0, 1] == 0
    assert np.isnan(permutation_test(HUMAN, scores, draws=50).p[0, 1])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"compat": "nlpstats", "seed": np.random.default_rng(0)}, "a whole number"),
        ({"compat": "mt-metrics-eval", "generalise_to": "inputs"}, "has no generalise_to='inputs'"),
        ({"compat": "sacrerouge"}, "compat is 'sacrerouge'"),
    ],
)
def test_what_they_cannot_do_is_refused(options, says):
    with pytest.raises(InputError, match=says):
        permutation_test(HUMAN, np.stack([FIRST, SECOND]), **options)


STATISTICS = pytest.mark.parametrize("statistic", ["pearson", "spearman", "kendall_b"])


def alike_with_hard_items(rng, n_systems, n_items, n_metrics=2, noise=1.5):
    """Metrics of equal quality: judgements with system and item effects, and each metric the judgements with noise of
    its own.
    """
    human = (
        0.5 * rng.normal(size=(n_systems, 1))
        + 0.5 * rng.normal(size=(1, n_items))
        + rng.normal(size=(n_systems, n_items))
    )
    return human, human + noise * rng.normal(size=(n_metrics, n_systems, n_items))


def test_four_systems_by_full_enumeration():
    # System scores alone: 16 ways to swap, each scored by scipy. 20,000 draws: sd of p at most 0.0035, five of them
    # allowed.
    human = np.array([1.0, 2.0, 4.0, 3.0])
    scores = np.array([[0.2, 0.1, 0.9, 0.5], [0.3, 0.8, 0.4, 0.6]])
    a, b = (scores - scores.mean(axis=1, keepdims=True)) / scores.std(axis=1, keepdims=True)
    differences = []
    for swapped in itertools.product([False, True], repeat=4):
        one, two = np.where(swapped, b, a), np.where(swapped, a, b)
        differences.append(pearsonr(human, one)[0] - pearsonr(human, two)[0])
    found = permutation_test(human, scores, level="system", draws=20000)
    assert found.test == "perm_systems"
    assert found.deltas[0, 1] == pytest.approx(differences[0])
    assert found.p[0, 1] == pytest.approx(np.mean(np.array(differences) >= differences[0] - 1e-12), abs=0.018)
    assert found.p[1, 0] == pytest.approx(np.mean(np.array(differences) <= differences[0] + 1e-12), abs=0.018)
    two_sided = permutation_test(human, scores, level="system", draws=20000, alternative="two-sided")
    assert (
        two_sided.p[1, 0]
        == two_sided.p[0, 1]
        == pytest.approx(np.mean(np.abs(differences) >= differences[0] - 1e-12), abs=0.018)
    )


def test_three_items_of_two_systems_by_hand():
    # Two systems an item: tau is 1 where the metric orders them as people do, else -1. The first metric is right on all
    # three items, the second on none: d = 2. Swapping items gives d* = 2, 2/3 (three ways), -2/3 (three) and -2: p =
    # 1/8 for d* >= 2.
    # 20,000 draws: sd 0.0023, five of them allowed. Differences of sums tie here: a strict > would say 0.
    human = np.array([[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]])
    scores = np.stack([human, -human])
    found = permutation_test(human, scores, generalise_to="inputs", statistic="kendall_b", draws=20000)
    assert found.values.tolist() == [1.0, -1.0]
    assert found.p[0, 1] == pytest.approx(1 / 8, abs=0.012)
    assert found.p[1, 0] == 1.0


@LEVELS
@pytest.mark.parametrize(
    ("statistic", "population"), [("pearson", "both"), ("spearman", "inputs"), ("kendall_b", "systems")]
)
def test_identical_metrics_get_p_one(where, statistic, population):
    human, scores = alike_with_hard_items(np.random.default_rng(0), 5, 6, n_metrics=1)
    twice = np.concatenate([scores, scores, 100 * scores + 3])  # on another scale it is still the same metric
    found = permutation_test(human, twice, generalise_to=population, statistic=statistic, draws=50, **where)
    off_diagonal = ~np.eye(3, dtype=bool)
    assert (found.p[off_diagonal] == 1).all()
    assert np.isnan(np.diag(found.p)).all()


@LEVELS
@STATISTICS
def test_a_constant_metric_has_no_p(where, statistic):
    human, scores = alike_with_hard_items(np.random.default_rng(0), 5, 6)
    scores[1] = 0.1 + 0.2
    found = permutation_test(human, scores, statistic=statistic, draws=50, **where)
    assert np.isnan(found.p).all()
    assert np.isnan(found.values[1])
    assert not np.isnan(found.values[0])
    assert (found.n_used[0] > 0, found.n_undefined[0]) == (True, 0)
    assert (found.n_used[1], found.n_undefined[1] > 0) == (0, True)


@LEVELS
@STATISTICS
def test_company_order_and_scale_change_nothing(where, statistic):
    human, scores = alike_with_hard_items(np.random.default_rng(1), 5, 8, n_metrics=4)
    together = permutation_test(human, scores, statistic=statistic, draws=200, seed=3, **where)
    alone = permutation_test(human, scores[[1, 3]], statistic=statistic, draws=200, seed=3, **where)
    turned = permutation_test(
        human, scores[[3, 1]] * [[[5.0]], [[0.01]]] - 7, statistic=statistic, draws=200, seed=3, **where
    )
    assert together.p[1, 3] == alone.p[0, 1] == turned.p[1, 0]
    assert together.p[3, 1] == alone.p[1, 0] == turned.p[0, 1]
    assert together.deltas[1, 3] == pytest.approx(turned.deltas[1, 0])


@LEVELS
@POPULATIONS
def test_the_two_directions_and_the_two_sides_agree(where, population):
    human, scores = alike_with_hard_items(np.random.default_rng(2), 6, 7)
    options = {"generalise_to": population, "draws": 999, "seed": 5, **where}
    directed, both_sides = (
        permutation_test(human, scores, **options),
        permutation_test(human, scores, alternative="two-sided", **options),
    )
    # every draw is on one side or the other or ties with d, and the null is even about 0 in the limit
    assert directed.p[0, 1] + directed.p[1, 0] >= 1 + 1 / 1000
    assert both_sides.p[0, 1] == pytest.approx(2 * min(directed.p[0, 1], directed.p[1, 0]), abs=0.15)
    assert both_sides.p[0, 1] >= min(directed.p[0, 1], directed.p[1, 0])


def test_a_clear_difference_is_found_and_p_is_never_zero():
    rng = np.random.default_rng(3)
    human, scores = alike_with_hard_items(rng, 8, 60)
    scores[1] = human + 6 * rng.normal(size=human.shape)
    found = permutation_test(human, scores, draws=199)
    assert found.p[0, 1] == pytest.approx(1 / 200)
    assert found.p[1, 0] == 1.0


def test_one_metric_has_a_value_and_nobody_to_beat():
    human, scores = alike_with_hard_items(np.random.default_rng(3), 4, 5, n_metrics=1)
    for options in ({}, {"averaging": "none"}, {"level": "system"}, {"statistic": "kendall_b"}):
        found = permutation_test(human, scores, draws=9, **options)
        assert np.isfinite(found.values).all()
        assert np.isnan(found.p).all()


def test_missing_judgements_drop_their_entries():
    human, scores = alike_with_hard_items(np.random.default_rng(4), 5, 12)
    human[1, :4] = human[3, 7] = np.nan
    human[1:, 11] = np.nan  # one system left: no correlation there
    spoilt = scores.copy()
    spoilt[:, np.isnan(human)] = 1e9  # what nobody judged does not matter, whatever the metric says
    for averaging in ("none", "item", "sys"):
        plain, other = (permutation_test(human, m, averaging=averaging, draws=100) for m in (scores, spoilt))
        assert plain.p[0, 1] == other.p[0, 1]
        assert plain.values.tolist() == other.values.tolist()
    by_item = permutation_test(human, scores, draws=10)
    assert (by_item.n_used.tolist(), by_item.n_undefined.tolist()) == ([11, 11], [1, 1])
    by_hand = [
        pearsonr(h[~np.isnan(h)], m[~np.isnan(h)])[0] for h, m in zip(human.T[:11], scores[0].T[:11], strict=True)
    ]
    assert by_item.values[0] == pytest.approx(np.mean(by_hand))


def test_a_score_may_be_missing_where_nobody_judged():
    human, scores = alike_with_hard_items(np.random.default_rng(4), 5, 12)
    human[1, :4] = np.nan
    gaps = scores.copy()
    gaps[:, 1, :4] = np.nan
    for options in ({}, {"level": "system"}):
        full, lacking = (permutation_test(human, m, draws=50, **options) for m in (scores, gaps))
        np.testing.assert_array_equal(full.p, lacking.p)


def test_system_scores_are_over_rated_segments():
    human, scores = alike_with_hard_items(np.random.default_rng(5), 4, 10)
    human[:, 5:] = np.nan
    rated = permutation_test(human, scores, level="system", draws=10)
    people = human[:, :5].mean(axis=1)
    assert rated.values[0] == pytest.approx(pearsonr(people, scores[0][:, :5].mean(axis=1))[0])


def test_a_system_nobody_judged_is_left_out():
    human, scores = alike_with_hard_items(np.random.default_rng(6), 5, 10)
    human[2] = np.nan
    kept = np.array([0, 1, 3, 4])
    with_it = permutation_test(human, scores, level="system", statistic="kendall_b", draws=1)
    assert with_it.values[1] == pytest.approx(kendalltau(human[kept].mean(axis=1), scores[1][kept].mean(axis=1))[0])


def test_draws_without_a_value_are_counted():
    # Two systems, one item: people tell them apart, metric 1 does, metric 2 does not; a mixture of (1, 2) and (0, 0)
    # standardised is constant never or always by pattern: over the four patterns the values are r = 1 or undefined, so
    # no difference is ever defined.
    human = np.array([[1.0], [2.0], [3.0]])
    scores = np.array([[[1.0], [2.0], [4.0]], [[0.0], [0.0], [1.0]]])
    # standardised, metric 2 is (-.71, -.71, 1.41) and metric 1 (-1.07, -.27, 1.34): no mixture of three is constant
    found = permutation_test(human, scores, draws=64)
    assert found.n_undefined_draws.tolist() == [[0, 0], [0, 0]]
    # coarse metrics on two items: swapping makes some mixture constant on both
    people = np.array([[1.0, 1.0], [2.0, 2.0]])
    coarse = np.array([[[0.0, 0.0], [1.0, 1.0]], [[1.0, 1.0], [0.0, 0.0]]])
    # (0, 1) against (1, 0) in both items: swapping one system of an item leaves (1, 1) and (0, 0). Undefined on both
    # items with chance 1/4; 4000 draws: sd 0.007, five of them allowed
    for statistic in ("pearson", "kendall_b", "spearman"):
        found = permutation_test(people, coarse, draws=4000, statistic=statistic)
        assert found.n_undefined_draws[0, 1] / 4000 == pytest.approx(0.25, abs=0.035)
        # of the 12 patterns left, d* = 2 where no defined item is swapped: (stay, stay), (stay, undefined) and its
        # turn: 1 + 2 + 2 = 5
        assert found.p[0, 1] == pytest.approx(5 / 12, abs=0.05)


@settings(max_examples=30, deadline=None)
@given(
    st.integers(3, 5),
    st.integers(2, 5),
    st.integers(0, 2**32 - 1),
    st.sampled_from(["pearson", "spearman", "kendall_b"]),
    st.sampled_from(["none", "item", "sys"]),
    st.sampled_from(["both", "inputs", "systems"]),
    st.booleans(),
)
def test_p_is_a_share_and_undefined_only_with_the_difference(
    n_systems, n_items, seed, statistic, averaging, population, coarse
):
    rng = np.random.default_rng(seed)
    human, scores = alike_with_hard_items(rng, n_systems, n_items, n_metrics=3)
    if coarse:
        human, scores = np.rint(human), np.rint(scores)
    human[rng.random(human.shape) < 0.2] = np.nan
    human[0, :2] = [0.0, 1.0]
    found = permutation_test(
        human, scores, generalise_to=population, averaging=averaging, statistic=statistic, draws=19
    )
    known = ~np.isnan(found.p)
    assert ((found.p[known] >= 1 / 20) & (found.p[known] <= 1)).all()
    lost = np.isnan(found.deltas) | np.eye(3, dtype=bool) | (found.n_undefined_draws == 19)
    np.testing.assert_array_equal(~known, lost)


@pytest.mark.parametrize(
    ("human", "scores", "options", "says"),
    [
        (np.zeros((3, 2)), np.zeros((2, 3, 4)), {}, r"judgements have shape \(3, 2\) and scores \(2, 3, 4\)"),
        (np.zeros((3, 2)), np.full((2, 3, 2), np.nan), {}, "metric 0 has no finite score for system 0, item 0"),
        (np.full((3, 2), np.inf), np.zeros((2, 3, 2)), {}, "infinite"),
        (np.zeros((2, 5)), np.ones((2, 2, 5)), {"level": "system"}, "2 systems have judgements, expected 3"),
        (np.zeros((3, 2)), np.ones((2, 3, 2)), {"draws": 0}, "draws is 0"),
        (
            np.zeros((3, 2)),
            np.ones((2, 3, 2)),
            {"generalise_to": "items"},
            "generalise_to is 'items'; did you mean .*'inputs'",
        ),
        (np.zeros((3, 2)), np.ones((2, 3, 2)), {"statistic": "kendall"}, "did you mean 'kendall_b'"),
        (np.zeros((3, 2)), np.ones((2, 3, 2)), {"averaging": "system"}, "averaging is 'system'"),
        (np.zeros((3, 2)), np.ones((2, 3, 2)), {"alternative": "less"}, "alternative is 'less'"),
        (np.zeros((3, 2)), np.ones((2, 3, 2)), {"seed": -1}, "seed is -1"),
    ],
)
def test_what_cannot_be_swapped_is_refused(human, scores, options, says):
    with pytest.raises(InputError, match=says):
        permutation_test(human, scores, **options)
