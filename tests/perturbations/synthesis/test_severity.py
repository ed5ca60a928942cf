"""Severities by hand: which probabilities make which, what is asked, and which threshold tells pairs apart."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError, SpecError
from nlgauge.models.heads import SHIPPED, find_head
from nlgauge.perturbations.synthesis.severity import (
    CALIBRATED,
    JUDGE,
    Severity,
    calibrate,
    fit,
    graded,
    mutual,
    severity,
    threshold_of,
)
from nlgauge.runtime.runtime import Runtime


class Table:
    """Entails what its table says, and remembers what it was asked."""

    name = "table"

    def __init__(self, table):
        self.table, self.asked = table, []

    def judge(self, pairs):
        self.asked.append(list(pairs))
        entail = np.array([self.table[pair] for pair in pairs])
        return SimpleNamespace(probabilities=np.column_stack([entail, 1 - entail, np.zeros(len(pairs))]))


# before, after: as sure both ways; only forward; only backward; neither
BOTH, FORWARD, BACKWARD, NEITHER = [("a", "b"), ("c", "d"), ("e", "f"), ("g", "h")]
TABLE = {
    BOTH: 0.9,
    BOTH[::-1]: 0.95,
    FORWARD: 0.97,
    FORWARD[::-1]: 0.2,
    BACKWARD: 0.3,
    BACKWARD[::-1]: 0.99,
    NEITHER: 0.1,
    NEITHER[::-1]: 0.1,
}
PAIRS = [BOTH, FORWARD, BACKWARD, NEITHER]


def test_minor_is_what_entails_both_ways_with_at_least_the_threshold():
    assert severity(Table(TABLE), "binary", None, Runtime()).rate(PAIRS) == [-1, -5, -5, -5]  # 0.9 is enough
    assert severity(Table(TABLE), "binary", 0.91, Runtime()).rate(PAIRS) == [-5, -5, -5, -5]


def test_what_fails_one_way_is_not_asked_the_other():
    judge = Table(TABLE)
    found = severity(judge, "binary", 0.89, Runtime()).rate(PAIRS, [False, True, False, True])
    assert found == [-1, -5, -5, -5]
    assert judge.asked == [[BOTH, FORWARD[::-1], BACKWARD, NEITHER[::-1]], [BOTH[::-1]]]


@given(st.lists(st.booleans(), min_size=4, max_size=4))
def test_the_order_of_the_questions_changes_no_severity(turned):
    assert severity(Table(TABLE), "binary", 0.9, Runtime()).rate(PAIRS, turned) == [-1, -5, -5, -5]


class Noisy:
    """Entails each pair with 0.5, but for noise of 1e-5 that hangs on all pairs of the call, as kernels have it."""

    def judge(self, pairs):
        entail = 0.5 + np.random.default_rng(list("|".join(map("|".join, pairs)).encode())).normal(0, 1e-5, len(pairs))
        entail.flags.writeable = False  # what a judge gives away stays as it is
        return SimpleNamespace(probabilities=np.column_stack([entail, 1 - entail, np.zeros(len(pairs))]))


def test_close_calls_fall_the_same_whatever_else_is_rated():
    pairs = [(f"a{i}", f"b{i}") for i in range(40)]
    judge = severity(Noisy(), "binary", 0.5, Runtime())
    whole = judge.rate(pairs)
    assert set(whole) == {-1, -5}
    assert judge.rate(pairs[::-1])[::-1] == whole
    for size in (1, 7):
        assert [worth for i in range(0, 40, size) for worth in judge.rate(pairs[i : i + size])] == whole
    assert judge.rate(pairs, [i % 2 == 0 for i in range(40)]) == whole


def test_a_judge_in_half_precision_is_asked_again_further_from_the_threshold():
    judge = Table(TABLE)
    for dtype, asked in (("float32", 2), ("bfloat16", 3)):
        judge.asked.clear()
        assert Severity("binary", judge, "table", 0.85, dtype=dtype).rate([FORWARD[::-1], BOTH]) == [-5, -1]
        assert len(judge.asked) == asked + (dtype == "bfloat16")


def test_graded_severities_follow_the_weaker_direction():
    # thresholds at 0.5: 0.9 -> -3 + 2 * 0.4 / 0.5; 0.2 -> -5 + 2 * 0.2 / 0.5; 0.3 and 0.1 likewise
    found = severity(Table(TABLE), "graded", 0.5, Runtime()).rate(PAIRS)
    assert found == pytest.approx([-1.4, -4.2, -3.8, -4.6])


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.01, 1))
def test_graded_severities_rise_with_entailment_within_their_bounds(one, other, threshold):
    low, high = sorted((one, other))
    assert -5 <= graded(low, threshold) <= graded(high, threshold) + 1e-12 <= -1 + 2e-12  # rounding of float64
    assert (graded(0, threshold), graded(1, threshold)) == (-5, -1)


def test_without_severities_every_edit_counts_one():
    assert severity(None, "none", None, Runtime()).rate(PAIRS) == [-1] * 4
    assert Severity("none").rate([]) == []


def test_the_weaker_of_both_directions_counts():
    assert mutual(Table(TABLE), PAIRS).tolist() == [0.9, 0.2, 0.3, 0.1]
    assert mutual(Table(TABLE), []).shape == (0,)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("nli", "strict", None), "severity is 'strict'"),
        ((None, "binary", None), "there is no judge"),
        ((Table({}), "binary", 0.0), "threshold is 0.0"),
        ((Table({}), "graded", 1.5), "threshold is 1.5"),
        ((7, "binary", None), "judge is int"),
    ],
)
def test_what_cannot_judge_is_refused(arguments, told):
    with pytest.raises(SpecError, match=told):
        severity(*arguments, Runtime())


def test_a_threshold_stands_half_way_between_the_pairs_it_parts():
    found = fit(np.array([0.1, 0.3, 0.6, 0.8]), [False, False, True, True])
    assert found.threshold == pytest.approx(0.45)
    assert (found.balanced_accuracy, found.minor, found.major, found.n_minor, found.n_major) == (1, 1, 1, 2, 2)


def test_balanced_accuracy_weighs_both_kinds_alike():
    # one minor pair at 0.2 among nine major ones up to 0.4, another at 0.9: a cut at 0.65 finds 1/2 and 9/9,
    # one below 0.2 finds 2/2 and 1/9 at best
    probabilities = np.array([0.2, 0.9, 0.1, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4])
    found = fit(probabilities, [True, True, *[False] * 9])
    assert found.threshold == pytest.approx(0.65)
    assert (found.minor, found.major, found.balanced_accuracy) == (0.5, 1, 0.75)


@given(
    st.lists(
        st.tuples(st.sampled_from([0.25, 0.5, 0.75, 1.0]) | st.floats(1e-9, 1), st.booleans()), min_size=2, max_size=12
    )
)
def test_no_other_threshold_does_better(rows):
    values, labels = np.array([v for v, _ in rows]), np.array([m for _, m in rows])
    if labels.all() or not labels.any():
        with pytest.raises(InputError, match="some of both"):
            fit(values, labels)
        return
    found = fit(values, labels)

    def balanced(threshold):
        called = values >= threshold
        return (called[labels].mean() + (~called)[~labels].mean()) / 2

    assert balanced(found.threshold) == pytest.approx(found.balanced_accuracy)
    # every value is a cut; above the highest nothing is minor, which is worth one half
    assert found.balanced_accuracy >= max(balanced(t) for t in [*values, 2.0]) - 1e-12


def test_a_judge_is_calibrated_on_labelled_pairs():
    rows = [(*BOTH, True), (*FORWARD, False), (*BACKWARD, False), (*NEITHER, False)]
    assert calibrate(Table(TABLE), rows).threshold == pytest.approx(0.6)  # between 0.3 and 0.9


def test_the_judge_that_is_taken_tells_errors_best():
    assert max(CALIBRATED, key=lambda name: CALIBRATED[name][2]) == JUDGE
    assert (threshold_of("nli"), threshold_of("some/model")) == (CALIBRATED["nli"][1], 0.9)


@pytest.mark.parametrize("name", sorted(CALIBRATED))
def test_a_threshold_is_of_the_weights_that_are_shipped(name):
    """Another head under the name needs another threshold: recipes/sescore/severities.sh."""
    pytest.importorskip("torch")
    assert find_head(name, "nli").identity.startswith(f"sha256:{CALIBRATED[name][0]}")


def test_every_shipped_judge_has_a_threshold():
    judges = {name for name, kind in SHIPPED.items() if kind == "nli"} - {"faithful"}  # which reads documents
    assert judges == set(CALIBRATED)
