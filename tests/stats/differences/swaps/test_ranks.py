import numpy as np
import pytest

from nlgauge.stats.differences.swaps import ranks
from nlgauge.stats.differences.swaps.coins import given
from nlgauge.stats.differences.swaps.groups import NAMED
from nlgauge.stats.grids import standardise

CLOSE = {
    "rtol": 0,
    "atol": 1e-9,
    "equal_nan": True,
}  # a variance that cancels to 1e-4 of its terms keeps 12 of 16 digits


@pytest.mark.parametrize(
    ("statistic", "averaging"),
    [  # by day each averaging once or more, and each statistic twice
        *(("spearman", averaging) for averaging in ("none", "item")),
        *(("kendall_b", averaging) for averaging in ("item", "sys")),
        *(pytest.param(*one, marks=pytest.mark.slow) for one in (("spearman", "sys"), ("kendall_b", "none"))),
    ],
)
def test_ranks_from_terms_are_ranks_of_the_mixtures(by_definition, kind, patterns, averaging, statistic):
    human, z = by_definition.data(kind)
    found = ranks.segment_draws(human, z, given(patterns), averaging, statistic)
    np.testing.assert_allclose(
        found,
        by_definition.looped(by_definition.averaged, statistic, human, np.round(z, 12), patterns, averaging),
        **CLOSE,
    )


def test_the_coarse_data_hold_what_they_are_there_for(by_definition):
    human, z = by_definition.data("coarse")
    smooth = by_definition.data("smooth")
    terms = ranks._Linear(human, z, "item", "kendall_b")
    assert any(terms.pair(a, b)[1].any() for a, b in ((0, 1), (0, 2), (1, 2)))  # ties: the mixtures are made
    assert not any(ranks._Linear(*smooth, "item", "kendall_b").pair(a, b)[1].any() for a, b in ((0, 1), (0, 2), (1, 2)))
    assert np.isnan(
        by_definition.plain("pearson", human[:, 0], z[1, :, 0])
    )  # and an item on which a metric has no value


def test_scores_of_two_metrics_that_tie_on_paper_tie(by_definition):
    # the same three values in another order and on another scale: after standardising they are three numbers, up to
    # rounding
    human = np.arange(12.0).reshape(4, 3)
    scores = np.array([[0.0, 1, 2], [2, 0, 1], [1, 2, 0], [0, 2, 1]])
    z, _ = standardise(np.stack([scores, 0.1 * scores[::-1] + 0.7]), np.ones((4, 3), dtype=bool))
    assert len(np.unique(z)) > 3
    patterns = by_definition.all_patterns((4, 3))[::29]
    found = ranks.segment_draws(human, z, given(patterns), "item", "kendall_b")
    exact = np.stack([scores, scores[::-1]])
    np.testing.assert_allclose(
        found, by_definition.looped(by_definition.averaged, "kendall_b", human, exact, patterns, "item"), **CLOSE
    )


def test_any_coefficient_goes_through_the_mixtures(by_definition):
    human, z = by_definition.data("smooth")
    patterns = by_definition.all_patterns((3, 3))[::13]
    made = ranks.segment_draws(human, z, given(patterns), "item", lambda x, h: NAMED["kendall_b"](x, h))
    short = ranks.segment_draws(human, z, given(patterns), "item", "kendall_b")
    np.testing.assert_allclose(made, short, **CLOSE)


def test_whole_groups_with_gaps_are_counted_apart():
    # two items; metric a has 0.4 on the first only, metric b 0.1 and 0.3: kept, a is 0.4 and b 0.2; all swapped, the
    # other way round; the first swapped, a has 0.1 and b has (0.4 + 0.3) / 2; the second swapped, a has (0.4 + 0.3) / 2
    # and b has 0.1
    values = np.array([[0.4, np.nan], [0.1, 0.3]])
    found = ranks.whole_groups(values, given(np.array([[[0, 0]], [[1, 1]], [[1, 0]], [[0, 1]]], dtype=bool)))
    np.testing.assert_allclose(found, [[0.2, -0.2, -0.25, 0.25]], atol=1e-12)
