"""Words and their pieces; what the network makes of them is in test_taggers."""

from __future__ import annotations

import pytest

pytest.importorskip("tokenizers")

from nlgauge.models.entailment import PairTokenizer
from nlgauge.models.locate import locate
from nlgauge.models.spans import read_words


def test_places_are_the_first_pieces_of_words():
    tokenizer = PairTokenizer(locate("embedded"), 64)
    read = read_words(tokenizer, [(("xylographer", "sat"), ("it", "sat")), (("a", "\u200b", "b"), ("a",))])
    ids, types = read.pairs.ids(0)
    names = tokenizer._texts.names(ids)
    assert [names[place] for place in read.places[0]] == ["x", "sat", "[SEP]"]
    assert types[read.places[0]].tolist() == [1, 1, 1]  # the other text stands first
    assert read.words[0].tolist() == [0, 1, 2]
    assert read.words[1].tolist() == [0, 2, 3]  # a word without pieces is not judged


def test_what_does_not_fit_is_cut_on_the_longer_side():
    tokenizer = PairTokenizer(locate("embedded"), 16)
    read = read_words(tokenizer, [(("word",) * 30, ("a", "b"))])
    assert len(read.pairs.ids(0)[0]) == 16
    assert read.words[0].tolist() == [*range(11), 30]
