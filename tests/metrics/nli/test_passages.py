from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from nlgauge.metrics.nli.passages import Nearness, windows


def test_windows_overlap_by_a_sentence_by_hand():
    # room 6: 2 + 3, then 3 + 3, then 3 + 1; 9 alone though too long; 1 beside it would be too much
    assert windows([2, 3, 3, 1, 9, 1], 6) == [(0, 2), (1, 3), (2, 4), (4, 5), (5, 6)]
    assert windows([2, 3], 1) == [(0, 1), (1, 2)]
    assert windows([], 5) == []


@given(st.lists(st.integers(0, 12), max_size=20), st.integers(1, 15))
def test_windows_leave_nothing_out_and_overfill_only_by_one_sentence(sizes, room):
    found = windows(sizes, room)
    assert {i for start, end in found for i in range(start, end)} == set(range(len(sizes)))
    assert all(end == start + 1 or sum(sizes[start:end]) <= room for start, end in found)
    assert all(before < after for before, after in pairwise(found))  # each begins and ends later


PASSAGES = ["The cat sat on the mat.", "A dog barked at the cats.", "It rained.", "The mat was wet."]


def test_the_nearest_share_the_rarest_words():
    # "cat" is in two of four passages, log 3; "mat" in two; "the" in three, log 7/3; "dogs" in one, log 5
    near = Nearness(PASSAGES)
    assert near.nearest("the cat", 2) == [0, 1]  # both log 3 + log 7/3
    assert near.nearest("dogs", 1) == [1]
    assert near.nearest("the mat", 2) == [0, 3]
    assert near.nearest("dogs on the mat", 2) == [0, 1]  # 0: log 5 + log 7/3 + log 3; 1: log 5 + log 7/3; 3: without


def test_all_are_near_where_no_word_is_shared_or_few_passages_are_there():
    near = Nearness(PASSAGES)
    assert near.nearest("elephants", 1) == [0, 1, 2, 3]
    assert near.nearest("", 1) == [0, 1, 2, 3]
    assert near.nearest("dogs", 4) == [0, 1, 2, 3]
    assert Nearness([]).nearest("dogs", 3) == []


def test_words_of_other_scripts_are_shared_too():
    near = Nearness(["猫がいる。", "犬がいる。", "雨が降る。"])
    assert near.nearest("犬", 1) == [1]
