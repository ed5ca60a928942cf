import gzip
import json
import os
import time
import unicodedata
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nlgauge.text.tokenize import (
    TOKENIZERS,
    best_shares,
    blank_words,
    rouge_words,
    sentence_spans,
    split_sentences,
    unicode_words,
    unit_spans,
    word_spans,
    writes_no_blanks,
)


def test_rouge_words_are_runs_of_ascii_letters_and_digits(cases):
    for text, words in cases:
        assert rouge_words(text) == (words.split(" | ") if words else [])


@given(st.text())
def test_rouge_words_are_rouge_scores(text):
    assert rouge_words(text) == pytest.importorskip("rouge_score.tokenize").tokenize(text, None)


def test_unicode_words(cases):
    for text, words in cases:
        assert unicode_words(text) == (words.split(" | ") if words else [])


@given(st.text())
def test_words_of_words_are_the_words(text):
    words = unicode_words(text)
    assert unicode_words(" ".join(words)) == words


@given(
    st.text(st.one_of(st.characters(), st.sampled_from("e\u0301\u0323\u00df\u0130Ωﬁ\u200d\u3099か각\u1100\u1161"))),
    st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]),
)
def test_how_a_text_is_composed_changes_nothing(text, form):
    assert unicode_words(unicodedata.normalize(form, text)) == unicode_words(text)


@given(st.text(st.characters(codec="ascii")))
def test_on_ascii_both_tokenizers_agree(text):
    assert unicode_words(text) == rouge_words(text)


def test_a_word_holds_letters_marks_and_digits_and_ideographs_not_yet_assigned():
    planes = (0, 1, 2, 3, 14)  # of the others nothing is assigned but to private use, as in plane 0
    points = [point for plane in planes for point in range(plane << 16, plane + 1 << 16)]
    characters = {c for word in unicode_words(" ".join(map(chr, points))) for c in word}
    strange = {c for c in characters if unicodedata.category(c)[0] not in "LMN"}
    # radicals count as ideographs though their category is that of symbols; the unassigned lie in ranges of letters
    assert [hex(ord(c)) for c in strange if not 0x2E80 <= ord(c) <= 0x2FDF and unicodedata.category(c) != "Cn"] == []


def test_names_name_the_tokenizers():
    assert {"rouge": rouge_words, "unicode": unicode_words, "blanks": blank_words} == TOKENIZERS


# --- Words with offsets: the treebanks' conventions by example, any text, and agreement with tagged English

DATA = os.environ.get("NLGAUGE_DATA")


def words(text: str) -> list[str]:
    return [text[start:end] for start, end in word_spans(text)]


# Bars show where tokens end; blanks part them too.
def test_words_are_parted_as_in_the_treebanks(cases):
    for marked in cases:
        expected = [word for word in marked.replace("|", " ").split() if word]
        assert words(marked.replace("|", "")) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", []), (" \t\n\u00a0", []), ("a", ["a"]), ("'", ["'"]), ("’s", ["’s"]), ("\ud800", ["\ud800"])],
)
def test_texts_of_hardly_anything(text, expected):
    assert words(text) == expected


def test_letters_of_other_scripts_are_not_torn_from_their_signs():
    assert words("हिन्दी में") == ["हिन्दी", "में"]
    assert words("на русском языке.") == ["на", "русском", "языке", "."]
    assert words("cafe\u0301 noir") == ["cafe\u0301", "noir"]


@given(text=st.text(st.one_of(st.characters(), st.sampled_from("aAsStTnN0119.,:;/'’-–@#$%&()!?… \n\u00a0\ud800"))))
@example("'s's's's")
@example("a.b.c.d@e.f.com/..")
@example("A.\n")
def test_every_character_that_is_not_blank_lies_in_exactly_one_token(text):
    reached = 0
    for start, end in word_spans(text):
        assert reached <= start < end <= len(text)
        assert not text[reached:start].strip()
        assert not any(character.isspace() for character in text[start:end])
        reached = end
    assert not text[reached:].strip()


@given(text=st.text(st.sampled_from("abSt'’n.,-0 ")), blanks=st.sampled_from(["\t", "\n", "\u00a0", "   "]))
def test_the_kind_of_blank_does_not_matter(text, blanks):
    assert words(text) == words(text.replace(" ", blanks))


@pytest.mark.parametrize(
    "unit",
    ["a", "a.", "a'", "'s", "@", "1,", "1,1x,", "www.", "http://)", "a-", ".", "A. ", "a@a.", "a's", "क्", "\ud800"],
)
def test_work_is_linear_in_the_text(unit):
    def seconds(repeats: int) -> float:
        start = time.process_time()
        word_spans(unit * repeats)
        return time.process_time() - start

    # Ten times the text: quadratic work would take a hundred times as long; 40 leaves room for a busy machine.
    limit = 40 * max(min(seconds(2_000) for _ in range(3)), 1e-4)
    assert any(seconds(20_000) < limit for _ in range(3))


@pytest.mark.skipif(DATA is None, reason="NLGAUGE_DATA is not set")
@pytest.mark.parametrize(
    ("file", "least"), [("pud.test.jsonl.gz", 0.998), pytest.param("ewt.test.jsonl.gz", 0.984, marks=pytest.mark.slow)]
)  # measured: 0.9995, 0.986
def test_spans_agree_with_treebanks(file, least):
    agreed = ours = theirs = 0
    with gzip.open(Path(DATA, "ud", file), "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            gold, reached = set(), 0
            for form, *_ in row["tokens"]:
                start = row["text"].index(form, reached)
                reached = start + len(form)
                gold.add((start, reached))
            found = set(word_spans(row["text"]))
            agreed, ours, theirs = agreed + len(found & gold), ours + len(found), theirs + len(gold)
    assert 2 * agreed / (ours + theirs) >= least


pieces = st.sampled_from([*".!?…。 \n\u3000\u2028”\"'()¿5猫", "Dr", "U", "S", "the", "The", "No"])
texts = st.lists(pieces, max_size=25).map("".join)


def test_sentences_set_apart_by_blanks_are_found(cases):
    for sentences in cases:
        assert split_sentences(sentences.replace(" | ", " ")) == sentences.split(" | ")


@pytest.mark.parametrize(
    "sentences",
    [
        ["船は七時に出る。", "次は？", "「行こう。」", "はい！"],
        ["渡轮离港。", "下一班呢？"],
        ["नाव चली गई।", "फिर कब?"],
        ["መርከቡ ሄደ።", "መቼ?"],
        ["هل غادرت؟", "نعم."],
    ],
)
def test_full_stops_of_other_scripts_need_no_blank_behind_them(sentences):
    assert split_sentences("".join(sentences)) == sentences


def test_a_line_feed_ends_a_sentence_and_blank_lines_are_none():
    assert split_sentences("a headline\nthe text goes on\r\n\n \nto here") == [
        "a headline",
        "the text goes on",
        "to here",
    ]


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\u3000\n"])
def test_blank_text_has_no_sentence(text):
    assert sentence_spans(text) == []


def test_offsets_are_those_of_the_text():
    text = "  It rains.  \n We stay. "
    assert [text[start:end] for start, end in sentence_spans(text)] == ["It rains.", "We stay."]
    assert sentence_spans(text) == [(2, 11), (15, 23)]


@given(texts)
def test_spans_hold_every_visible_character_once_in_order(text):
    spans = sentence_spans(text)
    edges = [edge for span in spans for edge in span]
    assert edges == sorted(edges)
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in spans)
    inside = {i for start, end in spans for i in range(start, end)}
    assert all(i in inside or character.isspace() for i, character in enumerate(text))


@given(texts)
@example('. "\nthe')  # what begins the next line says nothing of the end of this one
def test_no_sentence_crosses_a_line(text):
    assert split_sentences(text) == [sentence for line in text.split("\n") for sentence in split_sentences(line)]


@pytest.mark.parametrize("unit", ["a.", ". ", "...", "A. ", "“", "Mr. ", "x", " ", "。", "!\u201d", ".\n"])
def test_a_text_of_100_000_characters_is_read_at_once(unit):
    # time that grew with the square of the text would keep this test busy for minutes
    spans = sentence_spans(unit * (100_000 // len(unit)))
    assert spans == sorted(spans)


# --- Units: words with what belongs to them, marks alone, and nothing lost


def test_units_are_words_with_what_belongs_to_them(cases):
    for text, units in cases:
        assert "|".join(text[a:b] for a, b in unit_spans(text)) == units


@given(st.text(alphabet=st.sampled_from("ab1 .,-'’\"$%()今天ガラスรเนा\u0301\u200d\ufe0f🏽🇩😀\n")) | st.text())
def test_units_are_in_order_and_hold_every_character_but_blanks(text):
    spans, at, between = unit_spans(text), 0, ""
    for start, end in spans:
        assert at <= start < end
        between += text[at:start]
        at = end
    assert not (between + text[at:]).strip()


def test_scripts_without_blanks_are_known_by_their_letters():
    assert [c for c in "a今ガเन1。" if writes_no_blanks(c)] == ["今", "ガ", "เ"]


@given(st.text(alphabet=st.sampled_from("ab.今ร \u0301\u200d\u200b\ufe0f🏽😀")))
def test_no_unit_beside_another_is_unseen(text):
    spans = unit_spans(text)
    for (_, end), (start, stop) in pairwise(spans):
        assert end < start or text[start:stop].strip("\u0301\u200d\u200b\ufe0f")


# --- What a word has in common with others: by hand, and as a search of every pair finds it

substrings_words = st.lists(st.text("abc", min_size=1, max_size=8), min_size=1, max_size=5)


@pytest.mark.parametrize(
    ("first", "second", "share"),
    [("ferry", "ferries", 8 / 12), ("rain", "rain", 1), ("rain", "sun", 2 / 7), ("a", "b", 0), ("abxcd", "cdyab", 0.4)],
)
def test_the_share_of_two_words(first, second, share):
    assert best_shares([first], [second]) == [share]
    assert best_shares([second], [first]) == [share]


def test_a_shorter_substring_of_a_shorter_word_can_be_more():
    # "abcx" has "abc" in common with the first, 3 of 4 and of 20 characters, and "ab" with the second, 2 of 4 and of 3
    assert best_shares(["abcx"], ["abc" + "d" * 17, "aby"]) == [2 * 2 / 7]
    assert best_shares(["abc"], []) == [0]


@given(words=substrings_words, others=substrings_words)
def test_it_is_the_best_of_all_pairs(words, others):
    def share(one, other):
        common = [j - i for i in range(len(one)) for j in range(i + 1, len(one) + 1) if one[i:j] in other]
        return 2 * max(common, default=0) / (len(one) + len(other))

    assert best_shares(words, others) == [max(share(one, other) for other in others) for one in words]


def test_words_of_one_letter_are_soon_compared():
    assert best_shares(["a" * 9999], ["a" * 10000]) == [2 * 9999 / 19999]
    assert best_shares(["a" * 150], ["a" * k for k in range(1, 300) if k != 150]) == [2 * 150 / 301]  # of 151
