from __future__ import annotations

import random

import pytest

from nlgauge.core.segment import Segment
from nlgauge.metrics.lexical import ribes
from nlgauge.metrics.lexical.ribes import Ribes, aligned, ascending
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric, check_options


def test_words_that_occur_twice_are_told_by_their_context():
    # both "the" are told: "the boy" begins at 3 of the reference, "the book" at 0
    hypothesis, reference = "the boy read the book".split(), "the book was read by the boy".split()
    assert aligned(tuple(hypothesis), tuple(reference)) == [5, 6, 3, 0, 1]


def test_a_word_without_a_context_of_its_own_is_left_out():
    # only the whole occurs once: the first "a" begins it; nltk does not look back from the last one that far
    assert aligned(("a", "a", "a"), ("a", "a", "a")) == [0]


def test_pairs_in_order():
    assert ascending([2, 1, 0, 3]) == 3 / 6  # (2, 3), (1, 3) and (0, 3)


def test_order_precision_and_brevity():
    # "b a x" against "a b c d": two of three words, in the wrong order; then in the right one
    assert Ribes().score([Segment("1", "b a x", ("a b c d",))], Runtime()).values[0] == 0
    found = Ribes().score([Segment("1", "a b x", ("a b c d",))], Runtime()).values[0]
    assert found == pytest.approx((2 / 3) ** 0.25 * 0.7165313105737893**0.10)  # exp(1 - 4/3)


def test_agrees_with_nltk(pairs, tokens):
    peer = pytest.importorskip("nltk.translate.ribes_score")
    pairs = [s for s in pairs if len(s.hypothesis) < 500]  # nltk takes seconds over words that repeat
    for options in ({}, {"alpha": 0.5, "beta": 0.0}):
        hypotheses, references = tokens(Ribes(**options), pairs)
        found = Ribes(**options).score(pairs, Runtime())
        theirs = [peer.sentence_ribes(r, h, **options) for h, r in zip(hypotheses, references, strict=True)]
        assert found.values == pytest.approx(theirs, abs=1e-9)  # the same powers
        assert found.system == pytest.approx(peer.corpus_ribes(references, hypotheses, **options), abs=1e-9)


def test_alignments_agree_with_nltk_on_texts_of_few_words():
    peer = pytest.importorskip("nltk.translate.ribes_score")
    rng = random.Random(0)
    for _ in range(300):
        letters = "abcdefgh"[: rng.choice([2, 3, 8])]
        one, other = (tuple(rng.choices(letters, k=rng.randint(1, 9))) for _ in range(2))
        assert aligned(one, other) == peer.word_rank_alignment(list(other), list(one))


@pytest.mark.parametrize("seed", range(3))
def test_long_contexts_are_told_as_short_ones(seed, monkeypatch):
    rng, pairs = random.Random(seed), []
    for _ in range(60):
        block = rng.choices("abc", k=rng.randint(1, 6))
        pairs.append((tuple(block * rng.randint(1, 6)), tuple((block * rng.randint(1, 6))[rng.randint(0, 3) :])))
    monkeypatch.setattr(ribes, "_SHORT", 1000)
    expected = [aligned(one, other) for one, other in pairs]
    monkeypatch.setattr(ribes, "_SHORT", 1)
    assert [aligned(one, other) for one, other in pairs] == expected


def test_a_word_repeated_ten_thousand_times_is_aligned_once():
    assert aligned(("a",) * 10_000, ("a",) * 10_000) == [0]


def test_the_contract_holds_and_every_option_is_signed():
    check_metric(Ribes())
    assert check_options(Ribes()) == []
