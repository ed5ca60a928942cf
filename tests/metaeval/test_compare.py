"""Tests between metrics: which test goes with what, and that each finds what is there and nothing else."""

import numpy as np
import pytest

from nlgauge.core.errors import InputError
from nlgauge.metaeval.compare import ABOUT, TESTS, MetricTest, check_test, compare, compare_means, usual_test
from nlgauge.metaeval.frames import Frame
from nlgauge.metaeval.measure import Measure, averaging_of, measure

SYSTEMS, ITEMS = 12, 30


def grid(noise, seed=0, named=True):
    """A frame of people and of metrics that add so much noise to what people say."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(SYSTEMS, ITEMS)) + rng.normal(size=(SYSTEMS, 1))
    x = np.stack([(z + level * rng.normal(size=z.shape)).ravel() for level in noise])
    items = tuple(str(i) for _ in range(SYSTEMS) for i in range(ITEMS))
    systems = tuple(f"s{s}" for s in range(SYSTEMS) for _ in range(ITEMS)) if named else None
    return Frame(None, x, z.ravel(), tuple(map(str, range(z.size))), items, systems)


def by_system(frame):
    x = frame.x.reshape(len(frame.x), SYSTEMS, ITEMS).mean(axis=2)
    names = tuple(f"s{s}" for s in range(SYSTEMS))
    return Frame(None, x, frame.z.reshape(SYSTEMS, ITEMS).mean(axis=1), names, None, names)


def compared(frame, stat, level, test, up=None, averaging=None, options=None, **asked):
    how = Measure(stat, level, averaging_of(stat, level, averaging), up or [True] * len(frame.x), options or {})
    return compare(frame, measure(frame, how), how, MetricTest(test, draws=200, **asked))


def mean_compared(frames, stat, averaging, asked):
    return compare_means(frames, Measure(stat, "segment", averaging, [True, True]), asked)


CASES = [
    ("pearson", "segment", "perm_both"),
    ("pearson", "segment", "perm_inputs"),
    ("pearson", "segment", "perm_systems"),
    ("pearson", "segment", "williams"),
    ("pearson", "segment", "bootstrap"),
    ("spearman", "segment", "perm_both"),
    ("pearson", "item", "perm_both"),
    ("kendall_b", "item", "perm_both"),
    ("kendall_b", "item", "item_swap"),
    ("acc_eq", "item", "item_swap"),
    ("acc_eq_calibrated", "item", "item_swap"),
    ("acc_eq", "item", "perm_inputs"),
    ("preference_accuracy", "segment", "mcnemar"),
    ("preference_accuracy", "item", "item_swap"),
    ("soft_pairwise_accuracy", "system", "perm_inputs"),
]


@pytest.mark.parametrize(("stat", "level", "test"), CASES)
def test_a_far_better_metric_is_found_better_and_not_worse(stat, level, test):
    found = compared(grid([0.3, 3.0]), stat, level, test)
    assert found.p[0, 1] < 0.05 < found.p[1, 0]


@pytest.mark.parametrize(("stat", "level", "test"), CASES)
def test_a_metric_is_never_better_than_itself(stat, level, test):
    frame = grid([1.0])
    twice = Frame(None, np.concatenate([frame.x, frame.x]), frame.z, frame.ids, frame.items, frame.systems)
    found = compared(twice, stat, level, test)
    assert found.p[0, 1] == found.p[1, 0] == 1


@pytest.mark.parametrize(
    ("stat", "test"),
    [
        ("pearson", "perm_systems"),
        ("pearson", "williams"),
        ("kendall_b", "perm_systems"),
        ("pairwise_accuracy", "perm_systems"),
    ],
)
def test_at_level_system_systems_are_compared(stat, test):
    frame = by_system(grid([0.3, 30.0]))
    found = compared(frame, stat, "system", test)
    assert found.generalise_to == "systems"
    assert found.p[0, 1] < 0.05


@pytest.mark.parametrize(
    ("stat", "level", "averaging", "expected"),
    [
        ("pearson", "segment", "none", "perm_both"),
        ("kendall_b", "item", "item", "perm_both"),
        ("pearson", "system", "none", "perm_systems"),
        ("acc_eq", "item", "item", "item_swap"),
        ("acc_eq_calibrated", "item", "item", "item_swap"),
        ("acc_eq_calibrated", "segment", "none", None),
        ("preference_accuracy", "segment", "none", "mcnemar"),
        ("rr_kendall", "segment", "none", None),
        ("rr_kendall", "item", "item", "item_swap"),
        ("soft_pairwise_accuracy", "system", "none", "perm_systems"),
        ("wmt_kendall_like", "segment", "micro", None),
    ],
)
def test_the_usual_test_goes_by_statistic_and_level(stat, level, averaging, expected):
    assert usual_test(stat, level, averaging) == expected


@pytest.mark.parametrize(
    ("frame", "stat", "level", "test", "message"),
    [
        (
            grid([1, 2]),
            "kendall_b",
            "segment",
            "williams",
            "williams compares two values of Pearson's r over one vector",
        ),
        (grid([1, 2]), "pearson", "item", "williams", "choose perm_both"),
        (grid([1, 2]), "pearson", "segment", "item_swap", "item_swap needs a value for each item"),
        (grid([1, 2]), "pearson", "segment", "mcnemar", "mcnemar compares two preference accuracies"),
        (
            grid([1, 2]),
            "acc_eq_calibrated",
            "item",
            "perm_both",
            "perm_both does not go with acc_eq_calibrated.*choose item_swap",
        ),
        (grid([1, 2]), "soft_pairwise_accuracy", "system", "perm_both", "has perm_inputs and perm_systems"),
        (
            by_system(grid([1, 2])),
            "pearson",
            "system",
            "perm_inputs",
            "at level 'system' there is one number per system",
        ),
        (
            grid([1, 2], named=False),
            "pearson",
            "segment",
            "perm_systems",
            "needs the system and the item of every segment",
        ),
        (grid([1, 2], named=False), "pearson", "item", "perm_systems", "not every segment names its own"),
        (grid([1, 2], named=False), "pearson", "segment", "bootstrap", "choose perm_both"),
    ],
)
def test_a_test_that_does_not_go_with_the_data_is_refused(frame, stat, level, test, message):
    with pytest.raises(InputError, match=message):
        compared(frame, stat, level, test)


def test_items_with_outputs_of_unnamed_systems_can_be_tested():
    found = compared(grid([0.3, 3.0], named=False), "pearson", "item", "perm_both")
    assert found.p[0, 1] < 0.05


def test_the_direction_of_a_metric_decides_what_better_means():
    frame = grid([0.3, 3.0])
    turned = Frame(None, frame.x * [[-1], [1]], frame.z, frame.ids, frame.items, frame.systems)
    found = compared(turned, "pearson", "item", "perm_both", [False, True])
    np.testing.assert_array_equal(found.p, compared(frame, "pearson", "item", "perm_both").p)


def test_two_sided_p_is_the_same_both_ways():
    found = compared(grid([0.5, 0.6]), "pearson", "segment", "perm_both", alternative="two-sided")
    assert found.p[0, 1] == found.p[1, 0]


def test_the_same_seed_gives_the_same_p():
    one, other = (compared(grid([0.5, 0.6]), "pearson", "segment", "perm_both", seed=7).p for _ in range(2))
    np.testing.assert_array_equal(one, other)


def test_mcnemar_is_the_sign_test_of_pairs_that_one_alone_gets_right():
    # four items, two outputs each, the first better: metric 0 right on all, metric 1 on one: 3 pairs for the first, 0
    # against: 1/8
    x = [[2, 1, 2, 1, 2, 1, 2, 1], [2, 1, 1, 2, 1, 2, 1, 2]]
    frame = Frame(None, np.array(x, dtype=float), np.array([5.0, 1] * 4), tuple("abcdefgh"), tuple("11223344"), None)
    found = compared(frame, "preference_accuracy", "segment", "mcnemar")
    assert found.p[0, 1] == pytest.approx(1 / 8)
    assert found.p[1, 0] == pytest.approx(1)
    assert found.values.tolist() == [1, 0.25]
    assert compared(frame, "preference_accuracy", "segment", "mcnemar", alternative="two-sided").p[
        0, 1
    ] == pytest.approx(1 / 4)


def test_as_mt_metrics_eval_pairs_of_systems_trade_places():
    found = compared(grid([0.3, 0.4]), "acc_eq", "item", "item_swap", compat="mt-metrics-eval")
    assert found.test == "pair_swap"


def flat(noise, n, seed, scale):
    """A frame of n segments without systems, metrics on a scale of their own."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=n)
    x = np.stack([scale * (z + level * rng.normal(size=n)) for level in noise])
    return Frame(f"g{seed}", x, z, tuple(map(str, range(n))), None, None)


def test_the_mean_over_groups_is_tested_whatever_the_scales_and_sizes_of_groups():
    frames = [flat([0.5, 1.5], 80, 1, 1.0), flat([0.5, 1.5], 50, 2, 1000.0)]
    asked = MetricTest("perm_both", draws=200)
    found = mean_compared(frames, "pearson", "none", asked)
    means = np.mean([[np.corrcoef(row, f.z)[0, 1] for row in f.x] for f in frames], axis=0)
    np.testing.assert_allclose(found.values, means, atol=1e-12)  # float64, one division more
    assert found.p[0, 1] < 0.05


def test_the_mean_of_equal_metrics_gives_one():
    frames = [
        Frame(None, np.stack([f.x[0], f.x[0]]), f.z, f.ids, None, None)
        for f in (flat([1], 30, 1, 1.0), flat([1], 40, 2, 5.0))
    ]
    assert mean_compared(frames, "kendall_b", "none", MetricTest("perm_both", draws=50)).p[0, 1] == 1


@pytest.mark.parametrize(
    ("stat", "averaging", "test"),
    [("pearson", "item", "perm_both"), ("pearson", "none", "williams"), ("auc", "none", "bootstrap")],
)
def test_some_means_over_groups_have_no_test(stat, averaging, test):
    assert mean_compared([flat([1, 2], 9, 1, 1.0)], stat, averaging, MetricTest(test)) is None


def test_unknown_tests_are_refused_and_known_ones_say_what_they_are():
    with pytest.raises(InputError, match="unknown test 'wiliams'; did you mean 'williams'"):
        check_test("wiliams")
    assert set(TESTS) == set(ABOUT)


def test_null_metrics_are_told_apart_at_the_nominal_rate():
    """Two metrics of equal quality on 100 data sets.

    At 5 % the mean over two groups may be rejected 0 to 11 times (binomial, 99 %).
    """
    rejected = 0
    for seed in range(100):
        frames = [flat([1.0, 1.0], 40, 2 * seed, 1.0), flat([1.0, 1.0], 30, 2 * seed + 1, 3.0)]
        rejected += (
            mean_compared(frames, "pearson", "none", MetricTest("perm_both", draws=99, seed=seed)).p[0, 1] <= 0.05
        )
    assert rejected <= 11
