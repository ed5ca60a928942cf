"""Examples of failures: which are chosen, by hand; and every share that is not 1 has one, on texts that were made."""

from __future__ import annotations

import numpy as np
import pytest
from tests.choosing.made import data
from tests.choosing.test_choose import choose

import nlgauge as ng
from nlgauge.choosing.examples import Examples, clearest_first
from nlgauge.choosing.pools import OUTPUTS, Pool, Scored, Texts
from nlgauge.core.segment import Dataset, Segment


def pool(far, criterion="errors.facts", phenomena=("a", "b", "c")):
    """A pool of three pairs; metric -> how far each is from failing, and NaN where there is no score."""
    texts = [Texts(OUTPUTS, f"t{i}", phenomena[i], f"text {i}", f"worse {i}") for i in range(3)]

    def scored(values):
        values = np.array(values, dtype=np.float64)
        return Scored(values, np.zeros(3), np.ones(3, dtype=np.bool_), ~(values > 0), values)

    return Pool(criterion, texts, {spec: scored(values) for spec, values in far.items()})


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


def rated(dataset):
    """The outputs with ratings that want few letters."""
    return Dataset(
        tuple(
            Segment(s.id, s.hypothesis, s.references, None, s.system, s.item, s.group, {"brevity": -len(s.hypothesis)})
            for s in dataset
        )
    )


@pytest.fixture(scope="module")
def found():
    return choose(rated(data(24)), ["chrf", "bleu", "ter"])


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
