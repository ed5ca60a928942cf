"""How a clause is denied: where "not" stands, and which form the verb takes."""

import pytest

from nlgauge.perturbations.base import Change, Inapplicable, apply_edits
from nlgauge.perturbations.clauses.denial import deny
from nlgauge.perturbations.clauses.negation import Negation
from nlgauge.perturbations.draft import Draft
from nlgauge.perturbations.perturb import perturb
from nlgauge.text.english.clauses import find_clauses
from nlgauge.text.languages import language


def outcome(text, seed=0, **options):
    made = perturb(Negation(**options), [text], seed=seed)
    return made[0].text if made[0] is not None else made.reasons[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # do-support takes over tense and number
        ("She speaks Danish.", "She does not speak Danish."),
        ("They speak Danish.", "They do not speak Danish."),
        ("They went home.", "They did not go home."),
        ("The cook has two ovens.", "The cook does not have two ovens."),
        ("She did her homework.", "She did not do her homework."),
        ("We have to wait.", "We do not have to wait."),
        # auxiliaries take "not" themselves
        ("She is a nurse.", "She is not a nurse."),
        ("The bread was baked at night.", "The bread was not baked at night."),
        ("The mayor will open the fair.", "The mayor will not open the fair."),
        ("He can swim.", "He cannot swim."),
        ("She has been to Oslo.", "She has not been to Oslo."),
        ("They could have won.", "They could not have won."),
        ("You ought to rest.", "You ought not to rest."),
        ("You had better wait.", "You had better not wait."),
        # adverbs
        ("He often sings.", "He does not often sing."),
        ("He also sings.", "He also does not sing."),
        ("It is still open.", "It is still not open."),
        # commands
        ("Open the door.", "Do not open the door."),
        ("Please open the door.", "Please do not open the door."),
        ("Be quiet!", "Do not be quiet!"),
        ("Let's wait.", "Let's not wait."),
        ("Let us wait.", "Let us not wait."),
        # the main clause, not what hangs on it
        ("When the rain stopped, the children went out.", "When the rain stopped, the children did not go out."),
        ("The neighbour who feeds our cat is away.", "The neighbour who feeds our cat is not away."),
        ("He said that it works.", "He did not say that it works."),
        ("“It works,” said Anna.", "“It does not work,” said Anna."),
        # captions
        ("a girl riding a pony", "a girl not riding a pony"),
        ("a cook is holding a pan", "a cook is not holding a pan"),
        ("a bus parked near a pier", "a bus not parked near a pier"),
        # capitals and odd blanks stay as they are
        ("HE LIKES TEA", "HE DOES NOT LIKE TEA"),
        ("He \t likes  tea ,  too .", "He \t does not like  tea ,  too ."),
    ],
)
def test_clauses_are_denied(text, expected):
    assert outcome(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Who won?", "Who did not win?"),
        ("How many guests came?", "How many guests did not come?"),
        ("Is he here?", "Is he not here?"),
        ("Did the old man see it?", "Did the old man not see it?"),
        ("Where did she go?", "Where did she not go?"),
        ("What time does the last train leave?", "What time does the last train not leave?"),
        ("What is the name of the river?", "What is not the name of the river?"),
        # the end of the subject is not known: n't needs no other place
        ("Is the capital of Peru Lima?", "Isn't the capital of Peru Lima?"),
        ("Can you swim?", "Can you not swim?"),
    ],
)
def test_questions_keep_their_order(text, expected):
    assert outcome(text) == expected


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("He swims.", {"contracted": True}, "He doesn't swim."),
        ("He can swim.", {"contracted": True}, "He can't swim."),
        ("He will swim.", {"contracted": True}, "He won't swim."),
        ("WE CAN SWIM", {"contracted": True}, "WE CAN'T SWIM"),
        ("I am late.", {"contracted": True}, "I am not late."),
        ("It may rain.", {"contracted": True}, "It may not rain."),
        ("Is he here?", {"contracted": True}, "Isn't he here?"),
        ("Wait here!", {"contracted": True}, "Don't wait here!"),
        # as the text does, with its apostrophe
        ("He swims, and I’ll watch.", {}, "He doesn’t swim, and I’ll watch."),
        ("He swims, and I'll watch.", {"contracted": False}, "He does not swim, and I'll watch."),
        ("I'll watch.", {}, "I won't watch."),
        ("I've seen it.", {}, "I haven't seen it."),
        ("She'd stay.", {}, "She wouldn't stay."),
        ("She'd stayed.", {}, "She hadn't stayed."),
        ("It's late.", {}, "It's not late."),
        ("I'll watch.", {"contracted": False}, "I'll not watch."),
    ],
)
def test_short_forms_as_asked_or_as_the_text_writes(text, options, expected):
    assert outcome(text, **options) == expected


def test_a_denial_is_put_into_the_draft_of_the_clause_asked_for():
    text = "She sings and he is late."
    doc = language().analyse(text)
    drafts = []
    for clause in find_clauses(doc):
        draft = Draft(doc)
        assert deny(draft, language(), clause, short=False)
        change = draft.finish()
        assert isinstance(change, Change)
        drafts.append(apply_edits(text, change.edits))
    assert drafts == ["She does not sing and he is late.", "She sings and he is not late."]


def test_what_cannot_be_denied_leaves_the_draft_as_it_was():
    doc = language().analyse("So do I.")
    draft = Draft(doc)
    assert not deny(draft, language(), find_clauses(doc)[0], short=False)
    assert isinstance(draft.finish(), Inapplicable)
