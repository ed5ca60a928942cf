"""How far the phrase reaches that asks, and which words are auxiliaries."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nlgauge.text.doc import Doc
from nlgauge.text.english.questions import (
    Question,
    after_not,
    answer_place,
    full_form,
    has_subject,
    is_auxiliary,
    nouns_end,
    phrase_end,
    questions,
    take_apart,
)
from nlgauge.text.languages import language


def doc(text: str) -> Doc:
    return language().analyse(text)


def test_short_forms_in_full():
    assert full_form(doc("What's the time?"), 1) == "is"
    assert full_form(doc("Who's taken my pen?"), 1) == "has"
    assert full_form(doc("Who’d you see?"), 1) == "did"
    assert full_form(doc("Won't you come?"), 0) == "will"


def test_a_possessive_is_no_auxiliary():
    made = doc("Whose is Anna's hat?")
    assert [t.text for t in made.tokens if is_auxiliary(t)] == ["is"]


def test_the_place_behind_not():
    made = doc("Isn't it late?")
    assert after_not(made, 0, len(made.tokens)) == 2
    assert after_not(doc("Is it late?"), 0, 4) == 1


def test_noun_phrases_end_with_what_hangs_on_them():
    made = doc("the size of the school's endowment is large")
    assert made.tokens[nouns_end(made, 0, len(made.tokens))].text == "endowment"
    assert nouns_end(doc("slowly and well"), 0, 3) is None


def test_the_phrase_reaches_to_the_noun_it_asks_for(cases):
    for text, phrase in cases:
        made = doc(text)
        wh = next(t.index for t in made.tokens if t.text == phrase.split()[0])
        last = phrase_end(made, wh, len(made.tokens))
        assert made.text[made.tokens[wh].start : made.tokens[last].end] == phrase


# --- Where questions are, what asks in them, and which verb stands before the subject

WORDS = (
    "who what when where why how many which is was did do can the old man house he she it born live ? . , \" 's n't in"
    " of to and than that there"
)


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


def test_the_question_phrase_and_its_verb_are_found(cases):
    for text, phrase, verb, inverted in cases:
        assert asked(text) == [(phrase, verb, inverted == "yes")]


def test_what_asks_need_not_stand_first(cases):
    for text, phrase in cases:
        assert [p for p, _, _ in asked(text)] == [phrase]


def test_relative_pronouns_and_conjunctions_do_not_ask(cases):
    for text in cases:
        assert [p for p, _, _ in asked(text)] == [None]


def test_what_is_no_question_is_none(cases):
    for text in cases:
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


# --- The parts of a clause whose auxiliary stands before its subject

INVERSION_WORDS = (
    "is are did has can the old man boys he there it this born live working in on of and not n't , very red go"
)


def parts(text: str, whole: bool = False) -> tuple[str, str, str | None] | None:
    """Auxiliary, subject and main verb of a clause that begins with its auxiliary."""
    doc = language().analyse(f"{text}?")
    clause = take_apart(doc, 0, len(doc.tokens) - 1, whole=whole, thing=whole)
    if clause is None:
        return None
    words = [t.text for t in doc.tokens]
    said = (clause.aux, clause.aux_last + 1), (clause.subject, clause.subject_last + 1)
    aux, subject = (" ".join(words[a:b]) for a, b in said)
    return aux, subject, words[clause.main] if clause.main is not None else None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("did she live", ("did", "she", "live")),
        ("did she really live", ("did", "she", "live")),
        ("did n't the old man in the car leave", ("did n't", "the old man in the car", "leave")),
        ("does not the old man live", ("does not", "the old man", "live")),
        ("has the rain stopped", ("has", "the rain", "stopped")),
        ("can Mary Jones swim", ("can", "Mary Jones", "swim")),
        ("did Mary Jones act in films", ("did", "Mary Jones", "act")),
        ("was the bridge built", ("was", "the bridge", "built")),
        ("is the man on the bridge waving", ("is", "the man on the bridge", "waving")),
        ("is the sky blue", ("is", "the sky", None)),
        ("is this a house", ("is", "this", None)),
        ("is this summer", ("is", "this", None)),
        ("are there boats on the lake", ("are", "there", None)),
        ("are cats and dogs allowed", ("are", "cats and dogs", "allowed")),
        ("is coal fuel", ("is", "coal", None)),
        ("are all of the boats red", ("are", "all of the boats", None)),
        ("are we to think", ("are", "we", "think")),
        ("should it not be said", ("should", "it", "be")),
    ],
)
def test_auxiliary_subject_and_verb(text, expected):
    assert parts(text) == expected


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("is the size of the old town", "the size of the old town"),
        ("is the man on the left", "the man on the left"),
        ("is the name of the man holding the book", "the name of the man holding the book"),
    ],
)
def test_with_the_rest_asked_for_a_phrase_runs_to_the_end(text, subject):
    assert parts(text, whole=True) == ("is", subject, None)


@pytest.mark.parametrize("text", ["did", "can the boat", "has he", "is , he"])
def test_without_a_subject_or_a_verb_there_is_nothing(text):
    assert parts(text) is None


@given(st.lists(st.sampled_from(INVERSION_WORDS.split()), min_size=1, max_size=12).map(" ".join), st.booleans())
def test_the_parts_stand_in_order(text, whole):
    doc = language().analyse(text)
    clause = take_apart(doc, 0, len(doc.tokens), whole=whole)
    if clause is not None:
        assert clause.aux <= clause.aux_last < clause.subject <= clause.subject_last < len(doc.tokens)
        assert clause.main is None or clause.subject_last < clause.main < len(doc.tokens)


# --- Behind which word of a question its answer belongs


def test_the_answer_goes_where_the_verb_wants_it(cases):
    for text, adverbial, behind in cases:
        doc = language().analyse(text)
        question = questions(doc)[0]
        clause = take_apart(doc, question.verb, question.end, whole=True)
        assert clause is not None
        place = answer_place(doc, question, clause, False, adverbial == "yes")
        assert place is not None
        assert doc.tokens[place].text == behind


def test_there_is_no_telling_where_a_thing_belongs_without_a_verb_for_it():
    doc = language().analyse("What is the weather like?")
    question = questions(doc)[0]
    clause = take_apart(doc, question.verb, question.end, whole=True)
    assert clause is None or answer_place(doc, question, clause, False, False) in (None, len(doc.tokens) - 2)
