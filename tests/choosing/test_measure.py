"""Texts that may show a failure: which they are and how far a metric is from failing, by hand; margins have no unit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.choosing.made import data
from tests.choosing.test_choose import choose

import nlgauge as ng
from nlgauge.audits.preference import Sides
from nlgauge.choosing.evidence import APART, COPIES, HARMLESS, OWN
from nlgauge.choosing.measure import (
    OUTPUTS,
    Examples,
    Measured,
    OrderedTexts,
    ScoredPool,
    TextPool,
    clearest_first,
    pools_of,
)
from nlgauge.choosing.trials import OutputSample, Trials, grid_of, rated_pairs
from nlgauge.core.scores import Scores, ids
from nlgauge.core.segment import Dataset, Segment
from nlgauge.core.spec import Signature
from nlgauge.core.suite import Pair, Suite
from nlgauge.metrics.registry import metric


def pair(name, phenomenon, better, worse, criterion, **more):
    return Pair(id=name, phenomenon=phenomenon, better=better, worse=worse, criterion=criterion, **more)


DROP = pair("p0", "omission", "A cat sat down.", "A cat sat.", "coverage", references=("A cat was sitting.",))
NUMBER = pair("p1", "change_numbers", "It took 3 days.", "It took 9 days.", "facts", source="Es dauerte 3 Tage.")
SAME = pair("p2", "synonyms", "It took 3 days.", "It lasted 3 days.", "facts", references=("Days.",), expect="same")
ERRORS = (DROP, NUMBER, SAME)
NO_TRIALS = Trials(None, None, "your outputs", "mt", ())


def sides(better, worse, spec="chrf"):
    """Scores of both texts of the pairs of ERRORS; a metric has no pair where its place is None."""
    places = tuple(i for i, score in enumerate(better) if score is not None)
    kept = [np.array([side[i] for i in places], dtype=np.float64) for side in (better, worse)]
    return Sides(spec, metric(spec), "", places, *kept)


def on_trials(*, errors=ERRORS, copies=None, own):
    """What was found out on trials alone; metric -> its scores of errors, and of near-copies."""
    made = Trials(Suite(errors) if errors else None, Suite(copies) if copies else None, "your outputs", "mt", ())
    sample = OutputSample(Dataset(()), Dataset(()))
    return Measured(sample, made, {spec: metric(spec) for spec in own}, None, None, sides=dict(own))


def outputs(lengths, systems=("a", "b"), human=None):
    """An output of each system for each item, and Scores that say what `lengths`, shape (S, N), say."""
    n = len(lengths[0])
    rated = [{} if human is None else {"q": human[s][i]} for s in range(len(systems)) for i in range(n)]
    segments = [
        Segment(f"{name}{i}", f"{name} wrote {i}", (f"ref {i}",), None, name, str(i), human=rated[s * n + i])
        for s, name in enumerate(systems)
        for i in range(n)
    ]
    data = Dataset(tuple(segments))
    return data, Scores(Signature("m", ()), ids(segments), np.array(lengths, dtype=np.float64).ravel())


def only(found, criterion):
    (pool,) = [pool for pool in pools_of(found) if pool.criterion == criterion]
    return pool


def test_pairs_of_a_suite_stand_by_the_aspect_that_is_worse():
    # All five scores: .9, .5, .7, .7 and .4 of chrf have the mean .64 and the variance
    # (.0676 + .0196 + .0036 + .0036 + .0576) / 5 = .0304; the sixth is undefined.
    found = on_trials(own={"chrf": (sides([0.9, 0.7, 0.4], [0.5, 0.7, np.nan]), None)})
    pools = pools_of(found)
    assert [pool.criterion for pool in pools] == ["errors.facts", "errors.coverage", HARMLESS]
    coverage, facts = only(found, "errors.coverage"), only(found, "errors.facts")
    assert [(t.of, t.id, t.better, t.worse, t.reference) for t in coverage.texts] == [
        (OUTPUTS, "p0", "A cat sat down.", "A cat sat.", "A cat was sitting.")
    ]
    assert coverage.scored["chrf"].far == pytest.approx([0.4 / 0.0304**0.5])
    assert coverage.scored["chrf"].missed.tolist() == [False]
    # The change that is to cost nothing is no error; without a reference a text is held against its source. Equal
    # scores are a failure, and so are scores that are not there.
    assert [(t.id, t.reference) for t in facts.texts] == [("p1", "Es dauerte 3 Tage.")]
    assert (facts.scored["chrf"].far.tolist(), facts.scored["chrf"].missed.tolist()) == ([0.0], [True])


def test_lower_may_be_better_and_a_metric_may_lack_pairs():
    # ter counts edits: .2 and then .6 is right, by .4 of the deviation .2; the other pair it was not asked.
    found = on_trials(own={"ter": (sides([0.2, None, None], [0.6, None, None], "ter"), None)})
    assert only(found, "errors.coverage").scored["ter"].far == pytest.approx([0.4 / 0.2])
    facts = only(found, "errors.facts").scored["ter"]
    assert (facts.tried.tolist(), facts.missed.tolist()) == ([False], [False])  # no failure: it was not tried


def test_a_metric_without_scores_of_a_suite_or_ruled_out_is_in_no_pool():
    given = {"chrf": (sides([0.9, 0.7, 0.4], [0.5, 0.7, 0.3]), None), "bleu": (None, None), "ter": (None, None)}
    found = on_trials(own=given)
    found.out["chrf"] = "too slow"
    assert [[*pool.scored] for pool in pools_of(found)] == [[], [], []]


def test_a_near_copy_shows_the_reference_that_it_was_made_from():
    found = on_trials(errors=None, copies=(DROP,), own={"chrf": (None, sides([0.2], [0.8]))})
    pool = only(found, COPIES)
    assert [(t.of, t.original, t.reference) for t in pool.texts] == [(COPIES, DROP.references[0], DROP.references[0])]
    assert pool.scored["chrf"].missed.tolist() == [True]  # .2 for the output, .8 for the copy with an error
    assert [pool.criterion for pool in pools_of(found)] == [COPIES]


def test_a_harmless_change_is_compared_with_an_error_in_the_same_text():
    # Both p1 and p2 change "It took 3 days."; p0 changes another text. The harmless change keeps .6, the error .7.
    found = on_trials(own={"chrf": (sides([0.9, 0.8, 0.8], [0.5, 0.7, 0.6]), None)})
    pool = only(found, HARMLESS)
    assert [(t.phenomenon, t.better, t.worse, t.original) for t in pool.texts] == [
        ("synonyms and change_numbers", "It lasted 3 days.", "It took 9 days.", "It took 3 days.")
    ]
    assert pool.scored["chrf"].missed.tolist() == [True]
    # What has no score on one of the sides says nothing here, while among errors it is a failure.
    undefined = only(on_trials(own={"chrf": (sides([0.9, 0.8, 0.8], [0.5, np.nan, 0.6]), None)}), HARMLESS)
    assert (undefined.scored["chrf"].tried.tolist(), undefined.scored["chrf"].missed.tolist()) == ([False], [False])


def rated(lengths, human, systems=("a", "b")):
    data, scores = outputs(lengths, systems, human)
    pairs = rated_pairs(data.segments, np.array(human, dtype=np.float64).ravel())
    made = Measured(OutputSample(data, data), NO_TRIALS, {"m": metric("chrf")}, "q", None, pairs=pairs)
    made.scores["m"] = scores
    return made


def test_people_order_two_outputs_and_the_metric_does_not():
    # Fewer than 20 pairs for one input: all outputs are compared. Ratings 4, 1, 2, 2 leave five pairs; the metric says
    # .5, .6, .2, .4, so of the pairs with the first output it fails on a1 alone, and on both pairs of a1 with b.
    found = rated([[0.5, 0.6], [0.2, 0.4]], [[4, 1], [2, 2]])
    pool = only(found, OWN)
    named = [(t.outputs[0].id, t.outputs[1].id, t.ratings) for t in pool.texts]
    assert named == [
        ("a0", "a1", (4, 1)),
        ("a0", "b0", (4, 2)),
        ("a0", "b1", (4, 2)),
        ("b0", "a1", (2, 1)),
        ("b1", "a1", (2, 1)),
    ]
    assert pool.scored["m"].missed.tolist() == [True, False, False, True, True]
    # Another item has another reference, so only the two outputs for item 0 are held against the same.
    assert [t.reference for t in pool.texts] == [None, "ref 0", None, None, "ref 1"]


def test_of_many_rated_pairs_those_furthest_apart_are_looked_through():
    # Of 70 outputs rated 0 to 69, 70 - d pairs are d apart: 1,953 by 8 or more, and 47 of the 63 by 7 fill the 2,000.
    human = np.arange(70.0)[None]
    pool = only(rated(human, human, ("a",)), OWN)
    apart = [one - other for one, other in (t.ratings for t in pool.texts)]
    assert (len(apart), min(apart), apart.count(7)) == (2000, 7, 47)
    assert not pool.scored["m"].missed.any()


def compared(lengths, higher_is_better=True):
    data, scores = outputs(lengths, ("a", "b"))
    grid = grid_of(data.segments, len(lengths[0]))
    made = Measured(OutputSample(data, data), NO_TRIALS, {"m": metric("chrf")}, None, grid)
    made.scores["m"] = Scores(scores.signature, scores.ids, scores.values, higher_is_better=higher_is_better)
    return made


def test_an_item_may_speak_against_the_system_that_is_ahead():
    # a is ahead, 2.5 to 2; on item 1 it is behind, and on item 2 both are equal, which is no failure. The direction of
    # the metric does not count, since a metric is held against itself. Deviation of 4 1 2 3 1 3 2 2: sqrt(7.5 / 8).
    for higher in (True, False):
        pool = only(compared([[4, 1, 2, 3], [1, 3, 2, 2]], higher), APART)
        assert [(t.outputs[0].id, t.outputs[1].id) for t in pool.texts] == [(f"a{i}", f"b{i}") for i in range(4)]
        assert pool.scored["m"].missed.tolist() == [False, True, False, False]
        assert pool.scored["m"].far == pytest.approx(np.array([3, -2, 0, 1]) / (7.5 / 8) ** 0.5)


@given(
    st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=4, max_size=6),
    st.floats(0.01, 100),
    st.integers(-50, 50),
)
@settings(max_examples=40, deadline=None)
def test_the_unit_of_a_metric_does_not_count(rows, factor, offset):
    one = [list(side) for side in zip(*rows, strict=True)]
    other = [[factor * score + offset for score in side] for side in one]
    here, there = (only(compared(lengths), APART).scored["m"] for lengths in (one, other))
    # A mean that is a tie on paper may not be one in floats, where a sum of six numbers up to 1,000 is off by 1e-12.
    means = np.mean(one, axis=1)
    if means[0] != means[1]:
        # Margins in deviations, of numbers that lose at most the digits of offset / factor, 1e4 * 1e-16.
        np.testing.assert_allclose(there.far, here.far, atol=1e-9)


# --- Examples of failures: which are chosen, by hand; and every share that is not 1 has one, on texts that were made


def pool(far, criterion="errors.facts", phenomena=("a", "b", "c")):
    """A pool of three pairs; metric -> how far each is from failing, and NaN where there is no score."""
    texts = [OrderedTexts(OUTPUTS, f"t{i}", phenomena[i], f"text {i}", f"worse {i}") for i in range(3)]

    def scored(values):
        values = np.array(values, dtype=np.float64)
        return ScoredPool(values, np.zeros(3), np.ones(3, dtype=np.bool_), ~(values > 0), values)

    return TextPool(criterion, texts, {spec: scored(values) for spec, values in far.items()})


def test_what_others_see_comes_first_then_the_worst():
    # m fails on all three; only n sees the second, so it is no mended text, and of the others the third is worse
    made = pool({"m": [-1, -0.5, -2], "n": [-1, 1, -3]})
    assert clearest_first(made, "m") == [1, 2, 0]
    assert clearest_first(made, "n") == [2, 0]
    assert clearest_first(made, "unknown") == []


def test_a_score_that_is_undefined_is_a_failure():
    assert clearest_first(pool({"m": [1, np.nan, 1]}), "m") == [1]


def test_the_order_does_not_hang_on_last_bits():
    assert clearest_first(pool({"m": [-0.1, -0.1 - 1e-12, 1]}), "m") == [0, 1]


def test_metrics_share_an_example_and_it_is_found_again():
    made = pool({"m": [-1, 1, 1], "n": [-1, -2, 1]})
    examples = Examples([made])
    assert examples.show(made, "m") == "e1"
    assert examples.show(made, "n") == "e1"  # its clearest is the second, but the first shows it as well
    assert examples.of("n", "errors.facts") == "e1"
    assert examples.of("n", "copies") is None
    assert examples.of_phenomenon("n", "b") == "e2"
    assert examples.of_phenomenon("m", "b") is None
    assert [one.texts.id for one in examples.chosen] == ["t0", "t1"]
    assert examples.chosen[1].scores == {"m": (1.0, 0.0, False), "n": (-2.0, 0.0, True)}


def test_what_a_second_metric_sees_beyond_the_first_is_the_clearest():
    examples = Examples([pool({"m": [-1, -1, -1], "n": [1, 3, -1]})])
    assert examples.beyond("m", "n") == "e1"
    assert examples.chosen[0].texts.id == "t1"
    assert examples.beyond("n", "m") is None


def test_no_failure_has_no_example():
    made = pool({"m": [1, 1, 1]})
    assert Examples([made]).show(made, "m") is None


def wanting_few_letters(dataset):
    """The outputs with ratings that want few letters."""
    return Dataset(
        tuple(
            Segment(s.id, s.hypothesis, s.references, None, s.system, s.item, s.group, {"brevity": -len(s.hypothesis)})
            for s in dataset
        )
    )


@pytest.fixture(scope="module")
def found():
    return choose(wanting_few_letters(data(24)), ["chrf", "bleu", "ter"])


def rows(found, **fields):
    return [row for row in found.rows if all(row.get(name) == value for name, value in fields.items())]


@pytest.mark.parametrize("criterion", ["people", "errors.meaning", "errors.coverage", "copies", "harmless"])
def test_each_share_below_1_has_an_example_and_no_other_has(found, criterion):
    of = {row["example"] for row in rows(found, said="example", shows=criterion)}
    shares = {row["metric"]: row["value"] for row in rows(found, criterion=criterion)}
    failing = {row["metric"] for row in rows(found, said="scores", missed=True) if row["example"] in of}
    assert shares
    assert failing == {metric for metric, share in shares.items() if share < 1}


def test_scores_are_those_of_the_texts(found):
    checked = 0
    for row in rows(found, said="example"):
        if row["of"] == "people":
            continue
        refs = [row["reference"]]
        for own in rows(found, said="scores", example=row["example"]):
            for side in ("better", "worse"):
                value = ng.score([row[side]], refs=[refs], metrics=[own["metric"]])[own["metric"]].values[0]
                assert own[f"score_{side}"] == pytest.approx(value, abs=1e-9)  # the same sums of one text
                checked += 1
    assert checked > 10


def test_a_failure_is_a_better_text_that_does_not_score_higher(found):
    for own in rows(found, said="scores"):
        (row,) = rows(found, said="example", example=own["example"])
        if row["shows"] != "apart":  # there the order is that of the systems
            up = -1 if own["metric"] == "ter" else 1
            assert own["missed"] is not (up * own["score_better"] > up * own["score_worse"])


def test_reasons_name_examples_that_there_are(found):
    known = {row["example"] for row in rows(found, said="example")}
    named = [name for row in rows(found, said="reason") for name in (row["examples"] or "").split()]
    assert named
    assert set(named) <= known


def test_examples_of_ratings_say_who_wrote_and_what_people_said(found):
    row = rows(found, said="example", shows="people")[0]
    assert row["rating_better"] > row["rating_worse"]
    assert {row["system_better"], row["system_worse"]} <= {"good", "fair", "poor"}
    assert row["phenomenon"] is None


def test_columns_hold_one_type_each(found):
    frame = found.result().as_columns()
    for name, values in frame.items():
        kinds = {type(v) for v in values if v is not None} - {int}
        assert len(kinds) <= 1, (name, kinds)
