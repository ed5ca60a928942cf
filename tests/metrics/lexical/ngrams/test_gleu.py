from __future__ import annotations

import pytest

from nlgauge.core.errors import SpecError
from nlgauge.core.segment import Segment
from nlgauge.metrics.lexical.ngrams.gleu import Gleu
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric, check_options


def scores(segments, **options):
    return Gleu(**options).score(segments, Runtime())


def test_the_smaller_of_precision_and_recall():
    # "a b c" has 3 + 2 + 1 n-grams, "a b" has 2 + 1: three are shared, of six at most
    assert scores([Segment("1", "a b c", ("a b",))]).values[0] == pytest.approx(3 / 6)
    assert scores([Segment("1", "a b", ("a b c",))]).values[0] == pytest.approx(3 / 6)


def test_the_corpus_number_sums_matches_and_the_longer_sides():
    # 3 of 6 and 1 of 1: 4 of 7, where the mean would be 3/4
    assert scores([Segment("1", "a b c", ("a b",)), Segment("2", "a", ("a",))]).system == pytest.approx(4 / 7)


@pytest.mark.parametrize(
    "options", [{}, {"tokenizer": "blanks"}, {"min_ngram_order": 2, "max_ngram_order": 3}], ids=str
)
def test_agrees_with_nltk(pairs, tokens, options):
    peer = pytest.importorskip("nltk.translate.gleu_score")
    orders = options.get("min_ngram_order", 1), options.get("max_ngram_order", 4)
    hypotheses, references = tokens(Gleu(**options), pairs)
    found = scores(pairs, **options)
    theirs = [peer.sentence_gleu(r, h, *orders) for h, r in zip(hypotheses, references, strict=True)]
    assert found.values == pytest.approx(theirs, abs=1e-9)  # the same quotient
    assert found.system == pytest.approx(peer.corpus_gleu(references, hypotheses, *orders), abs=1e-9)


@pytest.mark.parametrize("options", [{}, {"tokenizer": "unicode", "max_ngram_order": 2}], ids=str)
def test_the_contract_holds(options):
    check_metric(Gleu(**options))


def test_every_option_is_signed():
    assert check_options(Gleu()) == []


def test_orders_that_cross_are_refused():
    with pytest.raises(SpecError, match=r"^gleu:min_ngram_order is 5, expected at most max_ngram_order, which is 4$"):
        Gleu(min_ngram_order=5)
