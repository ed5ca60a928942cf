from __future__ import annotations

import pytest

import nlgauge as ng
from nlgauge.io.wmt.mtme import read_eval_set


def test_segments_are_made_item_by_item_with_their_judgements(folder):
    data = read_eval_set(folder(), "cs-uk").dataset()
    assert [s.id for s in data] == [
        "cs-uk:A:1",
        "cs-uk:B.1:1",
        "cs-uk:refB:1",
        "cs-uk:A:2",
        "cs-uk:A:3",
        "cs-uk:B.1:3",
        "cs-uk:refB:3",
    ]
    assert data.segments[0] == ng.Segment("cs-uk:A:1", "a1", ("one",), "eins", "A", "1", "cs-uk", {"mqm.v2": -1.0})
    assert [dict(s.human) for s in data if s.system == "A"] == [{"mqm.v2": -1.0}, {"mqm.v2": -2.5}, {}]
    assert "set1 cs-uk: 1 output left out (refA; references used: refA)" in data.notes
    assert "set1 cs-uk: 2 translations not supplied, without a segment" in data.notes


def test_references_are_chosen_by_name(folder):
    found = read_eval_set(folder(), "cs-uk")
    both = found.dataset(["refB", "refA"], systems=["A"])
    assert [s.references for s in both] == [("1", "one"), ("two",), ("3", "three")]
    assert "set1 cs-uk: 1 reference text not supplied" in both.notes
    assert found.using("all") == ("refA", "refB")
    with pytest.raises(ng.InputError, match=r"^set1 cs-uk: no reference 'refC'; did you mean"):
        found.dataset("refC")
    with pytest.raises(ng.InputError, match=r"^set1 cs-uk: no system 'B'; did you mean"):
        found.dataset(systems=["B"])


def test_without_a_standard_reference_one_of_several_must_be_chosen(folder):
    with pytest.raises(
        ng.InputError,
        match=(
            r"^set1 cs-uk: references refA, refB, and none is named as the standard; choose one, or name it in"
            r" meta\.json$"
        ),
    ):
        read_eval_set(folder(meta=None), "cs-uk").dataset()


def test_systems_take_part_or_not_for_a_reason(folder):
    found = read_eval_set(folder(), "cs-uk")
    selection = found.select(rated=("mqm.v2", "segment"))
    assert selection.kept == ("A",)
    assert dict(selection.left_out) == {
        "B.1": "an outlier",
        "refA": "is a reference the metrics use",
        "refB": "written by people",
    }
    assert (
        found.select(include_humans=True, include_outliers=True, rated=("mqm.v2", "segment")).left_out["refB"]
        == "has no human score"
    )
    with pytest.raises(
        ng.InputError, match=r"^set1 cs-uk: no human scores 'da' of level 'segment'; there are: mqm\.v2 \(domain\)"
    ):
        found.select(rated=("da", "segment"))
