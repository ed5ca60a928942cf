import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.segment import Segment
from nlgauge.core.spec import Signature
from nlgauge.metrics.faithful import Claim, Evidence, Faithful, Grounds, Mention, Nearness, Quote, evidence
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
    ("sentence", "runs", "in_order"),
    [
        ("The cats were sitting", 1.0, 1.0),  # stems
        ("the cat sat there", 0.5, 0.75),  # one of two runs; three of four words
        ("A dog lay.", 0.0, 0.0),
        ("cat sat", 1.0, 1.0),  # two words are one run
        ("sat cat", 0.0, 0.5),
        ("sat, were sitting, the cat", 0.0, 0.4),  # two of five, and not four as in a bag
        ("?!", 1.0, 1.0),
        ("", 1.0, 1.0),
    ],
)
def test_the_share_that_is_copied(sentence, runs, in_order):
    assert Grounds("The cat sat. The cat were sitting").copied(sentence).share == (runs + in_order) / 2


def test_nothing_is_copied_from_an_empty_source():
    assert Grounds("").copied("The cat sat on").share == 0.0


TOLD = (
    "The library stays open until June, said Anna Berg on Monday. Heating it costs 14,000 euros a year."
    " It was not damaged in the fire that Tom Wood saw from a boat. The town lost 2 to 1 on March 1."
)


@pytest.mark.parametrize(
    ("sentence", "flaws"),
    [
        ("The library stays open until June, said Anna Berg on Monday.", []),
        ("The library stays open until June.", []),  # shortened
        ("The town's library stays open until June.", []),  # a word put in
        ("On Monday Anna Berg said the library stays open until June.", []),  # clauses that changed places
        ("Heating costs 14,000 euros a year.", []),
        ("The library isn't open in winter.", []),  # no copy: the model judges it
        ("It wasn't damaged in the fire.", []),
        ("Heating it costs 40,000 euros a year.", [("40,000", "number")]),
        ("Heating it costs fourteen thousand euros a year.", []),
        ("The town lost 2 to 2 on March 1.", [("2", "number")]),  # a 2 stands in the passage, and in another place
        ("The library stays open until June, said Ida Brun on Monday.", [("Ida", "name")]),
        ("The library stays open until Monday, said Anna Berg in June.", [("Monday", "name"), ("June", "name")]),
        ("The library does not stay open until June, said Anna Berg.", [("not", "negation")]),
        ("It was damaged in the fire that Tom Wood saw.", [("damaged", "negation")]),
        ("June library Berg until the said Monday open Anna stays on.", [("June", "order")]),
    ],
)
def test_what_a_copy_has_otherwise_than_its_source(sentence, flaws):
    found = Grounds(TOLD).copied(sentence).flaws
    assert [(m.text if m.kind != "order" else m.text.split()[0], m.kind) for m in found] == flaws
    assert all(sentence[m.start : m.end] == m.text for m in found)


@pytest.mark.parametrize(
    ("source", "sentence", "lacks", "flaws"),
    [
        ("It cost $3 billion.", "It cost $3 million.", ["$3 million"], [("$3 million", "number")]),
        ("It cost $3 billion in 2020.", "It cost $3 million in 2020.", ["$3 million"], [("$3 million", "number")]),
        ("The bridge cost 3bn euros.", "The bridge cost 3m euros.", ["3m"], [("3m", "number")]),
        ("The bridge cost 3bn euros.", "The bridge cost 3 billion euros.", [], []),
        ("They paid 3,000 million.", "They paid 3 billion.", [], []),
        ("Some 3-4 million people came.", "Some 3 million people came.", [], []),  # both are millions
        ("They spent between $3 and $4 million.", "They spent more than $3 million.", [], []),
        ("It lost -$3 million.", "It lost $3 million.", [], []),
        ("It opens on 3 May in Rome.", "It opens on 3 June in Rome.", [], [("June", "name")]),
        ("It opens on May 3 in Rome.", "It opens on June 3 in Rome.", [], [("June", "name")]),
        ("It opens on May 3, 2020 in Rome.", "It opens on 3 May 2020 in Rome.", [], []),
        ("The trip took 3 hours.", "The trip took 3 days.", [], [("days", "name")]),
        ("The film is 12 minutes long.", "The film is 12 min long.", [], []),
    ],
)
def test_a_number_has_its_scale_its_month_and_its_unit(source, sentence, lacks, flaws):
    grounds = Grounds(source)
    assert [mention.text for mention in grounds.lacks(sentence)] == lacks
    assert [(mention.text, mention.kind) for mention in grounds.copied(sentence).flaws] == flaws


@pytest.mark.parametrize(
    ("source", "sentence", "flaws"),
    [
        ("Anna Berg and Tom Reed won the race.", "Tom Reed and Anna Berg won the race.", []),
        (
            "Anna Berg beat Tom Reed in the race.",
            "Tom Reed beat Anna Berg in the race.",
            ["Tom Reed beat Anna Berg in the race."],
        ),
        ("They not only build houses but plan a town.", "They built houses and plan a town.", []),
        ("It was only a game for the town.", "It was not only a game for the town.", ["not"]),
        ("Nothing but rain fell all week.", "Only rain fell all week.", []),
        ("Nothing fell from the sky all week.", "Rain fell from the sky all week.", ["fell"]),
        ("He did not win, but she did win.", "He did win, but she did win.", ["win"]),
        ("Troops of the US entered the town.", "Troops of the United States entered the town.", []),
        ("Troops of the U.S. entered the town.", "Troops of the United States entered the town.", []),
        ("Troops of the United States entered the town.", "Troops of the US entered the town.", []),
        ("Troops of the US entered the town.", "Troops of the United Nations entered the town.", ["United"]),
    ],
)
def test_what_says_the_same_is_no_flaw(source, sentence, flaws):
    assert [mention.text for mention in Grounds(source).copied(sentence).flaws] == flaws


def test_a_source_has_a_name_by_its_initials():
    assert lacking("The United States won.", "She told us. The US won.") == []
    assert lacking("The United States won.", "She told us.") == ["United States"]  # a pronoun is no acronym


@given(st.integers(0, 3), st.randoms(use_true_random=False))
def test_a_sentence_of_the_source_has_no_flaw_and_counts_as_copied_whole(place, rng):
    sentences = TOLD.replace("June, ", "June; ").split(". ")
    rng.shuffle(sentences)
    copied = Grounds(". ".join(sentences)).copied(sentences[place])
    assert (copied.share, copied.flaws) == (1.0, ())


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
        Claim(Quote(7, 14, "Second."), 0.24, 0.1, SAID, ()),
        Claim(Quote(15, 21, "Third."), 0.2, 0.7, SAID, ()),
        Claim(Quote(22, 30, "4 Fours."), 0.04, 0.7, SAID, (Mention(22, 23, "4", "number"),)),
    ),
    Signature("faithful", (("metric", "faithful"),)),
)


def test_what_is_unsupported_comes_worst_first():
    assert [claim.sentence.text for claim in FOUND.unsupported()] == ["4 Fours.", "Third.", "Second."]
    assert [claim.sentence.text for claim in FOUND.unsupported(0.1)] == ["4 Fours."]


def test_reasons_by_hand():
    flaw = Mention(0, 4, "Four", "number")
    assert Claim(Quote(0, 4, "Four"), 0.0, 0.1, SAID, (), (flaw,)).reason == "another number in the source than Four"
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
        "0.24  Second.",
        "      not said by the source",
    ]


FAITHFUL_SOURCE, SUMMARY = "The cat sat. The dog ran.\nIt rained in Rome.", "A cat sat. Some dog ran in Oslo."
ONE, TWO, THREE = "The cat sat.", "The dog ran.", "It rained in Rome."
FIRST, SECOND = "A cat sat.", "Some dog ran in Oslo."
TABLE = {
    (ONE, FIRST): (0.75, 0.125, 0.125), (TWO, FIRST): (0.25, 0.5, 0.25), (THREE, FIRST): (0.125, 0.75, 0.125),
    (ONE, SECOND): (0.25, 0.25, 0.5), (TWO, SECOND): (0.5, 0.375, 0.125), (THREE, SECOND): (0.0, 1.0, 0.0),
}  # fmt: skip
BOTH, LAST = FAITHFUL_SOURCE[:25], FAITHFUL_SOURCE[13:]  # sentences side by side
TABLE |= {
    (BOTH, FIRST): (0.75, 0.125, 0.125), (LAST, FIRST): (0.25, 0.5, 0.25),
    (BOTH, SECOND): (0.25, 0.25, 0.5), (LAST, SECOND): (0.5, 0.375, 0.125),
}  # fmt: skip
ALL = {"top": 0, "copied": 0.0, "least": 0.0}


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
    found = score([Segment("s", SUMMARY, source=FAITHFUL_SOURCE)], **{**ALL, **options})
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
    found = score(rows, cap=0.25, copied=0.0)  # the source is one sentence, and read as such twice
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
    rows = [Segment("s", SUMMARY, source=FAITHFUL_SOURCE)]
    assert score(rows, copied=0.0, top=1, cap=1.0, least=0.0).values.tolist() == [0.625]
    # "cat sat" is in the first sentence, "dog ran" in the second; of two, the first have a cat, the last "in"
    assert model.asked == [(ONE, FIRST), (TWO, SECOND), (BOTH, FIRST), (LAST, SECOND)]


def test_two_sentences_count_as_much_as_one(told):
    told({**TABLE, (BOTH, FIRST): (0.25, 0.75, 0.0), (LAST, FIRST): (0.125, 0.875, 0.0)})
    found = score([Segment("s", FIRST, source=FAITHFUL_SOURCE)], top=0, copied=0.0)
    assert found.values.tolist() == [0.5]  # half of 0.75, half of 0.25


def test_what_is_copied_has_its_weight(told):
    told({("The cat sat on a mat.", "A cat sat on a mat."): (0.5, 0.25, 0.25)})
    row = Segment("s", "A cat sat on a mat.", source="The cat sat on a mat.")
    # Three of four runs of three words are in the source, and five of six words in order: of 0.5 and their mean half.
    assert score([row], copied=0.5).values == pytest.approx([(0.5 + (3 / 4 + 5 / 6) / 2) / 2], abs=1e-12)


def test_a_flaw_of_a_copy_weighs_twice_what_a_lacking_name_does(told):
    source = "Anna met Tom in Oslo on Monday."
    claims = (source, "Anna never met Tom in Oslo on Monday.", "Eva met Tom in Oslo on Monday.")
    told({(source, claim): (1.0, 0.0, 0.0) for claim in claims})
    found = score([Segment(claim, claim, source=source) for claim in claims], copied=0.0, cap=0.5)
    # Denied: a quarter. Eva is lacking, and, where capitals do not tell a name, no exchange: a half.
    assert found.values.tolist() == [1.0, 0.25, 0.5]
    assert score([Segment("s", claims[1], source=source)], copied=0.0, cap=1.0).values.tolist() == [1.0]


def test_an_empty_side_gets_the_worst_value(told):
    told({})
    sides = [("", FAITHFUL_SOURCE), (SUMMARY, "\n"), (" ", ""), (".", FAITHFUL_SOURCE), (SUMMARY, "...")]
    found = score([Segment(str(i), hyp, source=src) for i, (hyp, src) in enumerate(sides)])
    assert found.values.tolist() == [0.0] * 5
    assert found.flags["empty"].all()
    assert evidence("", FAITHFUL_SOURCE, Runtime(device="cpu")).claims == ()


def test_an_empty_source_supports_no_sentence(told):
    told({})
    found = evidence(SUMMARY, "", Runtime(device="cpu"))
    assert (found.value, len(found.unsupported())) == (0.0, 2)
    assert [(claim.support, claim.evidence) for claim in found.claims] == [(0.0, Quote(0, 0, ""))] * 2
    assert [claim.reason for claim in found.claims] == ["not supported by the source", "not in the source: Oslo"]


def test_marks_without_words_are_no_sentence(told):
    told({(ONE, ONE): (1.0, 0.0, 0.0)})
    found = score([Segment("1", f"{ONE}\n...\n", source=ONE)])
    assert found.values.tolist() == [1.0]


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
    table = {(ONE, FIRST): (0.25, 0.5, 0.25), (TWO, FIRST): (0.0, 0.125, 0.875), (THREE, FIRST): (0.125, 0.75, 0.125)}
    told({**table, (BOTH, FIRST): (0.0, 0.125, 0.875), (LAST, FIRST): (0.0, 0.5, 0.5)})
    (claim,) = evidence(FIRST, FAITHFUL_SOURCE, Runtime(device="cpu"), Faithful(**ALL)).claims
    assert (claim.evidence.text, claim.reason) == (TWO, "contradicted by the source")


def test_of_two_labels_the_probability_of_supported_is_the_part_of_the_model(tiny_checker):
    # The model gives its second label 3/4, whatever it reads. Of the runs of three words three of four are copied in
    # the first claim and of its words five of six in order; in the second, where 8 stands nowhere in the source, one
    # of four and four of six.
    source = "the cat sat on a mat. Rain fell today."
    rows = [Segment(claim, claim, source=source) for claim in ("a cat sat on a mat.", "a cat sat on 8 mat.")]
    for labels, supported in (("unsupported,supported", 0.75), ("supported,unsupported", 0.25)):
        found = score(rows, model=tiny_checker(*labels.split(",")), copied=0.3)
        copied = 0.7 * supported + 0.3 * (3 / 4 + 5 / 6) / 2
        lacking = 0.1 * (0.7 * supported + 0.3 * (1 / 4 + 4 / 6) / 2)
        assert found.values == pytest.approx([copied, lacking], abs=1e-6)  # float32
        assert found.parts["lacking"].tolist() == [0, 1]
        assert dict(found.signature.entries)["labels"] == labels
        assert not found.flags["nonfinite"].any()


def test_with_two_labels_evidence_says_no_more_than_that_a_claim_is_not_supported(told):
    nan = float("nan")
    passages = {ONE: 0.125, TWO: 0.25, THREE: 0.0, BOTH: 0.25, LAST: 0.0}
    told({(passage, FIRST): (supported, nan, nan) for passage, supported in passages.items()})
    found = evidence(FIRST, FAITHFUL_SOURCE, Runtime(device="cpu"), Faithful(**ALL))
    (claim,) = found.claims
    assert (claim.support, claim.evidence.text) == (0.25, TWO)  # what supports it most
    assert (claim.contradiction, claim.reason) == (None, "not supported by the source")
    assert found.rows()[0]["contradiction"] is None


def test_faithful_keeps_the_contract_with_two_labels(tiny_nli):
    model = str(tiny_nli("bert", ("unsupported", "supported")))
    short = [segment for segment in SEGMENTS if len(segment.source or "") < 400]
    check_metric(Faithful(model=model, top=0), short, Runtime(device="cpu"))


def test_without_a_source_the_error_says_where_it_is_read():
    with pytest.raises(InputError, match=r"^faithful needs source; segment 's' has none; .* field src"):
        score([Segment("s", SUMMARY, ("One.",))])


def test_options_off_their_range_are_refused():
    for options in ({"cap": 2.0}, {"least": -0.1}, {"top": -1}):
        with pytest.raises(SpecError, match=r"^faithful:"):
            Faithful(**options)


def test_it_keeps_the_contract_with_three_labels(tiny_head):
    short = [segment for segment in SEGMENTS if len(segment.source or "") < 400]
    check_metric(Faithful(model=str(tiny_head()), top=0), short, Runtime(device="cpu"))


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


def test_plain_claims_about_a_short_text():
    source = "Anna Berg opened a bakery in Oslo in 2015. It burned down last winter. Nobody was hurt in the fire."
    right = evidence("A bakery in Oslo was opened by Anna Berg.", source)
    wrong = evidence("Anna Berg opened a bakery in Rome in 2012.", source)
    assert right.value > 0.5
    assert wrong.value < 0.1  # the cap
    assert [mention.text for mention in wrong.claims[0].lacking] == ["Rome", "2012"]


def test_two_sentences_that_a_model_cannot_read_together_are_read_apart():
    half = "The ship left the harbour of Oslo" + " early in the morning" * 50 + "."  # 200 words
    row = [
        Segment(
            "s", "The ship left the harbour of Oslo.", source=f"{half} It came back. {half.replace('Oslo', 'Rome')}"
        )
    ]
    found = score(row)
    assert not found.flags["truncated"].any()
    assert found.values[0] > 0.5
