from importlib.resources import files

import numpy as np
import pytest

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.segment import Segment
from nlgauge.metrics.nli.faithful import Faithful, evidence
from nlgauge.models.heads import find_head
from nlgauge.perturbations.registry import PERTURBATIONS
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric
from nlgauge.testing.segments import SEGMENTS

SOURCE, SUMMARY = "The cat sat. The dog ran.\nIt rained in Rome.", "A cat sat. Some dog ran in Oslo."
ONE, TWO, THREE = "The cat sat.", "The dog ran.", "It rained in Rome."
FIRST, SECOND = "A cat sat.", "Some dog ran in Oslo."
TABLE = {
    (ONE, FIRST): (0.75, 0.125, 0.125),
    (TWO, FIRST): (0.25, 0.5, 0.25),
    (THREE, FIRST): (0.125, 0.75, 0.125),
    (ONE, SECOND): (0.25, 0.25, 0.5),
    (TWO, SECOND): (0.5, 0.375, 0.125),
    (THREE, SECOND): (0.0, 1.0, 0.0),
}
ALL = {"context": 0.0, "top": 0, "copied": 0.0}


def score(segments, **options):
    return Faithful(**options).score(segments, Runtime(device="cpu"))


@pytest.mark.parametrize(
    ("options", "value"),
    [
        ({"cap": 1.0}, 0.625),  # the highest are 0.75 and 0.5
        ({"cap": 0.5}, 0.5),  # Oslo is not in the source: 0.5 x 0.5 beside 0.75
        ({"cap": 0.0}, 0.375),
        ({"cap": 0.5, "least": 1.0}, 0.25),
        ({"cap": 0.5, "least": 0.5}, 0.375),  # half of 0.5, half of 0.25
    ],
)
def test_two_sentences_against_three_by_hand(told, options, value):
    told(TABLE)
    found = score([Segment("s", SUMMARY, source=SOURCE)], **ALL, **options)
    assert found.values.tolist() == [value]
    assert found.parts["lacking"].tolist() == [1]
    second = 0.5 * options["cap"]
    assert found.parts["mean"].tolist() == [(0.75 + second) / 2]
    assert found.parts["least"].tolist() == [second]


def test_a_name_that_the_source_lacks_caps_and_is_the_reason(told):
    told({(ONE, claim): (1.0, 0.0, 0.0) for claim in ("A cat sat.", "A cat sat in Oslo.", "3 cats sat.")})
    rows = [
        Segment(str(i), text, source=ONE) for i, text in enumerate(("A cat sat.", "A cat sat in Oslo.", "3 cats sat."))
    ]
    found = score(rows, cap=0.25, copied=0.0)  # the source is one sentence, which is its only window, too
    assert found.values.tolist() == [1.0, 0.25, 0.25]
    (claim,) = evidence("A cat sat in Oslo.", ONE, Runtime(device="cpu")).claims
    assert (claim.reason, claim.lacking[0].kind) == ("not in the source: Oslo", "name")


def test_each_pair_is_asked_once_and_segments_do_not_mix(told):
    model = told(TABLE)
    segments = [
        Segment("1", SUMMARY, source=SOURCE),
        Segment("2", FIRST, source=SOURCE),
        Segment("3", SECOND, source=ONE),
    ]
    found = score(segments, **ALL, cap=1.0)
    assert sorted(set(model.asked)) == sorted(TABLE)
    assert found.values.tolist() == [0.625, 0.75, 0.25]


def test_only_the_nearest_passages_are_read(told):
    model = told(TABLE)
    assert score([Segment("s", SUMMARY, source=SOURCE)], context=0.0, copied=0.0, top=1, cap=1.0).values.tolist() == [
        0.625
    ]
    # "cat sat" is in the first sentence, "dog ran" in the second
    assert model.asked == [(ONE, FIRST), (TWO, SECOND)]


def test_windows_hold_whole_sentences_as_written_and_have_their_weight(told):
    # The stand-in reads each sentence as one piece, so two fit into a window, and the second opens the next one.
    first, second = (SOURCE[:25], FIRST), (SOURCE[13:], FIRST)
    model = told({**TABLE, first: (0.25, 0.75, 0.0), second: (0.125, 0.875, 0.0)})
    found = score([Segment("s", FIRST, source=SOURCE)], window=2, top=0, context=0.25, copied=0.0)
    assert model.asked == [*((one, FIRST) for one in (ONE, TWO, THREE)), first, second]
    assert found.values.tolist() == [0.625]  # three quarters of 0.75, a quarter of 0.25


def test_what_is_copied_has_its_weight(told):
    told({("The cat sat on a mat.", "A cat sat on a mat."): (0.5, 0.25, 0.25)})
    row = Segment("s", "A cat sat on a mat.", source="The cat sat on a mat.")
    # Three of four runs of three words are in the source: half of 0.5, half of 0.75.
    assert score([row], context=0.0, copied=0.5).values.tolist() == [0.625]


def test_which_model_reads_the_windows():
    def wide(**options):
        return Faithful(**options).facts(Runtime(device="cpu")).get("wide")

    assert wide() == wide(model="nli") == "faithful"
    assert Faithful(model="nli-base")._wide.model == Faithful(model="nli-robust-base")._wide.model == "faithful-base"
    assert Faithful(model="faithful-base")._wide.model == "faithful-base"  # the same network, read once
    assert wide(wide="nli") == "nli"
    assert wide(context=0.0) is None
    assert Faithful(model="x/y")._wide.model == "x/y"  # of another language, perhaps


def test_an_empty_side_gets_the_worst_value(told):
    told({})
    rows = [Segment("1", "", source=SOURCE), Segment("2", SUMMARY, source="\n"), Segment("3", " ", source="")]
    found = score(rows)
    assert found.values.tolist() == [0.0] * 3
    assert found.flags["empty"].all()
    assert evidence("", SOURCE, Runtime(device="cpu")).claims == ()


def test_a_pair_that_is_cut_flags_its_segment(told):
    told(TABLE, long=[(TWO, SECOND)])
    rows = [Segment("s", SUMMARY, source=SOURCE), Segment("t", FIRST, source=SOURCE)]
    assert score(rows, **ALL).flags["truncated"].tolist() == [True, False]


def test_evidence_by_hand(told):
    told(TABLE)
    found = evidence(SUMMARY, SOURCE, Runtime(device="cpu"), Faithful(**ALL, cap=0.5))
    assert found.value == 0.5
    first, second = found.claims
    assert (first.support, first.contradiction, first.evidence.text) == (0.75, 0.125, ONE)
    # Supported by half, which counts; and the second sentence of the source says it.
    assert (second.support, second.evidence.text) == (0.25, TWO)
    assert [SUMMARY[c.sentence.start : c.sentence.end] for c in found.claims] == [FIRST, SECOND]
    assert SUMMARY[second.lacking[0].start : second.lacking[0].end] == "Oslo"
    assert SOURCE[second.evidence.start : second.evidence.end] == TWO


def test_what_contradicts_is_shown_where_nothing_supports(told):
    told({(ONE, FIRST): (0.25, 0.5, 0.25), (TWO, FIRST): (0.0, 0.125, 0.875), (THREE, FIRST): (0.125, 0.75, 0.125)})
    (claim,) = evidence(FIRST, SOURCE, Runtime(device="cpu"), Faithful(**ALL)).claims
    assert (claim.evidence.text, claim.reason) == (TWO, "contradicted by the source")


def test_without_a_source_the_error_says_where_it_is_read():
    with pytest.raises(InputError, match=r"^faithful needs source; segment 's' has none; .* field src"):
        score([Segment("s", SUMMARY, ("One.",))])


def test_options_off_their_range_are_refused():
    for options in ({"cap": 2.0}, {"least": -0.1}, {"window": 0}, {"top": -1}):
        with pytest.raises(SpecError, match=r"^faithful:"):
            Faithful(**options)


def test_faithful_keeps_the_contract_of_a_metric(tiny_head):
    check_metric(Faithful(model=str(tiny_head())), SEGMENTS, Runtime(device="cpu"))


def test_windows_keep_the_contract_too(tiny_head):
    short = [segment for segment in SEGMENTS if len(segment.source or "") < 400]
    check_metric(Faithful(model=str(tiny_head()), window=30, top=0, least=0.5), short, Runtime(device="cpu"))


def test_a_source_of_a_thousand_words_and_one_in_another_script(tiny_head):
    long = " ".join(f"The cat sat on mat number {i} of the house." for i in range(100))
    rows = [
        Segment("long", "The cat sat on mat number 7 of the house. A dog lay.", source=long),
        Segment("script", "A cat sat.", source="猫がマットの上に座った。犬がいた。"),
        Segment("one", "A cat sat.", source="The cat sat on the mat"),
    ]
    metric = Faithful(model=str(tiny_head()))
    together = metric.score(rows, Runtime(device="cpu"))
    alone = [metric.score([row], Runtime(device="cpu", token_budget=1)).values[0] for row in rows[::-1]]
    assert np.allclose(together.values, alone[::-1], atol=1e-6, equal_nan=True)
    assert together.flags["unknown"].tolist() == [False, True, False]


def test_the_larger_encoder_takes_its_own_head():
    from nlgauge.metrics.registry import named

    larger = next(iter(named(["faithful"], "base").values()))
    assert (larger.model, larger._wide.model) == ("nli-robust-base", "faithful-base")
    assert ng.metric("faithful").info.needs == {"source"}


def test_the_head_of_the_windows_is_small_and_says_where_it_is_from():
    head = find_head("faithful", "nli")
    assert head.path.stat().st_size <= 2_700_000
    assert head.get("recipe") == "recipes/faithful"
    assert "CC BY-SA 4.0" in head.get("data")
    card = files("nlgauge.data").joinpath("heads", "faithful.md").read_text(encoding="utf-8")
    for phenomenon in head.items("trained_on_phenomena"):
        PERTURBATIONS.lookup(phenomenon)
        assert phenomenon in card
    assert set(Faithful().trained_on) == set(head.items("trained_on_phenomena"))


def test_plain_claims_about_a_short_text():
    source = "Anna Berg opened a bakery in Oslo in 2015. It burned down last winter. Nobody was hurt in the fire."
    right = evidence("A bakery in Oslo was opened by Anna Berg.", source)
    wrong = evidence("Anna Berg opened a bakery in Rome in 2012.", source)
    assert right.value > 0.5
    assert wrong.value < 0.1  # the cap
    assert [mention.text for mention in wrong.claims[0].lacking] == ["Rome", "2012"]


def test_a_window_is_never_larger_than_its_model_reads_whatever_is_asked_for():
    source = " ".join(f"The {n}th ship left the harbour of Oslo early in the morning." for n in range(60))
    row = [Segment("s", "The 4th ship left the harbour of Oslo.", source=source)]
    wide = Faithful(window=5000)
    room = wide._wide.loaded(Runtime(device="cpu")).tokenizer.room
    assert len(source.split()) > room  # one window of all would be cut
    assert not score(row, window=5000).flags["truncated"].any()
