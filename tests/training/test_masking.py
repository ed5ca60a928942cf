"""What is masked, and what the texts say of their words."""

import numpy as np
import pytest

pytest.importorskip("torch")

from nlgauge.core.errors import InputError
from nlgauge.io.files import InputFile
from nlgauge.models.infill import PieceTokenizer
from nlgauge.models.locate import locate
from nlgauge.training.masking import encode_texts, masked, read_texts

TEXTS = ["the cat sat on the mat, today", "A xyz dog lay on a rug", "the Cat fell on the Cat", "cat"]


@pytest.fixture(scope="module")
def tokenizer(tiny_model):
    return PieceTokenizer(locate(str(tiny_model("bert"))), 12)


@pytest.fixture(scope="module")
def texts(tokenizer):
    return encode_texts(TEXTS, tokenizer)


def pieces(tokenizer, ids):
    return [tokenizer.vocabulary[i] for i in ids]


def test_words_of_one_piece_are_what_can_be_masked(tokenizer, texts):
    assert (len(texts.ids), texts.n_left_out, texts.n_cut) == (3, 1, 0)  # "cat" alone says nothing of itself
    assert pieces(tokenizer, texts.ids[1]) == ["[CLS]", "a", "x", "##y", "##z", "dog", "lay", "on", "a", "rug", "[SEP]"]
    assert pieces(tokenizer, texts.ids[1][texts.words[1]]) == ["a", "dog", "lay", "on", "a", "rug"]
    assert "," in pieces(tokenizer, texts.ids[0][texts.words[0]])


def test_what_is_too_long_is_cut_and_counted(tokenizer):
    found = encode_texts(["the cat sat on the mat " * 3], tokenizer)
    assert (found.lengths.tolist(), found.n_cut) == ([12], 1)
    assert found.words[0].tolist() == list(range(1, 11))


def test_capitals_inside_a_sentence_make_names(tokenizer):
    found = encode_texts(["the Cat sat on the MAT", "the Cat fell not", "Dog rain fell, Dog sat"], tokenizer)
    named = {
        word: tuple(found.capital[:, tokenizer.vocabulary.index(word)].tolist())
        for word in ("cat", "mat", "dog", "sat")
    }
    # "Dog" stands at the beginning and behind a comma: that says nothing
    assert named == {"cat": (True, False), "mat": (True, True), "dog": (False, False), "sat": (False, False)}


def test_pieces_are_counted_as_words(tokenizer, texts):
    counts = texts.counts(len(tokenizer.vocabulary))
    assert counts[tokenizer.vocabulary.index("the")] == 4
    assert counts[tokenizer.vocabulary.index("##y")] == 0


@pytest.mark.parametrize(("share", "expected"), [(0.001, [1, 1, 1]), (0.5, [4, 3, 3]), (1.0, [8, 6, 6])])
def test_a_share_of_the_words_is_masked_and_at_least_one(tokenizer, texts, share, expected):
    rows, places = masked(texts, [0, 1, 2], share, 0.0, tokenizer.mask, 9, np.random.default_rng(0))
    assert [len(place) for place in places] == expected
    for i, (row, place) in enumerate(zip(rows, places, strict=True)):
        assert (row[place] == tokenizer.mask).all()
        others = np.setdiff1d(np.arange(len(row)), place)
        assert (row[others] == texts.ids[i][others]).all()
        assert set(place) <= set(texts.words[i])
    assert tokenizer.mask not in np.concatenate(texts.ids)  # the texts stay as they were


def test_of_what_is_shown_half_is_another_piece(tokenizer, texts):
    size, other, same, n = len(tokenizer.vocabulary), 0, 0, 0
    for seed in range(300):
        rows, places = masked(texts, [0], 1.0, 0.4, tokenizer.mask, size, np.random.default_rng(seed))
        shown = rows[0][places[0]]
        own = texts.ids[0][places[0]]
        n += len(shown)
        same += int((shown == own).sum())
        other += int(((shown != own) & (shown != tokenizer.mask)).sum())
    # 2400 words: 0.2 each, three standard deviations are 0.025; a piece drawn at random may be the word itself or the
    # mask (2 of about 90)
    assert same / n == pytest.approx(0.2, abs=0.03)
    assert other / n == pytest.approx(0.2, abs=0.03)


def test_lines_are_texts_and_blank_ones_are_none(tmp_path):
    (tmp_path / "a.txt").write_text("one two\n\n  \nthree\n")
    assert read_texts([InputFile(str(tmp_path / "a.txt"))]) == ["one two", "three"]
    (tmp_path / "b.txt").write_text("\n\n")
    with pytest.raises(InputError, match=r"b\.txt holds no text, expected one sentence per line"):
        read_texts([InputFile(str(tmp_path / "b.txt"))])


def test_texts_without_words_are_refused(tokenizer):
    with pytest.raises(InputError, match="no text has 3 words that the model knows, of 2"):
        encode_texts(["?", "cat"], tokenizer)
