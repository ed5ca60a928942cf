"""Scoring what was judged: several references under one policy, pooled metrics a group at a time."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.metric import signature_of
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.core.spec import Signature
from nlgauge.core.tables import Key, Origin, ScoreTable
from nlgauge.metaeval.scoring import REFERENCES, directions, references_policy, score_judged
from nlgauge.metrics.registry import named
from nlgauge.runtime.runtime import Runtime


@dataclass(frozen=True, kw_only=True)
class Shared:
    """Words shared with the first reference; -1 for each reference beyond it."""

    pooled: bool = False
    info: ClassVar = MetricInfo("shared", range=(-9, 9))

    def score(self, segments, runtime):
        values = [
            len(set(s.hypothesis.split()) & set(s.references[0].split())) - len(s.references) + 1 for s in segments
        ]
        if self.pooled:
            values = np.array(values) - np.mean(values)
        return Scores(signature_of(self), ids(segments), np.array(values, dtype=float))


def segment(i, references, source=None, group=None):
    return Segment(str(i), "a b c", tuple(references), source=source, group=group)


def values(segments, references=None, metric=None):
    found, notes = score_judged({"m": metric or Shared()}, segments, Runtime(), references)
    return found["m"].values.tolist(), found["m"], notes


def test_a_metric_reads_several_references_its_own_way_unless_told():
    assert values([segment(1, ["a b", "a b c"])])[0] == [1]


@pytest.mark.parametrize(
    ("policy", "expected"), [("mean", 2.5), ("best", 3), ("max", 3), ("first", 2), ("best_each", 3)]
)
def test_single_references_are_scored_and_folded(policy, expected):
    assert values([segment(1, ["a b", "a b c"]), segment(2, ["a"])], policy)[0] == [expected, 1]


def test_the_policy_stands_in_the_signature():
    _, folded, _ = values([segment(1, ["a"])], "max")
    assert "references_folded:best" in str(folded.signature)
    assert "references_folded" not in str(values([segment(1, ["a"])])[1].signature)


def test_scripts_that_a_metric_does_not_read_are_noted_refused_or_left_alone():
    judged = [Segment("1", "火车晚点了两个小时", ("昨天他没有去学校",)), Segment("2", "a b", ("a b",))]
    (note,) = score_judged(named("bleu"), judged, Runtime())[1]
    assert note.startswith("bleu: 1 of 2 judged segments (1) look Chinese (Han): the tokenizer 13a splits words at")
    assert score_judged(named("bleu"), judged, Runtime(), language="off")[1] == []
    with pytest.raises(InputError, match=r"bleu: 1 of 2 judged segments \(1\) look Chinese"):
        score_judged(named("bleu"), judged, Runtime(), "mean", language="strict")


def test_the_source_can_stand_for_the_reference():
    assert values([segment(1, [], source="a b x")], "source")[0] == [2]


def test_without_references_the_source_is_offered():
    with pytest.raises(
        InputError, match="m needs references and no segment has any; references='source' takes the source"
    ):
        values([segment(1, [], source="a")])


def test_a_segment_without_source_is_named():
    with pytest.raises(InputError, match="needs source; segment '2' has none"):
        values([segment(1, [], source="a"), segment(2, ["a"])], "source")


def test_a_pooled_metric_sees_one_group_at_a_time_and_order_is_kept():
    mixed = [
        segment(1, ["a"], group="g"),
        segment(2, ["a b c"], group="h"),
        segment(3, ["a b"], group="g"),
        segment(4, ["a b c"], group="h"),
    ]
    found, _, notes = values(mixed, metric=Shared(pooled=True))
    assert found == [-0.5, 0, 0.5, 0]  # means 1.5 and 3; over both groups it would be 2.25
    assert notes == ["m is pooled: scored in each of 2 groups by itself"]


def test_real_metrics_are_folded_over_the_best_reference():
    found, _ = score_judged(named("chrf"), [Segment("1", "the cat", ("a dog", "the cat"))], Runtime(), "best")
    assert found["chrf"].values.tolist() == [pytest.approx(100)]
    assert found["chrf"].stats is None  # what is folded has no corpus statistics


@pytest.mark.parametrize(
    ("name", "policy"), [(None, "own"), ("joint", "own"), ("max", "best"), *((p, p) for p in REFERENCES)]
)
def test_policies_have_these_names(name, policy):
    assert references_policy(name) == policy


def test_an_unknown_policy_is_refused_with_the_nearest():
    with pytest.raises(InputError, match="references is 'maen'; did you mean 'mean'"):
        references_policy("maen")


def table(**columns):
    return ScoreTable((Key("a"), Key("b")), {name: np.array(values) for name, values in columns.items()})


def test_each_column_has_its_direction_and_guesses_are_said_together():
    scores = table(ter=[30.0, 10.0], mine=[1.0, 2.0], yours=[1.0, 2.0], comet=[0.5, 0.7])
    up, notes = directions(dict.fromkeys(scores.columns, scores), {})
    assert up == {"ter": False, "mine": True, "yours": True, "comet": True}
    assert notes == [
        "ter: taken to fall with quality, as the name says; --higher-is-better NAME changes that (in Python"
        " higher_is_better)",
        "mine, yours: taken to rise with quality; --lower-is-better NAME changes that (in Python lower_is_better)",
    ]


def test_what_is_given_or_recorded_is_not_guessed():
    scores = ScoreTable((Key("a"),), {"ter": [3.0], "mine": [1.0]}, origins={"mine": Origin(False)})
    assert directions(dict.fromkeys(scores.columns, scores), {"ter": True}) == ({"ter": True, "mine": False}, [])


def test_numbers_of_python_and_scores_that_know_it_themselves():
    own = Scores(Signature("m", ()), ("a",), np.array([1.0]), higher_is_better=False)
    up, notes = directions({"m": own, "wer": {"a": 0.3, "b": None}, "bleu": [3, 4]}, {})
    assert up == {"m": False, "wer": False, "bleu": True}
    assert len(notes) == 1
    assert notes[0].startswith("wer: taken to fall")


def test_odd_texts_are_noted_as_in_every_run_that_scores():
    _, _, notes = values([segment(1, ["x"], source="a b c"), segment(2, ["x"], source="d")])
    assert notes == ["input: 1 of 2 segments (1) have a hypothesis that is its source, or nearly"]
    assert score_judged({}, [segment(1, ["x"], source="a b c")], Runtime()) == ({}, [])  # no metric reads them
