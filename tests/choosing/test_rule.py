"""Weights, standings and the second metric, worked by hand."""

import numpy as np
import pytest

from nlgauge.choosing.evidence import ASPECTS, DRAWS, CriterionShare
from nlgauge.choosing.rule import (
    BY_TASK,
    beyond_chance,
    not_told,
    ranked,
    second_of,
    standings,
    stays,
    weights_of,
)
from nlgauge.stats.draws import Share


def evidence(metric, criterion, value, spread=0.0, seed=0):
    draws = value + spread * np.random.default_rng(seed).normal(size=DRAWS)
    return CriterionShare(metric, criterion, value, value, value, 9, "here", draws)


def test_weights_of_each_task_sum_to_one():
    for weights in BY_TASK.values():
        assert sum(weights.values()) == pytest.approx(1)
        assert {*weights} == {*ASPECTS}


def test_care_moves_the_weights():
    assert weights_of("mt", "facts")["errors.facts"] == pytest.approx(5.6)  # 0.7 of 8
    assert weights_of("mt", None)["errors.facts"] == pytest.approx(0.4)  # 0.2 of 2


def test_public_figures_weigh_as_much_as_they_are_trusted():
    assert weights_of("mt", None)["public"] == 8
    assert weights_of("mt", None, 0.25)["public"] == 2
    assert weights_of("mt", None, 0.25)["errors.facts"] == weights_of("mt", None)["errors.facts"]


def test_ratings_decide_and_what_they_leave_open_the_rest_does():
    held = [
        *(evidence(name, "people", value, 0.05, i) for i, (name, value) in enumerate((("a", 0.7), ("b", 0.69)))),
        evidence("c", "people", 0.2),
        *(evidence(name, "public", value) for name, value in (("a", 0.6), ("b", 0.7), ("c", 0.9))),
    ]
    order, left = ranked(held, ["a", "b", "c"], {"public": 1.0}, has_ratings=True)
    assert [one.metric for one in order] == ["b", "a", "c"]  # c is worse by ratings, whatever others say
    assert left == ("b", "a")
    order, left = ranked([one for one in held if one.metric != "b"], ["a", "c"], {"public": 1.0}, has_ratings=True)
    assert ([one.metric for one in order], left) == (["a", "c"], ())
    order, _ = ranked(held, ["a", "b", "c"], {"public": 1.0}, has_ratings=False)
    assert [one.metric for one in order] == ["c", "b", "a"]


def test_a_standing_is_the_weighted_mean():
    held = [evidence("a", "public", 0.6), evidence("a", "copies", 0.9), evidence("b", "public", 0.7)]
    first, second = standings(held, ["a", "b"], {"public": 3.0, "copies": 1.0, "apart": 5.0})
    # b has no figure of copies and gets the lowest there, 0.9; nothing is known of telling apart
    assert (first.metric, first.value, first.lacking) == ("b", pytest.approx((3 * 0.7 + 0.9) / 4), ("copies",))
    assert (second.metric, second.value) == ("a", pytest.approx((3 * 0.6 + 0.9) / 4))


def test_one_of_many_metrics_may_be_above_chance_by_chance():
    # .555 is 2.75 deviations of .02 off: 1.96 are enough for one metric, and 3.02 for one of twenty (.025 / 20)
    one, *others = (evidence(str(i), "people", 0.555 if i == 0 else 0.5, 0.02, i) for i in range(20))
    assert not beyond_chance([])
    assert beyond_chance([one])
    assert not beyond_chance([one, *others])
    assert not beyond_chance(others)


def test_a_default_of_which_nothing_is_known_stays():
    held = [evidence("a", "public", 0.7, 0.01), evidence("b", "public", 0.6, 0.01, 1)]
    assert not stays("b", held, ["a", "b", "c"], {"public": 1.0})
    assert stays("a", held, ["a", "b", "c"], {"public": 1.0})
    assert stays("c", held, ["a", "b", "c"], {"public": 1.0})  # none is shown to be better


def test_what_is_lacking_counts_as_the_lowest_of_the_others():
    held = [evidence(name, "public", value) for name, value in (("a", 0.6), ("b", 0.8))]
    held += [evidence(name, "copies", 0.7) for name in "abc"]
    found = {one.metric: one.value for one in standings(held, ["a", "b", "c"], {"public": 1.0, "copies": 1.0})}
    assert found == pytest.approx({"a": (0.6 + 0.7) / 2, "b": (0.8 + 0.7) / 2, "c": (0.6 + 0.7) / 2})


def test_metrics_whose_difference_may_be_chance_are_not_told_apart():
    held = [evidence("a", "public", 0.7, 0.05, 1), evidence("b", "public", 0.69, 0.05, 2), evidence("c", "public", 0.2)]
    best, *others = standings(held, ["a", "b", "c"], {"public": 1.0})
    ((name, low, high),) = not_told(best, others)
    assert name == "b"
    assert low < 0 < high


def test_a_second_metric_must_see_more_than_half_of_what_the_first_misses():
    def seen(value, low, n=20):
        return Share(value, low, 1.0, n, np.empty(0))

    assert second_of({}) is None
    assert second_of({"weak": seen(0.6, 0.4)}) is None  # chance may have done it
    assert second_of({"few": seen(1.0, 0.6, n=4)}) is None
    assert second_of({"good": seen(0.8, 0.6), "better": seen(0.9, 0.7)}) == "better"


def test_without_evidence_the_first_named_comes_first():
    found = standings([evidence("a", "copies", 0.5), evidence("b", "copies", 0.5)], ["a", "b"], {"copies": 1.0})
    assert [one.metric for one in found] == ["a", "b"]


def test_without_evidence_there_is_no_standing_and_nothing_is_told_apart():
    first, second = standings([], ["b", "a"], weights_of("mt", None))
    assert (first.metric, second.metric) == ("b", "a")
    assert np.isnan([first.value, first.low, first.high]).all()
    assert [name for name, _, _ in not_told(first, [second])] == ["a"]
