"""What a word has in common with others: by hand, and as a search of every pair finds it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.text.substrings import best_shares

words = st.lists(st.text("abc", min_size=1, max_size=8), min_size=1, max_size=5)


@pytest.mark.parametrize(
    ("first", "second", "share"),
    [("ferry", "ferries", 8 / 12), ("rain", "rain", 1), ("rain", "sun", 2 / 7), ("a", "b", 0), ("abxcd", "cdyab", 0.4)],
)
def test_the_share_of_two_words(first, second, share):
    assert best_shares([first], [second]) == [share]
    assert best_shares([second], [first]) == [share]


def test_a_shorter_substring_of_a_shorter_word_can_be_more():
    # "abcx" has "abc" in common with the first, 3 of 4 and of 20 characters, and "ab" with the second, 2 of 4 and of 3
    assert best_shares(["abcx"], ["abc" + "d" * 17, "aby"]) == [2 * 2 / 7]
    assert best_shares(["abc"], []) == [0]


@given(words=words, others=words)
def test_it_is_the_best_of_all_pairs(words, others):
    def share(one, other):
        common = [j - i for i in range(len(one)) for j in range(i + 1, len(one) + 1) if one[i:j] in other]
        return 2 * max(common, default=0) / (len(one) + len(other))

    assert best_shares(words, others) == [max(share(one, other) for other in others) for one in words]


def test_words_of_one_letter_are_soon_compared():
    assert best_shares(["a" * 9999], ["a" * 10000]) == [2 * 9999 / 19999]
    assert best_shares(["a" * 150], ["a" * k for k in range(1, 300) if k != 150]) == [2 * 150 / 301]  # of 151
