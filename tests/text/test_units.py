"""Units: words with what belongs to them, marks alone, and nothing lost."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.text.units import unit_spans, writes_no_blanks


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("Don't sell the well-known firm's shares.", "Don't|sell|the|well-known|firm's|shares|."),
        ("U.S. firms (at least 10%) pay $5,000!!", "U.S.|firms|(|at|least|10%|)|pay|$5,000|!!"),
        ('"It\'s 5 p.m.," he said -- twice...', '"|It\'s|5|p.m.|,|"|he|said|--|twice|...'),
        ("rain,snow and/or hail", "rain|,|snow|and/or|hail"),
        ("un été—bien sûr ; l'eau, 50 €", "un|été|—|bien|sûr|;|l'eau|,|50|€"),
        ("नाव चली गई।", "नाव|चली|गई|।"),
        ("السَّفِينَةُ غادَرَتْ،", "السَّفِينَةُ|غادَرَتْ|،"),
        ("배가 떠났다!", "배가|떠났다|!"),
        ("今天GDP增长了3%。", "今|天|GDP|增|长|了|3%|。"),
        ("カメラで撮る。", "カメラ|で|撮|る|。"),
        ("เรือออก", "เรื|อ|อ|อ|ก"),  # a vowel written before its consonant belongs to it
        ("I 👩\u200d👩\u200d👧 love👨🏽\u200d💻", "I|👩\u200d👩\u200d👧|love|👨🏽\u200d💻"),
        ("👍🏽👍🏽 ❤\ufe0f❤\ufe0f 😀😀", "👍🏽|👍🏽|❤\ufe0f|❤\ufe0f|😀|😀"),
        ("🇩🇪🇫🇷, 1\ufe0f⃣", "🇩🇪|🇫🇷|,|1\ufe0f⃣"),
        ("one\u200btwo \u200fthree\u200e, f\u00adive\u200d,", "one\u200b|two|\u200fthree\u200e|,|f\u00adive\u200d|,"),
        ("", ""),
        ("  \n", ""),
    ],
)
def test_units_are_words_with_what_belongs_to_them(text, units):
    assert "|".join(text[a:b] for a, b in unit_spans(text)) == units


@given(st.text(alphabet=st.sampled_from("ab1 .,-'’\"$%()今天ガラスรเนा\u0301\u200d\ufe0f🏽🇩😀\n")) | st.text())
def test_units_are_in_order_and_hold_every_character_but_blanks(text):
    spans, at, between = unit_spans(text), 0, ""
    for start, end in spans:
        assert at <= start < end
        between += text[at:start]
        at = end
    assert not (between + text[at:]).strip()


def test_scripts_without_blanks_are_known_by_their_letters():
    assert [c for c in "a今ガเन1。" if writes_no_blanks(c)] == ["今", "ガ", "เ"]


@given(st.text(alphabet=st.sampled_from("ab.今ร \u0301\u200d\u200b\ufe0f🏽😀")))
def test_no_unit_beside_another_is_unseen(text):
    spans = unit_spans(text)
    for (_, end), (start, stop) in pairwise(spans):
        assert end < start or text[start:stop].strip("\u0301\u200d\u200b\ufe0f")
