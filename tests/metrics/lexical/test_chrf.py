import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.core.segment import Segment
from nlgauge.metrics.lexical.chrf import ChrF
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric, check_options

EXACT = 1e-9  # float64; the same sums as sacrebleu's, divided in another order

OPTIONS = [
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


def one(hypothesis, *references, **options):
    return float(ChrF(**options).score([Segment("a", hypothesis, references)], Runtime()).values[0])


def peer(**options):
    return pytest.importorskip("sacrebleu").CHRF(**options)


# Worked by hand


def test_precision_and_recall_are_averaged_over_orders_before_they_meet():
    # "abc" against "abd e": characters 2/3 and 2/4, pairs 1/2 and 1/3, triples 0/1 and 0/2; P = 7/18, R = 5/18
    # F2 = 5 P R / (4 P + R) = 5 * 35/324 / (33/18)
    assert one("abc", "abd e", char_order=3) == pytest.approx(100 * (5 * 35 / 324) / (33 / 18))


@pytest.mark.parametrize(("beta", "expected"), [(0, 1 / 2), (1, 1 / 3), (2, 5 / 18), (3, 10 / 38)])
def test_beta_says_how_much_recall_counts(beta, expected):
    # one of two characters, one of four: P = 1/2, R = 1/4, F = (1 + b2) (1/8) / (b2 / 2 + 1/4)
    assert one("ax", "abcd", char_order=1, beta=beta) == pytest.approx(100 * expected)


def test_orders_that_one_side_is_too_short_for_do_not_count():
    # of "ab" and "abc" there are no four characters in a row: orders 1 and 2 (order 3 only in the reference) are
    # averaged
    assert one("ab", "abc") == pytest.approx(100 * (5 * 1 * 7 / 12) / (4 * 1 + 7 / 12))  # R = (2/3 + 1/2) / 2


def test_with_epsilon_smoothing_missing_orders_count_as_next_to_nothing():
    # the same pair: F of orders 1 and 2, and four orders of about 0, over six
    order_1, order_2 = (5 * r / (4 + r) for r in (2 / 3, 1 / 2))
    assert one("ab", "abc", eps_smoothing=True) == pytest.approx(100 * (order_1 + order_2) / 6)


def test_word_orders_are_averaged_with_the_characters():
    # characters: 5 of 6 and 5 of 6; words: "the" of "the bat" / "the cat" is 1 of 2
    assert one("the bat", "the cat", char_order=1, word_order=1) == pytest.approx(100 * (5 / 6 + 1 / 2) / 2)


def test_words_lose_one_punctuation_mark_at_one_end():
    # "sat." is "sat" and "."; "(hi)" is "(hi" and ")", since the end goes first; "(hi" is "(" and "hi"
    assert one("sat.", "sat", char_order=0, word_order=1, beta=1) == pytest.approx(100 * 2 / 3)
    assert one("(hi)", "hi)", char_order=0, word_order=1) == pytest.approx(50)
    assert one("(hi)", "(hi", char_order=0, word_order=1) == 0


def test_blanks_count_only_where_asked():
    assert one("a bc", "ab c") == pytest.approx(100)
    # characters 4 of 4; pairs "a ", " b", "bc" and "ab", "b ", " c": none of three
    assert one("a bc", "ab c", whitespace=True, char_order=2) == pytest.approx(50)


def test_the_reference_with_the_best_score_counts_whole():
    assert one("abcd", "abcx", "abcd", "xxxx") == pytest.approx(100)
    values = [one("the cat sat", r) for r in ("a cat sat", "the cat", "the dog sat down")]
    assert one("the cat sat", "a cat sat", "the cat", "the dog sat down") == max(values)


def test_the_corpus_number_is_made_of_summed_counts():
    # 2 of 2 and 1 of 4 characters, in references of 2 and 4: P = R = 3/6
    pair = [Segment("a", "ab", ("ab",)), Segment("b", "axyz", ("abcd",))]
    assert ChrF(char_order=1).score(pair, Runtime()).system == pytest.approx(50)


# Parity


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_corpus_scores_as_in_sacrebleu(corpus, runtime, options):
    expected = peer(**options).corpus_score(corpus.hypotheses, corpus.streams).score
    assert ChrF(**options).score(corpus.segments, runtime).system == pytest.approx(expected, abs=EXACT)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_segments_score_as_in_sacrebleu(corpus, runtime, options):
    expected = [peer(**options).sentence_score(s.hypothesis, list(s.references)).score for s in corpus.segments]
    np.testing.assert_allclose(ChrF(**options).score(corpus.segments, runtime).values, expected, rtol=0, atol=EXACT)


@pytest.mark.parametrize("options", [{}, {"word_order": 2, "eps_smoothing": True}], ids=str)
def test_counted_blanks_score_as_in_sacrebleu_where_no_text_is_blank(corpus, runtime, options):
    segments = [s for s in corpus.segments if all(text.strip() or not text for text in (s.hypothesis, *s.references))]
    expected = [
        peer(whitespace=True, **options).sentence_score(s.hypothesis, list(s.references)).score for s in segments
    ]
    np.testing.assert_allclose(
        ChrF(whitespace=True, **options).score(segments, runtime).values, expected, rtol=0, atol=EXACT
    )


def test_a_blank_text_is_empty_even_where_blanks_count():
    # sacrebleu finds the blank of the hypothesis in a reference of blanks
    assert peer(whitespace=True).sentence_score("a b", ["   "]).score > 0
    assert (
        one("a b", "   ", whitespace=True) == one("   ", "a b", whitespace=True) == one("a b", "", whitespace=True) == 0
    )


def test_translations_score_as_in_sacrebleu(translations, runtime):
    for options in ({}, {"word_order": 2}):
        expected = peer(**options).corpus_score(translations.hypotheses, translations.streams).score
        assert ChrF(**options).score(translations.segments, runtime).system == pytest.approx(expected, abs=EXACT)


@given(texts, st.lists(texts, min_size=1, max_size=3), st.sampled_from(OPTIONS))
def test_any_text_scores_as_in_sacrebleu(hypothesis, references, options):
    assert one(hypothesis, *references, **options) == pytest.approx(
        peer(**options).sentence_score(hypothesis, references).score, abs=EXACT
    )


# Properties


@given(texts, texts, st.integers(1, 6))
def test_with_beta_1_the_sides_can_be_exchanged(one_text, other, order):
    assert one(one_text, other, beta=1, char_order=order) == pytest.approx(
        one(other, one_text, beta=1, char_order=order), abs=EXACT
    )


@given(texts.filter(str.strip), texts)
def test_a_copy_scores_100_whatever_else_is_a_reference(text, other):
    assert one(text, text) == pytest.approx(100)
    assert one(text, other, text) == pytest.approx(100)


@pytest.mark.parametrize("options", [{}, {"word_order": 2}, {"eps_smoothing": True}], ids=str)
def test_totals_over_leading_axes_finish_as_one_by_one_in_their_own_precision(corpus, runtime, options):
    metric = ChrF(**options)
    stats = metric.score(corpus.segments, runtime).stats
    draws = np.random.default_rng(0).multinomial(
        len(stats), np.full(len(stats), 1 / len(stats)), size=(3, 4)
    )  # (3, 4, n)
    for totals in (draws @ stats, (draws @ stats).astype(np.float32), (draws @ stats).astype(np.int64)):
        at_once = metric.corpus(totals)
        assert at_once.shape == (3, 4)
        assert at_once.dtype == (np.float32 if totals.dtype == np.float32 else np.float64)
        np.testing.assert_array_equal(at_once, [[metric.corpus(total) for total in row] for row in totals])


def test_plus_plus_is_word_order_2():
    assert ng.metric("chrf++") == ng.metric("chrf:word_order=2") == ChrF(word_order=2)


def test_without_characters_it_is_wordf():
    assert ng.metric("wordf") == ng.metric("wordf2") == ChrF(char_order=0, word_order=4)
    assert ng.metric("wordf3").beta == 3
    assert ng.metric("wordf").info.summary == "F score of word n-grams"
    assert ng.metric("chrf++").info.summary == "F score of character n-grams"
    # "a b" against "a b c": words 2/2 and 2/3, pairs 1/1 and 1/2; triples only in the reference: P = 1, R = 7/12
    assert one("a b", "a b c", char_order=0, word_order=4, beta=1) == pytest.approx(100 * 2 * (7 / 12) / (1 + 7 / 12))


@pytest.mark.parametrize("options", [*OPTIONS, {"whitespace": True, "beta": 3}], ids=str)
def test_the_contract_holds(options):
    check_metric(ChrF(**options))


def test_every_option_is_signed():
    assert check_options(ChrF(word_order=1)) == []


def test_words_alone_are_named_as_such():
    assert ng.metric("wordf1").info.summary == "F score of word n-grams"
    assert ng.metric("chrf++").info.summary == "F score of character n-grams"
