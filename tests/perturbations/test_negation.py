"""Where a text denies something, and what is left when the denial is taken away."""

import pytest

from nlgauge.perturbations.draft import Draft
from nlgauge.perturbations.negation import Negation, deny, find_denials
from nlgauge.perturbations.perturb import Change, Inapplicable, apply_edits, perturb
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


def test_denials_are_taken_away(cases):
    for text, expected in cases:
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


# --- How a clause is denied: where "not" stands, and which form the verb takes


def test_clauses_are_denied(cases):
    for text, expected in cases:
        assert outcome(text) == expected


def test_questions_keep_their_order(cases):
    for text, expected in cases:
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


@pytest.mark.parametrize(
    ("text", "options", "reason"),
    [
        ("a red bus in front of a church", {}, "no finite verb"),
        ("Anna's new coat", {}, "no finite verb"),
        ("Thank you!", {}, "no finite verb"),
        ("12", {}, "no finite verb"),
        ("a large mirror and sinks", {}, "no finite verb"),  # joined nouns
        ("She is not here.", {"mode": "add"}, "already negated"),
        ("Nobody came.", {"mode": "add"}, "already negated"),
        ("She is here.", {"mode": "remove"}, "no negation"),
        # without the word the sentence would fall apart
        ("It is not a wolf but a dog.", {}, "already negated"),
        ("He is not only kind but also clever.", {}, "already negated"),
        ("Neither of them came.", {}, "already negated"),
        ("We could expect no less.", {}, "already negated"),
        ("Never has it been so cold.", {}, "already negated"),
        ("No doubt, a storm.", {"mode": "remove"}, "no negation"),
        ("", {}, "empty"),
        ("Это не моя книга.", {}, "language"),
    ],
)
def test_says_why_it_does_not_apply(text, options, reason):
    assert outcome(text, **options) == reason


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"Fly" is a song.', '"Fly" is not a song.'),  # a title is no command
        ("The sum paid in May was small.", "The sum paid in May was not small."),  # a participle
        ("She sings and dances.", "She does not sing and dances."),
        ("I have never felt that it is late.", "I have felt that it is late."),  # and no second negation
        ("Claim made by Anna is true.", "Claim made by Anna is not true."),
    ],
)
def test_the_verb_of_the_clause_is_denied_and_no_other_word(text, expected):
    assert outcome(text) == expected


def test_add_skips_clauses_that_are_negated():
    assert outcome("She is not here, but he is there.", mode="add") == "She is not here, but he is not there."


def test_every_statement_of_a_text_can_be_drawn_and_questions_come_last():
    text = "Did it rain? It rained. We went home."
    made = {outcome(text, seed=seed) for seed in range(20)}
    assert made == {"Did it rain? It did not rain. We went home.", "Did it rain? It rained. We did not go home."}


def test_one_edit_touches_one_verb():
    [made] = perturb("negation", ["The council approved the plan on Monday, 3 May."])
    assert [made.original[e.start : e.end] for e in made.edits] == ["approved"]
    assert made.meta == {"mode": "add", "verb": "approved"}


def test_a_word_tagged_as_the_verb_is_edited_once():
    # "any" behind "doesn't" passes for a verb here, and would be made "some" besides.
    [made] = perturb("negation:mode=flip,contracted=true", ["dOESN'T ANY:A"])
    assert made.text == "ANIES:A"
