"""Where a text denies something, and what is left when the denial is taken away."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


# --- How a clause is denied: where "not" stands, and which form the verb takes


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


WORDS = [
    "He", "she", "not", "is", "n't", "doesn't", "won’t", "like", "likes", "dog", "no", "never", "any", "who", "?", ".",
    ",", "do", "went", "“",
]  # fmt: skip
ODD = st.one_of(
    st.text(),
    st.lists(st.sampled_from([*WORDS, "\n", "\ud800", "犬", "\u00a0", "  ", "NOT"]), max_size=12).map(" ".join),
)
TEMPLATES = [
    Negation(), Negation(mode="add"), Negation(mode="remove"), Negation(contracted=True), Negation(contracted=False),
]  # fmt: skip


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


@pytest.mark.parametrize("template", TEMPLATES, ids=str)
@given(text=ODD, seed=st.integers(0, 3))
def test_any_text_gives_a_different_text_or_a_reason(template, text, seed):
    [made] = outcomes = perturb(template, [text], seed=seed)
    if made is None:
        assert outcomes.reasons[0]
    else:
        assert made.text != text
        assert apply_edits(text, made.edits) == made.text


@given(texts=st.lists(ODD, min_size=2, max_size=4, unique=True))
def test_a_text_alone_and_in_a_batch_gives_the_same(texts):
    random.seed(0)
    together = perturb("negation", texts, seed=3)
    assert [perturb("negation", [t], seed=3)[0] for t in texts] == list(together)
