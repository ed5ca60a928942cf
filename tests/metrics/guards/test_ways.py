"""A way of writing is told once of a system, whatever the number of its texts."""

from __future__ import annotations

from nlgauge.core.segment import Segment
from nlgauge.metrics.guards.ways import Ways

BARE, WHOLE = "It rains", "It rains."


def counted(*texts, system=None, unfinished=()):
    ways = Ways()
    for i, text in enumerate(texts):
        ways.add(Segment(f"s{i}", text, ("It is raining.",), system=system), i in unfinished)
    return ways


def test_five_texts_and_a_tenth_of_a_system_are_told():
    expected = "input: texts (5 of 50) have no final mark where the references have one, and none is distrusted for it"
    assert [*counted(*[BARE] * 5, *[WHOLE] * 45).notes()] == [expected]
    assert [*counted(*[BARE] * 5, *[WHOLE] * 46).notes()] == []  # fewer than a tenth
    assert [*counted(*[BARE] * 4, *[WHOLE] * 2).notes()] == []  # four
    spaced = "input: texts (m: 6 of 6) end in ' .' where the references end in '.', or the other way round, and none is"
    assert [note.startswith(spaced) for note in counted(*["It rains ."] * 6, system="m").notes()] == [True]


def test_texts_that_are_distrusted_one_by_one_are_not_told_again():
    # 6 of 20 lack a mark, 2 of them are cut off: 4 are left, and 5 if only 1 is
    assert [*counted(*[BARE] * 6, *[WHOLE] * 14, unfinished={0, 1}).notes()] == []
    ways = counted(*[BARE] * 6, *[WHOLE] * 14, unfinished={2})
    assert "(5 of 20)" in next(ways.notes())
    assert not ways.is_usual(None)
    assert ways.first() == ["s2"]


def test_more_than_half_of_the_texts_make_it_usual():
    assert not counted(*[BARE] * 5, *[WHOLE] * 5).is_usual(None)
    assert counted(*[BARE] * 6, *[WHOLE] * 5).is_usual(None)
    assert counted(*[BARE] * 5).is_usual(None)
    assert not counted(*[BARE] * 4).is_usual(None)  # of four texts nobody knows
    ways = counted(*[BARE] * 6, system="m", unfinished={0, 1, 2, 3, 4, 5})
    assert ways.first() == []
    assert "(m: 6 of 6)" in next(ways.notes())


def told_of(systems):
    """The note about systems of five texts each."""
    ways = Ways()
    for i in range(5 * systems):
        ways.add(Segment(f"s{i}", BARE, ("It is raining.",), system=f"m{i % systems}"), False)
    (note,) = ways.notes()
    return note


def test_ten_systems_are_named():
    assert "m9: 5 of 5)" in told_of(10)
    note = told_of(12)
    assert note.said.startswith("texts (12 systems) have no final mark")
    assert "(m0: 5 of 5, m1: 5 of 5, " in note
    assert "m9: 5 of 5, and 2 systems more)" in note
