"""Clauses that can be said after a sentence, and what is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.perturbations.clauses.borrowed_clauses import Clause, clause
from nlgauge.text.languages import language

pieces = st.sampled_from(
    ["The shop", " was closed", " because", ", and", " we", " left", ".", "?", '"', " (", ")", " ", "\n", "\ud800"]
)


def first(text: str, most: int = 12) -> Clause | None:
    doc = language().analyse(text)
    return clause(doc, doc.sentences[0], most)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The shop was closed.", "the shop was closed"),
        ("The shop was closed because it rained.", "the shop was closed"),
        ("The shop was closed, which surprised us.", "the shop was closed"),
        ("Anna left the old house.", "Anna left the old house"),
        ("I know him well.", "I know him well"),
        ("German trains are late.", "German trains are late"),
        ("It's a well-known fact.", "it's a well-known fact"),
    ],
)
def test_a_whole_clause_begins_small_unless_a_name_begins_it(text, expected):
    assert first(text) == Clause(expected, finite=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a dog on a bench", "a dog on a bench"), ("Two boats in a harbour.", "two boats in a harbour")],
)
def test_a_caption_is_a_phrase(text, expected):
    assert first(text) == Clause(expected, finite=False)


@pytest.mark.parametrize(
    "text",
    [
        "Was the shop closed?",
        "The shop was closed!",
        "And the shop was closed.",  # begins with no subject
        "Closed since noon.",
        "He left.",  # too short
        "The shop, they say, was closed.",  # before the comma there is no verb
        "The shop (at noon) was closed.",
        "He said “the shop was closed”.",
        "The Shop Was Closed By The Mayor.",  # a headline
        "The old shop is",  # the verb has nothing behind it
        "The shop was closed by the new mayor of the town in the far north of the land.",  # too long
        "...",
    ],
)
def test_what_is_no_clause(text):
    assert first(text) is None


def test_the_length_is_counted_in_words():
    assert first("The shop was closed today.", 5) is not None
    assert first("The shop was closed today.", 4) is None


@given(text=st.lists(pieces, max_size=10).map("".join) | st.text(max_size=20))
def test_a_clause_is_a_run_of_words_of_its_sentence(text):
    doc = language().analyse(text)
    for sentence in doc.sentences:
        found = clause(doc, sentence, 8)
        if found is not None:
            assert doc.between(sentence).casefold().startswith(found.text.casefold())
            assert 3 <= len(language().analyse(found.text).words) <= 8
