import unicodedata
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nlgauge as ng
from nlgauge.core.errors import SpecError
from nlgauge.core.metric import signature_of
from nlgauge.core.segment import Segment
from nlgauge.metrics.lexical import rouge as module
from nlgauge.metrics.lexical.ngrams import Numbered
from nlgauge.metrics.lexical.rouge import Rouge, lcs_lengths, number, union_hits
from nlgauge.runtime.runtime import Runtime
from nlgauge.testing import check_metric, check_options
from nlgauge.text.tokenize import TOKENIZERS, rouge_words

texts = st.lists(st.text(st.sampled_from("abz019AK \n\0-é猫\ud800\u212a"), max_size=30), max_size=8)


def split(numbered):
    return [numbered.tokens[a:b].tolist() for a, b in pairwise(numbered.starts)]


def renamed(rows):
    """The same rows with names in order of first appearance."""
    names = {}
    return [[names.setdefault(token, len(names)) for token in row] for row in rows]


@given(texts, st.sampled_from(["rouge", "unicode"]))
def test_numbers_stand_for_the_tokens_of_the_named_tokenizer(rows, tokenizer):
    numbered = number(rows, tokenizer)
    assert renamed(split(numbered)) == renamed([TOKENIZERS[tokenizer](row) for row in rows])
    assert numbered.size > numbered.tokens.max(initial=-1)
    assert len(numbered.lengths) == len(rows)


@given(texts)
def test_a_stemmer_merges_what_it_makes_equal_and_is_asked_once_a_word(rows):
    asked = []

    def first_letter(word):
        asked.append(word)
        return word[0]

    merged = number(rows, "rouge", first_letter)
    words = [rouge_words(row) for row in rows]
    assert renamed(split(merged)) == renamed([[word[0] for word in row] for row in words])
    assert sorted(asked) == sorted({word for row in words for word in row})
    assert merged.size == len({word[0] for row in words for word in row})


sentences = st.lists(st.lists(st.integers(0, 3), max_size=9), max_size=4)


def numbered(rows, size=None):
    tokens = np.array([token for row in rows for token in row], dtype=np.int64)
    return Numbered(tokens, np.cumsum([0, *map(len, rows)]), size or int(tokens.max(initial=0)) + 1)


def table(reference, hypothesis):
    """Lengths of the longest common subsequences of all pairs of beginnings."""
    lengths = np.zeros((len(reference) + 1, len(hypothesis) + 1), dtype=int)
    for i, wanted in enumerate(reference, start=1):
        for j, token in enumerate(hypothesis, start=1):
            lengths[i, j] = lengths[i - 1, j - 1] + 1 if wanted == token else max(lengths[i - 1, j], lengths[i, j - 1])
    return lengths


def matched(reference, hypothesis):
    """Places in the reference of the subsequence read off the table from its end, by the rule of `union_matches`."""
    lengths, found = table(reference, hypothesis), set()
    i, j = len(reference), len(hypothesis)
    while i and j:
        if reference[i - 1] == hypothesis[j - 1]:
            i, j = i - 1, j - 1
            found.add(i)
        elif lengths[i, j - 1] > lengths[i - 1, j]:
            j -= 1
        else:
            i -= 1
    return found


def hits(reference, hypothesis):
    """Union over sentences, then no token more often than the hypothesis has it."""
    union = [
        sentence[i] for sentence in reference for i in set().union(*(matched(sentence, other) for other in hypothesis))
    ]
    own = [token for sentence in hypothesis for token in sentence]
    return sum(min(union.count(token), own.count(token)) for token in set(union))


def random_rows(seed, lengths, kinds):
    rng = np.random.default_rng(seed)
    return [rng.integers(kinds, size=length).tolist() for length in lengths]


@pytest.mark.parametrize("size", [None, module._CODE_POINTS])
def test_lengths_are_those_of_the_table(size):
    rows = random_rows(0, [0, 1, 5, 30, 63, 64, 65, 130, 200], 6)
    pairs = np.array([(h, r) for h in range(len(rows)) for r in range(len(rows))])
    expected = [table(rows[r], rows[h])[-1, -1] for h, r in pairs]
    assert lcs_lengths(numbered(rows, size), *pairs.T).tolist() == expected


def test_token_numbers_that_are_no_characters_are_told_apart():
    # the surrogates of Unicode, U+D800 to U+DFFF, are no characters by themselves
    rows = numbered([[0xD800, 0xDFFF, 0x10FFFF], [0xDFFF, 0xD800, 0x10FFFF]], module._CODE_POINTS - 1)
    assert lcs_lengths(rows, np.array([0]), np.array([1])).tolist() == [2]


@given(sentences, sentences, sentences)
def test_hits_are_those_of_the_table(one, two, three):
    texts = [one, two, three]
    rows, first = numbered([row for text in texts for row in text], 4), np.cumsum([0, *map(len, texts)])
    pairs = np.array([(h, r) for h in range(3) for r in range(3)])
    assert union_hits(rows, first, *pairs.T).tolist() == [hits(texts[r], texts[h]) for h, r in pairs]


@given(sentences, sentences, st.integers(1, 30))
def test_the_size_of_a_batch_changes_no_hit(one, two, cells):
    rows, first = numbered(one + two, 4), np.cumsum([0, len(one), len(two)])
    pairs = np.array([(0, 1), (1, 0), (0, 0), (1, 1)]).T
    whole = union_hits(rows, first, *pairs).tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CELLS", cells)
        assert union_hits(rows, first, *pairs).tolist() == whole


EXACT = 1e-9  # whole numbers divided in float64 as rouge-score divides them
PARTS = ("precision", "recall", "f1")

words = st.sampled_from(
    ["the", "cat", "cats", "running", "runs", "U.S.", "agreed", "x" * 17, "naïve", "don't", *"a3猫.\n\r\u2028"]
)
rouge_texts = st.lists(words, max_size=14).map(" ".join)


def scores(segments, **options):
    """(n, 3): precision, recall, F1."""
    found = Rouge(**options).score(segments, Runtime())
    return np.stack([found.parts[part] for part in PARTS], axis=1)


def one(hypothesis, *references, **options):
    return scores([Segment("a", hypothesis, references)], **options)[0].tolist()


def theirs(segments, variant, **options):
    scorer = pytest.importorskip("rouge_score.rouge_scorer").RougeScorer([f"rouge{variant}"], **options)
    rows = [scorer.score_multi(list(s.references), s.hypothesis)[f"rouge{variant}"] for s in segments]
    return np.array([[row.precision, row.recall, row.fmeasure] for row in rows])


# Worked by hand


def test_unigrams_are_clipped():
    # "the" twice against once, "cat" once: 2 of 4 hypothesis words, 2 of 3 reference words
    assert one("the the cat ran", "the cat sat", variant="1") == pytest.approx([2 / 4, 2 / 3, 4 / 7])


def test_l_takes_the_longest_common_subsequence():
    # the first example of Lin (2004), section 3.1: "police killed the gunman" against "police kill the gunman" and "the
    # gunman kill police"
    reference = "police killed the gunman"
    assert one("police kill the gunman", reference, variant="L") == pytest.approx([3 / 4] * 3)
    assert one("the gunman kill police", reference, variant="L") == pytest.approx([2 / 4] * 3)
    # a blemish it names: only the longest counts, so that another "the gunman" adds nothing to "police"
    assert one("the gunman police killed", reference, variant="L") == pytest.approx([2 / 4] * 3)


def test_lsum_takes_the_union_over_sentences_and_lines_are_sentences():
    # section 3.2: the union matches w1 w2 w3 w5 of five; the hypothesis has ten words
    hypothesis, reference = "w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5", "w1 w2 w3 w4 w5"
    assert one(hypothesis, reference, variant="Lsum") == pytest.approx([4 / 10, 4 / 5, 8 / 15])
    # as one line: w1 w2 w3 w5 is the longest common subsequence of the whole texts too, but not of "... w5 w3"
    assert one("w1 w5\nw3", "w1 w3 w5", variant="Lsum") == pytest.approx([1, 1, 1])
    assert one("w1 w5 w3", "w1 w3 w5", variant="Lsum") == pytest.approx([2 / 3] * 3)


def test_sentences_may_be_found_by_rules():
    # two sentences in another order: as lines (one each) the longest subsequence is 2 of 4, as sentences everything
    hypothesis, reference = "It rains. We stay.", "We stay. It rains."
    assert one(hypothesis, reference, variant="Lsum")[2] == pytest.approx(1 / 2)
    assert one(hypothesis, reference, variant="Lsum", split="sentences")[2] == pytest.approx(1)


def test_only_words_of_more_than_three_letters_are_stemmed():
    assert one("agreed", "agrees", variant="1", use_stemmer=True) == [1, 1, 1]
    # "flies" becomes "fli", "fly" is too short to become it too
    assert one("running flies", "run fly", variant="1", use_stemmer=True) == pytest.approx([1 / 2] * 3)
    assert one("dies", "die", variant="1", use_stemmer=True) == [1, 1, 1]
    assert one("cats", "cat", variant="1") == [0, 0, 0]


def test_a_text_shorter_than_the_order_scores_0_without_being_empty():
    found = Rouge(variant="3").score([Segment("a", "the cat", ("the cat",))], Runtime())
    assert found.values.tolist() == [0]
    assert not found.flags["empty"].any()


def test_a_line_feed_alone_ends_a_line():
    # w3 before w5 only if the text is one sentence
    for blank in ("\r", "\u2028", "\x0b", "\x85"):
        assert one(f"w1 w5{blank}w3", "w1 w3 w5", variant="Lsum")[2] == pytest.approx(2 / 3)
    assert one("w1 w5\r\nw3", "w1 w3 w5", variant="Lsum")[2] == pytest.approx(1)


# Parity


@pytest.mark.parametrize("stemmed", [False, True])
@pytest.mark.parametrize("variant", ["1", "2", "9", "L", "Lsum"])
def test_odd_texts_score_as_in_rouge_score(corpus, variant, stemmed):
    expected = theirs(corpus.segments, variant, use_stemmer=stemmed)
    np.testing.assert_allclose(
        scores(corpus.segments, variant=variant, use_stemmer=stemmed), expected, rtol=0, atol=EXACT
    )


@given(
    st.lists(st.tuples(rouge_texts, st.lists(rouge_texts, min_size=1, max_size=3)), min_size=1, max_size=4),
    st.booleans(),
)
def test_any_words_score_as_in_rouge_score(rows, stemmed):
    segments = [Segment(str(i), hypothesis, tuple(references)) for i, (hypothesis, references) in enumerate(rows)]
    for variant in ("1", "2", "L", "Lsum"):
        expected = theirs(segments, variant, use_stemmer=stemmed)
        np.testing.assert_allclose(scores(segments, variant=variant, use_stemmer=stemmed), expected, rtol=0, atol=EXACT)


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_characters_score_as_in_rouge_score(hypothesis, reference):
    segments = [Segment("a", hypothesis, (reference,)), Segment("b", hypothesis, (hypothesis + reference,))]
    for variant in ("1", "Lsum"):
        np.testing.assert_allclose(scores(segments, variant=variant), theirs(segments, variant), rtol=0, atol=EXACT)


@given(
    st.lists(st.lists(st.integers(0, 30), max_size=90), min_size=1, max_size=4),
    st.lists(st.integers(0, 30), min_size=50, max_size=90),
)
@settings(max_examples=25, deadline=None)
def test_sentences_longer_than_a_machine_word_score_as_in_rouge_score(lines, line):
    reference = "\n".join(" ".join(f"w{i}" for i in row) for row in [line, *lines[1:]])
    hypothesis = "\n".join(" ".join(f"w{i}" for i in row) for row in lines)
    segments = [Segment("a", hypothesis, (reference,)), Segment("b", reference, (hypothesis,))]
    for variant in ("L", "Lsum"):
        np.testing.assert_allclose(scores(segments, variant=variant), theirs(segments, variant), rtol=0, atol=EXACT)


# References


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        # against "a" P 1/2, R 1, F 2/3; against "a b c d e f g h" P 1, R 1/4, F 2/5
        ("best", [1 / 2, 1, 2 / 3]),
        ("best_each", [1, 1, 2 / 3]),
        ("mean", [3 / 4, 5 / 8, 8 / 15]),
        ("first", [1, 1 / 4, 2 / 5]),
    ],
)
def test_several_references_are_folded_as_asked(policy, expected):
    assert one("a b", "a b c d e f g h", "a", variant="1", references=policy) == pytest.approx(expected)


def test_the_value_decides_which_reference_is_best():
    segment = Segment("a", "a b", ("a b c d e f g h", "a"))
    for value, reference in (("f1", 1), ("precision", 0), ("recall", 1)):
        found = Rouge(variant="1", value=value).score([segment], Runtime())
        assert found.parts["reference"].tolist() == [reference]
        assert found.values.tolist() == found.parts[value].tolist()


# Other scripts


def test_other_scripts_need_the_other_tokenizer():
    assert one("船は七時に出る", "船は七時に出る", variant="L") == [0, 0, 0]  # rouge-score's rule keeps a-z and 0-9
    assert one("船は七時に出る", "船は七時に出る", variant="L", tokenizer="unicode") == [1, 1, 1]
    # three of four characters
    assert one("渡轮离港", "渡轮进港", variant="1", tokenizer="unicode") == pytest.approx([3 / 4] * 3)
    # of two words one
    assert one("Паром ушёл", "паром пришёл", variant="1", tokenizer="unicode") == pytest.approx([1 / 2] * 3)


def test_tokenised_texts_may_be_taken_as_they_are():
    # 'the' and 'cat' of three words; 'cat.' would be one word with its period
    assert one("the cat sat", "the cat .", variant="1", tokenizer="blanks") == pytest.approx([2 / 3] * 3)
    assert one("the cat.", "the cat .", variant="1", tokenizer="blanks") == pytest.approx([1 / 2, 1 / 3, 2 / 5])
    assert one("The", "the", variant="1", tokenizer="blanks") == [0, 0, 0]


def test_compatibility_forms_and_case_are_one_to_the_unicode_tokenizer():
    assert one("ﬁve STRASSE ①", "five straße 1", variant="1", tokenizer="unicode") == [1, 1, 1]


def test_the_stemmer_leaves_other_scripts_alone():
    assert one("Übungens", "übungen", variant="1", tokenizer="unicode", use_stemmer=True) == [0, 0, 0]
    assert one("landings", "landing", variant="1", tokenizer="unicode", use_stemmer=True) == [1, 1, 1]


# Properties


# Flags, signature, refusals


def test_a_side_without_a_token_scores_0_and_is_flagged_as_empty_only_if_it_is_blank():
    rows = [("", "a"), (" \n", "a"), ("...", "a"), ("a", ""), ("a", "猫"), ("", ""), ("a", "b"), ("a", "a")]
    found = Rouge().score(
        [Segment(str(i), hypothesis, (reference,)) for i, (hypothesis, reference) in enumerate(rows)], Runtime()
    )
    assert found.flags["empty"].tolist() == [True, True, False, True, False, True, False, False]
    assert found.flags["untokenized"].tolist() == [False, False, True, False, True, False, False, False]
    assert found.values.tolist() == [0] * 7 + [1]


def test_an_empty_reference_among_others_raises_no_flag_where_another_is_better():
    found = Rouge().score([Segment("a", "x", ("", "x"))], Runtime())
    assert (found.values.tolist(), found.flags["empty"].tolist()) == ([1], [False])


@pytest.mark.parametrize(
    ("name", "variant"),
    [("rouge1", "1"), ("rouge2", "2"), ("rougeL", "L"), ("rougeLsum", "Lsum"), ("rouge:variant=7", "7")],
)
def test_the_usual_names_are_variants(name, variant):
    assert ng.metric(name) == Rouge(variant=variant)
    assert signature_of(ng.metric(name)).spec == ("rouge" if variant == "L" else f"rouge:variant={variant}")


def test_the_signature_names_what_counts_and_nothing_else():
    entries = dict(signature_of(ng.metric("rougeL"), Runtime()).entries)
    assert "split" not in entries
    assert "unicode" not in entries
    entries = dict(signature_of(ng.metric("rougeLsum:tokenizer=unicode"), Runtime()).entries)
    assert (entries["split"], entries["unicode"]) == ("lines", unicodedata.unidata_version)


def test_splitting_is_refused_where_no_sentence_is_read():
    with pytest.raises(SpecError, match="rouge:split changes nothing under variant=L; only Lsum reads sentences"):
        Rouge(split="sentences")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"variant": "2", "value": "recall", "references": "best_each"},
        {"variant": "Lsum", "split": "sentences", "tokenizer": "unicode", "use_stemmer": True, "references": "mean"},
    ],
    ids=str,
)
def test_the_contract_holds_and_every_option_is_signed(options):
    check_metric(Rouge(**options))
    assert check_options(Rouge(variant="Lsum")) == []
