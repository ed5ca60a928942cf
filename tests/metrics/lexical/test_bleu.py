import math
from importlib import metadata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import signature_of
from nlgauge.core.scores import join
from nlgauge.core.segment import Segment
from nlgauge.metrics.lexical.bleu import Bleu
from nlgauge.metrics.registry import metric
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import SEGMENTS, check_metric, check_options

EXACT = 1e-9  # float64; sums of logarithms in another order than sacrebleu's

OPTIONS = [
    {},
    {"lowercase": True},
    *({"tokenize": name} for name in ("none", "zh", "13a", "intl", "char")),
    *({"smooth_method": name} for name in ("none", "floor", "add-k", "exp")),
    {"smooth_method": "floor", "smooth_value": 0.0},
    {"smooth_method": "floor", "smooth_value": 1.0},
    {"smooth_method": "add-k", "smooth_value": 0},
    {"smooth_method": "add-k", "smooth_value": 2.5},
    *({"max_ngram_order": order} for order in (1, 2, 3, 7)),
    {"trg_lang": "zh"},
    {"trg_lang": "de"},
    {"lowercase": True, "tokenize": "intl", "smooth_method": "add-k", "smooth_value": 0.5, "max_ngram_order": 5},
]

words = st.lists(st.sampled_from(["the", "cat", "sat", "on", "a", "mat", ".", "Ünder", "猫", "🚢"]), max_size=9).map(
    " ".join
)


def one(hypothesis, *references, **options):
    return float(Bleu(**options).score([Segment("a", hypothesis, references)], Runtime()).values[0])


def peer(**options):
    return pytest.importorskip("sacrebleu").BLEU(**options)


# Worked by hand


def test_a_word_counts_no_more_often_than_in_one_reference():
    # the example of Papineni et al., section 2.1: seven "the", of which "the cat is on the mat" holds two; no shorter
    # than the reference
    assert one(
        "the the the the the the the", "the cat is on the mat", "there is a cat on the mat", max_ngram_order=1
    ) == pytest.approx(100 * 2 / 7)


def test_counts_are_clipped_by_the_reference_that_has_most():
    # "a" stands twice in the second reference, "b" twice in the first: all four match though no reference has them all
    assert one("a a b b", "b b c c", "a a d d", max_ngram_order=1) == pytest.approx(100)


def test_a_short_hypothesis_pays_for_its_length():
    # all three words match: exp(1 - 4/3)
    assert one("a b c", "a b c d", max_ngram_order=1) == pytest.approx(100 * math.exp(-1 / 3))


def test_length_is_held_against_the_closest_reference_and_the_shorter_of_two_as_close():
    # three words; the references have 2 and 4 (as close: 2 counts, no penalty), then 4 and 9 (4 counts)
    assert one("a b c", "a b", "a b c d", max_ngram_order=1) == pytest.approx(100)
    assert one("a b c", "a b c d e f g h i", "a b c d", max_ngram_order=1) == pytest.approx(100 * math.exp(-1 / 3))


@pytest.mark.parametrize(
    ("options", "precisions"),
    [
        # "a b c d" against "a b x d": 3 of 4 words, 1 of 3 pairs, 0 of 2 triples, 0 of 1
        ({"smooth_method": "exp"}, [3 / 4, 1 / 3, 1 / (2 * 2), 1 / (4 * 1)]),
        ({"smooth_method": "floor"}, [3 / 4, 1 / 3, 0.1 / 2, 0.1 / 1]),
        ({"smooth_method": "floor", "smooth_value": 0.5}, [3 / 4, 1 / 3, 0.5 / 2, 0.5 / 1]),
        ({"smooth_method": "add-k"}, [3 / 4, 2 / 4, 1 / 3, 1 / 2]),
        ({"smooth_method": "add-k", "smooth_value": 2}, [3 / 4, 3 / 5, 2 / 4, 2 / 3]),
        ({"smooth_method": "none"}, [0]),
        ({"smooth_method": "none", "max_ngram_order": 2}, [3 / 4, 1 / 3]),
    ],
)
def test_smoothing_is_as_published(options, precisions):
    assert one("a b c d", "a b x d", **options) == pytest.approx(100 * math.prod(precisions) ** (1 / len(precisions)))


def test_orders_longer_than_a_segment_are_left_out_of_it_but_not_of_the_corpus():
    short = Segment("a", "a b", ("a b",))
    assert Bleu().score([short], Runtime()).values[0] == pytest.approx(100)  # orders 1 and 2
    assert Bleu().score([short], Runtime()).system == 0  # orders 3 and 4 produced nothing
    assert one("a b", "a b", effective_order=False) == 0
    assert Bleu(effective_order=True).score([short], Runtime()).system == pytest.approx(100)


def test_the_corpus_number_is_made_of_summed_counts_or_of_segments():
    pair = [Segment("a", "a b", ("a b",)), Segment("b", "a b c d", ("x b y z",))]
    # of six words three match, of five longer n-grams (3 + 2 pairs and so on) the one pair: orders 1 and 2 alone
    assert Bleu(max_ngram_order=2).score(pair, Runtime()).system == pytest.approx(100 * math.sqrt(3 / 6 * 1 / 4))
    by_sentence = Bleu(max_ngram_order=2, average="sentence").score(pair, Runtime())
    # the second: 1 of 4 words, 0 of 3 pairs, halved once
    assert by_sentence.system == pytest.approx((100 + 100 * math.sqrt(1 / 4 / (2 * 3))) / 2)


def test_a_perfect_score_is_100_and_not_a_rounding_above_it():
    text = "the quick brown fox jumps over the lazy dog"
    assert peer().sentence_score(text, [text]).score > 100  # what there is to round
    assert one(text, text) == 100


# Parity


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("effective", [False, True])
def test_a_corpus_scores_as_in_sacrebleu(corpus, runtime, options, effective):
    expected = peer(**options, effective_order=effective).corpus_score(corpus.hypotheses, corpus.streams).score
    found = Bleu(**options, effective_order=effective).score(corpus.segments, runtime)
    assert found.system == pytest.approx(expected, abs=EXACT)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_segments_score_as_in_sacrebleu(corpus, runtime, options):
    theirs = peer(**options, effective_order=True)
    expected = [theirs.sentence_score(s.hypothesis, list(s.references)).score for s in corpus.segments]
    np.testing.assert_allclose(
        Bleu(**options).score(corpus.segments, runtime).values, np.minimum(expected, 100), rtol=0, atol=EXACT
    )


def test_segments_without_effective_order_score_as_in_sacrebleu(corpus, runtime):
    theirs = peer(effective_order=False)
    expected = [theirs.sentence_score(s.hypothesis, list(s.references)).score for s in corpus.segments]
    np.testing.assert_allclose(
        Bleu(effective_order=False).score(corpus.segments, runtime).values,
        np.minimum(expected, 100),
        rtol=0,
        atol=EXACT,
    )


def test_translations_score_as_in_sacrebleu(translations, runtime):
    expected = peer().corpus_score(translations.hypotheses, translations.streams).score
    assert Bleu().score(translations.segments, runtime).system == pytest.approx(expected, abs=EXACT)


def test_statistics_are_sacrebleus(corpus, runtime):
    expected = peer()._extract_corpus_statistics(corpus.hypotheses, corpus.streams)
    np.testing.assert_array_equal(Bleu().score(corpus.segments, runtime).stats, expected)


@given(st.lists(st.tuples(words, st.lists(words, min_size=1, max_size=3)), min_size=1, max_size=5))
def test_any_words_score_as_in_sacrebleu(rows):
    segments = [Segment(str(i), hypothesis, tuple(references)) for i, (hypothesis, references) in enumerate(rows)]
    found = Bleu().score(segments, Runtime())
    streams = [[s.references[i] if i < len(s.references) else None for s in segments] for i in range(3)]
    streams = [stream for stream in streams if any(text is not None for text in stream)]
    assert found.system == pytest.approx(
        min(peer().corpus_score([s.hypothesis for s in segments], streams).score, 100), abs=EXACT
    )
    sentence = peer(effective_order=True)
    for value, segment in zip(found.values, segments, strict=True):
        assert value == pytest.approx(
            min(sentence.sentence_score(segment.hypothesis, list(segment.references)).score, 100), abs=EXACT
        )


# Properties


@given(words, st.lists(words, min_size=1, max_size=3), words)
def test_another_reference_of_the_same_length_never_lowers_a_segment(hypothesis, references, other):
    length = len(references[0].split())
    other = " ".join((other + " filler" * 9).split()[:length])
    assert one(hypothesis, *references, other, tokenize="none") >= one(hypothesis, *references, tokenize="none") - EXACT


@given(st.lists(st.tuples(words, words), min_size=2, max_size=6), st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_blocks_join_to_the_whole(rows, cut):
    segments = [Segment(str(i), hypothesis, (reference,)) for i, (hypothesis, reference) in enumerate(rows)]
    cut = min(cut, len(segments) - 1)
    parts = [Bleu().score(part, Runtime()) for part in (segments[:cut], segments[cut:])]
    assert join(parts).system == Bleu().score(segments, Runtime()).system


@pytest.mark.parametrize(
    "options",
    [*({"smooth_method": name} for name in ("exp", "add-k", "floor", "none")), {"effective_order": True}],
    ids=str,
)
def test_totals_over_leading_axes_finish_as_one_by_one(corpus, runtime, options):
    metric = Bleu(**options)
    stats = metric.score(corpus.segments, runtime).stats
    draws = np.random.default_rng(0).multinomial(
        len(stats), np.full(len(stats), 1 / len(stats)), size=(3, 4)
    )  # (3, 4, n)
    totals = draws @ stats  # (3, 4, k)
    at_once = metric.corpus(totals)
    assert at_once.shape == (3, 4)
    np.testing.assert_array_equal(at_once, [[metric.corpus(total) for total in row] for row in totals])


# Flags, options, refusals


def test_blank_sides_and_tokenized_ends_are_counted():
    rows = [("", "a"), (" \n", "a"), ("a", ""), ("a .", "a."), ("a .", "a ."), ("a.", "a."), ("a . ", "a.")]
    segments = [Segment(str(i), hypothesis, (reference,)) for i, (hypothesis, reference) in enumerate(rows)]
    scores = Bleu().score(segments, Runtime())
    assert scores.flags["empty"].tolist() == [True, True, True, False, False, False, False]
    assert scores.flags["tokenized"].tolist() == [False, False, False, True, True, False, False]  # sacrebleu's own test
    assert scores.values[:3].tolist() == [0, 0, 0]
    assert "tokenized" not in Bleu(tokenize="none").score(segments, Runtime()).flags


def test_one_blank_reference_among_others_raises_no_flag():
    assert not Bleu().score([Segment("a", "x", ("", "x"))], Runtime()).flags["empty"].any()


def test_the_signature_says_what_the_defaults_resolved_to():
    entries = dict(signature_of(ng.metric("bleu:trg_lang=zh,smooth_method=add-k"), Runtime()).entries)
    assert {entries["tokenize"], entries["smooth_value"], entries["effective_order"]} == {"zh", "1.0", "segments"}
    assert "trg_lang" not in entries  # it chose the tokenizer and does nothing else
    assert entries["sacrebleu"] == metadata.version("sacrebleu")


@pytest.mark.parametrize(("one_way", "other"), [("1", "1.0"), ("0.5", "0.50")])
def test_a_number_written_two_ways_is_one_option(one_way, other):
    specs = [ng.metric(f"bleu:smooth_method=add-k,smooth_value={value}") for value in (one_way, other)]
    assert specs[0] == specs[1]


def test_no_tokenizer_and_no_language_are_the_defaults():
    assert Bleu(tokenize=None, trg_lang="") == Bleu()
    assert ng.metric("bleu:tokenize=none") == Bleu(
        tokenize="none"
    )  # typed, `none` is sacrebleu's tokenizer of that name


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"smooth_value": 0.1}, "smooth_value changes nothing under smooth_method=exp; choose floor or add-k"),
        ({"smooth_method": "none", "smooth_value": 0.1}, "changes nothing under smooth_method=none"),
        ({"smooth_method": "add-k", "smooth_value": -1}, "smooth_value is -1, expected 0 or more"),
        ({"smooth_method": "add-k", "smooth_value": float("inf")}, "smooth_value is inf"),
        ({"smooth_method": "add-k", "smooth_value": float("nan")}, "smooth_value is nan"),
        ({"smooth_method": "add-k", "smooth_value": True}, "smooth_value is True"),
        ({"smooth_method": "add-k", "smooth_value": "1"}, "smooth_value is '1'"),
        ({"smooth_method": "floor", "smooth_value": 2}, "smooth_value is 2, expected a number from 0 to 1 under floor"),
    ],
)
def test_a_smoothing_value_that_means_nothing_is_refused(options, sentence):
    with pytest.raises(SpecError, match=sentence):
        Bleu(**options)


def test_a_segment_without_reference_is_refused_by_name():
    with pytest.raises(InputError, match="bleu needs references; segment 'b' has none"):
        Bleu().score([Segment("a", "x", ("x",)), Segment("b", "x")], Runtime())


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"tokenize": "zh"},
        {"tokenize": "none"},
        {"tokenize": "char", "lowercase": True},
        {"smooth_method": "floor"},
        {"smooth_method": "none"},
        {"smooth_method": "add-k", "smooth_value": 0.5},
        {"max_ngram_order": 1},
        {"effective_order": True},
        {"average": "sentence"},
    ],
    ids=str,
)
def test_the_contract_holds(options):
    check_metric(Bleu(**options))


def test_the_contract_holds_for_whole_orders_on_segments_long_enough():
    # without effective order a copy of fewer tokens than the order scores 0, so it is not best
    check_metric(Bleu(effective_order=False), [s for s in SEGMENTS if all(len(r.split()) > 4 for r in s.references)])


def test_every_option_is_signed():
    assert check_options(Bleu(smooth_method="floor"), alternatives={"trg_lang": "zh"}) == []


def test_parts_of_a_corpus_score_by_hand():
    # four words each; 3 of 4 unigrams, 2 of 3 bigrams and 1 of 2 trigrams match, and the 4-gram does not: half of 100
    segments = [ng.Segment("1", "a b c d", ("a b c e f",))]
    parts = Bleu(tokenize="none").score(segments, ng.Runtime()).system_parts
    assert parts == pytest.approx(
        {
            "bp": math.exp(1 - 5 / 4),
            "ratio": 4 / 5,
            "length": 4,
            "reference_length": 5,
            "precision1": 75,
            "precision2": 200 / 3,
            "precision3": 50,
            "precision4": 50,
        }
    )


@pytest.mark.parametrize("options", [{}, {"smooth_method": "floor"}, {"smooth_method": "add-k"}, {"lowercase": True}])
@pytest.mark.parametrize(
    "texts", [["the cat sat on the mat", "it rains"], ["x", "y"], ["", ""], ["the cat"], ["the cat sat on a red mat"]]
)
def test_parts_are_those_of_sacrebleu(texts, options):
    references = ["the cat sat on a mat", "it is raining"][: len(texts)]
    theirs = pytest.importorskip("sacrebleu").BLEU(**options).corpus_score(texts, [references])
    segments = [ng.Segment(str(i), text, (ref,)) for i, (text, ref) in enumerate(zip(texts, references, strict=True))]
    parts = Bleu(**options).score(segments, ng.Runtime()).system_parts
    assert parts["bp"] == pytest.approx(theirs.bp)
    assert [parts["length"], parts["reference_length"]] == [theirs.sys_len, theirs.ref_len]
    assert [parts[f"precision{n}"] for n in (1, 2, 3, 4)] == pytest.approx(theirs.precisions)


def test_most_scores_have_no_parts_and_a_mean_of_sentences_has_none():
    segments = [ng.Segment("1", "a", ("a",))]
    assert Bleu(average="sentence").score(segments, ng.Runtime()).system_parts == {}
    assert ng.metric("chrf").score(segments, ng.Runtime()).system_parts == {}


def test_shorter_orders_are_those_of_nltk_without_smoothing(corpus):
    peer = pytest.importorskip("nltk.translate.bleu_score")
    segments = [
        s for s in corpus.segments if len(s.hypothesis.split()) > 4 and all(len(r.split()) > 4 for r in s.references)
    ]
    words = [s.hypothesis.split() for s in segments], [[r.split() for r in s.references] for s in segments]
    for order in (1, 2, 3, 4):
        found = ng.metric(f"bleu{order}:tokenize=none,smooth_method=none").score(segments, Runtime())
        theirs = peer.corpus_bleu(words[1], words[0], weights=[1 / order] * order)
        assert found.system == pytest.approx(100 * theirs, abs=1e-9)  # the same logarithms
    assert ng.metric("bleu4") == ng.metric("bleu")


@pytest.mark.parametrize(
    ("spec", "references", "line"),
    [
        ("bleu", {1}, "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:"),
        ("bleu:effective_order=true,tokenize=intl,smooth_method=floor", {2}, "nrefs:2|case:mixed|eff:yes|tok:intl|"),
        ("chrf++", {1, 3}, "nrefs:var|case:mixed|eff:yes|nc:6|nw:2|space:no|version:"),
        ("ter:case_sensitive=true", {1}, "nrefs:1|case:mixed|tok:tercom|norm:no|punct:yes|asian:no|version:"),
    ],
)
def test_sacrebleus_own_signature_stands_beside_ours(spec, references, line):
    assert metric(spec).peer_signature(references).startswith(line)


@pytest.mark.parametrize("spec", ["bleu2", "bleu:average=sentence", "chrf:beta=1", "guarded(bleu)"])
def test_a_number_that_sacrebleus_signature_would_not_tell_apart_has_none(spec):
    assert metric(spec).peer_signature({1}) is None
