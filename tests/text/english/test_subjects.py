"""Which noun phrases open sentences as subjects, how far they reach and what can stand for them."""

import pytest
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


@pytest.mark.parametrize(
    ("text", "subject", "verb"),
    [
        ("The old man with the red hat left.", "The old man with the red hat", "left"),
        ("The mother of the two boys in the car was ill.", "The mother of the two boys in the car", "was"),
        ("The king's old castle fell.", "The king's old castle", "fell"),
        ("The man wearing a hat is ill.", "The man wearing a hat", "is"),
        ("A book called Home sells well.", "A book called Home", "sells"),
        ("The man who sold the house is ill.", "The man who sold the house", "is"),
        ("The house (built in 1905) has burned.", "The house (built in 1905)", "has"),
        ("The town, a small place, also has a castle.", "The town, a small place,", "has"),
        ("Two boys often play here.", "Two boys", "play"),
    ],
)
def test_a_subject_reaches_to_its_verb(text, subject, verb):
    ((span, finite, _),) = found(text)
    assert (span, finite) == (subject, verb)


@pytest.mark.parametrize(
    ("text", "pronoun"),
    [
        ("The house was sold.", "it"),
        ("The houses were sold.", "they"),
        ("Houses fell.", "they"),
        ("The news was good.", "it"),
        ("A number of houses fell.", "they"),
        ("Anna or Ben has won.", "she"),
        ("The woman smiled.", "she"),
        ("Her grandfather smiled.", "he"),
        ("The teacher smiled.", "person"),
        ("The teacher lost his hat.", "he"),
        ("The whale smiled.", "it"),
        ("Mary Jones smiled.", "she"),
        ("Mr. Falkenrath smiled.", "he"),
        ("London has grown.", "it"),
        ("The University of Leeds has grown.", "it"),
        ("The dog smiled.", "it"),
        ("Mary Jones have won.", "she"),  # whatever the verb: one person stays one
        ("The manager, Peter Jones, has won.", "he"),
        ("MP Zorvan Quell has won.", "person"),
        ("The Boy has won.", "he"),
    ],
)
def test_number_comes_from_the_verb_or_the_noun_and_gender_from_noun_or_name(text, pronoun):
    assert [p for _, _, p in found(text)] == [pronoun]


def test_a_last_name_alone_is_read_by_the_full_name_elsewhere():
    assert [p for _, _, p in found("Orvo Tunberk came late. Tunberk left early.")] == ["person", "person"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "It rained.",
        "There is a house.",
        "In May he came.",
        "A man on a horse",
        "What happened?",
        "Everyone left.",
        "\udc80",
    ],
)
def test_other_sentences_open_with_no_such_subject(text):
    assert found(text) == []


@given(st.lists(st.sampled_from(WORDS.split()), max_size=16).map(" ".join))
def test_a_subject_lies_before_its_verb_at_the_head_of_its_sentence(text):
    (case,) = make_cases([text])
    for subject in opening_subjects(case.doc, case.language):
        sentence = case.doc.sentences[case.doc.sentence_at[subject.verb]]
        assert sentence.first <= subject.span.first <= subject.span.last < subject.verb <= sentence.last
