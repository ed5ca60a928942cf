import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.stats.ratings.outliers import mad_outliers


def test_by_hand():
    # median 4, deviations 3 2 1 0 1 2 96: their median is 2, a robust deviation 2.9652; 96 is 32 of them, 3 is 1.01
    found = mad_outliers([1, 2, 3, 4, 5, 6, 100])
    assert found.far.tolist() == [False] * 6 + [True]
    assert (found.median, found.deviation) == (4.0, pytest.approx(2.9652))
    assert found.distances[-1] == pytest.approx(96 / 2.9652)
    assert (found.n_used, found.n_kept, found.n_undefined) == (7, 6, 0)


def test_the_threshold_itself_is_no_outlier():
    # median 0, robust deviation 1.4826, the last value exactly 2.5 of them
    far = 2.5 * mad_outliers([-1, 0, 1]).deviation
    assert mad_outliers([-1, 0, 1, far, -far]).deviation == pytest.approx(1.4826)
    assert not mad_outliers([-1, 0, 1, far, -far]).far.any()
    assert mad_outliers([-1, 0, 1, far, -far], threshold=2.49).far.tolist() == [False] * 3 + [True] * 2


def test_half_of_the_scores_equal_makes_nobody_an_outlier():
    # the median absolute deviation is 0: divided by it, every other score would be infinitely far
    found = mad_outliers([3, 3, 3, 3.1, 2.9])
    assert not found.far.any()
    assert found.deviation == 0
    assert np.isnan(found.distances).all()


def test_missing_scores_are_counted_and_never_far():
    found = mad_outliers([1, 2, 3, None, 50])
    assert (found.far.tolist(), found.n_undefined, found.n_kept) == ([False, False, False, False, True], 1, 3)
    nothing = mad_outliers([None, None])
    assert (nothing.n_used, nothing.far.any()) == (0, False)


@given(st.lists(st.integers(-50, 50), min_size=3, max_size=12), st.sampled_from([0.5, -2.0]), st.integers(-9, 9))
def test_scale_offset_and_direction_do_not_matter(values, scale, offset):
    assert mad_outliers(values).far.tolist() == mad_outliers([scale * v + offset for v in values]).far.tolist()


def test_refusals():
    with pytest.raises(InputError, match="expected one score per system"):
        mad_outliers([[1, 2]])
    with pytest.raises(InputError, match="threshold is 0"):
        mad_outliers([1, 2], threshold=0)


@given(
    values=st.lists(st.integers(-50, 50), min_size=3, max_size=12),
    scale=st.sampled_from([0.25, 2.0, 8.0]),
    shift=st.integers(-9, 9),
)
def test_outliers_do_not_depend_on_scale_or_origin(values, scale, shift):
    # powers of two and small whole numbers: no rounding anywhere
    first = mad_outliers([float(v) for v in values])
    assert mad_outliers([v * scale + shift for v in values]).far.tolist() == first.far.tolist()


def test_outliers_worked_by_hand():
    # median 3; distances 2 1 0 1 17, their median 1; 17 / 1.4826 = 11.47, 2 / 1.4826 = 1.35
    found = mad_outliers([1, 2, 3, 4, 20])
    assert found.far.tolist() == [False, False, False, False, True]
    assert found.distances[4] == pytest.approx(17 / 1.4826)
    assert mad_outliers([1, 2, 3, 4, 20], threshold=1.0).far.tolist() == [True, False, False, False, True]
