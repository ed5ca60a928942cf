import pytest

from nlgauge.perturbations.perturb import perturb
from nlgauge.perturbations.words.numbers import ChangeNumbers, NumberError, NumbersToWords
from nlgauge.text.numbers.find import find_numbers

TEXTS = [
    "The ferry took 127 people to the island in 2.5 hours.",
    "In 1990 the town paid $3 million for a 5 km road.",
    "About 25% of the 19,000 seats were free on 12 May 2003.",
    "Two of the three boats left at 10:30 with an 8-year-old on board.",
    "Nothing here can be counted by anyone at all.",
    "",
    "7",
    "猫が12匹いる。",
]


@pytest.mark.parametrize("template", [NumbersToWords, ChangeNumbers, NumberError])
def test_the_example_is_what_the_template_does(template):
    before, after = template.info.example
    assert perturb(template(), before)[0].text == after


@pytest.mark.parametrize("name", ["numbers_to_words", "change_numbers", "number_error"])
def test_texts_without_a_number_are_left_for_a_reason(name):
    outcomes = perturb(name, TEXTS)
    assert outcomes[4:6] == [None, None]
    assert outcomes.reasons[4:6] == ["no number", "empty"]
    assert outcomes.reasons[7] == "language"


@pytest.mark.parametrize("name", ["numbers_to_words", "change_numbers", "number_error"])
@pytest.mark.parametrize("which", ["all", "one"])
def test_nothing_moves_but_numbers_and_articles(name, which):
    for outcome in perturb(name, TEXTS, which=which):
        if outcome is None:
            continue
        expressions = [(n.outer_start, n.outer_end) for n in find_numbers(outcome.original)]
        for edit in outcome.edits:
            old = outcome.original[edit.start : edit.end]
            assert old in ("a", "an") or any(a <= edit.start < edit.end <= b for a, b in expressions)
        assert which == "all" or len(outcome.meta["numbers"]) == 1


def test_numbers_are_written_out_with_what_belongs_to_them():
    outcomes = [o and o.text for o in perturb("numbers_to_words", TEXTS)]
    assert outcomes[:3] == [
        "The ferry took one hundred twenty-seven people to the island in two point five hours.",
        "In nineteen ninety the town paid three million dollars for a five-kilometre road.",
        "About twenty-five percent of the nineteen thousand seats were free on the twelfth of May two thousand three.",
    ]
    assert "10:30 with an eight-year-old" in outcomes[3]


def test_the_styles_are_options():
    (outcome,) = perturb(
        "numbers_to_words:british_and=true,money=point,years=leave", "In 1990 the 127 tickets were $1.70 each."
    )
    assert outcome.text == "In 1990 the one hundred and twenty-seven tickets were one point seven dollars each."


def test_tags_tell_that_an_amount_describes_a_noun():
    outcomes = perturb(
        "numbers_to_words", ["The $800 billion merchandise trade gap grew.", "They spent $800 billion yesterday."]
    )
    assert [o.text for o in outcomes] == [
        "The eight-hundred-billion-dollar merchandise trade gap grew.",
        "They spent eight hundred billion dollars yesterday.",
    ]


def test_only_change_numbers_changes_dates():
    text = "In 1990 and on 12 May 2003 the town lay still."
    assert perturb("number_error", text).reasons == ["no number"]
    assert perturb("change_numbers:skip_dates=true", text).reasons == ["no number"]
    (outcome,) = perturb("change_numbers", text)
    assert {n.kind for n in find_numbers(outcome.text)} == {"year", "day"}
    assert [old for old, _ in outcome.meta["numbers"]] == ["1990", "12", "2003"]


def test_the_change_can_be_bounded():
    for seed in range(20):
        (outcome,) = perturb("number_error:least=0.1,most=0.3", "The hall has 2345 seats.", seed=seed)
        value = int(outcome.meta["numbers"][0][1])
        assert 0.1 <= abs(value - 2345) / 2345 <= 0.3
        (outcome,) = perturb("number_error:least=1", "The hall has 2345 seats.", seed=seed)
        assert int(outcome.meta["numbers"][0][1]) >= 2 * 2345  # as many digits: no number is smaller by its own size


def test_a_seed_draws_the_same_whatever_stands_beside():
    alone = [perturb("number_error", text, seed=3)[0] for text in TEXTS]
    assert [o and o.text for o in perturb("number_error", TEXTS, seed=3)] == [o and o.text for o in alone]
    assert perturb("number_error", TEXTS, seed=4)[0].text != alone[0].text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It was on January 18 and 19.", "It was on January eighteenth and nineteenth."),
        ("It ran from May 3 to 5 in four towns.", "It ran from May third to fifth in four towns."),
        ("On May 3 and 20 people came.", "On May third and twenty people came."),
    ],
)
def test_a_day_joined_to_a_day_is_one(text, words):
    assert perturb("numbers_to_words", [text])[0].text == words


def test_a_day_joined_to_a_day_is_no_number_error():
    [made] = perturb("number_error", ["On May 3 and 4 it rained in 7 towns."])
    assert made.text.startswith("On May 3 and 4 it rained in ")
    [made] = perturb("change_numbers", ["It rained on May 18 and 19."])
    assert 1 <= int(made.text.split()[-1].strip(".")) <= 31


@pytest.mark.parametrize("name", ["numbers_to_words", "change_numbers", "number_error"])
@pytest.mark.parametrize("text", ["The phone number is 4155550100.", "Please call 5550100 and ask."])
def test_telephone_numbers_without_blanks_are_left_alone(name, text):
    assert perturb(name, [text]).reasons == ["no number"]


def test_long_amounts_are_no_telephone_numbers():
    [made] = perturb("numbers_to_words", ["They called 2000000 people."])
    assert made.text == "They called two million people."
