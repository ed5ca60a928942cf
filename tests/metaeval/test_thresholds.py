"""Pairs of rated systems: worked by hand for two systems, and what cannot make pairs."""

from __future__ import annotations

import math

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment
from nlgauge.metaeval.evaluate import joined_scores
from nlgauge.metaeval.thresholds import fit_thresholds, rated_sets, system_pairs
from nlgauge.scoring.thresholds import read_thresholds


@pytest.fixture
def held():
    """Joins rows (system, item, rating, score, group) as `joined_scores` does."""

    def join(*rows, lower=(), criterion="da"):
        segments = tuple(
            Segment(f"{i}", "text", references=("text",), system=system, item=item, group=group, human={"da": rating})
            for i, (system, item, rating, _, group) in enumerate(rows)
        )
        scores = {"toy": [score for *_, score, _ in rows]}
        return joined_scores(ng.Dataset(segments), (), criterion, scores=scores, lower_is_better=lower)

    return join


ROWS = (
    ("a", "1", 80, 5.0, "x"),
    ("a", "2", 60, 3.0, "x"),
    ("b", "1", 50, 2.0, "x"),
    ("b", "2", 70, 2.0, "x"),
)


def test_two_systems_by_hand(held):
    # ratings 70 and 60, scores 4 and 2: two points apart, and people agree
    one = held(*ROWS)
    sets, notes = rated_sets(one)
    pairs = system_pairs([one], [sets], "toy")
    assert [getattr(pairs, name).tolist() for name in ("difference", "agreed", "n", "weight")] == [[2], [1], [2], [1]]
    assert (pairs.first.tolist(), pairs.second.tolist(), pairs.group.tolist()) == ([0], [1], [0])
    assert sets[0].as_json() == {"group": "x", "criterion": "da", "systems": ["a", "b"], "items": 2}
    assert notes == []


def test_of_an_error_rate_the_lower_is_preferred(held):
    one = held(*ROWS, lower=["toy"])
    assert system_pairs([one], [rated_sets(one)[0]], "toy").agreed.tolist() == [0]


def test_equal_ratings_are_half_a_case(held):
    one = held(
        ("a", "1", 0.1, 5.0, "x"), ("a", "2", 0.2, 5.0, "x"), ("b", "1", 0.3, 1.0, "x"), ("b", "2", 0.0, 1.0, "x")
    )
    assert system_pairs([one], [rated_sets(one)[0]], "toy").agreed.tolist() == [0.5]


def test_samples_of_many_items_count_as_one_pair(held):
    rows = [(s, str(i), i + 10 * k, float(i + k), "x") for k, s in enumerate("abc") for i in range(120)]
    one = held(*rows)
    (rated,), _ = rated_sets(one, draws=4)
    pairs = system_pairs([one], [[rated]], "toy")
    assert sorted(set(pairs.n)) == [50, 100, 120]
    assert len(pairs) == 3 * (4 + 4 + 1)
    assert pairs.n_pairs == 3
    assert pairs.weight.sum() == pytest.approx(3)
    assert pairs.agreed.tolist() == [1.0] * len(pairs)
    assert np.allclose(pairs.difference[pairs.n == 120], [1, 2, 1])


def test_sets_have_systems_of_their_own(held):
    one, other = held(*ROWS), held(*((s, i, r, x, "y") for s, i, r, x, _ in ROWS))
    pairs = system_pairs([one, other], [rated_sets(one)[0], rated_sets(other)[0]], "toy")
    assert (pairs.first.tolist(), pairs.second.tolist(), pairs.group.tolist()) == ([0, 2], [1, 3], [0, 1])


def test_only_items_of_all_systems_count(held):
    one = held(*ROWS, ("a", "3", 10, 0.0, "x"))
    (rated,), notes = rated_sets(one)
    assert rated.ratings.tolist() == [[80, 60], [50, 70]]
    assert notes == ["thresholds: 1 item of x is left out, not rated for every system"]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (ROWS[:2], "one rated system, 'a'; thresholds compare at least two"),
        ((*ROWS, ("a", "1", 10, 0.0, "x")), "system 'a' has item '1' twice in group 'x'"),
        ((("a", "1", 1, 0.0, "x"), ("b", "2", 1, 0.0, "x")), "no item of group 'x' is rated for all systems"),
        ((*ROWS, (None, "1", 10, 0.0, "x")), "names no system; thresholds need both"),
        ((*ROWS, ("c", None, 10, 0.0, "x")), "names no item; thresholds need both"),
    ],
)
def test_what_makes_no_pairs_is_refused(held, rows, said):
    with pytest.raises(InputError, match=said):
        rated_sets(held(*rows))


def test_several_criteria_are_refused():
    rows = [Segment(f"{s}{i}", "t", system=s, item=str(i), human={"da": 1, "mqm": 2}) for s in "ab" for i in range(2)]
    one = joined_scores(ng.Dataset(tuple(rows)), (), "all", scores={"toy": [1.0] * 4})
    with pytest.raises(InputError, match="one criterion with ratings, got da, mqm"):
        rated_sets(one)


# --- Thresholds fitted: by hand for two systems, a known curve recovered, and the way through `nlgauge.compare`

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


def test_fit_two_systems_by_hand(rated):
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
