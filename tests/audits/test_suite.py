"""Suites by the name of their kind: each kind has a maker, and refuses what belongs to the other."""

import pytest

from nlgauge.audits.suite import KINDS, suite
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.segment import Dataset, Segment

TEXT, OTHER = "The old farmer sold 12 horses in the village.", "In the village an aged farmer parted with 12 horses."
DATA = Dataset((Segment("s0", "a hypothesis", (TEXT, OTHER), group="mt"),), "words")


@pytest.mark.parametrize(("kind", "design"), [("checklist", "checklist"), ("menli", "preference")])
def test_every_kind_can_be_made(kind, design):
    assert suite(kind, DATA).design == design
    assert kind in KINDS


def test_an_unknown_kind_is_refused():
    with pytest.raises(SpecError, match="unknown suite 'checklst'; did you mean 'checklist'"):
        suite("checklst", DATA)


@pytest.mark.parametrize(
    ("kind", "options", "says"),
    [
        ("menli", {"criterion": "fluency"}, "criterion goes with suite 'checklist'"),
        ("menli", {"field": "hyp"}, "field goes with suite 'checklist'"),
        ("menli", {"legacy_join": True}, "legacy_join goes with suite 'checklist'"),
        ("checklist", {"paraphrases": {}}, "paraphrases go with suite 'menli'"),
    ],
)
def test_options_of_the_other_kind_are_refused(kind, options, says):
    with pytest.raises(InputError, match=says):
        suite(kind, DATA, **options)


def test_menli_takes_the_references_as_its_field():
    assert len(suite("menli", DATA, field="ref")) == len(suite("menli", DATA))


def test_a_rule_for_paraphrases_that_there_is_not_is_refused():
    with pytest.raises(SpecError, match=r"how is 'max_edit'; did you mean 'max_edit_distance'"):
        suite("menli", DATA, how="max_edit")
