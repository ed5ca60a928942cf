import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.perturbations.base import apply_edits
from nlgauge.perturbations.perturb import perturb
from nlgauge.perturbations.surface.agreement import SubjectVerbDisagreement

WORDS = ["He", "likes", "is", "n't", "n’t", "Are", "dogs", "do", "HAS", "'s", ".", "?", "\n", "\ud800"]
ODD = st.one_of(st.text(), st.lists(st.sampled_from(WORDS)).map(" ".join))


def outcome(text, seed=0, **options):
    made = perturb(SubjectVerbDisagreement(**options), [text], seed=seed)
    return made[0].text if made[0] is not None else made.reasons[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He likes tea.", "He like tea."),
        ("They like tea.", "They likes tea."),
        ("She carries two bags.", "She carry two bags."),
        ("The boys watch it.", "The boys watches it."),
        ("The cook has two ovens.", "The cook have two ovens."),
        ("I am late.", "I is late."),
        ("The doors were open.", "The doors was open."),
        ("It doesn't work.", "It don't work."),
        ("They don’t work.", "They doesn’t work."),
        ("The keys aren't here.", "The keys isn't here."),
        ("Is he asleep?", "Are he asleep?"),
        ("Where does she live?", "Where do she live?"),
        ("There are two cups.", "There is two cups."),
        ("a cook holds a pan", "a cook hold a pan"),
        ("THE DOG BARKS", "THE DOG BARK"),
    ],
)
def test_one_verb_takes_the_other_number(text, expected):
    assert outcome(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "They went home.",
        "You can swim.",
        "Open the door.",
        "Don't open it.",
        "It's late, and they've left.",
        "a girl riding",
        "a large mirror and sinks",
        "If I were rich.",
        "3",
    ],
)
def test_forms_that_show_no_number_are_left_alone(text):
    assert outcome(text) == "no present-tense verb"


def test_of_several_one_is_drawn_unless_all_are_asked_for():
    text = "She sings and he dances."
    assert {outcome(text, seed=seed) for seed in range(20)} == {"She sing and he dances.", "She sings and he dance."}
    assert outcome(text, which="all") == "She sing and he dance."


def test_subjects_that_allow_both_numbers_come_last():
    text = "The team is here, and it rains."
    assert {outcome(text, seed=seed) for seed in range(20)} == {"The team is here, and it rain."}
    assert outcome("The team is here.") == "The team are here."


@given(text=ODD, which=st.sampled_from(["one", "all"]))
def test_any_text_gives_a_different_text_or_a_reason(text, which):
    [made] = outcomes = perturb(SubjectVerbDisagreement(which=which), [text])
    if made is None:
        assert outcomes.reasons[0]
    else:
        assert made.text != text
        assert apply_edits(text, made.edits) == made.text
        assert all(
            text[e.start : e.end].isalpha() and e.new.isalpha() for e in made.edits
        )  # apostrophes and blanks stay
