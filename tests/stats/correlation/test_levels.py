import numpy as np
import pytest

from nlgauge.core.errors import InputError
from nlgauge.stats.correlation.entries import lay_flat
from nlgauge.stats.correlation.levels import system_entries, system_means

NAN = np.nan


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
    entries, n_missing = grid_entries([[1, 2], [3, 4], [5, 6]], [[1, 1], [NAN, NAN], [2, 2]])
    assert entries.keep[0].tolist() == [True, False, True]
    assert n_missing[0] == 2


def test_over_all_segments_a_missing_score_matters_even_where_nobody_judged():
    x, z = [[1, NAN], [3, 4]], [[1, NAN], [2, 2]]
    assert grid_entries(x, z)[0].x.tolist() == [[1.0, 3.5]]
    with pytest.raises(InputError, match="a score is missing in 1 of 4 entries"):
        grid_entries(x, z, over="all")


def test_means_of_large_offsets_keep_their_digits():
    # 1e9 + k / 1024 is exact, and so is what is left without the offset; a mean near 1e9 itself would be rounded to
    # 1.2e-7
    rng = np.random.default_rng(0)
    x = rng.integers(0, 1024, size=(3, 1000)) / 1024
    entries, _ = grid_entries(1e9 + x, x)
    np.testing.assert_allclose(np.diff(entries.x[0]), np.diff(x.mean(axis=1)), atol=1e-15)
