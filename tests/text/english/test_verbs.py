"""Finite verbs: told by their neighbours, with the kind of support they need."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.text.english.verbs import Sentence, is_question
from nlgauge.text.languages import language

WORDS = (
    "He she is not n't do did have 's 'd will can like likes gone to that a the dogs bark ? , . never better".split()
)


def analyse(text):
    return language().analyse(text)


def sentence(text):
    doc = analyse(text)
    return Sentence(doc, doc.sentences[0])


def finite(text, word):
    """Kind and tag of a word, read as the finite verb of a clause that begins with the sentence."""
    s = sentence(text)
    place = next(t.index for t in s.tokens if t.text == word)
    return s.finite(place, 0, lenient=False)


@pytest.mark.parametrize(
    ("text", "expected"), [("Why?", True), ("(Why?)", True), ("“Why?” she said.", False), ("Why", False), ("?!", True)]
)
def test_questions_end_with_their_mark(text, expected):
    assert is_question(analyse(text), 0) is expected


@pytest.mark.parametrize(
    ("text", "word", "kind", "tag"),
    [
        ("He is here.", "is", "be", "VBZ"),
        ("It's cold.", "'s", "be", "VBZ"),
        ("It's been cold.", "'s", "have", "VBZ"),
        ("She'd stay.", "'d", "modal", "MD"),
        ("She'd stayed.", "'d", "have", "VBD"),
        ("You'd better stay.", "'d", "have", "VBD"),
        ("He has a hat.", "has", "plain", "VBZ"),
        ("He has gone.", "has", "have", "VBZ"),
        ("He did it.", "did", "plain", "VBD"),
        ("He did not go.", "did", "do", "VBD"),
        ("Wait here.", "Wait", "imperative", "VB"),
        ("Don't wait.", "Do", "do", "VBP"),
        ("You need not wait.", "need", "modal", "MD"),
    ],
)
def test_the_kind_of_a_finite_verb(text, word, kind, tag):
    assert finite(text, word) == (kind, tag)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Anna's hat is red.", "'s"),
        ("a garbage can on a pavement", "can"),
        ("We want to wait.", "wait"),
        ("a bathroom with two sinks", "sinks"),
        ("a pink stuffed bear", "stuffed"),
        ("at 7 am on Monday", "am"),
    ],
)
def test_what_only_looks_like_one_has_no_kind(text, word):
    assert finite(text, word)[0] is None


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("the old man sleeps", 0, 2),
        ("Anna's brother sleeps", 0, 2),
        ("all my friends sleep", 0, 2),
        ("they sleep", 0, 0),
        ("these are old", 0, 0),
        ("quickly he ran", 0, None),
    ],
)
def test_subjects_end_with_their_noun(text, start, end):
    assert sentence(text).subject_end(start) == end


def test_a_verb_without_a_subject_before_it_is_inverted():
    assert sentence("Is he here?").inversion(0)
    assert sentence("Where did Anna go?").inversion(1)
    assert not sentence("Anna did go?").inversion(1)
    assert sentence("Never has it rained so much.").inversion(1)


def test_there_is_a_pronoun_only_where_something_exists():
    assert sentence("There is a way.").is_pronoun(0)
    assert not sentence("He went there.").is_pronoun(2)


@given(st.lists(st.sampled_from(WORDS), max_size=10).map(" ".join))
def test_whatever_the_words_places_lie_inside_the_sentence(text):
    doc = analyse(text)
    for span in doc.sentences:
        s = Sentence(doc, span)
        for i in range(s.first, s.end):
            for place in (s.subject_end(i), s.verb_after(i, ("VB", "VBN"))):
                assert place is None or s.first <= place < s.end
    assert sentence("He ran.").low(99) == sentence("He ran.").tag(-1) == ""
