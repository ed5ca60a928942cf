"""EED: by hand, and as the authors' program."""

import pytest

from nlgauge.core.segment import Segment
from nlgauge.metrics.edits import eed
from nlgauge.metrics.edits.eed import Eed, english, japanese
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric, check_options

SPECS = ("eed", "eed:language=ja", "eed:alpha=1,rho=0.5,deletion=0.3,insertion=0.7")


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("many", [1, 16, 1000])
def test_values_are_those_of_the_authors_however_pairs_are_grouped(golden, monkeypatch, spec, many):
    monkeypatch.setattr(eed, "_MANY", many)
    scores, expected, _ = golden(spec)
    assert scores.values.tolist() == pytest.approx(expected, abs=1e-9)
    assert scores.system == pytest.approx(sum(expected) / len(expected))


def test_by_hand(one):
    # "ab" against "ax": one replacement. Places visited, the cheapest of each row: 1, then 2 (both cost 1; the first
    # of them is 1, with 0.2 more on the right). Place 0 and one other are not visited: (1 + 0.3 * v) / (2 + 0.3 * v).
    rows = one("eed:language=ja,rho=0", "ab", "ax")
    assert rows == pytest.approx(1 / 2)
    assert one("eed:language=ja", "ab", "ab") == pytest.approx(0.3 / 2.3)  # place 0 is never visited


def test_how_texts_are_prepared():
    assert english("Dr. No paid 3 . 5 or 3.5, i. e. much!  ") == " Dr. No paid 3.5 or 3 .5 , i.e. much ! "
    assert english("Yes, yes!?") == " Yes , yes ! ? "
    assert english(" a\tb ") == "  a b "
    titles = "Dr. Jr. Prof. Rev. Gen. Mr. Mt. Mrs. Ms. X"
    assert english(titles) == f" {titles} "
    assert english("St. X") == " St . X "
    assert english("Mr X") == " Mr. "  # any one character stands for the full stop
    assert japanese("ﾃｽﾄ１ ") == "テスト1"


def test_a_pair_that_is_too_long_is_undefined_and_flagged(monkeypatch):
    monkeypatch.setattr(eed, "_LARGEST", 2000)  # of " a " and " b " 3 rows of 3 cells and 500 besides
    scores = Eed().score([Segment("a", "one two three", ("one two",)), Segment("b", "a", ("b",))], Runtime())
    assert scores.flags["too_long"].tolist() == [True, False]
    assert scores.system == scores.values[1]


def test_the_contract_holds(short_segments):
    check_metric(Eed(), short_segments, alternatives={"alpha": 1.0, "rho": 0.5, "deletion": 0.3, "insertion": 0.7})


@pytest.mark.slow
def test_the_contract_holds_of_long_texts():
    check_metric(Eed())


def test_every_option_is_signed():
    assert check_options(Eed()) == []
