"""Shares with intervals that know where trials come from."""

import math

import numpy as np
import pytest
from tests.choosing.made import OnlyEnglish, data

import nlgauge as ng
from nlgauge.audits.preference import Sides
from nlgauge.choosing.evidence import (
    CRITERIA,
    DRAWS,
    CriterionShare,
    copy_evidence,
    error_evidence,
    interval_of,
    seen_beyond,
    share,
    unreadable,
    unusable,
)
from nlgauge.core.scores import Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.core.spec import Signature
from nlgauge.core.suite import Pair, Suite
from nlgauge.stats.draws import wilson


def test_a_share_of_trials_of_their_own_has_wilsons_interval():
    won = np.array([1.0, 1, 1, 0])
    found = share(won, ["a", "b", "c", "d"])
    assert (found.value, found.n) == (0.75, 4)
    assert (found.low, found.high) == pytest.approx(wilson(3, 4))
    assert found.draws.shape == (DRAWS,)


def test_trials_of_one_text_say_less_than_trials_of_many():
    won = np.array([1.0, 1, 1, 1, 0, 0, 0, 0])
    one, many = share(won, list("aaaabbbb")), share(won, list("abcdefgh"))
    assert one.high - one.low > many.high - many.low


def test_what_does_not_count_is_left_out():
    assert share(np.array([1.0, np.nan, 0.0]), ["a", "b", "c"]).n == 2
    assert share(np.array([np.nan]), ["a"]) is None


def test_the_same_resamples_serve_every_metric():
    won = np.array([1.0, 0, 1, 0, 1, 1])
    one, other = share(won, list("abcdef"), 7), share(1 - won, list("abcdef"), 7)
    np.testing.assert_allclose(one.draws + other.draws, 1)


def test_a_row_has_every_number():
    row = CriterionShare("chrf", "copies", 0.5, 0.4, 0.6, 12, "your references").as_row(2.0)
    assert row == {
        **{"metric": "chrf", "criterion": "copies", "value": 0.5, "low": 0.4, "high": 0.6, "n": 12},
        **{"weight": 2.0, "source": "your references"},
    }
    assert row["criterion"] in CRITERIA


def test_what_few_texts_say_has_no_weight():
    # six of six errors seen: by chance alone it happens once in 64 tries, for one of the dozens of shares of a table
    six, ten = (CriterionShare("chrf", "errors.facts", 1.0, 0.5, 1.0, n, "your outputs") for n in (6, 10))
    assert (six.is_few, six.as_row(2.0)["weight"]) == (True, 0.0)
    assert (ten.is_few, ten.as_row(2.0)["weight"]) == (False, 2.0)
    assert not CriterionShare("chrf", "apart", 1.0, 0.5, 1.0, 1, "your systems").is_few  # it counts pairs of systems


def test_no_draws_have_no_interval():
    assert all(math.isnan(end) for end in interval_of(np.empty(0)))
    assert interval_of(np.linspace(0, 1, 41)) == pytest.approx((0.025, 0.975))


# --- What rules a metric out

ROWS = [Segment(str(i), f"text {i}", ("ref",)) for i in range(10)]


def scores(values, **flags):
    return Scores(Signature("m", {}), ids(ROWS), np.asarray(values, dtype=float), flags=flags)


def test_most_texts_unread_rule_out_and_some_are_told():
    mixed = [Segment(str(i), "сегодня идёт дождь" if i < 2 else "it rains today", ()) for i in range(10)]
    only = {"only": OnlyEnglish()}
    out, told = unreadable(only, [Segment(s.id, s.hypothesis, ("it rains",)) for s in mixed])
    assert (out, told) == ({}, {"only": "it cannot read 2 of 10 outputs: it reads English"})
    out, _ = unreadable(only, [Segment(s.id, mixed[0].hypothesis, ("дождь идёт",)) for s in mixed])
    assert out == {"only": "it cannot read 10 of 10 outputs: it reads English"}


def test_what_a_metric_needs_must_be_there():
    out, _ = unreadable(
        {"chrf": ng.metric("chrf"), "fluency": ng.metric("fluency")}, data(3, references=False).segments
    )
    assert [*out] == ["chrf"]


@pytest.mark.parametrize(
    ("found", "out", "told"),
    [
        (scores(range(10)), "", ""),
        (scores([3.0] * 10), "it gives all 10 outputs the same score", ""),
        (scores([np.nan] * 6 + [1, 2, 3, 4]), "6 of 10 outputs have no score", ""),
        (scores([np.nan] * 2 + [*range(8)]), "", "2 of 10 outputs have no score"),
        (
            scores(range(10), truncated=np.arange(10) < 7),
            "7 of 10 outputs are read in part, since they are longer than its model reads",
            "",
        ),
    ],
)
def test_scores_of_no_use(found, out, told):
    assert unusable(found, ROWS) == (out, told)


def test_one_text_many_times_is_no_constant_metric():
    same = [Segment(str(i), "one text", ("ref",)) for i in range(10)]
    assert unusable(scores([3.0] * 10), same) == ("", "")


# --- Evidence of scores that are told, worked by hand


def suite(*pairs):
    """Pairs of (text, aspect)."""
    return Suite(
        tuple(
            Pair(
                **{"id": str(i), "phenomenon": "p", "better": text, "worse": f"{text}!", "criterion": aspect},
                references=(f"ref {text}",),
                expect="same" if aspect == "same" else "lower",
            )
            for i, (text, aspect) in enumerate(pairs)
        )
    )


def sides(spec, better, worse):
    return Sides(
        spec, ng.metric("chrf"), spec, tuple(range(len(better))), np.array(better, float), np.array(worse, float)
    )


MADE = suite(("a", "facts"), ("a", "same"), ("b", "facts"), ("b", "fluency"), ("b", "same"))


def test_errors_are_seen_where_the_score_falls_and_harmless_changes_cost_less():
    #             falls by 4, by 1, ties, by 2, by 3
    scored = sides("told", [9, 9, 9, 9, 9], [5, 8, 9, 7, 6])
    found = {one.criterion: one for one in error_evidence(MADE, scored, "your outputs")}
    assert found["errors.facts"].value == 0.5  # a tie is not seen
    assert found["errors.fluency"].value == 1
    # in a 1 < 4; in b 3 > 0 and 3 > 2
    assert (found["harmless"].value, found["harmless"].n) == (pytest.approx(1 / 3), 3)
    assert "errors.meaning" not in found


def test_near_copies_count_likewise():
    (one,) = copy_evidence(suite(("a", "x"), ("b", "x")), sides("told", [1, 2], [2, 1]))
    assert (one.criterion, one.value, one.n) == ("copies", 0.5, 2)


def test_a_second_metric_is_asked_about_what_the_first_misses():
    first, second = sides("one", [9] * 5, [9, 9, 9, 1, 9]), sides("two", [9] * 5, [1, 1, 9, 1, 1])
    outcome, origins = seen_beyond(MADE, first, second)
    assert outcome.tolist() == [1, 0]  # the two errors of facts
    assert origins == [("text", "ref a"), ("text", "ref b")]
