import json
import re
import string
from collections import Counter
from math import exp, log, log2, sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.core.errors import SpecError
from nlgauge.core.metric import signature_of
from nlgauge.core.segment import Segment
from nlgauge.metrics.lexical import ngrams as module
from nlgauge.metrics.lexical.ngrams import (
    Cider,
    ExactMatch,
    Gleu,
    Nist,
    Numbered,
    TokenF1,
    WordMetric,
    bags,
    clipped_overlap,
    measured,
)
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric, check_options
from nlgauge.text.scripts import Writing

THAI, HAN, KANA, CYRILLIC = (Writing(name, name, name == "Cyrillic") for name in ("Thai", "Han", "Kana", "Cyrillic"))


@pytest.mark.parametrize(
    ("tokenizer", "words"),
    [
        ("13a", ("Isn't", "3.5", "too", "much", "?")),
        ("blanks", ("Isn't", "3.5", "too", "much?")),
        ("unicode", ("isn", "t", "3", "5", "too", "much")),
        ("char", tuple("Isn't3.5toomuch?")),
    ],
)
def test_tokenizers_split_as_they_are_named(tokenizer, words):
    assert WordMetric(tokenizer=tokenizer).splitter()("Isn't 3.5 too much?") == words


def test_words_are_lowered_when_they_have_been_split():
    assert WordMetric(lowercase=True).splitter()("The Cat.") == ("the", "cat", ".")
    assert WordMetric().splitter()("The Cat.") == ("The", "Cat", ".")


def test_scripts_without_blanks_are_named_unless_the_tokenizer_splits_them():
    assert "take tokenizer=unicode" in WordMetric().unread(THAI)
    assert WordMetric(tokenizer="unicode").unread(THAI) is None
    assert WordMetric(tokenizer="zh").unread(HAN) is None
    assert WordMetric(tokenizer="zh").unread(KANA) is None
    assert WordMetric(tokenizer="zh").splitter()("船は七時") == tuple("船は七時")
    assert "take tokenizer=unicode" in WordMetric(tokenizer="zh").unread(THAI)
    assert WordMetric().unread(CYRILLIC) is None
    assert "a-z" in WordMetric(tokenizer="rouge").unread(CYRILLIC)


def test_each_distinct_pair_is_measured_once_and_references_are_prepared_once():
    prepared, asked = [], []

    def prepare(references):
        prepared.append(references)
        return len(references)

    def measure(hypothesis, n_references):
        asked.append(hypothesis)
        return len(hypothesis), n_references

    texts = [("a b", ("c", "d")), ("a", ("c", "d")), ("a b", ("c", "d")), ("a b", ("e",))]
    segments = [Segment(str(i), *text) for i, text in enumerate(texts)]
    rows, flags = measured(segments, 2, Runtime(), "test", lambda text: tuple(text.split()), prepare, measure)
    np.testing.assert_array_equal(rows, [[2, 2], [1, 2], [2, 2], [2, 1]])
    assert not flags["empty"].any()
    assert len(prepared) == 2
    assert len(asked) == 3


def test_a_text_without_words_is_empty_or_untokenized():
    texts = [("", "a"), ("?!", "a"), ("a", "..."), ("a", " "), ("a", "a")]
    segments = [Segment(str(i), hypothesis, (reference,)) for i, (hypothesis, reference) in enumerate(texts)]
    found = Gleu(tokenizer="unicode").score(segments, Runtime()).flags
    assert found["empty"].tolist() == [True, False, False, True, False]
    assert found["untokenized"].tolist() == [False, True, True, False, False]


texts = st.lists(st.lists(st.integers(0, 4), max_size=12), min_size=1, max_size=6)


def numbered(rows, size=5):
    starts = np.cumsum([0, *map(len, rows)])
    return Numbered(np.array([token for row in rows for token in row], dtype=np.int64), starts, size)


def bags_grams(row, n):
    return Counter(tuple(row[i : i + n]) for i in range(len(row) - n + 1))


@given(texts, st.integers(1, 9), st.sampled_from([5, 1 << 16, 1 << 31]))  # n-grams as products, or numbered anew
def test_clipped_matches_are_those_of_two_counters(rows, n, size):
    pairs = [(h, r) for h in range(len(rows)) for r in range(len(rows))]
    expected = [(bags_grams(rows[h], n) & bags_grams(rows[r], n)).total() for h, r in pairs]
    hypotheses, references = np.array(pairs).T
    assert clipped_overlap(bags(numbered(rows, size), n), hypotheses, references).tolist() == expected


@given(texts, st.integers(1, 3))
def test_the_size_of_a_batch_changes_no_match(rows, n):
    hypotheses = np.repeat(np.arange(len(rows)), len(rows))
    references = np.tile(np.arange(len(rows)), len(rows))
    counted = bags(numbered(rows), n)
    whole = clipped_overlap(counted, hypotheses, references)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_ENTRIES", 1)
        assert clipped_overlap(counted, hypotheses, references).tolist() == whole.tolist()


def test_no_text_and_empty_texts_have_no_grams():
    assert bags(numbered([]), 2).count(np.zeros(0, np.int64), np.zeros(0, np.int64)).tolist() == []
    empty = bags(numbered([[], [1]]), 2)
    assert empty.counts.tolist() == []
    assert clipped_overlap(empty, np.array([0, 1]), np.array([1, 0])).tolist() == [0, 0]
    assert empty.count(np.array([0]), np.array([0])).tolist() == [0]


def scores(segments, **options):
    return Gleu(**options).score(segments, Runtime())


def test_the_smaller_of_precision_and_recall():
    # "a b c" has 3 + 2 + 1 n-grams, "a b" has 2 + 1: three are shared, of six at most
    assert scores([Segment("1", "a b c", ("a b",))]).values[0] == pytest.approx(3 / 6)
    assert scores([Segment("1", "a b", ("a b c",))]).values[0] == pytest.approx(3 / 6)


def test_the_corpus_number_sums_matches_and_the_longer_sides():
    # 3 of 6 and 1 of 1: 4 of 7, where the mean would be 3/4
    assert scores([Segment("1", "a b c", ("a b",)), Segment("2", "a", ("a",))]).system == pytest.approx(4 / 7)


@pytest.mark.parametrize(
    "options", [{}, {"tokenizer": "blanks"}, {"min_ngram_order": 2, "max_ngram_order": 3}], ids=str
)
def test_agrees_with_nltk(pairs, tokens, options):
    peer = pytest.importorskip("nltk.translate.gleu_score")
    orders = options.get("min_ngram_order", 1), options.get("max_ngram_order", 4)
    hypotheses, references = tokens(Gleu(**options), pairs)
    found = scores(pairs, **options)
    theirs = [peer.sentence_gleu(r, h, *orders) for h, r in zip(hypotheses, references, strict=True)]
    assert found.values == pytest.approx(theirs, abs=1e-9)  # the same quotient
    assert found.system == pytest.approx(peer.corpus_gleu(references, hypotheses, *orders), abs=1e-9)


@pytest.mark.parametrize("metric", [Gleu(tokenizer="unicode"), Nist(information="call"), Cider()], ids=str)
def test_the_contract_holds_and_every_option_is_signed(metric):
    check_metric(metric)
    assert check_options(metric) == []


def test_orders_that_cross_are_refused():
    with pytest.raises(SpecError, match=r"^gleu:min_ngram_order is 5, expected at most max_ngram_order, which is 4$"):
        Gleu(min_ngram_order=5)


def nist_scores(segments, **options):
    return Nist(**options).score(segments, Runtime())


def test_rare_words_tell_more():
    # "a" stands 2 times in 4 words, "b" once, "c" once: 1, 2 and 2 bits. Matched are "a" and "c" of two words.
    # Of pairs "a c" is matched: after "a" comes "b" or "c", so 1 bit, of one pair. Two of four words: a penalty.
    found = nist_scores([Segment("1", "a c", ("a b a c",))], max_ngram_order=2).values[0]
    assert found == pytest.approx((3 / 2 + 1) * exp(log(0.5) * (log(2 / 4) / log(1.5)) ** 2))


def test_two_thirds_of_the_length_cost_half():
    # "a b" of "a b c": each word tells log2(3); no pair counts under order 1
    assert nist_scores([Segment("1", "a b", ("a b c",))], max_ngram_order=1).values[0] == pytest.approx(log2(3) / 2)


def test_values_take_information_from_the_segment_or_from_the_call():
    segments = [Segment("1", "a b", ("a b",)), Segment("2", "a a", ("a a",))]
    # alone "a" tells log2(2/1); in the call it stands 3 times in 4 words
    assert nist_scores(segments, max_ngram_order=1).values == pytest.approx([1.0, 0.0])
    assert nist_scores(segments, max_ngram_order=1, information="call").values == pytest.approx(
        [(log2(4 / 3) + 2) / 2, log2(4 / 3)]
    )


def test_agrees_with_nltk_where_nltk_has_a_number(pairs, tokens):
    peer = pytest.importorskip("nltk.translate.nist_score")
    hypotheses, references = tokens(Nist(), pairs)
    found = nist_scores(pairs)
    theirs = {}
    for i, (h, r) in enumerate(zip(hypotheses, references, strict=True)):
        if len(h) >= 5 and all(
            r
        ):  # nltk divides by the number of n-grams of every order, and by the words of the reference
            theirs[i] = peer.sentence_nist(r, h)
    assert len(theirs) > 30
    assert [found.values[i] for i in theirs] == pytest.approx(list(theirs.values()), abs=1e-9)  # the same sums
    assert found.system == pytest.approx(peer.corpus_nist(references, hypotheses), abs=1e-9)


def test_short_and_empty_texts_have_a_number(pairs):
    found = nist_scores([Segment("1", "a b", ("a b",)), Segment("2", "", ("a b",)), Segment("3", "a", ("",))])
    assert found.values.tolist() == [1.0, 0.0, 0.0]  # "b" follows "a" always: the pair tells nothing
    assert nist_scores(pairs).values.min() == 0


GOLDEN = Path(__file__).parents[2] / "golden" / "cider.json"


def cider_scores(*texts, **options):
    segments = [Segment(str(i), hypothesis, references) for i, (hypothesis, *references) in enumerate(texts)]
    return Cider(**options).score(segments, Runtime())


def test_rare_words_weigh_more():
    # Two items: "a" is in the references of both and weighs 0, the others log(2). Of "b c" against "b d": one of two.
    found = cider_scores(("b c", "a b d"), ("a", "a e"), max_ngram_order=1, sigma=None)
    assert found.values == pytest.approx([10 * log(2) ** 2 / (sqrt(2) * log(2)) ** 2, 0])


def test_lengths_that_differ_cost():
    # "b" against "b b b": the same direction, two words apart
    one, other = (cider_scores(("b", "b b b"), ("c", "c"), max_ngram_order=1, sigma=s, clip=False) for s in (None, 2.0))
    assert one.values[0] == pytest.approx(10)
    assert other.values[0] == pytest.approx(10 * exp(-(2**2) / (2 * 2**2)))


def test_words_count_no_more_often_than_in_the_reference():
    # "b b b" against "b": the cosine is 1, clipped it is 1/3
    assert cider_scores(("b b b", "b"), ("c", "c"), max_ngram_order=1, sigma=None).values[0] == pytest.approx(10 / 3)


def test_several_references_are_averaged_and_orders_are():
    # a copy of two words has words and pairs, but no triples: 2 of 4 orders; against "x y" it has nothing
    assert cider_scores(("b c", "b c", "x y"), ("d", "d")).values[0] == pytest.approx(10 * 2 / 4 / 2)


@pytest.mark.skipif(not GOLDEN.exists(), reason="the golden files are not beside the tests")
def test_agrees_with_pycocoevalcap(pairs):
    golden = json.loads(GOLDEN.read_text())
    found = Cider(tokenizer="blanks").score(pairs, Runtime())
    assert found.values == pytest.approx(golden["values"], abs=1e-9)  # the same sums in another order
    assert found.system == pytest.approx(golden["corpus"], abs=1e-9)


def test_a_system_is_scored_as_if_it_were_alone(pairs):
    other = [Segment(f"other {s.id}", s.references[0], s.references, system="other") for s in pairs[:30]]
    own = [Segment(s.id, s.hypothesis, s.references, system="own") for s in pairs]
    together = Cider().score([*other, *own], Runtime()).values
    assert together[30:].tolist() == Cider().score(own, Runtime()).values.tolist()
    assert together[:30].tolist() == Cider().score(other, Runtime()).values.tolist()
    assert "|pool:system|" in str(signature_of(Cider(), Runtime()))


def test_one_segment_is_refused():
    with pytest.raises(ng.InputError, match=r"^cider needs at least two segments of system 'b', found 1: from one"):
        ng.score({"b": ["a"]}, refs=["a"], metrics="cider")


def test_the_name_of_the_formula_is_a_preset():
    assert ng.metric("cider-d") == ng.metric("cider")


# --- exact match and token F1


@pytest.mark.parametrize("metric", [ExactMatch(), ExactMatch(normalized=False), TokenF1(), TokenF1(normalized=False)])
def test_metrics_of_answers_keep_the_contract(metric):
    check_metric(metric)


@pytest.mark.parametrize(
    ("hypothesis", "references", "exact", "f1"),
    [
        ("The cat!", ["cat"], 1, 1),
        ("the cat sat", ["a cat", "dogs"], 0, 2 / 3),  # cat and sat against cat: 1/2 and 1
        ("dogs", ["a cat", "dogs"], 1, 1),
        ("cat cat", ["cat"], 0, 2 / 3),
        ("U.S.", ["us"], 1, 1),
        ("theme", ["me"], 0, 0),  # an article is a word
        ("", [""], 1, 1),
        *[(said, ["A"], 0, 0) for said in ("", "?", "The", "B")],  # of letters that name answers, "A" is no article
        *[(said, ["A"], 1, 1) for said in ("A", "a.", "(A)", " A ")],
        ("A", ["The", "a"], 1, 1),
        ("-", ["+"], 0, 0),
        ("?", [""], 0, 0),
        ("", ["cat"], 0, 0),
        ("", ["", "cat"], 0, 0),  # beside others a blank reference is none, as in evaluate-v2.0
    ],
)
def test_answers_by_hand(hypothesis, references, exact, f1):
    segment = [Segment("a", hypothesis, tuple(references))]
    assert ExactMatch().score(segment, Runtime()).values[0] == exact
    assert TokenF1().score(segment, Runtime()).values[0] == pytest.approx(f1)


def squad(hypothesis, references):
    """What the published script computes of one question: exact match and F1, each at its best reference."""

    def normal(text):
        plain = "".join(char for char in text.lower() if char not in set(string.punctuation))
        # where we differ: articles and punctuation are words if there is nothing else
        return re.sub(r"\b(a|an|the)\b", " ", plain).split() or plain.split() or text.lower().split()

    told = [words for words in map(normal, references) if words] or [[]]
    mine = normal(hypothesis)

    def f1(words):
        same = (Counter(words) & Counter(mine)).total()
        if not words or not mine:
            return float(words == mine)
        return 2 * same / (len(words) + len(mine))

    return float(mine in told), max(map(f1, told))


answers = st.lists(st.sampled_from(["The", "a", "cat", "Cat,", "sat.", "on", "U.S.", "--", "12"]), max_size=5).map(
    " ".join
)


@given(answers, st.lists(answers, min_size=1, max_size=3))
def test_answers_are_scored_as_by_the_script_of_squad(hypothesis, references):
    segment = [Segment("a", hypothesis, tuple(references))]
    found = [float(m.score(segment, Runtime()).values[0]) for m in (ExactMatch(), TokenF1())]
    assert found == pytest.approx(squad(hypothesis, references), abs=1e-12)


@pytest.mark.parametrize("texts", ["pairs", "real"])
def test_answers_of_ordinary_texts(texts, request):
    segments = request.getfixturevalue(texts)
    expected = [squad(s.hypothesis, s.references) for s in segments]
    for metric, place in ((ExactMatch(), 0), (TokenF1(), 1)):
        values = metric.score(segments, Runtime()).values
        assert values == pytest.approx([both[place] for both in expected], abs=1e-12)


def test_an_answer_that_should_be_none_is_right_and_flagged():
    segments = [Segment("none", "", ("",)), Segment("article", "the", ("the",)), Segment("blank", " ", ("cat",))]
    flags = ExactMatch().score(segments, Runtime()).flags
    assert flags["both_empty"].tolist() == [True, False, False]
    assert flags["empty"].tolist() == [False, False, True]
    assert not flags["untokenized"].any()


@pytest.mark.parametrize(
    ("hypothesis", "reference", "found"),
    [
        *[
            (h, r, True)
            for h, r in [("3.5", "35"), ("10", "1.0"), ("C++", "C"), ("c", "C#"), ("-5", "5"), ("1/2", "12")]
        ],
        *[
            (h, r, True)
            for h, r in [("1030", "10:30"), ("A+", "A"), ("1,5", "15"), ("at 3.5 percent", "at 35 percent")]
        ],
        *[
            (h, r, False)
            for h, r in [("3.5", "3.5."), ("1,000", "1000"), ("U.S.", "us"), ("$18", "18"), ("**C**", "c")]
        ],
        *[
            (h, r, False)
            for h, r in [("well-known", "wellknown"), ("C++!", "c++"), ("3.5", "4.5"), ("12:30.", "12:30")]
        ],
    ],
)
def test_a_match_that_hangs_on_marks_which_tell_answers_apart_is_flagged(hypothesis, reference, found):
    for metric in (ExactMatch(), TokenF1()):
        scores = metric.score([Segment("a", hypothesis, (reference,))], Runtime())
        assert scores.flags["markless"].tolist() == [found]
        assert scores.values[0] == float(reference != "4.5")
    assert not ExactMatch(normalized=False).score([Segment("a", "35", ("3.5",))], Runtime()).flags["markless"].any()


def test_another_reference_that_matches_as_it_is_makes_no_flag():
    scores = TokenF1().score([Segment("a", "3.5", ("35", "3.5")), Segment("b", "it is 3.5", ("35",))], Runtime())
    assert scores.flags["markless"].tolist() == [False, True]


def test_words_as_they_are():
    segments = [Segment("a", "The cat", ("the cat",)), Segment("b", "x =  1", ("x = 1",))]
    assert ExactMatch(normalized=False).score(segments, Runtime()).values.tolist() == [0, 1]
    assert TokenF1(normalized=False).score(segments, Runtime()).values.tolist() == [0.5, 1]
    assert TokenF1().unread(THAI) == "it splits words at blanks, of which they have few; take rouge1"
