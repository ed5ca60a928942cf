import math
import warnings
from importlib import metadata
from itertools import combinations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError, SpecError
from nlgauge.stats.coefficients import best_threshold, kendall_b, pearson
from nlgauge.stats.correlate import (
    STATISTICS,
    check_averaging,
    correlation,
    correlations,
    make_plan,
    names,
    prepare,
    statistic,
)
from nlgauge.stats.entries import Entries
from nlgauge.stats.preferences import folds_of, sign_flip_p


def test_every_statistic_has_a_summary_and_runs_on_plain_vectors():
    for name, entry in STATISTICS.items():
        assert entry.summary
        x, z = np.array([[0.1, 0.9], [0.3, 0.2]]), np.array([[0.0, 1], [1, 0]])
        assert correlation(name, x, z).stat == name
    assert names()[: len(STATISTICS)] == list(STATISTICS)


def test_third_parties_add_statistics_by_entry_point(monkeypatch):
    class Point:
        name = "share_above"

        def load(self):
            def share_above(x, z):
                """How often a score exceeds its judgement."""
                return (x > z).mean(axis=-1)

            return share_above

    monkeypatch.setattr(metadata, "entry_points", lambda group: [Point()] if group == "nlgauge.statistics" else [])
    assert "share_above" in names()
    assert statistic("share_above").summary == "How often a score exceeds its judgement."
    assert correlation("share_above", [[1, 5], [3, 0]], [[0, 1], [2, 3]]).value == 0.75


def test_a_broken_statistic_of_a_third_party_is_one_line(monkeypatch):
    class Point:
        name = "broken"

        def load(self):
            raise ImportError("no module of that name")

    monkeypatch.setattr(metadata, "entry_points", lambda group: [Point()] if group == "nlgauge.statistics" else [])
    with pytest.raises(
        SpecError, match=r"^statistic 'broken' of an installed package cannot be loaded \(ImportError: no"
    ):
        statistic("broken")


NAN = math.nan


def coefficient(name, x, z):
    test = {"pearson": scipy.stats.pearsonr, "spearman": scipy.stats.spearmanr, "kendall_b": scipy.stats.kendalltau}[
        name
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return test(x, z)


def data(seed, systems=6, items=30, levels=4):
    rng = np.random.default_rng(seed)
    z = rng.integers(0, levels, size=(systems, items)).astype(float)
    return z + rng.normal(size=z.shape).round(1), z


@pytest.mark.parametrize("averaging", ["none", "item", "sys"])
@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall_b"])
def test_mt_metrics_eval_averages_what_is_defined(name, averaging):
    # its loop: drop entries without a judgement, skip groups of fewer than two, drop undefined coefficients, and with
    # them every group in which the metric misses a score
    x, z = data(0)
    z[2, :7], x[4, 11] = NAN, NAN
    groups = {"none": [(x.ravel(), z.ravel())], "item": zip(x.T, z.T, strict=True), "sys": zip(x, z, strict=True)}[
        averaging
    ]
    defined = []
    for mine, theirs in groups:
        rated = ~np.isnan(theirs)
        if rated.sum() > 1:
            value = coefficient(name, mine[rated], theirs[rated])[0]
            defined += [] if math.isnan(value) else [value]
    found = correlation(name, x, z, averaging=averaging, compat="mt-metrics-eval")
    assert found.value == pytest.approx(np.mean(defined) if defined else 0.0, abs=1e-12)
    assert found.n_used == (len(defined) if averaging != "none" or not defined else (~np.isnan(z)).sum())


@pytest.mark.parametrize("threshold", [0, 1, 2])
def test_mt_metrics_eval_pools_kendall_like_pairs_with_human_ties_at_zero(threshold):
    x, z = data(1)
    wins = pairs = 0
    for item in range(x.shape[1]):
        for i, j in combinations(range(x.shape[0]), 2):
            apart = z[i, item] - z[j, item]
            if abs(apart) >= threshold:
                pairs += 1
                wins += (apart > 0 and x[i, item] > x[j, item]) or (apart < 0 and x[i, item] < x[j, item])
    found = correlation("wmt_kendall_like", x, z, threshold=threshold, compat="mt-metrics-eval")
    assert found.value == pytest.approx((2 * wins - pairs) / pairs)
    assert found.n_pairs == pairs


def test_nlpstats_takes_system_means_over_what_each_side_has():
    x, z = data(2)
    x[0, :5], z[1, 10:] = NAN, NAN  # different segments: allowed at system level only
    found = correlation("pearson", x, z, level="system", compat="nlpstats")
    assert found.value == pytest.approx(coefficient("pearson", np.nanmean(x, axis=1), np.nanmean(z, axis=1))[0])
    assert "over all segments" in found.note


def test_nlpstats_drops_gaps_that_both_sides_share():
    x, z = data(3)
    x[0, :5] = z[0, :5] = NAN
    found = correlation("kendall_b", x, z, averaging="item", compat="nlpstats")
    values = [coefficient("kendall_b", a[~np.isnan(a)], b[~np.isnan(b)])[0] for a, b in zip(x.T, z.T, strict=True)]
    assert found.value == pytest.approx(np.nanmean(values))


@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall_b"])
def test_realsumm_averages_significant_items_only(name):
    x, z = data(4, systems=10)
    tests = [coefficient(name, a, b) for a, b in zip(x.T, z.T, strict=True)]
    kept = [float(value) for value, p in tests if p <= 0.05]
    found = correlation(name, x, z, compat="realsumm")
    assert found.value == pytest.approx(np.mean(kept))
    assert (found.n_used, found.n_undefined) == (len(kept), 30 - len(kept))
    assert f"{30 - len(kept)} of 30 left out" in found.note


def test_averaging_significant_items_only_raises_the_mean():
    # 25 systems, true r about 0.2: averaging what is significant more than doubles it
    rng = np.random.default_rng(5)
    z = rng.normal(size=(25, 300))
    x = 0.2 * z + rng.normal(size=z.shape)
    plain, released = correlation("pearson", x, z), correlation("pearson", x, z, compat="realsumm")
    assert 0.15 < plain.value < 0.25
    assert released.value > 2 * plain.value


def test_realsumm_with_no_significant_item_is_undefined():
    x = np.array([[1.0, 2], [2, 1], [3, 4], [2, 2]])
    z = np.array([[1.0, 2], [1, 3], [2, 1], [3, 1]])
    assert math.isnan(correlation("pearson", x, z, compat="realsumm").value)


# --- What was asked for: choices that exclude each other or do not exist are refused, and the rest is settled


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("kendal_b", [1, 2], [1, 2]), {}, "unknown statistic 'kendal_b'; did you mean 'kendall_b'"),
        (("kendall", [1, 2], [1, 2]), {}, "unknown statistic 'kendall'; did you mean 'kendall_c' or 'kendall_b'"),
        (("hits_at_1", [1, 2], [1, 2]), {}, "hits_at_1 is about the choice of a system: see 'nlgauge select'"),
        (("pearson", [1, 2], [1, 2]), {"ties": "half"}, "pearson has no option 'ties'; it has none"),
        (
            ("acc_eq", [1, 2], [1, 2]),
            {"threshold": 3},
            "acc_eq has no option 'threshold'; it has epsilon, human_epsilon",
        ),
        (
            ("pearson", [1, 2], [1, 2]),
            {"avaraging": "item"},
            "correlation has no option 'avaraging'; did you mean 'averaging'",
        ),
        (("pearson", [1, 2], [1, 2]), {"averaging": "items"}, "averaging is 'items'; did you mean 'item'"),
        (("pearson", [1, 2], [1, 2], ["a", "a"]), {"averaging": "micro"}, "pearson is no ratio of pairs"),
        (
            ("pearson", [[1, 2]], [[1, 2]]),
            {"level": "system", "averaging": "item"},
            "level='system' leaves one coefficient",
        ),
        (("pearson", [1, 2], [1, 2]), {"level": "summary"}, "level is 'summary'"),
        (("pearson", [1, 2, 3], [1, 2]), {}, r"scores have shape \(3,\) and judgements \(2,\)"),
        (("pearson", 3, [1, 2]), {}, "expected those of one metric or more"),
        (("soft_pairwise_accuracy", [1, 2], [1, 2]), {}, "needs a grid of systems by items"),
        (("preference_accuracy", [1, 2], [1]), {}, r"better texts have shape \(2,\), of the worse \(1,\)"),
        (("preference_accuracy", [1, 2], [1, 2]), {"missing": "zero"}, "missing is 'zero'"),
        (("auc", [1, 2], [1, 2]), {}, "classes 0 and 1"),
        (("f1", [1, 2], [1, 2]), {"threshold": 1}, "f1 takes classes 0 and 1"),
        (("mcc", [1, 2], [1, 0]), {"threshold": 1, "folds": 2}, "takes the threshold given, or finds it in folds"),
        (("mcc", [1, 2], [1, 0]), {"threshold": NAN}, "threshold is nan, expected a score"),
        (("mcc", [1, 2], [1, 0]), {"folds": 3}, "folds is 3, expected a number from 2 to that of the items"),
        (("mcc", [1, 2], [1, 0], ["a", "b"]), {"averaging": "sys"}, "choose averaging='none' or 'item'"),
        (
            ("pearson", [1, 2], [1, 2], ["a", "b"]),
            {"level": "system"},
            "pearson of systems is one coefficient and takes no groups",
        ),
        (("pairwise_accuracy", [[1, 2]], [[1, 2]]), {"averaging": "micro"}, "a grid holds one set of systems"),
        (
            ("pearson", [1, 2], [1, 2]),
            {"higher_is_better": [True, False]},
            "higher_is_better has 2 values for 1 metrics",
        ),
        (("acc_eq", [1, 2], [1, 2]), {"epsilon": NAN}, "epsilon is negative or NaN"),
        (("wmt_kendall_like", [1, 2], [1, 2]), {"threshold": NAN}, "threshold is nan"),
        (
            ("kendall_c", [1, 2], [1, 2]),
            {"compat": "nlpstats"},
            "compat='nlpstats' has no kendall_c; it has pearson, spearman, kendall_b",
        ),
        (("pearson", [1, 2], [1, 2]), {"compat": "mtme"}, "compat is 'mtme'"),
        (("pearson", [1, 2], [1, 2]), {"compat": "realsumm"}, "averages over items at segment level"),
        (("pearson", [[1, 2]], [[1, 2]]), {"compat": "nlpstats", "averaging": "sys"}, "has no averaging over systems"),
        (("pearson", [1, NAN], [1, 2]), {"compat": "nlpstats"}, "missing in the same places"),
    ],
)
def test_refusals(arguments, options, message):
    with pytest.raises(InputError, match=message):
        correlation(*arguments, **options)


@pytest.mark.parametrize(
    ("name", "axes", "groups", "options", "averaging"),
    [
        ("pearson", 1, None, {}, "none"),
        ("pearson", 2, None, {}, "item"),
        ("pearson", 1, ["a", "b"], {}, "item"),
        ("wmt_kendall_like", 1, ["a", "b"], {}, "micro"),
        ("pearson", 2, None, {"level": "system"}, "none"),
        ("pairwise_accuracy", 1, ["a", "b"], {}, "micro"),
        ("pearson", 2, None, {"averaging": "sys"}, "sys"),
    ],
)
def test_the_averaging_that_is_left_out_goes_by_statistic_level_and_groups(name, axes, groups, options, averaging):
    assert make_plan(name, axes, groups, options).averaging == averaging


def test_the_smallest_group_is_a_pair_of_entries_or_one_pair_of_texts():
    assert make_plan("pearson", 1, None, {}).smallest == 2
    assert make_plan("preference_accuracy", 1, None, {}).smallest == 1


def test_scores_of_an_error_rate_are_turned_and_judgements_are_not():
    _, x, z, up = prepare("pearson", [[1, 2], [1, 2]], [3, 4], None, {"higher_is_better": [True, False]})
    assert (x.tolist(), z.tolist(), up) == ([[1, 2], [-1, -2]], [3, 4], [True, False])
    _, better, worse, _ = prepare("preference_accuracy", [[1, 2]], [[0, 3]], None, {"higher_is_better": False})
    assert (better.tolist(), worse.tolist()) == ([[-1, -2]], [[0, -3]])


def test_only_ratios_of_pairs_are_pooled():
    check_averaging("rr_kendall", "micro")
    with pytest.raises(InputError, match="spearman is no ratio of pairs that could be pooled"):
        check_averaging("spearman", "micro")


THEIRS = {"pearson": scipy.stats.pearsonr, "spearman": scipy.stats.spearmanr, "kendall_b": scipy.stats.kendalltau}
grids = st.integers(2, 5).flatmap(
    lambda s: st.integers(1, 5).flatmap(
        lambda n: st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=s * n, max_size=s * n).map(
            lambda cells: np.array(cells, dtype=float).T.reshape(2, s, n)
        )
    )
)


def scipys(name, x, z):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(THEIRS[name](x, z)[0]) if len(set(x)) > 1 and len(set(z)) > 1 else NAN


def test_a_vector_is_one_coefficient():
    found = correlation("pearson", [1, 2, 3, 9], [1, 3, 2, None])
    assert found.value == pytest.approx(0.5)
    assert (found.n_used, found.n_undefined, found.averaging, found.level) == (3, 1, "none", "segment")


def test_groups_make_a_mean_of_coefficients():
    # items a and b: tau 1 and -1/3; item c is constant under the metric
    x = [1, 2, 3, 1, 2, 3, 5, 5]
    z = [1, 2, 3, 2, 3, 1, 1, 2]
    found = correlation("kendall_b", x, z, list("aaabbbcc"))
    assert found.value == pytest.approx((1 - 1 / 3) / 2)
    assert (found.n_used, found.n_undefined, found.averaging) == (2, 1, "item")
    assert found.groups["a"] == 1
    assert math.isnan(found.groups["c"])
    assert correlation("kendall_b", x, z, list("aaabbbcc"), undefined="zero").value == pytest.approx((1 - 1 / 3) / 3)
    assert correlation("kendall_b", x, z, list("aaabbbcc"), averaging="none").value == pytest.approx(
        float(kendall_b(x, z))
    )


@pytest.mark.parametrize("name", list(THEIRS))
@given(grid=grids)
def test_a_grid_follows_the_definition_of_each_averaging(name, grid):
    x, z = grid

    def mean(parts):
        defined = [v for v in parts if not math.isnan(v)]
        return (np.mean(defined) if defined else NAN), len(defined)

    by_item = mean([scipys(name, a, b) for a, b in zip(x.T, z.T, strict=True)])
    by_system = mean([scipys(name, a, b) for a, b in zip(x, z, strict=True)])
    for averaging, (value, n_used) in (("item", by_item), ("sys", by_system)):
        found = correlation(name, x, z, averaging=averaging)
        assert (found.value, found.n_used) == (pytest.approx(value, abs=1e-9, nan_ok=True), n_used)
    assert correlation(name, x, z, averaging="none").value == pytest.approx(
        scipys(name, x.ravel(), z.ravel()), abs=1e-9, nan_ok=True
    )


def test_noticing_how_hard_a_source_is_pays_only_without_averaging():
    # a metric that looks at the source alone: it scores all systems alike but for noise without meaning
    rng = np.random.default_rng(0)
    difficulty = rng.normal(size=300)
    human = difficulty + 0.5 * rng.normal(size=(8, 300))
    sentinel = difficulty + 0.01 * rng.normal(size=(8, 300))
    assert correlation("pearson", sentinel, human, averaging="none").value > 0.8
    assert (
        abs(correlation("pearson", sentinel, human, averaging="item").value) < 0.1
    )  # 300 items of 8 systems: sd 0.38 / sqrt(300) = 0.02


def test_a_metric_that_fails_on_hard_items_gains_nothing_unseen():
    x, z = np.array([[1.0, 2, NAN], [2, 1, 1], [3, 3, 2]]), np.array([[1.0, 1, 1], [2, 2, 2], [3, 3, 3]])
    with pytest.raises(InputError, match=r"a score is missing in 1 of 9 entries \(system 0, item 2\)"):
        correlation("kendall_b", x, z)
    with pytest.raises(InputError, match="segment 'doc3'"):
        correlation("kendall_b", x.ravel(), z.ravel(), ids=["-", "-", "doc3", *"123456"])
    found = correlation("kendall_b", x, z, missing="drop")
    assert found.n_used == 3
    assert found.groups[2] == 1.0  # of the two that are left
    worst = correlation("kendall_b", x, z, missing="worst")
    assert worst.groups[2] == pytest.approx(float(kendall_b([1, 1, 2], [1, 2, 3])))
    # the package drops the whole item: the mean is over two items, and nothing says so
    released = correlation("kendall_b", x, z, compat="mt-metrics-eval")
    assert released.value == pytest.approx((1 + 1 / 3) / 2)
    assert "drops out unseen" in released.note


def test_nothing_defined_is_nan_and_not_zero():
    x, z = np.ones((3, 2)), np.random.default_rng(0).normal(size=(3, 2))
    found = correlation("pearson", x, z)
    assert math.isnan(found.value)
    assert (found.n_used, found.n_undefined) == (0, 2)
    released = correlation("pearson", x, z, compat="mt-metrics-eval")
    assert (released.value, released.n_used) == (0.0, 0)
    flat = correlation("pearson", [1, 1, 1], [1, 2, 3])
    assert (flat.n_used, flat.n_undefined) == (0, 3)


def test_an_error_rate_is_turned_and_a_bad_metric_is_not():
    rate, z = [0.9, 0.5, 0.1], [1, 2, 4]
    turned = correlation("pearson", rate, z, higher_is_better=False)
    assert turned.value == pytest.approx(-correlation("pearson", rate, z).value)
    assert turned.value > 0
    assert not turned.higher_is_better
    assert correlation("acc_eq", rate, z, higher_is_better=False).value == 1.0
    assert correlation("preference_accuracy", [0.1, 0.2], [0.5, 0.1], higher_is_better=False).value == 0.5


def test_the_worst_score_of_an_error_rate_is_its_highest():
    found = correlation("pearson", [0.9, NAN, 0.1], [1, 2, 4], missing="worst", higher_is_better=False)
    assert found.value == pytest.approx(float(pearson([-0.9, -0.9, -0.1], [1, 2, 4])))


def test_system_level_from_rated_or_from_all_segments():
    x = np.array([[1.0, 2, 6], [4, 5, 9], [0, 1, 1]])
    z = np.array([[10, 20, NAN], [NAN, NAN, 30], [5, 5, 5]])
    rated, every = (correlation("pearson", x, z, level="system", system_scores=over) for over in ("rated", "all"))
    assert rated.value == pytest.approx(float(pearson([1.5, 9, 2 / 3], [15, 30, 5])))
    assert every.value == pytest.approx(float(pearson([3, 6, 2 / 3], [15, 30, 5])))
    assert (rated.n_used, rated.level, rated.averaging) == (3, "system", "none")
    labelled = correlation("pearson", x.ravel(), z.ravel(), level="system", systems=list("AAABBBCCC"))
    assert labelled.value == pytest.approx(rated.value)


def test_a_system_nobody_judged_is_counted():
    z = np.array([[1.0, 2], [NAN, NAN], [3, 5]])
    found = correlation("pearson", np.array([[1.0, 2], [9, 9], [3, 3]]), z, level="system")
    assert (found.value, found.n_used, found.n_undefined) == (1.0, 2, 1)


def test_an_offset_of_1e9_costs_nothing_at_any_level():
    rng = np.random.default_rng(0)
    x, z = rng.integers(0, 1024, size=(2, 5, 40)) / 1024
    for options in ({"averaging": "item"}, {"averaging": "none"}, {"level": "system"}):
        plain, moved = correlation("pearson", x, z, **options), correlation("pearson", x + 1e9, z - 1e9, **options)
        assert moved.value == pytest.approx(plain.value, abs=1e-12)


def test_wmt_kendall_like_pools_pairs_over_items():
    # item a: one pair, won; item b: three pairs, one won
    x, z = [2, 1, 1, 2, 3], [90, 10, 90, 45, 0]
    found = correlation("wmt_kendall_like", x, z, list("aabbb"))
    assert found.value == pytest.approx((1 - 3) / 4)
    assert (found.averaging, found.n_pairs, found.n_ties, found.ties, found.n_used) == ("micro", 4, 0, "loss", 2)
    assert correlation("wmt_kendall_like", x, z, list("aabbb"), averaging="item").value == pytest.approx((1 - 1) / 2)
    no_pairs = correlation("wmt_kendall_like", [1, 2], [50, 60], ["a", "a"])
    assert (math.isnan(no_pairs.value), no_pairs.n_used) == (True, 0)


def test_threshold_zero_in_two_traditions():
    x, z = [0, 1, 2], [1, 1, 2]
    assert correlation("wmt_kendall_like", x, z, threshold=0).value == 1.0  # human ties removed first
    assert correlation("wmt_kendall_like", x, z, threshold=0, compat="mt-metrics-eval").value == pytest.approx(
        1 / 3
    )  # counted as losses
    assert correlation("wmt_kendall_like", [1, 2], [50, 60], compat="mt-metrics-eval").value == 0.0


def test_calibrated_accuracy_names_its_threshold_and_its_optimism():
    x, z = np.array([[0, 0.1], [0.2, 0.1], [1, 5]]), np.array([[0.0, 0], [0, 0], [1, 1]])
    found = correlation("acc_eq_calibrated", x, z)
    assert (found.value, found.epsilon) == (1.0, 0.2)
    assert "favours the metric" in found.note
    assert correlation("tau_eq_calibrated", x, z).value == 1.0
    assert correlation("acc_eq", x, z, epsilon=0.2).value == 1.0
    assert correlation("acc_eq", x, z).value == pytest.approx((2 / 3 + 1) / 2)


def test_held_out_calibration_is_offered_beside_the_official_number():
    rng = np.random.default_rng(4)
    x, z = rng.normal(size=(6, 40)), rng.integers(0, 3, size=(6, 40)).astype(float)
    official, held_out = correlation("acc_eq_calibrated", x, z), correlation("acc_eq_calibrated", x, z, folds=5, seed=1)
    assert held_out.value < official.value
    assert held_out.epsilon == official.epsilon
    assert "5 folds" in held_out.note
    assert correlation("tau_eq_calibrated", x, z, folds=5, seed=1).value == pytest.approx(2 * held_out.value - 1)
    for averaging in ("none", "sys"):  # folds of items, whatever the averaging
        assert 0 < correlation("acc_eq_calibrated", x, z, folds=5, averaging=averaging).value < 1


def test_chance_stands_beside_the_accuracies():
    # judgements 0 0 1 2 tie one pair of six: noise gets 5/12, calibrated at least max(5/12, 1/6); 0 0 0 1 tie three:
    # max(1/4, 1/2)
    assert correlation("acc_eq", [1, 2, 3, 4], [0, 0, 1, 2]).chance == pytest.approx(5 / 12)
    assert correlation("tau_eq", [1, 2, 3, 4], [0, 0, 1, 2]).chance == pytest.approx(-1 / 6)
    assert correlation("acc_eq_calibrated", [1, 2, 3, 4], [0, 0, 1, 2]).chance == pytest.approx(5 / 12)
    assert correlation("acc_eq_calibrated", [1, 2, 3, 4], [0, 0, 0, 1]).chance == pytest.approx(1 / 2)
    assert math.isnan(correlation("acc_eq", [1, 2, 3, 4], [0, 0, 1, 2], epsilon=1).chance)
    assert correlation("kendall_b", [1, 2], [1, 2]).chance == 0


def test_held_out_ties_need_no_option():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(4, 30)), np.rint(rng.normal(size=(4, 30)))
    held_out = correlation("acc_eq_held_out", x, z)
    assert held_out.value == correlation("acc_eq_calibrated", x, z, folds=5).value
    assert held_out.value < correlation("acc_eq_calibrated", x, z).value
    assert held_out.note == "epsilon calibrated on other items, 5 folds"
    assert correlation("acc_eq_held_out", x[:, :3], z[:, :3]).note == "epsilon calibrated on other items, 3 folds"


def test_each_metric_may_have_a_tie_threshold_of_its_own():
    x, z = [[1, 2, 3, 4], [1, 2, 3, 4]], [0, 0, 1, 2]
    found = correlations("acc_eq", x, z, epsilon=[0.0, 1.0])
    alone = [correlation("acc_eq", x[0], z, epsilon=near) for near in (0.0, 1.0)]
    assert [(one.value, one.epsilon) for one in found] == [(one.value, one.epsilon) for one in alone]
    with pytest.raises(InputError, match="epsilon has 3 values for 2 metrics"):
        correlations("acc_eq", x, z, epsilon=[0.0, 1.0, 2.0])


def test_noise_gets_what_chance_says():
    # 2000 items of 5 systems: 20,000 pairs, sd of the mean about 0.005
    rng = np.random.default_rng(5)
    x, z = rng.normal(size=(5, 2000)), rng.integers(0, 3, size=(5, 2000)).astype(float)
    for name in ("acc_eq", "tau_eq", "wmt_kendall_like"):
        found = correlation(name, x, z, **({"threshold": 1} if name == "wmt_kendall_like" else {}))
        assert found.value == pytest.approx(found.chance, abs=0.03)
    assert correlation("acc_eq_calibrated", x, z).value >= correlation("acc_eq_calibrated", x, z).chance - 0.02


def test_pairwise_accuracy_pools_pairs_over_sets_and_never_crosses_them():
    # set a: three systems, three pairs right; set b: two systems, wrong: 3/4, not (1 + 0) / 2; one set of five would
    # have ten pairs
    found = correlation("pairwise_accuracy", [1, 2, 3, 9, 8], [1, 2, 3, 1, 2], list("aaabb"))
    assert (found.value, found.n_pairs, found.n_used, found.averaging, found.level) == (0.75, 4, 2, "micro", "system")


def test_pairwise_accuracy_of_segments_is_that_of_their_means():
    x, z = np.array([[1.0, 3], [2, 4], [0, 9]]), np.array([[1.0, 1], [2, 2], [0, 0]])
    found = correlation("pairwise_accuracy", x, z)  # means 2 3 4.5 against 1 2 0
    assert (found.value, found.n_used) == (pytest.approx(1 / 3), 3)
    sets = correlation(
        "pairwise_accuracy", [1, 3, 2, 4, 5, 4], [1, 1, 2, 2, 0, 9], list("aaaabb"), systems=list("AABBAB")
    )
    assert (sets.value, sets.n_pairs) == (0.5, 2)  # A and B in set a, and again in set b


def test_soft_pairwise_accuracy_does_not_depend_on_the_order_of_systems():
    rng = np.random.default_rng(3)
    z = rng.integers(0, 3, size=(3, 8)).astype(float)
    x = z[[0, 0, 2]]
    values = {
        round(correlation("soft_pairwise_accuracy", x[o], z[o]).value, 12) for o in ([0, 1, 2], [2, 1, 0], [1, 2, 0])
    }
    assert len(values) == 1
    found = correlation("soft_pairwise_accuracy", x, z)
    assert (found.n_used, found.n_pairs, found.level) == (3, 3, "system")
    assert 0.5 <= found.chance <= 0.75


def test_soft_pairwise_accuracy_uses_what_is_judged_for_both_systems():
    rng = np.random.default_rng(6)
    x, z = rng.normal(size=(2, 4, 30)), rng.normal(size=(4, 30))
    z[0, :10] = NAN
    x[1, 2, 20:] = NAN
    with pytest.raises(InputError, match="a score is missing in 10 of 110"):
        correlations("soft_pairwise_accuracy", x, z)
    first, _ = correlations("soft_pairwise_accuracy", x, z, missing="drop")
    assert first.value == correlation("soft_pairwise_accuracy", x[0], z).value


def test_human_p_values_are_computed_once_for_all_metrics(monkeypatch):
    calls = []
    plain = sign_flip_p
    monkeypatch.setattr(
        "nlgauge.stats.preferences.sign_flip_p",
        lambda scores, *rest: calls.append(len(scores)) or plain(scores, *rest),
    )
    correlations(
        "soft_pairwise_accuracy", np.random.default_rng(0).normal(size=(30, 3, 5)), np.arange(15.0).reshape(3, 5)
    )
    assert calls == [31]


def test_statistics_of_preferences_take_better_and_worse():
    better, worse, groups = [2, 2, 1, 1], [1, 1, 2, 2], ["negation", "typos", "typos", "typos"]
    by_phenomenon = correlation("preference_accuracy", better, worse, groups)
    assert (by_phenomenon.value, by_phenomenon.averaging) == (pytest.approx(2 / 3), "item")
    assert correlation("rr_kendall", better, worse, groups).value == 0.0  # pooled: two won, two lost
    flat = correlation("preference_accuracy", better, worse)
    assert flat.value == 0.5
    assert flat.low < 0.5 < flat.high
    assert (flat.ties, flat.n_ties, flat.n_pairs) == ("loss", 0, 4)


@pytest.mark.parametrize(("missing", "value", "n_used"), [("drop", 1.0, 1), ("worst", 1 / 3, 3)])
def test_preferences_with_a_missing_score(missing, value, n_used):
    better, worse = [2, None, 2], [1, 1, None]
    with pytest.raises(InputError, match=r"a score is missing in 2 of 3 entries \(entry 1, entry 2\)"):
        correlation("preference_accuracy", better, worse)
    found = correlation("preference_accuracy", better, worse, missing=missing)
    assert (found.value, found.n_used) == (pytest.approx(value), n_used)


def test_auc_takes_groups_too():
    assert correlation("auc", [0.1, 0.9, 0.5], [0, 1, 1]).value == 1.0
    by_set = correlation("auc", [0.1, 0.9, 0.5, 0.4], [0, 1, 0, 1], list("aabb"))
    assert (by_set.value, by_set.chance) == (0.5, 0.5)


def test_binary_labels_take_a_threshold_in_the_units_of_the_metric():
    x, z = [3, 2, 1, 4, 0], [1, 1, 1, 0, 0]
    given = correlation("balanced_accuracy", x, z, threshold=2)
    assert (given.value, given.chance, given.note) == (pytest.approx((2 / 3 + 1 / 2) / 2), 0.5, "")
    rate = correlation("balanced_accuracy", [-score for score in x], z, threshold=-2, higher_is_better=False)
    assert rate.value == given.value
    assert np.isnan(correlation("f1", x, z, threshold=2).chance)
    tenths = correlation("f1", [0.1 + 0.2, 0.7, 0.1], [1, 1, 0], threshold=0.3)
    assert tenths.value == 1  # 0.1 + 0.2 reaches 0.3, whatever the last bit


@pytest.mark.parametrize("name", ["balanced_accuracy", "f1", "mcc"])
def test_thresholds_of_binary_labels_are_found_on_other_items(name):
    rng = np.random.default_rng(3)
    items = np.repeat(np.arange(40), 3)
    z = rng.integers(0, 2, len(items)).astype(float)
    x = z + rng.normal(size=len(items))
    x[5] = NAN
    found = correlation(name, x, z, items, missing="drop", folds=4, seed=1)
    kept = ~np.isnan(x)
    entries = Entries(x[None], z, kept[None], np.zeros(len(z), int), (None,), items)
    fold, kernel, told = folds_of(entries, 4, 1), statistic(name).kernel, np.zeros(len(z))
    assert all(len(set(fold[items == item])) == 1 for item in range(40))
    cuts = [best_threshold(x[kept & (fold != f)], z[kept & (fold != f)], kernel) for f in range(4)]
    for f, cut in enumerate(cuts):
        told[fold == f] = np.where(x[fold == f] >= cut, 1, -1)
    assert found.value == pytest.approx(float(kernel(told[kept], z[kept])))
    assert (found.averaging, found.n_used) == ("none", 119)
    assert found.note == (f"thresholds of 4 folds, each found on the others: {min(cuts):.4g} to {max(cuts):.4g}")
    rate = correlation(name, -x, z, items, missing="drop", folds=4, seed=1, higher_is_better=False)
    assert rate.value == found.value
    assert rate.note.endswith(f"{-max(cuts):.4g} to {-min(cuts):.4g}")
    grid = correlation(name, x.reshape(40, 3).T, z.reshape(40, 3).T, missing="drop")
    assert grid.averaging == "none"


def test_scores_of_noise_are_at_chance_on_other_items():
    rng = np.random.default_rng(0)
    z = (np.arange(2000) < 600).astype(float)
    noise = rng.normal(size=(20, 2000))
    values = [one.value for one in correlations("balanced_accuracy", noise, z)]
    assert np.mean(values) == pytest.approx(0.5, abs=0.01)  # 20 means of 2,000, each off by some 0.012


def test_labels_that_other_folds_lack_leave_no_value():
    alone = correlation("f1", [1, 2], [1, 0], ["one", "one"])
    assert np.isnan(alone.value)
    assert alone.note == "there is no other item to find a threshold on"
    assert np.isnan(correlation("mcc", [1, 2, 3, 4], [1, 0, 0, 0]).value)  # one positive, which one fold has


def test_many_metrics_give_what_each_gives_alone():
    rng = np.random.default_rng(7)
    x, z = rng.integers(0, 5, size=(3, 4, 6)).astype(float), 30.0 * rng.integers(0, 3, size=(4, 6))
    x[1, 0, 0], z[2, 3] = NAN, NAN
    for name in ("pearson", "kendall_c", "acc_eq_calibrated", "wmt_kendall_like", "pairwise_accuracy"):
        for m, one in enumerate(correlations(name, x, z, missing="drop")):
            alone = correlation(name, x[m], z, missing="drop")
            assert one.value == pytest.approx(alone.value, abs=1e-14)  # sums in another order
            assert (one.n_used, one.n_undefined) == (alone.n_used, alone.n_undefined)
            assert (one.n_pairs, one.epsilon) == (alone.n_pairs, alone.epsilon)


def test_two_metrics_on_the_same_items():
    # metric 2 ties item 1: alone each mean is over its own items, `common` holds both to the items both define
    x = np.array([[[1.0, 1], [2, 2]], [[1, 1], [2, 1]]])
    z = np.array([[1.0, 2], [2, 1]])
    assert [one.value for one in correlations("pearson", x, z)] == [0.0, 1.0]
    assert [(one.value, one.n_used) for one in correlations("pearson", x, z, common=True)] == [(1.0, 1), (1.0, 1)]


def test_which_tau_it_was_stands_in_the_result():
    # three pairs concordant, one discordant; five untied on either side, three distinct values
    found = {name: correlation(name, [1, 2, 2, 3], [1, 3, 2, 2]) for name in ("kendall_b", "kendall_c")}
    assert {one.stat: one.value for one in found.values()} == {"kendall_b": 0.4, "kendall_c": 0.375}


@pytest.mark.parametrize(("ties", "chance"), [("loss", 11 / 30), ("half", 0.5), ("exclude", 0.5)])
def test_chance_of_pairwise_accuracy_goes_by_the_ties(ties, chance):
    # people tie 4 of 15 pairs: noise wins half of the other 11, and half of the ties where a tie is half a win
    z, noise = [1, 1, 1, 2, 2, 3], np.random.default_rng(0).normal(size=(4000, 6))
    found = correlations("pairwise_accuracy", noise, z, ties=ties)
    assert found[0].chance == pytest.approx(chance)
    assert np.mean([one.value for one in found]) == pytest.approx(chance, abs=0.02)  # five standard errors


@pytest.mark.parametrize("n", [0, 1])
def test_held_out_with_one_item_is_undefined(n):
    found = correlation("acc_eq_held_out", list(range(n)), list(range(n)))
    assert (np.isnan(found.value), found.n_used, found.n_undefined) == (True, 0, n)
    with pytest.raises(InputError, match="folds is 2"):
        correlation("acc_eq_held_out", list(range(n)), list(range(n)), folds=2)


@pytest.mark.parametrize("name", ["soft_pairwise_accuracy", "pdp", "pdp_pairs"])
@pytest.mark.filterwarnings("error")
def test_without_a_pair_a_statistic_is_undefined_without_a_warning(name):
    z = np.array([[1, 2, np.nan, np.nan], [np.nan, np.nan, 3, 4]])
    found = correlation(name, np.arange(8.0).reshape(2, 4), z)
    assert np.isnan(found.value)
    assert np.isnan(correlation("pdp", [1.0, 2], [None, None], ["a", "a"]).value)
