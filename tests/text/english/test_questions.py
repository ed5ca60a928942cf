"""Where questions are, what asks in them, and which verb stands before the subject."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nlgauge.text.doc import Doc
from nlgauge.text.english.questions import Question, has_subject, questions
from nlgauge.text.languages import language

WORDS = (
    "who what when where why how many which is was did do can the old man house he she it born live ? . , \" 's n't in"
    " of to and than that there"
)


def doc(text: str) -> Doc:
    return language().analyse(text)


def asked(text: str) -> list[tuple[str | None, str | None, bool]]:
    """Question phrase, verb and whether a subject follows, for each question."""
    made = doc(text)
    return [_said(made, q) for q in questions(made)]


def _said(made: Doc, q: Question) -> tuple[str | None, str | None, bool]:
    words = [t.text for t in made.tokens]
    return (
        " ".join(words[q.opens : q.last + 1]) if q.wh >= 0 else None,
        words[q.verb] if q.verb >= 0 else None,
        q.inverted,
    )


@pytest.mark.parametrize(
    ("text", "phrase", "verb", "inverted"),
    [
        ("When was the bridge built?", "When", "was", True),
        ("Who built the bridge?", "Who", "built", False),
        ("Who was seen near the bridge?", "Who", "was", False),
        ("In what year was she born?", "In what year", "was", True),
        ("To whom did he give the keys?", "To whom", "did", True),
        ("How many people live here?", "How many people", "live", False),
        ("How many boats did they see?", "How many boats", "did", True),
        ("How old is the tower?", "How old", "is", True),
        ("Which of the two is taller?", "Which of the two", "is", False),
        ("What kind of trees grow there?", "What kind of trees", "grow", False),
        ("Where else did you look?", "Where else", "did", True),
        ("Where and when did they meet?", "Where and when", "did", True),
        ("What's the time?", "What", "'s", True),
        ("Where, then, do the roads meet?", "Where", "do", True),
        ("Who actually won the race?", "Who", "won", False),
        ("which town did they visit", "which town", "did", True),
        ("By what means did they travel?", "By what means", "did", True),
        ("What city north of Boston was named after him?", "What city north of Boston", "was", False),
    ],
)
def test_the_question_phrase_and_its_verb_are_found(text, phrase, verb, inverted):
    assert asked(text) == [(phrase, verb, inverted)]


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("The song was written by whom?", "by whom"),
        ("She plays in which band?", "in which band"),
        ("In 1905, where did he live?", "where"),
        ("When he was a boy, where did he live?", "where"),
        ("Other than tea what do they sell?", "what"),
        ("And, finally, who pays for it?", "who"),
        ("Thirdly, who actually decides?", "who"),
        ("The gap is wide, so who will close it?", "who"),
    ],
)
def test_what_asks_need_not_stand_first(text, phrase):
    assert [p for p, _, _ in asked(text)] == [phrase]


@pytest.mark.parametrize(
    "text",
    [
        "Is he here?",
        "Do you know who he is?",
        "Could you tell me where the station is?",
        "When the rain came, did they leave?",
        "Is the man who sold the house here?",
        "Without the map, will they find the way?",
        "You like it, don't you?",
    ],
)
def test_relative_pronouns_and_conjunctions_do_not_ask(text):
    assert [p for p, _, _ in asked(text)] == [None]


@pytest.mark.parametrize(
    "text",
    [
        "The man who sold the house came home.",
        "He asked where she lived.",
        "What a fine day!",
        "When we arrived, it rained.",
        "Have a nice day",
        "A dog on a boat",
        "What",
        "?",
        "",
        "\udc80",
    ],
)
def test_what_is_no_question_is_none(text):
    assert questions(doc(text)) == []


@pytest.mark.parametrize(
    "text", ["is he here", "when was she born", "who wrote the letter", "how many rooms are there in the house"]
)
def test_a_question_may_lack_its_mark(text):
    found = questions(doc(text))
    assert [q.mark for q in found] == [None]


def test_a_quoted_question_begins_behind_its_quotation_mark():
    made = doc('He cried, "Who is there?" and ran.')
    (found,) = questions(made)
    assert made.tokens[found.first].text == "Who"
    assert made.tokens[found.mark].text == "?"


def test_every_question_of_a_text_is_found_in_order():
    assert [p for p, _, _ in asked("Hello! Who are you? It is late. Why did you come?")] == ["Who", "Why"]


@pytest.mark.parametrize("text", ["How about tea?", "What if it rains?", "How come he left?", "What about us?"])
def test_set_phrases_are_told(text):
    assert [q.fixed for q in questions(doc(text))] == [True]


@pytest.mark.parametrize(
    ("text", "auxiliary", "answer"),
    [
        ("was the bridge built", "was", True),
        ("was seen by all", "was", False),
        ("has the key", "has", False),
        ("has the rain stopped", "has", True),
    ],
)
def test_a_subject_is_told_from_what_goes_with_the_auxiliary(text, auxiliary, answer):
    made = doc(f"Who {text}?")
    assert has_subject(made, 2, len(made.tokens) - 1, auxiliary) is answer


@given(st.lists(st.sampled_from(WORDS.split()), max_size=14).map(" ".join))
def test_places_lie_inside_the_text_whatever_is_asked(text):
    made = doc(text)
    for q in questions(made):
        assert 0 <= q.first < q.end <= len(made.tokens)
        assert q.wh < 0 or q.opens <= q.wh <= q.last < q.end
        assert q.verb < q.end


@given(st.text(max_size=60))
@example("*")  # marks alone: nothing is left to ask with
def test_no_text_is_too_odd(text):
    questions(doc(text))
