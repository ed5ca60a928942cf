from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.stats.correlation import pairs
from nlgauge.stats.correlation.pairs import inversions, pair_counts, tied_pairs

FIELDS = ["concordant", "discordant", "tied_x", "tied_z", "tied_both"]
vectors = st.integers(1, 12).flatmap(lambda n: st.tuples(*[st.lists(st.integers(-3, 3), min_size=n, max_size=n)] * 2))


def counted(x, z, epsilon=0.0, human_epsilon=0.0):
    """The definition, pair by pair."""
    found = dict.fromkeys(FIELDS, 0)
    for (a, c), (b, d) in combinations(zip(x, z, strict=True), 2):
        tied_x, tied_z = abs(a - b) <= epsilon, abs(c - d) <= human_epsilon
        if tied_x or tied_z:
            found["tied_both" if tied_x and tied_z else "tied_x" if tied_x else "tied_z"] += 1
        else:
            found["concordant" if (a > b) == (c > d) else "discordant"] += 1
    return list(found.values())


def fields(counts):
    return [int(getattr(counts, field)) for field in FIELDS]


def test_six_pairs_by_hand():
    # x: 1 2 2 3, z: 1 1 1 0. Pairs 12 13 14 23 24 34: tied in z, tied in z, discordant, tied in both, discordant,
    # discordant
    counts = pair_counts([1, 2, 2, 3], [1, 1, 1, 0])
    assert fields(counts) == [0, 3, 0, 2, 1]
    assert (int(counts.total), int(counts.untied_x), int(counts.untied_z), int(counts.net)) == (6, 5, 3, -3)


@given(vectors)
def test_both_ways_of_counting_follow_the_definition(xz):
    x, z = (np.array(v, dtype=float) for v in xz)
    assert fields(pair_counts(x, z)) == counted(x, z)
    assert fields(pairs._by_sorting(x, z)) == counted(x, z)


@given(vectors, st.sampled_from([0.0, 1.0, 1.5, 2.0, 9.0]), st.sampled_from([0.0, 1.0]))
def test_epsilon_ties_what_is_no_further_apart(xz, epsilon, human_epsilon):
    x, z = (np.array(v, dtype=float) for v in xz)
    assert fields(pair_counts(x, z, epsilon=epsilon, human_epsilon=human_epsilon)) == counted(
        x, z, epsilon, human_epsilon
    )


@pytest.mark.parametrize("n", [199, 200, 201, 400])
def test_sorting_and_comparing_agree_across_the_switch(n):
    rng = np.random.default_rng(n)
    x, z = rng.integers(0, 40, size=(2, 3, n)).astype(float)
    compared = pairs._by_comparing(x, z, np.zeros(1), 0.0, (3,))
    for field in FIELDS:
        assert getattr(pair_counts(x, z), field).tolist() == getattr(compared, field).tolist()


def test_zero_ties_with_minus_zero():
    assert fields(pair_counts([0.0, -0.0], [1, 2])) == [0, 0, 1, 0, 0]
    assert fields(pairs._by_sorting(np.array([0.0, -0.0]), np.array([1.0, 2.0]))) == [0, 0, 1, 0, 0]


def test_leading_axes_broadcast_and_large_input_is_cut(monkeypatch):
    rng = np.random.default_rng(0)
    x, z = rng.integers(0, 4, size=(5, 7, 6)).astype(float), rng.integers(0, 3, size=(7, 6)).astype(float)
    epsilon = np.arange(5.0)[:, None]
    whole = pair_counts(x, z, epsilon=epsilon)
    monkeypatch.setattr(pairs, "_CELLS", 6)
    cut = pair_counts(x, z, epsilon=epsilon)
    for field in FIELDS:
        assert getattr(cut, field).tolist() == getattr(whole, field).tolist()
    assert whole.total.shape == (5, 7)
    assert [int(getattr(whole, f)[4, 2]) for f in FIELDS] == counted(x[4, 2], z[2], 4.0)


def test_more_pairs_at_one_distance_than_a_byte_holds():
    x = np.arange(300.0)
    assert int(pair_counts(x, x, epsilon=0.5).concordant) == 300 * 299 // 2


@given(st.lists(st.integers(-4, 4), max_size=20))
def test_inversions_are_falling_pairs(values):
    assert int(inversions(np.array(values, dtype=float))) == sum(a > b for a, b in combinations(values, 2))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=15))
def test_tied_pairs_are_equal_pairs_of_a_sorted_vector(values):
    ordered = np.sort(np.array(values))
    assert int(tied_pairs(ordered[1:] == ordered[:-1])) == sum(a == b for a, b in combinations(values, 2))


def test_refusals():
    with pytest.raises(InputError, match=r"shapes \(3,\) and \(2,\), expected equal lengths"):
        pair_counts([1, 2, 3], [1, 2])
    with pytest.raises(InputError, match="epsilon is negative or NaN"):
        pair_counts([1, 2], [1, 2], epsilon=-0.1)
