"""Runs of one system: what the gate says of them, their noise, and pass^k."""

from __future__ import annotations

import math
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.gating.sides import BASE, REFS, better, worse

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Segment
from nlgauge.gating import aa
from nlgauge.gating.aa import aa_test, noise, pass_k
from nlgauge.gating.gate import gate, judged
from nlgauge.gating.outputs import Outputs, ScoredSide, from_texts
from nlgauge.gating.verdicts import Rules
from nlgauge.metrics.registry import named
from nlgauge.runtime.runtime import Runtime
from nlgauge.stats.draws import wilson

SPEC = "human.judge"
JUDGE = named([SPEC], None)
FOUR_ERRORS = 0.064  # of a share of 1,000 simulated pairs, which is off by .016 at most


def run(name, scores, groups=None):
    """A run of a judge on texts that stay the same; None is a text without a score."""
    items = {
        str(i): (
            Segment(str(i), "text", item=str(i), group=groups and groups[i], human={} if x is None else {"judge": x}),
        )
        for i, x in enumerate(scores)
    }
    return Outputs(name, items)


def tried(runs, groups=None, **rules):
    made = [run(f"run {i}", scores, groups) for i, scores in enumerate(runs)]
    return aa_test(made, JUDGE, Rules(**rules), Runtime())


def sides(table):
    """Sides of scores (items, runs)."""
    columns = zip(*table, strict=True)
    outputs = run("run", [0] * len(table))
    return [ScoredSide(outputs, {SPEC: [np.array([x], dtype=float) for x in one]}, {SPEC: ""}) for one in columns]


def test_noise_by_hand():
    # means .75 and .25; variances of items .5, 0, 0, .5, so that a mean has one of 1 / 16; Q is McNemar's (2 - 0)^2 / 2
    found = noise(SPEC, sides([(1, 0), (1, 1), (0, 0), (1, 0)]), np.arange(4))
    assert (found["n"], found["differs"]) == (4, 0.5)
    assert found["item_sd"] == pytest.approx(0.5)
    assert found["mean_sd"] == pytest.approx(0.5 / math.sqrt(2))
    assert found["mean_sd_items"] == pytest.approx(0.25)
    assert found["q_p"] == pytest.approx(stats.chi2.sf(2, 1))


def test_q_is_cochrans():
    # Cochran's formula, (k - 1) (k sum C^2 - N^2) / (k N - sum R^2), of three runs
    table = np.array([(1, 1, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1), (0, 1, 0), (1, 1, 0)])
    columns, rows, n = table.sum(axis=0), table.sum(axis=1), table.sum()
    q = 2 * (3 * (columns**2).sum() - n**2) / (3 * n - (rows**2).sum())
    assert noise(SPEC, sides(table), np.arange(6))["q_p"] == pytest.approx(stats.chi2.sf(q, 2))


def test_items_of_a_group_vary_together():
    # both items of the first group fall by 1: their sums vary by 2 in all, those of items alone by .5 + .5
    table = [(1, 0), (1, 0), (0, 0), (0, 0)]
    alone, together = (noise(SPEC, sides(table), np.array(units)) for units in ([0, 1, 2, 3], [0, 0, 1, 1]))
    assert alone["mean_sd_items"] == pytest.approx(math.sqrt(1) / 4)
    assert together["mean_sd_items"] == pytest.approx(math.sqrt(2) / 4)


def test_what_has_no_score_is_left_out_of_the_noise():
    found = noise(SPEC, sides([(1, math.nan), (1, 0)]), np.arange(2))
    assert (found["n"], found["differs"]) == (1, 1)
    nothing = noise(SPEC, sides([(1, math.nan)]), np.arange(1))
    assert nothing.pop("n") == 0
    assert all(math.isnan(one) for one in nothing.values())


def test_pass_k_by_hand():
    # 3, 2, 1 and 0 of three runs pass: (3 + 2 + 1) / 12; (1 + 1/3) / 4; 1 / 4, whose trials are the items
    table = [(1, 1, 1), (1, 1, 0), (0, 0, 1), (0, 0, 0)]
    found = list(pass_k(SPEC, JUDGE[SPEC], sides(table), None))
    assert [row["statistic"] for row in found] == ["pass^1", "pass^2", "pass^3"]
    assert [row["value"] for row in found] == pytest.approx([1 / 2, 1 / 3, 1 / 4])
    assert (found[2]["low"], found[2]["high"]) == pytest.approx(wilson(1, 4))


@given(st.lists(st.lists(st.booleans(), min_size=4, max_size=4), min_size=1, max_size=8))
def test_pass_k_is_the_share_of_sets_of_k_runs_that_all_pass(table):
    for row in pass_k(SPEC, JUDGE[SPEC], sides(np.array(table, dtype=float)), None):
        k = int(row["statistic"].removeprefix("pass^"))
        share = np.mean([[all(chosen) for chosen in combinations(item, k)] for item in table])
        assert row["value"] == pytest.approx(share)
        assert 0 <= row["low"] <= row["value"] + 1e-12  # the last bit of a share
        assert row["value"] - 1e-12 <= row["high"] <= 1


def test_pass_k_takes_no_other_scores_and_a_run_without_one_does_not_pass():
    assert not [*pass_k(SPEC, JUDGE[SPEC], sides([(1, 0.5)]), None)]
    first, second = pass_k(SPEC, JUDGE[SPEC], sides([(1, math.nan), (1, 1)]), None)
    assert (first["value"], second["value"]) == (0.75, 0.5)


def test_dependent_items_widen_pass_k():
    table = [(1, 1)] * 10 + [(0, 0)] * 10
    alone, grouped = (next(pass_k(SPEC, JUDGE[SPEC], sides(table), c)) for c in (None, ["a"] * 10 + ["b"] * 10))
    assert grouped["high"] - grouped["low"] > alone["high"] - alone["low"]


def test_one_item_that_flips_fails_every_other_pair():
    # these items alone, nothing may be lost: the item is 1 before and 0 after in half of all pairs
    row = tried([[1.0, 0.0, 1.0], [0.0, 0.0, 1.0]], items="fixed", allow=0).rows[0]
    assert row["fail"] == pytest.approx(0.5, abs=FOUR_ERRORS)
    assert row["fail"] + row["pass"] == 1
    assert (row["pairs"], row["pairs_fail"], row["pairs_pass"]) == (2, 1, 1)
    assert row["allow_few_fail"] == row["allow_most_pass"] == 0.34  # a third, rounded up


def test_two_items_that_flip_pass_three_of_four_pairs():
    # each is lost, gained or kept as the coin of each item falls: both lost 1/4, one each 1/2, both gained 1/4
    row = tried([[1.0, 0.0, 1.0, 1.0], [0.0, 1.0, 1.0, 1.0]], items="fixed", allow=0.3).rows[0]
    assert row["fail"] == pytest.approx(0.25, abs=FOUR_ERRORS)
    assert row["pairs_fail"] == 0


def test_items_of_a_group_come_from_the_same_runs():
    # in a group each gain is made up by a loss, so that nothing is lost whatever is drawn; alone they are not
    runs, groups = [[1.0, 0.0] * 40, [0.0, 1.0] * 40], [str(i // 2) for i in range(80)]
    together, alone = (tried(runs, groups, items=items, allow=0.01).rows[0] for items in ("sample", "independent"))
    assert together["mean_sd_items"] == 0
    assert alone["mean_sd_items"] == pytest.approx(math.sqrt(80 * 0.5) / 80)
    assert together["allow_few_fail"] == 0
    assert alone["allow_most_pass"] > together["allow_most_pass"] > 0


def noisy(n, spread, seed=0, runs=3, high=1.0):
    rng = np.random.default_rng(seed)
    quality = rng.uniform(0.3, 0.7, n) * high
    return [np.clip(quality + rng.normal(0, spread * high, n), 0, high).tolist() for _ in range(runs)]


@pytest.mark.parametrize("rules", [{}, {"items": "fixed"}, {"sequential": True}, {"alpha": 0.1}])
def test_what_is_stated_of_an_allowance_holds_of_the_same_pairs(rules, monkeypatch):
    monkeypatch.setattr(aa, "SIMULATED", 200)
    runs, scale = noisy(60, 0.1), (0.0, 1.0)
    stated = tried(runs, scale=scale, **rules).rows[0]
    few, most = (
        tried(runs, scale=scale, allow=stated[f"allow_{name}"], **rules).rows[0] for name in ("few_fail", "most_pass")
    )
    assert few["fail"] < 0.05
    assert most["pass"] >= 0.95
    assert tried(runs, scale=scale, allow=0.8 * stated["allow_most_pass"], **rules).rows[0]["pass"] < most["pass"]
    item = tried(runs, scale=scale, allow_item=stated["allow_item_few_fail"], **rules).rows[0]
    assert item["fail_otherwise"] < 0.05
    assert tried(runs, scale=scale, allow_item=0.01, **rules).rows[0]["fail_otherwise"] == 1


def test_stated_rates_are_those_of_new_runs_on_average_over_judges(monkeypatch):
    # 12 items that pass with .5: each is lost or gained with .25. FAIL where two more are lost than gained, of which
    # the chance follows from the twelvefold convolution. Over 100 judges the stated share varies by some .13 each.
    monkeypatch.setattr(aa, "SIMULATED", 40)
    chances = np.array([1.0])
    for _ in range(12):
        chances = np.convolve(chances, [0.25, 0.5, 0.25])
    true = chances[: 12 - 1].sum()  # from 12 lost to 2 lost
    rng = np.random.default_rng(5)
    rules = {"items": "fixed", "allow": 1.5 / 12}
    stated = [tried((rng.random((3, 12)) < 0.5).astype(float).tolist(), **rules).rows[0]["fail"] for _ in range(100)]
    assert np.mean(stated) == pytest.approx(true, abs=3 * 0.13 / 10)
    assert 0.2 < true < 0.4


def test_pairs_of_runs_are_judged_as_the_gate_does():
    texts = [worse(0.9, 1), worse(0.9, 2), better(0.6, 3)]
    made = [Outputs.of(from_texts(one, f"run {i}", REFS), f"run {i}") for i, one in enumerate(texts)]
    rows = aa_test(made, named(["chrf", "ter"], None), Rules(allow={"chrf": 1, "ter": 5}), Runtime()).rows
    how = {"metrics": ["chrf", "ter"], "allow": {"chrf": 1, "ter": 5}}
    found = [gate(base, new, REFS, **how) for base, new in permutations(texts, 2)]
    for i, row in enumerate(rows[:2]):
        assert row["pairs_fail"] == sum(one.rows[i]["verdict"] == "FAIL" for one in found) > 0
        assert row["pairs_pass"] == sum(one.rows[i]["verdict"] == "PASS" for one in found)
    assert rows[2]["metric"] == "the whole gate"
    assert rows[2]["pairs_pass"] == sum(map(bool, found))
    assert rows[2]["fail"] >= max(row["fail"] for row in rows[:2])
    assert rows[2]["pass"] <= min(row["pass"] for row in rows[:2])


def test_a_metric_that_is_only_reported_decides_nothing():
    texts = [worse(0.5, 1), worse(0.5, 2)]
    made = [Outputs.of(from_texts(one, f"run {i}", REFS), f"run {i}") for i, one in enumerate(texts)]
    built = named(["chrf", "ter"], None)
    rules = Rules(allow={"chrf": 90, "ter": 0}, report_only=frozenset(["ter"]))
    rows = aa_test(made, built, rules, Runtime()).rows
    assert [row["decides"] for row in rows] == [True, False, True]
    assert rows[2]["pass"] == rows[0]["pass"] == 1


def test_the_same_seed_gives_the_same_numbers():
    runs = noisy(40, 0.1)
    assert tried(runs, scale=(0.0, 1.0)).rows == tried(runs, scale=(0.0, 1.0)).rows
    assert tried(runs, scale=(0.0, 1.0)).rows != tried(runs, scale=(0.0, 1.0), seed=1).rows


def test_runs_without_noise_are_said_to_have_none():
    found = tried([[0.5, 0.7, 1.0]] * 3)
    assert (found.rows[0]["pass"], found.rows[0]["allow_most_pass"]) == (1, 0)
    assert f"{SPEC}: all runs have the same scores, so they hold no noise; are they copies of one run?" in found.notes


def test_what_moves_a_whole_run_is_noted():
    first, second = noisy(60, 0.02, runs=2)
    moved = tried([first, [x - 0.05 for x in second]], scale=(0.0, 1.0))
    assert any("farther apart than their items explain (Cochran's Q" in note for note in moved.notes)
    assert not any("farther apart" in note for note in tried([first, second], scale=(0.0, 1.0)).notes)


def test_a_score_that_is_missing_by_chance_fails_the_gate():
    runs = noisy(30, 0.01, runs=2)
    runs[1][4] = None
    row = tried(runs, scale=(0.0, 1.0)).rows[0]
    assert row["fail_otherwise"] == pytest.approx(0.5, abs=FOUR_ERRORS)  # where NEW has that run of it
    assert (row["n"], row["pairs_fail"]) == (29, 1)


def test_one_item_and_no_score_at_all():
    row = tried([[0.5], [0.6]], scale=(0.0, 1.0)).rows[0]
    assert row["pass"] == 0
    assert row["inconclusive"] == 1
    with pytest.raises(InputError, match="no text has a rating 'judge'"):
        tried([[None, None], [None, None]])


def test_more_pairs_than_are_judged():
    rows = tried([[1.0, float(i % 2)] for i in range(40)], items="fixed").rows
    assert (rows[0]["runs"], rows[0]["pairs"]) == (40, 1000)  # of 1,560


def test_several_rows_of_an_item_are_one_run_by_their_mean():
    texts = [[worse(0.5, s)[i] for s in (i, i + 60)] for i in range(60)]
    made = [Outputs.of(from_texts(one, name, REFS), name) for one, name in ((texts, "a"), (BASE, "b"))]
    found = aa_test(made, named(["exact_match"], None), Rules(), Runtime())
    assert (found.rows[0]["runs"], found.statistics[-1]["statistic"]) == (2, "pass^3")  # of two rows and one
    assert judged(made[0], made[1], named(["exact_match"], None), Rules(), Runtime()).rows[0]["repeats"] == 2


def test_what_is_no_run_is_refused():
    with pytest.raises(InputError, match="takes two or more runs of one system as data, got 1"):
        tried([[1.0]])
    one, other = run("one", [1.0]), run("other", [0.0])
    alike = [Outputs(o.name, o.items, files=({"path": o.name, "sha256": "0"},)) for o in (one, other)]
    with pytest.raises(InputError, match="other holds the same bytes as one, expected another run"):
        aa_test(alike, JUDGE, Rules(), Runtime())
    with pytest.raises(InputError, match="lacks 1 of 2 items"):
        aa_test([run("one", [1.0, 0.0]), other], JUDGE, Rules(), Runtime())
    with pytest.raises(InputError, match="no metric here judges outputs"):
        aa_test([one, other], named(["distinct"], None), Rules(), Runtime())
