"""Intervals: which kind goes with what, and that they hold the value."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from nlgauge.core.errors import InputError
from nlgauge.metaeval.frames import Frame
from nlgauge.metaeval.intervals import (
    IntervalMethod,
    _share_tied,
    cautions,
    ends_of_mean,
    repeats,
    standard_moment,
    with_intervals,
)
from nlgauge.metaeval.measure import Measure, averaging_of, measure
from nlgauge.stats.draws import clopper_pearson
from nlgauge.stats.intervals import widened_ends


def frame(n_items=40, n_systems=1, seed=0, m=2, systems=True, noise=1.0):
    rng = np.random.default_rng(seed)
    z = np.round(rng.normal(size=n_items * n_systems), 1)
    x = z + noise * rng.normal(size=(m, z.size))
    items = tuple(str(i) for _ in range(n_systems) for i in range(n_items))
    names = tuple(f"s{s}" for s in range(n_systems) for _ in range(n_items)) if systems else None
    return Frame(None, x, z, tuple(map(str, range(z.size))), items, names)


def made(data, stat, level="segment", how=None, options=None, averaging=None):
    taken = Measure(stat, level, averaging_of(stat, level, averaging), [True] * len(data.x), options or {})
    return with_intervals(data, measure(data, taken), taken, how or IntervalMethod(draws=200))


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
    data = frame(n_systems=systems)
    if level == "system":
        x, z = data.x[:, :systems], data.z[:systems]
        data = Frame(None, x, z, tuple(map(str, range(systems))), None, tuple(map(str, range(systems))))
    found, told = made(data, stat, level, options={"threshold": 0.5} if stat == "wmt_kendall_like" else {})
    assert said in told
    for one in found:
        assert one.low < one.value < one.high


def test_the_exact_interval_of_a_share_is_an_option():
    data, exact = frame(n_systems=2), {"interval": "clopper-pearson"}
    found, told = made(data, "preference_accuracy", options=exact)
    plain, _ = made(data, "preference_accuracy")
    assert told == "Clopper and Pearson's interval"
    for one, other in zip(found, plain, strict=True):
        assert (one.low, one.high) == clopper_pearson(one.value * one.n_pairs, one.n_pairs)
        assert one.low < other.low < other.high < one.high


def test_fishers_interval_is_scipys():
    data = frame(m=1)
    found, _ = made(data, "pearson", how=IntervalMethod("fisher"))
    theirs = stats.pearsonr(data.x[0], data.z).confidence_interval(0.95)
    assert (found[0].low, found[0].high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_pearsons_interval_is_widened_unless_fishers_is_asked_for():
    data = frame(m=2)
    skewed = Frame(None, np.exp(data.x), np.exp(data.z), data.ids, data.items, data.systems)
    (one, _), told = made(skewed, "pearson")
    (plain, _), _ = made(skewed, "pearson", how=IntervalMethod("fisher"))
    assert told.endswith("widened by the jackknife where values are skewed")
    assert (one.low, one.high) == tuple(float(end[0]) for end in widened_ends(skewed.x, skewed.z))
    assert one.low < plain.low < one.value < plain.high < one.high


def test_outputs_of_one_item_are_not_independent_and_fisher_says_so_when_it_is_asked_for():
    _, told = made(frame(n_systems=3), "pearson", how=IntervalMethod("fisher"))
    assert "comes out too narrow" in told


@pytest.mark.parametrize(
    ("stat", "how"),
    [
        ("pearson", IntervalMethod("none")),
        ("auc", IntervalMethod("fisher")),
        ("soft_pairwise_accuracy", IntervalMethod()),
    ],
)
def test_where_there_is_no_interval_nothing_is_said(stat, how):
    data = frame(n_systems=3)
    data = Frame(None, data.x, (data.z > 0).astype(float), data.ids, data.items, data.systems)
    found, told = made(data, stat, "system" if stat.startswith("soft") else "segment", how)
    assert told == ""
    assert np.isnan([one.low for one in found]).all()


def test_products_over_a_grid_are_the_bootstrap_over_items():
    """The same items drawn, so the same ends as a bootstrap that copies entries, up to the draws.

    2000 draws leave 0.01.
    """
    data = frame(n_systems=4, m=1)
    fast, _ = made(data, "pearson", how=IntervalMethod(draws=2000))
    unnamed = Frame(None, data.x, data.z, data.ids, data.items, None)
    slow, _ = made(unnamed, "pearson", how=IntervalMethod(draws=2000))
    assert (fast[0].low, fast[0].high) == pytest.approx((slow[0].low, slow[0].high), abs=0.02)


def test_the_same_seed_gives_the_same_interval():
    data = frame(n_systems=3)
    one, other = (made(data, "kendall_b", "item", IntervalMethod(draws=50, seed=5))[0] for _ in range(2))
    assert [c.low for c in one] == [c.low for c in other]


def test_one_item_alone_has_no_interval_over_items():
    data = frame(n_items=1, n_systems=6)
    found, told = made(data, "kendall_b", "item")
    assert told == ""
    assert np.isnan(found[0].low)


def test_the_mean_over_groups_has_an_interval_from_draws_of_segments():
    groups = [frame(60, seed=1, m=1), frame(80, seed=2, m=1)]
    mean = np.mean([np.corrcoef(g.x[0], g.z)[0, 1] for g in groups])
    ((low, high),) = ends_of_mean(groups, Measure("pearson", "segment", "none", [True]), IntervalMethod(draws=500))
    assert low < mean < high
    assert high - low < 0.4  # 140 segments: about 4 / sqrt(140) (1 - r^2)


@pytest.mark.parametrize(
    ("averaging", "how"),
    [("item", IntervalMethod()), ("none", IntervalMethod("none")), ("none", IntervalMethod("fisher"))],
)
def test_other_means_over_groups_have_none(averaging, how):
    assert ends_of_mean([frame(), frame(seed=1)], Measure("pearson", "segment", averaging, [True, True]), how) is None


def test_groups_whose_items_have_several_outputs_have_no_interval_of_their_mean():
    assert (
        ends_of_mean([frame(n_systems=2)], Measure("pearson", "segment", "none", [True, True]), IntervalMethod())
        is None
    )


def test_repeated_items_are_seen():
    assert repeats(frame(n_systems=2))
    assert not repeats(frame())


def test_an_unknown_kind_is_refused():
    with pytest.raises(InputError, match="intervals is 'fischer'; did you mean 'fisher'"):
        IntervalMethod("fischer")


def test_fishers_interval_covers_the_truth_as_often_as_it_says():
    """r = 0.6, 40 pairs, 200 data sets: 95 % within 4.6 standard errors (0.0154) of it."""
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(200):
        z = rng.normal(size=40)
        x = 0.6 * z + 0.8 * rng.normal(size=40)
        data = Frame(None, x[None], z, tuple(map(str, range(40))), None, None)
        found, _ = made(data, "pearson")
        covered += found[0].low < 0.6 < found[0].high
    assert 0.88 <= covered / 200 <= 1


def cautioned(data, stat, how=None, **options):
    taken = Measure(stat, "segment", averaging_of(stat, "segment", None), [True] * len(data.x), options)
    _, told = with_intervals(data, measure(data, taken), taken, how or IntervalMethod(draws=50))
    return cautions(data, taken, told)


def single(x, z):
    ids = tuple(map(str, range(len(z))))
    return Frame(None, np.asarray(x, float)[None], np.asarray(z, float), ids, ids, None)


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
    taken = Measure("pearson", "system", "none", [True], {})
    made_by = IntervalMethod("bootstrap", draws=50).of_draws("systems")
    (said,) = cautions(single(z[:8], z[:8]), taken, made_by)
    assert "from 8 systems too narrow" in said
    assert cautions(single(z, z), taken, made_by) == []


def test_the_share_of_pairs_that_are_tied_by_hand():
    assert _share_tied(np.array([1, 1, 2, np.nan])) == pytest.approx(1 / 3)  # of three pairs one
    assert _share_tied(np.array([1.0])) == 0


def test_the_seed_of_a_statistic_is_not_that_of_its_interval():
    data = frame(n_systems=5)
    options, how = {"seed": 3}, IntervalMethod("bootstrap", draws=20, seed=3)
    found, told = made(data, "acc_eq_calibrated", "item", how, options)
    assert "seed 3" in told
    assert found[0].low < found[0].value < found[0].high


def test_an_interval_without_width_is_told():
    z = np.arange(6.0)
    perfect = Frame(None, np.stack([z, z[::-1] * [1, 1, 1, 2, 1, 1]]), z, tuple("abcdef"), None, None)
    (one, other), told = made(perfect, "kendall_b")
    assert (one.low, one.high) == (1, 1)
    assert other.low < other.high
    assert told.endswith("; at 1 and -1 it has no width, which says nothing of others")
    assert "no width" not in made(frame(), "kendall_b")[1]


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


def test_a_plain_correlation_loads_no_distributions():
    code = (
        "import sys, numpy as np, nlgauge as ng; rng = np.random.default_rng(0);"
        "data = ng.Dataset([ng.Segment(str(i), 'a', ('b',), human={'q': float(i)}) for i in range(40)]);"
        "found = ng.meta_evaluate(data, scores={'m': rng.normal(size=40)}, criterion='q');"
        "print('scipy.stats' in sys.modules, len(found.rows))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False 2"
