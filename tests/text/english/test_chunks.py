"""Phrases by tags, on tags written down, so that no tagger has a say."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.text.doc import Doc, Span, Token
from nlgauge.text.english.chunks import noun_phrases, prepositional_phrases
from nlgauge.text.words import word_spans

TAGS = [
    "DT",
    "PRP$",
    "PDT",
    "JJ",
    "JJR",
    "VBN",
    "VBG",
    "CD",
    "$",
    "NN",
    "NNS",
    "NNP",
    "POS",
    "IN",
    "TO",
    "CC",
    ",",
    "PRP",
    "RB",
    "VBD",
    "HYPH",
    ".",
]


def tagged(line: str) -> Doc:
    """A document of one sentence from `word/TAG` pairs; a word that begins with ~ touches the one before it."""
    text, tokens = "", []
    for i, pair in enumerate(line.split()):
        word, tag = pair.rsplit("/", 1)
        text += "" if word[0] == "~" or not text else " "
        word = word.removeprefix("~")
        tokens.append(Token(i, len(text), len(text) + len(word), word, tag))
        text += word
    return Doc(text, tuple(tokens), (Span(0, len(tokens) - 1, 0, len(text)),) if tokens else ())


def found(line: str) -> list[tuple[str, str]]:
    doc = tagged(line)
    return [(doc.between(p), doc.tokens[p.head].text) for p in noun_phrases(doc)]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("My/PRP$ relatives/NNS are/VBP in/IN town/NN ~./.", [("My relatives", "relatives"), ("town", "town")]),
        ("the/DT big/JJ ~,/, red/JJ house/NN", [("the big, red house", "house")]),
        ("black/JJ and/CC white/JJ cats/NNS", [("black and white cats", "cats")]),
        ("the/DT questions/NNS Lang/NNP asked/VBD", [("the questions", "questions"), ("Lang", "Lang")]),
        ("a/DT savings/NNS account/NN", [("a savings account", "account")]),
        ("cats/NNS and/CC dogs/NNS", [("cats", "cats"), ("dogs", "dogs")]),
        ("all/PDT the/DT very/RB old/JJ men/NNS", [("all the very old men", "men")]),
        (
            "the/DT old/JJ committee/NN ~'s/POS new/JJ chairman/NN left/VBD",
            [("the old committee's new chairman", "chairman")],
        ),
        ("a/DT broken/VBN window/NN", [("a broken window", "window")]),
        ("he/PRP has/VBZ broken/VBN windows/NNS", [("windows", "windows")]),  # not "broken windows": it may be the verb
        (
            "a/DT well/RB ~-/HYPH ~known/VBN ten/CD ~-/HYPH ~year/NN ~-/HYPH ~old/JJ boy/NN",
            [("a well-known ten-year-old boy", "boy")],
        ),
        ("a/DT co/NN ~-/HYPH ~worker/NN", [("a co-worker", "worker")]),
        ("$/$ ~5/CD million/CD for/IN two/CD bridges/NNS", [("$5 million", "million"), ("two bridges", "bridges")]),
        (
            "Mr./NNP John/NNP Weber/NNP of/IN Lang/NNP &/CC Sons/NNPS",
            [("Mr. John Weber", "Weber"), ("Lang & Sons", "Sons")],
        ),
        ("on/IN May/NNP 4/CD ~,/, 2010/CD", [("May 4, 2010", "May")]),
        (
            "a/DT man/NN in/IN front/NN of/IN a/DT tree/NN",
            [("a man", "man"), ("a tree", "tree")],
        ),  # "front" is part of a preposition
        ("she/PRP came/VBD of/IN course/NN", []),
        ("They/PRP saw/VBD two/CD ~./.", []),  # neither pronouns nor numbers alone
        ("./.", []),
        ("", []),
    ],
)
def test_noun_phrases_and_their_heads(line, expected):
    assert found(line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("He/PRP sat/VBD on/IN top/NN of/IN the/DT hill/NN in/IN 1990/CD ~./.", ["on top of the hill", "in 1990"]),
        ("the/DT end/NN of/IN the/DT road/NN of/IN stones/NNS to/TO town/NN", ["of the road of stones", "to town"]),
        ("with/IN him/PRP", ["with him"]),
        ("in/IN regard/NN to/IN", []),
        ("in/IN the/DT far/RB north/NN", ["in the far north"]),
        ("in/IN the/DT middle/NN of/IN a/DT street/NN", ["in the middle of a street"]),
        ("to/TO go/VB", []),
        ("because/IN he/PRP left/VBD because/IN of/IN the/DT rain/NN", ["because of the rain"]),
        ("instead/RB of/IN bread/NN", ["instead of bread"]),
    ],
)
def test_prepositional_phrases_begin_with_their_head(line, expected):
    doc = tagged(line)
    phrases = prepositional_phrases(doc)
    assert [doc.between(p) for p in phrases] == expected
    assert all(p.head == p.first for p in phrases)


def test_no_phrase_crosses_the_end_of_a_sentence():
    text = "He saw the\nhouse"
    tokens = tuple(
        Token(i, a, b, text[a:b], tag)
        for i, ((a, b), tag) in enumerate(zip(word_spans(text), ["PRP", "VBD", "DT", "NN"], strict=True))
    )
    doc = Doc(text, tokens, (Span(0, 2, 0, 10), Span(3, 3, 11, 16)))
    assert [doc.between(p) for p in noun_phrases(doc)] == ["house"]


@given(
    pairs=st.lists(
        st.tuples(st.sampled_from(["a", "of", "very", "~-", "~&", "in", "front"]), st.sampled_from(TAGS)), max_size=15
    )
)
def test_phrases_are_in_order_and_hold_their_head(pairs):
    doc = tagged(" ".join(f"{word}/{tag}" for word, tag in pairs))
    for phrases in (noun_phrases(doc), prepositional_phrases(doc)):
        reached = -1
        for phrase in phrases:
            assert reached < phrase.first <= phrase.head <= phrase.last
            assert (phrase.start, phrase.end) == (doc.tokens[phrase.first].start, doc.tokens[phrase.last].end)
            reached = phrase.last
    assert all(
        doc.tokens[p.head].tag in ("NN", "NNS", "NNP", "CD") or doc.tokens[p.head].text in "-&"
        for p in noun_phrases(doc)
    )


@pytest.mark.parametrize(
    "unit",
    [
        "a/DT ",
        "a/JJ ",
        "a/NN ",
        "a/NNP ",
        "a/CD ",
        "a/DT a/JJ ",
        "a/NN 's/POS ",
        "in/IN ",
        "a/VBN a/JJ ",
        "a/JJ ,/, ",
        "in/IN a/NN of/IN ",
    ],
)
def test_work_is_linear_in_the_text(unit):
    def seconds(repeats: int) -> float:
        doc = tagged(unit * repeats)
        start = time.process_time()
        noun_phrases(doc)
        prepositional_phrases(doc)
        return time.process_time() - start

    # Ten times the text: quadratic work would take a hundred times as long; 40 leaves room for a busy machine.
    limit = 40 * max(min(seconds(1_000) for _ in range(3)), 1e-3)
    assert any(seconds(10_000) < limit for _ in range(3))
