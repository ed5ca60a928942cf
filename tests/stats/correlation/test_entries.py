import numpy as np
import pytest

from nlgauge.core.errors import InputError
from nlgauge.stats.correlation.entries import codes, lay_flat, namer, numbers, oriented, segment_entries, settle_missing

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
    entries, n_missing = segment_entries(laid, "refuse", as_given=True)
    assert (entries.keep.tolist(), n_missing.tolist()) == ([[True, True, False]], [1])
    assert np.isnan(entries.x[0, 1])
