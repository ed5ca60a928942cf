from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError
from nlgauge.core.segment import Dataset, Segment
from nlgauge.core.tables import (
    Key,
    Preference,
    Preferences,
    ScoreTable,
    find,
    judged,
    ratings,
    ratings_by_rater,
    single_ratings,
)

NAN = math.nan
SEGMENTS = (
    Segment("p", "a", system="A", item="1", group="xx-yy"),
    Segment("q", "b", system="B", item="1", group="xx-yy"),
    Segment("r", "c", system="A", item="2", group="xx-yy"),
)


def table(keys, *values, **options):
    return ScoreTable(tuple(keys), {"m": np.array(values)}, name="f", **options)


def test_ids_find_their_segments_in_any_order():
    scores = table([Key("r"), Key("x"), Key("p"), Key("q")], 3.0, 9.0, 1.0, 2.0)
    assert scores.of(SEGMENTS).tolist() == [1, 2, 3]
    assert scores.places(SEGMENTS).tolist() == [2, 3, 0]
    assert table([Key("q", "A", "1"), Key("p", "B", "1")], 2.0, 1.0).of(SEGMENTS[:2]).tolist() == [1, 2]


def test_system_and_item_find_their_segments_with_and_without_a_group():
    rows = [("A", "2", 3.0), ("B", "1", 2.0), ("A", "1", 1.0)]
    for group in (None, "xx-yy"):
        assert table([Key(None, s, i, group) for s, i, _ in rows], *[v for *_, v in rows]).of(SEGMENTS).tolist() == [
            1,
            2,
            3,
        ]
    scores = table([Key(None, "A", "1", "vv-ww"), Key(None, "A", "1", "xx-yy")], 8.0, 1.0)
    assert scores.of(SEGMENTS[:1]).tolist() == [1]


def test_a_segment_without_a_group_takes_the_only_one_but_not_one_of_several():
    segment = [Segment("s", "a", system="A", item="1")]
    assert table([Key(None, "A", "1", "xx-yy")], 5.0).of(segment).tolist() == [5]
    with pytest.raises(
        InputError, match=r"^f: rows are told apart by language pair or task, and segment 's' names none$"
    ):
        table([Key(None, "A", "1", "xx-yy"), Key(None, "A", "1", "vv-ww")], 5.0, 6.0).of(segment)


def test_rows_without_a_group_refuse_segments_that_only_the_group_tells_apart():
    twice = [SEGMENTS[0], Segment("t", "d", system="A", item="1", group="vv-ww")]
    with pytest.raises(
        InputError,
        match=r"^f: segments 'p' and 't' both fit system 'A', item '1'; give the rows a 'system', an 'lp' or",
    ):
        table([Key(None, "A", "1")], 1.0).of(twice)


def test_missing_scores_are_refused_by_name_or_marked():
    scores = table([Key("p"), Key("q")], 1.0, NAN)
    with pytest.raises(
        InputError, match=r"^f: no score for 2 of 3 segments \(1 have no row, 1 have a row without a number\): q, r$"
    ):
        scores.of(SEGMENTS)
    assert np.isnan(scores.of(SEGMENTS, missing="nan")).tolist() == [False, True, True]
    assert np.isnan(table([]).of(SEGMENTS, missing="nan")).all()
    segments = [Segment(f"s{i}", "t") for i in range(5)]
    with pytest.raises(InputError, match=r": s0, s1, s2 and 2 more$"):
        table([Key("p")], 1.0).of(segments)


@pytest.mark.parametrize(
    ("keys", "columns", "level", "says"),
    [
        ([Key("p"), Key("p")], {"m": [1, 2]}, "segment", "f: two rows are about segment 'p'; expected one"),
        ([Key("p", "A"), Key("p", "B")], {"m": [1, 2]}, "segment", "f: two rows are about segment 'p'; expected one"),
        (
            [Key(None, "A", "1"), Key(None, "A", "1")],
            {"m": [1, 2]},
            "segment",
            "f: two rows are about system 'A', item '1'; expected one",
        ),
        ([Key("p"), Key(None, "A", "1")], {"m": [1, 2]}, "segment", "f: 1 of 2 rows have an id, expected all or none"),
        ([Key("p")], {"m": [1, 2]}, "segment", r"f: column 'm' has shape (2,), expected (1,)"),
        ([Key("p")], {"m": [1]}, "sentence", "level 'sentence' is unknown; did you mean 'segment'?"),
    ],
)
def test_a_table_that_cannot_be_is_refused(keys, columns, level, says):
    with pytest.raises(InputError) as error:
        ScoreTable(tuple(keys), columns, level, "f")
    assert str(error.value) == says


def test_a_column_is_named_where_there_are_several():
    scores = ScoreTable((Key("p"),), {"bleu": [1], "chrf": [2]}, name="f")
    assert scores.of(SEGMENTS[:1], "chrf").tolist() == [2]
    with pytest.raises(
        InputError, match=r"^f: 2 columns of scores \('bleu', 'chrf'\), expected one; name the one you mean$"
    ):
        scores.column()
    with pytest.raises(InputError, match=r"^f: no column 'crf'; did you mean 'chrf'\?$"):
        scores.column("crf")


def test_system_scores_by_group():
    scores = ScoreTable(
        (Key(None, "A", None, "xx-yy"), Key(None, "B", None, "xx-yy"), Key(None, "A", None, "vv-ww")),
        {"m": [1, 2, 3]},
        "system",
        "f",
    )
    assert scores.by_system(group="xx-yy") == {"A": 1, "B": 2}
    with pytest.raises(InputError, match=r"^f: 2 groups \(xx-yy, vv-ww\), expected the name of one$"):
        scores.by_system()
    with pytest.raises(InputError, match=r"^f: scores of level 'system' have no rows for segments$"):
        scores.of(SEGMENTS)
    with pytest.raises(InputError, match=r"^f: scores of level 'segment', expected level 'system'$"):
        table([Key("p")], 1.0).by_system()


def test_judgements_join_a_dataset_and_what_does_not_fit_is_counted():
    ratings = table([Key(None, "A", "1"), Key(None, "B", "1"), Key(None, "C", "1")], 4.0, NAN, 2.0)
    data = judged(Dataset(SEGMENTS, "d", ("kept",)), ratings)
    assert [dict(s.human) for s in data] == [{"m": 4.0}, {}, {}]
    assert [s.hypothesis for s in data] == ["a", "b", "c"]
    assert data.notes == ("kept", "f: no rating 'm' for 2 of 3 segments", "f: 1 of 3 rows fit no segment")


def test_judgements_that_fit_nothing_or_are_there_already_are_refused():
    with pytest.raises(
        InputError,
        match=(
            r"^f: no row fits any segment of d: system 'A', item '01' against segment 'p' \(system 'A', item '1', group"
            r" 'xx-yy'\)$"
        ),
    ):
        judged(Dataset(SEGMENTS, "d"), table([Key(None, "A", "01")], 1.0))
    with pytest.raises(
        InputError, match=r"^f: segment 's' already has a rating 'm'; for another name: --columns human.OTHER=m$"
    ):
        judged(Dataset((Segment("s", "a", human={"m": 1.0}),)), table([Key("s")], 1.0))


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ([Key("p"), Key("q "), Key("\u00a0r")], r"2 of 3 rows .*, as segment 'q ' from 'q'"),
        ([Key(None, "A", " 1"), Key(None, "B", "1")], r"1 of 2 rows .*, as system 'A', item ' 1' from 'A', '1'"),
        ([Key(None, "A", "1", "xx-yy "), Key(None, "B", "1", "xx-yy ")], r"2 of 2 rows .*group 'xx-yy ' from 'A', '1'"),
    ],
)
def test_names_that_differ_by_blanks_alone_are_refused_in_every_join(keys, says):
    wanted = rf"^f: {says}.*; take the blanks out of both$"
    ratings = table(keys, *range(len(keys)))
    for join in (lambda: judged(Dataset(SEGMENTS, "d"), ratings), lambda: ratings.of(SEGMENTS, missing="nan")):
        with pytest.raises(InputError, match=wanted):
            join()
    with pytest.raises(InputError, match=r" rows differ from a segment by blanks alone, as "):
        Preferences((Preference(*keys[:2]),), "f").places(SEGMENTS)


def test_blanks_of_other_names_are_no_matter():
    both = (Segment("a", "x"), Segment("a ", "y"), Segment("b c", "z"))
    assert table([Key("a")], 1.0).places(both).tolist() == [0, -1, -1]  # each has its own name
    assert table([Key("a"), Key("bc")], 1.0, 2.0).places(both).tolist() == [0, -1, -1]


def test_pairs_find_both_their_segments():
    pairs = Preferences(
        (Preference(Key("q"), Key("p")), Preference(Key("r"), Key("q")), Preference(Key("q"), Key("p"))), "f"
    )
    assert pairs.places(SEGMENTS).tolist() == [[1, 0], [2, 1], [1, 0]]
    absent = Preferences((Preference(Key(None, "A", "1"), Key(None, "Z", "1")),), "f")
    with pytest.raises(InputError, match=r"^f: 1 of 2 outputs are not among the segments: system 'Z', item '1'$"):
        absent.places(SEGMENTS)
    assert Preferences(()).places(SEGMENTS).shape == (0, 2)


@given(
    order=st.permutations(range(6)), values=st.lists(st.floats(-1e9, 1e9), min_size=6, max_size=6), by_id=st.booleans()
)
def test_the_order_of_rows_changes_nothing(order, values, by_id):
    segments = [Segment(f"s{i}", "t", system="AB"[i % 2], item=str(i // 2), group="g") for i in range(6)]
    keys = [Key(s.id) if by_id else Key(None, s.system, s.item, s.group) for s in segments]
    scores = table([keys[i] for i in order], *[values[i] for i in order])
    assert scores.of(segments).tolist() == values


@pytest.mark.parametrize("key", [lambda i: Key(i), lambda i: Key(None, None, i)])
def test_rows_that_count_from_one_are_not_those_of_items_from_zero_or_the_other_way_round(key):
    ones, zeros = ([str(i) for i in range(start, start + 3)] for start in (1, 0))
    for rows, items, said in (
        (ones, zeros, r"1 to 3, and a segment is '0'"),
        (zeros, ones, r"0 to 2, and a segment is '3'"),
    ):
        with pytest.raises(InputError, match=rf"^s: rows are about the items {said}; count both alike$"):
            find([*map(key, rows)], [Segment(item, "a") for item in items], "s")
    assert find([*map(key, "013")], [Segment(item, "a") for item in "123"]).tolist() == [1, -1, 2]  # names, not counts
    assert find([*map(key, zeros)], [Segment(item, "a") for item in "12"]).tolist() == [1, 2]
    assert find([*map(key, "13")], [Segment("0", "a"), Segment("1", "a")]).tolist() == [-1, 0]


def test_ratings_stand_by_rater_and_join_texts_with_their_names():
    segments = [Segment(str(i), "t") for i in range(3)]
    given = {"q": [(("ann", 1.0), ("bob", 4.0)), (("bob", 2.0), ("bob", 6.0)), ((None, 5.0),)]}
    keys = tuple(Key(s.id) for s in segments)
    joined = judged(Dataset(tuple(segments)), ScoreTable(keys, {"q": [2.5, 4.0, 5.0]}, ratings=given))
    table = ratings_by_rater(single_ratings(joined.segments, "q")[0])
    assert table.names == ("ann", "bob")
    # bob rated the second text twice, 2 and 6; of the third nobody says who rated it
    np.testing.assert_array_equal(table.values, [[1.0, np.nan, np.nan], [4.0, 4.0, np.nan]])


def test_ratings_without_names_stand_by_their_place():
    segments = [Segment("1", "t", human={"q": [1, None, 3]}), Segment("2", "t", human={"q": 4.0}), Segment("3", "t")]
    table = ratings_by_rater(single_ratings(segments, "q")[0])
    assert (table.names, len(table.values)) == ((), 2)
    np.testing.assert_array_equal(table.values, [[1, 4, np.nan], [3, np.nan, np.nan]])
    assert ratings_by_rater(single_ratings(segments, "other")[0]).values.shape == (0, 3)


def rated(*human, raters=None):
    return tuple(
        Segment(f"s{i}", "text", human=h, raters={} if raters is None else {"q": tuple(raters[i])})
        for i, h in enumerate(human)
    )


def test_several_ratings_become_their_mean_and_gaps_do_not_count():
    found = ratings(rated({"q": [1, 2, None, 6]}, {"q": 4}, {}, {"q": []}, {"q": [None, float("nan")]}), "q")
    np.testing.assert_array_equal(found, [3, 4, np.nan, np.nan, np.nan])


@pytest.mark.parametrize("value", ["4", [1, "x"], float("inf"), {"a": 1}])
def test_a_rating_that_is_no_number_is_refused_by_name(value):
    with pytest.raises(InputError, match="rating 'q' of segment 's0' is"):
        ratings(rated({"q": value}), "q")


# --- Severity of raters, taken out

TWO = rated({"q": [1, 4]}, {"q": [3, 4]}, {"q": [2, 4]}, {"q": [5]}, {}, raters=["ab", "ab", "ab", "c", ""])


def test_z_takes_out_the_mean_and_the_deviation_of_each_rater():
    # a gives 1, 3, 2: mean 2, deviation 1 (with n - 1); b always 4 and c one alone: nothing is known of their scale
    found, notes = single_ratings(TWO, "q.z")
    assert found == [(("a", -1.0),), (("a", 1.0),), (("a", 0.0),), (), ()]
    assert notes == [
        "q.z: raters who gave one rating or always the same are left out: 2 of 3, with 4 of 7 ratings (b, c)"
    ]
    assert ratings(TWO, "q.z").tolist() == pytest.approx([-1, 1, 0, NAN, NAN], nan_ok=True)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9)), min_size=2, max_size=30),
    st.integers(1, 5),
    st.integers(-5, 5),
)
def test_z_does_not_depend_on_how_severe_a_rater_is(given_ratings, stretch, shift):
    zscore = pytest.importorskip("scipy.stats").zscore
    plain = rated(*({"q": [value]} for _, value in given_ratings), raters=[[who] for who, _ in given_ratings])
    moved = rated(
        *({"q": [stretch * value + shift if who == "a" else value]} for who, value in given_ratings),
        raters=[[who] for who, _ in given_ratings],
    )
    found = ratings(plain, "q.z")
    np.testing.assert_allclose(found, ratings(moved, "q.z"), atol=1e-12)  # numbers of about 1 in float64
    for who in "abc":
        own = [value for rater, value in given_ratings if rater == who]
        mine = [z for z, (rater, _) in zip(found, given_ratings, strict=True) if rater == who]
        expected = zscore(own, ddof=1) if len(set(own)) > 1 else np.full(len(own), NAN)
        np.testing.assert_allclose(mine, expected, atol=1e-12)


def test_z_needs_names_and_counts_ratings_without():
    with pytest.raises(InputError, match=r"^'q\.z' takes the severity of raters out of 'q', and nobody says who rated"):
        single_ratings(rated({"q": [1, 2]}), "q.z")
    found, notes = single_ratings(rated({"q": [1, 2]}, {"q": [3, 5]}, raters=[("a", None), ("a",)]), "q.z")
    assert [own[0][0] for own in found] == ["a", "a"]
    assert notes == ["q.z: ratings that name no rater are left out: 2 of 4"]


def test_a_criterion_of_that_very_name_is_itself():
    own = rated({"q": [1, 2], "q.z": 7.0})
    assert ratings(own, "q.z").tolist() == [7]
    assert single_ratings(own, "q.z") == ([((None, 7.0),)], [])
