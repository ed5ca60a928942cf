"""Word and character error rates: by hand, and as in jiwer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.segment import Segment
from nlgauge.metrics.edits.wer import Cer, Mer, Wer, Wil, Wip
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric, check_options

EXACT = 1e-12  # whole numbers divided once or twice, in float64
RATES = ("wer", "mer", "wil", "wip", "cer")
words = st.lists(st.sampled_from(["a", "b", "c", "dd"]), min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        ("wer", 2 / 4),  # b is replaced, d is missing
        ("mer", 2 / 4),  # two edits and two hits
        ("wip", (2 / 4) * (2 / 3)),  # two hits in four words and in three
        ("wil", 1 - (2 / 4) * (2 / 3)),
        ("cer", 3 / 7),  # b is replaced, a blank and d are missing
    ],
)
def test_by_hand(one, spec, value):
    assert one(spec, "a x c", "a b c d") == pytest.approx(value, abs=EXACT)


def test_an_error_rate_may_pass_1(one):
    assert one("wer", "a b c", "x") == 3
    assert one("cer", "abc", "x") == 3
    assert one("mer", "a b c", "x") == 1


def test_cer_is_that_of_jiwer_where_blanks_are_the_only_white_space(golden):
    scores, expected, _ = golden("cer")
    other = np.abs(scores.values - expected) > EXACT
    # a no-break space for a blank, two other ends of a line and U+001F for one, a tab for one, and "\t " and "\n\n"
    assert np.flatnonzero(other).tolist() == [13, 14, 15, 16]


@pytest.mark.parametrize("rate", RATES[:-1])
def test_values_are_those_of_jiwer(golden, rate):
    scores, expected, corpus = golden(rate, f"{rate}:tokenizer=jiwer")
    assert scores.values.tolist() == pytest.approx(expected, abs=EXACT)
    assert scores.system == pytest.approx(corpus, abs=EXACT)


@given(hypothesis=words, reference=words)
def test_bounds_hold(hypothesis, reference):
    segment = [Segment("a", " ".join(hypothesis), (" ".join(reference),))]
    wer, mer, wil, wip = (m.score(segment, Runtime()).values[0] for m in (Wer(), Mer(), Wil(), Wip()))
    assert abs(len(hypothesis) - len(reference)) <= wer * len(reference) + EXACT
    assert mer <= wer + EXACT
    assert wil + wip == pytest.approx(1)
    assert (wer == 0) == (hypothesis == reference) == (wip == 1)


def test_case_is_kept_unless_told_otherwise(one):
    assert one("wer", "The cat", "the cat") == 0.5
    assert one("wer:lowercase=true", "The cat", "the cat") == 0
    assert one("cer", "The", "the") == pytest.approx(1 / 3)
    assert one("cer:lowercase=true", "The", "the") == 0


def test_ten_thousand_characters_take_no_time():
    text = "".join("abc defgh"[i * i % 9] for i in range(10_000))
    assert Cer().score([Segment("a", text, (text[::-1],))], Runtime()).values[0] < 1


@pytest.mark.parametrize("metric", [Wer(), Cer(), Mer(), Wil(), Wip()], ids=RATES)
def test_the_contract_holds(metric, short_segments):
    check_metric(metric, short_segments)
    assert check_options(metric) == []
