"""A text taken apart: words as blanks show them, places of tokens, spans."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.text.doc import Doc, Span, Token, is_punctuation
from nlgauge.text.languages import language
from nlgauge.text.tokenize import word_spans

pieces = st.sampled_from([
    "well-known", "don't", "dogs'", "it’s", "U.S.", "$5", "5%", "Yes", ".", ",", "(", ")", '"', "“", "—", "--", "'",
    "-", " ", "\n", "\u00a0", "猫",
])  # fmt: skip
texts = st.lists(pieces, max_size=12).map("".join) | st.text(max_size=20)


def parted(text: str) -> Doc:
    """One sentence, tags left out."""
    tags = ["POS" if text[a:b] in "'’" and a and text[a - 1].isalpha() else "X" for a, b in word_spans(text)]
    tokens = tuple(
        Token(i, a, b, text[a:b], tag) for i, ((a, b), tag) in enumerate(zip(word_spans(text), tags, strict=True))
    )
    return Doc(text, tokens, (Span(0, len(tokens) - 1, tokens[0].start, tokens[-1].end),) if tokens else ())


def words(text: str) -> list[str]:
    doc = parted(text)
    return [doc.between(w) for w in doc.words]


def test_words_are_what_blanks_show_without_the_marks_around_them(cases):
    for text, expected in cases:
        assert words(text) == (expected.split(" | ") if expected else [])


@given(text=texts)
def test_words_are_runs_of_tokens_in_order_with_no_blank_inside(text):
    doc = parted(text)
    reached = -1
    for word in doc.words:
        assert reached < word.first <= word.last
        assert doc.between(word) == text[doc.tokens[word.first].start : doc.tokens[word.last].end]
        assert not any(c.isspace() for c in doc.between(word))
        reached = word.last


@given(text=texts)
def test_what_lies_outside_words_is_punctuation(text):
    doc = parted(text)
    assert [t.text for t in doc.tokens if doc.word_at[t.index] is None and not is_punctuation(t.text)] == []
    for place, word in enumerate(doc.words):
        assert doc.word_at[word.first] == doc.word_at[word.last] == place


def test_places_of_tokens():
    doc = language().analyse("“Go on,” he said. Then nothing.")
    assert [s.first for s in doc.sentences] == [0, 8]
    assert doc.sentence_at == (0,) * 8 + (1,) * 3
    # “ 0, Go 1, on 2, "," 3, ” 4, he 5, said 6, "." 7, Then 8
    assert [t.text for t in doc.tokens if doc.starts_sentence(t.index)] == ["“", "Go", "Then"]
    assert [t.text for t in doc.tokens if doc.touches(t.index)] == ["Go", ",", "”", ".", "."]
    assert doc.between(doc.span(1, 4)) == "Go on,”"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (".", True),
        ("?!", True),
        ("“", True),
        ("—", True),
        ("'", True),
        ("%", False),
        ("@", False),
        ("#", False),
        ("&", False),
        ("$", False),
        ("a.", False),
        ("", False),
    ],
)
def test_punctuation_is_marks_alone_and_signs_read_aloud_are_none(text, expected):
    assert is_punctuation(text) is expected
    assert Token(0, 0, 1, text, "X").is_punctuation is expected


def test_a_token_in_small_letters_has_a_plain_apostrophe():
    assert Token(0, 0, 3, "N’T", "RB").lower == "n't"


def test_a_sentence_begins_behind_its_marks():
    doc = language("builtin").analyse('"(Rain fell. ... It stopped')
    started = [t.text for t in doc.tokens if doc.starts_sentence(t.index)]
    assert [word for word in started if word.isalpha()] == ["Rain", "It"]
    shouted = language("builtin").analyse("POLICE FIND BOY. They left the house.")
    assert shouted.in_small_letters == (False, True)


def test_a_quoted_title_has_capitals_in_all_longer_words():
    doc = language().analyse('He sang "It\'s Great to Be Old" and said "we are late".')
    assert [doc.tokens[i].text for i in sorted(doc.in_titles)] == ["It", "'s", "Great", "to", "Be", "Old"]
    assert (doc.low(-1), doc.low(0), doc.low(99)) == ("", "he", "")
