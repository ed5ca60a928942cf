from __future__ import annotations

from nlgauge.core.segment import Segment
from nlgauge.metrics.external.spice import Spice
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric


def test_the_contract_holds(other_python):
    check_metric(Spice(python=str(other_python)))


def test_all_references_are_held_against_it_together(other_python):
    found = Spice(python=str(other_python)).score([Segment("1", "a\nb", ("a", "b"))], Runtime())
    assert found.values.tolist() == [1]  # of the stand-in: both words are in one of the references
    assert {name: column.tolist() for name, column in found.parts.items()} == {"precision": [1], "recall": [1]}
