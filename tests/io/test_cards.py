from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import nlgauge as ng
from nlgauge.io import Errors, JudgeCard, Prompts, read_card, write_card

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
def test_what_is_wrong_is_one_line(put, change, says):
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
