from __future__ import annotations

import json
import math

import pytest

import nlgauge as ng
from nlgauge.core.tables import Key
from nlgauge.io import read_verdicts


def lines(*rows):
    return "".join(json.dumps({"item": "1", "judge": "J", **row}) + "\n" for row in rows)


def test_scores_are_a_table_and_repeats_are_averaged(put):
    rows = [{"system": "a", "score": 4}, {"system": "a", "score": 2, "repeat": 2}, {"system": "b", "score": None}]
    rows += [
        {"system": "b", "score": None, "repeat": 2},
        {"system": "b", "score": 5, "judge": "K", "criterion": "fluency"},
    ]
    verdicts = read_verdicts(put("v.jsonl", lines(*rows)))
    table = verdicts.scores()
    assert table.keys == (Key(None, "a", "1"), Key(None, "b", "1"))
    assert table.columns["J"][0] == 3
    assert math.isnan(table.columns["J"][1])
    assert table.columns["K.fluency"][1] == 5
    assert verdicts.notes == ("v.jsonl: 2 of 4 verdicts of 'J' could not be read",)
    assert verdicts.judges == ("J", "K")


def test_choices_are_preferences(put):
    pair = {"first": "a", "second": "b"}
    rows = [
        {**pair, "verdict": "first"},
        {"first": "b", "second": "a", "verdict": "second"},
        {**pair, "verdict": "tie"},
    ]
    verdicts = read_verdicts(put("v.jsonl", lines(*rows, {**pair, "verdict": None, "raw": "well"})))
    preferences = verdicts.preferences()
    assert [(pair.better.system, pair.worse.system) for pair in preferences.pairs] == [("a", "b")] * 2
    assert preferences.notes == (
        "v.jsonl: 1 of 4 verdicts of 'J' could not be read", "v.jsonl: 1 tie left out of the preferences"
    )  # fmt: skip
    with pytest.raises(ng.InputError, match="no verdict with a score"):
        verdicts.scores()


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"judge": None, "score": 1}, "v.jsonl:1: field 'judge' is missing"),
        ({"judge": None, "a\nb": 1}, r"fields found: item, judge, a\nb"),
        ({"score": "high"}, "field 'score' is 'high', expected a number or null"),
        ({}, "expected 'system' and 'score', or"),
        ({"first": "a", "second": "a", "verdict": "tie"}, "expected two systems"),
        ({"first": "a", "second": "b", "verdict": "A"}, "field 'verdict' is 'A', expected first, second, tie or null"),
        ({"score": 1, "repeat": "x"}, "field 'repeat' is 'x'"),
    ],
)
def test_what_is_wrong_is_one_line(put, row, says):
    with pytest.raises(ng.InputError) as caught:
        read_verdicts(put("v.jsonl", lines(row)))
    assert says in str(caught.value)


def test_an_empty_file_is_refused(put):
    with pytest.raises(ng.InputError, match="is empty"):
        read_verdicts(put("v.jsonl", ""))


def test_nobody_won(put):
    with pytest.raises(ng.InputError, match="no verdict with a winner"):
        read_verdicts(put("v.jsonl", lines({"system": "a", "score": 1}))).preferences()


def test_scores_serve_as_scores_of_a_metric(put):
    data = ng.read(put("d.jsonl", '{"id": "x", "system": "a", "seg": "1", "hyp": "h"}\n'))
    table = read_verdicts(put("v.jsonl", lines({"system": "a", "score": 4}))).scores()
    assert table.of(data.segments, "J").tolist() == [4]
