from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.runtime.batching import by_length, margin, runs, windows
from nlgauge.runtime.runtime import DTYPES

lengths = st.lists(st.integers(0, 50), max_size=60)


def batches(*arguments):
    return [batch.tolist() for batch in by_length(*arguments)]


def test_batches_worked_by_hand():
    # by length: places 1 (1 token), 3 (2), 0 (3), 4 (3), 2 (9); under a budget of 6: 1 + 2 + 3, then 3, then 9 alone
    assert batches([3, 1, 9, 2, 3], 6) == [[1, 3, 0], [4], [2]]


def test_a_text_longer_than_the_budget_goes_alone():
    assert batches([9, 9], 4) == [[0], [1]]


def test_no_texts_make_no_batch():
    assert batches([], 4) == []


def test_texts_of_no_tokens_cost_nothing():
    assert batches([0] * 5, 1) == [[0, 1, 2, 3, 4]]


@given(lengths, st.integers(1, 100))
def test_every_text_is_in_one_batch_and_no_batch_of_two_is_over_the_budget(tokens, budget):
    made = batches(tokens, budget)
    assert sorted(i for batch in made for i in batch) == list(range(len(tokens)))
    assert all(batch for batch in made)
    assert all(len(batch) == 1 or sum(tokens[i] for i in batch) <= budget for batch in made)


@given(lengths, st.integers(1, 100))
def test_a_batch_ends_only_where_the_next_text_does_not_fit(tokens, budget):
    made = batches(tokens, budget)
    for batch, after in pairwise(made):
        assert sum(tokens[i] for i in batch) + tokens[after[0]] > budget


@given(lengths, st.integers(1, 100))
def test_texts_come_by_length_and_those_of_one_length_in_their_order(tokens, budget):
    order = [i for batch in batches(tokens, budget) for i in batch]
    assert order == sorted(range(len(tokens)), key=lambda i: (tokens[i], i))


def test_windows_of_pairs_worked_by_hand():
    # texts of 3, 2, 4 and 1; at most 7: (0, 1) 5, (1, 0) nothing new, (3, 3) 6; (2, 1) would be 10 and begins anew: 6,
    # (3, 2) 7; (0, 0) would be 10
    pairs = np.array([[0, 1], [1, 0], [3, 3], [2, 1], [3, 2], [0, 0]])
    assert [window.tolist() for window in windows(pairs, [3, 2, 4, 1], 7)] == [[0, 1, 2], [3, 4], [5]]
    assert [window.tolist() for window in windows(pairs[:4], [3, 2, 4, 1], 1)] == [[0], [1], [2], [3]]
    assert list(windows(np.zeros((0, 2), dtype=np.int64), [3], 7)) == []


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=30), st.data(), st.integers(1, 60))
def test_every_pair_is_in_one_window_and_none_of_two_is_over_the_size(pairs, data, most):
    sizes = data.draw(st.lists(st.integers(0, 20), min_size=7, max_size=7))

    def size(places):
        return sum(sizes[text] for text in {text for place in places for text in pairs[place]})

    made = [window.tolist() for window in windows(np.array(pairs, dtype=np.int64).reshape(-1, 2), sizes, most)]
    assert [place for window in made for place in window] == list(range(len(pairs)))
    assert all(len(window) == 1 or size(window) <= most for window in made)
    assert all(size([*window, after[0]]) > most for window, after in pairwise(made))


def test_runs_of_equal_neighbours():
    assert list(runs([5, 5, 2, 5, 5, 5])) == [(0, 2), (2, 3), (3, 6)]
    assert list(runs([])) == []


@given(st.lists(st.integers(0, 3), max_size=30))
def test_runs_cover_everything_and_neighbouring_runs_differ(values):
    found = list(runs(np.array(values, dtype=np.int64)))
    assert [i for start, end in found for i in range(start, end)] == list(range(len(values)))
    assert all(len(set(values[start:end])) == 1 for start, end in found)
    assert all(values[end - 1] != values[end] for _, end in found[:-1])


@pytest.mark.parametrize("kind", [list, np.array])
def test_lengths_may_be_a_list_or_an_array(kind):
    assert batches(kind([2, 1]), 3) == [[1, 0]]


def test_every_precision_has_a_margin_and_a_lower_one_no_smaller():
    margins = {dtype: margin(dtype) for dtype in DTYPES}
    assert margins["float64"] <= margins["float32"] < margins["float16"] < margins["bfloat16"] < 0.5
