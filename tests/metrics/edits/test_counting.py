"""Which reference counts, what a word is, and what blank sides get."""

from unicodedata import unidata_version

import numpy as np
import pytest

from nlgauge.core.metric import signature_of
from nlgauge.core.segment import Segment
from nlgauge.metrics.edits.counting import rate
from nlgauge.metrics.edits.wer import Wer
from nlgauge.metrics.registry import metric
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.scripts import Writing

NAMES = ("wer", "cer", "mer", "wil", "wip", "per", "cder", "iter", "character", "eed")
WORDS = tuple(name for name in NAMES if name not in ("cer", "character", "eed"))


@pytest.mark.parametrize("name", NAMES)
def test_a_blank_side_is_worst_and_flagged(name):
    built = metric(name)
    for hypothesis, reference in (("", "a b"), (" \t", "a"), ("a b c", ""), ("", "")):
        scores = built.score([Segment("a", hypothesis, (reference,)), Segment("b", "a b", ("a b",))], Runtime())
        worst, best = scores.values if name != "wip" else 1 - scores.values
        assert worst >= 1, (hypothesis, reference)
        assert best < 0.1  # of a copy: 0, but for eed
        assert scores.flags["empty"].tolist() == [True, False], (hypothesis, reference)


@pytest.mark.parametrize("name", NAMES)
def test_of_several_references_the_best_counts_and_blank_ones_do_not(name):
    segments = [Segment("a", "a b c", ("x y z", "", "a b c", "a b c")), Segment("b", "q", ("", "z"))]
    scores = metric(name).score(segments, Runtime())
    assert scores.parts["reference"].tolist() == [1, 0]  # of those that are references
    assert not scores.flags["empty"].any()
    alone = metric(name).score([Segment("a", "a b c", ("a b c",)), Segment("b", "q", ("z",))], Runtime())
    assert scores.values.tolist() == alone.values.tolist()
    assert scores.system == alone.system


@pytest.mark.parametrize("name", WORDS)
def test_the_tables_of_unicode_are_signed_where_they_are_read(name):
    assert f"|unicode:{unidata_version}|" in str(signature_of(metric(f"{name}:tokenizer=unicode"), Runtime()))
    assert "unicode" not in str(signature_of(metric(name), Runtime()))


@pytest.mark.parametrize("name", WORDS)
def test_a_side_of_which_the_tokenizer_keeps_nothing_is_flagged(name):
    texts = [("!", ("!",)), ("a", ("a", "...")), ("a", ("...",)), ("", ("...",))]
    segments = [Segment(str(i), *text) for i, text in enumerate(texts)]
    scores = metric(f"{name}:tokenizer=unicode").score(segments, Runtime())
    assert scores.flags["untokenized"].tolist() == [True, False, True, False]
    assert scores.flags["empty"].tolist() == [False, False, False, True]
    assert "untokenized" not in metric(name).score(segments, Runtime()).flags


def test_the_corpus_number_is_that_of_summed_counts():
    segments = [Segment("a", "a x", ("a b",)), Segment("b", "a b c d e f", ("a b c d e f",)), Segment("c", "z", ("",))]
    scores = Wer().score(segments, Runtime())
    assert scores.stats.tolist() == [[1, 2], [0, 6], [1, 0]]
    assert scores.system == pytest.approx(2 / 8)


def test_a_rate_over_leading_axes():
    assert rate(np.array([[[1, 4], [3, 0]], [[0, 0], [0, 2]]])).tolist() == [[0.25, 3], [1, 0]]


def test_what_a_word_is():
    text = "One\ttwo  three\n\nfour-five, 船"
    assert Wer(tokenizer="jiwer").words(text) == ["One\ttwo", "three", "four-five,", "船"]
    assert Wer(lowercase=True).words(text) == ["one", "two", "three", "four-five,", "船"]
    assert Wer(tokenizer="unicode").words("船は four-five") == ["船", "は", "four", "five"]


@pytest.mark.parametrize("name", WORDS)
def test_text_without_blanks_is_told(name):
    writing = Writing("Thai", "Thai", spaced=False)
    assert "tokenizer=unicode, or cer" in metric(name).unread(writing)
    assert metric(f"{name}:tokenizer=unicode").unread(writing) is None
    assert metric(name).unread(Writing("Greek", "Greek", spaced=True)) is None
