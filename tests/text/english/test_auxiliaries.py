"""Short and full forms, and what a text prefers."""

import pytest

from nlgauge.text.english.auxiliaries import STEMS, WITH_NOT, apostrophe, be_for, contracts, is_loud
from nlgauge.text.languages import language
from nlgauge.text.words import word_spans


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He isn't here.", True),
        ("We’re late.", True),
        ("It's late.", True),
        ("Let's go.", True),
        ("Anna's hat is red.", False),
        ("He is not here.", False),
        ("", False),
    ],
)
def test_a_text_with_a_short_form_contracts(text, expected):
    assert contracts(language().analyse(text)) is expected


def test_the_apostrophe_is_the_one_that_stands_there_more_often():
    assert apostrophe("don’t, won’t, can't") == "’"
    assert apostrophe("don’t, can't") == "'"
    assert apostrophe("") == "'"


def test_a_text_is_loud_from_four_letters_on():
    assert is_loud("STOP!")
    assert not is_loud("USA")
    assert not is_loud("STOp")
    assert not is_loud("123 !")


@pytest.mark.parametrize(
    ("subject", "tag", "form"),
    [
        ("I", "PRP", "am"),
        ("they", "PRP", "are"),
        ("dogs", "NNS", "are"),
        ("dog", "NN", "is"),
        ("she", "PRP", "is"),
        ("These", "DT", "are"),
    ],
)
def test_be_agrees_with_its_subject(subject, tag, form):
    assert be_for(subject, tag) == form


def test_stems_are_what_the_tokeniser_leaves_of_short_forms():
    cut = {full: whole[slice(*word_spans(whole)[0])] for full, whole in WITH_NOT.items()}
    assert {full for full, stem in cut.items() if stem != full} == set(STEMS.values())
    assert all(STEMS[stem] == full for full, stem in cut.items() if stem != full)
