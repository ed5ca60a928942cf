from __future__ import annotations

import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment
from nlgauge.metrics.lexical.ngrams.records import values_of_source, values_of_table


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (("name", "The Eagle"), ("The Eagle",)),
        (["The_Eagle", "area", "riverside"], ("The Eagle riverside",)),
        ({"subject": "Eagle", "predicate": "rating", "object": 5}, ("Eagle 5",)),
        ({"name": "Eagle", "area": "riverside"}, ("Eagle", "riverside")),
        ('Eagle | food | "Thai"', ("Eagle Thai",)),
        ("food | Thai", ("Thai",)),
        ({"name": "Eagle", "near": None, "stars": float("nan")}, ("Eagle",)),  # what has no value says nothing
        (("near", None), ()),
        (("Eagle", "near", None), ()),
        ((None, "near", "Eagle"), ("Eagle",)),
    ],
)
def test_records_of_a_table(record, said):
    assert values_of_table(Segment("1", "", table=(record,))) == said


@pytest.mark.parametrize("record", ["Eagle", ("a", "b", "c", "d"), 5, None, (), {"a": ["b"]}, ("a", {"b": 1})])
def test_a_record_of_another_form_is_named(record):
    with pytest.raises(InputError, match=r"^segment 's': table\[1\] is .*, expected a pair \[attribute, value\]"):
        values_of_table(Segment("s", "", table=(("a", "b"), record)))


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("MotorSport Vision | city | Fawkham", ("MotorSport Vision Fawkham",)),
        ("A | b | C ; D_E | f | G", ("A C", "D E G")),
        ("name | Eagle\tfood | Thai", ("Eagle", "Thai")),
        ("inform(name='The Eagle',area=citycentre)", ("The Eagle", "citycentre")),
        ("confirm(area='cathedral hill')", ("cathedral hill",)),
        ("reqmore()", ()),
        ("inform(name='The Eagle's Nest', area=city_centre)", ("The Eagle's Nest", "city centre")),
        ("inform(name='Bed | Breakfast', near=\"a, b\")", ("Bed | Breakfast", "a, b")),
        ("inform(name=) & request(area=?)", ("", "?")),
        ("name=Eagle; area=east\nfood=Thai", ("Eagle", "east", "Thai")),
    ],
)
def test_records_in_a_line(source, said):
    assert values_of_source(Segment("1", "", source=source)) == said


@pytest.mark.parametrize("source", ["The ferry leaves.", "a | b | c | d", "", "say(", "a="])
def test_a_source_without_records_is_named(source):
    with pytest.raises(InputError, match=r"^segment 's': source is .*, expected records like"):
        values_of_source(Segment("s", "", source=source))


@pytest.mark.parametrize("source", ["inform(price=1,500)", "name=The Eagle (old)", "inform(name='The Eagle"])
def test_a_value_is_never_cut(source):
    with pytest.raises(InputError, match=r"with quotes around a value that has a comma or a bracket$"):
        values_of_source(Segment("s", "", source=source))
