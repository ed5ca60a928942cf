import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlgauge.text.numbers.find import find_numbers
from nlgauge.text.numbers.spelling import Spelling, spelled_numbers

pieces = st.sampled_from(
    [
        *"0123456789.,:/-–−+%$€£'’\"() \n½°",
        "12",
        "1990",
        "2016",
        "000",
        "1/2",
        "10-12",
        "st",
        "th",
        "s",
        " km",
        " million",
        "bn",
        " May ",
        "in ",
        "a ",
        "An ",
        " gap",
        " of",
        "-year-old",
        "It ",
        "猫",
        "\ud800",
    ]
)
texts = st.lists(pieces, max_size=30).map("".join) | st.text(max_size=60)


def spelled(text, tags=None, **options):
    out, at = [], 0
    for group in spelled_numbers(text, Spelling(**options), tags=tags):
        for start, end, new in group:
            out += [text[at:start], new]
            at = end
    return "".join([*out, text[at:]])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # money
        ("It costs $1.70.", "It costs one dollar and seventy cents."),
        ("It costs $1.", "It costs one dollar."),
        ("It costs $1.00.", "It costs one dollar."),
        ("It costs $0.50.", "It costs fifty cents."),
        ("It costs £1.01.", "It costs one pound and one penny."),
        ("It costs €2.5.", "It costs two point five euros."),
        ("It costs $3 million.", "It costs three million dollars."),
        ("It costs €5bn.", "It costs five billion euros."),
        ("It costs ¥500.", "It costs five hundred yen."),
        ("It costs US$5.", "It costs five US dollars."),
        ("It costs EUR 100 or 100 EUR.", "It costs one hundred euros or one hundred euros."),
        ("It costs -$3.2m.", "It costs minus three point two million dollars."),
        ("It costs 5 dollars.", "It costs five dollars."),
        ("It costs $5 million dollars.", "It costs five million dollars."),
        ("The $800 billion gap grew.", "The eight-hundred-billion-dollar gap grew."),
        ("He took a $5 bill.", "He took a five-dollar bill."),
        ("He took a $40-billion-a-year loss.", "He took a forty-billion-dollar-a-year loss."),
        ("He paid $5 yesterday.", "He paid five dollars yesterday."),
        ("He paid the $5 million in cash.", "He paid the five million dollars in cash."),
        ("He took 50p.", "He took fifty pence."),
        # percentages
        ("It rose 5%.", "It rose five percent."),
        ("It rose 2.5 %.", "It rose two point five percent."),
        ("It rose 5 per cent, not 6%.", "It rose five per cent, not six per cent."),
        ("A 5-percent rise.", "A five-percent rise."),
        # units
        ("It is 2.5 km away.", "It is two point five kilometres away."),
        ("It is 2.5 km from the color factory.", "It is two point five kilometers from the color factory."),
        ("It is 1 km away.", "It is one kilometre away."),
        ("A 5 km run.", "A five-kilometre run."),
        ("A 5-km run.", "A five-kilometre run."),
        ("A 60mph limit.", "A sixty-mile-per-hour limit."),
        ("It is 20 °C now.", "It is twenty degrees Celsius now."),
        ("It is -4°C now.", "It is minus four degrees Celsius now."),
        ("It came 20 min. later.", "It came twenty minutes later."),
        ("It took 20 min.", "It took twenty minutes."),
        # plain
        ("It has 127 seats.", "It has one hundred twenty-seven seats."),
        ("It has 1,000 seats.", "It has one thousand seats."),
        ("It has 1,000,000 seats.", "It has one million seats."),
        ("It has 2.5m seats.", "It has two point five million seats."),
        ("It is -4.", "It is minus four."),
        ("It is 0.05.", "It is zero point zero five."),
        # ordinals, years, dates
        ("The 3rd man.", "The third man."),
        ("The 21st century.", "The twenty-first century."),
        ("A 19th-century house.", "A nineteenth-century house."),
        ("In 1990 it fell.", "In nineteen ninety it fell."),
        ("The 1990s came.", "The nineteen nineties came."),
        ("The ’90s came.", "The nineties came."),
        ("The mid-1990s came.", "The mid-nineteen-nineties came."),
        ("On 12 May 2003.", "On the twelfth of May two thousand three."),
        ("On the 3rd of May.", "On the third of May."),
        ("On May 12, 2003.", "On May twelfth, two thousand three."),
        # no years, though as large
        ("A density of 1604.", "A density of one thousand six hundred four."),
        (
            "The population of the town was 1950 in 1950.",
            "The population of the town was one thousand nine hundred fifty in nineteen fifty.",
        ),
        ("The war of 1812.", "The war of eighteen twelve."),
        # ranges and fractions
        ("Some 10-12 people.", "Some ten to twelve people."),
        ("Some 10–12%.", "Some ten to twelve percent."),
        ("Some $10-12 million.", "Some ten to twelve million dollars."),
        ("Some $10-$12.", "Some ten to twelve dollars."),
        ("From 1990-1995.", "From nineteen ninety to nineteen ninety-five."),
        ("Some 10-12-year-olds.", "Some ten-to-twelve-year-olds."),
        ("A 10-12 km walk.", "A ten-to-twelve-kilometre walk."),
        ("On May 12-14.", "On May twelfth to fourteenth."),
        ("Some 1/2 of it.", "Some one half of it."),
        ("Some 1 1/2 hours.", "Some one and a half hours."),
        ("Some 2½ hours.", "Some two and a half hours."),
        ("Some 1 3/4 hours.", "Some one and three quarters hours."),
        # around
        ("An 8-year-old.", "An eight-year-old."),
        ("A 8-year-old.", "An eight-year-old."),
        ("An 11 and an 18.", "An eleven and an eighteen."),
        ("A 100-metre race.", "A one-hundred-metre race."),
        ("8 men left. 11 stayed.", "Eight men left. Eleven stayed."),
        ("“8 men left.”", "“Eight men left.”"),
        ("He waited... 8 men left.", "He waited... eight men left."),
        ("A top-10 hit.", "A top-ten hit."),
    ],
)
def test_a_number_is_written_out(text, expected):
    assert spelled(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "He came at 10:30 or 5pm.",
        "Call 020 7946 0958.",
        "Take version 2.0.1 or iOS 12.",
        "An A380 and a B-52.",
        "They won 2-1.",
        "See Article 5 and No. 3.",
        "It was 12/05/2003.",
        "The season 2015-16.",
        "Two of twenty-one.",
        "1. Open it.",
        "１２ and ٣",
        "",
        "12" * 30,
        "It is 5/day.",
        "about ~5",
        # figures of other kinds: science, scores, addresses, telephones, codes, names
        "At 1e-3 or 2.5E+4.",
        "They won 2 - 0.",
        "She won 4-6 7-6 6-3.",
        "It is at 42 low hill ave .",
        "You can reach the small inn by the lake at 4155550123",
        "The postcode is 94101 .",
        "They called 911.",
        "the boeing 747",
        "a su - 27",
        "a .38-calibre gun",
        "# 3,500",
        "Euro 2016 began.",
        "They heard Live at Tillbury 2008 by Grim.",
        "1634: The Long War",
        "The Ligue 1 side lost.",
        "the old formula 1 racer",
        "The orbit of 1147 Stavros is long.",
        "He weighed 15st.",
        "It offers 4/6 on it.",
    ],
)
def test_what_is_no_quantity_or_in_words_already_is_left(text):
    assert spelled_numbers(text) == []


def test_the_ways_of_spelling_can_be_chosen():
    assert spelled("It has 127 seats.", british_and=True) == "It has one hundred and twenty-seven seats."
    assert spelled("It costs $1.70.", money="point") == "It costs one point seven dollars."
    assert spelled("In 2005 and the 1990s.", years="leave") == "In 2005 and the 1990s."
    assert spelled("In 2005.", year_style="pairs") == "In twenty oh five."


def test_tags_tell_a_noun_that_an_amount_describes_from_what_follows_by_chance():
    text = "$800 billion gap widens"
    assert spelled(text) == "Eight hundred billion dollars gap widens"
    assert spelled(text, tags={13: "NN", 17: "VBZ"}) == "Eight-hundred-billion-dollar gap widens"
    text = "He took the $5 ripe fruit cost"
    assert spelled(text, tags={15: "JJ", 20: "NN"}) == "He took the five-dollar ripe fruit cost"
    assert spelled(text, tags={15: "JJ", 20: "IN"}) == "He took the five dollars ripe fruit cost"


def test_each_number_has_its_own_list_of_edits():
    assert spelled_numbers("A 8-year-old of 3.") == [[(0, 1, "An"), (2, 3, "eight")], [(16, 17, "three")]]


@given(texts)
@settings(max_examples=4 * settings().max_examples)  # rare combinations of pieces
def test_edits_of_any_text_ascend_and_touch_numbers_and_articles_alone(text):
    expressions = [(n.outer_start, n.outer_end) for n in find_numbers(text)]
    at = 0
    for start, end, new in [edit for group in spelled_numbers(text) for edit in group]:
        assert at <= start < end
        assert re.fullmatch(r"(?i)an?", text[start:end]) or any(a == start and end >= b for a, b in expressions)
        assert new
        assert not re.search("[0-9]", new)
        at = end


@pytest.mark.parametrize("n", [1, 2, 8, 11, 99, 100, 1000, 12_345])
def test_a_plain_number_is_read_back_from_the_text(n):
    (number,) = find_numbers(spelled(f"About {n + 1:,} boats came."))
    assert number.words
    assert number.value == n + 1
