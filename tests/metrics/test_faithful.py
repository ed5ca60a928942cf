from importlib.resources import files
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.segment import Segment
from nlgauge.core.spec import Signature
from nlgauge.metrics.faithful import Claim, Evidence, Faithful, Grounds, Mention, Nearness, Quote, evidence, windows
from nlgauge.models.heads import find_head
from nlgauge.perturbations.perturb import PERTURBATIONS
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric
from nlgauge.testing.metric import SEGMENTS

SOURCE = (
    "Paul Merson wrote for the BBC on May 29, 1943 . The United Nations sent 3 , 500 people to Spain's north, a"
    " 19-year-old said. America paid $1.5 million, 12% of it in two parts. José lives in Zürich."
)


def lacking(sentence, source=SOURCE):
    return [mention.text for mention in Grounds(source).lacks(sentence)]


@pytest.mark.parametrize(
    "sentence",
    [
        "The UN sent 3,500 people.",  # initials; a number as tokenised texts have it
        "He earned three thousand five hundred dollars.",
        "She is nineteen, says Merson.",
        "The Spanish and the American team met.",  # other forms of names
        "Mr Paul Merson's column of 1943 was in the BBC.",
        "Jose went to Zurich.",  # without marks
        "It was 12 percent, or 1.5 million.",
        "It was 1.5M, and two of the 12% are from 1943-05-29.",
        "nothing here is a name or a number",
        "",
    ],
)
def test_what_stands_in_the_source_has_ground(sentence):
    assert lacking(sentence) == []


def test_what_does_not_is_named_in_order_with_its_place():
    sentence = "Paul Merson left Italy in 1946 with 14 friends of Anna Smith."
    found = Grounds(SOURCE).lacks(sentence)
    assert [(m.text, m.kind) for m in found] == [
        ("Italy", "name"),
        ("1946", "number"),
        ("14", "number"),
        ("Anna Smith", "name"),
    ]
    assert all(sentence[m.start : m.end] == m.text for m in found)


def test_a_name_needs_ground_for_each_of_its_words():
    assert lacking("We met Paul Smith.") == ["Paul Smith"]


def test_an_empty_source_gives_none():
    assert lacking("Rain fell on Paris in 2010.", "") == ["Paris", "2010"]


def test_numbers_are_found_in_a_source_in_another_script():
    assert lacking("It cost 30 pounds.", "これは30ポンドでした。") == []


@pytest.mark.parametrize(
    ("sentence", "share"),
    [
        ("The cats were sitting", 1.0),  # stems
        ("the cat sat there", 0.5),  # one of two runs
        ("A dog lay.", 0.0),
        ("cat sat", 1.0),  # two words are one run
        ("sat cat", 0.0),
        ("?!", 1.0),
        ("", 1.0),
    ],
)
def test_the_share_that_is_copied(sentence, share):
    assert Grounds("The cat sat. The cat were sitting").copied(sentence) == share


def test_nothing_is_copied_from_an_empty_source():
    assert Grounds("").copied("The cat sat on") == 0.0


def test_windows_overlap_by_a_sentence_by_hand():
    # room 6: 2 + 3, then 3 + 3, then 3 + 1; 9 alone though too long; 1 beside it would be too much
    assert windows([2, 3, 3, 1, 9, 1], 6) == [(0, 2), (1, 3), (2, 4), (4, 5), (5, 6)]
    assert windows([2, 3], 1) == [(0, 1), (1, 2)]
    assert windows([], 5) == []


@given(st.lists(st.integers(0, 12), max_size=20), st.integers(1, 15))
def test_windows_leave_nothing_out_and_overfill_only_by_one_sentence(sizes, room):
    found = windows(sizes, room)
    assert {i for start, end in found for i in range(start, end)} == set(range(len(sizes)))
    assert all(end == start + 1 or sum(sizes[start:end]) <= room for start, end in found)
    assert all(before < after for before, after in pairwise(found))  # each begins and ends later


PASSAGES = ["The cat sat on the mat.", "A dog barked at the cats.", "It rained.", "The mat was wet."]


def test_the_nearest_share_the_rarest_words():
    # "cat" is in two of four passages, log 3; "mat" in two; "the" in three, log 7/3; "dogs" in one, log 5
    near = Nearness(PASSAGES)
    assert near.nearest("the cat", 2) == [0, 1]  # both log 3 + log 7/3
    assert near.nearest("dogs", 1) == [1]
    assert near.nearest("the mat", 2) == [0, 3]
    assert near.nearest("dogs on the mat", 2) == [0, 1]  # 0: log 5 + log 7/3 + log 3; 1: log 5 + log 7/3; 3: without


def test_all_are_near_where_no_word_is_shared_or_few_passages_are_there():
    near = Nearness(PASSAGES)
    assert near.nearest("elephants", 1) == [0, 1, 2, 3]
    assert near.nearest("", 1) == [0, 1, 2, 3]
    assert near.nearest("dogs", 4) == [0, 1, 2, 3]
    assert Nearness([]).nearest("dogs", 3) == []


def test_words_of_other_scripts_are_shared_too():
    near = Nearness(["猫がいる。", "犬がいる。", "雨が降る。"])
    assert near.nearest("犬", 1) == [1]


SAID = Quote(0, 4, "One.")
FOUND = Evidence(
    0.5,
    (
        Claim(Quote(0, 6, "First."), 0.9, 0.05, SAID, ()),
        Claim(Quote(7, 14, "Second."), 0.3, 0.1, SAID, ()),
        Claim(Quote(15, 21, "Third."), 0.2, 0.7, SAID, ()),
        Claim(Quote(22, 30, "4 Fours."), 0.04, 0.7, SAID, (Mention(22, 23, "4", "number"),)),
    ),
    Signature("faithful", (("metric", "faithful"),)),
)


def test_what_is_unsupported_comes_worst_first():
    assert [claim.sentence.text for claim in FOUND.unsupported()] == ["4 Fours.", "Third.", "Second."]
    assert [claim.sentence.text for claim in FOUND.unsupported(0.1)] == ["4 Fours."]


def test_reasons_by_hand():
    assert [claim.reason for claim in FOUND.claims[1:]] == [
        "not said by the source",
        "contradicted by the source",
        "not in the source: 4",
    ]


def test_rows_and_lines():
    rows = FOUND.rows()
    assert [row["reason"] for row in rows] == [
        None,
        "not said by the source",
        "contradicted by the source",
        "not in the source: 4",
    ]
    assert rows[3] == {
        "start": 22,
        "end": 30,
        "sentence": "4 Fours.",
        "support": 0.04,
        "contradiction": 0.7,
        "evidence": "One.",
        "lacking": ["4"],
        "reason": "not in the source: 4",
    }
    assert str(FOUND).splitlines()[:5] == [
        "0.500",
        "0.90  First.",
        "      evidence: One.",
        "0.30  Second.",
        "      not said by the source",
    ]


FAITHFUL_SOURCE, SUMMARY = "The cat sat. The dog ran.\nIt rained in Rome.", "A cat sat. Some dog ran in Oslo."
ONE, TWO, THREE = "The cat sat.", "The dog ran.", "It rained in Rome."
FIRST, SECOND = "A cat sat.", "Some dog ran in Oslo."
TABLE = {
    (ONE, FIRST): (0.75, 0.125, 0.125), (TWO, FIRST): (0.25, 0.5, 0.25), (THREE, FIRST): (0.125, 0.75, 0.125),
    (ONE, SECOND): (0.25, 0.25, 0.5), (TWO, SECOND): (0.5, 0.375, 0.125), (THREE, SECOND): (0.0, 1.0, 0.0),
}  # fmt: skip
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
    found = score([Segment("s", SUMMARY, source=FAITHFUL_SOURCE)], **ALL, **options)
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
        Segment("1", SUMMARY, source=FAITHFUL_SOURCE),
        Segment("2", FIRST, source=FAITHFUL_SOURCE),
        Segment("3", SECOND, source=ONE),
    ]
    found = score(segments, **ALL, cap=1.0)
    assert sorted(set(model.asked)) == sorted(TABLE)
    assert found.values.tolist() == [0.625, 0.75, 0.25]


def test_only_the_nearest_passages_are_read(told):
    model = told(TABLE)
    assert score(
        [Segment("s", SUMMARY, source=FAITHFUL_SOURCE)], context=0.0, copied=0.0, top=1, cap=1.0
    ).values.tolist() == [0.625]
    # "cat sat" is in the first sentence, "dog ran" in the second
    assert model.asked == [(ONE, FIRST), (TWO, SECOND)]


def test_windows_hold_whole_sentences_as_written_and_have_their_weight(told):
    # The stand-in reads each sentence as one piece, so two fit into a window, and the second opens the next one.
    first, second = (FAITHFUL_SOURCE[:25], FIRST), (FAITHFUL_SOURCE[13:], FIRST)
    model = told({**TABLE, first: (0.25, 0.75, 0.0), second: (0.125, 0.875, 0.0)})
    found = score([Segment("s", FIRST, source=FAITHFUL_SOURCE)], window=2, top=0, context=0.25, copied=0.0)
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
    rows = [Segment("1", "", source=FAITHFUL_SOURCE), Segment("2", SUMMARY, source="\n"), Segment("3", " ", source="")]
    found = score(rows)
    assert found.values.tolist() == [0.0] * 3
    assert found.flags["empty"].all()
    assert evidence("", FAITHFUL_SOURCE, Runtime(device="cpu")).claims == ()


def test_a_pair_that_is_cut_flags_its_segment(told):
    told(TABLE, long=[(TWO, SECOND)])
    rows = [Segment("s", SUMMARY, source=FAITHFUL_SOURCE), Segment("t", FIRST, source=FAITHFUL_SOURCE)]
    assert score(rows, **ALL).flags["truncated"].tolist() == [True, False]


def test_evidence_by_hand(told):
    told(TABLE)
    found = evidence(SUMMARY, FAITHFUL_SOURCE, Runtime(device="cpu"), Faithful(**ALL, cap=0.5))
    assert found.value == 0.5
    first, second = found.claims
    assert (first.support, first.contradiction, first.evidence.text) == (0.75, 0.125, ONE)
    # Supported by half, which counts; and the second sentence of the source says it.
    assert (second.support, second.evidence.text) == (0.25, TWO)
    assert [SUMMARY[c.sentence.start : c.sentence.end] for c in found.claims] == [FIRST, SECOND]
    assert SUMMARY[second.lacking[0].start : second.lacking[0].end] == "Oslo"
    assert FAITHFUL_SOURCE[second.evidence.start : second.evidence.end] == TWO


def test_evidence_comes_from_the_cache_as_it_was_found(told, tmp_path):
    told(TABLE)
    asked = (SUMMARY, FAITHFUL_SOURCE)
    first = evidence(*asked, Runtime(device="cpu", cache=tmp_path / "c.sqlite"), Faithful(**ALL, cap=0.5))
    told({})  # a model that is asked now fails
    assert evidence(*asked, Runtime(device="cpu", cache=tmp_path / "c.sqlite"), Faithful(**ALL, cap=0.5)) == first
    for other in ((SUMMARY, FAITHFUL_SOURCE + " More."), (FIRST, FAITHFUL_SOURCE)):
        with pytest.raises(KeyError):
            evidence(*other, Runtime(device="cpu", cache=tmp_path / "c.sqlite"), Faithful(**ALL, cap=0.5))
    with pytest.raises(KeyError):
        evidence(*asked, Runtime(device="cpu", cache=tmp_path / "c.sqlite"), Faithful(**ALL, cap=0.4))


def test_what_contradicts_is_shown_where_nothing_supports(told):
    told({(ONE, FIRST): (0.25, 0.5, 0.25), (TWO, FIRST): (0.0, 0.125, 0.875), (THREE, FIRST): (0.125, 0.75, 0.125)})
    (claim,) = evidence(FIRST, FAITHFUL_SOURCE, Runtime(device="cpu"), Faithful(**ALL)).claims
    assert (claim.evidence.text, claim.reason) == (TWO, "contradicted by the source")


def test_of_two_labels_the_probability_of_supported_is_the_part_of_the_model(tiny_checker):
    # The model gives its second label 3/4, whatever it reads, by sentences and by windows. Of the runs of three words
    # three of four are copied in the first claim, one of four in the second, where 8 stands nowhere in the source.
    source = "the cat sat on a mat. Rain fell today."
    rows = [Segment(claim, claim, source=source) for claim in ("a cat sat on a mat.", "a cat sat on 8 mat.")]
    for labels, supported in (("unsupported,supported", 0.75), ("supported,unsupported", 0.25)):
        found = score(rows, model=tiny_checker(*labels.split(",")))
        copied, lacking = 0.7 * supported + 0.3 * 0.75, 0.1 * (0.7 * supported + 0.3 * 0.25)
        assert found.values == pytest.approx([copied, lacking], abs=1e-6)  # float32
        assert found.parts["lacking"].tolist() == [0, 1]
        assert dict(found.signature.entries)["labels"] == labels
        assert not found.flags["nonfinite"].any()


def test_with_two_labels_evidence_says_no_more_than_that_a_claim_is_not_supported(told):
    nan = float("nan")
    told({(ONE, FIRST): (0.125, nan, nan), (TWO, FIRST): (0.25, nan, nan), (THREE, FIRST): (0.0, nan, nan)})
    found = evidence(FIRST, FAITHFUL_SOURCE, Runtime(device="cpu"), Faithful(**ALL))
    (claim,) = found.claims
    assert (claim.support, claim.evidence.text) == (0.25, TWO)  # what supports it most
    assert (claim.contradiction, claim.reason) == (None, "not supported by the source")
    assert found.rows()[0]["contradiction"] is None


def test_faithful_keeps_the_contract_with_two_labels(tiny_nli):
    model = str(tiny_nli("bert", ("unsupported", "supported")))
    short = [segment for segment in SEGMENTS if len(segment.source or "") < 400]
    check_metric(Faithful(model=model, window=30, top=0), short, Runtime(device="cpu"))


def test_without_a_source_the_error_says_where_it_is_read():
    with pytest.raises(InputError, match=r"^faithful needs source; segment 's' has none; .* field src"):
        score([Segment("s", SUMMARY, ("One.",))])


def test_options_off_their_range_are_refused():
    for options in ({"cap": 2.0}, {"least": -0.1}, {"window": 0}, {"top": -1}):
        with pytest.raises(SpecError, match=r"^faithful:"):
            Faithful(**options)


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
