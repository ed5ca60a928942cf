import json
import math
from pathlib import Path
from unicodedata import unidata_version

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from nlgauge.core.metric import signature_of
from nlgauge.core.segment import Segment
from nlgauge.metrics import edits
from nlgauge.metrics import edits as character
from nlgauge.metrics.edits import (
    Cer,
    CharacTer,
    EditSimilarity,
    Eed,
    Iter,
    Wer,
    character_rate,
    edits_with_jumps,
    english,
    japanese,
    rate,
)
from nlgauge.metrics.lexical import shifts
from nlgauge.metrics.registry import metric
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import SEGMENTS, check_metric, check_options
from nlgauge.text.scripts import Writing

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "edits.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def golden():
    """A function from a name of the peer, and our specification, to our scores of the golden pairs and its values."""

    def scored(peer, spec=None):
        segments = [Segment(str(i), h, (r,)) for i, (h, r, _) in enumerate(GOLDEN["pairs"])]
        expected = [values[peer] for _, _, values in GOLDEN["pairs"]]
        return metric(spec or peer).score(segments, Runtime()), expected, GOLDEN["corpus"].get(peer)

    return scored


@pytest.fixture(scope="session")
def one():
    """A function from a specification, a hypothesis and references to one value."""

    def value(spec, hypothesis, *references):
        return float(metric(spec).score([Segment("a", hypothesis, references)], Runtime()).values[0])

    return value


@pytest.fixture(scope="session")
def short_segments():
    """The segments of the contract but the long one, which takes seconds where time grows with the product."""
    return [s for s in SEGMENTS if s.id != "long"]


# --- CharacTER: by hand, and as the authors' program


@pytest.mark.parametrize(
    ("hypothesis", "reference", "value"),
    [
        ("abc def", "abc def", 0),
        ("abc dxf", "abc def", 1 / 7),  # one character replaced, of seven
        ("ef abcd", "abcd ef", 2 / 7),  # a shift of "ef" or "abcd": "ef" stands elsewhere, mean length of its words 2
        ("abcdefgh", "x", 1),
        ("x", "abcdefgh", 1),  # at most 1
    ],
)
def test_by_hand(one, hypothesis, reference, value):
    assert one("character", hypothesis, reference) == pytest.approx(value)


def test_case_is_folded_where_it_is_asked_for(one):
    assert one("character", "ABC def", "abc def") == pytest.approx(3 / 7)  # three letters of seven
    assert one("character:lowercase=true", "ABC def", "abc def") == 0


def test_values_are_those_of_the_authors(golden):
    scores, expected, _ = golden("character")
    assert scores.values.tolist() == pytest.approx(expected, abs=1e-12)
    assert scores.system == pytest.approx(sum(expected) / len(expected))


def tried_one_by_one(text, wanted):
    """The shifts without a bound, and without batches: of those that save most, the text that stands last."""
    distance = Levenshtein.distance(text, wanted)
    rate = distance / len(wanted)
    while distance:
        tried = [character._moved(text, *block) for block in character._blocks(text, wanted)]
        distances = [Levenshtein.distance(moved, wanted) for moved in tried]
        fewest = min(distances, default=distance + 1)
        if fewest > (distance if rate > distance / len(wanted) else distance - 1):
            break
        text = max(moved for moved, edits in zip(tried, distances, strict=True) if edits == fewest)
        distance = fewest
        rate -= rate - distance / len(wanted)
    return text


@given(st.text("abcd", min_size=1, max_size=9), st.text("abcd", min_size=1, max_size=9), st.integers(1, 3))
def test_what_is_passed_over_would_not_have_been_the_shift(text, wanted, at_once):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(character, "_AT_ONCE", at_once)
        assert character._shifted(text, wanted) == tried_one_by_one(text, wanted)


def test_a_pair_that_is_too_long_is_undefined_and_flagged(monkeypatch):
    monkeypatch.setattr(character, "_WORK", 1_000_000)
    text = " ".join(f"w{i}" for i in range(30))
    turned = " ".join(text.split()[::-1])
    segments = [Segment("a", text, (turned,)), Segment("b", "a b", ("b a",))]
    scores = CharacTer().score(segments, Runtime())
    assert math.isnan(scores.values[0])
    assert scores.flags["too_long"].tolist() == [True, False]
    assert scores.system == scores.values[1]


def test_words_that_repeat_are_soon_done():
    assert character_rate(["the"] * 300, ["the"] * 250) == pytest.approx(50 * 4 / (300 * 4 - 1))
    assert math.isnan(character_rate(["the"] * 2000, ["the"] * 2000 + ["a"]))


# --- Which reference counts, what a word is, and what blank sides get

NAMES = ("wer", "cer", "mer", "wil", "wip", "per", "cder", "iter", "character", "eed")
WORDS = tuple(name for name in NAMES if name not in ("cer", "character", "eed"))


@pytest.mark.parametrize("name", NAMES)
def test_the_contract_holds_and_every_option_is_signed(name, short_segments):
    check_metric(metric(name), short_segments)
    assert check_options(metric(name)) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_blank_side_is_worst_and_flagged(name):
    built = metric(name)
    for hypothesis, reference in (("", "a b"), (" \t", "a"), ("a b c", ""), ("", "")):
        scores = built.score([Segment("a", hypothesis, (reference,)), Segment("b", "a b", ("a b",))], Runtime())
        worst, best = scores.values if name != "wip" else 1 - scores.values
        assert worst >= 1, (hypothesis, reference)
        assert best < 0.1  # of a copy: 0, but for eed
        assert scores.flags["empty"].tolist() == [True, False], (hypothesis, reference)


@pytest.mark.parametrize("name", NAMES)
def test_of_several_references_the_best_counts_and_blank_ones_do_not(name):
    segments = [Segment("a", "a b c", ("x y z", "", "a b c", "a b c")), Segment("b", "q", ("", "z"))]
    scores = metric(name).score(segments, Runtime())
    assert scores.parts["reference"].tolist() == [1, 0]  # of those that are references
    assert not scores.flags["empty"].any()
    alone = metric(name).score([Segment("a", "a b c", ("a b c",)), Segment("b", "q", ("z",))], Runtime())
    assert scores.values.tolist() == alone.values.tolist()
    assert scores.system == alone.system


@pytest.mark.parametrize("name", WORDS)
def test_the_tables_of_unicode_are_signed_where_they_are_read(name):
    assert f"|unicode:{unidata_version}|" in str(signature_of(metric(f"{name}:tokenizer=unicode"), Runtime()))
    assert "unicode" not in str(signature_of(metric(name), Runtime()))


@pytest.mark.parametrize("name", WORDS)
def test_a_side_of_which_the_tokenizer_keeps_nothing_is_flagged(name):
    texts = [("!", ("!",)), ("a", ("a", "...")), ("a", ("...",)), ("", ("...",))]
    segments = [Segment(str(i), *text) for i, text in enumerate(texts)]
    scores = metric(f"{name}:tokenizer=unicode").score(segments, Runtime())
    assert scores.flags["untokenized"].tolist() == [True, False, True, False]
    assert scores.flags["empty"].tolist() == [False, False, False, True]
    assert "untokenized" not in metric(name).score(segments, Runtime()).flags


def test_the_corpus_number_is_that_of_summed_counts():
    segments = [Segment("a", "a x", ("a b",)), Segment("b", "a b c d e f", ("a b c d e f",)), Segment("c", "z", ("",))]
    scores = Wer().score(segments, Runtime())
    assert scores.stats.tolist() == [[1, 2], [0, 6], [1, 0]]
    assert scores.system == pytest.approx(2 / 8)


def test_a_rate_over_leading_axes():
    assert rate(np.array([[[1, 4], [3, 0]], [[0, 0], [0, 2]]])).tolist() == [[0.25, 3], [1, 0]]


def test_what_a_word_is():
    text = "One\ttwo  three\n\nfour-five, 船"
    assert Wer(tokenizer="jiwer").words(text) == ["One\ttwo", "three", "four-five,", "船"]
    assert Wer(lowercase=True).words(text) == ["one", "two", "three", "four-five,", "船"]
    assert Wer(tokenizer="unicode").words("船は four-five") == ["船", "は", "four", "five"]


@pytest.mark.parametrize("name", WORDS)
def test_text_without_blanks_is_told(name):
    writing = Writing("Thai", "Thai", spaced=False)
    assert "tokenizer=unicode, or cer" in metric(name).unread(writing)
    assert metric(f"{name}:tokenizer=unicode").unread(writing) is None
    assert metric(name).unread(Writing("Greek", "Greek", spaced=True)) is None


# --- Word and character error rates: by hand, and as in jiwer

EXACT = 1e-12  # whole numbers divided once or twice, in float64
RATES = ("wer", "mer", "wil", "wip", "cer")
words = st.lists(st.sampled_from(["a", "b", "c", "dd"]), min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        ("wer", 2 / 4),  # b is replaced, d is missing
        ("mer", 2 / 4),  # two edits and two hits
        ("wip", (2 / 4) * (2 / 3)),  # two hits in four words and in three
        ("wil", 1 - (2 / 4) * (2 / 3)),
        ("cer", 3 / 7),  # b is replaced, a blank and d are missing
    ],
)
def test_wer_by_hand(one, spec, value):
    assert one(spec, "a x c", "a b c d") == pytest.approx(value, abs=EXACT)


def test_an_error_rate_may_pass_1(one):
    assert one("wer", "a b c", "x") == 3
    assert one("cer", "abc", "x") == 3
    assert one("mer", "a b c", "x") == 1


def test_cer_is_that_of_jiwer_where_blanks_are_the_only_white_space(golden):
    scores, expected, _ = golden("cer")
    other = np.abs(scores.values - expected) > EXACT
    # a no-break space for a blank, two other ends of a line and U+001F for one, a tab for one, and "\t " and "\n\n"
    assert np.flatnonzero(other).tolist() == [13, 14, 15, 16]


@pytest.mark.parametrize("rate", RATES[:-1])
def test_values_are_those_of_jiwer(golden, rate):
    scores, expected, corpus = golden(rate, f"{rate}:tokenizer=jiwer")
    assert scores.values.tolist() == pytest.approx(expected, abs=EXACT)
    assert scores.system == pytest.approx(corpus, abs=EXACT)


def test_case_is_kept_unless_told_otherwise(one):
    assert one("wer", "The cat", "the cat") == 0.5
    assert one("wer:lowercase=true", "The cat", "the cat") == 0
    assert one("cer", "The", "the") == pytest.approx(1 / 3)
    assert one("cer:lowercase=true", "The", "the") == 0


def test_ten_thousand_characters_take_no_time():
    text = "".join("abc defgh"[i * i % 9] for i in range(10_000))
    assert Cer().score([Segment("a", text, (text[::-1],))], Runtime()).values[0] < 1


# --- PER, by hand


@pytest.mark.parametrize(
    ("hypothesis", "reference", "value"),
    [
        ("c b a", "a b c", 0),  # order is nothing
        ("a b x", "a b c", 1 / 3),  # one replaced
        ("a b", "a b c d", 2 / 4),  # two missing
        ("a b c d e", "a b", 3 / 2),  # three too many
        ("the the the", "the cat", 2 / 2),  # one "the" is matched: a replacement and one too many
        ("the the cat", "the the hat", 1 / 3),  # and two of two
        ("x y", "a b c", 3 / 3),
    ],
)
def test_per_by_hand(one, hypothesis, reference, value):
    assert one("per", hypothesis, reference) == pytest.approx(value)
    assert value <= one("wer", hypothesis, reference) + 1e-12


# --- CDER: by hand, and as its recursion read cell by cell

cder_words = st.lists(st.sampled_from("abcd"), max_size=8)


@pytest.mark.parametrize(
    ("hypothesis", "reference", "edits"),
    [
        ("a b c d", "a b c d", 0),
        ("c d a b", "a b c d", 3),  # a jump to the a, one from b back to c, one from d to the end
        ("a b x y z", "a b", 1),  # a jump over what is too much
        ("a b", "a b x y", 2),  # two words are missing
        ("a x c", "a b c", 1),
        ("a", "a a a", 2),
        ("a b", "a b a b", 1),  # a word may be visited twice: one jump back
        ("", "a b", 2),
        ("x y z", "a", 2),  # one replaced, and a jump
    ],
)
def test_cder_by_hand(one, hypothesis, reference, edits):
    assert edits_with_jumps(hypothesis.split(), reference.split()) == edits
    assert one("cder", hypothesis, reference) == pytest.approx(edits / len(reference.split()))


@given(hypothesis=cder_words, reference=cder_words)
def test_rows_are_those_of_the_recursion(hypothesis, reference):
    row = [0] + [1] * len(hypothesis)
    for word in reference:
        following = [row[0] + 1]
        for i, other in enumerate(hypothesis):
            following.append(min(following[i] + 1, row[i] + (word != other), row[i + 1] + 1))
        row = [min(cost, min(following) + 1) for cost in following]
    assert edits_with_jumps(hypothesis, reference) == row[-1]


def test_long_texts_take_no_time():
    words = [f"w{i}" for i in range(5000)]  # more than are held as bits
    assert edits_with_jumps(words, words) == 0
    assert edits_with_jumps(words[2500:] + words[:2500], words) == 3  # to the first, on to the second, and to the end


# --- EED: by hand, and as the authors' program

SPECS = ("eed", "eed:language=ja", "eed:alpha=1,rho=0.5,deletion=0.3,insertion=0.7")


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("many", [1, 1000])
def test_values_are_those_of_the_authors_however_pairs_are_grouped(golden, monkeypatch, spec, many):
    monkeypatch.setattr(edits, "_MANY", many)
    scores, expected, _ = golden(spec)
    assert scores.values.tolist() == pytest.approx(expected, abs=1e-9)
    assert scores.system == pytest.approx(sum(expected) / len(expected))


def test_eed_by_hand(one):
    # "ab" against "ax": one replacement. Places visited, the cheapest of each row: 1, then 2 (both cost 1; the first
    # of them is 1, with 0.2 more on the right). Place 0 and one other are not visited: (1 + 0.3 * v) / (2 + 0.3 * v).
    rows = one("eed:language=ja,rho=0", "ab", "ax")
    assert rows == pytest.approx(1 / 2)
    assert one("eed:language=ja", "ab", "ab") == pytest.approx(0.3 / 2.3)  # place 0 is never visited


def test_how_texts_are_prepared():
    assert english("Dr. No paid 3 . 5 or 3.5, i. e. much!  ") == " Dr. No paid 3.5 or 3 .5 , i.e. much ! "
    assert english("Yes, yes!?") == " Yes , yes ! ? "
    assert english(" a\tb ") == "  a b "
    titles = "Dr. Jr. Prof. Rev. Gen. Mr. Mt. Mrs. Ms. X"
    assert english(titles) == f" {titles} "
    assert english("St. X") == " St . X "
    assert english("Mr X") == " Mr. "  # any one character stands for the full stop
    assert japanese("ﾃｽﾄ１ ") == "テスト1"


def test_eed_a_pair_that_is_too_long_is_undefined_and_flagged(monkeypatch):
    monkeypatch.setattr(edits, "_LARGEST", 2000)  # of " a " and " b " 3 rows of 3 cells and 500 besides
    scores = Eed().score([Segment("a", "one two three", ("one two",)), Segment("b", "a", ("b",))], Runtime())
    assert scores.flags["too_long"].tolist() == [True, False]
    assert scores.system == scores.values[1]


# --- ITER: TER over stems, by hand


@pytest.mark.parametrize(
    ("hypothesis", "reference", "value"),
    [
        ("the dogs walked", "the dog walks", 0),  # the stems are equal
        ("c d a b", "a b c d", 1 / 4),  # a block moved
        ("a b c d e", "a b", 3 / 5),  # by the longer text
        ("x y z", "a", 1),
        ("Üben", "üben", 0),
        ("two cafés", "two café", 1 / 2),  # letters beyond ASCII: not the stemmer's, compared as they are
        ("a", "a b c d", 3 / 4),
    ],
)
def test_iter_by_hand(one, hypothesis, reference, value):
    assert one("iter", hypothesis, reference) == pytest.approx(value)


def test_capitals_hide_stems(one):
    assert one("iter:lowercase=false", "Dogs bark", "Dog bark") == 0.5


def test_iter_a_pair_that_is_too_long_is_undefined_and_flagged(monkeypatch):
    monkeypatch.setattr(shifts, "ROWS", 50)
    text = " ".join(f"w{i % 7}" for i in range(40))
    scores = Iter().score(
        [Segment("a", text, (" ".join(sorted(text.split())),)), Segment("b", "a b", ("a",))], Runtime()
    )
    assert math.isnan(scores.values[0])
    assert scores.flags["too_long"].tolist() == [True, False]
    assert scores.system == 0.5


# --- what edits leave alike


@pytest.mark.parametrize("metric", [EditSimilarity(), EditSimilarity(lowercase=True)])
def test_edit_similarity_keeps_the_contract(metric):
    check_metric(metric)


def test_edit_similarity_by_hand(one):
    assert one("edit_similarity", "kitten", "sitting") == pytest.approx(1 - 3 / 7)  # two replaced, one inserted
    assert one("edit_similarity", "kitten", "mitten!", "sitting") == pytest.approx(1 - 2 / 7)
    assert one("edit_similarity", "Kitten", "kitten") == pytest.approx(1 - 1 / 6)
    assert one("edit_similarity:lowercase=true", "Kitten ", "kitten") == 1
    assert one("edit_similarity", "", "") == one("edit_similarity", " ", "a") == 0


@given(st.text(min_size=1), st.text(min_size=1))
@example("0 0", "0\r0")
def test_edit_similarity_is_that_of_rapidfuzz(hypothesis, reference):
    found = EditSimilarity().score([Segment("a", hypothesis, (reference,))], Runtime())
    h, r = ("".join(" " if c.isspace() else c for c in text.strip()) for text in (hypothesis, reference))
    expected = Levenshtein.normalized_similarity(h, r)
    assert found.values[0] == (0 if found.flags["empty"][0] else pytest.approx(expected, abs=1e-12))
