import numpy as np
import pytest

from nlgauge.core.errors import InputError
from nlgauge.stats.grids import check_grid, in_groups, standardise


@pytest.mark.parametrize(
    ("averaging", "groups"),
    [("none", [[0, 1, 2, 3, 4, 5]]), ("item", [[0, 3], [1, 4], [2, 5]]), ("sys", [[0, 1, 2], [3, 4, 5]])],
)
def test_groups_hold_the_cells_of_an_item_of_a_system_or_all(averaging, groups):
    assert in_groups(np.arange(6).reshape(2, 3), averaging).tolist() == groups


def test_system_scores_are_a_grid_of_one_item():
    human, scores = check_grid(np.array([1.0, 2.0]), np.array([[3.0, 4.0]]))
    assert (human.shape, scores.shape) == ((2, 1), (1, 2, 1))


def test_scores_are_needed_where_there_is_a_judgement():
    human, scores = np.array([[1.0, np.nan]]), np.array([[[2.0, np.nan]]])
    assert check_grid(human, scores)[1].tolist() == [[[2.0, 0.0]]]
    with pytest.raises(InputError, match="metric 0 has no finite score for system 0, item 1"):
        check_grid(human, scores, everywhere=True)
    with pytest.raises(InputError, match="the judgement of system 0, item 1 is infinite"):
        check_grid(np.array([[1.0, np.inf]]), np.array([[[2.0, 1.0]]]))


def test_standardised_over_the_cells_in_use():
    metrics = np.array([[[1.0, 2.0, 3.0], [4.0, 5.0, 1e6]], [[7.0, 7.0, 7.0], [7.0, 7.0, 8.0]]])
    used = np.array([[True, True, True], [True, True, False]])
    z, constant = standardise(metrics, used)
    # 1 to 5 have mean 3 and variance 2; what is not in use is 0 and does not count
    np.testing.assert_allclose(z[0], np.array([[-2.0, -1.0, 0.0], [1.0, 2.0, 0.0]]) / np.sqrt(2), atol=1e-15)
    assert constant.tolist() == [False, True]
    assert not z[1].any()


def test_a_constant_that_was_computed_is_a_constant():
    z, constant = standardise(np.array([[[0.1 + 0.2, 0.3, 0.3, 0.1 + 0.2]]]), np.ones((1, 4), dtype=bool))
    assert constant[0]
    assert not z.any()


def test_no_judgement_at_all_is_refused():
    with pytest.raises(InputError, match="every entry is missing"):
        standardise(np.zeros((1, 2, 2)), np.zeros((2, 2), dtype=bool))
