"""How far the phrase reaches that asks, and which words are auxiliaries."""

import pytest

from nlgauge.text.doc import Doc
from nlgauge.text.english.question_phrases import after_not, full_form, is_auxiliary, nouns_end, phrase_end
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
