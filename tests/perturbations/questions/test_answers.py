"""What can be said in the place of a question phrase."""

import pytest

from nlgauge.perturbations.questions import answers as fillers
from nlgauge.perturbations.questions.answers import asked, head, nominal, of_kind
from nlgauge.text.english.questions import questions
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
