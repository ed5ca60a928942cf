from __future__ import annotations

from dataclasses import replace

import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.core.inputs import SameInputs
from nlgauge.core.segment import Dataset, Segment
from nlgauge.io.segments import HeldSource, SelectedSource
from nlgauge.scoring.compare import ComparisonOptions
from nlgauge.scoring.job import score_source

# Twelve inputs: every word occurs once, so that no two texts share one.
REFERENCES = [f"the {word} stood by a gate" for word in "ash elm fir oak yew bay fig nut box rue ivy may".split()]
SOURCES = [reference.replace("the", "der") for reference in REFERENCES]


def outputs(system, order=None, references=REFERENCES, sources=None, ids=None):
    """Outputs of one system: each is the reference without its last word; items are row numbers."""
    order = range(len(REFERENCES)) if order is None else order
    return [
        Segment(
            f"{system}:{row}",
            REFERENCES[i].rsplit(" ", 1)[0] + (f" {system}" if i % 2 else ""),
            (references[i],) if references else (),
            sources[i] if sources else None,
            system=system,
            item=str(row if ids is None else ids[i]),
            human={"quality": float(i % 5) + len(system)},
        )
        for row, i in enumerate(order, start=1)
    ]


TURNED = [*range(1, 12), 0]  # each row is the next one of the other file
BY_ID = outputs("A", ids=range(12)) + outputs("BB", TURNED, ids=range(12))
BY_ROW = outputs("A") + outputs("BB", TURNED)


@pytest.mark.parametrize(
    "verb",
    [
        pytest.param(lambda data: ng.compare(data, metrics="chrf"), id="compare"),
        pytest.param(
            lambda data: score_source(HeldSource(data, []), ["chrf"], ComparisonOptions(test="bootstrap", draws=20)),
            id="score",
        ),
        pytest.param(lambda data: ng.meta_evaluate(data, "chrf"), id="meta"),
        pytest.param(
            lambda data: ng.meta_evaluate(data, scores={"mine": [1.0 * i for i in range(24)]}), id="meta, stored scores"
        ),
        pytest.param(lambda data: ng.select_models(data, "chrf", hybrids=20, pool=2), id="select"),
        pytest.param(lambda data: ng.choose(data, ["chrf", "token_f1"]), id="choose"),
    ],
)
def test_rows_in_another_order_are_not_paired_by_their_number(verb):
    # Paired by ids the same texts pass: 24 outputs for 12 inputs.
    verb(Dataset(tuple(BY_ID)))
    with pytest.raises(InputError, match=r"item '1' has other references in system 'BB' than in system 'A'.*another o"):
        verb(Dataset(tuple(BY_ROW)))


# --- What is another input: references that share nothing and no other field that agrees, or the place of another item


def refused(first, other):
    look = SameInputs()
    look.add([*first, *other])
    return sorted(item for _, item in look.refused()), look.notes()


A = outputs("A", sources=SOURCES)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(outputs("B", sources=SOURCES), id="the same"),
        pytest.param(outputs("B", references=None, sources=SOURCES), id="references on one side alone"),
        pytest.param(outputs("B"), id="sources on one side alone"),
        pytest.param(outputs("B", references=[f" {r.upper()} \u00a0" for r in REFERENCES]), id="case and blanks"),
        pytest.param(outputs("B", references=[r.replace(" ", "") for r in REFERENCES]), id="no blanks"),
        pytest.param(
            [replace(s, references=(*s.references, "another")) for s in outputs("B")], id="a further reference"
        ),
        pytest.param([replace(s, group="de") for s in outputs("B", TURNED, sources=SOURCES)], id="another group"),
    ],
)
def test_what_is_no_other_input(other):
    assert refused(A, other) == ([], [])


def test_one_label_that_another_item_has_too_is_no_other_order():
    labels = ["yes", "no"] * 6
    mended = outputs("B", references=["no", *labels[1:]])
    look = SameInputs()
    look.add([*outputs("A", references=labels), *mended])
    (why,) = look.refused().values()
    assert why.endswith(
        "in system 'B' than in system 'A': compare outputs for the same inputs (nlgauge score has --common)"
    )


def test_references_made_for_each_system_and_passages_that_each_looked_up_are_noted():
    edited = outputs("B", references=[f"{r}, I say" for r in REFERENCES], sources=SOURCES)  # as for HTER
    items, (note,) = refused(A, edited)
    assert not items
    assert note.startswith("input: B has other references than A for 12 of 12 items (first '1')")
    found = outputs("B", sources=[f"passage {i}" for i in range(12)])
    items, (note,) = refused(A, found)
    assert not items
    assert "B has another source than A for 12 of 12 items" in note
    alone = outputs("B", references=None, sources=[f"passage {i}" for i in range(12)])
    assert refused(A, alone)[0] == []


def test_sources_of_another_item_are_refused():
    first, other = (
        outputs("A", references=None, sources=SOURCES),
        outputs("B", TURNED, references=None, sources=SOURCES),
    )
    assert len(refused(first, other)[0]) == 12


def test_one_row_too_many_moves_those_after_it():
    # Rows 1 to 5 agree; from row 6 on each system has another input, 7 rows.
    moved = outputs("B", [*range(5), 0, *range(5, 11)], ids=None)
    assert refused(outputs("A"), moved)[0] == sorted(map(str, range(6, 13)))


def test_common_keeps_the_items_that_are_the_same_input():
    moved = outputs("B", [*range(5), 0, *range(5, 11)])
    source = SelectedSource(HeldSource(Dataset((*outputs("A"), *moved)), []), common=True)
    assert source.check().n == 10
    assert "5 of 12 items are those of all 2 systems; the others are left out" in source.check().notes


# --- Scores without a test: systems that share no input


def noted(segments):
    look = SameInputs(is_paired=False)
    look.add(segments)
    return look.notes()


def test_parts_of_one_set_are_noted_as_such():
    first, second = outputs("s0", range(6)), outputs("s1", range(6, 12))
    assert noted([*first, *second]) == [
        "input: s1 and s0 share no input, so scores do not compare; parts of one set are one system: put them"
        " into one file"
    ]


@pytest.mark.parametrize(
    "other", [outputs("B", TURNED), outputs("B"), outputs("B", sources=SOURCES), outputs("B", range(6))]
)
def test_other_orders_and_parts_of_the_items_are_not_noted_without_a_test(other):
    assert noted([*outputs("A"), *other]) == []
