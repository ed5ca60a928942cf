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


@pytest.mark.parametrize("kind", KINDS)
def test_texts_that_perturbations_do_not_read_are_refused_on_request(kind):
    data = Dataset((*DATA.segments, Segment("zh", "x", ("火车晚点了两个小时。",), group="mt")))
    assert any("1 of 2 texts (zh) look Chinese" in note for note in suite(kind, data).notes)
    assert not any("look Chinese" in note for note in suite(kind, data, scripts="off").notes)
    with pytest.raises(InputError, match=r"perturbations: 1 of 2 texts \(zh\) look Chinese"):
        suite(kind, data, scripts="strict")


def test_columns_of_a_frame_are_named():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"prediction": ["a hypothesis"], "gold": [TEXT]})
    made = suite("checklist", frame, task="mt", columns={"hyp": "prediction", "ref": "gold"})
    assert {pair.better for pair in made} == {TEXT}
    with pytest.raises(InputError, match="columns are named for a frame"):
        suite("checklist", DATA, task="mt", columns={"hyp": "prediction"})
