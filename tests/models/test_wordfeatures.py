"""Features of words by hand."""

from __future__ import annotations

import numpy as np

from nlgauge.models.wordfeatures import FEATURES, word_features

HYP, REF = ("The", "hat", "hat", "sat", "7", "."), ("the", "cat", "sat", "hatter", ".")


def test_features_by_hand():
    rows = word_features(HYP, REF)
    assert rows.shape == (7, FEATURES)
    the, hat, again, sat, seven, mark, end = rows
    # known, stem, as often, after the same word, before the same word, mark, digit, capital, repeated
    assert the[:9].tolist() == [1, 1, 1, 1, 0, 0, 0, 1, 0]
    assert hat[:9].tolist() == [0, 0, 0, 0, 0, 0, 0, 0, 0]
    assert again[:9].tolist() == [0, 0, 0, 0, 0, 0, 0, 0, 1]
    assert sat[:9].tolist() == [1, 1, 1, 0, 0, 0, 0, 0, 0]
    assert seven[:9].tolist() == [0, 0, 0, 0, 0, 0, 1, 0, 0]
    assert mark[:9].tolist() == [1, 1, 1, 0, 1, 1, 0, 0, 0]
    assert not end[:9].any()
    np.testing.assert_allclose(rows[:, 9], 3 / 6)
    np.testing.assert_allclose(rows[:, 10], 3 / 5)
    assert rows[:, 11].tolist() == [0, 0, 0, 0, 0, 0, 1]


def test_of_empty_texts_there_is_the_end_alone():
    assert word_features((), REF).shape == (1, FEATURES)
    assert word_features((), ())[0, 9:].tolist() == [1, 1, 1]
