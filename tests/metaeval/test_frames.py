"""From segments to vectors: one group at one level, and grids of systems by items."""

import dataclasses

import numpy as np
import pytest

from nlgauge.core.errors import InputError
from nlgauge.core.scores import Scores
from nlgauge.core.segment import Segment
from nlgauge.core.tables import Key, ScoreTable
from nlgauge.metaeval.align import JoinedScores, stored_signature
from nlgauge.metaeval.frames import Frame, check_items, check_level, segment_frame, system_frame

NAN = float("nan")


def held(rows, human, scores, **more):
    """Segments from (system, item, group), ratings, and scores of one metric m."""
    segments = tuple(Segment(f"s{i}", "x", system=s, item=item, group=g) for i, (s, item, g) in enumerate(rows))
    own = Scores(stored_signature("m", ""), tuple(s.id for s in segments), np.array(scores, dtype=float), **more)
    return JoinedScores(segments, {"q": np.array(human, dtype=float)}, {"m": own})


TWO = [("a", "1", None), ("a", "2", None), ("b", "1", None), ("b", "2", None)]


def test_a_segment_frame_holds_the_rated_segments_of_its_group():
    data = held([("a", "1", "g"), ("a", "2", "g"), ("a", "1", "h")], [1, NAN, 3], [4, 5, 6])
    frame = segment_frame(data, "q", "g")
    assert (frame.ids, frame.items, frame.systems) == (("s0",), ("1",), ("a",))
    assert frame.x.tolist() == [[4]]
    assert segment_frame(data, "q", "g", unrated=True).ids == ("s0", "s1")


def test_a_grid_has_a_row_a_system_and_gaps_where_nothing_was_rated():
    scores, human = segment_frame(held(TWO, [1, 2, 3, NAN], [5, 6, 7, 8]), "q", None).grid()
    np.testing.assert_array_equal(human, [[1, 2], [3, NAN]])
    np.testing.assert_array_equal(scores, [[[5, 6], [7, NAN]]])


def test_a_system_that_answers_an_item_twice_has_no_grid():
    frame = segment_frame(held([*TWO, ("b", "1", None)], range(5), range(5)), "q", None)
    assert not frame.is_grid
    with pytest.raises(InputError, match=r"system 'b' answers item '1' twice \(segments 's2' and 's4'\)"):
        frame.grid()


def test_unknown_systems_have_no_grid():
    frame = segment_frame(held([(None, "1", None), ("a", "2", None)], [1, 2], [1, 2]), "q", None)
    assert not frame.is_grid
    with pytest.raises(InputError, match="not every segment names its system"):
        frame.grid()


def test_a_system_frame_averages_metric_and_rating_over_the_rated_segments():
    frame, _ = system_frame(held(TWO, [1, 3, 5, NAN], [10, 20, 30, 50]), "q", None)
    assert frame.ids == frame.systems == ("a", "b")
    assert frame.z.tolist() == [2, 5]
    assert frame.x.tolist() == [[15, 30]]


def test_or_the_metric_over_all_segments():
    frame, _ = system_frame(held(TWO, [1, 3, 5, NAN], [10, 20, 30, 50]), "q", None, over="all")
    assert frame.x.tolist() == [[15, 40]]


@pytest.mark.parametrize("aggregate", ["corpus", "mean"])
def test_over_all_segments_those_without_a_score_are_left_out(aggregate):
    data = held(TWO, [1, 3, 5, NAN], [10, 20, 30, NAN])  # nobody rated the last one, so that it needs no score
    assert system_frame(data, "q", None, "all", aggregate)[0].x.tolist() == [[15, 30]]


def test_a_system_nobody_rated_is_left_out():
    frame, _ = system_frame(held(TWO, [1, 3, NAN, NAN], [10, 20, 30, 50]), "q", None)
    assert frame.systems == ("a",)


def test_the_number_of_a_system_is_the_metrics_own_for_a_corpus_unless_a_mean_is_asked_for():
    # hits of segments 1/1, 1/3, 2/2, 0/2: ratios of sums 2/4 and 2/4, means of ratios 2/3 and 1/2
    stats = np.array([[1, 1], [1, 3], [2, 2], [0, 2]], dtype=float)
    data = held(TWO, [1, 2, 3, 4], stats[:, 0] / stats[:, 1], stats=stats, finish=lambda t: t[..., 0] / t[..., 1])
    assert system_frame(data, "q", None)[0].x.tolist() == [[0.5, 0.5]]
    assert system_frame(data, "q", None, aggregate="mean")[0].x.tolist() == [[pytest.approx(2 / 3), 0.5]]


def test_a_segment_without_system_is_refused_at_level_system():
    with pytest.raises(InputError, match="segment 's1' names no system"):
        system_frame(held([("a", "1", None), (None, "2", None)], [1, 2], [1, 2]), "q", None)


def test_systems_far_from_the_median_can_be_left_out_and_are_named():
    rows = [(name, "1", None) for name in "abcdef"]
    frame, notes = system_frame(held(rows, [1, 2, 3, 4, 5, 90], range(6)), "q", None, outliers="mad")
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
    data = held(TWO, [1, 2, 3, 4], [1, 2, 3, 4])
    data = JoinedScores(
        data.segments,
        data.human,
        data.scores,
        {"k": system_table(("b", None, 0.7), ("a", None, 0.2), ("c", None, 0.5))},
    )
    assert system_frame(data, "q", None)[0].x.tolist() == [[1.5, 3.5], [0.2, 0.7]]


def test_a_system_that_the_table_lacks_is_refused_by_name():
    data = held(TWO, [1, 2, 3, 4], [1, 2, 3, 4])
    data = JoinedScores(data.segments, data.human, {}, {"k": system_table(("a", None, 0.2))})
    with pytest.raises(InputError, match=r"k has no score for 1 of 2 rated systems \(b\)"):
        system_frame(data, "q", None)


def test_scores_of_systems_of_another_group_are_not_taken():
    rows = [(system, item, group) for group in ("en-de", "zh-en") for system in "ab" for item in "12"]
    keys = (Key(None, "a", None, "en-de"), Key(None, "b", None, "en-de"))
    data = dataclasses.replace(
        held(rows, range(8), range(8)), system_tables={"t": ScoreTable(keys, {"t": np.array([0.5, 0.7])}, "system")}
    )
    assert system_frame(data, "q", "en-de")[0].x.tolist()[1] == [0.5, 0.7]
    with pytest.raises(InputError, match=r"t has no score for 2 of 2 rated systems \(a, b\) of zh-en"):
        system_frame(data, "q", "zh-en")
    nameless = dataclasses.replace(data, system_tables={"t": system_table(("a", None, 0.5), ("b", None, 0.7))})
    with pytest.raises(InputError, match="t has a score of each system that names no language pair or task"):
        system_frame(nameless, "q", "zh-en")


def test_pairs_of_a_group_are_numbered_inside_it():
    data = held([("a", "1", "g"), ("a", "1", "h"), ("b", "1", "g"), ("b", "1", "h")], [0, 0, 0, 0], [1, 2, 3, 4])
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
    frame = Frame("en-de", np.ones((1, 2)), np.ones(2), ("x", "y"), ("1", "2"), None)
    with pytest.raises(InputError, match=r"every item of group 'en-de' has one rated output \(1, 2\).*level='segment'"):
        check_items(frame)
