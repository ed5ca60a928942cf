"""A judge decides only with a card of its model and its prompt."""

from __future__ import annotations

import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError
from nlgauge.gating.cards import check_cards
from nlgauge.io import JudgeCard, Prompts, write_card
from nlgauge.metrics.judging import Judge

URL = "http://127.0.0.1:9/v1"  # which is never asked
JUDGE = Judge(url=URL, model="m")
NONE: frozenset[str] = frozenset()


@pytest.fixture
def card(tmp_path):
    def made(model="m", prompt=JUDGE.prompt_sha256, **more):
        path = str(tmp_path / f"{model}.{prompt[:4]}.json")
        known = {"n": 40, "label_policy": "two people", "kappa": 0.61, "base_rate": 0.7, "date": "2026-11-01"}
        write_card(path, JudgeCard(model=model, prompt_sha256=prompt, **known, **more))
        return path

    return made


def test_a_card_of_the_judge_is_told(card):
    (note,) = check_cards({"judge": JUDGE, "chrf": ng.metric("chrf")}, NONE, [card()])
    assert note.startswith("judge: kappa 0.61 with people on 40 items, the commonest label has 70% (two people; 2026-")
    assert note.endswith(".json)")


def test_a_card_tells_how_far_the_prompt_decides(card):
    (note,) = check_cards({"judge": JUDGE}, NONE, [card(prompts=Prompts(tried=3, n=40, dependent=10, kappa=0.547))])
    assert note.endswith("; under 3 prompts the label of 25% of 40 items depends on the prompt, kappa 0.55 between two")


@pytest.mark.parametrize("wrong", [{"model": "other"}, {"prompt": "0" * 64}])
def test_a_card_of_another_model_or_prompt_does_not_do(card, wrong):
    with pytest.raises(InputError, match="'judge' has no judge card, expected one with model 'm' and prompt_sha256 '"):
        check_cards({"judge": JUDGE}, NONE, [card(**wrong)])


def test_a_judge_that_is_only_reported_needs_none_and_may_have_one(card):
    assert check_cards({"judge": JUDGE}, frozenset({"judge"}), [card()]) == []


def test_a_card_that_is_of_no_judge_is_named(card):
    with pytest.raises(InputError, match="a card of 'other' with another prompt or model than any judge here"):
        check_cards({"judge": JUDGE}, NONE, [card(), card(model="other")])


def test_a_judge_inside_another_metric_is_refused(card):
    inner = {"guarded(judge)": ng.metric("chrf")}  # the name alone decides
    with pytest.raises(InputError, match="a judge inside another metric has no card"):
        check_cards({**inner, "judge": JUDGE}, NONE, [card()])
