"""Sweeps: weights as typed, both ends, sums between them, what is refused."""

import json
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.metaeval.sweeps import check_weights, parse_weights, sweep


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
        ref = [str(w) for w in rng.choice(WORDS, size=7)]
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
    class Trained:
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


def test_a_result_is_of_kind_sweep():
    result = sweep(texts(0), attacks(0), "chrf", "bleu", criterion="q").result()
    assert result.kind == "sweep"
    assert [metric["spec"] for metric in result.metrics] == ["chrf", "bleu"]
    json.dumps(result.as_json(), allow_nan=False)


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
        ({"norm": "max"}, "norm"),
        ({"ties": "win"}, "ties"),
        ({"missing": "worst"}, "missing"),
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
