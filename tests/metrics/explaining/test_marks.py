"""Words, runs and categories, each by hand."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.metrics.explaining.marks import Worded, category_of, gaps_of, grown, is_function, spans_of, unmatched

REF = Worded.of("The cat sat on the mat.")


def marked(text, *words):
    hyp = Worded.of(text)
    return hyp, np.array([word in words for word in hyp.words])


def texts(spans, hyp):
    return [hyp.text[span.start : span.end] for span in spans]


def test_words_of_no_other_text_are_unmatched_in_any_case():
    hyp = Worded.of("the CAT sat near a mat!")
    assert [word for word, no in zip(hyp.words, unmatched(hyp, [REF]), strict=True) if no] == ["near", "a", "!"]
    assert not unmatched(hyp, [REF, Worded.of("near a mat!")]).any()


def test_neighbours_are_one_span():
    hyp, words = marked("A dog of snow lay on the rug today.", "dog", "snow", "lay", "rug")
    assert texts(spans_of(hyp, [REF], words, words), hyp) == ["dog", "snow lay", "rug"]


def test_marks_grow_to_neighbours_above_half_of_the_threshold():
    found = grown(np.array([0.3, 0.6, 0.2, 0.3, 0.4, 0.1, 0.26, 0.9]), 0.5)
    assert found.tolist() == [True, True, False, False, False, False, True, True]
    assert grown(np.zeros(0), 0.5).tolist() == []


def test_a_run_is_major_if_one_of_its_words_is():
    hyp, words = marked("The big dog sat", "big", "dog")
    (span,) = spans_of(hyp, [REF], words, np.array([False, False, True, False]))
    assert span.severity == "major"
    (span,) = spans_of(hyp, [REF], words, np.zeros(4, dtype=bool))
    assert span.severity == "minor"


@pytest.mark.parametrize(
    ("hyp", "ref", "word", "category"),
    [
        ("It costs 40 euros.", "It costs 14 euros.", "40", "number"),
        ("The cat sat three times.", "The cat sat five times.", "three", "number"),
        ("The cat sat on Tuesday.", "The cat sat on Thursday.", "Tuesday", "date"),
        ("He did not go.", "He went.", "not", "negation"),
        ("He met Anna there.", "He met Maria there.", "Anna", "name"),
        ("Anna left.", "Maria left.", "Anna", None),
        ("The weathre is cold.", "The weather is cold.", "weathre", "spelling"),
        ("The cat the cat sat.", "The cat sat.", "the cat", "repetition"),
        ("The cat sat on the hat.", "The cat sat on the mat.", "hat", None),
        ("Stop, now.", "Stop now.", ",", "punctuation"),
        ("A warm day.", "A cold day.", "warm", None),
    ],
)
def test_categories_are_told_from_words(hyp, ref, word, category):
    worded = Worded.of(hyp)
    start = hyp.index(word)
    places = [i for i, (a, b) in enumerate(worded.places) if a >= start and b <= start + len(word)]
    assert category_of(worded, [Worded.of(ref)], places[0], places[-1]) == category


def test_a_gap_is_where_the_probability_is_highest():
    hyp = Worded.of("The cat on mat")
    found = gaps_of(hyp, [REF], np.array([0.1, 0.2, 0.9, 0.8, 0.6]), 0.5)
    assert [(gap.start, gap.end, gap.missing, gap.category) for gap in found] == [(8, 8, True, "omission")]
    (gap,) = gaps_of(hyp, [REF], np.array([0, 0, 0, 0, 0.6]), 0.5)
    assert gap.start == len(hyp.text)


def test_what_is_missing_is_major_if_a_word_with_content_is_not_there():
    missing = np.array([0, 0.9, 0])
    assert gaps_of(Worded.of("The cat"), [REF], missing, 0.5)[0].severity == "major"
    assert gaps_of(Worded.of("sat mat"), [Worded.of("sat on the mat")], missing, 0.5)[0].severity == "minor"
    assert gaps_of(Worded.of("The cat"), [REF, Worded.of("The cat")], missing, 0.5)[0].severity == "minor"


def test_function_words_and_marks_carry_no_content():
    assert [is_function(word) for word in ("the", "'s", ",", "cat", "7")] == [True, True, True, False, False]


@given(st.text(max_size=60), st.text(max_size=60))
def test_spans_of_any_text_lie_in_it_in_order_and_apart(text, other):
    hyp, ref = Worded.of(text), Worded.of(other)
    words = unmatched(hyp, [ref])
    spans = spans_of(hyp, [ref], words, words)
    assert all(0 <= span.start < span.end <= len(text) for span in spans)
    assert all(a.end <= b.start for a, b in pairwise(spans))
    assert not unmatched(hyp, [hyp]).any()


@given(st.text(alphabet="ab1 .", max_size=30), st.lists(st.tuples(st.integers(0, 30), st.integers(1, 5)), max_size=4))
def test_words_inside_spans_are_those_that_share_a_character(text, drawn):
    worded, spans = Worded.of(text), [(start, start + length) for start, length in drawn]
    shared = {
        place
        for place, (start, end) in enumerate(worded.places)
        if any(set(range(start, end)) & set(range(*span)) for span in spans)
    }
    assert worded.inside(spans) == shared
