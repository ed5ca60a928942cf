"""What goes round, and what merely says a word twice."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.metrics.guards.loops import LEAST, PART, is_loop, loop, turns_itself


def loops(text, spaced=True):
    return is_loop(re.findall(r"\w+", text) if spaced else list(text), spaced)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("on a board on a board on a board", True),  # three words, three turns: nine words, the least
        ("on a board on a board on a", False),  # eight words, two turns and two thirds
        ("and so on and so on and then and so on", False),  # three turns, but "then" stands between
        ("one two three four one two three four one two three four", True),  # four words, three turns
        ("one two three four one two three four one two three", False),  # eleven of twelve words
        ("the the the the the the the the the", True),  # nine times one word
        ("the the the the the the the the", False),
        ("more and more and more and more and", False),  # eight words in turns of two
        ("again and again and again and again and again", True),  # nine
        ("more and more of it and more and more and still more and more of that", False),
        ("0 0 0 0 0 0 0 0 0 0 0 0", False),  # a table
        ("1 2 3 0 0 0 0 0 0 0 0 0 0", False),  # nor do numbers beside it make one
        ("they had 3 goals 0 0 0 0 0 0 0 0 0", False),
        ("5 goals 5 goals 5 goals 5 goals 5 goals", True),  # "goals" is a word
        ("m" * 48, True),
        ("m" * 47, False),
        ("oh n" + "o" * 60, True),
        ("ha" * 24, True),
        ("abcdefghijklmnop" * 3, True),  # turns of 16 letters
        ("abcdefghijklmnopq" * 9, False),  # turns of 17 letters: no word goes on like this
        ("1" * 60, False),
        ("", False),
    ],
)
def test_three_turns_of_nine_words_make_a_loop(text, found):
    assert loops(text) == found


def test_a_loop_that_is_less_than_a_third_of_its_text_is_none():
    loop, others = "on a board " * 3, [f"w{i}" for i in range(19)]
    assert (LEAST, PART) == (9, 1 / 3)
    assert loops(loop + " ".join(others[:18]))  # 9 of 27 words
    assert not loops(loop + " ".join(others))  # 9 of 28
    assert loops(" ".join(others[:9]) + " " + loop + " ".join(others[9:18]))  # wherever it stands


def test_what_a_loop_takes_up_and_what_of_it_was_said_before():
    assert loop("so it is on a board on a board on a board on".split(), True) == (10 / 13, 7 / 13)  # three words turn
    assert loop("it is on a board".split(), True) == (0, 0)
    assert loop(["so", "m" * 48], True) == (48 / 50, 48 / 50)


def test_where_no_blanks_set_words_apart_letters_are_counted():
    assert loops("今天下雨" * 5, spaced=False)  # 20 letters, five turns
    assert loops("天下雨" * 6, spaced=False)  # 18
    assert loops("今天下雨路关" * 3, spaced=False)  # 18, three turns
    assert not loops("天下雨" * 5 + "天下", spaced=False)  # 17
    assert not loops("今天下雨路关了人们等" * 2, spaced=False)  # two turns


def test_sentences_that_share_words_are_no_loop():
    assert not loops(
        "Smith scored in the first half. Smith scored in the second half. Jones scored in the second half, and Smith"
        " was sent off in the second half."
    )
    assert not loops(" ".join(f"item {i} costs {i} pounds" for i in range(40)))
    # the same sentence twice is told twice, three times it turns
    sentence = "the road is closed because of works near the old bridge "
    assert not loops(sentence * 2)
    assert loops(sentence * 3)


@pytest.mark.parametrize(
    ("text", "found"), [("Ha ha ha ha!", True), ("No, no, no.", False), ("哈哈哈哈", True), ("WWW", False)]
)
def test_a_side_that_says_a_short_word_four_times_turns_itself(text, found):
    assert turns_itself(text) == found


words = st.sampled_from(["a", "b", "c", "d"])


@given(phrase=st.lists(words, min_size=1, max_size=3, unique=True), turns=st.integers(min_value=9, max_value=20))
def test_every_phrase_that_turns_nine_times_is_found(phrase, turns):
    assert is_loop(phrase * turns, True)


@given(text=st.lists(words, max_size=40))
def test_what_is_found_is_there(text):
    """By the definition: a stretch of nine words or more, three turns or more, and a third of the text."""
    n = len(text)
    there = any(
        text[start + period : end] == text[start : end - period]
        for period in range(1, n // 3 + 1)
        for start in range(n)
        for end in range(start + max(LEAST, 3 * period, -(-n // 3)), n + 1)
    )
    assert not is_loop(text, True) or there


@pytest.mark.parametrize("text", ["a b " * 50_000, "ab" * 100_000, " ".join(f"w{i % 997} x" for i in range(100_000))])
def test_the_time_grows_with_the_length_alone(text):
    start = time.process_time()
    loops(text)
    turns_itself(text)
    assert time.process_time() - start < 5  # squares of 200,000 would take minutes
