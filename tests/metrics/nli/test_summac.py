import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.segment import Segment
from nlgauge.metrics.nli.summac import SummaC
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric
from nlgauge.testing.segments import SEGMENTS

SOURCE, SUMMARY = "One. Two.\nThree.", "First. Second."
TABLE = {
    ("One.", "First."): (0.5, 0.25, 0.25),
    ("Two.", "First."): (0.25, 0.5, 0.25),
    ("Three.", "First."): (0.125, 0.125, 0.75),
    ("One.", "Second."): (0.25, 0.25, 0.5),
    ("Two.", "Second."): (0.75, 0.125, 0.125),
    ("Three.", "Second."): (0.0, 1.0, 0.0),
}


def score(segments, **options):
    return SummaC(**options).score(segments, Runtime(device="cpu"))


@pytest.mark.parametrize(
    ("variant", "value"),
    [
        ("e", 0.625),  # highest e of the two sentences 0.5 and 0.75
        ("c", 0.375),  # highest c 0.75 and 0.5: 1 - 0.625
        ("e-c", 0.0),  # 0.5 - 0.75 and 0.75 - 0.5
    ],
)
def test_two_sentences_against_three_by_hand(told, variant, value):
    told(TABLE)
    found = score([Segment("s", SUMMARY, source=SOURCE)], variant=variant)
    assert found.values.tolist() == [value]
    assert {name: column.tolist() for name, column in found.parts.items()} == {"e": [0.625], "c": [0.625]}


def test_the_source_is_always_the_premise_and_segments_do_not_mix(told):
    model = told({**TABLE, ("Only.", "First."): (1.0, 0.0, 0.0)})
    segments = [
        Segment("1", SUMMARY, source=SOURCE),
        Segment("2", " ", source=SOURCE),
        Segment("3", "First.", source="Only."),
    ]
    found = score(segments)
    assert model.asked == [
        *sorted(TABLE, key=lambda pair: (("One.", "Two.", "Three.").index(pair[0]), pair[1])),
        ("Only.", "First."),
    ]
    assert found.values.tolist() == [0.625, 0.0, 1.0]
    assert found.flags["empty"].tolist() == [False, True, False]


@pytest.mark.parametrize(("variant", "worst"), [("e", 0.0), ("c", 0.0), ("e-c", -1.0)])
def test_an_empty_side_gets_the_worst_value(told, variant, worst):
    told({})
    found = score(
        [Segment("1", "", source=SOURCE), Segment("2", SUMMARY, source="\n"), Segment("3", "", source="")],
        variant=variant,
    )
    assert found.values.tolist() == [worst] * 3
    assert found.flags["empty"].all()
    assert SummaC(variant=variant).info.range[0] == worst


def test_a_sentence_that_is_cut_flags_its_segment(told):
    told(TABLE, long=[("Two.", "Second.")])
    assert score([Segment("s", SUMMARY, source=SOURCE), Segment("t", "First.", source=SOURCE)]).flags[
        "truncated"
    ].tolist() == [True, False]


@pytest.mark.parametrize(("policy", "value"), [("mean", 0.3125), ("best", 0.5)])
def test_against_references_they_are_folded(told, policy, value):
    told(TABLE)
    found = score([Segment("s", "First.", ("One.", "Three."))], anchor="reference", references=policy)
    assert found.values.tolist() == [value]  # of 0.5 and 0.125


def test_what_it_needs_is_what_it_is_held_against():
    assert SummaC().info.needs == {"source"}
    assert SummaC(anchor="reference").info.needs == {"references"}
    with pytest.raises(InputError, match=r"^summac needs source; segment 's' has none$"):
        score([Segment("s", SUMMARY, ("One.",))])


def test_options_off_the_list_are_refused():
    for options, message in (
        ({"variant": "n"}, "^summac:variant is 'n'; "),
        ({"references": "parts"}, "^summac:references is 'parts'; "),
    ):
        with pytest.raises(SpecError, match=message):
            SummaC(**options)


@pytest.mark.parametrize("options", [{}, {"variant": "e-c", "anchor": "reference"}])
def test_summac_keeps_the_contract_of_a_metric(tiny_head, options):
    # A budget of one token judges each pair of sentences alone; the longest segment has hundreds of pairs.
    short = [segment for segment in SEGMENTS if len(segment.source or "") < 400]
    check_metric(SummaC(model=str(tiny_head()), **options), short, Runtime(device="cpu"))


def test_one_sentence_each_is_nli_forward(tiny_head):
    head = tiny_head()
    segments = [Segment("s", "a cat sat on the mat", source="the dog lay on the rug")]
    forward = ng.metric("nli", model=str(head), anchor="source", direction="forward")
    nli = forward.score(segments, Runtime(device="cpu"))
    assert score(segments, model=str(head)).values == pytest.approx(nli.values, abs=1e-6)  # float32


def test_a_text_of_which_the_tokenizer_keeps_nothing_is_empty(tiny_head):
    metric = SummaC(model=str(tiny_head()))
    rows = [Segment("1", "\ufffd", source="The cat sat."), Segment("2", "The cat sat.", source="\ufffd\u0301")]
    found = metric.score([*rows, Segment("3", "A cat.\n\ufffd", source="The cat sat.")], Runtime(device="cpu"))
    assert found.flags["empty"].tolist() == [True, True, False]
    assert found.values[:2].tolist() == [0.0, 0.0]
    alone = metric.score([Segment("3", "A cat.", source="The cat sat.")], Runtime(device="cpu"))
    assert found.values[2] == pytest.approx(alone.values[0], abs=1e-6)  # float32
