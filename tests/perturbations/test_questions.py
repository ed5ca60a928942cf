"""What can be said in the place of a question phrase."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError, MissingExtra
from nlgauge.models.infill import Filler, Gap
from nlgauge.perturbations import questions as fillers
from nlgauge.perturbations.draft import Draft
from nlgauge.perturbations.perturb import Change, Inapplicable, apply_edits, perturb
from nlgauge.perturbations.questions import (
    ChangeQuestionWord,
    DropQuestionWord,
    QuestionToAssertion,
    asked,
    declare,
    head,
    nominal,
    of_kind,
)
from nlgauge.text.english.questions import WH, questions
from nlgauge.text.languages import language


def doc(text):
    return language().analyse(text)


def noun(text):
    return doc(text).tokens[-1]


def named(text, plural=False):
    made = doc(text)
    return nominal(made, questions(made)[0], plural)


@pytest.mark.parametrize(
    ("text", "answers", "behind"),
    [
        ("Who came?", fillers.PERSONS, ""),
        ("What fell?", fillers.THINGS, ""),
        ("Whose hat is it?", ("Mary's", "Peter's"), " hat"),
        ("How many old boats sank?", fillers.NUMBERS[1:], " old boats"),
        ("How much water is left?", ("a lot of", "a little"), " water"),
        ("Which of the boats sank?", ("one",), " of the boats"),
        ("What year is it?", fillers.YEARS, ""),
        ("Which boats sank?", ("these", "the same", "two"), " boats"),
        ("What boat sank?", ("another", "a certain"), " boat"),
        ("Which singer won?", fillers.PERSONS, ""),
        ("Which phone number is it?", ("another", "a certain"), " phone number"),
    ],
)
def test_a_phrase_is_answered_by_its_kind(text, answers, behind):
    assert named(text) == ("", answers, behind)


def test_several_are_answered_by_several():
    assert all(" and " in answer for answer in named("Who were the singers?", plural=True)[1])
    assert named("What were they?", plural=True)[1] == fillers.MANY_THINGS


def test_nouns_ask_for_places_dates_and_values():
    assert asked(noun("the year")) == ("in", fillers.YEARS)
    assert asked(noun("two days"))[0] == "on"
    assert asked(noun("the singer")) == ("", fillers.PERSONS)
    assert asked(noun("the boat")) is None


def test_a_noun_may_turn_out_to_be_what_its_field_of_meaning_holds():
    assert of_kind(noun("the capital")) == fillers.PLACES
    assert of_kind(noun("the dog")) == ("a dog", "a horse")
    assert of_kind(noun("two dogs")) == fillers.MANY_THINGS
    assert of_kind(noun("meet Zorvax")) == fillers.THINGS


def test_the_head_stands_before_what_hangs_on_it():
    made = doc("the size of the old school")
    assert head(made, 0, len(made.tokens) - 1).text == "size"
    assert head(made, 3, len(made.tokens) - 1).text == "school"


# --- How a question is turned round: what moves, what is said in the place of what was asked, where it cannot be done


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


def test_the_answer_stands_where_the_verb_wants_it(cases):
    for text, expected in cases:
        assert made(text) == expected


def test_asked_for_the_subject_only_the_question_phrase_gives_way(cases):
    for text, expected in cases:
        assert made(text) == expected


def test_the_auxiliary_goes_behind_its_subject_or_into_the_verb(cases):
    for text, expected in cases:
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


# --- Questions with another question word, with none, and as statements

TEMPLATES = ("change_question_word", "drop_question_word", "question_to_assertion")
QUESTIONS = [
    "When was the bridge built?", "where did she live", "WHO WROTE THE LETTER?",
    "How many people live in the old town?", "Which of the two is taller?", "“What’s the time?” he asked.",
    "It is late. Why did you come?", "Whose hat is this ?",
]  # fmt: skip
WORDS = (
    "who what When where how many which is was did does Can the old man house he born live ? . , \" 's n't in of to you"
    " than that there not"
)
invented = st.one_of(st.text(max_size=40), st.lists(st.sampled_from(WORDS.split()), max_size=12).map(" ".join))


def one(name: str, text: str, seed: int = 0, **options: object) -> str | None:
    made = perturb(name, text, seed=seed, **options)[0]
    return made.text if made else None


def why(name: str, text: str) -> str | None:
    return perturb(name, text).reasons[0]


def test_only_the_interrogative_changes(cases):
    for text, start, rest in cases:
        for seed in range(5):
            made = one("change_question_word", text, seed)
            assert made.endswith(rest)
            new = made.removesuffix(rest)
            assert new.lower() != start.lower()
            assert set(new.lower().split()) <= WH | {"many"}
            assert new[0].isupper() == start[0].isupper()


def test_capitals_throughout_stay():
    assert one("change_question_word", "WHO WROTE THE LETTER?") == "WHAT WROTE THE LETTER?"


@pytest.mark.parametrize("seed", range(5))
def test_the_new_word_fits_the_words_around_it(seed):
    assert (
        one("change_question_word", "Who wrote the letter?", seed) == "What wrote the letter?"
    )  # the subject: no adverb
    assert (
        one("change_question_word", "In what year did she move?", seed) == "In whose year did she move?"
    )  # before a noun: no pronoun
    assert one("change_question_word", "What is she looking at?", seed) in (
        "Who is she looking at?",
        "Which is she looking at?",
    )
    assert one("change_question_word", "Where did she move?", seed).split()[0] in ("When", "Why", "How")


def test_a_word_inside_the_question_changes_where_it_stands():
    assert one("change_question_word", "The song was written by whom?") in (
        "The song was written by what?",
        "The song was written by which?",
    )
    assert one("change_question_word", "In 1905, where did he live?", 1).startswith("In 1905, ")


def test_the_question_word_goes_from_the_start(cases):
    for text, expected in cases:
        assert one("drop_question_word", text) == expected


def test_how_may_go_alone():
    assert one("drop_question_word", "How many people live here?", drop_how_many=False) == "Many people live here?"
    assert one("drop_question_word:drop_how_many=false", "How old is it?") == "Old is it?"


def test_a_question_becomes_a_statement_with_the_subject_first(cases):
    for text, before, behind in cases:
        for seed in range(3):
            made = perturb("question_to_assertion", text, seed=seed)[0]
            assert made.text.startswith(before)
            assert made.text.endswith(behind)
            filler = made.text[len(before) : len(made.text) - len(behind)]
            assert filler.lower() == str(made.meta["filler"]).lower()


def test_what_is_answered_by_yes_becomes_its_yes(cases):
    for text, expected in cases:
        assert one("question_to_assertion", text) == expected


def test_why_a_text_is_left_alone(cases):
    for name, text, reason in cases:
        assert why(name, text) == reason


class Teller:
    """Fills every gap with the same word, and remembers what it was asked."""

    def __init__(self, word: str) -> None:
        self.word, self.asked = word, list[Gap]()

    def fill(self, gaps, k):
        self.asked += gaps
        return [[Filler(self.word, 0.0)] for _ in gaps]


def test_a_model_may_name_what_is_asked_for():
    teller = Teller("Paris")
    made = perturb(QuestionToAssertion(infill=teller), ["Where did she live?", "Is it late?"])
    assert [p.text for p in made] == ["She lived in Paris.", "It is late."]
    ((text, start, end),) = (
        teller.asked
    )  # the table's own word stands in the gap, and no gap is asked for where nothing is
    assert (text[:start], text[end:]) == ("She lived in ", ".")


def test_a_model_that_names_nothing_leaves_the_table():
    made = perturb(QuestionToAssertion(infill=Teller("what")), "Where did she live?")[0]
    assert made.text in {f"She lived in {place}." for place in ("London", "Canada", "Boston", "Vienna")}


def test_a_model_that_is_not_there_is_told_at_once():
    with pytest.raises((InputError, MissingExtra), match=r"unavailable.*neural|does not exist"):
        QuestionToAssertion(infill="/no/such/folder")


@pytest.mark.parametrize("name", TEMPLATES)
def test_seeds_differ_in_what_they_draw(name):
    drawn = {tuple(p.text if p else None for p in perturb(name, QUESTIONS, seed=seed)) for seed in range(6)}
    assert len(drawn) > 1 or name == "drop_question_word"


@given(text=invented, seed=st.integers(0, 3))
def test_the_words_around_the_interrogative_stay(text, seed):
    made = perturb(ChangeQuestionWord(), text, seed=seed)[0]
    if made is not None:
        (edit,) = [e for e in made.edits if e.new.lower() not in ("a", "an")]  # an article may follow suit
        assert text[edit.start : edit.end].split()[0].lower() in WH
        assert edit.new.lower().split()[0] in WH


@given(text=invented)
def test_to_drop_adds_no_words(text):
    made = perturb(DropQuestionWord(), text)[0]
    if made is not None:
        assert len(made.text) < len(text)
