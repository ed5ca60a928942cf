"""Criteria with each other, metrics with each other, metrics with criteria."""

import numpy as np
import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Dataset, Segment
from nlgauge.metaeval.evaluate import meta_evaluate
from nlgauge.metaeval.matrices import criteria_matrix, criteria_rows, criterion_table, metrics_matrix

NAN = float("nan")


def evaluation(human, scores, stats="pearson", level="segment", **options):
    """Criterion -> ratings of six outputs, two systems on three items; None where nobody rated."""
    segments = tuple(
        Segment(
            str(i),
            "x",
            system="ab"[i // 3],
            item=str(i % 3),
            human={c: v[i] for c, v in human.items() if v[i] is not None},
        )
        for i in range(6)
    )
    return meta_evaluate(
        Dataset(segments), scores=scores, criterion="all", stats=stats, level=level, intervals="none", **options
    )


HUMAN = {"fluency": [1, 2, 3, 4, 5, 6], "adequacy": [2, 1, 3, 4, 6, 5], "style": [6, 5, 4, 3, 2, 1]}
SCORES = {"m": [1, 2, 3, 4, 5, 7], "error": [5, 4, 3, 2, 1, 0]}


def test_a_criterion_agrees_with_itself_and_both_ways_alike():
    names, values = criteria_matrix(evaluation(HUMAN, SCORES).held, "pearson")
    assert names == ["fluency", "adequacy", "style"]
    np.testing.assert_allclose(np.diag(values), 1)
    np.testing.assert_allclose(values, values.T)
    assert values[0, 1] == pytest.approx(np.corrcoef(HUMAN["fluency"], HUMAN["adequacy"])[0, 1])
    assert values[0, 2] == pytest.approx(-1)


def test_segments_rated_for_both_count():
    human = {"a": [1, 2, 3, 4, 5, 6], "b": [1, 2, 9, None, None, None], "c": [None, None, None, 1, 3, 2]}
    _, values = criteria_matrix(evaluation(human, {"m": range(6)}).held, "pearson")
    assert values[0, 1] == pytest.approx(np.corrcoef([1, 2, 3], [1, 2, 9])[0, 1])
    assert np.isnan(values[1, 2])  # no segment is rated for both


def test_one_criterion_has_nothing_to_agree_with():
    with pytest.raises(InputError, match="'a' is the only criterion"):
        criteria_matrix(evaluation({"a": range(6)}, SCORES).held)


def test_the_same_numbers_make_rows_without_the_diagonal():
    rows = criteria_rows(evaluation(HUMAN, SCORES).held, "kendall_b", "segment")
    assert len(rows) == 6
    assert rows[0]["metric"] == "human.fluency"
    assert rows[0]["criterion"] == "adequacy"
    assert rows[0]["value"] == pytest.approx(11 / 15)  # 15 pairs, 2 of them turned round


def test_metrics_agree_in_the_directions_they_declare():
    names, values = metrics_matrix(evaluation(HUMAN, SCORES, lower_is_better=["error"]).held)
    assert names == ["m", "error"]
    assert values[0, 1] == pytest.approx(-np.corrcoef(SCORES["m"], SCORES["error"])[0, 1])
    np.testing.assert_allclose(np.diag(values), 1)


def test_metrics_stand_against_criteria():
    found = evaluation(HUMAN, SCORES)
    metrics, criteria, values = criterion_table(found.rows)
    assert (metrics, criteria) == (["m", "error"], ["fluency", "adequacy", "style", "mean"])
    assert values[0, 0] == pytest.approx(found.value("m", criterion="fluency"))
    assert values[0, 3] == pytest.approx(values[0, :3].mean())


def test_two_statistics_do_not_fit_one_table():
    rows = evaluation(HUMAN, SCORES, stats=["pearson", "spearman"]).rows
    with pytest.raises(InputError, match="name one stat"):
        criterion_table(rows)
    assert criterion_table(rows, stat="spearman")[2].shape == (2, 4)


def test_what_is_constant_correlates_with_nothing():
    flat = metrics_matrix(evaluation(HUMAN, {**SCORES, "flat": [2] * 6}).held)[1]
    np.testing.assert_allclose(flat[:2, :2], metrics_matrix(evaluation(HUMAN, SCORES).held)[1])
    assert np.isnan(flat[2]).all()
    assert np.isnan(flat[:, 2]).all()
    # the two criteria are both rated where one of them is always 3
    human = {"fluency": [1, 2, 3, 4, None, None], "adequacy": [3, 3, 3, 3, 1, 2]}
    values = criteria_matrix(evaluation(human, SCORES).held, "pearson")[1]
    np.testing.assert_allclose(values, [[1, NAN], [NAN, 1]])
