"""The backend that is built in: offsets, sentences, what it remembers; how backends are named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import SpecError
from nlgauge.text.languages import Builtin, Language, language


def test_a_text_is_taken_apart_into_tagged_tokens_and_sentences():
    doc = language().analyse("He doesn't swim.  We do!")
    assert [(t.text, t.tag) for t in doc.tokens[:5]] == [
        ("He", "PRP"),
        ("does", "VBZ"),
        ("n't", "RB"),
        ("swim", "VB"),
        (".", "."),
    ]
    assert [doc.between(s) for s in doc.sentences] == ["He doesn't swim.", "We do!"]
    assert [t.index for t in doc.tokens] == list(range(8))


@pytest.mark.parametrize("text", ["", " \n\t\u00a0"])
def test_a_blank_text_has_nothing_in_it(text):
    doc = language().analyse(text)
    assert (doc.text, doc.tokens, doc.sentences, doc.words) == (text, (), (), ())


@given(text=st.text(st.sampled_from("aAb .!?,'’-\"\n\u00a0\t5猫\ud800")) | st.text())
def test_tokens_lie_where_they_say_and_sentences_are_all_of_them(text):
    doc = language().analyse(text)
    assert all(text[t.start : t.end] == t.text for t in doc.tokens)
    assert "".join(t.text for t in doc.tokens) == "".join(text.split())
    assert [i for s in doc.sentences for i in range(s.first, s.last + 1)] == list(range(len(doc.tokens)))
    assert all((s.start, s.end) == (doc.tokens[s.first].start, doc.tokens[s.last].end) for s in doc.sentences)
    assert len(doc.sentence_at) == len(doc.word_at) == len(doc.tokens)


def test_an_analysis_is_remembered():
    assert language().analyse("Some text.") is language().analyse("Some text.")


def test_words_are_related_and_inflected():
    known = language()
    assert known.lemma("went", "VBD") == "go"
    assert known.inflect("go", "VBZ") == "goes"
    assert "cold" in known.related("hot", "adj", "antonym")


def test_people_are_found():
    doc = language().analyse("Yesterday Mary Smith came.")
    assert len(language().persons(doc)) == 1


def test_backends_go_by_name():
    assert language() is language("builtin")
    assert isinstance(language(), Builtin)
    assert isinstance(language(), Language)
    assert language().name == "builtin"


@pytest.mark.parametrize(("name", "hint"), [("bultin", "builtin"), ("stanza:en", ""), ("builtin:fast", ""), ("", "")])
def test_an_unknown_backend_is_refused(name, hint):
    with pytest.raises(SpecError, match=f"unknown language backend '{name}'.*{hint}"):
        language(name)
