import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.metrics.lexical import subsequence as module
from nlgauge.metrics.lexical.bags import Numbered
from nlgauge.metrics.lexical.subsequence import lcs_lengths, union_hits, union_matches

sentences = st.lists(st.lists(st.integers(0, 3), max_size=9), max_size=4)


def numbered(rows, size=None):
    tokens = np.array([token for row in rows for token in row], dtype=np.int64)
    return Numbered(tokens, np.cumsum([0, *map(len, rows)]), size or int(tokens.max(initial=0)) + 1)


def table(reference, hypothesis):
    """Lengths of the longest common subsequences of all pairs of beginnings."""
    lengths = np.zeros((len(reference) + 1, len(hypothesis) + 1), dtype=int)
    for i, wanted in enumerate(reference, start=1):
        for j, token in enumerate(hypothesis, start=1):
            lengths[i, j] = lengths[i - 1, j - 1] + 1 if wanted == token else max(lengths[i - 1, j], lengths[i, j - 1])
    return lengths


def matched(reference, hypothesis):
    """Places in the reference of the subsequence read off the table from its end, by the rule of `union_matches`."""
    lengths, found = table(reference, hypothesis), set()
    i, j = len(reference), len(hypothesis)
    while i and j:
        if reference[i - 1] == hypothesis[j - 1]:
            i, j = i - 1, j - 1
            found.add(i)
        elif lengths[i, j - 1] > lengths[i - 1, j]:
            j -= 1
        else:
            i -= 1
    return found


def hits(reference, hypothesis):
    """Union over sentences, then no token more often than the hypothesis has it."""
    union = [
        sentence[i] for sentence in reference for i in set().union(*(matched(sentence, other) for other in hypothesis))
    ]
    own = [token for sentence in hypothesis for token in sentence]
    return sum(min(union.count(token), own.count(token)) for token in set(union))


def random_rows(seed, lengths, kinds):
    rng = np.random.default_rng(seed)
    return [rng.integers(kinds, size=length).tolist() for length in lengths]


def test_the_longest_common_subsequence_may_skip_on_both_sides():
    # 1 2 3 4 and 2 9 4 1: "2 4"
    rows = numbered([[1, 2, 3, 4], [2, 9, 4, 1], []], 10)
    assert lcs_lengths(rows, np.array([0, 1, 0, 2]), np.array([1, 0, 0, 0])).tolist() == [2, 2, 4, 0]


@pytest.mark.parametrize("size", [None, module._CODE_POINTS])
def test_lengths_are_those_of_the_table(size):
    rows = random_rows(0, [0, 1, 5, 30, 63, 64, 65, 130, 200], 6)
    pairs = np.array([(h, r) for h in range(len(rows)) for r in range(len(rows))])
    expected = [table(rows[r], rows[h])[-1, -1] for h, r in pairs]
    assert lcs_lengths(numbered(rows, size), *pairs.T).tolist() == expected


def test_token_numbers_that_are_no_characters_are_told_apart():
    # the surrogates of Unicode, U+D800 to U+DFFF, are no characters by themselves
    rows = numbered([[0xD800, 0xDFFF, 0x10FFFF], [0xDFFF, 0xD800, 0x10FFFF]], module._CODE_POINTS - 1)
    assert lcs_lengths(rows, np.array([0]), np.array([1])).tolist() == [2]


def test_the_union_counts_each_token_of_the_reference_once():
    # section 3.2 of Lin (2004): against w1 w2 w3 w4 w5 the sentences w1 w2 w6 w7 w8 and w1 w3 w8 w9 w5 match w1 w2 and
    # w1 w3 w5: 4 of 5
    rows = numbered([[1, 2, 3, 4, 5], [1, 2, 6, 7, 8], [1, 3, 8, 9, 5]])
    assert union_hits(rows, np.array([0, 1, 3]), np.array([1]), np.array([0])).tolist() == [4]


def test_no_token_counts_more_often_than_the_hypothesis_has_it():
    # both sentences of the reference match the one 7 of the hypothesis; two hypothesis sentences match the one 7 of the
    # reference
    rows = numbered([[7, 1], [7, 2], [7], [7, 3], [7, 4]])
    first = np.array([0, 2, 3, 5])
    assert union_hits(rows, first, np.array([1, 1, 2]), np.array([0, 1, 1])).tolist() == [1, 1, 1]


def test_ties_between_subsequences_are_read_from_the_end_as_rouge_score_does():
    # of 1 2 and 2 1 either token may match: from the end, 2 and 1 differ, no cell is longer, so the reference loses its
    # 2
    groups, places = union_matches(numbered([[1, 2], [2, 1]]), np.array([0]), np.array([1]), np.array([2]))
    assert (groups.tolist(), places.tolist()) == ([0], [0])


@given(sentences, sentences, sentences)
def test_hits_are_those_of_the_table(one, two, three):
    texts = [one, two, three]
    rows, first = numbered([row for text in texts for row in text], 4), np.cumsum([0, *map(len, texts)])
    pairs = np.array([(h, r) for h in range(3) for r in range(3)])
    assert union_hits(rows, first, *pairs.T).tolist() == [hits(texts[r], texts[h]) for h, r in pairs]


@pytest.mark.parametrize("lengths", [(63, 64, 65), (64, 64, 64), (1, 128, 129), (0, 70, 3)])
def test_sentences_around_the_width_of_a_machine_word_match_the_same_tokens(lengths):
    reference, hypothesis = random_rows(1, lengths, 9), random_rows(2, [66, 10, 64, 0, 150], 9)
    rows = numbered(reference + hypothesis, 9)
    groups, places = union_matches(rows, np.arange(3), np.full(3, 3), np.full(3, 8))
    for group in range(3):
        expected = set().union(*(matched(reference[group], other) for other in hypothesis))
        assert set((places[groups == group] - rows.starts[group]).tolist()) == expected
    assert union_hits(rows, np.array([0, 3, 8]), np.array([1]), np.array([0])).tolist() == [hits(reference, hypothesis)]


@given(sentences, sentences, st.integers(1, 30))
def test_the_size_of_a_batch_changes_no_hit(one, two, cells):
    rows, first = numbered(one + two, 4), np.cumsum([0, len(one), len(two)])
    pairs = np.array([(0, 1), (1, 0), (0, 0), (1, 1)]).T
    whole = union_hits(rows, first, *pairs).tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CELLS", cells)
        assert union_hits(rows, first, *pairs).tolist() == whole


@given(st.lists(st.integers(0, 5), max_size=40), st.lists(st.integers(0, 5), max_size=40))
def test_of_one_sentence_a_side_the_hits_are_the_longest_common_subsequence(one, two):
    rows = numbered([one, [], two, []], 6)
    found = union_hits(rows, np.array([0, 2, 4]), np.array([1]), np.array([0])).tolist()
    assert found == lcs_lengths(rows, np.array([2]), np.array([0])).tolist() == [hits([one], [two])]


def test_no_pair_has_no_hit():
    none = np.zeros(0, dtype=np.int64)
    assert union_hits(numbered([]), np.array([0]), none, none).tolist() == []
    assert lcs_lengths(numbered([]), none, none).tolist() == []
