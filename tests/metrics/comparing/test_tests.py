"""The names of the tests of systems."""

import pytest

from nlgauge.core.errors import InputError
from nlgauge.metrics.comparing.tests import system_test


@pytest.mark.parametrize(
    ("name", "test", "draws"),
    [
        ("bootstrap", "bootstrap", 1000),
        ("paired_bootstrap", "bootstrap", 1000),
        ("randomization", "randomization", 10000),
        ("randomisation", "randomization", 10000),
        ("paired_randomisation", "randomization", 10000),
    ],
)
def test_a_test_has_several_names_and_sacrebleus_draws(name, test, draws):
    assert (system_test(name).name, system_test(name).draws) == (test, draws)


def test_an_unknown_test_is_refused_with_the_nearest():
    with pytest.raises(InputError, match="test is 'boostrap', expected bootstrap or randomization; did you mean 'boot"):
        system_test("boostrap")
