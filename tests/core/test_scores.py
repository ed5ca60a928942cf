"""Counts of flags by hand, and one warning for each call of a user."""

import json
import math
import re
import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.core.errors import InputError, ScoreWarning
from nlgauge.core.scores import (
    MetricInfo,
    Scores,
    Worst,
    add,
    count,
    count_notes,
    first_of,
    first_of_all,
    ids,
    in_brief,
    join,
    mean_of_defined,
    say,
    warning,
)
from nlgauge.core.segment import Segment
from nlgauge.core.spec import Signature

PAIR = ng.Pair(id="1", phenomenon="typos", better="a b", worse="", references=("a b c",))
RATED = ng.Dataset(tuple(ng.Segment(f"{i}", text, ("a b",), human={"q": i}) for i, text in enumerate(["", "a", "a b"])))


def test_flags_and_undefined_scores_are_counted():
    flags = {"empty": np.array([True, False, True]), "truncated": np.zeros(3, dtype=bool)}
    assert count(flags, np.array([1.0, np.nan, 0.0])) == {"empty": 2, "undefined": 1}
    assert add({"empty": 2}, {}, {"empty": 1, "undefined": 1}) == {"empty": 3, "undefined": 1}


def test_each_count_is_a_note():
    notes = count_notes("nli", {"empty": 2, "undefined": 1}, 40)
    assert list(notes) == [
        "nli: 2 of 40 segments have an empty side; they get the worst value",
        "nli: 1 of 40 segments have an undefined score; they are left out",
    ]
    assert list(count_notes("nli", {"undefined": 1}, 40, undefined=None)) == []
    first = first_of({"unknown": np.array([False, True, True]), "empty": np.array([True, False, False])}, "abc")
    assert first == {"unknown": ["b", "c"], "empty": ["a"]}
    (note,) = count_notes("nli", {"unknown": 2}, 3, first=first)
    assert note.startswith("nli: 2 of 3 segments (b, c) have a text with many pieces that the model does not know;")
    (note,) = count_notes("nli", {"unknown": 3}, 4, first=first)
    assert note.startswith("nli: 3 of 4 segments (b, c, ...) have")
    (note,) = count_notes("nli", {"undefined": 1}, 4, first=first_of({}, "abc", np.array([0.0, np.nan, 1.0])))
    assert note == "nli: 1 of 4 segments (b) have an undefined score; they are left out"


def test_ten_ids_are_named_over_all_blocks():
    flag = np.ones(7, dtype=np.bool_)
    first = first_of_all(first_of({"empty": flag}, "abcdefg"), first_of({"empty": flag}, "hijklmn"))
    assert first == {"empty": list("abcdefghij")}
    (note,) = count_notes("chrf", {"empty": 14}, 14, first=first)
    assert note.startswith("chrf: 14 of 14 segments (a, b, c, d, e, f, g, h, i, j, ...) have an empty side")
    assert list(count_notes("own", {"odd": 1}, 2, "pairs")) == ["own: 1 of 2 pairs have the flag 'odd'"]


@pytest.mark.parametrize(
    "call",
    [
        lambda: ng.score(["", "a"], ["a", "b"], metrics=["rouge1", "chrf"]),
        lambda: ng.meta_evaluate(RATED, ["rouge1", "chrf"]),
        lambda: ng.audit(ng.Suite((PAIR,)), ["rouge1", "chrf"]),
    ],
)
def test_a_call_warns_once_where_the_user_stands(call):
    with pytest.warns(ScoreWarning, match=r"^rouge1, chrf: 1 of \d .* have an empty side; .*see \.notes\)$") as told:
        call()
    assert [(one.filename, one.category) for one in told] == [(__file__, ng.ScoreWarning)]


def test_a_warning_is_one_short_line_however_many_texts_it_is_about():
    # 200 ids of 30 characters; ten of them in each of three notes would be 900 characters
    hyps = ng.Dataset(tuple(ng.Segment(f"{i:030}", "", ("a b",), source="c") for i in range(200)))
    with pytest.warns(ScoreWarning) as told:
        found = ng.score(hyps, metrics=["bleu", "chrf", "ter"])
    (line,) = [str(one.message) for one in told]
    assert line.startswith("bleu, chrf, ter: 200 of 200 segments have an empty side; they get the worst value (")
    assert "\n" not in line
    assert len(line) < 160
    assert found["chrf"].notes[0].startswith(f"chrf: 200 of 200 segments ({0:030}, {1:030}, ")


def test_notes_in_brief_say_the_same_of_several_metrics_once():
    notes = [*count_notes("a", {"empty": 1}, 3, first={"empty": ["x"]}), "plain", *count_notes("b", {"empty": 1}, 3)]
    assert in_brief(notes) == ["a, b: 1 of 3 segments have an empty side; they get the worst value", "plain"]
    (other,) = count_notes("a", {"empty": 1}, 3, first={"empty": ["x"]})
    assert other.after("set: ") == "set: a: 1 of 3 segments (x) have an empty side; they get the worst value"
    assert in_brief([other.after("set: ")]) == ["set: a: 1 of 3 segments have an empty side; they get the worst value"]


def test_texts_that_are_scored_as_they_stand_warn_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ng.score(["a b"], ["a c"], metrics="chrf")


def test_a_call_inside_a_call_leaves_the_warning_to_it():
    @warning
    def inner():
        say("x: 1 of 2 segments")
        return 1

    @warning
    def outer():
        return inner() + inner()

    with pytest.warns(ScoreWarning, match=r"^x: 1 of 2 segments \(see \.notes\)$") as told:
        assert outer() == 2
    assert len(told) == 1


def test_a_call_that_fails_does_not_warn():
    @warning
    def failing():
        say("x")
        raise ng.InputError("y")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ng.InputError, match="y"):
            failing()
    say("outside of any call nothing is kept")


TOY = Signature("toy", (("metric", "toy"),))
values = st.lists(st.floats(-100, 100) | st.just(np.nan), max_size=12)


def scores_of(numbers, **others):
    return Scores(TOY, tuple(f"s{i}" for i in range(len(numbers))), np.array(numbers, dtype=float), **others)


def ratio(totals):
    """A corpus number that is no mean: the first sum over the second."""
    return totals[..., 0] / totals[..., 1]


def full(numbers):
    numbers = np.array(numbers, dtype=float)
    counts = np.stack([numbers, np.arange(1.0, len(numbers) + 1)], axis=1)
    return scores_of(
        numbers,
        parts={"double": 2 * numbers},
        flags={"high": numbers > 1},
        stats=counts,
        finish=ratio,
        higher_is_better=False,
    )


def same(one, other):
    assert one.ids == other.ids
    assert list(one.parts) == list(other.parts)
    assert list(one.flags) == list(other.flags)
    for name, column in {"values": one.values, "stats": one.segment_stats, **one.parts, **one.flags}.items():
        theirs = {"values": other.values, "stats": other.segment_stats, **other.parts, **other.flags}[name]
        np.testing.assert_array_equal(column, theirs)
        assert column.dtype == theirs.dtype
    assert (one.finish, one.higher_is_better, one.signature) == (other.finish, other.higher_is_better, other.signature)


def test_the_corpus_number_is_the_mean_of_what_is_defined_unless_told_otherwise():
    assert scores_of([1, 2, 6]).system == 3.0
    scores = scores_of([1, np.nan, 3])
    assert scores.system == 2.0  # (1 + 3) / 2
    assert scores.n_undefined == 1
    np.testing.assert_array_equal(scores.segment_stats, [[1, 1], [0, 0], [3, 1]])
    totals = np.array([[[6.0, 3.0], [0.0, 0.0]], [[-1.0, 2.0], [5.0, 1.0]]])
    np.testing.assert_array_equal(mean_of_defined(totals), [[2.0, np.nan], [-0.5, 5.0]])
    # (1 + 5) / (1 + 2), where the mean of the ratios would be (1/1 + 5/2) / 2
    assert full([1, 5]).system == 2.0
    assert Scores(TOY, ["a"], np.array([1], dtype=np.int32)).values.dtype == np.float64
    assert Scores(TOY, ["a"], [1]).ids == ("a",)


@pytest.mark.parametrize("numbers", [[], [np.nan, np.nan]])
def test_the_mean_of_nothing_is_undefined_and_not_zero(numbers):
    assert np.isnan(scores_of(numbers).system)


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"parts": {"p": np.zeros(2)}}, r"^toy: p has shape \(2,\), expected \(3,\)$"),
        ({"flags": {"empty": np.zeros((3, 1), dtype=bool)}}, r"^toy: empty has shape \(3, 1\), expected \(3,\)$"),
        ({"stats": np.zeros((2, 4))}, r"^toy: stats has shape \(2, 4\), expected \(3, k\)$"),
        ({"stats": np.zeros(3)}, r"^toy: stats has shape \(3,\), expected \(3, k\)$"),
    ],
)
def test_columns_of_another_length_are_refused(others, message):
    with pytest.raises(InputError, match=message):
        scores_of([1, 2, 3], **others)
    with pytest.raises(InputError, match=r"^toy: values has shape \(1,\), expected \(2,\)$"):
        Scores(TOY, ("a", "b"), np.zeros(1))


def test_a_part_of_the_scores_keeps_everything_in_the_order_asked():
    taken = full([0, 1, 2, 3]).take([3, 1])
    assert taken.ids == ("s3", "s1")
    np.testing.assert_array_equal(taken.values, [3, 1])
    np.testing.assert_array_equal(taken.parts["double"], [6, 2])
    np.testing.assert_array_equal(taken.flags["high"], [True, False])
    np.testing.assert_array_equal(taken.stats, [[3, 4], [1, 2]])
    assert taken.finish is ratio
    assert taken.higher_is_better is False
    scores = full([0, 1, 2, 3])
    same(scores.take(np.array([True, False, False, True])), scores.take([0, 3]))
    with pytest.raises(InputError, match=r"^toy: a mask of shape \(2,\) over 3 segments, expected \(3,\)$"):
        scores_of([1, 2, 3]).take(np.array([True, False]))


@given(values, st.data())
def test_blocks_joined_are_the_whole(numbers, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(numbers)), max_size=3)))
    edges = [0, *cuts, len(numbers)]
    for whole in (scores_of(numbers), full(numbers)):
        blocks = [whole.take(np.arange(a, b)) for a, b in pairwise(edges)]
        same(join(blocks), whole)


@given(values, st.randoms(use_true_random=False))
def test_the_corpus_number_does_not_depend_on_the_order(numbers, random):
    order = list(range(len(numbers)))
    random.shuffle(order)
    whole = scores_of(numbers)
    assert whole.take(order).system == pytest.approx(
        whole.system, abs=1e-12, nan_ok=True
    )  # at most 12 numbers below 100, added in another order


def test_needs_are_a_set_whatever_came():
    assert MetricInfo("toy", needs={"source"}).needs == frozenset({"source"})
    assert hash(MetricInfo("toy", needs={"source"})) == hash(MetricInfo("toy", needs=frozenset({"source"})))
    with pytest.raises(InputError, match=r"^toy: range is \(0\.0, None\), expected two numbers"):
        MetricInfo("toy", range=(0.0, None))


def of_systems():
    systems, items = ("new", "old", "new", "old"), ("1", "1", "2", "2")
    return scores_of([1.0, 2.0, 3.0, np.nan], systems=systems, items=items)


@pytest.mark.parametrize("order", [1, -1])
def test_blocks_with_and_without_statistics_have_the_mean_as_corpus_number(order):
    # of one group each segment has one reference; of the other several were folded, so that it has values alone
    blocks = [full([1, 2]), scores_of([6], parts={"double": np.array([12.0])}, flags={"high": np.array([True])})][
        ::order
    ]
    joined = join(blocks)
    assert joined.stats is None
    assert joined.system == pytest.approx(3)


def test_numbers_by_system_in_order_of_appearance():
    assert of_systems().by_system() == {"new": 2.0, "old": 2.0}  # (1 + 3) / 2, and 2 alone: the other is undefined
    assert of_systems().take([3, 0, 1]).by_system() == {"old": 2.0, "new": 1.0}
    assert join([of_systems().take([0]), of_systems().take([1, 2])]).by_system() == {"new": 2.0, "old": 2.0}
    with pytest.raises(
        InputError, match=r"^toy: the scores do not say which system wrote which segment; nlgauge\.score"
    ):
        scores_of([1.0]).by_system()
    with pytest.raises(InputError, match=r"^toy: 1 systems, expected 2 or none$"):
        scores_of([1.0, 2.0], systems=("a",))
    assert ids([Segment("b", ""), Segment("a", "")]) == ("b", "a")


def test_scores_are_shown_in_one_line():
    assert repr(scores_of([1.0, np.nan])) == "Scores(toy: 1; 2 segments, 1 undefined)"
    assert repr(of_systems()) == "Scores(toy: new 2, old 2; 4 segments, 1 undefined)"
    many = scores_of([1.0] * 6, systems=tuple("abcdef"))
    assert repr(many) == "Scores(toy: a 1, b 1, c 1, d 1 and 2 more; 6 segments)"
    assert "s1" not in of_systems()._repr_html_()


def test_scores_have_one_row_per_segment_and_leave_out_what_is_not_known():
    assert list(full([1.0, 2.0]).as_columns()) == ["id", "value", "double", "high"]
    assert list(of_systems().as_columns()) == ["id", "seg", "system", "value"]
    assert list(scores_of([1.0], items=("1",), systems=(None,)).as_columns()) == ["id", "seg", "value"]


def test_scores_go_into_json():
    scores = full([1.0, np.nan])
    back = json.loads(json.dumps(scores.as_json(), allow_nan=False))
    assert back["rows"] == [
        {"id": "s0", "value": 1.0, "double": 2.0, "high": False},
        {"id": "s1", "value": None, "double": None, "high": False},
    ]
    assert {name: back[name] for name in ("spec", "signature", "higher_is_better", "n", "n_undefined", "value")} == {
        "spec": "toy",
        "signature": str(TOY),
        "higher_is_better": False,
        "n": 2,
        "n_undefined": 1,
        "value": None,  # the sum of a NaN
    }


# --- The segments with the worst scores


def scored(values, higher_is_better=True, begin=0):
    names = tuple(str(begin + i) for i in range(len(values)))
    return Scores(Signature("m", ()), names, np.array(values, dtype=float), higher_is_better=higher_is_better)


VALUES = st.lists(st.sampled_from([0.0, 1.0, 1.0 + 1e-12, 2.0, -3.0, math.nan]), max_size=12)


@given(VALUES, st.integers(1, 5), st.booleans(), st.integers(0, 12))
def test_the_worst_are_the_first_of_all_in_order_and_parts_change_nothing(values, n, higher_is_better, cut):
    sign = 1 if higher_is_better else -1
    places = sorted(
        range(len(values)), key=lambda i: sign * round(values[i], 6) if values[i] == values[i] else math.inf
    )
    n_scored = sum(value == value for value in values)
    expected = [*places[:n_scored][:n], *places[n_scored:][:n]]
    found = scored(values, higher_is_better).worst(n)
    assert [row["id"] for row in found] == list(map(str, expected))
    assert all(row["n"] == n_scored and row["n_undefined"] == len(values) - n_scored for row in found)
    in_parts = Worst(n, "m", higher_is_better)
    in_parts.add(scored(values[:cut]))
    in_parts.add(scored(values[cut:], begin=len(values[:cut])))
    assert in_parts == found


def test_what_was_scored_from_texts_shows_them_and_scores_alone_only_ids():
    systems = {"a": ["the cat", "<b>a dog</b>"], "β": ["the cat", "a dog"]}
    both = ng.score(systems, ["the cat", "a dog"], ["die Katze", "ein Hund"], metrics=["chrf", "ter"])
    (row,) = both.worst(1, "ter")
    assert row["id"] == both["ter"].ids[1]
    assert (row["system"], row["hyp"], row["refs"], row["src"]) == ("a", "<b>a dog</b>", ["a dog"], "ein Hund")
    assert (row["metric"], row["value"], row["n"], row["n_undefined"]) == ("ter", both["ter"].values[1], 4, 0)
    said = str(both.worst(1, "ter"))
    assert said.splitlines()[0] == "the worst of 4 segments by ter"
    assert [line.split(None, 1)[1] for line in said.splitlines()[2:]] == ["<b>a dog</b>", "a dog", "ein Hund"]
    assert "<b>a dog" not in both.worst(1, "ter")._repr_html_()
    assert "&lt;b&gt;a dog" in both.worst(1, "ter")._repr_html_()
    assert both["ter"].take([0, 2, 3]).worst(1)[0]["hyp"] == "the cat"  # all are right: the first stands first
    alone = ng.metric("chrf").score([Segment("1", "a", ("b",))], ng.Runtime()).worst()
    assert list(alone) == [{"metric": "chrf", "id": "1", "system": None, "value": 0.0, "n": 1, "n_undefined": 0}]
    assert str(ng.score([], [], metrics="chrf").worst()) == ""


@pytest.mark.parametrize(
    ("n", "metric", "said"),
    [
        (0, "chrf", "the number of the worst segments is 0, expected a whole number, 1 or more"),
        (2.5, "chrf", "is 2.5, expected a whole number"),
        (True, "chrf", "is True, expected a whole number"),
        (1, None, "worst: None is not among the metrics scored; known: chrf, ter"),
        (1, "cherf", "'cherf' is not among the metrics scored; did you mean 'chrf' or 'ter'?"),
    ],
)
def test_what_has_no_worst_is_said(n, metric, said):
    with pytest.raises(InputError, match=re.escape(said)):
        ng.score(["a"], ["a"], metrics=["chrf", "ter"]).worst(n, metric)
