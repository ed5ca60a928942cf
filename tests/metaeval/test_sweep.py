"""Gains: worked by hand, the best weight, curves, and the authors' own numbers."""

import gzip
import json
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import BaseMetric
from nlgauge.metaeval.sweep import (
    Attacked,
    check_weights,
    curves,
    judged_by,
    mark_best,
    mark_left_out,
    mixture,
    parse_weights,
    relative,
    scaled,
    sum_of,
    sweep,
    with_gains,
)
from nlgauge.metrics.registry import named
from nlgauge.runtime.runtime import Runtime


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


# --- Two metrics as one: worked by hand, at both ends, and as sums of metrics are scored

numbers = st.lists(st.integers(-1000, 1000), min_size=2, max_size=20).filter(lambda v: len(set(v)) > 1)


def pools(*parts):
    return [(f"pool {i}", np.array(part)) for i, part in enumerate(parts)]


def test_a_mixture_by_hand():
    # [0, 5, 10] becomes [0, .5, 1] and [3, 1, 2] becomes [1, 0, .5]; a quarter of the second: .75 * first + .25 *
    # second
    both = mixture(np.array([0.0, 5.0, 10.0]), np.array([3.0, 1.0, 2.0]), pools([0, 1, 2]), ("a", "b"))
    assert both(0.25).tolist() == [0.25, 0.375, 0.875]


def test_each_pool_has_a_scale_of_its_own():
    values = np.array([0.0, 2.0, 100.0, 300.0])
    assert scaled(values, pools([0, 1], [2, 3]), "a").tolist() == [0, 1, 0, 1]


@given(one=numbers, seed=st.integers(0, 99))
def test_at_both_ends_a_metric_stands_alone_with_its_own_numbers(one, seed):
    one = np.array(one, dtype=float) / 7
    other = np.random.default_rng(seed).permutation(len(one)) / 3.0
    both = mixture(one, other, pools(range(len(one))), ("a", "b"))
    assert both(0.0).tolist() == one.tolist()
    assert both(1.0).tolist() == other.tolist()


@given(one=numbers, shift=st.integers(-50, 50), factor=st.integers(1, 9), weight=st.floats(0.01, 0.99))
def test_another_unit_of_a_metric_changes_no_mixture(one, shift, factor, weight):
    one = np.array(one, dtype=float)
    other = np.arange(len(one), dtype=float)
    here = mixture(one, other, pools(range(len(one))), ("a", "b"))(weight)
    there = mixture(factor * one + shift, other, pools(range(len(one))), ("a", "b"))(weight)
    assert here == pytest.approx(there, abs=1e-12)  # sums of integers are exact; one division rounds


def test_a_metric_that_is_the_same_throughout_a_pool_is_refused_by_name():
    with pytest.raises(InputError, match="a is the same for all 2 texts of pool 1"):
        scaled(np.array([1.0, 2.0, 3.0, 3.0]), pools([0, 1], [2, 3]), "a")


def test_what_is_undefined_stays_so():
    assert np.isnan(scaled(np.array([1.0, np.nan, 3.0]), pools([0, 1, 2]), "a")).tolist() == [
        False,
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("weight", "spec"), [(0.0, "chrf"), (1.0, "bleu"), (0.3, "0.7*chrf + 0.3*bleu"), (0.1, "0.9*chrf + 0.1*bleu")]
)
def test_the_specification_of_a_mixture_is_one_to_type(weight, spec):
    assert sum_of("chrf", "bleu", weight) == spec
    ng.metric(spec)


def test_sums_within_sums_are_written_so_that_they_read_back():
    text = sum_of("0.5*chrf + 0.5*bleu", "ter", 0.2)
    assert text == "0.8*(0.5*chrf + 0.5*bleu) + 0.2*ter"
    ng.metric(text)


@pytest.fixture
def dataset():
    texts = [
        "the cat sat on the mat",
        "a dog lay down",
        "it rained all day",
        "the snow fell",
        "we went home late",
        "no one was there",
    ]
    hyps = ["the cat sat on a mat", "a dog lies", "rain all day long", "snow fell on us", "home we went", "nobody came"]
    return ng.Dataset(
        tuple(
            ng.Segment(str(i), hyp, (text,), group="ab"[i % 2], human={"q": float(i)})
            for i, (hyp, text) in enumerate(zip(hyps, texts, strict=True))
        ),
        "texts",
    )


@pytest.mark.parametrize("other", ["bleu", "ter"])  # ter falls with quality
def test_on_a_data_set_a_mixture_is_what_the_sum_of_metrics_scores_in_each_group(dataset, other):
    held = judged_by(dataset, named(["chrf", other]), None, Runtime())
    spec = sum_of("chrf", other, 0.3)
    direct = judged_by(dataset, named([spec]), None, Runtime())
    # the same products and sums in another order: a few units in the last place
    assert held.mixture("chrf", other)(0.3) == pytest.approx(direct.scores[spec].values, rel=1e-12)


@pytest.fixture
def suite(dataset):
    pairs = [
        ng.Pair(
            id=f"{s.id}.{p}", phenomenon=p, better=s.hypothesis, worse=worse, references=s.references, group=s.group
        )
        for s in dataset
        for p, worse in (("jumble_words", " ".join(sorted(s.hypothesis.split()))), ("negation", f"not {s.hypothesis}"))
    ]
    return ng.Suite(tuple(pairs), "attacks")


def test_on_a_suite_a_mixture_is_what_the_sum_of_metrics_says_of_both_sides(suite):
    mixed = Attacked(suite, named(["chrf", "bleu"]), Runtime()).mixed("chrf", "bleu", [0.3])[0.3]
    spec = "0.7*chrf + 0.3*bleu"
    direct = Attacked(suite, named([spec]), Runtime()).alone(spec)
    assert mixed.better == pytest.approx(direct.better, rel=1e-12)
    assert mixed.worse == pytest.approx(direct.worse, rel=1e-12)
    assert mixed.places == direct.places


def test_every_metric_scores_a_suite_once(suite):
    calls = []

    @dataclass(frozen=True)
    class Counting(BaseMetric):
        info: ClassVar = ng.metric("chrf").info

        def score(self, segments, runtime):
            calls.append(len(segments))
            return ng.metric("chrf").score(segments, runtime)

    attacked = Attacked(suite, {"counting": Counting(), "bleu": ng.metric("bleu"), "ter": ng.metric("ter")}, Runtime())
    for other in ("bleu", "ter"):
        attacked.mixed("counting", other, [0.2, 0.5, 0.8])
    assert len(calls) == 1


def test_two_metrics_of_which_one_reads_the_source_get_the_pairs_that_have_both():
    pair = {"better": "a b", "worse": "b a", "references": ("a b c",)}
    suite = ng.Suite(
        (ng.Pair(id="0", phenomenon="p", source="s", **pair), ng.Pair(id="1", phenomenon="p", **pair)), "s"
    )

    @dataclass(frozen=True)
    class OfSource(BaseMetric):
        info: ClassVar = ng.MetricInfo("of-source", needs={"source"})

        def score(self, segments, runtime):
            return ng.Scores(
                ng.Signature("of-source", ()), tuple(s.id for s in segments), np.arange(len(segments), dtype=float)
            )

    attacked = Attacked(suite, {"chrf": ng.metric("chrf"), "of-source": OfSource()}, Runtime())
    assert attacked.mixed("chrf", "of-source", [0.5])[0.5].places == (0,)


# --- Sweeps: weights as typed, both ends, sums between them, what is refused


@pytest.mark.parametrize(
    ("text", "weights"),
    [
        ("0:1:0.25", (0, 0.25, 0.5, 0.75, 1)),
        ("0:1:0.1", tuple(i / 10 for i in range(11))),
        ("0.2:0.3:0.05", (0.2, 0.25, 0.3)),
        ("0.2,0.3", (0.2, 0.3)),
        ("0.5", (0.5,)),
        ("0:0.5:0.2", (0, 0.2, 0.4)),
    ],
)
def test_weights_as_typed(text, weights):
    assert parse_weights(text) == weights


@pytest.mark.parametrize(
    "text",
    ["", "a", "0:1", "0:1:0", "1:0:0.1", "0:2:0.5", "0:1:-0.1", "-0.1,0.5", "nan", "0:1:nan", "0:inf:0.1", "0:1:0.1:2"],
)
def test_weights_that_are_none_are_refused(text):
    with pytest.raises(InputError, match="expected from:to:step"):
        parse_weights(text)


def test_both_ends_belong_to_every_sweep():
    assert check_weights([0.3, 0.2]) == (0.0, 0.2, 0.3, 1.0)
    with pytest.raises(InputError, match="outside of 0 to 1"):
        check_weights([1.5])


WORDS = ["rain", "snow", "wind", "sun", "cloud", "storm", "fog", "hail", "frost", "heat"]


def texts(seed, n=24, name="texts"):
    rng = np.random.default_rng(seed)
    segments = []
    for i in range(n):
        ref = [str(w) for w in np.random.default_rng([seed, i // 4]).choice(WORDS, size=7)]  # of the item
        wrong = int(rng.integers(0, 6))
        hyp = ref[: 7 - wrong] + [str(w) for w in rng.choice(WORDS, size=wrong)]
        human = {"q": float(-wrong + rng.normal()), "r": float(rng.normal())}
        about = {"system": f"s{i % 4}", "item": str(i // 4), "group": "ab"[i // 4 % 2], "human": human}
        segments.append(ng.Segment(str(i), " ".join(hyp), (" ".join(ref),), **about))
    return ng.Dataset(tuple(segments), name)


def attacks(seed, n=10, name="attacks", groups=(None,)):
    rng = np.random.default_rng(seed)
    pairs = []
    for i in range(n):
        ref = [str(w) for w in rng.choice(WORDS, size=6, replace=False)]
        turn = int(rng.integers(1, 4))
        better = " ".join(ref[turn:] + ref[:turn])
        for phenomenon, worse in (
            ("negation", ["no", "no", *ref[turn:]]),
            ("typos", [*ref[:-turn], *(w[::-1] for w in ref[-turn:])]),
        ):
            about = {"references": (" ".join(ref),), "group": groups[i % len(groups)]}
            pairs.append(
                ng.Pair(id=f"{i}.{phenomenon}", phenomenon=phenomenon, better=better, worse=" ".join(worse), **about)
            )
    return ng.Suite(tuple(pairs), name)


@pytest.fixture(scope="module")
def found():
    """Two metrics with a third, on two data sets and two suites."""
    return sweep(
        [texts(0), texts(1, name="more")],
        [attacks(0), attacks(1, name="other")],
        ["chrf", "ter"],
        ["bleu"],
        [0.5],
        criterion="q",
    )


def row_of(rows, **where):
    [row] = [row for row in rows if all(row[key] == value for key, value in where.items())]
    return row


@pytest.mark.parametrize("metric", ["chrf", "ter"])
@pytest.mark.parametrize(("weight", "alone"), [(0.0, None), (1.0, "bleu")])
def test_at_both_ends_stand_the_numbers_of_a_metric_alone(metric, weight, alone):
    dataset, suite = texts(0), attacks(0)
    alone = alone or metric
    rows = sweep(dataset, suite, metric, "bleu", criterion="q").rows
    row = row_of(rows, metric=metric, weight=weight, dataset="texts", suite="attacks", phenomenon="mean-all")
    meta = ng.meta_evaluate(dataset, [alone], "q").row(alone)
    # a metric that falls with quality is turned: the same sums with the other sign
    assert (row["correlation"], row["low"], row["high"]) == pytest.approx(
        (meta["value"], meta["low"], meta["high"]), rel=1e-12, nan_ok=True
    )
    audited = row_of(ng.audit(suite, [alone]).rows, phenomenon="mean-all")
    assert (row["accuracy"], row["accuracy_low"], row["accuracy_high"]) == (
        audited["accuracy"],
        audited["low"],
        audited["high"],
    )
    assert row["spec"] == alone


@pytest.mark.parametrize("stat", ["pearson", "kendall_b"])
@pytest.mark.parametrize("level", ["segment", "system"])
def test_between_them_the_numbers_of_the_sum_of_metrics(stat, level):
    dataset, suite = texts(2, n=40), attacks(2)
    spec = "0.6*chrf + 0.4*bleu"
    rows = sweep(dataset, suite, "chrf", "bleu", [0.4], criterion="q", stats=stat, level=level).rows
    row = row_of(rows, metric="chrf", weight=0.4, dataset="texts", suite="attacks", phenomenon="mean-all")
    assert row["spec"] == spec
    assert row["correlation"] == pytest.approx(
        ng.meta_evaluate(dataset, [spec], "q", stats=stat, level=level).value(spec), rel=1e-12
    )
    assert row["accuracy"] == row_of(ng.audit(suite, [spec]).rows, phenomenon="mean-all")["accuracy"]


def test_several_criteria_are_each_swept():
    rows = sweep(texts(0), attacks(0), "chrf", "bleu", criterion="all", intervals="none").rows
    assert {row["criterion"] for row in rows if row["dataset"] is not None} == {"q", "r", "mean"}


def test_rows_of_every_kind(found):
    rows = found.rows
    pairs, weights, datasets, suites = 2, 3, 2, 2
    kinds = {
        "by group": [r for r in rows if r["dataset"] is not None and r["suite"] is None],
        "by phenomenon": [r for r in rows if r["suite"] is not None and r["dataset"] is None],
        "points": [
            r for r in rows if r["metric"] != "mean" and r["dataset"] in ("texts", "more") and r["suite"] is not None
        ],
        "means over sets": [r for r in rows if r["metric"] != "mean" and r["dataset"] == "mean"],
        "means over pairs": [r for r in rows if r["metric"] == "mean"],
    }
    assert {kind: len(own) for kind, own in kinds.items()} == {
        "by group": pairs * weights * datasets * 2,
        "by phenomenon": pairs * weights * suites * 5,  # two phenomena; the means of all, of adequacy, of fluency
        "points": pairs * weights * datasets * suites * 2,  # the means of all and of adequacy
        "means over sets": pairs * weights * 2,
        "means over pairs": weights * 2,
    }
    assert sum(map(len, kinds.values())) == len(rows)


def test_means_over_sets_are_plain_means(found):
    own = [row for row in found.rows if (row["metric"], row["weight"], row["phenomenon"]) == ("chrf", 0.5, "mean-all")]
    own = [row for row in own if None not in (row["dataset"], row["suite"])]
    mean = row_of(own, dataset="mean")
    single = [r for r in own if r["dataset"] != "mean"]
    assert mean["correlation"] == pytest.approx(np.mean([r["correlation"] for r in single]), rel=1e-12)
    assert mean["accuracy"] == pytest.approx(np.mean([r["accuracy"] for r in single]), rel=1e-12)


def test_groups_of_a_suite_are_counted_together():
    found = sweep(texts(0), attacks(0, groups=("fr", "zh")), "chrf", "bleu", [0.5], criterion="q")
    assert {row["n_pairs"] for row in found.rows if row["phenomenon"] == "negation"} == {10}


def test_one_group_is_not_listed_beside_its_mean():
    dataset = ng.Dataset(tuple(s for s in texts(0) if s.group == "a"), "one")
    assert not [
        r
        for r in sweep(dataset, attacks(0), "chrf", "bleu", criterion="q").rows
        if r["dataset"] is not None and r["suite"] is None
    ]


def test_attacks_that_a_metric_was_trained_on_are_marked_and_said():
    @dataclass(frozen=True)
    class Trained(BaseMetric):
        info: ClassVar = ng.metric("bleu").info
        trained_on = ("typos",)

        def score(self, segments, runtime):
            return ng.metric("bleu").score(segments, runtime)

    found = sweep(texts(0), attacks(0), "chrf", Trained(), [0.5], criterion="q")
    marked = {(row["weight"], row["phenomenon"]) for row in found.rows if row["trained_on"]}
    assert marked == {(0.5, "typos"), (1.0, "typos")}  # not where the other metric stands alone
    assert any("bleu was trained on typos" in note for note in found.notes)


def test_the_best_row_is_found_by_name():
    found = sweep(texts(0), attacks(0), "chrf", "bleu", criterion="q")
    assert found.best("chrf", "bleu")["best"] is True
    with pytest.raises(InputError, match="0 rows fit"):
        found.best("bleu", "chrf")


@pytest.mark.parametrize("seed", [0, 7])
def test_the_order_of_pairs_changes_no_number(seed):
    dataset, suite = texts(3), attacks(3)
    order = np.random.default_rng(seed).permutation(len(suite))
    shuffled = ng.Suite(tuple(suite.pairs[i] for i in order), suite.name)
    here, there = (sweep(dataset, s, "chrf", "bleu", [0.5], criterion="q", intervals="none") for s in (suite, shuffled))
    key = lambda row: (row["weight"], row["phenomenon"])  # noqa: E731
    assert {key(r): r["accuracy"] for r in here.rows if r["suite"]} == {
        key(r): r["accuracy"] for r in there.rows if r["suite"]
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"partners": "chrf"}, "nothing to be mixed with but itself"),
        ({"partners": "blue"}, "did you mean 'bleu'"),
        ({"weights": [2.0]}, "weight 2 is outside"),
        ({"datasets": []}, "no data set is given"),
        ({"suites": []}, "no suite is given"),
        ({"datasets": [texts(0), texts(1)]}, "'texts' is given twice"),
        ({"criterion": "nothing"}, "nothing"),
        ({"criterion": None}, "2 criteria"),
        ({"stats": "pearsn"}, "did you mean 'pearson'"),
    ],
)
def test_what_cannot_be_swept_is_refused_in_one_line(change, message):
    given_ = {
        "datasets": texts(0),
        "suites": attacks(0),
        "metrics": "chrf",
        "partners": "bleu",
        "weights": [0.5],
        "criterion": "q",
        **change,
    }
    with pytest.raises((InputError, SpecError), match=message) as caught:
        sweep(**given_)
    assert "\n" not in str(caught.value)


def test_a_metric_that_cannot_tell_texts_apart_is_refused_with_the_place():
    pairs = tuple(ng.Pair(id=str(i), phenomenon="p", better="x", worse="y", references=("a b c",)) for i in range(3))
    with pytest.raises(InputError, match="chrf is the same for all 6 texts of p in flat"):
        sweep(texts(0), ng.Suite(pairs, "flat"), "chrf", "rougeL", criterion="q")


def test_what_was_not_scored_as_it_stands_is_counted_on_both_sides():
    data, suite = texts(0, n=8), attacks(0, n=2)
    empty = ng.Dataset((replace(data.segments[0], hypothesis=""), *data.segments[1:]), "texts")
    faulty = ng.Suite((replace(suite.pairs[0], worse=""), *suite.pairs[1:]), "attacks")
    with pytest.warns(ng.ScoreWarning, match=r"^chrf, bleu: 1 of 8 judged segments have an empty side") as told:
        found = sweep(empty, faulty, "chrf", "bleu", [0.5], criterion="q")
    assert len(told) == 1
    assert [entry["flags"] for entry in found.metrics] == [{"empty": 2}, {"empty": 2}]  # a segment and a pair
    assert "chrf: 1 of 8 judged segments (0) have an empty side; they get the worst value" in found.notes
    assert "chrf: 1 of 4 pairs (0.negation) have an empty side; they get the worst value" in found.notes
