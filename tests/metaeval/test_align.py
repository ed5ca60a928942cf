"""The join of scores and judgements: what fits, what is left out, and how that is told."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.core.scores import Scores
from nlgauge.core.segment import Dataset, Segment
from nlgauge.core.tables import Key, Preference, Preferences, ScoreTable
from nlgauge.metaeval.align import (
    JoinedScores,
    chosen_criteria,
    column,
    criteria_of,
    judged,
    listed,
    paired,
    ratings,
    settle,
    stored_signature,
)


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


def test_several_ratings_become_their_mean_and_gaps_do_not_count():
    found = ratings(segments({"q": [1, 2, None, 6]}, {"q": 4}, {}, {"q": []}, {"q": [None, float("nan")]}), "q")
    np.testing.assert_array_equal(found, [3, 4, np.nan, np.nan, np.nan])


@pytest.mark.parametrize("value", ["4", [1, "x"], float("inf"), {"a": 1}])
def test_a_rating_that_is_no_number_is_refused_by_name(value):
    with pytest.raises(InputError, match="rating 'q' of segment 's0' is"):
        ratings(segments({"q": value}), "q")


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


def test_an_unknown_policy_is_refused_with_the_nearest():
    with pytest.raises(InputError, match="missing is 'dorp'; did you mean 'drop'"):
        settle(held({"m": scores([1.0])}), "dorp")


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
