"""PER, by hand."""

import pytest

from nlgauge.metrics.edits.per import Per
from nlgauge.testing import check_metric, check_options


@pytest.mark.parametrize(
    ("hypothesis", "reference", "value"),
    [
        ("c b a", "a b c", 0),  # order is nothing
        ("a b x", "a b c", 1 / 3),  # one replaced
        ("a b", "a b c d", 2 / 4),  # two missing
        ("a b c d e", "a b", 3 / 2),  # three too many
        ("the the the", "the cat", 2 / 2),  # one "the" is matched: a replacement and one too many
        ("x y", "a b c", 3 / 3),
    ],
)
def test_by_hand(one, hypothesis, reference, value):
    assert one("per", hypothesis, reference) == pytest.approx(value)
    assert value <= one("wer", hypothesis, reference) + 1e-12


def test_the_contract_holds(short_segments):
    check_metric(Per(), short_segments)
    assert check_options(Per()) == []
