import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.stats.correlation.averaging import (
    Grouped,
    Ratio,
    blocks_of_groups,
    by_group,
    mean_of_groups,
    pool,
    same_entries,
)
from nlgauge.stats.correlation.coefficients import kendall_b, pearson
from nlgauge.stats.correlation.entries import Entries
from nlgauge.stats.correlation.preferences import kendall_like

labelled = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 3), st.booleans()), min_size=1, max_size=30
)


def laid(rows):
    x, z, group, keep = (np.array(column) for column in zip(*rows, strict=True))
    return Entries(
        x[None].astype(float), z.astype(float), keep[None].astype(bool), group, tuple(range(4)), np.arange(len(x))
    )


@given(labelled)
def test_blocks_hold_every_kept_entry_once_and_groups_whole(rows):
    entries = laid(rows)
    seen = {}
    for groups, index in blocks_of_groups(entries.groups, entries.keep[0], 4):
        seen |= {int(g): positions.tolist() for g, positions in zip(groups, index, strict=True)}
    expected = {g: [i for i, row in enumerate(rows) if row[2] == g and row[3]] for g in range(4)}
    assert seen == {g: positions for g, positions in expected.items() if positions}


@given(labelled)
def test_a_kernel_sees_each_group_alone(rows):
    entries = laid(rows)
    found = by_group(kendall_b, entries)
    for g in range(4):
        x, z = ([row[side] for row in rows if row[2] == g and row[3]] for side in (0, 1))
        assert found.sizes[0, g] == len(x)
        expected = float(kendall_b(x, z)) if len(x) > 1 else np.nan
        assert found.values[0, g] == pytest.approx(expected, nan_ok=True)


def test_metrics_that_keep_other_entries_and_take_other_options():
    x = np.array([[1.0, 2, 3, 9], [1, 2, 9, 3]])
    keep = np.array([[1, 1, 1, 0], [1, 1, 1, 1]], bool)
    entries = Entries(x, np.array([100.0, 50, 0, 75]), keep, np.zeros(4, int), ("only",), np.arange(4))
    assert [(m.tolist(), k.tolist()) for m, k in same_entries(keep)] == [
        ([0], keep[0].tolist()),
        ([1], keep[1].tolist()),
    ]
    found = by_group(kendall_like, entries, options={"threshold": 30})
    assert found.sizes[:, 0].tolist() == [3, 4]
    assert found.counts.denominator[:, 0].tolist() == [3, 4]  # 100-50 100-0 50-0, and 75-0
    thresholds = by_group(
        lambda x, z, *, epsilon: np.broadcast_to(epsilon, x.shape[:2]),
        entries,
        options={"epsilon": np.array([[7.0], [8.0]])},
    )
    assert thresholds.values[:, 0].tolist() == [7, 8]


def means(values, sizes=None, **options):
    values = np.array(values, dtype=float)
    found = mean_of_groups(
        Grouped(values, np.full(values.shape, 2) if sizes is None else np.array(sizes), None), **options
    )
    return found.values.tolist(), found.n_used.tolist(), found.n_undefined.tolist(), found.n_zeroed.tolist()


def test_undefined_groups_are_left_out_and_counted():
    assert means([[0.5, np.nan, 1.0]]) == ([0.75], [2], [1], [0])


def test_undefined_groups_may_count_as_zero_but_groups_of_one_entry_never():
    assert means([[0.5, np.nan, 1.0, np.nan]], sizes=[[3, 2, 3, 1]], undefined="zero") == ([0.5], [3], [1], [1])


def test_all_groups_undefined_is_nan_and_not_zero():
    value, n_used, n_undefined, _ = means([[np.nan, np.nan]])
    assert np.isnan(value[0])
    assert (n_used, n_undefined) == ([0], [2])


def test_two_metrics_may_be_held_to_the_same_groups():
    values = [[0.2, 0.4, np.nan], [0.6, np.nan, 1.0]]
    assert means(values)[0] == pytest.approx([0.3, 0.8])
    assert means(values, common=True) == ([0.2, 0.6], [1, 1], [2, 2], [0, 0])


def test_pooling_is_not_the_mean_of_ratios():
    counts = Ratio(np.array([[1.0, 0, 0]]), np.array([[1.0, 3, 0]]), np.zeros((1, 3)))
    found = pool(counts)
    assert (found.values[0], found.n_used[0], found.n_undefined[0]) == (0.25, 2, 1)


def test_groups_of_one_size_cost_one_call():
    calls = []

    def kernel(x, z):
        calls.append(x.shape)
        return pearson(x, z)

    groups = np.repeat(np.arange(50), 3)
    groups[0] = 49  # one group of two, one of four
    entries = Entries(np.zeros((2, 150)), np.zeros(150), np.ones((2, 150), bool), groups, tuple(range(50)), groups)
    by_group(kernel, entries)
    assert sorted(calls) == [(2, 1, 2), (2, 1, 4), (2, 48, 3)]
