import math

import numpy as np
import pytest
import scipy.stats

from nlgauge.core.errors import InputError
from nlgauge.stats.coefficients import pearson
from nlgauge.stats.power import accuracy_power, correlation_power, critical_correlation, mean_power, simulated_power


def test_size_for_a_correlation_by_hand():
    # z 1.959964 + 0.841621 = 2.801585, atanh 0.3 = 0.309520: (9.0514)^2 + 3 = 84.93
    assert correlation_power(effect=0.3, power=0.8).n == 85
    assert correlation_power(effect=-0.3, power=0.8).n == 85


def test_smallest_mean_difference_by_hand():
    # 2.801585 x 0.5 / sqrt(100)
    assert mean_power(sd=0.5, n=100, power=0.8).effect == pytest.approx(0.140079, abs=1e-6)


def test_smallest_accuracy_difference_by_hand():
    # a fifth of 373 pairs is discordant: 2.801585 x sqrt(0.2 / 373)
    assert accuracy_power(discordant=0.2, n=373, power=0.8).effect == pytest.approx(0.064873, abs=1e-6)


@pytest.mark.parametrize(
    ("solve", "fixed", "effect"),
    [
        (correlation_power, {}, 0.25),
        (mean_power, {"sd": 2.0}, 0.4),
        (accuracy_power, {"discordant": 0.3}, 0.1),
    ],
)
def test_each_of_three_follows_from_the_other_two(solve, fixed, effect):
    planned = solve(**fixed, effect=effect, power=0.9)
    assert solve(**fixed, effect=effect, n=planned.n).power >= 0.9
    assert solve(**fixed, effect=effect, n=planned.n - 1).power < 0.9
    assert solve(**fixed, n=planned.n, power=0.9).effect <= effect


def test_planned_power_is_what_a_simulation_finds():
    # 3000 samples of 85 with a correlation of 0.3: sd of the share 0.007, four of them
    rng = np.random.default_rng(0)
    z = rng.normal(size=(3000, 85))
    x = 0.3 * z + math.sqrt(1 - 0.09) * rng.normal(size=z.shape)
    found = np.mean(np.abs(pearson(x, z)) >= critical_correlation(85))
    assert found == pytest.approx(correlation_power(effect=0.3, n=85).power, abs=0.03)


@pytest.mark.parametrize("n", [3, 4, 11, 25, 200])
def test_the_critical_correlation_has_p_of_exactly_alpha(n):
    r = critical_correlation(n)
    t = r * math.sqrt((n - 2) / (1 - r * r))
    assert 2 * scipy.stats.t.sf(t, n - 2) == pytest.approx(0.05)


def test_eleven_systems_need_a_correlation_of_point_six():
    assert critical_correlation(11) == pytest.approx(0.602, abs=5e-4)
    assert math.isnan(critical_correlation(2))


def fisher_difference(first, second, z):
    """A rough test of two correlations as if they were independent.

    Enough to have a p-value that depends on the data.
    """
    gap = math.atanh(float(pearson(first, z))) - math.atanh(float(pearson(second, z)))
    return 2 * scipy.stats.norm.sf(abs(gap) / math.sqrt(2 / (len(z) - 3)))


def test_simulated_power_grows_with_systems_and_with_the_difference():
    rng = np.random.default_rng(1)
    z = rng.normal(size=40)
    good, fair, bad = (z + sd * rng.normal(size=40) for sd in (0.4, 0.5, 3.0))
    few, many = (simulated_power(fisher_difference, good, bad, z, n_systems=n) for n in (8, 40))
    assert few.value < many.value
    assert many.low <= many.value <= many.high
    assert simulated_power(fisher_difference, good, fair, z).value < many.value
    assert (many.n_systems, many.n_used, many.n_undefined) == (40, 200, 0)


def test_data_sets_without_a_p_value_are_counted():
    grid = np.arange(12.0).reshape(4, 3)
    found = simulated_power(lambda a, b, c: math.nan if a[0, 0] == a[1, 0] else 0.01, grid, grid, grid, data_sets=400)
    assert found.value == 1.0
    assert found.n_undefined / 400 == pytest.approx(0.25, abs=0.09)  # sd 0.022, four of them


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: correlation_power(effect=0.3), "give two of effect, n and power"),
        (lambda: correlation_power(effect=0.3, n=50, power=0.8), "give two of effect, n and power"),
        (lambda: correlation_power(effect=1.0, power=0.8), "effect is 1.0"),
        (lambda: correlation_power(n=3, power=0.8), "n is 3, expected more than 3"),
        (lambda: mean_power(sd=0, n=5, power=0.8), "sd is 0"),
        (lambda: mean_power(sd=1, effect=0, power=0.8), "effect is 0"),
        (lambda: mean_power(sd=1, n=10, power=80), "level is 80"),
        (lambda: mean_power(sd=1, n=10, power=0.01), "gives away for nothing"),
        (lambda: mean_power(sd=1, n=10, power=0.8, alpha=5), "alpha is 5"),
        (lambda: accuracy_power(discordant=0, n=10, power=0.8), "discordant is 0"),
        (lambda: accuracy_power(discordant=0.1, effect=0.2, power=0.8), "more than the share of pairs"),
        (
            lambda: simulated_power(fisher_difference, np.zeros(4), np.zeros(3), np.zeros(4)),
            "there are 4, 3 and 4 rows",
        ),
        (lambda: simulated_power(fisher_difference, np.zeros(2), np.zeros(2), np.zeros(2)), "3 systems or more, got 2"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_no_difference_of_accuracies_exceeds_the_discordant_share():
    # 2.80 sqrt(0.2 / 5) = 0.56 is more than 0.2; with 40 pairs it is 0.198
    with pytest.raises(InputError, match=r"with n = 5 and power 0.8 no difference is found: .* 0.560"):
        accuracy_power(discordant=0.2, n=5, power=0.8)
    assert accuracy_power(discordant=0.2, n=41, power=0.8).effect == pytest.approx(0.196, abs=1e-3)
