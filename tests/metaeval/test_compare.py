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
    ("rr_kendall", "segment", "item_swap"),
    ("rr_kendall", "segment", "bootstrap"),
    ("wmt_kendall_like", "segment", "item_swap"),
    ("wmt_kendall_like", "segment", "bootstrap"),
    ("acc_eq_calibrated", "item", "bootstrap"),
    ("soft_pairwise_accuracy", "system", "perm_inputs"),
]


OPTIONS = {"wmt_kendall_like": {"threshold": 1.0}}  # ratings of the grid are a few points apart


@pytest.mark.parametrize(("stat", "level", "test"), CASES)
def test_a_far_better_metric_is_found_better_and_not_worse(stat, level, test):
    found = compared(grid([0.3, 3.0]), stat, level, test, options=OPTIONS.get(stat))
    assert found.p[0, 1] < 0.05 < found.p[1, 0]


@pytest.mark.parametrize(("stat", "level", "test"), CASES)
def test_a_metric_is_never_better_than_itself(stat, level, test):
    frame = grid([1.0])
    twice = Frame(None, np.concatenate([frame.x, frame.x]), frame.z, frame.ids, frame.items, frame.systems)
    found = compared(twice, stat, level, test, options=OPTIONS.get(stat))
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
        ("rr_kendall", "segment", "none", "item_swap"),
        ("rr_kendall", "item", "item", "item_swap"),
        ("soft_pairwise_accuracy", "system", "none", "perm_systems"),
        ("wmt_kendall_like", "segment", "micro", "item_swap"),
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
    [("pearson", "item", "perm_both"), ("pearson", "none", "williams")],
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


def rated(points, *scores):
    """A frame of items 0, 1, ...; each holds the outputs of some systems with their ratings, in a list."""
    items = tuple(str(i) for i, item in enumerate(points) for _ in item)
    x = np.array([[value for item in row for value in item] for row in scores], dtype=float)
    z = np.array([value for item in points for value in item], dtype=float)
    return Frame(None, x, z, tuple(map(str, range(len(z)))), items, None)


# Item 0 has 3 pairs (30, 60, 30 points apart), item 1 one (40 points), its other two are 10 and 20 apart and do not
# count at 25 points... so outputs 90, 60, 30 and 80, 40: 3 and 1 pairs. The first metric orders all 3 and loses the
# other: (3 - 1) / 4. The second loses one of 3 and ties the other: (2 - 1 - 1) / 4.
KENDALL = rated([[90, 60, 30], [80, 40]], [[3, 2, 1], [0, 1]], [[3, 1, 2], [5, 5]])


@pytest.mark.parametrize(("stat", "averaging"), [("rr_kendall", "none"), ("wmt_kendall_like", "micro")])
def test_pairs_of_all_items_are_pooled_in_the_test_as_in_the_value(stat, averaging):
    found = compared(KENDALL, stat, "segment", "item_swap", averaging=averaging, options={"threshold": 25.0})
    assert found.values.tolist() == [0.5, 0.0]
    # the four patterns: .5; item 1 swapped, a tie is a loss as well: .5; item 0 swapped: -.5; both: -.5
    assert found.p[0, 1] == pytest.approx(0.5, abs=0.18)  # 200 draws: sd .035, five of them
    assert found.deltas[0, 1] == 0.5


def test_pairs_of_all_items_are_pooled_on_every_draw_of_the_bootstrap():
    found = compared(KENDALL, "rr_kendall", "segment", "bootstrap", options={"threshold": 25.0})
    assert found.values.tolist() == [0.5, 0.0]
    # items drawn: 0 0: 1 and 1/3; 0 1 or 1 0: .5 and 0; 1 1: -1 and -1. So the difference is 2/3, .5, .5 or 0
    assert found.delta_low[0, 1] == 0.0
    assert found.delta_high[0, 1] == pytest.approx(2 / 3)
    assert (found.low[0], found.high[0]) == (-1.0, 1.0)


def test_pairs_that_people_gave_without_items_are_an_item_each():
    frame = Frame(None, np.array([[1.0, 0.0, 3.0, 2.0], [0.0, 1.0, 3.0, 2.0]]), np.zeros(4), tuple("abcd"), None, None)
    pairs = Frame(
        *(getattr(frame, key) for key in ("group", "x", "z", "ids", "items", "systems")), np.array([[0, 1], [2, 3]])
    )
    found = compared(pairs, "rr_kendall", "segment", "item_swap")
    assert found.values.tolist() == [1.0, 0.0]
    assert found.n_used.tolist() == [2, 2]


@pytest.mark.parametrize("test", ["item_swap", "bootstrap"])
def test_the_mean_over_groups_is_tested_by_item_and_has_an_interval(test):
    second = rated([[90, 10]], [[1, 0]], [[1, 0]])
    twice = rated([[90, 10], [90, 10]], [[1, 0], [0, 1]], [[1, 0], [0, 1]])
    how = Measure("rr_kendall", "segment", "none", [True, True], {"threshold": 25.0})
    found = compare_means([KENDALL, twice], how, MetricTest(test, draws=200))
    assert found.values.tolist() == [0.25, 0.0]  # means of .5 and 0, and of 0 and 0
    if test == "bootstrap":  # the second group never tells the metrics apart: half of the ends above
        assert (found.delta_low[0, 1], found.delta_high[0, 1]) == (0.0, pytest.approx(1 / 3))
        with pytest.raises(InputError, match="needs 2 or more"):
            compare_means([KENDALL, second], how, MetricTest(test, draws=20))


def test_the_mean_of_a_correlation_over_groups_has_an_interval_of_the_difference():
    frames = [flat([0.5, 1.5], 80, 1, 1.0), flat([0.5, 1.5], 50, 2, 1000.0)]
    found = mean_compared(frames, "pearson", "none", MetricTest("bootstrap", draws=300))
    means = np.mean([[np.corrcoef(row, f.z)[0, 1] for row in f.x] for f in frames], axis=0)
    np.testing.assert_allclose(found.values, means, atol=1e-12)  # float64, one division more
    assert found.delta_low[0, 1] < found.deltas[0, 1] < found.delta_high[0, 1]
    assert found.delta_low[0, 1] > 0


@pytest.mark.slow
@pytest.mark.parametrize("test", ["item_swap", "bootstrap"])
def test_equally_good_metrics_are_told_apart_by_pooled_pairs_at_the_nominal_rate(test):
    """Two metrics of equal quality on 200 data sets: at 5 %, 2 to 19 rejections (binomial, 99.9 %)."""
    rejected = 0
    for seed in range(200):
        found = compared(grid([1.2, 1.2], seed), "rr_kendall", "segment", test, options={"threshold": 1.0}, seed=seed)
        rejected += found.p[0, 1] <= 0.05
    assert 2 <= rejected <= 19


def test_an_epsilon_is_in_the_units_of_the_metric():
    data = grid([0.5, 1.0])
    data = Frame(None, 10 * data.x, np.rint(data.z), *(getattr(data, n) for n in ("ids", "items", "systems")))
    how = Measure("acc_eq", "item", "item", [True, True], {"epsilon": 5.0})
    found = measure(data, how)
    for test in ("item_swap", "bootstrap"):
        deltas = compare(data, found, how, MetricTest(test, draws=20)).deltas
        assert deltas[0, 1] == pytest.approx(found[0].value - found[1].value)
    for test in ("perm_both", "perm_inputs", "perm_systems"):
        with pytest.raises(InputError, match=f"{test} brings metrics to one scale, .* choose item_swap"):
            compare(data, found, how, MetricTest(test, draws=20))
    assert usual_test("acc_eq", "segment", "none", epsilon=True) is None
    assert usual_test("acc_eq", "item", "item", epsilon=True) == "item_swap"
