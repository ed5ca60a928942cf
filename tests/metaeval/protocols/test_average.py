"""The organisers' average and ranks within noise, by hand; and the official numbers of WMT23 from their own files."""

import json
from dataclasses import replace

import numpy as np
import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Dataset, Segment
from nlgauge.io.wmt.mtme import read_official
from nlgauge.metaeval.evaluate import meta_evaluate
from nlgauge.metaeval.protocols.average import AVERAGE, average_note, average_rows, noise_notes
from nlgauge.metaeval.protocols.presets import PRESETS, Preset, Task

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
    found = meta_evaluate(data, scores=scores, preset="wmt25", draws=9)
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
        ("pearson", "system", ("system", "pearson", "none")),
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
    assert [name for name, one in PRESETS.items() if one.official] == ["wmt21", "wmt22", "wmt23", "wmt24", "wmt25"]
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
