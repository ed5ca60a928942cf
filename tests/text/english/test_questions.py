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


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("Who else came?", "Who else"),
        ("How many of the films are old?", "How many of the films"),
        ("How much more water is there?", "How much more water"),
        ("How old is he?", "How old"),
        ("How big a house is it?", "How big a house"),
        ("How is he?", "How"),
        ("What kind of tree is it?", "What kind of tree"),
        ("By what means did they go?", "what means"),
        ("Which one of the boys came?", "Which one of the boys"),
        ("Which of them came?", "Which of them"),
        ("Where and when was it?", "Where and when"),
        ("Whose dog barks?", "Whose dog"),
        ("Who is it?", "Who"),
    ],
)
def test_the_phrase_reaches_to_the_noun_it_asks_for(text, phrase):
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


@pytest.mark.parametrize(
    ("text", "adverbial", "behind"),
    [
        # behind the verb that has the object, the last of a chain
        ("What did she ask from the king?", False, "ask"),
        ("What does he hope to find there?", False, "find"),
        ("What did he give up?", False, "up"),
        # behind a preposition that has lost what it governs
        ("What is she looking at?", False, "at"),
        # at the end of the clause, before another one
        ("Where does he go when it rains?", True, "go"),
        ("Why did the old clock stop, for example?", True, "stop"),
        ("Where do they buy their bread?", True, "bread"),
        # what is graded stands behind "be" and its subject
        ("How old was she when she moved?", False, "she"),
    ],
)
def test_the_answer_goes_where_the_verb_wants_it(text, adverbial, behind):
    doc = language().analyse(text)
    question = questions(doc)[0]
    clause = take_apart(doc, question.verb, question.end, whole=True)
    assert clause is not None
    place = answer_place(doc, question, clause, False, adverbial)
    assert place is not None
    assert doc.tokens[place].text == behind


def test_there_is_no_telling_where_a_thing_belongs_without_a_verb_for_it():
    doc = language().analyse("What is the weather like?")
    question = questions(doc)[0]
    clause = take_apart(doc, question.verb, question.end, whole=True)
    assert clause is None or answer_place(doc, question, clause, False, False) in (None, len(doc.tokens) - 2)
