"""Counts of flags by hand, and one warning for each call of a user."""

import warnings

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.counts import ScoreWarning, add, count, count_notes, first_of, first_of_all, in_brief, say, warning

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
