"""What rules a metric out."""

import numpy as np
import pytest
from tests.choosing.made import OnlyEnglish, data

import nlgauge as ng
from nlgauge.choosing.reading import unreadable, unusable
from nlgauge.core.scores import Scores, ids
from nlgauge.core.segment import Segment
from nlgauge.core.spec import Signature

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
    out, _ = unreadable({"chrf": ng.metric("chrf"), "gruen": ng.metric("gruen")}, data(3, references=False).segments)
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
