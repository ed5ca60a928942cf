"""Values that are equal on paper are equal, at any scale by ten; other values stay apart."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.stats.correlation.rounding import decimals, settled, slack

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
