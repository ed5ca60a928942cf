from __future__ import annotations

import gzip
import json
import math
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.stats import cohen_kappa, prompt_sensitivity, wilson

NAN = math.nan
LLMBAR = Path(os.environ.get("NLGAUGE_DATA", "absent")) / "llmbar" / "verdicts.jsonl.gz"
LABELS = st.lists(st.tuples(*[st.sampled_from([0.0, 1.0, 2.0])] * 3), min_size=3, max_size=12)


def test_two_prompts_by_hand():
    # three of four labels agree; chance is 1/2 * 1/4 + 1/2 * 3/4, five of eight labels are 0, one of four items depends
    found = prompt_sensitivity([[1, 1, 0, 0], [1, 0, 0, 0]], [1, 1, 0, 1])
    assert (found.agreement.value, found.chance, found.kappa.value) == (0.75, 0.5, 0.5)
    assert (found.base_rate, found.dependent.value, found.n, found.n_undefined) == (5 / 8, 1 / 4, 4, 0)
    assert (found.dependent.low, found.dependent.high) == wilson(1, 4)
    assert found.accuracy.tolist() == [0.75, 0.5]
    # the difference of accuracies is 1/4 with variance 1/16 of its mean: no more than four items make of equal prompts
    assert found.spread.value == pytest.approx(0, abs=1e-7)


def test_spread_is_that_beyond_noise_by_hand():
    # right under one prompt, wrong in 3 of 4 under the other: ((3/4)^2 - (1/4) / 4) / 2 = 1/4
    assert prompt_sensitivity([[1, 1, 0, 0], [0, 0, 0, 1]], [1, 1, 0, 0]).spread.value == pytest.approx(0.5)


def test_the_interval_of_agreement_is_students_for_two_prompts():
    # with all labels known agreement is a plain mean over items, of which the jackknife has the usual standard error
    labels = np.array([[1, 1, 0, 0, 1, 0], [1, 0, 0, 0, 1, 1]], float)
    equal, found = labels[0] == labels[1], prompt_sensitivity(labels)
    half = 2.5705818 * equal.std(ddof=1) / math.sqrt(6)  # t with 5 degrees of freedom
    assert found.agreement.low == pytest.approx(equal.mean() - half)
    assert found.agreement.high == 1  # cut there


@given(LABELS)
def test_two_prompts_agree_as_two_raters_do(rows):
    table = np.array(rows).T[:2]
    found, kappa = prompt_sensitivity(table), cohen_kappa(table[0], table[1])
    assert found.agreement.value == pytest.approx(kappa.agreement)
    assert found.chance == pytest.approx(kappa.chance)
    assert found.kappa.value == pytest.approx(kappa.value, nan_ok=True)


@given(LABELS)
def test_the_order_of_prompts_and_items_does_not_count(rows):
    table, gold = np.array(rows).T, np.array(rows)[:, 0]
    one, other = prompt_sensitivity(table, gold), prompt_sensitivity(table[::-1, ::-1], gold[::-1])
    assert np.allclose(one.accuracy, other.accuracy[::-1])
    for name in ("agreement", "kappa", "dependent", "spread"):
        ends = [(found.value, found.low, found.high) for found in (getattr(one, name), getattr(other, name))]
        assert np.allclose(*ends, atol=1e-6, equal_nan=True)  # a root of what rounds to 0


def test_equal_labels_leave_what_so_few_items_cannot_say():
    found = prompt_sensitivity([[1, 0, 1, 0]] * 3)
    assert (found.agreement.value, found.kappa.value, found.dependent.value) == (1, 1, 0)
    assert found.agreement.low == pytest.approx(1 - wilson(0, 4)[1])
    assert found.kappa.low == pytest.approx((found.agreement.low - 0.5) / 0.5)
    assert math.isnan(found.spread.value)
    assert found.accuracy.shape == (0,)


def test_units_of_an_item_count_together():
    # the second item has both units under two prompts, of which one depends; the third is known under one prompt alone
    labels = [[1, 1, 1, 2, NAN], [1, 1, 1, 1, 2]]
    found = prompt_sensitivity(labels, items=["a", "a", "b", "b", "c"])
    assert (found.n, found.n_undefined, found.dependent.value, found.agreement.value) == (2, 1, 0.5, 0.75)
    assert prompt_sensitivity(labels, items=np.array([0, 0, 1, 1, 2])).dependent == found.dependent


def test_one_label_alone_has_no_kappa():
    found = prompt_sensitivity([[1, 1], [1, 1]])
    assert math.isnan(found.kappa.value)
    assert found.base_rate == 1


@pytest.mark.parametrize(("spread", "least"), [(0.0, 0.93), (0.08, 0.90)])
def test_intervals_cover(spread, least):
    """Prompts with accuracies that far apart, and labels that agree as often as they would by chance beyond that."""
    rng, draws, n, prompts = np.random.default_rng(5), 300, 120, 5
    truth = 0.7 + spread * np.array([-1, -0.5, 0, 0.5, 1]) / np.std([-1, -0.5, 0, 0.5, 1], ddof=1)
    agreement = np.mean([p * q + (1 - p) * (1 - q) for i, p in enumerate(truth) for q in truth[:i]])
    drawn = [prompt_sensitivity(rng.random((prompts, n)) < truth[:, None], np.ones(n)) for _ in range(draws)]
    covered = np.mean([
        (one.agreement.low <= agreement <= one.agreement.high, one.spread.low <= spread <= one.spread.high)
        for one in drawn
    ], axis=0)  # fmt: skip
    assert covered[0] >= 0.93  # .95 is announced, and 300 draws have a standard error of .013
    assert covered[1] >= least
    # what is cut off below 0 raises the mean a little; without the correction it would be .7 * .3 / 120 = .0018 above
    assert np.mean([one.spread.value**2 for one in drawn]) == pytest.approx(spread**2, abs=0.0009)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: prompt_sensitivity([[1, 2]]), "two prompts or more"),
        (lambda: prompt_sensitivity([1, 2]), "two prompts or more"),
        (lambda: prompt_sensitivity([[1, 2], [1]]), "labels"),
        (lambda: prompt_sensitivity([[1, 2], [1, 2]], [1]), "expected one length"),
        (lambda: prompt_sensitivity([[1, 2], [1, 2]], 1), "expected one length"),
        (lambda: prompt_sensitivity([[1, 2], [1, 2]], items=["a"]), "expected one length"),
        (lambda: prompt_sensitivity([[1, NAN], [1, 2]]), "1 items have labels under two prompts"),
        (lambda: prompt_sensitivity([[NAN, NAN], [1, 2]]), "0 items have labels under two prompts"),
        (lambda: prompt_sensitivity([[], []]), "0 items have labels"),
        (lambda: prompt_sensitivity([range(300), range(300)]), "300 different labels, expected at most 200"),
        (lambda: prompt_sensitivity([[1, 2], [1, 2]], level=95), "level is 95"),
    ],
)
def test_what_is_wrong_is_one_line(call, says):
    with pytest.raises(ng.InputError, match=says):
        call()


@pytest.mark.skipif(not LLMBAR.exists(), reason="needs $NLGAUGE_DATA/llmbar")
def test_gpt4_on_llmbar():
    """The published verdicts of 15 prompts in both orders; `recipes/studies/judges.py` made the page of these."""
    verdicts, gold = {}, {}
    with gzip.open(LLMBAR, "rt") as file:
        for row in map(json.loads, file):
            if row["judge"] == "GPT-4":
                verdicts.setdefault(row["prompt"], {})[row["id"], row["order"]] = row["verdict"] or 0
                gold[row["id"]] = row["gold"]
    units = sorted({unit for of_prompt in verdicts.values() for unit in of_prompt})
    labels = [[of_prompt[unit] for unit in units] for of_prompt in verdicts.values()]
    found = prompt_sensitivity(labels, [gold[item] for item, _ in units], items=[item for item, _ in units])
    assert (len(labels), found.n, len(units)) == (15, 419, 838)
    assert dict(zip(verdicts, found.accuracy, strict=True))["Swap"] == pytest.approx(0.8389, abs=5e-5)  # as published
    shown = [found.agreement.value, found.kappa.value, found.dependent.value, found.spread.value]
    assert shown == pytest.approx([0.877, 0.755, 0.461, 0.030], abs=5e-4)
