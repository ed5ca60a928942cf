"""Thresholds fitted: by hand for two systems, a known curve recovered, and the way through `nlgauge.compare`."""

from __future__ import annotations

import math

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment
from nlgauge.metaeval.evaluate import joined_scores
from nlgauge.metaeval.thresholds.fit import fit_thresholds
from nlgauge.scoring.thresholds import read_thresholds

TEXTS = {"a": ["the cat sat", "it rains"], "b": ["a cat lay", "it rained"], "c": ["dogs bark", "snow falls"]}
REFERENCES = ["the cat sat", "it rains"]


@pytest.fixture
def rated():
    """Three systems, rated as chrF orders them."""
    segments = [
        Segment(f"{s}{i}", text, references=(REFERENCES[i],), system=s, item=str(i), human={"da": 90.0 - 10 * k})
        for k, (s, texts) in enumerate(TEXTS.items())
        for i, text in enumerate(texts)
    ]
    return ng.Dataset(tuple(segments))


def simulated(group, slope, quality, n_items=40):
    """Systems whose order by people follows a curve: the metric is right with the share of the curve."""
    rng = np.random.default_rng(group)
    segments, scores = [], []
    for pair, d in enumerate(quality):  # every pair is a group of its own, so that pairs are independent
        sign = 1 if rng.random() < 1 / (1 + math.exp(-slope * d)) else -1
        for system, human, score in (("a", sign, d), ("b", 0, 0.0)):
            for i in range(n_items):
                own = {"da": float(human)}
                key = f"{pair}{system}{i}"
                segments.append(Segment(key, "t", system=system, item=str(i), group=f"{group}.{pair}", human=own))
                scores.append(score)
    return joined_scores(ng.Dataset(tuple(segments)), (), "da", scores={"toy": scores})


def test_two_systems_by_hand(rated):
    two = ng.Dataset(tuple(s for s in rated if s.system != "c"))
    held = joined_scores(two, (), "da", scores={"toy": [4.0, 4.0, 2.0, 2.0]})
    thresholds = fit_thresholds(held, draws=40)
    (toy,) = thresholds.metrics
    # one pair, 2 points apart, people agree, and the added tie: 1.5 of 2
    share, low, high = toy.agreement(2.0, 2)
    assert (share, low, high) == pytest.approx((0.75, 0.5, 0.75))
    assert (toy.systems, toy.pairs, toy.largest, toy.n, toy.references) == (2, 1, 2.0, (2, 2), None)
    assert toy.error_over_sets is None
    assert thresholds.sets[0]["systems"] == ["a", "b"]
    assert thresholds.notes == ()


def test_a_known_curve_is_recovered():
    held = simulated(0, 0.5, np.random.default_rng(1).exponential(3, 60), n_items=2)
    (toy,) = fit_thresholds(held, draws=20, forms=["logistic"]).metrics
    # 60 verdicts: a standard error of about 0.12 in the slope
    assert toy.curve.parameters[0] == pytest.approx(0.5, abs=0.36)
    low, high = toy.agreement(3.0, 2)[1:]
    assert low < 1 / (1 + math.exp(-1.5)) < high


def test_fitted_on_ratings_and_said_beside_p(rated, tmp_path):
    found = ng.meta_evaluate(rated, ["chrf"], "da", level="system")
    thresholds = fit_thresholds([found.held], draws=20)
    thresholds.write(str(tmp_path / "t.json"))
    for given in (thresholds, str(tmp_path / "t.json")):
        compared = ng.compare(TEXTS, REFERENCES, metrics=["chrf"], thresholds=given)
        (row,) = [row for row in compared.rows if row["system"] == "a" and row.get("against") == "b"]
        assert 0.5 < row["agreement"] < 1
        assert row["agreement_low"] <= row["agreement"]
        assert any(note.startswith("people agree: ") for note in compared.result().notes)


def test_other_references_and_other_metrics_are_refused(rated):
    thresholds = fit_thresholds(joined_scores(rated, ["chrf"], "da"), draws=5)
    two = [[text, text] for text in REFERENCES]
    found = ng.compare(TEXTS, two, metrics=["chrf"], thresholds=thresholds)
    assert not any("agreement" in row for row in found.rows)
    assert any("fitted with 1 reference per segment, here 2" in note for note in found.result().notes)
    with pytest.raises(InputError, match="nothing is known of bleu"):
        ng.compare(TEXTS, REFERENCES, metrics=["bleu"], thresholds=thresholds)


def test_sets_without_a_common_metric_are_refused(rated):
    one = joined_scores(rated, ["chrf"], "da")
    other = joined_scores(rated, ["bleu"], "da")
    with pytest.raises(InputError, match="no metric has scores of segments in every set"):
        fit_thresholds([one, other])


def test_systems_that_lie_close_together_leave_a_file_that_can_be_read(tmp_path):
    quality = {"a": 0.0, "b": 1e-6, "c": 1.0, "d": 1.000002}
    segments = [
        Segment(f"{name}{i}", "t", system=name, item=str(i), human={"da": value})
        for name, value in quality.items()
        for i in range(2)
    ]
    scores = {segment.id: quality[str(segment.system)] for segment in segments}
    held = joined_scores(ng.Dataset(tuple(segments)), (), "da", scores={"toy": scores})
    fitted = fit_thresholds(held, forms=["isotonic"], draws=5)
    fitted.write(str(tmp_path / "t.json"))
    assert read_thresholds(str(tmp_path / "t.json")).metrics[0].curve.knots == pytest.approx(
        fitted.metrics[0].curve.knots
    )


@pytest.mark.parametrize(
    ("forms", "message"),
    [
        (["logistic_n"], "forms names 'logistic_n' alone, and the samples of chrf have 2 to 2 segments"),
        ([], "forms is empty, expected one or more of logistic, logistic_n, isotonic"),
    ],
)
def test_a_form_that_the_data_cannot_fit_is_refused(rated, forms, message):
    held = joined_scores(rated, "chrf", "da")
    with pytest.raises(InputError, match=message):
        fit_thresholds(held, forms=forms, draws=2, samples=1)
    with pytest.raises(InputError, match="no data set is given"):
        fit_thresholds([])


def test_segments_count_in_the_curve_where_the_largest_sample_has_four_times_as_many():
    def held(n):
        return simulated(0, 0.5, [1.0, 2.0], n_items=n)

    # samples of 200 items have 50, 100 and 200, those of 199 have 50, 100 and 199
    (toy,) = fit_thresholds(held(200), forms=["logistic_n"], draws=2, samples=1).metrics
    assert (toy.curve.form, toy.n) == ("logistic_n", (50, 200))
    with pytest.raises(InputError, match="the samples of toy have 50 to 199 segments, expected 4 times as many"):
        fit_thresholds(held(199), forms=["logistic_n"], draws=2, samples=1)
