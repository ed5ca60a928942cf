"""What stands in a row: numbers of a group, of all groups, and of a test of two metrics."""

import json
import math
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.scores import Scores
from nlgauge.core.segment import Dataset, Segment
from nlgauge.io.wmt.mtme import read_official
from nlgauge.metaeval.evaluate import meta_evaluate
from nlgauge.metaeval.joined import JoinedScores, references_policy, stored_signature
from nlgauge.metaeval.measure import ABOUT, IntervalMethod, MetricTest, Task, takes
from nlgauge.metaeval.tasks import (
    AVERAGE,
    PRESETS,
    Preset,
    Protocol,
    average_note,
    average_rows,
    disagreements,
    mean_numbers,
    mean_of_known,
    noise_notes,
    pooled_numbers,
    preset,
    rows_of_test,
    standings,
    task_rows,
)
from nlgauge.stats.correlate import Correlation
from nlgauge.stats.tests import MetricComparison


def one(value, n_pairs=None, n_ties=None, chance=0.5):
    return Correlation(
        stat="pairwise_accuracy",
        value=value,
        n_used=3,
        n_undefined=1,
        n_pairs=n_pairs,
        n_ties=n_ties,
        level="system",
        averaging="none",
        chance=chance,
    )


def compared(p, values, alternative="greater"):
    n = len(values)
    values = np.array(values)
    counts = np.zeros(n, dtype=np.int64)
    none = np.zeros((n, n), dtype=np.int64)
    return MetricComparison(
        "perm_both", "both", alternative, values, values[:, None] - values, np.array(p), counts, counts, 99, none
    )


def test_a_mean_counts_the_groups_that_are_defined():
    row = mean_numbers([one(0.2), one(0.6), one(math.nan)])
    assert (row["value"], row["n_used"], row["n_undefined"]) == (pytest.approx(0.4), 2, 1)
    assert math.isnan(mean_of_known([math.nan]))


def test_only_a_one_sided_test_ranks():
    p = [[np.nan, 0.01], [0.99, np.nan]]
    assert standings(compared(p, [0.9, 0.1]), 2, "none", 0.05)[1] == {"rank": 2, "not_outperformed": False}
    assert standings(compared(p, [0.9, 0.1], "two-sided"), 2, "none", 0.05) == [{}, {}]
    assert standings(None, 1, "none", 0.05) == [{}]


def test_each_metric_has_a_row_against_each_other():
    bases = [{"metric": "a"}, {"metric": "b"}]
    p = [[np.nan, 0.03], [0.98, np.nan]]
    first, second = rows_of_test(
        bases, [0.9, 0.1], compared(p, [0.9, 0.1]), "holm", lambda i, j, p: {"power": 0.3} if p > 0.5 else {}
    )
    assert (first["metric"], first["against"], first["delta"]) == ("a", "b", pytest.approx(0.8))
    assert (first["p"], first["p_adjusted"]) == (0.03, pytest.approx(0.06))  # two p-values: the smaller counts twice
    assert "power" not in first
    assert (second["against"], second["power"], second["draws"]) == ("a", 0.3, 99)


def test_a_two_sided_test_of_two_metrics_is_one_test():
    # three tests, of which the smallest p is taken three times, the next twice, the last once
    p = [[np.nan, 0.01, 0.02], [0.01, np.nan, 0.5], [0.02, 0.5, np.nan]]
    bases, values = [{"metric": name} for name in "abc"], [0.9, 0.5, 0.1]
    rows = rows_of_test(bases, values, compared(p, values, "two-sided"), "holm", lambda i, j, p: {})
    found = {(row["metric"], row["against"]): row["p_adjusted"] for row in rows}
    assert found["a", "b"] == found["b", "a"] == pytest.approx(0.03)
    assert found["a", "c"] == found["c", "a"] == pytest.approx(0.04)
    assert found["b", "c"] == found["c", "b"] == pytest.approx(0.5)


def test_a_pooled_share_has_the_chance_of_the_pooled_pairs():
    # 10 pairs at 0.5 and 30 at 0.3
    row = pooled_numbers([one(0.5, 10, 1, chance=0.5), one(0.9, 30, 2, chance=0.3), one(math.nan, 0, 0, math.nan)])
    assert (row["value"], row["chance"]) == (pytest.approx(0.8), pytest.approx(0.35))
    assert (row["n_pairs"], row["n_ties"]) == (40, 3)


def test_one_sided_tests_in_both_directions_are_two_tests():
    # whoever picks the better of two metrics by the data has made a two-sided test: 2 x 0.02
    def adjusted(p, alternative):
        test = compared([[np.nan, p[0]], [p[1], np.nan]], [0.9, 0.1], alternative)
        rows = rows_of_test([{"metric": "a"}, {"metric": "b"}], [0.9, 0.1], test, "holm", lambda i, j, p: {})
        return [row["p_adjusted"] for row in rows]

    assert adjusted((0.02, 0.98), "greater") == pytest.approx([0.04, 0.98])
    assert adjusted((0.04, 0.04), "two-sided") == pytest.approx([0.04, 0.04])


# --- Protocols by name: they exist, say what they are, and name only what exists

PROMISED = (
    "wmt16-seg",
    "wmt-da-rr",
    "wmt-mqm-seg",
    "summeval-sys",
    "realsumm",
    "webnlg",
    "coco-m1",
    "paws-auc",
    "bagel",
)


@pytest.mark.parametrize("name", PROMISED)
def test_protocols_that_are_promised_exist(name):
    assert preset(name) is PRESETS[name]


@pytest.mark.parametrize("name", PRESETS)
def test_a_protocol_names_what_exists_and_says_what_it_is(name):
    chosen = PRESETS[name]
    references_policy(chosen.references)
    assert chosen.test is None or chosen.test in ABOUT
    for task in chosen.tasks:
        task.settled()
    assert set(chosen.options) <= set().union(*(takes(task.stat) for task in chosen.tasks))
    assert chosen.about.endswith(".")
    assert chosen.origin


def test_bagel_is_menlis_protocol_and_segments_of_wmt16_are_of_the_appendix():
    # MENLI's preprint averages over references (its table 18 comes out so); BARTScore takes the best
    assert preset("bagel").references == "mean"
    assert "references=best BARTScore" in preset("bagel").origin
    assert preset("wmt16-seg").origin.endswith("BERTScore's appendix")  # table 1 is of systems


def test_an_unknown_protocol_is_refused_with_the_nearest():
    with pytest.raises(InputError, match="unknown preset 'wmt16'; did you mean "):
        preset("wmt16")


# --- The organisers' average and ranks within noise, by hand; and the official numbers of WMT23 from their own files

ACCURACY, PEARSON = Task("pairwise_accuracy", "system"), Task("pearson", "segment")
PROTOCOL = Preset((ACCURACY, PEARSON, Task("pdp", "segment")), "", "", weights=(2.0, 1.0, 0.0))


def row(metric, task, group, value, **more):
    own = {"metric": metric, "criterion": "mqm", "level": task.level, "stat": task.stat, "group": group}
    return {**own, "value": value, "against": None, "p_adjusted": None, "ties": "loss", "rank": 1, **more}


def test_the_average_by_hand():
    rows = [
        row("m", ACCURACY, "a-b", 0.5), row("m", ACCURACY, "c-d", 1.0), row("m", ACCURACY, "mean", 0.75),
        row("m", ACCURACY, "pooled", 0.8),
        row("m", PEARSON, "a-b", 0.2), row("m", PEARSON, "c-d", 0.6), row("m", PEARSON, "mean", 0.4),
    ]  # fmt: skip
    found = {one["group"]: one for one in average_rows(rows, PROTOCOL)}
    assert found["a-b"]["value"] == pytest.approx((2 * 0.5 + 0.6) / 3)
    assert found["mean"]["value"] == pytest.approx((2 * 0.8 + 0.7) / 3)  # pairs of systems are pooled
    assert {(one["stat"], one["ties"]) for one in found.values()} == {(AVERAGE, None)}
    assert "rank" not in found["mean"]
    assert average_note(PROTOCOL).startswith("weighted_mean: the mean of 2 pairwise_accuracy (system), 1 pearson")


def official_rows(preset, **values):
    """A row per group for each task of a protocol; values of what is in no average are absurd."""
    rows = []
    for task in PRESETS[preset].tasks:
        name = f"{task.stat}_{task.level}"
        for group in ("mean", "pooled"):
            if group == "mean" or task.stat == "pairwise_accuracy":
                value = values.get(name, 1000.0) if (group == "pooled") == (task.stat == "pairwise_accuracy") else -1e6
                rows.append(row("m", task, group, value))
    return rows


def test_the_average_of_wmt22_is_accuracy_alone():
    # Freitag et al. (2022), the first column of the main table: accuracy over all pairs of systems, MetricX XXL
    (found,) = average_rows(official_rows("wmt22", pairwise_accuracy_system=0.85), PRESETS["wmt22"])
    assert found["value"] == pytest.approx(0.85)


def test_the_average_of_wmt23_is_the_printed_one():
    # Freitag et al. (2023), XCOMET-Ensemble over en-de, he-en, zh-en: average 0.825. There accuracy weighs 3 and the
    # nine values of pairs 1 each: (3 * .928 + (1.980 + 1.950 + 1.927 + 1.695 + 1.556 + 1.650) / 2
    # + .604 + .586 + .543) / 12 = (2.784 + 5.379 + 1.733) / 12 = 9.896 / 12. Means over pairs weigh 1 of 4 each.
    rows = official_rows(
        "wmt23",
        pairwise_accuracy_system=0.928,
        pearson_system=np.mean([0.980, 0.950, 0.927]),
        pearson_segment=np.mean([0.695, 0.556, 0.650]),
        acc_eq_calibrated_item=np.mean([0.604, 0.586, 0.543]),
    )
    (found,) = average_rows(rows, PRESETS["wmt23"])
    assert found["value"] == pytest.approx(9.896 / 12)
    assert round(found["value"], 3) == 0.825


def test_the_average_of_wmt24_is_that_of_two_tasks():
    # the mean of six values, soft pairwise accuracy and accuracy with ties of three pairs: (3 * .85 + 3 * .59) / 6
    rows = official_rows("wmt24", soft_pairwise_accuracy_system=0.85, acc_eq_calibrated_item=0.59)
    (found,) = average_rows(rows, PRESETS["wmt24"])
    assert found["value"] == pytest.approx(0.72)


def test_the_average_of_wmt25_by_hand(tmp_path):
    """Two pairs of its folder, with the human scores that count and others that say the opposite.

    People prefer A to B to C by 1 on each of 60 segments, so that no flip of signs is as large: p = 0 for each pair of
    systems, and accuracy counts three pairs in order. `same` agrees: SPA 1, accuracy 1. `flat` ties all: p = 1/2,
    accuracy 0. `half` ties A and B: SPA 1 - (1/2) / 3, accuracy 2/3. In cs-de_DE `half` agrees in all.
    """

    def put(name, values):
        path = tmp_path / "wmt25" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{value}\n" * 60 for value in values))

    people = {"A": 2.0, "B": 1.0, "C": 0.0}
    metrics = {"BLEU": people, "YiSi-1": {"A": 1.0, "B": 1.0, "C": 0.0}, "chrF": dict.fromkeys("ABC", 7.0)}
    for lp, gold in (("en-ko_KR", "mqm"), ("cs-de_DE", "esa-human1")):
        own = {**metrics, "YiSi-1": people} if lp == "cs-de_DE" else metrics
        for text in (f"sources/{lp}", f"references/{lp}.refA", *(f"system-outputs/{lp}/{system}" for system in "ABC")):
            put(f"{text}.txt", ["t"])
        wrong = {"esa-human2" if gold != "mqm" else "esa-human1": {s: -v for s, v in people.items()}}
        for name, values in {gold: people, **wrong}.items():
            put(f"human-scores/{lp}.{name}.seg.score", [f"{s} {v}" for s, v in values.items()])
        for name, values in {**own, "not-in-the-task": people}.items():
            put(f"metric-scores/{lp}/{name}-refA.seg.score", [f"{s} {v}" for s, v in values.items()])
    run = read_official(tmp_path / "wmt25")
    found = meta_evaluate(
        run.dataset, scores=run.scores, preset="wmt25", draws=49, higher_is_better=list(run.scores), test="none"
    )
    averages = {(r["metric"], r["group"]): r["value"] for r in found.rows if r["stat"] == AVERAGE}
    half = ((1 - 0.5 / 3) + 2 / 3) / 2
    by_hand = {
        ("BLEU", "en-ko_KR"): 1.0, ("BLEU", "cs-de_DE"): 1.0, ("BLEU", "mean"): 1.0,
        ("YiSi-1", "en-ko_KR"): half, ("YiSi-1", "cs-de_DE"): 1.0, ("YiSi-1", "mean"): (half + 1) / 2,
        ("chrF", "en-ko_KR"): 0.25, ("chrF", "cs-de_DE"): 0.25, ("chrF", "mean"): 0.25,
    }  # fmt: skip
    assert averages == pytest.approx(by_hand, abs=1e-9)


def test_several_criteria_have_an_average_each_and_notes_of_their_own():
    data, scores = toy()
    rated = tuple(replace(s, human={**s.human, "other": -s.human["mqm"]}) for s in data)
    found = meta_evaluate(Dataset(rated), criterion="all", scores=scores, preset="wmt23", draws=9)
    averages = {(r["criterion"], r["metric"]): r["value"] for r in found.rows if r["stat"] == AVERAGE}
    assert averages["mqm", "good"] > 0.5 > averages["other", "good"]
    assert any("pdp at level segment for other: of 1 neighbours" in note for note in found.notes)


def test_values_bear_the_number_and_the_weight_of_their_task():
    data, scores = toy()
    found = meta_evaluate(data, scores=scores, preset="wmt24", draws=9)
    places = {(r["stat"], r["level"]): (r["task"], r["weight"]) for r in found.rows if r.get("task")}
    assert list(places.values()) == [(1, 1.0), (2, 1.0), *((n, 0.0) for n in range(3, 9))]
    assert any("official test of acc_eq swaps pairs of systems" in note for note in found.notes)
    part = meta_evaluate(data, scores=scores, preset="wmt24", level="segment", stats="pearson", draws=9)
    assert not any(r.get("task") for r in part.rows)


def test_what_is_not_known_of_a_task_is_not_averaged():
    data, scores = toy()
    found = meta_evaluate(data, scores=scores, preset="wmt26", draws=9)
    assert not any(r["stat"] == AVERAGE for r in found.rows)
    assert any("no average is given" in note for note in found.notes)


def test_neighbours_within_noise_are_counted():
    values = {"a": 0.9, "b": 0.8, "c": 0.1}
    p = {("a", "b"): 0.3, ("b", "c"): 0.001, ("a", "c"): 0.001}
    rows = [row(metric, PEARSON, "mean", value) for metric, value in values.items()]
    rows += [row(one, PEARSON, "mean", 0, against=other, p=value) for (one, other), value in p.items()]
    assert list(noise_notes(rows, [PEARSON, ACCURACY], 0.05)) == [
        "pearson at level segment: of 2 neighbours in the ranking, 1 are within noise (p >= 0.05)"
    ]


def test_the_statistics_of_differences_have_their_own_tests():
    data, scores = toy()
    found = meta_evaluate(data, scores=scores, stats="pdp", test="auto", draws=99)
    assert {r["test"] for r in found.rows if r.get("against")} == {"perm_inputs"}
    assert all(r["low"] < r["value"] < r["high"] for r in found.rows if r["metric"] == "good" and not r.get("against"))
    assert meta_evaluate(data, scores=scores, stats="pdp_pairs", test="auto").value("good") > 0
    with pytest.raises(InputError, match="perm_both does not go with pdp; choose perm_inputs or bootstrap"):
        meta_evaluate(data, scores=scores, stats="pdp", test="perm_both")
    with pytest.raises(InputError, match="pdp pools the differences between outputs for one item"):
        meta_evaluate(data, scores=scores, stats="pdp", level="item")


def toy():
    rng = np.random.default_rng(0)
    quality = rng.normal(size=(4, 20)) + np.arange(4)[:, None]
    segments = tuple(
        Segment(f"{s}:{i}", "x", ("x",), system=f"s{s}", item=str(i), human={"mqm": float(quality[s, i])})
        for s in range(4)
        for i in range(20)
    )
    good, bad = quality + rng.normal(size=quality.shape), rng.normal(size=quality.shape)
    return Dataset(segments), {"good": good.ravel().tolist(), "bad": bad.ravel().tolist()}


@pytest.fixture(scope="module")
def official(data_folder):
    run = read_official(data_folder / "wmt23-he-en-mtme")
    return replace(run, dataset=replace(run.dataset, segments=tuple(s for s in run.dataset if s.human)))


@pytest.mark.parametrize(
    ("stat", "level", "key"),
    [
        ("pearson", "segment", ("segment", "pearson", "none")),
        pytest.param("pearson", "item", ("segment", "pearson", "item"), marks=pytest.mark.slow),
        pytest.param("pearson", "system", ("system", "pearson", "none"), marks=pytest.mark.slow),
        pytest.param("kendall_b", "item", ("segment", "kendall_tau_b", "item"), marks=pytest.mark.slow),
        ("acc_eq_calibrated", "item", ("segment", "acc_eq_calibrated", "item")),
        pytest.param("kendall_b", "segment", ("segment", "kendall_tau_b", "none"), marks=pytest.mark.slow),
        pytest.param("pearson", "sys", ("segment", "pearson", "sys"), marks=pytest.mark.slow),
        pytest.param("kendall_b", "sys", ("segment", "kendall_tau_b", "sys"), marks=pytest.mark.slow),
    ],
)
def test_every_official_number_of_he_en(official, data_folder, stat, level, key):
    numbers = json.loads((data_folder / "published_wmt23_he-en.json").read_text(encoding="utf-8"))["numbers"]
    printed = {
        n["metric"]: n["value"]
        for n in numbers
        if (n["level"], n["statistic"], n["grouping"]) == key and n["source"].endswith("he-en.txt")
    }
    up = list(official.scores)
    at = {"level": "segment", "averaging": "sys"} if level == "sys" else {"level": level}
    found = meta_evaluate(
        official.dataset, scores=official.scores, stats=stat, intervals="none", higher_is_better=up, **at
    )
    ours = {metric: found.value(metric) for metric in official.scores}
    assert len(ours) == 16
    assert ours == pytest.approx({metric: printed[metric] for metric in ours}, abs=1e-6)  # printed with 7 digits


def test_the_protocols_of_shared_tasks_are_official():
    assert [name for name, one in PRESETS.items() if one.official] == [f"wmt{n}" for n in range(21, 27)]
    assert all(len(one.weights) in (0, len(one.tasks)) for one in PRESETS.values())


def test_a_task_may_have_a_test_of_its_own():
    data, scores = toy()
    found = meta_evaluate(data, scores=scores, preset="wmt24", draws=9)
    tests = {(r["stat"], r["level"]): r["test"] for r in found.rows if r.get("against")}
    assert tests["pearson", "item"] == "item_swap"
    assert tests["pearson", "segment"] == "perm_both"
    asked = meta_evaluate(data, scores=scores, preset="wmt24", draws=9, level="item", stats="pearson", test="perm_both")
    assert {r["test"] for r in asked.rows if r.get("against")} == {"perm_both"}


def test_an_undefined_average_is_the_last():
    rows = [
        {**row(metric, task, group, value)}
        for metric, value in (("b", float("nan")), ("a", 0.1), ("c", 0.9))
        for task in (ACCURACY, PEARSON)
        for group in ("mean", "pooled")
    ]
    assert [one["metric"] for one in average_rows(rows, PROTOCOL)] == ["c", "a", "b"]


# --- One task on joined data: rows of groups and their mean, standings, notes, and what is refused

QUIET = IntervalMethod("none")


def held(human, metrics, groups=None, systems=None, down=()):
    """Judgements (S, N) a group, and metric -> scores of the same shapes."""
    groups = groups or [None]
    segments, z, columns = [], [], {name: [] for name in metrics}
    for g, (group, grid) in enumerate(zip(groups, human, strict=True)):
        grid = np.array(grid, dtype=float)
        for (s, i), value in np.ndenumerate(grid):
            segments.append(
                Segment(f"{group}{s}.{i}", "x", system=(systems or "abcdefghijkl")[s], item=str(i), group=group)
            )
            z.append(value)
            for name, scores in metrics.items():
                columns[name].append(float(np.array(scores[g])[s, i]))
    ids = tuple(s.id for s in segments)
    made = {
        n: Scores(stored_signature(n, ""), ids, np.array(v), higher_is_better=n not in down) for n, v in columns.items()
    }
    return JoinedScores(tuple(segments), {"q": np.array(z)}, made)


def rows_of(data, stat="pearson", level="segment", averaging=None, **asked):
    rows, notes = task_rows(
        data, "q", Task(stat, level, averaging), Protocol(**{"tasks": (), "intervals": QUIET, **asked})
    )
    return rows, notes


GRID = [[1, 2, 3], [2, 4, 6], [5, 3, 9]]
NOISE = [[1, 3, 3], [2, 4, 5], [5, 4, 9]]


def test_progress_counts_pairs_of_metrics_in_every_group_and_in_their_mean():
    shown = []

    @contextmanager
    def progress(total, label):
        shown.append([label, total, 0])

        def advance(count):
            shown[-1][2] += count

        yield advance

    data = held([GRID, NOISE], {"a": [NOISE, GRID], "b": [GRID, NOISE], "c": [GRID, GRID]}, groups=["de", "fr"])
    for test, level in (("perm_both", "segment"), ("perm_inputs", "item"), ("bootstrap", "item")):
        rows_of(data, "kendall_b", level, metric_test=MetricTest(test, draws=4), progress=progress)
    # three pairs of metrics in each of two groups and in the mean, which perm_inputs does not test and bootstrap tests
    # in one go
    made = [("perm_both", 9), ("perm_inputs", 6), ("bootstrap", 6)]
    assert shown == [[f"{test} of kendall_b", 9, done] for test, done in made]


def test_a_row_bears_what_the_result_file_promises():
    rows, _ = rows_of(held([GRID], {"m": [NOISE]}))
    promised = (
        "metric",
        "criterion",
        "level",
        "averaging",
        "stat",
        "group",
        "value",
        "low",
        "high",
        "n_used",
        "n_undefined",
        "ties",
    )
    assert tuple(rows[0])[:12] == promised
    assert (rows[0]["metric"], rows[0]["criterion"], rows[0]["level"], rows[0]["averaging"], rows[0]["group"]) == (
        "m",
        "q",
        "segment",
        "none",
        None,
    )
    assert rows[1]["group"] == "mean"


def test_the_level_is_kept_as_it_was_called():
    rows, _ = rows_of(held([GRID], {"m": [NOISE]}), level="summary")
    assert {row["level"] for row in rows} == {"summary"}
    assert {row["averaging"] for row in rows} == {"item"}


def test_every_group_has_a_row_and_the_mean_is_plain():
    data = held([GRID, [[1, 2], [2, 1], [4, 4]]], {"m": [NOISE, [[1, 2], [2, 2], [3, 5]]]}, groups=["g", "h"])
    rows, _ = rows_of(data)
    assert [row["group"] for row in rows] == ["g", "h", "mean"]
    assert rows[2]["value"] == pytest.approx((rows[0]["value"] + rows[1]["value"]) / 2)
    assert [row["n_used"] for row in rows] == [9, 6, 2]


def test_pairs_of_systems_are_pooled_over_groups_beside_their_mean():
    # g: three systems, all 3 pairs right; h: five systems, 3 of 10 pairs right
    human = [[[1], [2], [3]], [[1], [2], [3], [4], [5]]]
    other = [3, 2, 1, 5, 0]
    data = held(human, {"m": [[[1], [2], [3]], [[v] for v in other]]}, groups=["g", "h"])
    rows, _ = rows_of(data, "pairwise_accuracy", "system")
    values = {row["group"]: row["value"] for row in rows}
    right = 3  # of people's 1 < 2 < 3 < 4 < 5 it keeps (3, 5), (2, 5) and (1, 5)
    assert values["g"] == 1
    assert values["h"] == right / 10
    assert values["mean"] == pytest.approx((1 + right / 10) / 2)
    assert values["pooled"] == pytest.approx((3 + right) / 13)


def test_the_raw_value_keeps_its_sign():
    rows, _ = rows_of(held([GRID], {"m": [(-np.array(NOISE)).tolist()]}, down=("m",)))
    assert rows[0]["value"] == pytest.approx(-rows[0]["raw"])
    assert rows[0]["value"] > 0


def test_two_systems_lie_on_a_line():
    with pytest.raises(InputError, match="pearson at level 'system' needs 3 rated systems or more"):
        rows_of(held([[[1, 2], [3, 4]]], {"m": [[[1, 2], [3, 4]]]}), level="system")


def test_a_group_with_two_systems_is_undefined_and_told_beside_one_with_three():
    data = held([GRID, [[1, 2], [3, 5]]], {"m": [NOISE, [[1, 2], [3, 5]]]}, groups=["g", "h"])
    rows, notes = rows_of(data, level="system")
    values = {row["group"]: row["value"] for row in rows}
    assert math.isnan(values["h"])
    assert values["mean"] == values["g"]
    assert "pearson is undefined with fewer than 3 rated systems: h: 2" in notes
    assert [row["n_undefined"] for row in rows if row["group"] == "mean"] == [1]


def test_two_systems_are_one_pair_for_pairwise_accuracy():
    rows, _ = rows_of(held([[[1, 2], [3, 4]]], {"m": [[[1, 2], [3, 4]]]}), "pairwise_accuracy", "system")
    assert rows[0]["value"] == 1
    assert rows[0]["n_pairs"] == 1


@pytest.mark.parametrize(
    ("level", "stat"), [("segment", "pearson"), ("item", "kendall_b"), ("system", "pearson"), ("segment", "acc_eq")]
)
def test_judgements_that_all_tie_are_refused(level, stat):
    with pytest.raises(InputError, match="'q' is 4 for all that is compared"):
        rows_of(held([np.full((3, 3), 4.0)], {"m": [GRID]}), stat, level)


def test_a_metric_that_ties_everything_is_undefined_and_named():
    rows, notes = rows_of(held([GRID], {"m": [np.full((3, 3), 7.0)]}))
    assert math.isnan(rows[0]["value"])
    assert rows[0]["n_undefined"] == 9
    assert "m is the same for all segments or systems of the data" in notes


def test_one_rated_output_an_item_is_refused_at_level_item():
    with pytest.raises(InputError, match="every item has one rated output"):
        rows_of(held([[[1, 2, 3]]], {"m": [[[1, 2, 3]]]}), level="item")


def test_items_taken_together_are_told():
    _, notes = rows_of(held([GRID], {"m": [NOISE]}))
    assert any("rewarded for knowing which items are hard" in note for note in notes)
    _, notes = rows_of(held([GRID], {"m": [NOISE]}), level="item")
    assert not any("rewards" in note for note in notes)


def test_with_few_systems_the_least_correlation_is_told():
    # 11 systems: |r| above 0.602 in every table of Pearson's r
    grid = np.arange(22.0).reshape(11, 2)
    _, notes = rows_of(held([grid], {"m": [grid**2]}), level="system")
    assert "with 11 systems, |r| must exceed 0.602 to differ significantly from 0 (two-sided p < 0.05)" in notes


def many(seed=0, noise=(0.3, 3.0)):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(8, 25))
    return held([z], {f"m{k}": [z + level * rng.normal(size=z.shape)] for k, level in enumerate(noise)})


def test_tests_have_rows_of_their_own_for_every_ordered_pair():
    rows, notes = rows_of(many(noise=(0.3, 3.0, 0.4)), level="item", metric_test=MetricTest("auto", draws=99))
    tested = [row for row in rows if row.get("against") is not None and row["group"] == "mean"]
    assert [(row["metric"], row["against"]) for row in tested] == [
        (f"m{i}", f"m{j}") for i in range(3) for j in range(3) if i != j
    ]
    first = tested[0]
    assert first["test"] == "perm_both"
    assert first["p"] == 1 / 100  # no draw of 99 reaches the difference
    assert first["delta"] == pytest.approx(first["value"] - tested[2]["value"])
    assert any("p of pearson: perm_both, row better than column, 99 draws, seed 0" in note for note in notes)


def test_ranks_break_where_a_test_sees_a_difference():
    rows, _ = rows_of(many(), level="item", metric_test=MetricTest("auto", draws=99))
    standing = {
        row["metric"]: (row["rank"], row["not_outperformed"])
        for row in rows
        if "rank" in row and row["group"] == "mean"
    }
    assert standing == {"m0": (1, True), "m1": (2, False)}


def test_what_was_not_found_at_level_system_has_its_power_beside():
    rows, _ = rows_of(many(noise=(0.3, 0.5, 60.0)), level="system", metric_test=MetricTest("williams"), power=True)
    tested = {(row["metric"], row["against"]): row for row in rows if row.get("against") and row["group"] is None}
    small, large = tested["m0", "m1"], tested["m0", "m2"]
    assert small["p"] >= 0.05
    assert 0 < small["power"] < 0.8  # eight systems tell such metrics apart now and then
    assert large["p"] < 0.05
    assert "power" not in large
    assert "power" not in tested["m1", "m0"]  # which is not the better one


def test_power_is_that_of_the_level_at_which_differences_are_significant():
    def power(alpha):
        how = {"level": "system", "metric_test": MetricTest("williams"), "power": True, "alpha": alpha}
        rows, _ = rows_of(many(noise=(0.3, 0.5)), **how)
        return next(row["power"] for row in rows if row.get("power") is not None)

    assert power(0.01) < power(0.2)


def test_power_is_of_tests_of_systems():
    with pytest.raises(InputError, match="power is that of a test at level 'system'"):
        rows_of(many(), level="item", metric_test=MetricTest("auto"), power=True)


@pytest.mark.parametrize("test", ["item_swap", "perm_both", "perm_inputs", "bootstrap"])
@pytest.mark.parametrize("options", [{}, {"undefined": "zero"}, {"common": True}])
def test_a_test_is_about_the_means_it_stands_beside(test, options):
    rng = np.random.default_rng(0)
    z, x = rng.normal(size=(4, 6)), rng.normal(size=(2, 4, 6))
    x[1, :, :2] = 0.0  # the second metric is constant within two items
    data = held([z], {"m0": [x[0]], "m1": [x[1]]})
    asked = MetricTest(test, draws=19)
    rows, _ = rows_of(
        data, "kendall_b", "item", options=options, metric_test=asked, intervals=IntervalMethod("auto", 50)
    )
    value = {row["metric"]: row for row in rows if row["group"] == "mean" and row.get("against") is None}
    (delta,) = {row["delta"] for row in rows if row.get("against") == "m1" and row["group"] == "mean"}
    assert delta == pytest.approx(value["m0"]["value"] - value["m1"]["value"])
    assert value["m1"]["low"] < value["m1"]["value"] < value["m1"]["high"]


def test_a_group_with_two_systems_has_no_test_of_its_own():
    rng = np.random.default_rng(0)
    z = [rng.normal(size=(5, 3)), rng.normal(size=(2, 3))]
    data = held(z, {"m0": z, "m1": [-grid for grid in z]}, groups=["en-de", "en-lo"])
    rows, notes = rows_of(data, "pairwise_accuracy", "system", metric_test=MetricTest("auto", draws=19))
    assert {row["group"] for row in rows if row.get("against")} == {"en-de", "mean"}
    assert {row["value"] for row in rows if row["metric"] == "m0"} == {1}
    assert "en-lo: fewer than 3 rated systems, no test of pairwise_accuracy there" in notes


def test_mcnemar_stands_beside_the_accuracies_without_ties():
    # people prefer b; m0 ties 3 pairs of 4 and gets the last, m1 gets 2 of 4: 1 of 1 against 2 of 4
    z = [[0, 0, 0, 0], [1, 1, 1, 1]]
    scores = {"m0": [[[0, 0, 0, 0], [0, 0, 0, 1]]], "m1": [[[1, 1, 0, 0], [0, 0, 1, 1]]]}
    rows, _ = rows_of(
        held([z], scores), "preference_accuracy", options={"ties": "exclude"}, metric_test=MetricTest("mcnemar")
    )
    (test,) = [row for row in rows if row.get("against") == "m1" and row["group"] is None]
    assert (test["value"], test["delta"]) == (1, 0.5)
    assert [row["rank"] for row in rows if row["group"] is None and not row.get("against")] == [1, 1]


def test_one_metric_alone_is_not_tested():
    rows, notes = rows_of(many(noise=(1,)), metric_test=MetricTest("auto"))
    assert not any("against" in row for row in rows)
    assert not any(note.startswith("p of") for note in notes)


def test_a_statistic_without_a_test_says_so():
    rows, notes = rows_of(many(), "acc_eq_calibrated", averaging="none", metric_test=MetricTest("auto"))
    assert "no test is known for acc_eq_calibrated" in notes
    assert not any("against" in row for row in rows)


def test_a_mean_over_groups_that_has_no_test_is_told():
    rng = np.random.default_rng(0)
    z = [rng.normal(size=(8, 20)) for _ in range(2)]
    data = held(z, {f"m{k}": [g + k * rng.normal(size=g.shape) for g in z] for k in (1, 2)}, groups=["g", "h"])
    rows, notes = rows_of(data, level="item", metric_test=MetricTest("auto", draws=50))
    assert {row["group"] for row in rows if row.get("against")} == {"g", "h"}
    assert "perm_both is made in each group; there is no such test of the mean over groups" in notes


def test_metrics_that_are_averaged_over_different_items_are_told():
    tied = [[1, 2, 3], [1, 4, 5], [1, 3, 9]]  # the same for all outputs of the first item
    _, notes = rows_of(held([GRID], {"m": [NOISE], "tied": [tied]}), level="item")
    assert any(
        "tied is constant within some items: its pearson is averaged over 2 items, that of other metrics over up to 3"
        in note
        for note in notes
    )
    rows, notes = rows_of(held([GRID], {"m": [NOISE], "tied": [tied]}), level="item", options={"common": True})
    assert {row["n_used"] for row in rows if row["group"] is None} == {2}
    assert not any("over up to" in note for note in notes)


def test_realsumms_selection_of_items_is_for_items_only():
    rows, _ = rows_of(many(noise=(2.0,)), level="item", options={"compat": "realsumm"})
    plain, _ = rows_of(many(noise=(2.0,)), level="item")
    assert rows[0]["value"] > plain[0]["value"]  # only items with p <= 0.05 are averaged
    system, _ = rows_of(many(noise=(2.0,)), level="system", options={"compat": "realsumm"})
    assert system[0]["value"] == rows_of(many(noise=(2.0,)), level="system")[0][0]["value"]


def test_what_the_statistic_says_of_itself_is_told():
    _, notes = rows_of(many(noise=(1.0, 2.0)), "acc_eq_calibrated", level="item")
    assert "acc_eq_calibrated: epsilon calibrated on the data reported, which favours the metric" in notes
    _, notes = rows_of(many(noise=(1.0, 5.0)), level="item", options={"compat": "realsumm"})
    assert sum("only items with p <= 0.05 are averaged" in note for note in notes) == 2  # each metric loses others


def test_intervals_are_made_and_told():
    rows, notes = rows_of(many(noise=(1.0,)), level="item", intervals=IntervalMethod(draws=100))
    assert rows[0]["low"] < rows[0]["value"] < rows[0]["high"]
    assert (rows[1]["low"], rows[1]["high"]) == (rows[0]["low"], rows[0]["high"])  # one group: its mean is itself
    assert "[low, high] of pearson: 95 %, percentile bootstrap over items, 100 draws, seed 0" in notes


def test_a_baseline_is_what_all_others_are_tested_against_after_holm():
    data = held([GRID], {"a": [NOISE], "b": [GRID[::-1]], "c": [[[3, 1, 2], [4, 6, 5], [9, 8, 7]]]})
    rows, _ = rows_of(data, metric_test=MetricTest("williams"), baseline="b")
    tests = {row["metric"]: row for row in rows if row.get("against") is not None and row["group"] == "mean"}
    assert set(tests) == {"a", "c"}
    assert {row["against"] for row in tests.values()} == {"b"}
    low, high = sorted(row["p"] for row in tests.values())
    assert sorted(row["p_adjusted"] for row in tests.values()) == [min(1, 2 * low), max(min(1, 2 * low), high)]
    assert not any("rank" in row for row in rows)
    with pytest.raises(InputError, match="baseline is 'd', which is not among the metrics"):
        rows_of(data, metric_test=MetricTest("williams"), baseline="d")


def test_segments_that_are_ranked_apart_come_first():
    # people rank the six segments 1 to 6; the metric says 3 1 2 4 6 5: the first is two places off, others one or none
    data = held(
        [[[6, 5, 4, 3, 2, 1]]], {"m": [[[40, 60, 50, 30, 10, 20]]], "error": [[[1, 2, 3, 4, 5, 6]]]}, down=["error"]
    )
    first, second, *others = disagreements(data, 2)
    assert (first["human_rank"], first["rank"], first["n"]) == (1, 3, 6)
    assert abs(second["human_rank"] - second["rank"]) == 1
    assert [row["human_rank"] - row["rank"] for row in others] == [0, 0]  # an error rate is turned round


def test_tests_that_reject_too_often_are_noted():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(1, 60))
    a, b = (z + rng.normal(size=(1, 60)) for _ in range(2))

    def notes(bend, test, n=60):
        data = held([bend(z)[:, :n]], {"a": [bend(a)[:, :n]], "b": [bend(b)[:, :n]]})
        return " ".join(rows_of(data, metric_test=MetricTest(test, draws=20))[1])

    assert "Williams' test rejects up to 20 %" in notes(np.exp, "williams")
    assert "rejects up to" not in notes(lambda v: v, "williams")
    assert "rejects up to" not in notes(np.exp, "perm_both")
    assert "bootstrap test calls too much significant with 20 items" in notes(lambda v: v, "bootstrap", 20)
    assert "calls too much" not in notes(lambda v: v, "bootstrap")


@pytest.mark.parametrize("options", [{"epsilon": [0.5, 0.5, 0.0]}, {"common": True}])
def test_a_raw_value_is_over_the_same_groups_at_its_own_threshold(options):
    # of the third item a is constant: with `common` it counts for no metric, before orientation as after
    z = [[1, 2, 1, 4], [2, 1, 2, 3], [3, 3, 3, 1]]
    a = [[1, 2, 1, 3], [2, 3, 1, 2], [3, 1, 1, 1]]
    up = [[1, 2, 3, 4], [3, 1, 2, 3], [2, 3, 1, 0]]
    data = held([z], {"a": [a], "up": [up], "down": [(-np.array(up)).tolist()]}, down=["down"])
    stat = "acc_eq" if "epsilon" in options else "pearson"
    rows, _ = task_rows(data, "q", Task(stat, "item"), Protocol(tasks=(), options=options, intervals=QUIET))
    (row,) = [row for row in rows if (row["metric"], row["group"]) == ("down", "mean")]
    if stat == "pearson":
        assert row["raw"] == pytest.approx(-row["value"])
    else:  # what is concordant one way is discordant the other way; nothing ties at epsilon 0
        assert row["value"] + row["raw"] == pytest.approx(1)
