"""Which noun phrases open sentences as subjects, how far they reach and what can stand for them."""

from hypothesis import given
from hypothesis import strategies as st

from nlgauge.perturbations.perturb import make_cases
from nlgauge.text.english.subjects import opening_subjects

WORDS = "The a old man boys Anna and of in who , ( ) is was were left named that book wearing hat . it some"


def found(text: str) -> list[tuple[str, str, str]]:
    """Subject, verb and what stands for it."""
    (case,) = make_cases([text])
    return [
        (case.doc.between(s.span), case.doc.tokens[s.verb].text, s.pronoun)
        for s in opening_subjects(case.doc, case.language)
    ]


def test_a_subject_reaches_to_its_verb(cases):
    for text, subject, verb in cases:
        ((span, finite, _),) = found(text)
        assert (span, finite) == (subject, verb)


def test_number_comes_from_the_verb_or_the_noun_and_gender_from_noun_or_name(cases):
    for text, pronoun in cases:
        assert [p for _, _, p in found(text)] == [pronoun]


def test_a_last_name_alone_is_read_by_the_full_name_elsewhere():
    assert [p for _, _, p in found("Orvo Tunberk came late. Tunberk left early.")] == ["person", "person"]


def test_other_sentences_open_with_no_such_subject(cases):
    for text in cases:
        assert found(text) == []


@given(st.lists(st.sampled_from(WORDS.split()), max_size=16).map(" ".join))
def test_a_subject_lies_before_its_verb_at_the_head_of_its_sentence(text):
    (case,) = make_cases([text])
    for subject in opening_subjects(case.doc, case.language):
        sentence = case.doc.sentences[case.doc.sentence_at[subject.verb]]
        assert sentence.first <= subject.span.first <= subject.span.last < subject.verb <= sentence.last
