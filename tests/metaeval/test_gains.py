"""Gains: worked by hand, the best weight, curves, and the authors' own numbers."""

import gzip
import json

import numpy as np
import pytest

from nlgauge.metaeval.gains import curves, mark_best, mark_left_out, relative, with_gains


def point(
    weight, correlation, accuracy, metric="a", partner="b", dataset="d", suite="s", phenomenon="mean-all", kind="nli"
):
    return {
        "metric": metric,
        "with": partner,
        "partner": kind,
        "weight": weight,
        "dataset": dataset,
        "suite": suite,
        "stat": "pearson",
        "criterion": "q",
        "level": "segment",
        "averaging": "none",
        "group": "mean",
        "phenomenon": phenomenon,
        "correlation": correlation,
        "accuracy": accuracy,
    }


def best_of(rows):
    with_gains(rows)
    mark_best(rows)
    return [row["weight"] for row in rows if row["best"]]


def test_a_gain_is_a_share_of_what_was_there():
    assert relative(0.5, 0.6) == pytest.approx(0.2)  # a fifth more; rounding of 0.6 - 0.5
    assert relative(-0.5, -0.25) == 0.5  # half of its size towards the better
    assert np.isnan(relative(0.0, 0.5))


def test_the_best_weight_has_the_greatest_mean_gain_of_those_that_cost_nothing():
    # gains: 0; (10 % + 10 %) / 2; (5 % + 30 %) / 2; and (-10 % + 60 %) / 2 = 25 %, which costs agreement
    rows = [point(0.0, 0.50, 0.50), point(0.1, 0.55, 0.55), point(0.2, 0.525, 0.65), point(0.3, 0.45, 0.80)]
    assert best_of(rows) == [0.2]
    assert [round(row["gain"], 6) for row in rows] == [0, 0.1, 0.175, 0.25]


def test_where_every_weight_costs_something_the_metric_is_best_alone():
    assert best_of([point(0.0, 0.5, 0.5), point(0.5, 0.4, 0.9), point(1.0, 0.9, 0.4)]) == [0.0]


def test_of_equal_weights_the_smaller_is_best():
    assert best_of([point(0.0, 0.5, 0.5), point(0.2, 0.6, 0.6), point(0.4, 0.6, 0.6)]) == [0.2]


def test_no_weight_is_best_where_the_metric_alone_wins_nothing():
    assert best_of([point(0.0, 0.5, 0.0), point(0.5, 0.6, 0.5)]) == []


def test_the_best_weight_is_that_of_the_means_over_sets():
    rows = [
        point(w, c, a, dataset=d)
        for w, ds in {0.0: (0.5, 0.5, 0.5), 0.5: (0.7, 0.4, 0.55)}.items()
        for d, c, a in (("d", ds[0], ds[2]), ("e", ds[1], ds[2]), ("mean", (ds[0] + ds[1]) / 2, ds[2]))
    ]
    for row in rows:
        row["suite"] = "mean" if row["dataset"] == "mean" else "s"
    with_gains(rows)
    mark_best(rows)
    assert [(row["dataset"], row["weight"]) for row in rows if row["best"]] == [("mean", 0.5)]


def test_the_weight_of_a_set_is_chosen_on_the_others():
    # on d the mixture gains in both numbers, on e it costs agreement: d would choose .5 for e, and e nothing for d
    numbers = {"d": {0.0: (0.5, 0.5), 0.5: (0.7, 0.55)}, "e": {0.0: (0.5, 0.5), 0.5: (0.45, 0.55)}}
    rows = [point(w, c, a, dataset=d) for d, at in numbers.items() for w, (c, a) in at.items()]
    mark_left_out(rows)
    assert {row["dataset"]: row["weight"] for row in rows if row["left_out"]} == {"d": 0.0, "e": 0.5}
    alone = [point(0.0, 0.5, 0.5), point(0.5, 0.7, 0.7)]
    mark_left_out(alone)
    assert not any(row["left_out"] for row in alone)


def test_curves_are_means_of_gains_over_pairs_and_sets_each_counted_once():
    rows = [
        point(w, c, a, metric=m, dataset=d, suite=s)
        for w, c, a in ((0.0, 0.5, 0.4), (0.5, 0.6, 0.5))
        for m in "ac"
        for d in ("d", "e")
        for s in ("s", "t", "u")
    ]
    for row in rows:
        if row["weight"] and row["metric"] == "c" and row["dataset"] == "e":
            row["correlation"] = 0.8
    with_gains(rows)
    half = next(row for row in curves(rows) if row["weight"] == 0.5)
    # gains in correlation: 20 %, 20 %, 20 %, 60 %; mean 30 %, deviation 20 %, so 30 % -+ 3.182 (Student, 3 degrees) *
    # 20 % / 2
    assert (half["n_correlation"], half["n_accuracy"]) == (4, 6)
    assert half["gain_correlation"] == pytest.approx(0.3)
    assert half["gain_correlation_low"] == pytest.approx(0.3 - 3.18245 * 0.1, abs=1e-6)  # the table of t has six digits
    assert half["gain_correlation_median"] == pytest.approx(0.2)
    assert half["gain_accuracy"] == pytest.approx(0.25)
    assert half["gain_accuracy_low"] == pytest.approx(0.25)


def test_metrics_mixed_with_others_than_nli_metrics_have_a_curve_of_their_own():
    rows = [
        point(w, 0.5 + w / 10, 0.5, partner=p, kind=k)
        for w in (0.0, 1.0)
        for p, k in (("nli", "nli"), ("bleu", "other"))
    ]
    with_gains(rows)
    assert [(row["partner"], row["weight"]) for row in curves(rows)] == [
        ("nli", 0.0),
        ("nli", 1.0),
        ("other", 0.0),
        ("other", 1.0),
    ]


def test_one_gain_has_no_interval():
    rows = [point(0.0, 0.5, 0.5), point(1.0, 0.6, 0.6)]
    with_gains(rows)
    assert np.isnan(curves(rows)[1]["gain_correlation_low"])


# Four of the improvements that the authors printed (results/tables/all_improvement_data_mt.csv of cyr19/MENLI, in per
# cent).
PRINTED = {
    ("wmt15-da-seg", 0.1): 5.299564756798381,
    ("wmt15-da-seg", 0.2): 7.32589179070344,
    ("wmt16-da-seg", 0.2): 6.468070059489314,
    ("wmt16-da-seg", 0.9): -23.97371014843454,
}


@pytest.fixture(scope="module")
def published(data_folder):
    """(data set, subset, metric, NLI metric, weight) -> number, with both ends."""
    with gzip.open(data_folder / "menli_combined.jsonl.gz", "rt", encoding="utf-8") as file:
        listed = [json.loads(line) for line in file]
    numbers = {}
    for row in listed:
        for weight, value in ((row["nli_weight"], row["value"]), (0.0, row["metric_alone"]), (1.0, row["nli_alone"])):
            known = numbers.setdefault((row["dataset"], row["subset"], row["metric"], row["nli"], weight), value)
            assert known == value  # the ends are the same in every row
    return numbers


def test_gains_are_those_of_the_authors(published):
    for (dataset, weight), percent in PRINTED.items():
        key = (dataset, "avg", "BARTScore-P(bart-large-cnn)", "NLI-R(e,ref<->hyp)")
        # printed numbers were kept with six digits, of values near .75: 1e-6 / .75 in per cent
        assert 100 * relative(published[(*key, 0.0)], published[(*key, weight)]) == pytest.approx(percent, abs=3e-4)


def test_the_best_weight_of_the_authors_numbers_is_the_one_they_recommend(published):
    datasets, suites = ("wmt15-da-seg", "wmt16-da-seg"), ("xpaws-fr-adv", "xpaws-zh-adv")
    pairs = sorted({(metric, nli) for dataset, _, metric, nli, _ in published if dataset == "xpaws-fr-adv"})
    assert len(pairs) == 10  # five reference-free metrics with two NLI metrics
    rows = [
        point(
            w / 10,
            published[dataset, "avg", *pair, w / 10],
            published[suite, "adv-all", *pair, w / 10],
            *pair,
            dataset,
            suite,
        )
        for pair in pairs
        for w in range(11)
        for dataset in datasets
        for suite in suites
    ]
    with_gains(rows)
    [best] = [row for row in curves(rows) if row["best"]]
    assert best["weight"] == 0.2  # 0.2 to 0.3 in the paper, for translation
    assert (best["n_correlation"], best["n_accuracy"]) == (20, 20)
    assert best["gain_correlation"] > 0
    assert best["gain_accuracy"] > 0.05
