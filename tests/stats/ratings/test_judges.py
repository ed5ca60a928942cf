from __future__ import annotations

import gzip
import json
import math
import os
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.io import read_verdicts
from nlgauge.stats import cohen_kappa, corrected_rate, errors_by_system, retest_spread, swap_consistency

NAN = math.nan
LLMBAR = Path(os.environ.get("NLGAUGE_DATA", "absent")) / "llmbar" / "verdicts.jsonl.gz"


def test_kappa_by_hand():
    # 6 of 8 agree; the judge says 1 in 5 of 8, people in 5 of 8: chance 25/64 + 9/64 = 34/64
    found = cohen_kappa([1, 1, 1, 1, 0, 0, 0, 1, NAN], [1, 1, 1, 1, 0, 0, 1, 0, 1])
    assert (found.agreement, found.chance, found.base_rate) == (0.75, 34 / 64, 5 / 8)
    assert found.value == pytest.approx((0.75 - 34 / 64) / (30 / 64))
    assert (found.n, found.n_undefined) == (8, 1)
    assert math.isnan(cohen_kappa([1, 1], [1, 1]).value)


def test_much_agreement_may_be_the_base_rate():
    found = cohen_kappa([1] * 10, [1] * 9 + [0])
    assert (found.agreement, found.base_rate, found.value) == (0.9, 0.9, 0)


def test_swaps_by_hand():
    # given 1 and swapped 2 is the same answer; 1 and 1 is the first place twice; a tie and a choice are a flip
    found = swap_consistency([1, 1, 0, 0, 2, NAN], [2, 1, 0, 1, 1, 1])
    assert (found.consistent, found.flips) == (pytest.approx(3 / 5), pytest.approx(2 / 5))
    assert found.first == pytest.approx(6 / 8)  # eight choices are no tie; the first place won all but two
    assert (found.n, found.n_undefined) == (5, 1)
    assert math.isnan(swap_consistency([NAN], [1]).flips)


def test_spread_over_repeats_by_hand():
    # variances 2 (1 and 3) and 0; the third answer was scored once: sqrt((2 + 0) / 2)
    assert retest_spread([[1, 4, 5], [3, 4, NAN]]) == 1
    assert math.isnan(retest_spread([[1, 2]]))


def test_a_perfect_judge_needs_no_correction():
    found = corrected_rate(30, 100, (1000, 1000), (1000, 1000))
    assert found.value == pytest.approx(found.raw) == 0.3
    assert found.low < 0.3 < found.high


def test_the_estimate_of_rogan_and_gladen():
    # (.5 + .8 - 1) / (.9 + .8 - 1)
    assert corrected_rate(50, 100, (90, 100), (80, 100)).value == pytest.approx(0.3 / 0.7)


@pytest.mark.parametrize(("theta", "se", "sp"), [(0.2, 0.9, 0.8), (0.5, 0.75, 0.9), (0.8, 0.85, 0.85)])
def test_corrected_intervals_cover(theta, se, sp):
    rng, covered, draws = np.random.default_rng(3), 0, 2000
    n, n1, n0 = 200, 60, 60
    for _ in range(draws):
        positive = int(rng.binomial(n, theta * se + (1 - theta) * (1 - sp)))
        found = corrected_rate(positive, n, (int(rng.binomial(n1, se)), n1), (int(rng.binomial(n0, sp)), n0))
        covered += found.low <= theta <= found.high
    assert 0.93 <= covered / draws <= 0.97  # as the interval announces, within two points


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: corrected_rate(5, 10, (6, 10), (5, 10)), "not clearly above 0"),
        (lambda: corrected_rate(11, 10, (6, 10), (5, 10)), "labels: 11 of 10"),
        (lambda: corrected_rate(5, 10, (0, 0), (5, 10)), "sensitivity: 0 of 0"),
        (lambda: cohen_kappa([1], [1, 2]), "two lists of one length"),
        (lambda: cohen_kappa([NAN], [1]), "none of 1 units"),
        (lambda: swap_consistency([3], [1]), "neither 1, 2 nor 0"),
        (lambda: swap_consistency([1], [1, 2]), "two lists of one length"),
        (lambda: retest_spread([1, 2]), r"\(repeats, answers\)"),
        (lambda: errors_by_system([0.5], [1], ["a"]), "neither 0 nor 1"),
        (lambda: errors_by_system([1], [1], []), "expected one length"),
    ],
)
def test_what_is_wrong_is_one_line(call, says):
    with pytest.raises(ng.InputError, match=says):
        call()


def test_errors_are_counted_by_system():
    found = errors_by_system([1, 0, 1, 0, NAN], [1, 1, 0, 0, 1], ["a", "a", "a", "b", "b"])
    assert {system: (se.tolist(), sp.tolist()) for system, (se, sp) in found.items()} == {
        "a": ([1, 2], [0, 1]), "b": ([0, 0], [1, 1])
    }  # fmt: skip


@pytest.mark.skipif(not LLMBAR.exists(), reason="needs $NLGAUGE_DATA/llmbar")
@pytest.mark.parametrize(
    ("prompt", "accuracy", "flips"), [("Vanilla_NoRules", 0.7649, 0.0883), ("Swap", 0.8389, 0.0358)]
)
def test_accuracy_and_swaps_of_gpt4_on_llmbar(tmp_path, prompt, accuracy, flips):
    """Of the published verdicts; winners are outputs there and places in verdict lines. An unread one is wrong."""
    lines, gold = [], {}
    with gzip.open(LLMBAR, "rt") as file:
        for row in map(json.loads, file):
            if (row["judge"], row["prompt"]) == ("GPT-4", prompt):
                shown = ["1", "2"] if row["order"] == "given" else ["2", "1"]
                verdict = {None: None, int(shown[0]): "first", int(shown[1]): "second"}[row["verdict"]]
                line = {"item": row["id"], "judge": "GPT-4", "first": shown[0], "second": shown[1], "verdict": verdict}
                lines.append(json.dumps(line) + "\n")
                gold[row["id"]] = str(row["gold"])
    (tmp_path / "v.jsonl").write_text("".join(lines))
    verdicts = read_verdicts(tmp_path / "v.jsonl")
    right = sum(pair.better.system == gold[pair.better.item] for pair in verdicts.preferences().pairs)
    assert right / len(verdicts.rows) == pytest.approx(accuracy, abs=5e-5)
    places = defaultdict(dict)
    for one in verdicts.rows:
        places[one.item][one.first] = {"first": 1.0, "second": 2.0, None: NAN}[one.verdict]
    found = swap_consistency([one["1"] for one in places.values()], [one["2"] for one in places.values()])
    assert (found.n, len(places)) == (419, 419)
    assert found.flips == pytest.approx(flips, abs=5e-5)
