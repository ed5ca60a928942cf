from __future__ import annotations

import gzip
import json
import math
import os
from pathlib import Path

import pytest

import nlgauge as ng
from nlgauge.core.tables import Key
from nlgauge.io import JudgeCard, read_card, read_verdicts, write_card
from nlgauge.io.ratings import Errors, Prompts, read_pairs, read_relative_ranks

SEGMENTS = [ng.Segment(f"{s}{i}", "t", system=s, item=i, group="en-cs") for i in "12" for s in "AB"]


@pytest.mark.parametrize("header", ["LP DATA SID BETTER WORSE", "LP SID BETTER WORSE", "lp data sid better worse"])
def test_relative_ranks_with_and_without_the_name_lost_in_2018(put, header):
    pairs = read_relative_ranks(put("RR-seglevel.csv", f"{header}\nen-cs set 1 A B\nen-cs set 2 B A\n"))
    assert pairs.places(SEGMENTS).tolist() == [[0, 1], [3, 2]]
    assert math.isnan(pairs.pairs[0].margin)
    assert pairs.notes == ()


def test_the_difference_is_the_margin(put):
    content = gzip.compress(b"LP DATA SID BETTER WORSE DIFF\nen-cs set 2 B A 25.5\n")
    pairs = read_relative_ranks(put("a.csv.gz", content))
    assert pairs.places(SEGMENTS).tolist() == [[3, 2]]
    assert pairs.pairs[0].margin == 25.5
    assert pairs.pairs[0].better == Key(None, "B", "2", "en-cs")


def test_repeated_and_contrary_judgements_are_kept_and_told(put):
    lines = ["en-cs s 1 A B", "en-cs s 1 A B", "en-cs s 1 B A"]
    pairs = read_relative_ranks(put("a.csv", "\n".join(["LP DATA SID BETTER WORSE", *lines]) + "\n"))
    assert len(pairs) == 3
    assert pairs.notes == ("a.csv: 1 pair judged again, all kept", "a.csv: 1 pair judged both ways, all kept")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "a.csv is empty: no pair in it"),
        (
            "LP DATA SYSTEM SID HUMAN\n",
            "a.csv:1: header 'LP DATA SYSTEM SID HUMAN', expected 'LP DATA SID BETTER WORSE'",
        ),
        (
            "LP DATA SID BETTER WORSE\nen-cs s 1 A\n",
            "a.csv:2: 4 words, expected LP DATA SID BETTER WORSE and perhaps the difference",
        ),
        ("LP DATA SID BETTER WORSE\nen-cs s 1 A A\n", "a.csv:2: system 'A' is better than itself"),
        ("LP DATA SID BETTER WORSE\nen-cs s 1 A B x\n", "a.csv:2: difference 'x', expected a number or None"),
    ],
)
def test_bad_ranks_are_refused_by_line(put, content, says):
    with pytest.raises(ng.InputError) as error:
        read_relative_ranks(put("a.csv", content))
    assert str(error.value).startswith(says)


def test_pairs_of_ids(put):
    pairs = read_pairs(
        put("a.jsonl", '{"better": "A1", "worse": "B1"}\n{"better_id": "B2", "worse_id": "A2", "margin": 3}\n')
    )
    assert pairs.places(SEGMENTS).tolist() == [[0, 1], [3, 2]]
    assert pairs.pairs[1].margin == 3


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("7", "a.jsonl:1: not an object, expected one with 'better_id' and 'worse_id'"),
        (
            '{"better_id": "a"}',
            "a.jsonl:1: 'better_id' and 'worse_id' must be the ids of two segments; fields found: better_id",
        ),
        ('{"better_id": "a", "worse_id": "a"}', "a.jsonl:1: segment 'a' is better than itself"),
        ('{"better_id": "a", "worse_id": "b", "margin": "x"}', "a.jsonl:1: field 'margin' is 'x', expected a number"),
        ("", "a.jsonl is empty: no pair in it"),
    ],
)
def test_bad_pairs_are_refused(put, line, says):
    with pytest.raises(ng.InputError) as error:
        read_pairs(put("a.jsonl", line + "\n"))
    assert str(error.value).startswith(says)


@pytest.mark.skipif("NLGAUGE_DATA" not in os.environ, reason="NLGAUGE_DATA names no folder with evaluation data")
def test_real_pairs():
    # 199 pairs of 129 distinct outputs: the counts of the data's own page
    folder = Path(os.environ["NLGAUGE_DATA"], "comet-samples")
    data = ng.read(folder / "segments_rank.jsonl.gz")
    pairs = read_pairs(folder / "pairs.jsonl.gz")
    places = pairs.places(data.segments)
    assert (len(data), places.shape) == (129, (199, 2))
    texts = [(data.segments[better], data.segments[worse]) for better, worse in places.tolist()]
    assert all(better.source == worse.source for better, worse in texts)


@pytest.mark.skipif("NLGAUGE_DATA" not in os.environ, reason="NLGAUGE_DATA names no folder with evaluation data")
def test_real_correct_and_incorrect_sentences_pair_by_document(tmp_path):
    # 373 documents with one correct and one incorrect sentence each, as the data's own page says
    data = ng.read(Path(os.environ["NLGAUGE_DATA"], "rank19", "segments.jsonl.gz"))
    lines = [{"better_id": f"{item}|correct", "worse_id": f"{item}|incorrect"} for item in data.items]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    places = read_pairs(tmp_path / "a.jsonl").places(data.segments)
    fact = [segment.human["fact"] for segment in data]
    assert len(places) == 373
    assert all(fact[better] > fact[worse] for better, worse in places.tolist())


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
    assert {row.judge for row in verdicts.rows} == {"J", "K"}


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


CARD = {
    "model": "m-1", "prompt_sha256": "0" * 64, "n": 40, "label_policy": "two people, a third decides", "kappa": 0.6,
    "base_rate": 0.7, "date": "2026-11-01",
    "systems": {"a": Errors(hits=9, positives=10, rejected=7, negatives=8)},
}  # fmt: skip


@pytest.mark.parametrize("kappa", [0.6, -0.1, math.nan])
def test_a_card_is_read_as_it_was_written(put, kappa):
    put("x", "")
    card = JudgeCard(**{**CARD, "kappa": kappa})
    write_card("card.json", card)
    again = read_card("card.json")
    assert again.systems == card.systems
    assert again.kappa == pytest.approx(kappa, nan_ok=True)
    assert "NaN" not in Path("card.json").read_text()


def test_what_other_prompts_say_is_kept_where_it_is_known(put):
    put("x", "")
    for kappa in (0.55, math.nan):
        write_card("card.json", JudgeCard(**CARD, prompts=Prompts(tried=3, n=40, dependent=10, kappa=kappa)))
        found = read_card("card.json").prompts
        assert (found.tried, found.n, found.dependent) == (3, 40, 10)
        assert found.kappa == pytest.approx(kappa, nan_ok=True)
    write_card("card.json", JudgeCard(**CARD))
    assert "prompts" not in json.loads(Path("card.json").read_text())
    assert read_card("card.json").prompts is None


_THREE = {"tried": 3, "n": 40, "dependent": 10, "kappa": 0.55}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"kind": "score"}, "no judge card"), ({"schema": 2}, "schema 2, expected 1"),
        ({"n": 0}, "n is 0, expected a count from 1"), ({"model": " "}, "model is ' ', expected words"),
        ({"prompt_sha256": "x"}, "expected 64 hexadecimal digits"), ({"date": 3}, "date is 3, expected YYYY-MM-DD"),
        ({"base_rate": 10**400}, "expected a number from 0 to 1"),
        ({"kappa": 7}, "kappa is 7, expected a number from -1 to 1"), ({"systems": []}, "systems is no object"),
        ({"systems": {"a": {}}}, "'a' has other fields than hits,"),
        ({"systems": {"a": {"hits": 3, "positives": 2, "rejected": 0, "negatives": 0}}}, "more items than there are"),
        ({"systems": {"a": {"hits": -1, "positives": 2, "rejected": 0, "negatives": 0}}}, "hits is -1"),
        ({"prompts": [3]}, "prompts has other fields than tried, n, dependent, kappa"),
        ({"prompts": {**_THREE, "tried": 1}}, "prompts: tried is 1, expected a count from 2"),
        ({"prompts": {**_THREE, "dependent": 41}}, "prompts: 41 items depend on the prompt, and there are 40"),
        ({"prompts": {**_THREE, "kappa": "high"}}, "prompts: kappa is 'high', expected a number from -1 to 1"),
    ],
)  # fmt: skip
def test_cards_what_is_wrong_is_one_line(put, change, says):
    put("x", "")
    write_card("card.json", JudgeCard(**CARD))
    whole = json.loads(Path("card.json").read_text())
    with pytest.raises(ng.InputError) as caught:
        read_card(put("c.json", json.dumps({**whole, **change})))
    assert says in str(caught.value)
    assert str(caught.value).startswith("c.json: ")


def test_a_missing_field_is_named(put):
    with pytest.raises(ng.InputError, match="field 'model' is missing"):
        read_card(put("c.json", '{"kind": "judge-card", "schema": 1}'))
