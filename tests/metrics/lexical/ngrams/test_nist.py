from __future__ import annotations

from math import exp, log, log2

import pytest

from nlgauge.core.segment import Segment
from nlgauge.metrics.lexical.ngrams.nist import Nist
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric, check_options


def scores(segments, **options):
    return Nist(**options).score(segments, Runtime())


def test_rare_words_tell_more():
    # "a" stands 2 times in 4 words, "b" once, "c" once: 1, 2 and 2 bits. Matched are "a" and "c" of two words.
    # Of pairs "a c" is matched: after "a" comes "b" or "c", so 1 bit, of one pair. Two of four words: a penalty.
    found = scores([Segment("1", "a c", ("a b a c",))], max_ngram_order=2).values[0]
    assert found == pytest.approx((3 / 2 + 1) * exp(log(0.5) * (log(2 / 4) / log(1.5)) ** 2))


def test_two_thirds_of_the_length_cost_half():
    # "a b" of "a b c": each word tells log2(3); no pair counts under order 1
    assert scores([Segment("1", "a b", ("a b c",))], max_ngram_order=1).values[0] == pytest.approx(log2(3) / 2)


def test_values_take_information_from_the_segment_or_from_the_call():
    segments = [Segment("1", "a b", ("a b",)), Segment("2", "a a", ("a a",))]
    # alone "a" tells log2(2/1); in the call it stands 3 times in 4 words
    assert scores(segments, max_ngram_order=1).values == pytest.approx([1.0, 0.0])
    assert scores(segments, max_ngram_order=1, information="call").values == pytest.approx(
        [(log2(4 / 3) + 2) / 2, log2(4 / 3)]
    )


def test_agrees_with_nltk_where_nltk_has_a_number(pairs, tokens):
    peer = pytest.importorskip("nltk.translate.nist_score")
    hypotheses, references = tokens(Nist(), pairs)
    found = scores(pairs)
    theirs = {}
    for i, (h, r) in enumerate(zip(hypotheses, references, strict=True)):
        if len(h) >= 5 and all(
            r
        ):  # nltk divides by the number of n-grams of every order, and by the words of the reference
            theirs[i] = peer.sentence_nist(r, h)
    assert len(theirs) > 30
    assert [found.values[i] for i in theirs] == pytest.approx(list(theirs.values()), abs=1e-9)  # the same sums
    assert found.system == pytest.approx(peer.corpus_nist(references, hypotheses), abs=1e-9)


def test_short_and_empty_texts_have_a_number(pairs):
    found = scores([Segment("1", "a b", ("a b",)), Segment("2", "", ("a b",)), Segment("3", "a", ("",))])
    assert found.values.tolist() == [1.0, 0.0, 0.0]  # "b" follows "a" always: the pair tells nothing
    assert scores(pairs).values.min() == 0


@pytest.mark.parametrize("options", [{}, {"information": "call", "lowercase": True}], ids=str)
def test_the_contract_holds(options):
    check_metric(Nist(**options))


def test_every_option_is_signed():
    assert check_options(Nist()) == []
