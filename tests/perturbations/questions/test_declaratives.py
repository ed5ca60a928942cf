"""How a question is turned round: what moves, what is said in the place of what was asked, where it cannot be done."""

import pytest

from nlgauge.perturbations.base import Change, Inapplicable, apply_edits
from nlgauge.perturbations.draft import Draft
from nlgauge.perturbations.questions.declaratives import declare
from nlgauge.text.english.questions import questions
from nlgauge.text.languages import language


def made(text, answer="X"):
    """The statement of the first question of a text, with one thing said in every place; why there is none."""
    doc = language().analyse(text)
    draft = Draft(doc)
    failed = declare(draft, questions(doc)[0], language(), lambda options: answer)
    if failed is not None:
        return failed.reason
    change = draft.finish()
    assert isinstance(change, Change)
    return apply_edits(text, change.edits)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What did she ask from the king?", "She asked X from the king."),
        ("What does he hope to find there?", "He hopes to find X there."),
        ("What action is she taking to help them?", "She is taking X action to help them."),
        ("What did the boy say he had lost?", "The boy said he had lost X."),
        ("What is she looking at?", "She is looking at X."),
        ("What are the boys doing today?", "The boys are doing X today."),
        ("Where does he go when it rains?", "He goes in X when it rains."),
        ("Why did the old clock stop, for example?", "The old clock stopped X, for example."),
        ("How old was she when she moved?", "She was X old when she moved."),
        ("How fast is the fan moving?", "The fan is moving X fast."),
        ("How is the weather?", "The weather is X."),
        ("On which day did they meet?", "They met on X."),
        ("What day did they meet?", "They met on X."),
        ("What town is this in?", "This is in X."),
    ],
)
def test_the_answer_stands_where_the_verb_wants_it(text, expected):
    assert made(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Who did it?", "X did it."),
        ("Who was seen?", "X was seen."),
        ("What has replaced the old bridge?", "X has replaced the old bridge."),
        ("Who's there?", "X is there."),
        ("Who's taken my pen?", "X has taken my pen."),
        ("How many boats are there in the harbour?", "There are X boats in the harbour."),
        ("Who is the man with the red hat?", "X is the man with the red hat."),
    ],
)
def test_asked_for_the_subject_only_the_question_phrase_gives_way(text, expected):
    assert made(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Where did she go and sing?", "She went and sang in X."),
        ("Why does the boy have a hat?", "The boy has a hat X."),
        ("Why didn't she come?", "She didn't come X."),
        ("Why did she not come?", "She did not come X."),
        ("Where do they live?", "They live in X."),
        ("When can you come?", "You can come on X."),
        ("When had he left?", "He had left in X."),
        ("Where’s the cat?", "The cat is in X."),
        ("Where are you from?", "You are from X."),
    ],
)
def test_the_auxiliary_goes_behind_its_subject_or_into_the_verb(text, expected):
    assert made(text) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Who came, and why did they leave?", "two questions in one"),
        ("Is it late, or is it early?", "two questions in one"),
        ("How to find them?", "no finite verb"),
        ("What about us?", "no finite verb"),
        ("A boat?", "no finite verb"),
        ("Dare we hope?", "no subject found"),
    ],
)
def test_what_cannot_be_turned_round_is_left(text, reason):
    assert made(text) == reason


def test_nothing_is_asked_for_where_yes_is_the_answer():
    doc = language().analyse("Is it late?")

    def never(options):
        raise AssertionError

    assert not isinstance(declare(Draft(doc), questions(doc)[0], language(), never), Inapplicable)
