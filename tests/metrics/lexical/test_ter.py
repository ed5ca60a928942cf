import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.core.errors import SpecError
from nlgauge.core.segment import Segment
from nlgauge.metrics.lexical.ter import Ter
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric, check_options

EXACT = 1e-9  # whole numbers divided once, in float64

SWITCHES = ("normalized", "no_punct", "asian_support", "case_sensitive")
OPTIONS = [
    options
    for options in ({name: bool(bits >> i & 1) for i, name in enumerate(SWITCHES)} for bits in range(16))
    if options["normalized"] or options["no_punct"] or not options["asian_support"]  # which alone is refused
]

words = st.lists(st.sampled_from(["a", "b", "c", "d", "e."]), max_size=7).map(" ".join)


def one(hypothesis, *references, **options):
    return float(Ter(**options).score([Segment("a", hypothesis, references)], Runtime()).values[0])


def peer(**options):
    return pytest.importorskip("sacrebleu").TER(**options)


# Worked by hand


@pytest.mark.parametrize(
    ("hypothesis", "reference", "edits", "length"),
    [
        ("a b c d", "a b c d", 0, 4),
        ("a x c d", "a b c d", 1, 4),  # one replaced
        ("a c d", "a b c d", 1, 4),  # one missing
        ("a b b c d", "a b c d", 1, 4),  # one too many
        ("c d a b", "a b c d", 1, 4),  # a block moved
        ("d b c a e", "a b c d e", 2, 5),  # two words moved
        ("x y z", "a", 3, 1),  # more edits than words
        ("", "a b c", 3, 3),  # one edit a word
    ],
)
def test_edits_are_counted_per_word_of_the_reference(hypothesis, reference, edits, length):
    assert one(hypothesis, reference) == pytest.approx(100 * edits / length)


def test_of_several_references_the_fewest_edits_count_over_the_mean_length():
    # against "a b c" one edit, against "x y z w v" five; mean length 4
    assert one("a b d", "x y z w v", "a b c") == pytest.approx(100 * 1 / 4)


def test_empty_sides():
    assert one("", "") == 0
    assert one("a b", "") == 100  # two edits for no word: sacrebleu says 100
    assert one("", "a") == 100
    assert one("a", "", "a") == 0
    assert one(" \n", " ") == 0


def test_the_corpus_number_is_edits_over_words():
    rows = [Segment("a", "a x", ("a b",)), Segment("b", "a b c d e f", ("a b c d e f",)), Segment("c", "z", ("",))]
    # 1 + 0 + 1 edits, 2 + 6 + 0 words
    assert Ter().score(rows, Runtime()).system == pytest.approx(100 * 2 / 8)


def test_options_change_what_a_word_is():
    assert one("The CAT", "the cat") == 0
    assert one("The CAT", "the cat", case_sensitive=True) == 100
    assert one("cat.", "cat .") == pytest.approx(100)  # one word against two: replace one, insert one
    assert one("cat.", "cat .", normalized=True) == 0
    assert one("cat.", "cat!") == 100
    assert one("cat.", "cat!", no_punct=True) == 0
    assert one("猫。", "猫！", no_punct=True) == 100  # neither is a mark of Western text
    assert one("猫。", "猫！", no_punct=True, asian_support=True) == 0
    assert one("猫犬", "猫 犬", normalized=True) == 100
    assert one("猫犬", "猫 犬", normalized=True, asian_support=True) == 0


# Parity


@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: "+".join(name for name in SWITCHES if o[name]) or "defaults")
def test_a_corpus_and_its_segments_score_as_in_sacrebleu(corpus, runtime, options):
    found, theirs = Ter(**options).score(corpus.segments, runtime), peer(**options)
    assert found.system == pytest.approx(theirs.corpus_score(corpus.hypotheses, corpus.streams).score, abs=EXACT)
    expected = [theirs.sentence_score(s.hypothesis, list(s.references)).score for s in corpus.segments]
    np.testing.assert_allclose(found.values, expected, rtol=0, atol=EXACT)


def test_translations_score_as_in_sacrebleu(translations, runtime):
    expected = peer().corpus_score(translations.hypotheses[:60], [stream[:60] for stream in translations.streams]).score
    assert Ter().score(translations.segments[:60], runtime).system == pytest.approx(expected, abs=EXACT)


@given(words, st.lists(words, min_size=1, max_size=3))
def test_any_words_score_as_in_sacrebleu(hypothesis, references):
    read = Segment("a", hypothesis, references).references  # it takes a blank text beside others for a reference
    assert one(hypothesis, *references) == pytest.approx(peer().sentence_score(hypothesis, read).score, abs=EXACT)


# Properties


@given(words.filter(str.strip), words.filter(str.strip))
def test_a_copy_needs_no_edit_and_no_text_less_than_the_difference_in_length(text, other):
    assert one(text, text) == 0
    lengths = len(text.split()), len(other.split())
    assert one(text, other) >= 100 * abs(lengths[0] - lengths[1]) / lengths[1] - EXACT
    assert one(text, other) <= 100 * max(lengths) / lengths[1] + EXACT  # shifts are only taken where they save


def test_totals_over_leading_axes_finish_as_one_by_one(corpus, runtime):
    stats = Ter().score(corpus.segments, runtime).stats
    draws = np.random.default_rng(0).multinomial(
        len(stats), np.full(len(stats), 1 / len(stats)), size=(3, 4)
    )  # (3, 4, n)
    totals = np.concatenate([draws @ stats, [[[0, 0], [3, 0], [0, 4], [1, 4]]]])  # (4, 4, 2)
    at_once = Ter().corpus(totals)
    np.testing.assert_array_equal(at_once, [[Ter().corpus(total) for total in row] for row in totals])
    assert at_once[-1].tolist() == [0, 100, 0, 25]


def test_less_is_better_and_blank_sides_are_flagged():
    scores = Ter().score([Segment("a", " ", ("x",)), Segment("b", "x", ("",)), Segment("c", "x", ("", "x"))], Runtime())
    assert not scores.higher_is_better
    assert scores.flags["empty"].tolist() == [True, True, False]


def test_two_empty_texts_are_alike_and_the_note_says_so():
    with pytest.warns(ng.ScoreWarning):
        scores = ng.score(["", "", "!"], ["", "x", "?"], metrics="ter:no_punct=true", guards="off")
    (found,) = scores.values()
    assert found.values.tolist() == [0, 100, 0]
    assert found.flags["both_empty"].tolist() == [True, False, False]
    assert [note.partition("(")[2] for note in found.notes] == [
        "2) have an empty side; they get the worst value",
        "1) have two empty sides; such texts are alike and get the best value",
    ]


@pytest.mark.parametrize(
    "options", [{}, {"normalized": True}, {"no_punct": True}, dict.fromkeys(SWITCHES, True)], ids=str
)
def test_the_contract_holds(options):
    check_metric(Ter(**options))


def test_every_option_is_signed():
    assert check_options(Ter(normalized=True)) == []


def test_an_option_that_would_change_nothing_is_refused():
    with pytest.raises(SpecError, match="asian_support changes nothing without normalized=true or no_punct=true"):
        Ter(asian_support=True)
