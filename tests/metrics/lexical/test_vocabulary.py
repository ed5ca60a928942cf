from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.metrics.lexical import vocabulary as module
from nlgauge.metrics.lexical.vocabulary import AnyWords, AsciiWords, number
from nlgauge.text.tokenize import TOKENIZERS, rouge_words

texts = st.lists(st.text(st.sampled_from("abz019AK \n\0-é猫\ud800\u212a"), max_size=30), max_size=8)


def split(numbered):
    return [numbered.tokens[a:b].tolist() for a, b in pairwise(numbered.starts)]


def renamed(rows):
    """The same rows with names in order of first appearance."""
    names = {}
    return [[names.setdefault(token, len(names)) for token in row] for row in rows]


@pytest.mark.parametrize("tokenizer", ["rouge", "unicode"])
def test_equal_tokens_get_equal_numbers_across_texts(tokenizer):
    rows = split(number(["The cat, the dog", "", "dog cat! dog"], tokenizer))
    assert renamed(rows) == [[0, 1, 0, 2], [], [2, 1, 2]]


@given(texts, st.sampled_from(["rouge", "unicode"]))
def test_numbers_stand_for_the_tokens_of_the_named_tokenizer(rows, tokenizer):
    numbered = number(rows, tokenizer)
    assert renamed(split(numbered)) == renamed([TOKENIZERS[tokenizer](row) for row in rows])
    assert numbered.size > numbered.tokens.max(initial=-1)
    assert len(numbered.lengths) == len(rows)


@given(texts)
def test_a_stemmer_merges_what_it_makes_equal_and_is_asked_once_a_word(rows):
    asked = []

    def first_letter(word):
        asked.append(word)
        return word[0]

    merged = number(rows, "rouge", first_letter)
    words = [rouge_words(row) for row in rows]
    assert renamed(split(merged)) == renamed([[word[0] for word in row] for row in words])
    assert sorted(asked) == sorted({word for row in words for word in row})
    assert merged.size == len({word[0] for row in words for word in row})


@pytest.mark.parametrize("characters", [1, 7, 100])
def test_the_size_of_a_block_changes_no_number_of_equal_tokens(monkeypatch, characters):
    rows = [" ".join(f"w{i * j % 11}" for i in range(j)) for j in range(20)]
    whole = renamed(split(number(rows, "rouge")))
    monkeypatch.setattr(module, "_CHARACTERS", characters)
    assert renamed(split(number(rows, "rouge"))) == whole


@pytest.mark.parametrize("bits", [0, 1, 4])
@pytest.mark.parametrize("stemmed", [False, True])
def test_full_tables_overflow_into_a_dictionary(monkeypatch, bits, stemmed):
    monkeypatch.setattr(module, "_LEAST_BITS", bits)
    monkeypatch.setattr(module, "_MOST_BITS", bits)
    monkeypatch.setattr(module, "_CHARACTERS", 300)
    rng = np.random.default_rng(0)
    rows = [" ".join(f"word{i}" for i in rng.integers(200, size=30)) for _ in range(40)]
    normal = (lambda word: word[:-1]) if stemmed else None
    expected = [[normal(word) if stemmed else word for word in row.split()] for row in rows]
    assert renamed(split(number(rows, "rouge", normal))) == renamed(expected)


def test_words_that_agree_in_the_letters_a_machine_word_holds_are_told_apart():
    rows = [" ".join("x" * n for n in (7, 8, 9, 15, 16, 17, 18, 40)), "x" * 16 + "y " + "x" * 8 + "y " + "x" * 16]
    assert renamed(split(number(rows, "rouge"))) == [[0, 1, 2, 3, 4, 5, 6, 7], [8, 9, 4]]


def test_words_come_back_from_their_numbers():
    vocabulary = AsciiWords(100)
    words = ["a", "b2", "x" * 8, "x" * 9, "x" * 16, "x" * 17, "0"]
    numbers, counts = vocabulary.add([" ".join(words), "a b2"])
    assert counts.tolist() == [7, 2]
    assert numbers[7:].tolist() == numbers[:2].tolist()
    order = np.sort(numbers[:7])
    assert dict(zip(order.tolist(), vocabulary.tokens(order), strict=True)) == dict(
        zip(numbers[:7].tolist(), words, strict=True)
    )
    assert vocabulary.size > numbers.max()


def test_words_of_other_scripts_come_back_too():
    vocabulary = AnyWords(str.split)
    numbers, counts = vocabulary.add(["猫 犬 猫", "", "犬"])
    assert (numbers.tolist(), counts.tolist()) == ([0, 1, 0, 1], [3, 0, 1])
    assert vocabulary.tokens(np.array([0, 1])) == ["猫", "犬"]


def test_tables_are_no_larger_than_the_text_can_fill():
    assert number(["one pair"], "rouge").size < 4096
    assert number(["a" * 10_000_000], "rouge").size <= 3 * (1 << module._MOST_BITS) + 1


@pytest.mark.parametrize("rows", [[], [""], ["", ""], ["\0"], ["\0", "a\0b"], [" "]])
def test_texts_without_words_keep_their_place(rows):
    numbered = number(rows, "rouge")
    assert renamed(split(numbered)) == renamed([rouge_words(row) for row in rows])
    assert len(numbered.starts) == len(rows) + 1
