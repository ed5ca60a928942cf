"""What statsmodels has of the gate's bounds, and of the statistics beside them, is the same there.

It has no interval of Tango, no bootstrap of a t statistic and no bets; those are held by published values, full
enumeration and simulation in tests/stats/gates. Both sides call the same special functions of scipy and sum a few
numbers in another order, so that they agree to about 1e-12; 1e-9 is far from what any decision would notice.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from nlgauge.stats.draws import clopper_pearson, mean_interval, wilson
from nlgauge.stats.gate_bounds import (
    cluster_error,
    clustered,
    items_without_loss,
    studentized,
    tango_bounds,
    tango_statistic,
    worst_case_bound,
    worst_case_p,
)
from nlgauge.stats.gates import bound_difference, bound_level, with_holm
from nlgauge.stats.power import mean_power
from nlgauge.stats.ratings import cohen_kappa
from nlgauge.stats.tests import benjamini_hochberg, holm

pytest.importorskip("statsmodels")

from statsmodels.regression.linear_model import OLS
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import normal_power, normal_sample_size_one_tail
from statsmodels.stats.proportion import binom_test, proportion_confint
from statsmodels.stats.weightstats import DescrStatsW

CLOSE = 1e-9
LEVELS = st.sampled_from([0.8, 0.9, 0.95, 0.99])


def close(value):
    return pytest.approx(value, rel=CLOSE, abs=CLOSE)


@st.composite
def counts(draw):
    """Wins among n."""
    n = draw(st.integers(1, 200))
    return draw(st.integers(0, n)), n


@given(counts(), LEVELS)
def test_intervals_of_a_share(found, level):
    wins, n = found
    assert clopper_pearson(wins, n, level) == close(proportion_confint(wins, n, 1 - level, method="beta"))
    assert wilson(wins, n, level) == close(proportion_confint(wins, n, 1 - level, method="wilson"))


@given(counts(), st.floats(0.01, 0.99), st.sampled_from([0.01, 0.05, 0.1]))
def test_the_worst_case_is_the_exact_binomial(found, share, alpha):
    losing, n = found
    _, most = proportion_confint(losing, n, 2 * alpha, method="beta")
    assert worst_case_bound(losing, n, 2.0, alpha) == close(-2 * most)
    assert worst_case_p(losing, n, 2.0, -2 * share) == close(binom_test(losing, n, share, alternative="smaller"))


@pytest.mark.parametrize(("allow", "alpha"), [(0.01, 0.05), (0.05, 0.05), (0.1, 0.01)])
def test_items_without_a_loss_are_as_few_as_the_exact_binomial_lets_them_be(allow, alpha):
    n = items_without_loss(1.0, allow, alpha)
    assert binom_test(0, n, allow, alternative="smaller") <= alpha < binom_test(0, n - 1, allow, alternative="smaller")


@given(counts(), st.floats(0.05, 0.95))
def test_a_level_of_passes_is_the_exact_binomial(found, value):
    passes, n = found
    made = bound_level(np.array([1.0] * passes + [0.0] * (n - passes)), value, is_rate=True)
    assert (made.low, made.high) == close(proportion_confint(passes, n, 0.1, method="beta"))
    assert made.p_pass == close(binom_test(passes, n, value, alternative="larger"))
    assert made.p_fail == close(binom_test(passes, n, value, alternative="smaller"))


@given(st.integers(0, 40), st.integers(0, 40))
def test_at_no_difference_tangos_statistic_is_mcnemars(gains, losses):
    if gains + losses:
        table = [[50, gains], [losses, 50]]
        found = tango_statistic(gains, losses, 100 + gains + losses, 0.0)
        assert found**2 == close(mcnemar(table, exact=False, correction=False).statistic)


def test_with_many_items_tangos_interval_is_that_of_the_normal_curve():
    # both are the normal curve; Tango's takes the spread at the end of the interval, so that they differ by 1 / n
    n = 1_000_000
    values = np.repeat([1.0, -1.0, 0.0], [90_000, 110_000, 800_000])
    found = [float(end) for end in tango_bounds(90_000, 110_000, n, norm.ppf(0.975))]
    assert found == pytest.approx(DescrStatsW(values).zconfint_mean(0.05), abs=10 / n)


VALUES = st.lists(st.floats(-1, 1).map(lambda x: round(x, 3)), min_size=3, max_size=9).filter(lambda v: len({*v}) > 1)


@given(VALUES, LEVELS)
def test_the_interval_of_a_mean_is_students(values, level):
    assert mean_interval(np.array(values), level)[1:] == close(DescrStatsW(values).tconfint_mean(1 - level))


@given(VALUES, st.sampled_from([0.0, 0.05, 0.3]))
def test_few_clusters_of_one_item_have_students_bound(values, allow):
    found = bound_difference(np.array(values), list(range(len(values))), allow=allow)
    known = DescrStatsW(values)
    _, p_fail, _ = known.ttest_mean(-allow, alternative="smaller")
    assert found.method == "t"
    assert found.error == close(known.std_mean)
    # gains too rare to be among the items widen it, and never the other way
    assert found.p_fail >= p_fail - CLOSE
    assert found.high >= known.tconfint_mean(0.05, alternative="smaller")[1] - CLOSE


@pytest.mark.parametrize("n_clusters", [5, 9, 40])
def test_the_error_of_clusters_is_that_of_a_regression_on_a_constant(n_clusters):
    rng = np.random.default_rng(n_clusters)
    groups = np.sort(rng.integers(0, n_clusters, 200))
    assert len({*groups}) == n_clusters
    values = rng.normal(0, 0.1, n_clusters)[groups] + rng.normal(0.02, 0.2, 200)
    how = {"groups": groups, "use_correction": True, "df_correction": True}
    known = OLS(values, np.ones(200)).fit(cov_type="cluster", cov_kwds=how, use_t=True)
    sums, sizes = clustered(values, groups.tolist())
    assert cluster_error(sums, sizes)[0] == close(known.bse[0])
    found = bound_difference(values, groups.tolist(), allow=0.05)
    low, high = known.conf_int(0.1)[0]
    half = known.t_test(([[1.0]], [-0.05])).pvalue / 2
    if n_clusters < 10:
        assert found.method == "t"
        assert found.p_fail >= (half if values.mean() < -0.05 else 1 - half) - CLOSE
    else:  # so few clusters give no pass, and so no lower end
        assert found.low <= low + CLOSE
    # never narrower than Student's, which knows no losses or gains that are too rare to be seen
    assert found.high >= high - CLOSE


def test_resampled_t_statistics_of_normal_scores_are_students():
    """For normal scores Student's t is exact; 200 items and 20,000 draws leave .03 standard errors to chance."""
    values = np.random.default_rng(1).normal(0.01, 0.1, 200)
    low, high = (float(end[0]) for end in studentized(values, draws=20_000).bounds(0.05))
    known = DescrStatsW(values).tconfint_mean(0.1)
    assert (low, high) == pytest.approx(known, abs=0.1 * float(values.std(ddof=1)) / math.sqrt(200))


@pytest.fixture(scope="module")
def no_collection():
    """`multipletests` begins with a collection of garbage, a third of a second in a process that holds all tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gc.collect", lambda *_: 0)
        yield


@pytest.mark.usefixtures("no_collection")
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_adjusted_p_values(p):
    assert holm(np.array(p)).tolist() == close(multipletests(p, method="holm")[1].tolist())
    assert benjamini_hochberg(np.array(p)).tolist() == close(multipletests(p, method="fdr_bh")[1].tolist())


def test_any_metric_may_fail_a_gate_after_holm():
    rng = np.random.default_rng(0)
    found = [bound_difference(rng.normal(-0.08, 0.2, 60), allow=0.05) for _ in range(4)]
    adjusted = multipletests([one.p_fail for one in found], method="holm")[1]
    assert [one.p_fail for one in with_holm(found)] == close(adjusted.tolist())


def test_the_smallest_drop_and_the_items_needed_are_those_of_a_power_of_four_fifths():
    # From 100 changed items on the gate announces what the normal curve says; below, what its own rule does.
    n = 120
    values = np.random.default_rng(2).normal(0, 0.1, n)
    found, sd = bound_difference(values, allow=0.01), float(values.std(ddof=1))
    assert normal_power(found.smallest_drop / sd, n, 0.05, alternative="larger") == close(0.8)
    assert found.items_needed == math.ceil(normal_sample_size_one_tail(0.01, 0.8, 0.05, sd, sd))
    plan = mean_power(sd=sd, n=n, power=0.8, alpha=0.1)  # of two sides, of which the gate asks for one
    assert found.smallest_drop == close(plan.effect)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of its standard errors, where no label varies
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=60))
def test_kappa(labels):
    judge, people = (np.array(side, dtype=np.float64) for side in zip(*labels, strict=True))
    table = np.zeros((4, 4))
    for pair in labels:
        table[pair] += 1
    found = cohen_kappa(judge, people)
    if found.chance < 1:
        assert found.value == close(cohens_kappa(table).kappa)
