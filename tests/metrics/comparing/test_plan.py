"""How systems are to be compared: one test under every name, and options that change nothing."""

import pytest

from nlgauge.core.errors import InputError
from nlgauge.metrics.comparing.plan import ComparisonOptions


def test_every_name_of_a_test_is_one_test_in_a_result_file():
    for name in ("randomization", "randomisation", "paired_randomisation"):
        found = ComparisonOptions(test=name)
        assert found == ComparisonOptions(test="randomization")
        assert found.settings == {
            "test": "randomization", "draws": 10000, "seed": 0, "adjust": "none", "confidence": 0.95
        }  # fmt: skip


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ({}, {}),
        ({"intervals": True}, {"test": None, "draws": 1000, "seed": 0, "adjust": None}),
        ({"test": "bootstrap", "pairs": True}, {"test": "bootstrap", "draws": 1000, "seed": 0, "adjust": "holm"}),
        ({"test": "bootstrap", "compat": "sacrebleu"}, {"draws": 1000, "seed": 12345}),
        ({"test": "bootstrap", "compat": "sacrebleu", "seed": 3, "draws": 7}, {"draws": 7, "seed": 3}),
    ],
)
def test_what_is_not_given_is_settled_by_the_test(options, settings):
    found = ComparisonOptions(**options).settings
    assert {name: found[name] for name in settings} == settings
    assert bool(found) == bool(settings)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test": "t-test"}, "test is 't-test'; known: bootstrap"),
        ({"test": "bootstrap", "adjust": "bonferroni"}, "adjust is 'bonferroni'"),
        ({"test": "bootstrap", "draws": 0}, "draws is 0, expected 1 or more"),
        ({"intervals": True, "compat": "nonsense"}, "compat is 'nonsense'"),
    ],
)
def test_words_and_numbers_that_are_not_known_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        ComparisonOptions(**options)
