"""The join of scores and judgements: what fits, what is left out, and how that is told."""

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.core.metric import BaseMetric, signature_of
from nlgauge.core.scores import MetricInfo, Scores, ids
from nlgauge.core.segment import Dataset, Segment
from nlgauge.core.spec import Signature
from nlgauge.core.tables import Key, Origin, Preference, Preferences, ScoreTable
from nlgauge.metaeval.joined import (
    REFERENCES,
    GroupScores,
    JoinedScores,
    check_items,
    check_level,
    chosen_criteria,
    column,
    criteria_of,
    directions,
    judged,
    listed,
    paired,
    references_policy,
    score_judged,
    segment_frame,
    settle,
    stored_signature,
    system_frame,
)
from nlgauge.metrics.registry import named
from nlgauge.runtime.runtime import Runtime


def segments(*human, **fields):
    return tuple(Segment(f"s{i}", "text", human=h, **fields) for i, h in enumerate(human))


def scores(values, name="m", up=True):
    return Scores(
        stored_signature(name, ""),
        tuple(f"s{i}" for i in range(len(values))),
        np.array(values, dtype=float),
        higher_is_better=up,
    )


def held(columns, human=None, **more):
    n = len(next(iter(columns.values())).values)
    return JoinedScores(
        segments(*[{"q": 1.0}] * n), {"q": np.arange(float(n)) if human is None else human}, columns, **more
    )


def test_criteria_are_those_with_a_rating():
    assert criteria_of(Dataset(segments({"b": 1, "a": None}, {"a": 2, "c": []}))) == ("b", "a")


@pytest.mark.parametrize(
    ("wanted", "expected"), [("a", ("a",)), (["b", "a"], ("b", "a")), ("all", ("a", "b")), (["all"], ("a", "b"))]
)
def test_criteria_are_named_or_all(wanted, expected):
    assert chosen_criteria(Dataset(segments({"a": 1, "b": 2})), wanted) == expected


def test_the_only_criterion_needs_no_name():
    assert chosen_criteria(Dataset(segments({"fluency": 1})), None) == ("fluency",)


@pytest.mark.parametrize("name", ["all", "mean"])
def test_a_criterion_called_all_or_mean_is_itself(name):
    data = Dataset(segments({"a": 1, name: 2}))
    assert chosen_criteria(data, name) == (name,)
    assert judged(data, (name,))[1][name].tolist() == [2]


def test_the_mean_of_the_criteria_is_one_more():
    # (1 + 3 + 2) / 3, with two raters of a (0 and 2); the second lacks c and so has no mean
    data = Dataset(segments({"a": [0, 2], "b": 3, "c": 2}, {"a": 4, "b": 1}))
    assert chosen_criteria(data, ["mean", "b"]) == ("mean", "b")
    kept, human, notes = judged(data, ("mean",))
    assert ([s.id for s in kept], human["mean"].tolist()) == (["s0"], [2])
    assert notes[0] == "mean is each segment's mean of a, b, c"
    assert notes[1].startswith("1 of 2 segments have no rating and are left out: s1")
    assert judged(data, ("mean", "b"))[1]["b"].tolist() == [3, 1]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("maen", "no segment of d is rated for 'maen'"),
        ("fluncy", r"no segment of d is rated for 'fluncy'; did you mean 'fluency'\?"),
        (None, r"d has 2 criteria \(fluency, adequacy\), expected the name of one, or 'all'"),
        ([], "no criterion is named"),
        (["fluency", "fluency"], "named twice"),
    ],
)
def test_what_is_no_choice_of_criteria_is_refused(wanted, message):
    with pytest.raises(InputError, match=message):
        chosen_criteria(Dataset(segments({"fluency": 1, "adequacy": 2}), "d"), wanted)


def test_data_without_ratings_are_refused():
    with pytest.raises(InputError, match="no segment of d has a human rating"):
        chosen_criteria(Dataset(segments({}, {}), "d"), None)


def test_severity_is_taken_out_in_each_group_alone():
    # ann gives 1 and 3 in xx (mean 2, deviation sqrt 2), and 10 and 30 in yy; together xx would be far below 0
    rated = [("xx", 1.0), ("yy", 10.0), ("xx", 3.0), ("yy", 30.0)]
    found = Dataset(
        tuple(
            Segment(f"s{i}", "text", group=group, human={"q": [value]}, raters={"q": ("ann",)})
            for i, (group, value) in enumerate(rated)
        )
    )
    assert chosen_criteria(found, "q.z") == ("q.z",)
    _, human, _ = judged(found, ["q.z"])
    assert human["q.z"].tolist() == pytest.approx([-(0.5**0.5), -(0.5**0.5), 0.5**0.5, 0.5**0.5])
    with pytest.raises(InputError, match=r"is rated for 'p\.z'; did you mean|is rated for 'p\.z'"):
        chosen_criteria(found, "p.z")


def test_segments_without_any_rating_are_left_out_and_named():
    kept, human, notes = judged(Dataset(segments({"a": 1}, {}, {"b": 2}, {})), ("a", "b"))
    assert [s.id for s in kept] == ["s0", "s2"]
    np.testing.assert_array_equal(human["a"], [1, np.nan])
    assert notes[0] == "2 of 4 segments have no rating and are left out: s1, s3"
    assert notes[1:] == [
        "1 of 2 rated segments have no rating for 'a': s2",
        "1 of 2 rated segments have no rating for 'b': s0",
    ]


def test_segments_without_rating_are_kept_where_metrics_are_taken_over_all():
    kept, human, notes = judged(Dataset(segments({"a": 1}, {})), ("a",), unrated=True)
    assert len(kept) == len(human["a"]) == 2
    assert "used for metrics alone" in notes[0]


def table(ids, **columns):
    return ScoreTable(
        tuple(Key(i) for i in ids), {name: np.array(v, dtype=float) for name, v in columns.items()}, name="x.tsv"
    )


def test_a_table_is_joined_by_id_whatever_its_order():
    found, notes = column(table(["s2", "s0", "s1"], m=[3, 1, 2]), "m", segments({}, {}, {}))
    np.testing.assert_array_equal(found.values, [1, 2, 3])
    assert notes == []
    assert ("from", "x.tsv") in found.signature.entries


def test_rows_that_fit_nothing_are_counted_and_named():
    _, notes = column(table(["s0", "other", "s1"], m=[1, 2, 3]), "m", segments({}, {}))
    assert notes == ["x.tsv: 1 of 3 rows are about no judged segment: other"]


def test_a_table_about_other_segments_is_refused_with_both_sides():
    with pytest.raises(
        InputError, match="fits any of 2 judged segments: its first row is about segment 'a', the first segment is 's0'"
    ):
        column(table(["a", "b"], m=[1, 2]), "m", segments({}, {}))


def test_scores_are_taken_from_a_mapping_by_id():
    found, notes = listed({"s1": 2, "s0": None, "s9": 1}, "m", segments({}, {}))
    np.testing.assert_array_equal(found.values, [np.nan, 2])
    assert "s9" in notes[0]


def test_scores_in_a_list_stand_in_the_order_of_the_segments():
    np.testing.assert_array_equal(listed([1, None], "m", segments({}, {}))[0].values, [1, np.nan])
    with pytest.raises(InputError, match="m: 3 scores for 2 segments"):
        listed([1, 2, 3], "m", segments({}, {}))


def test_scores_of_ours_are_joined_by_their_ids_and_keep_direction_and_statistics():
    own = scores([1, 2, 3], up=False)
    assert listed(own, "m", segments({}, {}, {}))[0] is own
    turned, _ = listed(own, "m", segments({}, {}, {})[::-1])
    np.testing.assert_array_equal(turned.values, [3, 2, 1])
    assert not turned.higher_is_better


def test_a_score_missing_is_refused_by_metric_count_and_ids():
    with pytest.raises(
        InputError,
        match=r"m has no score for 4 of 5 segments \(s0, s1, s2 and 1 more\); score them, or choose missing='drop'",
    ):
        settle(held({"m": scores([np.nan] * 4 + [1])}), "refuse")


def test_under_refuse_a_segment_that_nobody_rated_may_lack_a_score():
    rated = np.array([1.0, np.nan, 3.0])
    found = settle(held({"m": scores([1, np.nan, 3])}, rated), "refuse")
    assert np.isnan(found.scores["m"].values).tolist() == [False, True, False]
    assert any("m has no score for 1 of 1 segments that nobody rated" in note for note in found.notes)
    with pytest.raises(InputError, match="m has no score for 1 of 3 segments"):
        settle(held({"m": scores([np.nan, np.nan, 3])}, rated), "refuse")


def test_a_segment_is_dropped_for_all_metrics_alike():
    found = settle(held({"m": scores([np.nan, 1, 2]), "k": scores([5, 6, np.nan], "k")}), "drop")
    assert [s.id for s in found.segments] == ["s1"]
    assert found.scores["k"].values.tolist() == [6]
    assert "2 of 3 segments are dropped for all metrics" in found.notes[0]


def test_nothing_left_after_dropping_is_refused():
    with pytest.raises(InputError, match="no segment is left"):
        settle(held({"m": scores([np.nan, 1]), "k": scores([5, np.nan], "k")}), "drop")


@pytest.mark.parametrize(("policy", "up", "filled"), [("worst", True, 1.0), ("worst", False, 3.0), ("zero", True, 0.0)])
def test_a_missing_score_can_count_as_the_worst_in_its_own_direction_or_as_zero(policy, up, filled):
    found = settle(held({"m": scores([3, np.nan, 1], up=up)}), policy)
    assert found.scores["m"].values.tolist() == [3, filled, 1]
    assert f"they count as {policy}" in found.notes[0]


def test_the_worst_of_no_score_does_not_exist():
    with pytest.raises(InputError, match="m has no score at all"):
        settle(held({"m": scores([np.nan, np.nan])}), "worst")


@given(st.lists(st.booleans(), min_size=1, max_size=8))
def test_taking_some_segments_keeps_everything_in_step(keep):
    whole = held({"m": scores(range(len(keep)))})
    part = whole.take(np.array(keep))
    assert [int(s.id[1:]) for s in part.segments] == part.scores["m"].values.tolist() == part.human["q"].tolist()


def test_pairs_lose_those_whose_segment_is_taken_away():
    whole = held({"m": scores(range(4))}, pairs=np.array([[0, 1], [2, 3], [3, 1]]))
    assert whole.take(np.array([False, True, True, True])).pairs.tolist() == [[1, 2], [2, 0]]


def preference(better, worse):
    return Preference(Key(better), Key(worse))


def test_pairs_are_found_among_the_segments_and_the_rest_is_left_out():
    kept, positions, notes = paired(
        Dataset(segments({}, {}, {}, {})), Preferences((preference("s3", "s1"), preference("s1", "s0")))
    )
    assert [s.id for s in kept] == ["s0", "s1", "s3"]
    assert positions.tolist() == [[2, 1], [1, 0]]
    assert notes[-1] == "1 of 4 segments are in no pair and are left out"


def test_a_pair_of_two_language_pairs_is_refused():
    data = Dataset((Segment("a", "x", group="en-de"), Segment("b", "x", group="zh-en")))
    with pytest.raises(InputError, match="expected one group"):
        paired(data, Preferences((preference("a", "b"),)))


def test_the_name_and_direction_of_a_metric_are_known_wherever_its_scores_are_from():
    systems = ScoreTable((Key(None, "a"),), {"sys": np.array([1.0])}, "system", "x.sys.score")
    both = held({"m": scores([1.0], up=False)}, system_tables={"sys": systems}, lower_is_better=frozenset({"sys"}))
    assert both.metrics == ("m", "sys")
    assert [both.is_higher_better(name) for name in both.metrics] == [False, False]
    assert both.signature("sys").spec == "sys"


def test_the_agreement_of_people_is_told_where_their_ratings_are_averaged():
    # observed (1/4)(1² + 1²) = 0.5; expected over all pairs of 1, 2, 4, 4: 2 (1 + 9 + 9 + 4 + 4) / 12 = 4.5
    *_, notes = judged(Dataset(segments({"q": [1, 2]}, {"q": [4, 4]}, {"q": 3}, {"r": [1]})), ("q", "r"))
    assert [note for note in notes if "alpha" in note] == [
        "'q' is the mean of up to 2 ratings of a segment; Krippendorff's alpha (interval) of 4 ratings of 2 segments"
        " is 0.889"
    ]


# --- Scoring what was judged: several references under one policy, pooled metrics a group at a time


@dataclass(frozen=True, kw_only=True)
class Shared(BaseMetric):
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
        InputError,
        match=r"m needs references and no segment has any; references='source' \(--references source\) takes",
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


def table_of_two(**columns):
    return ScoreTable((Key("a"), Key("b")), {name: np.array(values) for name, values in columns.items()})


def test_each_column_has_its_direction_and_guesses_are_said_together():
    scores = table_of_two(ter=[30.0, 10.0], mine=[1.0, 2.0], yours=[1.0, 2.0], comet=[0.5, 0.7])
    up, notes = directions(dict.fromkeys(scores.columns, scores), {})
    assert up == {"ter": False, "mine": True, "yours": True, "comet": True}
    assert notes == [
        "ter: taken to fall with quality, as the name says; -m scores:file=FILE,column=NAME,higher_is_better=true"
        " changes that (in Python higher_is_better)",
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


# --- From segments to vectors: one group at one level, and grids of systems by items

NAN = float("nan")


def joined_rows(rows, human, scores, **more):
    """Segments from (system, item, group), ratings, and scores of one metric m."""
    segments = tuple(Segment(f"s{i}", "x", system=s, item=item, group=g) for i, (s, item, g) in enumerate(rows))
    own = Scores(stored_signature("m", ""), tuple(s.id for s in segments), np.array(scores, dtype=float), **more)
    return JoinedScores(segments, {"q": np.array(human, dtype=float)}, {"m": own})


TWO = [("a", "1", None), ("a", "2", None), ("b", "1", None), ("b", "2", None)]


def test_a_segment_frame_holds_the_rated_segments_of_its_group():
    data = joined_rows([("a", "1", "g"), ("a", "2", "g"), ("a", "1", "h")], [1, NAN, 3], [4, 5, 6])
    frame = segment_frame(data, "q", "g")
    assert (frame.ids, frame.items, frame.systems) == (("s0",), ("1",), ("a",))
    assert frame.x.tolist() == [[4]]


def test_a_grid_has_a_row_a_system_and_gaps_where_nothing_was_rated():
    scores, human = segment_frame(joined_rows(TWO, [1, 2, 3, NAN], [5, 6, 7, 8]), "q", None).grid()
    np.testing.assert_array_equal(human, [[1, 2], [3, NAN]])
    np.testing.assert_array_equal(scores, [[[5, 6], [7, NAN]]])


def test_a_system_that_answers_an_item_twice_has_no_grid():
    frame = segment_frame(joined_rows([*TWO, ("b", "1", None)], range(5), range(5)), "q", None)
    assert not frame.is_grid
    with pytest.raises(InputError, match=r"system 'b' answers item '1' twice \(segments 's2' and 's4'\)"):
        frame.grid()


def test_unknown_systems_have_no_grid():
    frame = segment_frame(joined_rows([(None, "1", None), ("a", "2", None)], [1, 2], [1, 2]), "q", None)
    assert not frame.is_grid
    with pytest.raises(InputError, match="not every segment names its system"):
        frame.grid()


def test_a_system_frame_averages_metric_and_rating_over_the_rated_segments():
    frame, _ = system_frame(joined_rows(TWO, [1, 3, 5, NAN], [10, 20, 30, 50]), "q", None)
    assert frame.ids == frame.systems == ("a", "b")
    assert frame.z.tolist() == [2, 5]
    assert frame.x.tolist() == [[15, 30]]


def test_or_the_metric_over_all_segments():
    frame, _ = system_frame(joined_rows(TWO, [1, 3, 5, NAN], [10, 20, 30, 50]), "q", None, over="all")
    assert frame.x.tolist() == [[15, 40]]


@pytest.mark.parametrize("aggregate", ["corpus", "mean"])
def test_over_all_segments_those_without_a_score_are_left_out(aggregate):
    data = joined_rows(TWO, [1, 3, 5, NAN], [10, 20, 30, NAN])  # nobody rated the last one, so that it needs no score
    assert system_frame(data, "q", None, "all", aggregate)[0].x.tolist() == [[15, 30]]


def test_a_system_nobody_rated_is_left_out():
    frame, _ = system_frame(joined_rows(TWO, [1, 3, NAN, NAN], [10, 20, 30, 50]), "q", None)
    assert frame.systems == ("a",)


def test_the_number_of_a_system_is_the_metrics_own_for_a_corpus_unless_a_mean_is_asked_for():
    # hits of segments 1/1, 1/3, 2/2, 0/2: ratios of sums 2/4 and 2/4, means of ratios 2/3 and 1/2
    stats = np.array([[1, 1], [1, 3], [2, 2], [0, 2]], dtype=float)
    data = joined_rows(
        TWO, [1, 2, 3, 4], stats[:, 0] / stats[:, 1], stats=stats, finish=lambda t: t[..., 0] / t[..., 1]
    )
    assert system_frame(data, "q", None)[0].x.tolist() == [[0.5, 0.5]]
    assert system_frame(data, "q", None, aggregate="mean")[0].x.tolist() == [[pytest.approx(2 / 3), 0.5]]


def test_a_segment_without_system_is_refused_at_level_system():
    with pytest.raises(InputError, match="segment 's1' names no system"):
        system_frame(joined_rows([("a", "1", None), (None, "2", None)], [1, 2], [1, 2]), "q", None)


def test_systems_far_from_the_median_can_be_left_out_and_are_named():
    rows = [(name, "1", None) for name in "abcdef"]
    frame, notes = system_frame(joined_rows(rows, [1, 2, 3, 4, 5, 90], range(6)), "q", None, outliers="mad")
    assert frame.systems == tuple("abcde")
    assert notes == ["5 of 6 systems (left out f: an outlier)"]


def system_table(*rows):
    return ScoreTable(
        tuple(Key(None, s, None, g) for s, g, _ in rows),
        {"k": np.array([v for *_, v in rows])},
        "system",
        "k.sys.score",
    )


def test_scores_of_systems_from_a_table_stand_beside_those_of_segments():
    data = joined_rows(TWO, [1, 2, 3, 4], [1, 2, 3, 4])
    data = JoinedScores(
        data.segments,
        data.human,
        data.scores,
        {"k": system_table(("b", None, 0.7), ("a", None, 0.2), ("c", None, 0.5))},
    )
    assert system_frame(data, "q", None)[0].x.tolist() == [[1.5, 3.5], [0.2, 0.7]]


def test_a_system_that_the_table_lacks_is_refused_by_name():
    data = joined_rows(TWO, [1, 2, 3, 4], [1, 2, 3, 4])
    data = JoinedScores(data.segments, data.human, {}, {"k": system_table(("a", None, 0.2))})
    with pytest.raises(InputError, match=r"k has no score for 1 of 2 rated systems \(b\)"):
        system_frame(data, "q", None)


def test_scores_of_systems_of_another_group_are_not_taken():
    rows = [(system, item, group) for group in ("en-de", "zh-en") for system in "ab" for item in "12"]
    keys = (Key(None, "a", None, "en-de"), Key(None, "b", None, "en-de"))
    data = dataclasses.replace(
        joined_rows(rows, range(8), range(8)),
        system_tables={"t": ScoreTable(keys, {"t": np.array([0.5, 0.7])}, "system")},
    )
    assert system_frame(data, "q", "en-de")[0].x.tolist()[1] == [0.5, 0.7]
    with pytest.raises(InputError, match=r"t has no score for 2 of 2 rated systems \(a, b\) of zh-en"):
        system_frame(data, "q", "zh-en")
    nameless = dataclasses.replace(data, system_tables={"t": system_table(("a", None, 0.5), ("b", None, 0.7))})
    with pytest.raises(InputError, match="t has a score of each system that names no language pair or task"):
        system_frame(nameless, "q", "zh-en")


def test_pairs_of_a_group_are_numbered_inside_it():
    data = joined_rows([("a", "1", "g"), ("a", "1", "h"), ("b", "1", "g"), ("b", "1", "h")], [0, 0, 0, 0], [1, 2, 3, 4])
    data = JoinedScores(data.segments, data.human, data.scores, pairs=np.array([[2, 0], [1, 3]]))
    assert segment_frame(data, "q", "g").pairs.tolist() == [[1, 0]]
    assert segment_frame(data, "q", "h").pairs.tolist() == [[0, 1]]


def test_summary_is_another_name_of_item_and_nothing_else_is_a_level():
    assert [check_level(name) for name in ("segment", "item", "summary", "system")] == [
        "segment",
        "item",
        "item",
        "system",
    ]
    with pytest.raises(InputError, match="level is 'sytem'; did you mean 'system'"):
        check_level("sytem")


def test_one_output_an_item_is_refused_where_outputs_of_an_item_are_compared():
    frame = GroupScores("en-de", np.ones((1, 2)), np.ones(2), ("x", "y"), ("1", "2"), None)
    with pytest.raises(InputError, match=r"every item of group 'en-de' has one rated output \(1, 2\).*level='segment'"):
        check_items(frame)
