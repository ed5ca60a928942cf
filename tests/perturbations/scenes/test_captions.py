import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.perturbations.base import apply_edits
from nlgauge.perturbations.perturb import perturb
from nlgauge.perturbations.scenes.captions import ChangeAttributes, ChangeGender

PIECES = [
    "a",
    "An",
    "red",
    "orange",
    "small",
    "bus",
    "man",
    "Men",
    "woman",
    "his",
    "her",
    "and",
    "black",
    "’",
    "'s",
    ",",
    ".",
    "-",
    "\ud800",
    "\n",
]
ODD = st.one_of(st.text(), st.lists(st.sampled_from(PIECES)).map(" ".join))
TEMPLATES = [
    ChangeAttributes(),
    ChangeAttributes(which="all"),
    ChangeGender(),
    ChangeGender(which="one"),
    ChangeGender(pronouns=True),
]
COLOURS = {"red", "green", "blue", "yellow", "black", "white", "brown", "purple", "pink"}


def outcome(template, text, seed=0):
    made = perturb(template, [text], seed=seed)
    return made[0].text if made[0] is not None else made.reasons[0]


def seen(template, text):
    return {outcome(template, text, seed) for seed in range(60)}


def test_a_colour_becomes_any_other():
    assert seen(ChangeAttributes(), "a red kite") == {f"a {colour} kite" for colour in COLOURS - {"red"}}
    assert seen(ChangeAttributes(), "A RED KITE") == {f"A {colour.upper()} KITE" for colour in COLOURS - {"red"}}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a small dog", {"a large dog", "a big dog", "a huge dog"}),
        ("a small boy", {"a large boy", "a big boy", "a huge boy", "a tall boy"}),  # of people, tall may be said
        ("an old man", {"a young man"}),
        ("an old church", {"a new church", "a modern church"}),
        ("The larger dog sleeps.", {"The smaller dog sleeps.", "The tinier dog sleeps.", "The littler dog sleeps."}),
        (
            "a glass of milk on a wooden table",
            {f"a glass of milk on a {m} table" for m in ("metal", "plastic", "stone")},
        ),
        ("many boats", {"few boats"}),
        ("an empty bus", {"a full bus", "a crowded bus"}),
        ("a wet dog", {"a dry dog"}),
        ("a man with red hair", {"a man with black hair", "a man with brown hair", "a man with white hair"}),
        ("the soup is hot", {"the soup is cold"}),
    ],
)
def test_attributes_become_others_of_their_kind(text, expected):
    assert seen(ChangeAttributes(), text) <= expected
    assert outcome(ChangeAttributes(), text) != text


@pytest.mark.parametrize(
    "text",
    [
        "a girl eats an orange",  # the fruit
        "a glass of milk",
        "a tree six feet tall",
        "the White House",
        "a black and white photo of the sea",
        "a few boats",
        "they sing",
    ],
)
def test_words_that_are_no_attributes_stay(text):
    assert outcome(ChangeAttributes(), text) == "no attribute"


def test_colours_in_a_text_do_not_come_twice():
    assert all(
        "white and white" not in text and "red and red" not in text
        for text in seen(ChangeAttributes(), "a red and white kite")
    )
    for text in seen(ChangeAttributes(which="all"), "a red and white kite"):
        first, second = text.split()[1], text.split()[3]
        assert first != second
        assert not {first, second} & {"red", "white"}


def test_an_adjective_outside_our_sets_gets_its_opposite():
    assert outcome(ChangeAttributes(), "a friendly waiter") == "an unfriendly waiter"


def test_the_kind_is_told():
    made = perturb(ChangeAttributes(), ["a red kite"])[0]
    assert made.meta["words"] == ["red"]
    assert made.meta["kinds"] == ["colour"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("two girls on a bus", "two boys on a bus"),
        ("A lady waits.", "A gentleman waits."),
        ("An actress sings.", "An actor sings."),
        ("an uncle and his niece", "an aunt and his nephew"),
        ("the woman's hat", "the man's hat"),
        ("the ladies' tent", "the gentlemen's tent"),
        ("the men’s tent", "the women’s tent"),
        ("the gentlemen’s tent", "the ladies’ tent"),
        ("the actresses' tent", "the actors' tent"),
        ("A MAN’S HAT", "A WOMAN’S HAT"),
        ("her mother-in-law", "her father-in-law"),
        ("Mr. Hill met two policemen.", "Ms. Hill met two policewomen."),
        ("The female rider waits.", "The male rider waits."),
        ("I told Mom.", "I told Dad."),
        ("A man leads a mare.", "A woman leads a mare."),  # animals only where there are no people
        ("a mare and a foal", "a stallion and a foal"),
        ("A woman photographs her brother.", "A man photographs her sister."),
        ("A man and a woman wave to a girl.", "A man and a woman wave to a boy."),
    ],
)
def test_gendered_nouns_become_their_counterparts(text, expected):
    assert outcome(ChangeGender(), text) == expected


def test_a_couple_does_not_merely_change_places():
    assert seen(ChangeGender(), "a man and a woman") == {"a woman and a woman", "a man and a man"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A man walks his dog.", "A woman walks her dog."),
        ("The girl hurt herself, so we helped her.", "The boy hurt himself, so we helped him."),
        ("She gave the boy her coat.", "He gave the girl his coat."),
        ("He slept.", "She slept."),
        ("The coat is hers.", "The coat is his."),
    ],
)
def test_pronouns_change_when_asked(text, expected):
    assert outcome(ChangeGender(pronouns=True), text) == expected


@pytest.mark.parametrize(
    "text", ["a man-made lake", "King Charles came.", "a child with a ball", "X-men films", "He slept."]
)
def test_nothing_gendered(text):
    assert outcome(ChangeGender(), text) == "no gendered noun"


def test_one_noun_alone():
    assert seen(ChangeGender(which="one"), "a woman sees a boy") == {"a man sees a boy", "a woman sees a girl"}


@given(st.sampled_from(TEMPLATES), ODD, st.integers(0, 3))
def test_any_text_comes_out_different_or_not_at_all(template, text, seed):
    made = perturb(template, [text], seed=seed)
    if made[0] is None:
        assert made.reasons[0]
    else:
        assert made[0].text != text
        assert apply_edits(text, made[0].edits) == made[0].text
        assert made[0] == perturb(template, ["A cat.", text], seed=seed)[1]


@given(
    st.sampled_from(["girl", "men", "waitress", "grandmothers", "cowboy", "bride", "nephew", "queen", "policewoman"]),
    st.sampled_from(["the {}", "near two {}", "{}"]),
)
def test_twice_changed_is_as_before(noun, frame):
    text = frame.format(noun)
    once = outcome(ChangeGender(), text)
    assert once != text
    assert outcome(ChangeGender(), once) == text
