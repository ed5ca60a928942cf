import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.stats.coefficients import kendall_b, pearson
from nlgauge.stats.entries import (
    Entries,
    Grouped,
    Ratio,
    blocks_of_groups,
    by_group,
    codes,
    lay_flat,
    mean_of_groups,
    namer,
    numbers,
    oriented,
    pool,
    same_entries,
    segment_entries,
    settle_missing,
    system_entries,
    system_means,
)
from nlgauge.stats.preferences import kendall_like

NAN = np.nan


def test_none_and_nan_are_the_same_absence_and_infinity_is_refused():
    np.testing.assert_array_equal(numbers([1, None, NAN], "scores"), [1, NAN, NAN])
    with pytest.raises(InputError, match=r"scores hold an infinite value at \(1,\)"):
        numbers([1, np.inf], "scores")
    with pytest.raises(InputError, match="scores are not numbers of one shape"):
        numbers([[1, 2], [1]], "scores")
    with pytest.raises(InputError, match="judgements are not numbers"):
        numbers(["good"], "judgements")


def test_labels_are_numbered_as_they_appear():
    found, labels = codes(["b", "a", "b"], 3, "groups")
    assert (found.tolist(), labels) == ([0, 1, 0], ("b", "a"))
    with pytest.raises(InputError, match="groups hold 2 labels for 3 entries"):
        codes(["a", "b"], 3, "groups")
    with pytest.raises(InputError, match="systems hold None at entry 1"):
        codes(["a", None], 2, "systems")
    with pytest.raises(InputError, match="groups hold nan at entry 0"):
        codes([NAN, NAN], 2, "groups")


@pytest.mark.parametrize(
    ("missing", "filled", "kept"),
    [
        ("drop", [1, NAN, 3, NAN], [True, False, True, False]),
        ("worst", [1, 1, 3, NAN], [True, True, True, False]),
        ("zero", [1, 0, 3, NAN], [True, True, True, False]),
    ],
)
def test_missing_scores(missing, filled, kept):
    # the last entry has no judgement: its missing score is nobody's loss
    x, keep = settle_missing(np.array([[1, NAN, 3, NAN]]), np.array([True, True, True, False]), missing)
    np.testing.assert_array_equal(x[0][kept], np.array(filled)[kept])
    assert keep[0].tolist() == kept


def test_a_missing_score_is_refused_by_name():
    x, wanted = np.full((1, 5), NAN), np.array([True, True, True, True, False])
    with pytest.raises(
        InputError, match=r"a score is missing in 4 of 4 entries \(segment 'a', segment 'b', segment 'c' and 1 more\)"
    ):
        settle_missing(x, wanted, "refuse", namer((5,), list("abcde")))
    with pytest.raises(InputError, match=r"\(system 0, item 0, system 0, item 1, system 1, item 0 and 1 more\)"):
        settle_missing(x, wanted, "refuse", namer((2, 2), None))
    with pytest.raises(InputError, match="ids hold 1 names for 4 entries"):
        namer((2, 2), ["a"])
    with pytest.raises(InputError, match="a metric has no score at all"):
        settle_missing(x, wanted, "worst")
    with pytest.raises(InputError, match="missing is 'dorp'; did you mean 'drop'"):
        settle_missing(x, wanted, "dorp")


def test_orientation_turns_error_rates_only():
    x = np.array([[1.0, 2], [1, 2]])
    assert oriented(x, [True, False]).tolist() == [[1, 2], [-1, -2]]
    assert oriented(x[:, None], False).shape == (2, 1, 2)


def test_a_grid_knows_its_items_and_systems():
    grid = np.arange(6.0).reshape(1, 2, 3)
    by_item, by_system, flat = (lay_flat(grid, grid[0], None, None, averaging) for averaging in ("item", "sys", "none"))
    assert by_item.groups.tolist() == [0, 1, 2, 0, 1, 2]
    assert by_system.groups.tolist() == [0, 0, 0, 1, 1, 1]
    assert flat.groups.tolist() == [0] * 6
    assert by_system.units.tolist() == by_item.groups.tolist()
    with pytest.raises(InputError, match="a grid of systems by items takes no groups"):
        lay_flat(grid, grid[0], ["a"] * 6, None, "item")
    with pytest.raises(InputError, match=r"scores have shape \(2, 3\) and judgements \(3, 2\)"):
        lay_flat(grid, grid[0].T, None, None, "item")
    with pytest.raises(InputError, match="averaging='item' needs groups"):
        lay_flat(np.zeros((1, 2)), np.zeros(2), None, None, "item")


def test_segments_may_keep_their_gaps_for_the_statistic_to_meet():
    laid = lay_flat(np.array([[1, NAN, 3]]), np.array([1.0, 2, NAN]), None, None, "none")
    entries = segment_entries(laid, "refuse", as_given=True)
    assert entries.keep.tolist() == [[True, True, False]]
    assert np.isnan(entries.x[0, 1])


def test_system_means_over_rated_or_all_segments():
    # two systems, three segments each; judged: the first two of A, the last of B
    x = np.array([[1.0, 2, 6, 4, 5, 9]])
    z = np.array([10, 20, NAN, NAN, NAN, 30])
    systems = np.array([0, 0, 0, 1, 1, 1])
    keep = np.ones((1, 6), bool)
    rated, judged = system_means(x, z, keep, systems, 2, "rated")
    assert (rated.tolist(), judged.tolist()) == ([[1.5, 9]], [15, 30])
    assert system_means(x, z, keep, systems, 2, "all")[0].tolist() == [[3, 6]]
    with pytest.raises(InputError, match="system_scores is 'rate'; did you mean 'rated'"):
        system_means(x, z, keep, systems, 2, "rate")


def grid_entries(x, z, over="rated", missing="refuse"):
    x, z = np.array(x, dtype=float)[None], np.array(z, dtype=float)
    return system_entries(lay_flat(x, z, None, None, "none"), missing, over)


def test_a_system_without_a_judgement_does_not_count():
    entries = grid_entries([[1, 2], [3, 4], [5, 6]], [[1, 1], [NAN, NAN], [2, 2]])
    assert entries.keep[0].tolist() == [True, False, True]


def test_over_all_segments_a_missing_score_matters_even_where_nobody_judged():
    x, z = [[1, NAN], [3, 4]], [[1, NAN], [2, 2]]
    assert grid_entries(x, z).x.tolist() == [[1.0, 3.5]]
    with pytest.raises(InputError, match="a score is missing in 1 of 4 entries"):
        grid_entries(x, z, over="all")


def test_means_of_large_offsets_keep_their_digits():
    # 1e9 + k / 1024 is exact, and so is what is left without the offset; a mean near 1e9 itself would be rounded to
    # 1.2e-7
    rng = np.random.default_rng(0)
    x = rng.integers(0, 1024, size=(3, 1000)) / 1024
    entries = grid_entries(1e9 + x, x)
    np.testing.assert_allclose(np.diff(entries.x[0]), np.diff(x.mean(axis=1)), atol=1e-15)


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
