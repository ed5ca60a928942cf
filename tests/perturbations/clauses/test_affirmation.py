"""Where a text denies something, and what is left when the denial is taken away."""

import pytest

from nlgauge.perturbations.clauses.affirmation import find_denials
from nlgauge.perturbations.clauses.negation import Negation
from nlgauge.perturbations.perturb import perturb
from nlgauge.text.english.clauses import find_clauses
from nlgauge.text.languages import language


def outcome(text, seed=0, **options):
    made = perturb(Negation(**options), [text], seed=seed)
    return made[0].text if made[0] is not None else made.reasons[0]


def denials(text):
    """Each denial of a text: its word, the verb of its clause, and whether it can go."""
    doc = language().analyse(text)
    return [
        (doc.tokens[d.token].text, d.clause and doc.tokens[d.clause.verb].text, d.remove is not None)
        for d in find_denials(doc, language(), find_clauses(doc))
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # inflection comes back
        ("It did not happen.", "It happened."),
        ("She doesn't like it.", "She likes it."),
        ("We don’t know him.", "We know him."),
        ("He didn't have to go.", "He had to go."),
        ("It won't rain.", "It will rain."),
        ("He can't swim.", "He can swim."),
        ("He cannot swim.", "He can swim."),
        ("It isn't fair.", "It is fair."),
        ("They have not been here.", "They have been here."),
        ("I ain't late.", "I am late."),
        ("Don't run!", "Run!"),
        ("Please do not run.", "Please run."),
        ("Isn't it cold?", "Is it cold?"),
        ("Why don't you stay?", "Why do you stay?"),
        ("They did not see or hear us.", "They did see or hear us."),
        # other negations
        ("She never went there.", "She went there."),
        ("The shop no longer sells bread.", "The shop sells bread."),
        ("Nobody came.", "Somebody came."),
        ("No one was hurt.", "Someone was hurt."),
        ("There is no bus on Sundays.", "There is a bus on Sundays."),
        ("There is no evidence of that.", "There is some evidence of that."),
        ("There is no bread left.", "There is some bread left."),
        ("She has no homework today.", "She has some homework today."),
        ("Not all birds can fly.", "All birds can fly."),
        ("He decided not to wait.", "He decided to wait."),
        ("a man not wearing a hat", "a man wearing a hat"),
        # what "not" called for goes with it
        ("He did not have any money.", "He had some money."),
        ("It hasn't started yet.", "It has started already."),
        ("The reason is not yet clear.", "The reason is already clear."),
        ("I don't smoke anymore.", "I smoke."),
        ("It isn't cold at all.", "It is cold."),
    ],
)
def test_denials_are_taken_away(text, expected):
    assert outcome(text) == expected
    assert outcome(text, mode="remove") == expected


def test_no_doubt_denies_nothing():
    assert outcome("No doubt he knows.") == "No doubt he does not know."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He did not come, and nobody saw it.", [("not", "did", True), ("nobody", "saw", True)]),
        ("He hardly ever comes.", [("hardly", "comes", False)]),
        ("It is not a wolf but a dog.", [("not", "is", False)]),
        ("He was not there, but she was.", [("not", "was", True)]),
        ("No doubt he knows.", []),
        ("It is no better.", [("no", "is", False)]),
        ("a man not wearing a hat", [("not", None, True)]),
        ("He comes.", []),
    ],
)
def test_every_denial_belongs_to_a_clause_and_may_go_unless_the_sentence_falls_apart(text, expected):
    assert denials(text) == expected
