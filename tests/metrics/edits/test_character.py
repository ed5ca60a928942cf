"""CharacTER: by hand, and as the authors' program."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from nlgauge.core.segment import Segment
from nlgauge.metrics.edits import character
from nlgauge.metrics.edits.character import CharacTer, character_rate
from nlgauge.metrics.registry import metric
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric, check_options


@pytest.mark.parametrize(
    ("hypothesis", "reference", "value"),
    [
        ("abc def", "abc def", 0),
        ("abc dxf", "abc def", 1 / 7),  # one character replaced, of seven
        ("ef abcd", "abcd ef", 2 / 7),  # a shift of "ef" or "abcd": "ef" stands elsewhere, mean length of its words 2
        ("abcdefgh", "x", 1),
        ("x", "abcdefgh", 1),  # at most 1
    ],
)
def test_by_hand(one, hypothesis, reference, value):
    assert one("character", hypothesis, reference) == pytest.approx(value)


def test_case_is_folded_where_it_is_asked_for(one):
    assert one("character", "ABC def", "abc def") == pytest.approx(3 / 7)  # three letters of seven
    assert one("character:lowercase=true", "ABC def", "abc def") == 0


def test_values_are_those_of_the_authors(golden):
    scores, expected, _ = golden("character")
    assert scores.values.tolist() == pytest.approx(expected, abs=1e-12)
    assert scores.system == pytest.approx(sum(expected) / len(expected))


def tried_one_by_one(text, wanted):
    """The shifts without a bound, and without batches: of those that save most, the text that stands last."""
    distance = Levenshtein.distance(text, wanted)
    rate = distance / len(wanted)
    while distance:
        tried = [character._moved(text, *block) for block in character._blocks(text, wanted)]
        distances = [Levenshtein.distance(moved, wanted) for moved in tried]
        fewest = min(distances, default=distance + 1)
        if fewest > (distance if rate > distance / len(wanted) else distance - 1):
            break
        text = max(moved for moved, edits in zip(tried, distances, strict=True) if edits == fewest)
        distance = fewest
        rate -= rate - distance / len(wanted)
    return text


@given(st.text("abcd", min_size=1, max_size=9), st.text("abcd", min_size=1, max_size=9), st.integers(1, 3))
def test_what_is_passed_over_would_not_have_been_the_shift(text, wanted, at_once):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(character, "_AT_ONCE", at_once)
        assert character._shifted(text, wanted) == tried_one_by_one(text, wanted)


def test_a_pair_that_is_too_long_is_undefined_and_flagged(monkeypatch):
    monkeypatch.setattr(character, "_WORK", 1_000_000)
    text = " ".join(f"w{i}" for i in range(30))
    turned = " ".join(text.split()[::-1])
    segments = [Segment("a", text, (turned,)), Segment("b", "a b", ("b a",))]
    scores = CharacTer().score(segments, Runtime())
    assert math.isnan(scores.values[0])
    assert scores.flags["too_long"].tolist() == [True, False]
    assert scores.system == scores.values[1]


def test_words_that_repeat_are_soon_done():
    assert character_rate(["the"] * 300, ["the"] * 250) == pytest.approx(50 * 4 / (300 * 4 - 1))
    assert math.isnan(character_rate(["the"] * 2000, ["the"] * 2000 + ["a"]))


def test_the_contract_holds(short_segments):
    check_metric(metric("character"), short_segments)
    assert check_options(CharacTer()) == []
