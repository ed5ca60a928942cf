import pytest

from nlgauge.perturbations.perturb import make_cases
from nlgauge.text.english.things import things


def things_of(text):
    case = make_cases([text])[0]
    return things(case.doc, case.language)


def found(text):
    return [(t.determiner, t.text) for t in things_of(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A man in front of a tall tree", [("a", "man"), ("a", "tree")]),
        ("the top of a hill", [("a", "hill")]),
        ("A group of children near the lake.", [("", "children"), ("the", "lake")]),
        ("a photo of two fire trucks", [("two", "fire trucks")]),
        ("His dog sleeps.", [("his", "dog")]),
        ("Two dogs chase a cat.", [("two", "dogs"), ("a", "cat")]),  # chase is tagged as a noun
        ("The horse drinks water.", [("the", "horse"), ("", "water")]),
        ("a snow covered slope", [("", "slope")]),
        ("the well-known tea-house", [("the", "tea-house")]),
        ("They met for a two-day meeting.", [("a", "meeting")]),
        ("His ex-wife sold the house.", [("his", "ex-wife"), ("the", "house")]),
        ("The mother-in-law waved.", [("the", "mother-in-law")]),
        ("A sugar-free drink was sold.", [("a", "drink")]),
        ("SpaceX engineers left.", [("", "SpaceX engineers")]),
        ("Maria left Berlin.", [("", "Maria"), ("", "Berlin")]),
        ("It was him.", []),
        ("{0}child@xsaw", [("", "child@xsaw")]),  # not `child`, which goes on
        ("", []),
    ],
)
def test_things_of_a_text(text, expected):
    assert found(text) == expected


def test_only_the_head_of_a_sentence_loses_its_capital():
    assert found("Dogs sleep.")[0] == ("", "dogs")
    assert found("TWO CATS SLEEP") == [("two", "CATS")]
    assert found("Oslo sleeps.") == [("", "Oslo")]


def test_number_and_kind():
    first, second = things_of("Water flows to Oslo.")
    assert (first.bare, first.plural, first.named) == (True, False, False)
    assert (second.bare, second.plural, second.named) == (False, False, True)
