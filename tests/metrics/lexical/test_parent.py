from __future__ import annotations

from math import sqrt

import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment
from nlgauge.metrics.lexical.parent import Parent, values_of_source, values_of_table
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric, check_options


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


NEXT_TO_NOTHING = 1e-7  # the program adds 1e-8 to the denominator of F
TABLE = (("name", "eagle"), ("food", "thai food"))


def one(hypothesis, *references, table=TABLE, **options):
    segment = Segment("1", hypothesis, references, table=table)
    found = Parent(**options).score([segment], Runtime())
    return {"f": float(found.values[0])} | {name: float(column[0]) for name, column in found.parts.items()}


def test_a_word_that_the_records_have_is_supported():
    # "eagle" is in the reference, "thai" in the records, "fish" in neither: 2 of 3
    found = one("eagle thai fish", "eagle sells soup", max_ngram_order=1)
    assert found["precision"] == pytest.approx(2 / 3)
    # of the reference only "eagle" counts, and it is there; of the records "eagle" whole, "thai food" by half
    assert found["recall"] == pytest.approx(sqrt(1 * 3 / 4))
    assert found["f"] == pytest.approx(2 * (2 / 3) * sqrt(3 / 4) / (2 / 3 + sqrt(3 / 4)), abs=NEXT_TO_NOTHING)


def test_the_share_of_records_in_the_reference_weighs_the_two_recalls():
    # the reference mentions one of two records: recall of the reference 0 words of 1 (next to nothing), of records 1/2
    assert one("thai food", "eagle", max_ngram_order=1, weight=None)["recall"] == pytest.approx(sqrt(1e-5 * 1 / 2))
    assert one("thai food", "eagle", max_ngram_order=1, weight=1.0)["recall"] == pytest.approx(1 / 2)
    assert one("thai food", "eagle", max_ngram_order=1, weight=0.0)["recall"] == pytest.approx(1e-5)


@pytest.mark.parametrize(
    ("weight", "f", "precision", "recall"),
    [  # of the authors' program (language/table_text_eval, parent() with these words), with lambda as in section 3.3
        (0.5, 0.5533610, 0.9187476, 0.3959081),
        (None, 0.4101223, 0.9187476, 0.2639807),
    ],
)
def test_agrees_with_the_authors_program(weight, f, precision, recall):
    hypothesis = "michael dahlquist was a drummer in the seattle band silkworm ."
    references = (
        "michael dahlquist ( december 22 , 1965 - july 14 , 2005 ) was a drummer in the seattle band silkworm .",
        "dahlquist drummed for silkworm",
    )
    table = (("name", "michael dahlquist"), ("birth", "22 december 1965"), ("band", "silkworm"))
    found = one(hypothesis, *references, table=table, tokenizer="blanks", weight=weight)
    assert (found["f"], found["precision"], found["recall"], found["reference"]) == pytest.approx(
        (f, precision, recall, 0), abs=1e-6
    )


def test_a_reference_without_words_is_no_match():
    assert one("the eagle", "")["f"] == 0
    assert one("eagle thai food", "", "eagle has thai food")["reference"] == 0  # the only one


def test_records_may_stand_in_the_source():
    segment = Segment("1", "eagle", ("eagle",), source="eagle | food | thai")
    found = Parent(records="source", max_ngram_order=1, weight=1.0).score([segment], Runtime())
    assert found.parts["recall"][0] == 0.5
    with pytest.raises(
        ng.InputError, match=r"^parent needs table; segment '1' has none; .* take parent:records=source$"
    ):
        Parent().score([segment], Runtime())


def test_the_contract_holds_and_every_option_is_signed():
    check_metric(Parent(weight=None, tokenizer="unicode"))
    assert check_options(Parent()) == []


@pytest.mark.parametrize("spec", ["parent", "0.5*bleu + 0.5*parent[norm=none]"])
def test_records_of_no_known_form_are_refused_before_another_metric_scores(monkeypatch, spec):
    segments = [ng.Segment("a", "x", ("y",), table=(("name", "x"),)), ng.Segment("b", "x", ("y",), table=(7,))]
    monkeypatch.setattr("nlgauge.metrics.run._score", lambda *_: pytest.fail("something was scored"))
    with pytest.raises(ng.InputError, match=r"segment 'b': table\[0\] is '7'"):
        ng.score(ng.Dataset(tuple(segments)), metrics=["chrf", spec])
