"""Some of the segments: without systems, or only the items that all have."""

from __future__ import annotations

import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Dataset, Segment
from nlgauge.io.selected import SelectedSource
from nlgauge.io.source import HeldSource

# a has items 1 to 3, b lacks 3, and c has item 1 of another group alone
WRITTEN = {"a": ["x1", "x2", "x3"], "b": ["x1", "x2"], "c": ["y1"]}
SEGMENTS = [
    Segment(f"{system}:{item}", "text", ("ref",), None, system, item[1], item[0])
    for system, items in WRITTEN.items()
    for item in items
]


def selected(*args, segments=SEGMENTS, **options):
    return SelectedSource(HeldSource(Dataset(tuple(segments), "data"), []), *args, **options)


def ids(source):
    return [segment.id for block in source.blocks() for segment in block]


def test_systems_are_left_out_with_a_note():
    source = selected(["c"])
    assert ids(source) == ["a:x1", "a:x2", "a:x3", "b:x1", "b:x2"]
    assert (source.check().n, dict(source.check().systems)) == (5, {"a": 3, "b": 2})
    assert source.check().notes == ("systems left out: c",)


def test_items_that_all_systems_have_in_the_same_group():
    source = selected(["c"], common=True)
    assert ids(source) == ["a:x1", "a:x2", "b:x1", "b:x2"]
    assert source.check().notes[1] == "2 of 3 items are those of all 2 systems; the others are left out"


def test_an_equal_item_of_another_group_is_another_item():
    with pytest.raises(InputError, match="no segment is left: no item is common to all systems"):
        selected(common=True).check()


@pytest.mark.parametrize(
    ("segments", "exclude", "said"),
    [
        (SEGMENTS, ["bb"], "exclude names 'bb', which is not among the systems; did you mean 'b'"),
        (SEGMENTS, ["a", "b", "c"], "no segment is left: all are left out"),
        ([Segment("1", "text", ("ref",))], [], "segment '1' names no system; common items need both"),
        ([Segment("1", "text", ("ref",), None, "a")], [], "segment '1' names no item; common items need both"),
    ],
)
def test_what_leaves_nothing_or_cannot_be_told_is_refused(segments, exclude, said):
    with pytest.raises(InputError, match=said):
        selected(exclude, common=not exclude, segments=segments).check()
