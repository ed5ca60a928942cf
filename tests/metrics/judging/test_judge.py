from __future__ import annotations

import json
import math
import os

import pytest

import nlgauge as ng
from nlgauge.cli.main import main
from nlgauge.core.metric import signature_of
from nlgauge.core.segment import Segment
from nlgauge.metrics.judging.judge import Judge
from nlgauge.metrics.shipped import check_shipped
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric

TEXTS = [Segment("1", "a b", source="a b c"), Segment("2", "a x", source="a b c"), Segment("3", " ", source="a")]


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr("nlgauge.metrics.judging.endpoint._LONGEST_PAUSE", 0.0)
    monkeypatch.delenv("NLGAUGE_JUDGE_KEY", raising=False)


def judge(server, **options):
    return Judge(url=server.url, model="m", **options)


def test_the_contract_holds(server):
    check_metric(judge(server))


def test_texts_are_rated_and_the_cost_is_counted(server):
    found = judge(server).score(TEXTS, Runtime())
    assert found.values.tolist() == [100, 50, 0]
    assert found.flags["empty"].tolist() == [False, False, True]
    assert found.notes == ("judge: 2 requests, 14 tokens read and 4 written, 0 answers kept before",)
    assert server.seen[0]["temperature"] == 0


@pytest.mark.parametrize("step", [429, 500, "half", b"no json", b"{}", b'{"choices": [{"message": {"content": 3}}]}'])
def test_what_may_pass_is_tried_again(server, step):
    server.plan = [step, step]
    found = judge(server).score(TEXTS[:1], Runtime())
    assert found.values.tolist() == [100]
    assert "3 requests" in found.notes[0]


def test_what_does_not_pass_has_no_score_and_is_counted(server):
    server.plan = [500, 500]
    found = judge(server, attempts=2).score(TEXTS, Runtime())
    assert math.isnan(found.values[0])
    assert found.flags["unanswered"].tolist() == [True, False, False]


def test_a_slow_answer_times_out(server):
    server.plan = ["slow"]
    assert judge(server, timeout=0.2).score(TEXTS[:1], Runtime()).values.tolist() == [100]


@pytest.mark.parametrize(
    "said", ["80", "I say 80", '{"score": 101}', '{"score": "80"}', '{"score": NaN}', '{"score": true}', "[]", ""]
)
def test_another_form_of_answer_has_no_score_and_is_counted(server, said):
    server.plan = [{"say": said}]
    found = judge(server).score(TEXTS[:1], Runtime())
    assert math.isnan(found.values[0])
    assert found.flags["unread"].tolist() == [True]


@pytest.mark.parametrize("status", [302, 400, 401, 404])
def test_a_refusal_ends_the_run_in_one_line(server, status):
    server.plan = [status]
    with pytest.raises(ng.InputError, match=f"answers {status} to a request; check url, model and NLGAUGE_JUDGE_KEY"):
        judge(server).score(TEXTS, Runtime())
    assert len(server.seen) == 1


def test_a_run_that_was_ended_goes_on(server, tmp_path):
    kept = str(tmp_path / "answers.jsonl")
    server.plan = [None, 401]
    with pytest.raises(ng.InputError):
        judge(server, answers=kept).score(TEXTS, Runtime())
    assert judge(server, answers=kept).score(TEXTS, Runtime()).values.tolist() == [100, 50, 0]
    assert len(server.seen) == 3
    assert "0 requests" in judge(server, answers=kept).score(TEXTS, Runtime()).notes[0]


def test_the_key_is_sent_and_stands_nowhere_else(server, tmp_path, monkeypatch):
    monkeypatch.setenv("NLGAUGE_JUDGE_KEY", "geheim-7")
    metric = judge(server, answers=str(tmp_path / "answers.jsonl"))
    found = metric.score(TEXTS, Runtime())
    assert server.keys == ["Bearer geheim-7"] * 2
    assert "geheim" not in f"{found}{found.signature}{signature_of(metric, Runtime())}{found.notes}"
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"geheim" in path.read_bytes()]


def test_where_answers_are_kept_is_not_signed_and_the_prompt_is(server, tmp_path):
    path = tmp_path / "p.txt"
    path.write_text("Rate {hypothesis} against {reference}")
    plain, kept = (str(signature_of(judge(server, **o), Runtime())) for o in ({}, {"answers": str(tmp_path / "a")}))
    assert plain == kept
    own = judge(server, prompt=str(path))
    assert own.info.needs == {"references"}
    assert str(signature_of(own, Runtime())) != plain


def test_texts_are_no_places_of_the_prompt(server):
    assert "<answer>\n{source}\n</answer>" in judge(server).filled(Segment("1", "{source}", source="s"))


def test_marked_errors_are_weighed(server):
    server.plan = [{"say": '{"errors": [{"severity": "minor"}, {"severity": "major"}]}'}, {"say": '{"errors": [{}]}'}]
    values = judge(server, ask="mqm").score(TEXTS[:2], Runtime()).values
    assert values[0] == -6
    assert math.isnan(values[1])


PAIRS = [
    Segment("1", "a b", ("a x",), source="a b c"), Segment("2", "a x", ("a b",), source="a b c"),
    Segment("3", "a", ("b",), source="a b"), Segment("4", "same", ("same",), source="a"),
    Segment("5", " ", ("b",), "b"), Segment("6", "b", ("",), "b"),
]  # fmt: skip


def test_the_contract_holds_for_pairs(server):
    check_metric(judge(server, ask="pair"))


def test_pairs_are_judged_in_both_orders(server):
    found = judge(server, ask="pair").score(PAIRS, Runtime())
    assert found.values.tolist() == [1, 0, 0.5, 0.5, 0, 0]
    assert found.flags["empty"].tolist() == [False] * 4 + [True] * 2
    # the second pair is the first one turned around, whose answers are there; equal texts are a tie, and a blank side
    # has the worst score, unasked
    assert len(server.seen) == 4
    first, second = (asked["messages"][0]["content"] for asked in server.seen[:2])
    assert first.index("a b\n</answer A>") < first.index("a x\n</answer B>")
    assert second.index("a x\n</answer A>") < second.index("a b\n</answer B>")
    assert found.notes == (
        "judge: 4 requests, 28 tokens read and 8 written, 2 answers kept before",
        "judge: 0 of 3 verdicts flip with the order, and the text shown first wins 50% of 4 choices",
    )


def test_a_judge_who_likes_the_first_place_is_seen(server):
    server.plan = [{"say": '{"verdict": "A"}'}] * 4
    metric = judge(server, ask="pair")
    found = metric.score(PAIRS[:2], Runtime())
    assert found.values.tolist() == [0.5, 0.5]
    assert found.flags["flipped"].tolist() == [True, True]
    assert (found.parts["shown_first"].tolist(), found.parts["shown_second"].tolist()) == ([1, 1], [0, 0])
    assert metric.notes[1] == "2 of 2 verdicts flip with the order, and the text shown first wins 100% of 4 choices"


@pytest.mark.parametrize("said", ["A", '{"verdict": "a"}', '{"verdict": "C"}', '{"verdict": 1}', '{"score": 1}', ""])
def test_a_pair_of_which_one_order_is_unread_has_no_score(server, said):
    server.plan = [None, {"say": said}]
    found = judge(server, ask="pair").score(PAIRS[:1], Runtime())
    assert math.isnan(found.values[0])
    assert (found.flags["unread"].tolist(), found.flags["flipped"].tolist()) == ([True], [False])
    assert found.parts["shown_first"].tolist() == [1]


def test_a_pair_without_one_answer_has_no_score(server):
    server.plan = [None, 500, 500]
    found = judge(server, ask="pair", attempts=2).score(PAIRS[:1], Runtime())
    assert math.isnan(found.values[0])
    assert (found.flags["unanswered"].tolist(), found.flags["unread"].tolist()) == ([True], [False])


def test_half_a_pair_is_kept_and_the_rest_asked_later(server, tmp_path):
    kept = str(tmp_path / "answers.jsonl")
    server.plan = [None, 401]
    with pytest.raises(ng.InputError):
        judge(server, ask="pair", answers=kept).score(PAIRS[:1], Runtime())
    found = judge(server, ask="pair", answers=kept).score(PAIRS[:1], Runtime())
    assert (found.values.tolist(), len(server.seen)) == ([1], 3)
    assert "1 requests" in found.notes[0]
    assert "1 answers kept before" in found.notes[0]


def test_a_prompt_of_a_pair_has_both_places(server, tmp_path):
    path = tmp_path / "p.txt"
    path.write_text("{first} or {second}, {hypothesis}? {low}")
    own = judge(server, ask="pair", prompt=str(path))
    assert own.info.needs == {"references"}
    assert own._prompts(Segment("1", "{second}", ("b",)))[0] == "{second} or b, {hypothesis}? {low}"


def test_the_cost_of_all_calls_is_told_and_not_signed(server):
    metric = judge(server, price_in=1, price_out=10.5)
    assert metric.notes == ()
    for segment in TEXTS[:2]:
        metric.score([segment], Runtime())
    # 14 and 4 tokens: (14 + 42) / 1e6
    assert metric.notes == (
        "2 requests, 14 tokens read and 4 written, 0 answers kept before;"
        " they cost 5.6e-05, at 1 and 10.5 for a million tokens",
    )
    assert str(signature_of(metric, Runtime())) == str(signature_of(judge(server), Runtime()))
    server.counts = False
    assert "does not count the tokens of 1 answers" in judge(server).score(TEXTS[:1], Runtime()).notes[0]


def test_the_command_and_the_function_tell_the_cost(server, tmp_path, capsys):
    path, answers = tmp_path / "d.jsonl", tmp_path / "answers.jsonl"
    path.write_text("".join(json.dumps({"id": s.id, "hyp": s.hypothesis, "src": s.source}) + "\n" for s in TEXTS))
    spec = f'judge:url="{server.url}",model=m,answers="{answers}",price_in=1,price_out=1'
    for told in ("2 requests, 14 tokens read and 4 written, 0 answers kept before", "0 requests, 0 tokens read"):
        assert main(["score", str(path), "-m", spec, "--json", str(tmp_path / "r.json")]) == 0
        assert told in capsys.readouterr().out
        assert any(told in note for note in json.loads((tmp_path / "r.json").read_text())["notes"])
    (found,) = ng.score(["a b"], srcs=["a b c"], metrics=spec).values()
    assert "judge: 0 requests, 0 tokens read and 0 written, 1 answers kept before" in found.notes[0]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"ask": "pair", "low": 0}, "low and high are those of"), ({"price_in": 1}, "given together"),
        ({"price_in": 1, "price_out": -1}, "two numbers from 0"), ({"ask": "pair", "prompt": os.devnull}, "has no"),
        ({"url": "ftp://x"}, "url is no address"), ({"url": "https://u:p@x/v1"}, "holds more than an address"),
        ({"url": "https://x/v1?key=3"}, "holds more than an address"), ({"low": 5, "high": 5}, "expected below high"),
        ({"attempts": 0}, "above 0"), ({"prompt": "absent.txt"}, "cannot be read"),
    ],
)  # fmt: skip
def test_wrong_options_are_one_line(options, says):
    with pytest.raises((ng.SpecError, ng.InputError), match=says):
        Judge(**{"url": "https://x/v1", "model": "m", **options})


def test_a_key_goes_over_no_open_line(monkeypatch):
    monkeypatch.setenv("NLGAUGE_JUDGE_KEY", "geheim")
    with pytest.raises(ng.SpecError, match="expected https"):
        Judge(url="http://example.org/v1", model="m")


def test_no_file_may_name_a_judge():
    with pytest.raises(ng.SpecError, match="runs a program or reads a file"):
        check_shipped('judge:url="http://127.0.0.1/v1",model=m')
