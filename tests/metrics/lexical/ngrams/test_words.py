from __future__ import annotations

import numpy as np
import pytest

from nlgauge.core.errors import SpecError
from nlgauge.core.segment import Segment
from nlgauge.metrics.lexical.ngrams.gleu import Gleu
from nlgauge.metrics.lexical.ngrams.words import WordMetric, grams, measured
from nlgauge.runtime.runtime import Runtime
from nlgauge.text.scripts import Writing

THAI, HAN, KANA, CYRILLIC = (Writing(name, name, name == "Cyrillic") for name in ("Thai", "Han", "Kana", "Cyrillic"))


@pytest.mark.parametrize(
    ("tokenizer", "words"),
    [
        ("13a", ("Isn't", "3.5", "too", "much", "?")),
        ("blanks", ("Isn't", "3.5", "too", "much?")),
        ("unicode", ("isn", "t", "3", "5", "too", "much")),
        ("char", tuple("Isn't3.5toomuch?")),
    ],
)
def test_tokenizers_split_as_they_are_named(tokenizer, words):
    assert WordMetric(tokenizer=tokenizer).splitter()("Isn't 3.5 too much?") == words


def test_words_are_lowered_when_they_have_been_split():
    assert WordMetric(lowercase=True).splitter()("The Cat.") == ("the", "cat", ".")
    assert WordMetric().splitter()("The Cat.") == ("The", "Cat", ".")


def test_a_tokenizer_off_the_list_is_refused():
    with pytest.raises(SpecError, match=r"^gleu:tokenizer is '13A'; did you mean '13a'"):
        Gleu(tokenizer="13A")


def test_scripts_without_blanks_are_named_unless_the_tokenizer_splits_them():
    assert "take tokenizer=unicode" in WordMetric().unread(THAI)
    assert WordMetric(tokenizer="unicode").unread(THAI) is None
    assert WordMetric(tokenizer="zh").unread(HAN) is None
    assert WordMetric(tokenizer="zh").unread(KANA) is None
    assert WordMetric(tokenizer="zh").splitter()("船は七時") == tuple("船は七時")
    assert "take tokenizer=unicode" in WordMetric(tokenizer="zh").unread(THAI)
    assert WordMetric().unread(CYRILLIC) is None
    assert "a-z" in WordMetric(tokenizer="rouge").unread(CYRILLIC)


def test_each_distinct_pair_is_measured_once_and_references_are_prepared_once():
    prepared, asked = [], []

    def prepare(references):
        prepared.append(references)
        return len(references)

    def measure(hypothesis, n_references):
        asked.append(hypothesis)
        return len(hypothesis), n_references

    texts = [("a b", ("c", "d")), ("a", ("c", "d")), ("a b", ("c", "d")), ("a b", ("e",))]
    segments = [Segment(str(i), *text) for i, text in enumerate(texts)]
    rows, flags = measured(segments, 2, Runtime(), "test", lambda text: tuple(text.split()), prepare, measure)
    np.testing.assert_array_equal(rows, [[2, 2], [1, 2], [2, 2], [2, 1]])
    assert not flags["empty"].any()
    assert len(prepared) == 2
    assert len(asked) == 3


def test_a_text_without_words_is_empty_or_untokenized():
    texts = [("", "a"), ("?!", "a"), ("a", "..."), ("a", " "), ("a", "a")]
    segments = [Segment(str(i), hypothesis, (reference,)) for i, (hypothesis, reference) in enumerate(texts)]
    found = Gleu(tokenizer="unicode").score(segments, Runtime()).flags
    assert found["empty"].tolist() == [True, False, False, True, False]
    assert found["untokenized"].tolist() == [False, True, True, False, False]


def test_grams_of_one_order():
    assert grams(("a", "b", "a", "b"), 2) == {("a", "b"): 2, ("b", "a"): 1}
    assert not grams(("a",), 2)
