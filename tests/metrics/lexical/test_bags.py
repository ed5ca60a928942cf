from collections import Counter
from itertools import chain, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.metrics.lexical import bags as module
from nlgauge.metrics.lexical.bags import Numbered, bags, batches, clipped_overlap, gather, ranges

texts = st.lists(st.lists(st.integers(0, 4), max_size=12), min_size=1, max_size=6)


def numbered(rows, size=5):
    starts = np.cumsum([0, *map(len, rows)])
    return Numbered(np.array([token for row in rows for token in row], dtype=np.int64), starts, size)


def grams(row, n):
    return Counter(tuple(row[i : i + n]) for i in range(len(row) - n + 1))


def test_a_bag_counts_and_never_reaches_into_the_next_text():
    # pairs of (1 1 1) and (1 2): 11 twice, 12 once; none of the last 1 and the first 1
    counted = bags(numbered([[1, 1, 1], [], [1, 2]]), 2)
    assert counted.counts.tolist() == [2, 1]
    assert counted.starts.tolist() == [0, 1, 1, 2]
    owners, kinds = np.divmod(counted.keys, counted.size)
    assert owners.tolist() == [0, 2]
    assert kinds[0] != kinds[1]


@given(texts, st.integers(1, 9), st.sampled_from([5, 1 << 16, 1 << 31]))  # n-grams as products, or numbered anew
def test_clipped_matches_are_those_of_two_counters(rows, n, size):
    pairs = [(h, r) for h in range(len(rows)) for r in range(len(rows))]
    expected = [(grams(rows[h], n) & grams(rows[r], n)).total() for h, r in pairs]
    hypotheses, references = np.array(pairs).T
    assert clipped_overlap(bags(numbered(rows, size), n), hypotheses, references).tolist() == expected


@given(texts, st.integers(1, 3))
def test_the_size_of_a_batch_changes_no_match(rows, n):
    hypotheses = np.repeat(np.arange(len(rows)), len(rows))
    references = np.tile(np.arange(len(rows)), len(rows))
    counted = bags(numbered(rows), n)
    whole = clipped_overlap(counted, hypotheses, references)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_ENTRIES", 1)
        assert clipped_overlap(counted, hypotheses, references).tolist() == whole.tolist()


def test_numbers_need_not_follow_each_other():
    rows = [[7, 1 << 18, 7], [1 << 18, 7]]
    overlap = clipped_overlap(bags(numbered(rows, (1 << 18) + 1), 2), np.array([0, 1]), np.array([1, 1]))
    assert overlap.tolist() == [1, 1]  # the pair (1 << 18, 7)


def test_no_text_and_empty_texts_have_no_grams():
    assert bags(numbered([]), 2).count(np.zeros(0, np.int64), np.zeros(0, np.int64)).tolist() == []
    empty = bags(numbered([[], [1]]), 2)
    assert empty.counts.tolist() == []
    assert clipped_overlap(empty, np.array([0, 1]), np.array([1, 0])).tolist() == [0, 0]
    assert empty.count(np.array([0]), np.array([0])).tolist() == [0]


def test_gathered_pairs_are_counted_in_any_order():
    counted = gather(np.array([1, 0, 1, 1]), np.array([3, 3, 2, 3]), 3, 5)
    assert counted.count(np.array([0, 0, 1, 1, 2]), np.array([3, 2, 3, 2, 3])).tolist() == [1, 0, 2, 1, 0]


@given(texts, st.data())
def test_joined_texts_are_their_neighbours_end_to_end(rows, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=4)))
    first = np.array([0, *cuts, len(rows)])
    joined = numbered(rows).joined(first)
    expected = [list(chain(*rows[a:b])) for a, b in pairwise(first)]
    assert [joined.tokens[a:b].tolist() for a, b in pairwise(joined.starts)] == expected
    assert joined.lengths.tolist() == [len(row) for row in expected]


@given(st.lists(st.tuples(st.integers(-5, 50), st.integers(0, 6))))
def test_ranges_lie_end_to_end(rows):
    starts, lengths = (np.array([row[i] for row in rows], dtype=np.int64) for i in range(2))
    assert ranges(starts, lengths).tolist() == [i for start, length in rows for i in range(start, start + length)]


@given(st.lists(st.integers(0, 30), max_size=20), st.integers(1, 40))
def test_batches_keep_every_place_in_order_and_near_the_budget(costs, budget):
    found = batches(np.array(costs, dtype=np.int64), budget)
    assert np.concatenate(found).tolist() == list(range(len(costs)))
    assert all(sum(costs[i] for i in batch) < budget + max(costs) for batch in found if len(batch))
