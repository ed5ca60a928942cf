"""One statistic in one group: its averaging, options and pairs; its intervals; and tests between metrics."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from nlgauge.core.errors import InputError
from nlgauge.metaeval.joined import GroupScores
from nlgauge.metaeval.measure import (
    IntervalMethod,
    MetricTest,
    Task,
    _share_tied,
    averaging_of,
    cautions,
    check_options,
    compare,
    compare_means,
    ends_of_mean,
    measure,
    pairs_of_frame,
    standard_moment,
    usual_test,
    with_intervals,
)
from nlgauge.stats.draws import clopper_pearson
from nlgauge.stats.intervals import widened_ends


def frame_of(x, z, items=None, systems=None, pairs=None):
    x = np.atleast_2d(np.array(x, dtype=float))
    names = tuple(map(str, range(x.shape[1])))
    return GroupScores(
        None, x, np.array(z, dtype=float), names, items and tuple(items), systems and tuple(systems), pairs
    )


def value(data, stat, level="segment", averaging=None, up=True, **options):
    (one,) = measure(data, Task(stat, level, averaging_of(stat, level, averaging), up=[up], options=options))
    return one.value


@pytest.mark.parametrize(
    ("stat", "level", "expected"),
    [
        ("pearson", "segment", "none"),
        ("pearson", "item", "item"),
        ("pearson", "system", "none"),
        ("wmt_kendall_like", "segment", "micro"),
        ("wmt_kendall_like", "item", "item"),
        ("rr_kendall", "segment", "none"),
        ("acc_eq", "item", "item"),
        ("pairwise_accuracy", "system", "none"),
    ],
)
def test_a_level_has_its_own_averaging(stat, level, expected):
    assert averaging_of(stat, level, None) == expected


@pytest.mark.parametrize(
    ("stat", "level", "averaging", "message"),
    [
        ("pairwise_accuracy", "segment", None, "compares systems; choose level='system'"),
        ("pearson", "system", "item", "averaging 'item' does not go with level 'system'"),
        ("pearson", "item", "none", "averaging 'none' does not go with level 'item'"),
        ("pearson", "segment", "micro", "no ratio of pairs"),
        ("pearson", "segment", "itme", "averaging is 'itme'; did you mean 'item'"),
        ("perason", "segment", None, "unknown statistic 'perason'; did you mean 'pearson'"),
    ],
)
def test_what_does_not_go_together_is_refused(stat, level, averaging, message):
    with pytest.raises(InputError, match=message):
        averaging_of(stat, level, averaging)


def test_an_error_rate_is_turned_round_and_a_bad_metric_is_not():
    data = frame_of([4, 3, 2, 1], [1, 2, 3, 4])
    assert value(data, "pearson", up=False) == pytest.approx(1)
    assert value(data, "pearson") == pytest.approx(-1)


def test_pairs_are_made_inside_items_only():
    # item 1: people 1 < 5, metric agrees; item 2: people 9 > 2, metric disagrees; pairs across items would be four more
    data = frame_of([1, 2, 3, 4], [1, 5, 9, 2], items="1122")
    assert value(data, "wmt_kendall_like", threshold=1) == 0
    assert value(data, "rr_kendall") == 0
    assert value(data, "preference_accuracy") == 0.5


def test_the_threshold_says_from_which_difference_on_people_tell_outputs_apart():
    # differences 4 and 7: with 5 only the pair that the metric gets wrong is left
    data = frame_of([1, 2, 3, 4], [1, 5, 9, 2], items="1122")
    assert value(data, "rr_kendall", threshold=5) == -1
    assert value(data, "preference_accuracy", threshold=4) == 0.5


@pytest.mark.parametrize(("ties", "expected"), [("loss", 1 / 3), ("half", 0.5), ("exclude", 0.5), ("zero", 1 / 3)])
def test_a_tie_counts_as_it_is_told(ties, expected):
    # one item, people 1 < 2 < 3: the metric wins (1,3), loses (2,3) and ties (1,2): of three pairs one is won
    data = frame_of([1, 1, 2], [1, 3, 2], items="111")
    assert value(data, "preference_accuracy", ties=ties) == pytest.approx(expected)


def test_pairs_that_people_gave_need_no_items():
    data = frame_of([1, 2, 3], [0, 0, 0], pairs=np.array([[1, 0], [0, 2], [2, 1]]))
    better, worse = pairs_of_frame(data, None)
    assert (better.tolist(), worse.tolist()) == ([1, 0, 2], [0, 2, 1])
    assert value(data, "preference_accuracy") == pytest.approx(2 / 3)


def test_a_mean_over_items_weighs_items_not_pairs():
    # item 1 has three pairs, all won; item 2 has one, lost
    data = frame_of([1, 2, 3, 2, 1], [1, 2, 3, 1, 2], items="11122")
    assert value(data, "preference_accuracy", level="item") == pytest.approx(0.5)
    assert value(data, "preference_accuracy", averaging="micro") == pytest.approx(0.75)


def test_systems_can_be_averaged_over_as_well():
    # system a follows people, system b goes against them
    data = frame_of([1, 2, 3, 3, 2, 1], [1, 2, 3, 1, 2, 3], items="123123", systems="aaabbb")
    assert value(data, "pearson", averaging="sys") == pytest.approx(0)


def test_pairs_have_no_mean_over_systems():
    with pytest.raises(InputError, match="compares outputs of two systems"):
        value(frame_of([1, 2], [1, 2], items="11", systems="ab"), "rr_kendall", averaging="sys")


def test_soft_accuracy_reads_segments_of_systems():
    data = frame_of([1, 2, 3, 1, 2, 3], [1, 2, 3, 1, 2, 3], items="123123", systems="aaabbb")
    (one,) = measure(data, Task("soft_pairwise_accuracy", "system", "none", up=[True], options={"draws": 10}))
    assert one.value == 1
    assert one.n_pairs == 1


def test_options_reach_the_statistic_that_has_them():
    # differences of scores 1, 1, 2: all but the last are ties within 1, as people's are
    data = frame_of([1, 2, 3], [5, 5, 5], items="111")
    assert value(data, "acc_eq", level="item") == 0
    assert value(data, "acc_eq", level="item", epsilon=1) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("names", "options", "tested", "message"),
    [
        (["pearson"], {"treshold": 1}, False, "has no option 'treshold'; did you mean 'threshold'"),
        (["pearson", "auc"], {"threshold": 1}, False, "pearson and auc take no threshold"),
        (["pearson"], {"alternative": "greater"}, False, "take no alternative"),
    ],
)
def test_an_option_nobody_takes_is_refused(names, options, tested, message):
    with pytest.raises(InputError, match=message):
        check_options(names, options, tested)


def test_chance_of_preferences_is_averaged_as_the_value_is():
    # the only pair of item a is tied, none of the three of item b: (0 + 1/2) / 2 by item, 3/4 of 1/2 of all pairs
    data = frame_of([1, 1, 1, 2, 3], [1, 2, 1, 2, 3], "aabbb")

    def guess(averaging, **options):
        return measure(data, Task("preference_accuracy", "item", averaging, up=[True], options=options))[0].chance

    assert [guess("item"), guess("none")] == [0.25, 0.375]
    assert [guess("item", ties=ties) for ties in ("half", "exclude")] == [0.5, 0.5]


def test_a_threshold_beside_pairs_that_people_gave_is_refused():
    data = frame_of([1, 2, 3], [0, 0, 0], pairs=np.array([[1, 0]]))
    assert value(data, "rr_kendall") == 1
    with pytest.raises(InputError, match="threshold changes nothing: people gave the pairs"):
        value(data, "rr_kendall", threshold=25.0)


# --- Intervals: which kind goes with what, and that they hold the value


def noisy(n_items=40, n_systems=1, seed=0, m=2, systems=True, noise=1.0):
    rng = np.random.default_rng(seed)
    z = np.round(rng.normal(size=n_items * n_systems), 1)
    x = z + noise * rng.normal(size=(m, z.size))
    items = tuple(str(i) for _ in range(n_systems) for i in range(n_items))
    names = tuple(f"s{s}" for s in range(n_systems) for _ in range(n_items)) if systems else None
    return GroupScores(None, x, z, tuple(map(str, range(z.size))), items, names)


def intervals_of(data, stat, level="segment", how=None, options=None, averaging=None):
    """The values with their intervals, and the method of the intervals."""
    task = Task(stat, level, averaging_of(stat, level, averaging), up=[True] * len(data.x), options=options or {})
    return with_intervals(data, measure(data, task), task, how or IntervalMethod(draws=200))


@pytest.mark.parametrize(
    ("stat", "level", "systems", "said"),
    [
        ("pearson", "segment", 1, "Fisher's formula for segments that are independent"),
        ("kendall_c", "segment", 1, "Fisher's formula for segments that are independent"),
        ("pearson", "segment", 5, "percentile bootstrap over items"),
        ("spearman", "segment", 5, "percentile bootstrap over items"),
        ("kendall_b", "item", 5, "percentile bootstrap over items"),
        ("acc_eq", "item", 5, "percentile bootstrap over items"),
        ("acc_eq_calibrated", "item", 5, "at the thresholds of all data"),
        ("wmt_kendall_like", "segment", 5, "percentile bootstrap over items"),
        ("preference_accuracy", "segment", 2, "Wilson's interval"),
        ("preference_accuracy", "segment", 5, "percentile bootstrap over items"),
        ("rr_kendall", "item", 5, "percentile bootstrap over items"),
        ("pearson", "system", 12, "Fisher's formula for systems that are independent"),
        ("pairwise_accuracy", "system", 12, "percentile bootstrap over systems"),
    ],
)
def test_a_kind_goes_with_statistic_level_and_data_and_holds_the_value(stat, level, systems, said):
    data = noisy(n_systems=systems)
    if level == "system":
        x, z = data.x[:, :systems], data.z[:systems]
        data = GroupScores(None, x, z, tuple(map(str, range(systems))), None, tuple(map(str, range(systems))))
    found, method = intervals_of(data, stat, level, options={"threshold": 0.5} if stat == "wmt_kendall_like" else {})
    assert said in method
    for one in found:
        assert one.low < one.value < one.high


def test_the_exact_interval_of_a_share_is_an_option():
    data, exact = noisy(n_systems=2), {"interval": "clopper-pearson"}
    found, method = intervals_of(data, "preference_accuracy", options=exact)
    plain, _ = intervals_of(data, "preference_accuracy")
    assert method == "Clopper and Pearson's interval"
    for one, other in zip(found, plain, strict=True):
        assert (one.low, one.high) == clopper_pearson(one.value * one.n_pairs, one.n_pairs)
        assert one.low < other.low < other.high < one.high


def test_fishers_interval_is_scipys():
    data = noisy(m=1)
    found, _ = intervals_of(data, "pearson", how=IntervalMethod("fisher"))
    theirs = stats.pearsonr(data.x[0], data.z).confidence_interval(0.95)
    assert (found[0].low, found[0].high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_pearsons_interval_is_widened_unless_fishers_is_asked_for():
    data = noisy(m=2)
    skewed = GroupScores(None, np.exp(data.x), np.exp(data.z), data.ids, data.items, data.systems)
    (one, _), method = intervals_of(skewed, "pearson")
    (plain, _), _ = intervals_of(skewed, "pearson", how=IntervalMethod("fisher"))
    assert method.endswith("widened by the jackknife where values are skewed")
    assert (one.low, one.high) == tuple(float(end[0]) for end in widened_ends(skewed.x, skewed.z))
    assert one.low < plain.low < one.value < plain.high < one.high


def test_outputs_of_one_item_are_not_independent_and_fisher_says_so_when_it_is_asked_for():
    _, method = intervals_of(noisy(n_systems=3), "pearson", how=IntervalMethod("fisher"))
    assert "comes out too narrow" in method


@pytest.mark.parametrize(
    ("stat", "how"),
    [
        ("pearson", IntervalMethod("none")),
        ("auc", IntervalMethod("fisher")),
        ("soft_pairwise_accuracy", IntervalMethod()),
    ],
)
def test_where_there_is_no_interval_nothing_is_said(stat, how):
    data = noisy(n_systems=3)
    data = GroupScores(None, data.x, (data.z > 0).astype(float), data.ids, data.items, data.systems)
    found, method = intervals_of(data, stat, "system" if stat.startswith("soft") else "segment", how)
    assert method == ""
    assert np.isnan([one.low for one in found]).all()


def test_products_over_a_grid_are_the_bootstrap_over_items():
    """The same items drawn, so the same ends as a bootstrap that copies entries, up to the draws.

    2000 draws leave 0.01.
    """
    data = noisy(n_systems=4, m=1)
    fast, _ = intervals_of(data, "pearson", how=IntervalMethod(draws=2000))
    unnamed = GroupScores(None, data.x, data.z, data.ids, data.items, None)
    slow, _ = intervals_of(unnamed, "pearson", how=IntervalMethod(draws=2000))
    assert (fast[0].low, fast[0].high) == pytest.approx((slow[0].low, slow[0].high), abs=0.02)


def test_one_item_alone_has_no_interval_over_items():
    data = noisy(n_items=1, n_systems=6)
    found, method = intervals_of(data, "kendall_b", "item")
    assert method == ""
    assert np.isnan(found[0].low)


def test_the_mean_over_groups_has_an_interval_from_draws_of_segments():
    groups = [noisy(60, seed=1, m=1), noisy(80, seed=2, m=1)]
    mean = np.mean([np.corrcoef(g.x[0], g.z)[0, 1] for g in groups])
    ((low, high),) = ends_of_mean(groups, Task("pearson", "segment", "none", up=[True]), IntervalMethod(draws=500))
    assert low < mean < high
    assert high - low < 0.4  # 140 segments: about 4 / sqrt(140) (1 - r^2)


@pytest.mark.parametrize(
    ("averaging", "how"),
    [("item", IntervalMethod()), ("none", IntervalMethod("none")), ("none", IntervalMethod("fisher"))],
)
def test_other_means_over_groups_have_none(averaging, how):
    assert ends_of_mean([noisy(), noisy(seed=1)], Task("pearson", "segment", averaging, up=[True, True]), how) is None


def test_groups_whose_items_have_several_outputs_have_no_interval_of_their_mean():
    assert (
        ends_of_mean([noisy(n_systems=2)], Task("pearson", "segment", "none", up=[True, True]), IntervalMethod())
        is None
    )


def test_fishers_interval_covers_the_truth_as_often_as_it_says():
    """r = 0.6, 40 pairs, 200 data sets: 95 % within 4.6 standard errors (0.0154) of it."""
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(200):
        z = rng.normal(size=40)
        x = 0.6 * z + 0.8 * rng.normal(size=40)
        data = GroupScores(None, x[None], z, tuple(map(str, range(40))), None, None)
        found, _ = intervals_of(data, "pearson")
        covered += found[0].low < 0.6 < found[0].high
    assert 0.88 <= covered / 200 <= 1


def cautioned(data, stat, how=None, **options):
    task = Task(stat, "segment", averaging_of(stat, "segment", None), up=[True] * len(data.x), options=options)
    _, method = with_intervals(data, measure(data, task), task, how or IntervalMethod(draws=50))
    return cautions(data, task, method)


def single(x, z):
    ids = tuple(map(str, range(len(z))))
    return GroupScores(None, np.asarray(x, float)[None], np.asarray(z, float), ids, ids, None)


def test_intervals_that_cover_too_rarely_are_noted():
    rng = np.random.default_rng(0)
    z = rng.normal(size=300)
    x = z + rng.normal(size=300)
    assert cautioned(single(x, z), "kendall_b") == cautioned(single(x, z), "spearman") == []
    # Ratings in five grades: a fifth and more of the pairs are equal.
    graded = np.clip(np.floor(z + 3), 1, 5)
    assert "many values are tied" in cautioned(single(x, graded), "kendall_b")[0]
    assert cautioned(single(x, graded), "spearman") == []
    drawn = IntervalMethod("bootstrap", draws=50)
    assert cautioned(single(x, z), "pearson", drawn) == []
    assert "are skewed" in cautioned(single(np.exp(x), np.exp(z)), "pearson", drawn)[0]
    assert cautioned(single(x, np.exp(z / 3)), "pearson", drawn) == []  # one side alone does little
    assert "from 40 items too narrow" in cautioned(single(x[:40], z[:40]), "pearson", drawn)[0]


@pytest.mark.parametrize("how", [IntervalMethod(), IntervalMethod("bootstrap", draws=50)], ids=["widened", "drawn"])
def test_a_few_values_far_from_the_rest_are_noted(how):
    rng = np.random.default_rng(0)
    z = rng.normal(size=300)
    x = 0.9 * z + 0.4 * rng.normal(size=300)
    far = np.where(np.arange(300) % 10 == 0, 5 * x, x)
    assert cautioned(single(x, z), "pearson", how) == []
    for scores, ratings in ((x, np.exp(z)), (far, z), (z, far)):
        assert "a few values lie far from the rest" in cautioned(single(scores, ratings), "pearson", how)[0]
        assert cautioned(single(scores, ratings), "spearman", how) == []


def test_systems_that_are_drawn_are_noted_where_they_are_few():
    z = np.random.default_rng(0).normal(size=20)
    task = Task("pearson", "system", "none", up=[True], options={})
    method = IntervalMethod("bootstrap", draws=50).of_draws("systems")
    (said,) = cautions(single(z[:8], z[:8]), task, method)
    assert "8 systems are few" in said
    assert "from 8 they hold the value in 89 %" in said
    rank = Task("spearman", "system", "none", up=[True], options={})
    assert "of pearson 8 hold the value in 89 %" in cautions(single(z[:8], z[:8]), rank, method)[0]
    assert cautions(single(z, z), task, method) == []


def test_the_share_of_pairs_that_are_tied_by_hand():
    assert _share_tied(np.array([1, 1, 2, np.nan])) == pytest.approx(1 / 3)  # of three pairs one
    assert _share_tied(np.array([1.0])) == 0


def test_the_seed_of_a_statistic_is_not_that_of_its_interval():
    data = noisy(n_systems=5)
    options, how = {"seed": 3}, IntervalMethod("bootstrap", draws=20, seed=3)
    found, method = intervals_of(data, "acc_eq_calibrated", "item", how, options)
    assert "seed 3" in method
    assert found[0].low < found[0].value < found[0].high


def test_an_interval_without_width_is_told():
    z = np.arange(6.0)
    perfect = GroupScores(None, np.stack([z, z[::-1] * [1, 1, 1, 2, 1, 1]]), z, tuple("abcdef"), None, None)
    (one, other), method = intervals_of(perfect, "kendall_b")
    assert (one.low, one.high) == (1, 1)
    assert other.low < other.high
    assert method.endswith("; at 1 and -1 it has no width, which says nothing of others")
    assert "no width" not in intervals_of(noisy(), "kendall_b")[1]


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=12))
def test_moments_are_those_of_scipy(values):
    values = np.array([*values, np.nan])
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scipy's, of values that are nearly equal
        theirs = [stats.skew(values[:-1]), stats.kurtosis(values[:-1]) + 3]
    ours = [standard_moment(values, power) for power in (3, 4)]
    known = ~np.isnan(theirs)
    assert np.array(ours)[known] == pytest.approx(np.array(theirs)[known], rel=1e-6, abs=1e-9)


def test_moments_of_a_constant_and_of_nothing_are_undefined():
    assert np.isnan(standard_moment(np.array([0.1, 0.1, 0.1]), 4))
    assert np.isnan(standard_moment(np.array([np.nan]), 4))


# --- Tests between metrics: which test goes with what, and that each finds what is there and nothing else

SYSTEMS, ITEMS = 12, 30


def grid(noise, seed=0, named=True):
    """A frame of people and of metrics that add so much noise to what people say."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(SYSTEMS, ITEMS)) + rng.normal(size=(SYSTEMS, 1))
    x = np.stack([(z + level * rng.normal(size=z.shape)).ravel() for level in noise])
    items = tuple(str(i) for _ in range(SYSTEMS) for i in range(ITEMS))
    systems = tuple(f"s{s}" for s in range(SYSTEMS) for _ in range(ITEMS)) if named else None
    return GroupScores(None, x, z.ravel(), tuple(map(str, range(z.size))), items, systems)


def by_system(frame):
    x = frame.x.reshape(len(frame.x), SYSTEMS, ITEMS).mean(axis=2)
    names = tuple(f"s{s}" for s in range(SYSTEMS))
    return GroupScores(None, x, frame.z.reshape(SYSTEMS, ITEMS).mean(axis=1), names, None, names)


def compared(frame, stat, level, test, up=None, averaging=None, options=None, **asked):
    task = Task(
        stat, level, averaging_of(stat, level, averaging), up=up or [True] * len(frame.x), options=options or {}
    )
    return compare(frame, measure(frame, task), task, MetricTest(test, draws=200, **asked))


def mean_compared(frames, stat, averaging, asked):
    return compare_means(frames, Task(stat, "segment", averaging, up=[True, True]), asked)


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
    twice = GroupScores(None, np.concatenate([frame.x, frame.x]), frame.z, frame.ids, frame.items, frame.systems)
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
    turned = GroupScores(None, frame.x * [[-1], [1]], frame.z, frame.ids, frame.items, frame.systems)
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
    frame = GroupScores(
        None, np.array(x, dtype=float), np.array([5.0, 1] * 4), tuple("abcdefgh"), tuple("11223344"), None
    )
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
    return GroupScores(f"g{seed}", x, z, tuple(map(str, range(n))), None, None)


def test_the_mean_over_groups_is_tested_whatever_the_scales_and_sizes_of_groups():
    frames = [flat([0.5, 1.5], 80, 1, 1.0), flat([0.5, 1.5], 50, 2, 1000.0)]
    asked = MetricTest("perm_both", draws=200)
    found = mean_compared(frames, "pearson", "none", asked)
    means = np.mean([[np.corrcoef(row, f.z)[0, 1] for row in f.x] for f in frames], axis=0)
    np.testing.assert_allclose(found.values, means, atol=1e-12)  # float64, one division more
    assert found.p[0, 1] < 0.05


def test_the_mean_of_equal_metrics_gives_one():
    frames = [
        GroupScores(None, np.stack([f.x[0], f.x[0]]), f.z, f.ids, None, None)
        for f in (flat([1], 30, 1, 1.0), flat([1], 40, 2, 5.0))
    ]
    assert mean_compared(frames, "kendall_b", "none", MetricTest("perm_both", draws=50)).p[0, 1] == 1


@pytest.mark.parametrize(
    ("stat", "averaging", "test"),
    [("pearson", "item", "perm_both"), ("pearson", "none", "williams")],
)
def test_some_means_over_groups_have_no_test(stat, averaging, test):
    assert mean_compared([flat([1, 2], 9, 1, 1.0)], stat, averaging, MetricTest(test)) is None


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
    return GroupScores(None, x, z, tuple(map(str, range(len(z)))), items, None)


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
    frame = GroupScores(
        None, np.array([[1.0, 0.0, 3.0, 2.0], [0.0, 1.0, 3.0, 2.0]]), np.zeros(4), tuple("abcd"), None, None
    )
    pairs = GroupScores(
        *(getattr(frame, key) for key in ("group", "x", "z", "ids", "items", "systems")), np.array([[0, 1], [2, 3]])
    )
    found = compared(pairs, "rr_kendall", "segment", "item_swap")
    assert found.values.tolist() == [1.0, 0.0]
    assert found.n_used.tolist() == [2, 2]


@pytest.mark.parametrize("test", ["item_swap", "bootstrap"])
def test_the_mean_over_groups_is_tested_by_item_and_has_an_interval(test):
    second = rated([[90, 10]], [[1, 0]], [[1, 0]])
    twice = rated([[90, 10], [90, 10]], [[1, 0], [0, 1]], [[1, 0], [0, 1]])
    task = Task("rr_kendall", "segment", "none", up=[True, True], options={"threshold": 25.0})
    found = compare_means([KENDALL, twice], task, MetricTest(test, draws=200))
    assert found.values.tolist() == [0.25, 0.0]  # means of .5 and 0, and of 0 and 0
    if test == "bootstrap":  # the second group never tells the metrics apart: half of the ends above
        assert (found.delta_low[0, 1], found.delta_high[0, 1]) == (0.0, pytest.approx(1 / 3))
        with pytest.raises(InputError, match="needs 2 or more"):
            compare_means([KENDALL, second], task, MetricTest(test, draws=20))


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
    data = GroupScores(None, 10 * data.x, np.rint(data.z), *(getattr(data, n) for n in ("ids", "items", "systems")))
    task = Task("acc_eq", "item", "item", up=[True, True], options={"epsilon": 5.0})
    found = measure(data, task)
    for test in ("item_swap", "bootstrap"):
        deltas = compare(data, found, task, MetricTest(test, draws=20)).deltas
        assert deltas[0, 1] == pytest.approx(found[0].value - found[1].value)
    for test in ("perm_both", "perm_inputs", "perm_systems"):
        with pytest.raises(InputError, match=f"{test} brings metrics to one scale, .* choose item_swap"):
            compare(data, found, task, MetricTest(test, draws=20))
    assert usual_test("acc_eq", "segment", "none", epsilon=True) is None
    assert usual_test("acc_eq", "item", "item", epsilon=True) == "item_swap"


# --- binary labels: intervals and tests take the classes that thresholds on other items tell


def labelled(n_items=60, seed=0):
    """Two outputs for each item; the first metric tells their labels well, the second as an error rate, less well."""
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 2, 2 * n_items).astype(float)
    x = [z + rng.normal(size=z.size, scale=0.4), -z + rng.normal(size=z.size, scale=1.5)]
    items = [str(i // 2) for i in range(2 * n_items)]
    return frame_of(x, z, items, [f"s{i % 2}" for i in range(2 * n_items)])


@pytest.mark.parametrize("stat", ["balanced_accuracy", "f1", "mcc"])
@pytest.mark.parametrize("options", [{}, {"threshold": 0.5}, {"folds": 3, "seed": 4}])
def test_binary_labels_have_intervals_and_tests_at_the_thresholds_found(stat, options):
    data = labelled()
    task = Task(stat, "segment", "none", up=[True, False], options=options)
    found = measure(data, task)
    ended, made = with_intervals(data, found, task, IntervalMethod(draws=200))
    assert made == "percentile bootstrap over items, 200 draws, seed 0, at the thresholds found"
    assert all(one.low <= one.value <= one.high for one in ended)
    for name in ("perm_both", "bootstrap", "perm_inputs"):
        tested = compare(data, found, task, MetricTest(name, draws=200))
        assert tested.values == pytest.approx([one.value for one in found])
        assert tested.p[0, 1] < 0.05 < tested.p[1, 0]
    assert usual_test(stat, "segment", "none") == "perm_both"


def test_binary_labels_of_several_groups_have_a_mean():
    frames = [frame_of(f.x, f.z) for f in (labelled(seed=1), labelled(seed=2))]
    task = Task("mcc", "segment", "none", up=[True, False])
    found = [measure(frame, task) for frame in frames]
    mean = np.mean([[one.value for one in of_group] for of_group in found], axis=0)
    ends = ends_of_mean(frames, task, IntervalMethod(draws=200))
    assert (ends[:, 0] < mean).all()
    assert (mean < ends[:, 1]).all()
    tested = compare_means(frames, task, MetricTest("perm_both", draws=200), found)
    assert tested.values == pytest.approx(mean)


def test_a_label_too_rare_for_thresholds_leaves_the_value_undefined_and_refuses_a_test():
    data = labelled(n_items=10)
    rare = frame_of(data.x, (np.arange(20) == 3).astype(float), data.items, data.systems)
    task = Task("f1", "segment", "none", up=[True, False])
    found = measure(rare, task)
    ended, made = with_intervals(rare, found, task, IntervalMethod(draws=20))
    assert np.isnan([(one.value, one.low, one.high) for one in ended]).all()
    assert not made
    assert found[0].note.endswith("; 1 have none, since all labels of the others are alike")
    assert ends_of_mean([frame_of(f.x, f.z) for f in (rare, data)], task, IntervalMethod(draws=20)) is None
    with pytest.raises(InputError, match="f1 finds no threshold in a fold"):
        compare(rare, found, task, MetricTest("perm_both", draws=20))


def test_a_threshold_of_pairs_is_no_less_than_0():
    with pytest.raises(InputError, match="threshold is -1, expected the least difference of two ratings"):
        value(labelled(), "preference_accuracy", threshold=-1)
