"""Values that are equal on paper are equal, at any scale by ten; other values stay apart."""

import warnings
from itertools import combinations

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.stats import coefficients
from nlgauge.stats.coefficients import (
    acc_eq,
    auc,
    average_ranks,
    balanced_accuracy,
    best_threshold,
    chance_acc_eq,
    chance_acc_eq_calibrated,
    chance_preference,
    chance_soft_pairwise,
    decimals,
    f1,
    human_ties,
    inversions,
    is_constant,
    kendall_b,
    kendall_c,
    mcc,
    pair_counts,
    pearson,
    settled,
    slack,
    spearman,
    tau_eq,
    tied_by_people,
    tied_pairs,
)
from nlgauge.stats.entries import Entries, by_group
from nlgauge.stats.preferences import preference_accuracy

tenths = st.lists(st.integers(-40, 40), min_size=2, max_size=12)


def test_decimals_leave_twelve_digits_of_the_largest():
    assert decimals(np.array([0.3, -2.5, np.nan])) == 11  # 2.50000000000
    assert decimals(np.array([100.0])) == 9
    assert decimals(np.array([1e15])) == -4
    assert decimals(np.array([0.0, np.nan])) == 0


def test_sums_in_another_order_are_one_value():
    found = settled(np.array([0.1 + 0.2, 0.3, (0.1 + 0.7) - 0.5, np.nan, -0.0]))
    assert found[:3].tolist() == [0.3] * 3
    assert np.isnan(found[3])
    assert str(found[4]) == "0.0"


def test_values_that_differ_in_the_eleventh_digit_stay_apart():
    values = np.array([1.0, 1.00000000002, 1.00000000004])
    assert settled(values).tolist() == values.tolist()


@given(tenths, st.integers(-6, 6))
def test_what_was_written_with_few_digits_stays_what_it_is(numbers, power):
    values = np.array([float(f"{n}e{power}") for n in numbers])
    assert settled(values).tolist() == (values + 0.0).tolist()


@pytest.mark.parametrize("values", [[1e-320, 2e-320], [1e308, -1e308], [0.0, 0.0], [np.nan, np.nan]])
def test_the_ends_of_float64_come_through(values):
    # powers of ten above 22 are themselves rounded
    assert settled(np.array(values)) == pytest.approx(np.array(values), rel=1e-15, nan_ok=True)


def test_slack_is_below_a_step_and_above_the_error_of_a_difference():
    values = np.array([0.8, 0.6])
    assert abs((0.8 - 0.6) - 0.2) < slack(values) < 10.0 ** -decimals(values) / 10


@pytest.mark.parametrize("scale", [0.1, 1, 10, 100])
def test_scores_an_epsilon_apart_are_tied_at_any_scale(scale):
    # 0.8 - 0.6 is 0.20000000000000007 in float64; people tie the pair
    x = [0.8 * scale, 0.6 * scale]
    assert ng.correlation("acc_eq", x, [1, 1], epsilon=0.2 * scale).value == 1
    assert ng.correlation("acc_eq", x, [1, 1], epsilon=0.19 * scale).value == 0


def test_a_package_that_is_followed_compares_as_float64_does():
    raw = ng.correlation("acc_eq", [0.8, 0.6], [1, 1], epsilon=0.2, compat="mt-metrics-eval")
    assert raw.value == 0
    assert ng.correlation("acc_eq", [1, 1], [0.1 + 0.2, 0.3], compat="mt-metrics-eval").value == 0


@pytest.mark.parametrize("stat", ["spearman", "kendall_b", "kendall_c", "acc_eq", "tau_eq", "acc_eq_calibrated"])
def test_ratings_that_are_equal_on_paper_tie(stat):
    scores = [1.0, 2.0, 3.0, 4.0]
    apart, same = [0.1 + 0.2, 0.3, 0.5, 0.4], [0.3, 0.3, 0.5, 0.4]
    assert ng.correlation(stat, scores, apart).value == ng.correlation(stat, scores, same).value


def test_means_of_systems_that_are_equal_on_paper_tie():
    # the ratings of a and b are .1 .2 .6 and .6 .2 .1: in float64 the means differ; the metric ties a and b, too
    human = np.array([[0.1, 0.2, 0.6], [0.6, 0.2, 0.1], [0.9, 0.9, 0.9]])
    scores = np.array([[1.0, 1, 1], [1, 1, 1], [2, 2, 2]])
    assert ng.correlation("pairwise_accuracy", scores, human, level="system").value == 1


@given(tenths, st.data())
def test_a_grid_of_tenths_has_one_value_at_any_scale(numbers, data):
    z = data.draw(st.lists(st.integers(0, 3), min_size=len(numbers), max_size=len(numbers)))
    near = data.draw(st.integers(0, 10))
    for stat, options in (("acc_eq", True), ("tau_eq", True), ("acc_eq_calibrated", False), ("kendall_b", False)):
        found = [
            ng.correlation(stat, [n * s for n in numbers], z, **({"epsilon": near * s} if options else {})).value
            for s in (1.0, 0.1, 10.0)
        ]
        assert found == pytest.approx([found[0]] * 3, abs=0, nan_ok=True)


def test_a_missing_judgement_is_passed_over():
    assert slack(np.array([0.5, np.nan, 2.0])) == slack(np.array([0.5, 2.0]))


@pytest.mark.parametrize(
    ("stat", "options"),
    [("acc_eq_calibrated", {}), ("acc_eq_calibrated", {"human_epsilon": 0.5}), ("wmt_kendall_like", {"threshold": 1})],
)
def test_an_item_without_a_judgement_changes_nothing_for_the_others(stat, options):
    human, scores = [[4.0, 3.0, 3.0], [1.0, 2.0, 2.5]], [[0.9, 0.7, 0.65], [0.1, 0.3, 0.25]]
    found = ng.correlation(stat, scores, human, averaging="sys", **options)
    more = [[*row, None] for row in human], [[*row, 0.5] for row in scores]
    with_gap = ng.correlation(stat, more[1], more[0], averaging="sys", **options)
    assert (with_gap.value, with_gap.epsilon) == pytest.approx((found.value, found.epsilon), nan_ok=True)


FIELDS = ["concordant", "discordant", "tied_x", "tied_z", "tied_both"]
vectors = st.integers(1, 12).flatmap(lambda n: st.tuples(*[st.lists(st.integers(-3, 3), min_size=n, max_size=n)] * 2))


def counted(x, z, epsilon=0.0, human_epsilon=0.0):
    """The definition, pair by pair."""
    found = dict.fromkeys(FIELDS, 0)
    for (a, c), (b, d) in combinations(zip(x, z, strict=True), 2):
        tied_x, tied_z = abs(a - b) <= epsilon, abs(c - d) <= human_epsilon
        if tied_x or tied_z:
            found["tied_both" if tied_x and tied_z else "tied_x" if tied_x else "tied_z"] += 1
        else:
            found["concordant" if (a > b) == (c > d) else "discordant"] += 1
    return list(found.values())


def fields(counts):
    return [int(getattr(counts, field)) for field in FIELDS]


def test_six_pairs_by_hand():
    # x: 1 2 2 3, z: 1 1 1 0. Pairs 12 13 14 23 24 34: tied in z, tied in z, discordant, tied in both, discordant,
    # discordant
    counts = pair_counts([1, 2, 2, 3], [1, 1, 1, 0])
    assert fields(counts) == [0, 3, 0, 2, 1]
    assert (int(counts.total), int(counts.untied_x), int(counts.untied_z), int(counts.net)) == (6, 5, 3, -3)


@given(vectors)
def test_both_ways_of_counting_follow_the_definition(xz):
    x, z = (np.array(v, dtype=float) for v in xz)
    assert fields(pair_counts(x, z)) == counted(x, z)
    assert fields(coefficients._by_sorting(x, z)) == counted(x, z)


@given(vectors, st.sampled_from([0.0, 1.0, 1.5, 2.0, 9.0]), st.sampled_from([0.0, 1.0]))
def test_epsilon_ties_what_is_no_further_apart(xz, epsilon, human_epsilon):
    x, z = (np.array(v, dtype=float) for v in xz)
    assert fields(pair_counts(x, z, epsilon=epsilon, human_epsilon=human_epsilon)) == counted(
        x, z, epsilon, human_epsilon
    )


@pytest.mark.parametrize("n", [199, 200, 201, 400])
def test_sorting_and_comparing_agree_across_the_switch(n):
    rng = np.random.default_rng(n)
    x, z = rng.integers(0, 40, size=(2, 3, n)).astype(float)
    compared = coefficients._by_comparing(x, z, np.zeros(1), 0.0, (3,))
    for field in FIELDS:
        assert getattr(pair_counts(x, z), field).tolist() == getattr(compared, field).tolist()


def test_zero_ties_with_minus_zero():
    assert fields(pair_counts([0.0, -0.0], [1, 2])) == [0, 0, 1, 0, 0]
    assert fields(coefficients._by_sorting(np.array([0.0, -0.0]), np.array([1.0, 2.0]))) == [0, 0, 1, 0, 0]


def test_leading_axes_broadcast_and_large_input_is_cut(monkeypatch):
    rng = np.random.default_rng(0)
    x, z = rng.integers(0, 4, size=(5, 7, 6)).astype(float), rng.integers(0, 3, size=(7, 6)).astype(float)
    epsilon = np.arange(5.0)[:, None]
    whole = pair_counts(x, z, epsilon=epsilon)
    monkeypatch.setattr(coefficients, "_CELLS", 6)
    cut = pair_counts(x, z, epsilon=epsilon)
    for field in FIELDS:
        assert getattr(cut, field).tolist() == getattr(whole, field).tolist()
    assert whole.total.shape == (5, 7)
    assert [int(getattr(whole, f)[4, 2]) for f in FIELDS] == counted(x[4, 2], z[2], 4.0)


def test_more_pairs_at_one_distance_than_a_byte_holds():
    x = np.arange(300.0)
    assert int(pair_counts(x, x, epsilon=0.5).concordant) == 300 * 299 // 2


@given(st.lists(st.integers(-4, 4), max_size=20))
def test_inversions_are_falling_pairs(values):
    assert int(inversions(np.array(values, dtype=float))) == sum(a > b for a, b in combinations(values, 2))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=15))
def test_tied_pairs_are_equal_pairs_of_a_sorted_vector(values):
    ordered = np.sort(np.array(values))
    assert int(tied_pairs(ordered[1:] == ordered[:-1])) == sum(a == b for a, b in combinations(values, 2))


def test_refusals():
    with pytest.raises(InputError, match=r"shapes \(3,\) and \(2,\), expected equal lengths"):
        pair_counts([1, 2, 3], [1, 2])
    with pytest.raises(InputError, match="epsilon is negative or NaN"):
        pair_counts([1, 2], [1, 2], epsilon=-0.1)


CORRELATIONS = [pearson, spearman, kendall_b, kendall_c]
THEIRS = {
    pearson: lambda x, z: scipy.stats.pearsonr(x, z)[0],
    spearman: lambda x, z: scipy.stats.spearmanr(x, z)[0],
    kendall_b: lambda x, z: scipy.stats.kendalltau(x, z)[0],
    kendall_c: lambda x, z: scipy.stats.kendalltau(x, z, variant="c")[0],
}
EACH = pytest.mark.parametrize("coefficient", CORRELATIONS)
tied = st.integers(2, 30).flatmap(lambda n: st.tuples(*[st.lists(st.integers(-5, 5), min_size=n, max_size=n)] * 2))
real = st.integers(3, 20).flatmap(
    lambda n: st.tuples(*[st.lists(st.floats(-1, 1).map(lambda v: round(v, 6)), min_size=n, max_size=n)] * 2)
)


def test_pearson_by_hand():
    # means 2 and 2; deviations (-1, 0, 1) and (-1, 1, 0): 1 / sqrt(2 x 2)
    assert pearson([1, 2, 3], [1, 3, 2]) == pytest.approx(1 / 2)


def test_spearman_by_hand_with_a_tie():
    # ranks 1 2.5 2.5 4 and 1 2 3 4: deviations (-1.5 0 0 1.5), (-1.5 -.5 .5 1.5): 4.5 / sqrt(4.5 x 5).
    # The short form 1 - 6 sum d^2 / (n^3 - n) would say 0.95.
    assert spearman([10, 20, 20, 90], [1, 2, 3, 4]) == pytest.approx(4.5 / np.sqrt(22.5))
    assert spearman([10, 20, 20, 90], [1, 2, 3, 4]) != pytest.approx(0.95, abs=1e-3)


def test_kendall_by_hand():
    # pairs of (1 2 2 3) with (1 3 2 2): C 12 13 14, D 24, tied in x 23, tied in z 34.
    # b: (3 - 1) / sqrt(5 x 5); c: three distinct values on either side: 2 x 2 / (16 x 2/3)
    x, z = [1, 2, 2, 3], [1, 3, 2, 2]
    assert kendall_b(x, z) == pytest.approx(2 / 5)
    assert kendall_c(x, z) == pytest.approx(4 / (16 * 2 / 3))


def test_acc_eq_by_hand():
    # the same pairs: 3 of 6 agree; tau_eq = (3 - 3) / 6. With epsilon 1 only 14 is left untied in x and concordant, 34
    # ties in both: 2 of 6
    x, z = [1, 2, 2, 3], [1, 3, 2, 2]
    assert (float(acc_eq(x, z)), float(tau_eq(x, z))) == (0.5, 0.0)
    assert acc_eq(x, z, epsilon=1) == pytest.approx(2 / 6)
    assert tau_eq(x, z, epsilon=1) == pytest.approx(-2 / 6)


@EACH
@given(xz=st.one_of(tied, real))
def test_agrees_with_scipy(coefficient, xz):
    assume(len(set(xz[0])) > 1 and len(set(xz[1])) > 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = THEIRS[coefficient](*xz)
    # rounding of a dozen float64 operations; Pearson of values as close as 1e-6 loses six of sixteen digits on scipy's
    # side
    assert coefficient(*xz) == pytest.approx(theirs, abs=1e-9)


@EACH
@given(xz=tied)
def test_symmetric_bounded_and_free_of_order_and_scale(coefficient, xz):
    x, z = (np.array(v, dtype=float) for v in xz)
    value = coefficient(x, z)
    order = np.random.default_rng(0).permutation(len(x))
    for other in (coefficient(z, x), coefficient(x[order], z[order]), coefficient(3 * x + 7, z), -coefficient(-x, z)):
        assert other == pytest.approx(float(value), abs=1e-12, nan_ok=True)  # the same sums in another order
    assert np.isnan(value) or -1 <= value <= 1


@EACH
def test_a_constant_side_or_a_single_entry_is_undefined(coefficient):
    assert np.isnan(coefficient([2, 2, 2], [1, 2, 3]))
    assert np.isnan(coefficient([1, 2, 3], [2, 2, 2]))
    assert np.isnan(coefficient([1], [1]))
    assert np.isnan(coefficient([], []))


@EACH
def test_a_constant_that_was_computed_is_a_constant(coefficient):
    # 0.1 + 0.2 is 0.30000000000000004: scipy finds r = 0.1195 here, made of rounding alone
    assert np.isnan(coefficient([0.1 + 0.2, 0.3, 0.3, 0.1 + 0.2], [1, 2, 3, 5]))


@EACH
def test_two_entries_give_exactly_one(coefficient):
    assert coefficient([0.1, 0.3], [1 / 3, 7.7]) == 1
    assert coefficient([0.1, 0.3], [7.7, 1 / 3]) == -1


@EACH
def test_an_offset_of_1e9_costs_no_digits(coefficient):
    rng = np.random.default_rng(0)
    x, z = rng.integers(0, 1 << 20, size=(2, 50)) / 1024  # sums with 1e9 are exact
    assert coefficient(x + 1e9, z - 1e9) == pytest.approx(float(coefficient(x, z)), abs=1e-13)


def test_values_of_1e200_do_not_overflow():
    x = np.array([1.0, 3, 2, 5])
    assert pearson(x * 1e200, [1, 2, 3, 4]) == pytest.approx(float(pearson(x, [1, 2, 3, 4])), abs=1e-15)
    assert pearson(x * 1e-200, [1, 2, 3, 4]) == pytest.approx(float(pearson(x, [1, 2, 3, 4])), abs=1e-15)


@EACH
def test_a_nan_among_the_entries_makes_its_vector_undefined_and_no_other(coefficient):
    x = np.array([[1, 2, np.nan, 4], [1, 3, 2, 4]])
    values = coefficient(x, [1, 2, 3, 4])
    assert np.isnan(values[0])
    assert values[1] == coefficient(x[1], [1, 2, 3, 4])
    assert np.isnan(acc_eq(x, [1, 2, 3, 4])[0])


@EACH
@pytest.mark.parametrize("n", [5, 250])
def test_many_vectors_at_once_give_what_each_gives_alone(coefficient, n):
    rng = np.random.default_rng(1)
    x, z = rng.integers(0, 9, size=(3, 4, n)), rng.integers(0, 5, size=(4, n))
    together = coefficient(x, z)
    assert together.shape == (3, 4)
    # sums along another axis order may differ in the last digit
    np.testing.assert_allclose(together, [[coefficient(x[i, j], z[j]) for j in range(4)] for i in range(3)], atol=1e-14)


@pytest.mark.parametrize("near", [0.0, 0.25, 0.5])
def test_a_threshold_at_equality_ties(near):
    # 0.75 - 0.5 and 0.5 are exact in binary: 0.25 ties at 0.25
    tied_pairs = sum(d <= near for d in (0.25, 0.25, 0.5))
    assert acc_eq([0.5, 0.75, 0.25], [1, 1, 1], epsilon=near) == pytest.approx(tied_pairs / 3)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=20))
def test_ranks_agree_with_scipy(values):
    assert average_ranks(values).tolist() == scipy.stats.rankdata(values).tolist()


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=9), st.floats(1e-3, 1e3))
def test_constancy_does_not_depend_on_scale(values, scale):
    v = np.array(values)
    assume(np.ptp(v) == 0 or np.ptp(v) > 1e-6)
    assert is_constant(v) == (np.ptp(v) == 0)
    assert is_constant(v * scale) == is_constant(v)


def test_auc_by_hand():
    # positives 3 and 1 against negatives 2, 1, 0: wins 3 + 1, one tie: (4 + 0.5) / 6
    assert auc([3, 1, 2, 1, 0], [1, 1, 0, 0, 0]) == pytest.approx(4.5 / 6)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 1)), min_size=2, max_size=20))
def test_auc_is_the_scaled_rank_sum(data):
    x, z = np.array(data, dtype=float).T
    good, bad = x[z == 1], x[z == 0]
    if not len(good) or not len(bad):
        assert np.isnan(auc(x, z))
        return
    u = scipy.stats.mannwhitneyu(good, bad).statistic
    assert auc(x, z) == pytest.approx(u / (len(good) * len(bad)))
    assert auc(np.stack([x, -x]), z).sum() == pytest.approx(1)


def test_auc_takes_two_classes():
    with pytest.raises(InputError, match="classes 0 and 1, got 2"):
        auc([1, 2, 3], [0, 1, 2])


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


# --- binary labels


@pytest.mark.parametrize(
    ("statistic", "value"),
    [
        # at 2 and above: 3 and 2 are right and 4 is wrong; below 1 is missed and 0 is right: tp 2, fp 1, fn 1, tn 1
        (balanced_accuracy, (2 / 3 + 1 / 2) / 2),
        (f1, 2 * 2 / (2 * 2 + 1 + 1)),
        (mcc, (2 * 1 - 1 * 1) / np.sqrt(3 * 3 * 2 * 2)),
    ],
)
def test_binary_labels_by_hand(statistic, value):
    x, z = np.array([3, 2, 1, 4, 0]), np.array([1, 1, 1, 0, 0])
    assert statistic(x, z, threshold=2) == pytest.approx(value)
    assert np.isnan(statistic(x, np.ones(5), threshold=2))  # one class
    assert np.isnan(statistic(np.array([3, np.nan]), np.array([0, 1]), threshold=2))
    both = statistic(np.stack([x, -x]), z, threshold=np.array([2, -2]))  # -x >= -2 tells the other class but at 2
    assert both[0] == pytest.approx(value)


def test_one_class_told_is_chance():
    x, z = np.zeros(4), np.array([1, 0, 0, 1])
    assert [float(s(x, z, threshold=t)) for s in (balanced_accuracy, mcc) for t in (0, 1)] == [0.5, 0.5, 0, 0]
    assert f1(x, z, threshold=1) == 0
    assert f1(x, z, threshold=0) == pytest.approx(2 / 3)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 1)), min_size=2, max_size=60), st.integers(0, 10))
def test_binary_labels_are_those_of_scikit_learn(pairs, threshold):
    metrics = pytest.importorskip("sklearn.metrics")
    x, z = np.array(pairs, dtype=np.float64).T
    if 0 < z.sum() < len(z):
        told = (x >= threshold).astype(int)
        assert balanced_accuracy(x, z, threshold=threshold) == pytest.approx(metrics.balanced_accuracy_score(z, told))
        assert f1(x, z, threshold=threshold) == pytest.approx(metrics.f1_score(z, told), abs=1e-12)
        assert mcc(x, z, threshold=threshold) == pytest.approx(metrics.matthews_corrcoef(z, told), abs=1e-12)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 1)), min_size=2, max_size=40))
def test_the_best_threshold_is_the_lowest_of_the_best(pairs):
    x, z = np.array(pairs, dtype=np.float64).T
    for statistic in (balanced_accuracy, f1, mcc):
        best = best_threshold(x, z, statistic)
        if not 0 < z.sum() < len(z):
            assert np.isnan(best)
            continue
        scores = np.unique(x)
        cuts = [-np.inf, *((scores[1:] + scores[:-1]) / 2)]
        values = np.array([statistic(x, z, threshold=cut) for cut in cuts])
        assert best == cuts[int(np.flatnonzero(values >= values.max() - 1e-12)[0])]
        assert statistic(x, z, threshold=best) >= statistic(x, z, threshold=np.inf) - 1e-12


def test_a_threshold_lies_between_neighbours_however_near():
    low = 1.0
    high = np.nextafter(low, 2)
    cut = best_threshold(np.array([low, high]), np.array([0, 1]), balanced_accuracy)
    assert low < cut <= high
    assert best_threshold(np.array([1.0, 3.0]), np.array([0, 1]), mcc) == 2


def test_labels_are_two_classes():
    with pytest.raises(InputError, match="mcc takes classes 0 and 1, got 2"):
        mcc([1, 2, 3], [0, 1, 2])
