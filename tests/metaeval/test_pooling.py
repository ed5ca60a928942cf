"""The layer study: what it says of each layer is what BERTScore at that layer gets from `meta_evaluate`."""

import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.segment import Dataset, Segment
from nlgauge.core.spec import quote
from nlgauge.metaeval.pooling import STRATEGIES, LayerStudy, layer_study, layers_result, pooling_study, strategies
from nlgauge.metaeval.sweep import best_mean, left_out, most_wins, rank, winning
from nlgauge.metrics.nli import Nli
from nlgauge.runtime.runtime import Runtime

pytest.importorskip("torch")


PAIRS = [
    ("The bridge opens at noon.", "The bridge will open at noon.", 90),
    ("At noon the bridge opens its gates to a crowd.", "The bridge will open at noon.", 55),
    ("Nobody may cross the river.", "The bridge will open at noon.", 10),
    ("Rain falls on the coast.", "It rains along the coast.", 85),
    ("Rain is falling, they say, on roofs.", "It rains along the coast.", 50),
    ("The harvest was poor.", "It rains along the coast.", 5),
]


def dataset(ratings):
    return Dataset(
        tuple(
            Segment(str(i), hyp, (ref,), human={"quality": rating})
            for i, ((hyp, ref, _), rating) in enumerate(zip(PAIRS, ratings, strict=True))
        )
    )


@pytest.fixture(scope="module")
def study():
    return layer_study(dataset([rating for _, _, rating in PAIRS]), stat="spearman")


def test_every_layer_has_a_number_and_it_is_that_of_bertscore_there(study):
    assert study.values.shape == (7,)  # the embedded model has six blocks above its embeddings
    people = np.array([rating for _, _, rating in PAIRS])
    for layer in (0, 5):
        scores = ng.score([h for h, _, _ in PAIRS], [r for _, r, _ in PAIRS], metrics=f"bertscore:layer={layer}")
        by_hand = np.corrcoef(
            scores[f"bertscore:layer={layer}"].values.argsort().argsort(), people.argsort().argsort()
        )[0, 1]  # no ties
        assert study.values[layer] == pytest.approx(by_hand, abs=1e-12)  # the same ranks, float64


def test_the_best_layer_is_the_highest_and_of_equals_the_lowest():
    assert LayerStudy(np.array([0.1, np.nan, 0.7, 0.7]), ()).best == 2


def test_the_curve_is_in_the_result(study):
    result = layers_result([study])
    curve = [
        row["value"] for row in result.rows if row["group"] == "mean" or len({r["group"] for r in result.rows}) == 1
    ]
    assert curve == study.values.tolist()
    assert {row["layer"] for row in result.rows} == set(range(7))
    assert result.notes[0] == f"best layer: {study.best} of 0 to 6"


def test_where_no_layer_has_a_value_none_is_best():
    with pytest.raises(InputError, match="no layer has a defined value"):
        _ = LayerStudy(np.array([np.nan, np.nan]), ()).best


@pytest.mark.skipif("NLGAUGE_DATA" not in os.environ, reason="needs evaluation data, named by NLGAUGE_DATA")
@pytest.mark.slow
def test_layer_four_of_the_embedded_encoder_agrees_best_on_wmt16():
    # A sixth of the set, which is enough to put the layers in order; the whole is `nlgauge train layers`.
    data = ng.read(Path(os.environ["NLGAUGE_DATA"]) / "wmt16-da-seg" / "segments.jsonl.gz")
    part = Dataset(data.segments[::6])
    values = [layer_study_at(part, layer) for layer in (0, 4, 5)]
    assert values[1] == max(values)


def layer_study_at(data, layer):
    from nlgauge.metaeval.evaluate import meta_evaluate

    return meta_evaluate(data, f"bertscore:layer={layer}", "da_z", "segment", "pearson", intervals="none").value(
        f"bertscore:layer={layer}"
    )


# --- Fifteen strategies: each as the metric itself says, each pair asked once; winners and choices worked by hand


def contest(where, values, kind="correlation", metric="nli", criterion="q"):
    """Rows of one set: formula -> value, direction both."""
    return [
        {
            "metric": metric,
            "setup": "ref",
            "kind": kind,
            "set": where,
            "stat": "pearson",
            "criterion": criterion,
            "formula": formula,
            "direction": "both",
            "value": value,
        }
        for formula, value in values.items()
    ]


def ranked(*contests):
    rows = [row for own in contests for row in own]
    rank(rows)
    return rows


def test_ranks_wins_and_costs_by_hand():
    rows = ranked(contest("d", {"e": 0.5, "-c": 0.7, "e-c": 0.7, "e-n": float("nan")}))
    assert [row["rank"] for row in rows] == [3, 1, 1, None]
    assert [row["wins"] for row in rows] == [0, 0.5, 0.5, 0]  # a shared win
    assert [row["cost"] for row in rows[:3]] == [pytest.approx(0.2), 0, 0]


def test_wins_are_counted_over_sets():
    sets = [contest("d", {"e": 1, "-c": 2}), contest("f", {"e": 1, "-c": 3}), contest("g", {"e": 4, "-c": 3})]
    rows = ranked(*sets, contest("s", {"e": 1, "-c": 0}, "accuracy"))
    assert {(row["kind"], row["formula"]): (row["wins"], row["n"]) for row in winning(rows)} == {
        ("correlation", "e"): (1, 3),
        ("correlation", "-c"): (2, 3),
        ("accuracy", "e"): (1, 1),
        ("accuracy", "-c"): (0, 1),
    }


def test_wins_add_up_to_the_number_of_contests():
    rows = ranked(*(contest(f"d{i}", {"e": i % 3, "-c": i % 2, "e-c": 1}) for i in range(12)))
    assert sum(row["wins"] for row in winning(rows)) == pytest.approx(12)  # thirds are rounded


def test_a_choice_without_a_set_costs_what_is_missing_to_its_best():
    # without d, -c wins both; on d it gets .2 where .6 was to be had
    rows = ranked(
        contest("d", {"e": 0.6, "-c": 0.2}), contest("f", {"e": 0.5, "-c": 0.8}), contest("g", {"e": 0.6, "-c": 0.7})
    )
    [found] = [row for row in left_out(rows) if row["set"] == "d"]
    assert (found["formula"], found["best_formula"], found["value"], found["best_value"]) == ("-c", "e", 0.2, 0.6)
    assert found["cost"] == pytest.approx(0.4)
    assert found["n"] == 2


def test_a_choice_goes_by_wins_over_all_metrics_and_the_other_sets():
    # on f and g, the first metric wins once with each of the two, -c by far; the second twice with e. So e has three
    # wins of four, while -c has the greater mean of the first metric
    first = [
        contest("d", {"e": 0.6, "-c": 0.2}),
        contest("f", {"e": 0.5, "-c": 0.9}),
        contest("g", {"e": 0.6, "-c": 0.5}),
    ]
    second = [contest("f", {"e": 0.2, "-c": 0.1}), contest("g", {"e": 0.2, "-c": 0.1})]
    for rows in second:
        for row in rows:
            row["metric"] = "other"
    rows = ranked(*first, *second)
    assert {row["formula"] for row in left_out(rows) if row["set"] == "d"} == {"e"}


def test_of_strategies_that_win_as_often_that_with_the_greatest_mean_is_chosen():
    rows = ranked(contest("d", {"e": 0.4, "-c": 0.8}), contest("f", {"e": 0.5, "-c": 0.3}))
    assert most_wins(rows) == ("-c", "both")  # one win each; means .45 and .55
    assert most_wins([]) is None


def test_a_single_set_of_its_kind_is_chosen_for_on_the_other_kind_alone():
    rows = ranked(contest("d", {"e": 0.6, "-c": 0.2}), contest("s", {"e": 0.5, "-c": 0.8}, "accuracy"))
    assert {(row["set"], row["among"], row["formula"]) for row in left_out(rows)} == {
        ("d", "all", "-c"),
        ("s", "all", "e"),
    }


def test_a_single_set_leaves_nothing_to_choose_on():
    assert left_out(ranked(contest("d", {"e": 0.6, "-c": 0.2}))) == []


def test_criteria_of_a_set_are_left_out_together():
    rows = ranked(
        contest("d", {"e": 0, "-c": 1}), contest("d", {"e": 0, "-c": 1}, criterion="r"), contest("f", {"e": 1, "-c": 0})
    )
    assert [(row["criterion"], row["formula"], row["cost"]) for row in left_out(rows) if row["set"] == "d"] == [
        ("q", "e", 1),
        ("r", "e", 1),
    ]


def test_a_set_on_which_a_strategy_is_undefined_does_not_choose():
    rows = ranked(contest("d", {"e": float("nan"), "-c": 9}), contest("f", {"e": 1, "-c": 0}))
    assert best_mean(rows) == ("e", "both")
    assert best_mean(rows[:2]) is None


SENTENCES = [
    "the cat sat on the mat",
    "the dog lay on the rug",
    "heavy rain fell today",
    "not good today",
    "the cat lay on the rug",
    "snow fell on the dog",
]


@pytest.fixture(scope="module")
def model(tiny_nli):
    return tiny_nli("bert")


@pytest.fixture(scope="module")
def runtime():
    """One, so that the model is loaded once."""
    return Runtime()


@pytest.fixture(scope="module")
def rated():
    return ng.Dataset(
        tuple(
            ng.Segment(
                f"{i}.{j}",
                hyp,
                (ref, SENTENCES[(i + 2) % 6]),
                SENTENCES[(i + 1) % 6],
                item=str(i),
                human={"q": float((i * j) % 5)},
            )
            for i, ref in enumerate(SENTENCES)
            for j, hyp in enumerate(SENTENCES[:4])
        ),
        "texts",
    )


@pytest.fixture(scope="module")
def suite():
    pairs = [
        ng.Pair(
            id=f"{i}",
            phenomenon="negation",
            better=SENTENCES[(i + 1) % 6],
            worse=SENTENCES[(i + 3) % 6],
            references=(text,),
            source=text,
        )
        for i, text in enumerate(SENTENCES)
    ]
    return ng.Suite(tuple(pairs), "attacks")


@pytest.mark.parametrize(
    "options", [{}, {"references": "best"}, {"references": "parts"}, {"anchor": "source"}, {"long": "windows"}]
)
def test_every_strategy_says_what_the_metric_says_on_its_own(model, rated, options, runtime):
    empty = ng.Segment("empty", "", SENTENCES[:1], SENTENCES[0])
    segments = [*rated.segments[::4], empty]
    for (formula, direction), built in strategies(Nli(model=str(model), **options)).items():
        alone = Nli(model=str(model), formula=formula, direction=direction, **options)
        # batches are put together in another way, which float32 sums feel in the seventh digit
        assert built.score(segments, runtime).values == pytest.approx(alone.score(segments, runtime).values, abs=1e-5)
        assert ng.metric(built).info == alone.info


def test_the_model_reads_every_pair_once(model, rated, runtime, monkeypatch):
    asked = Counter()
    ask = Nli._ask

    def counting(self, pairs, runtime):
        asked.update(pairs)
        return ask(self, pairs, runtime)

    monkeypatch.setattr(Nli, "_ask", counting)
    for built in strategies(Nli(model=str(model))).values():
        built.score(rated.segments, runtime)
    assert set(asked.values()) == {1}


def test_a_study_from_end_to_end(model, rated, suite, runtime):
    found = pooling_study([rated], [suite], f'nli:model="{model}"', criterion="q", runtime=runtime)
    values = [row for row in found.rows if row["table"] == "values"]
    assert Counter(row["kind"] for row in values) == {"correlation": 15, "accuracy": 15}
    assert {(row["formula"], row["direction"]) for row in values} == set(STRATEGIES)
    for row in values[:4]:
        assert row["value"] == pytest.approx(
            ng.meta_evaluate(rated, row["spec"], "q", runtime=runtime).value(row["spec"]), abs=1e-5
        )
    assert sum(row["wins"] for row in found.rows if row["table"] == "wins") == pytest.approx(2)
    assert {row["set"] for row in found.rows if row["table"] == "left-out"} == {"texts", "attacks"}
    assert found.result().kind == "sweep"


def test_one_kind_of_sets_is_enough(model, rated, suite, runtime):
    assert len(pooling_study([], suite, f'nli:model="{model}"', runtime=runtime).rows) == 30
    assert len(pooling_study(rated, [], f'nli:model="{model}"', runtime=runtime).rows) == 30


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"metrics": "chrf"}, SpecError, "chrf is no nli metric"),
        ({"metrics": ["nli", "nli:formula=e-c"]}, SpecError, "differ in formula and direction alone"),
        ({"datasets": [], "suites": []}, InputError, "at least one of either"),
        ({"stats": ["pearson", "spearman"]}, InputError, "takes one statistic"),
    ],
)
def test_what_cannot_be_studied_is_refused(rated, suite, change, error, message):
    with pytest.raises(error, match=message):
        pooling_study(**{"datasets": rated, "suites": suite, "metrics": "nli", **change})


def test_texts_that_are_cut_or_empty_are_counted_once_for_all_strategies(model, rated, suite, runtime):
    empty = ng.Dataset((replace(rated.segments[0], hypothesis=""), *rated.segments[1:]), "texts")
    spec = f"nli:model={quote(str(model))}"
    with pytest.warns(ng.ScoreWarning, match=r"nli.* and \d+ more: .*see \.notes\)$") as told:
        study = pooling_study(empty, suite, [spec], criterion="q", runtime=runtime)
    assert len(told) == 1
    assert [note for note in study.notes if "empty" in note] == [
        f"texts: {spec}: 1 of 24 judged segments have an empty side; they get the worst value"
    ]
    assert study.metrics[0]["flags"]["empty"] == 1
