from dataclasses import replace

import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.segment import Segment
from nlgauge.core.suite import Pair, Suite
from nlgauge.metrics.nli.dialogue import BertNli
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric
from nlgauge.testing.segments import SEGMENTS

TURNS = ("Do you like snow?", "I love it.", "Why?")


def dialogue(*texts, response="It is white.", name="d"):
    turns = tuple({"speaker": "AB"[i % 2], "text": text} for i, text in enumerate(texts))
    return Segment(name, response, context=turns)


def score(segments, **options):
    return BertNli(**options).score(segments, Runtime(device="cpu"))


def test_the_turns_in_order_are_the_premise_and_the_response_the_hypothesis(told):
    model = told({(" ".join(TURNS), "It is white."): (0.5, 0.25, 0.25), ("Why?", "Because."): (0.25, 0.25, 0.5)})
    found = score([dialogue(*TURNS), dialogue("Why?", response=" Because. ", name="short")])
    assert model.asked == [(" ".join(TURNS), "It is white."), ("Why?", "Because.")]
    assert found.values.tolist() == [0.5, 0.25]
    assert {name: part.tolist() for name, part in found.parts.items()} == {
        "e": [0.5, 0.25],
        "n": [0.25, 0.25],
        "c": [0.25, 0.5],
    }
    assert found.signature.spec == "bert-nli"


@pytest.mark.parametrize(("formula", "value"), [("-c", -0.5), ("e-c", -0.25), ("e-n-2c", -1.0)])
def test_formulas_are_those_of_nli(told, formula, value):
    told({("Why?", "It is white."): (0.25, 0.25, 0.5)})
    assert score([dialogue("Why?")], formula=formula).values.tolist() == [value]


def test_only_the_last_turns_are_read_if_asked_and_blank_ones_do_not_count(told):
    model = told({("I love it. Why?", "It is white."): (1.0, 0.0, 0.0)})
    assert score([dialogue(TURNS[0], TURNS[1], " \u200b", TURNS[2])], turns=2).values.tolist() == [1.0]
    assert model.asked == [("I love it. Why?", "It is white.")]


def test_the_source_may_hold_what_was_said(told):
    told({("Why?", "It is white."): (0.5, 0.25, 0.25)})
    metric = BertNli(anchor="source")
    assert metric.info.needs == {"source"}
    assert metric.score([Segment("s", "It is white.", source="Why?")], Runtime()).values.tolist() == [0.5]


@pytest.mark.parametrize(("formula", "worst"), [("e", 0.0), ("-c", -1.0), ("e-n-2c", -2.0)])
def test_a_blank_side_gets_the_worst_value(told, formula, worst):
    told({})
    found = score([dialogue("Why?", response=""), dialogue(" ", "\n", name="silent")], formula=formula)
    assert found.values.tolist() == [worst, worst]
    assert found.flags["empty"].all()
    assert BertNli(formula=formula).info.range[0] == worst


def test_a_context_that_does_not_fit_loses_its_oldest_turns(tiny_head):
    # Of 32 pieces a frame of special tokens takes 3: 29 are left. Every turn is 6 pieces, the response 9, so that
    # three turns fit (18 + 9 = 27) and a fourth does not.
    model = str(tiny_head())
    turns = [f"the {animal} sat on the mat" for animal in ("cat", "dog", "rain", "snow")]
    response = "the dog sat on the mat not on the"
    whole, three = (score([dialogue(*said, response=response)], model=model) for said in (turns, turns[1:]))
    assert whole.flags["truncated"].tolist() == [True]
    assert three.flags["truncated"].tolist() == [False]
    assert whole.values == pytest.approx(three.values, abs=1e-6)  # float32
    long = dialogue("rain " * 40, response=response)  # a last turn that is too long alone is cut, as by nli
    source = Segment("s", response, source="rain " * 40)
    nli = ng.metric("nli", model=model, anchor="source", direction="forward")
    alike = nli.score([source], Runtime(device="cpu"))
    assert score([long], model=model).values == pytest.approx(alike.values, abs=1e-6)
    assert score([long], model=model).flags["truncated"].all()


def test_a_segment_without_context_is_refused_with_the_way_out():
    with pytest.raises(
        InputError,
        match=r"^bert-nli needs context; segment 's' has none; with what was said before as the source, use"
        r" bert-nli:anchor=source$",
    ):
        score([Segment("s", "Yes", source="Why?")])
    with pytest.raises(SpecError, match=r"^bert-nli:turns=2 changes nothing under anchor=source; leave it out$"):
        BertNli(anchor="source", turns=2)
    with pytest.raises(SpecError, match=r"^bert-nli:turns is 0, "):
        BertNli(turns=0)


@pytest.mark.parametrize("options", [{}, {"turns": 1, "formula": "e-c"}, {"anchor": "source"}])
def test_bert_nli_keeps_the_contract_of_a_metric(tiny_head, options):
    check_metric(BertNli(model=str(tiny_head()), **options), SEGMENTS[:12], Runtime(device="cpu"))


def test_an_audit_scores_the_pairs_that_have_a_context(told):
    told({("Why?", "It is white."): (0.75, 0.25, 0.0), ("Why?", "It is not white."): (0.25, 0.25, 0.5)})
    better, worse = "It is white.", "It is not white."
    pair = Pair(id="1", phenomenon="negation", better=better, worse=worse, context=dialogue("Why?").context)
    suite = Suite((pair, replace(pair, id="2", context=())), "made")
    (row,) = [row for row in ng.audit(suite, metrics="bert-nli").rows if row["phenomenon"] == "negation"]
    assert (row["n"], row["wins"]) == (1, 1)


def test_contexts_in_scripts_that_the_model_does_not_read_are_noted(tiny_head):
    metric = BertNli(model=str(tiny_head(languages="en")))
    with pytest.warns(ng.ScoreWarning, match="Cyrillic"):
        ng.score(ng.Dataset((dialogue("Почему снег белый?"),)), metrics=[metric], runtime=Runtime(device="cpu"))
