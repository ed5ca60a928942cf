import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.perturbations.base import apply_edits
from nlgauge.perturbations.perturb import perturb
from nlgauge.perturbations.words.names import ChangeNames, DropNamedEntities, PerturbEntities, WrongName
from nlgauge.text.names import gender_of, is_first_name, is_last_name, places

PIECES = [
    "Mary",
    "Smith",
    "John",
    "Mr.",
    "Dr",
    "the",
    "in",
    "Paris",
    "and",
    ",",
    ".",
    "said",
    "dog",
    "'s",
    "’",
    "-",
    "van",
    "Czech",
    "\ud800",
    "\n",
]
ODD = st.one_of(st.text(), st.lists(st.sampled_from(PIECES)).map(" ".join))
TEMPLATES = [
    ChangeNames(), ChangeNames(which="one"), WrongName(), DropNamedEntities(), DropNamedEntities(which="one"),
    PerturbEntities(), PerturbEntities(kind="name"), PerturbEntities(kind="noun"), PerturbEntities(kind="verb"),
]  # fmt: skip


def outcome(template, text, seed=0):
    made = perturb(template, [text], seed=seed)
    return made[0].text if made[0] is not None else made.reasons[0]


@pytest.mark.parametrize("seed", range(12))
def test_a_person_has_one_new_name_in_full_by_first_and_by_last_name(seed):
    text = "Laura Palmer smiled. Palmer sat down, and Laura’s dog barked at Mrs Palmer."
    made = perturb(ChangeNames(), [text], seed=seed)[0]
    first, last = made.text.split()[:2]
    assert made.text == f"{first} {last} smiled. {last} sat down, and {first}’s dog barked at Mrs {last}."
    assert gender_of(first) == "f"
    assert is_last_name(last) or is_last_name(last.capitalize())
    assert first != "Laura"
    assert last != "Palmer"


@pytest.mark.parametrize(("text", "gender"), [("Then Martha arrived.", "f"), ("Then Robert arrived.", "m")])
def test_a_new_first_name_is_of_the_same_gender_and_no_place(text, gender):
    new = {outcome(ChangeNames(), text, seed).split()[1] for seed in range(40)}
    assert len(new) > 20
    assert {gender_of(name) for name in new} == {gender}
    assert not new & {"Martha", "Robert"}
    assert not [name for name in new if name in places() and not is_first_name(name)]


def test_all_people_or_one():
    text = "Robert Miller met Susan Hughes."
    both = [perturb(ChangeNames(), [text], seed=seed)[0] for seed in range(10)]
    assert all(len({e.start for e in made.edits}) == 4 for made in both)
    one = [outcome(ChangeNames(which="one"), text, seed) for seed in range(10)]
    assert all(("Robert Miller" in made) != ("Susan Hughes" in made) for made in one)


def test_a_mention_that_is_hard_to_tell_goes_along():
    made = outcome(ChangeNames(), "A: Where is Bob? B: Bob left.")
    assert re.fullmatch(r"A: Where is (\w+)\? B: \1 left\.", made)
    assert "Bob" not in made
    college = outcome(ChangeNames(), "Robert Miller came to Miller College.")
    assert college.endswith("came to Miller College.")  # the college is not his


def test_relatives_keep_a_name_in_common():
    words = outcome(ChangeNames(), "Robert Miller married Susan Miller.").rstrip(".").split()
    assert words[1] == words[4] != "Miller"


def test_particles_go_with_the_last_name_and_hyphens_with_the_first():
    made = perturb(ChangeNames(), ["Ludwig van Dyke came.", "ANNE MILLER SANG"])
    assert re.fullmatch(r"\w+ \w+ came\.", made[0].text)
    assert made[1].text.isupper()


@pytest.mark.parametrize("template", [ChangeNames(), WrongName()])
def test_names_that_hyphens_tie_into_one_are_one(template):
    made = outcome(template, "President Robert-al-Miller waved.")
    assert re.fullmatch(r"President [A-Z]\w+ waved\.", made)


def test_the_meta_say_what_the_gender_was_told_by():
    def told(text):
        return perturb(WrongName(), [text])[0].meta["basis"]

    assert told("Then Martha arrived.") == "first name"
    assert told("Then Mrs Miller arrived.") == "title"
    assert told("Then Dr Miller arrived.") == "unknown"


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("Then Laura Palmer spoke.", r"Then \w+ Palmer spoke\."),  # the first name, whose gender is known
        ("Then Mr. Palmer spoke.", r"Then Mr\. \w+ spoke\."),  # a last name stands alone
        ("Then Dr Palmer spoke.", r"Then Dr \w+ spoke\."),
        ("Where is Robert’s hat?", r"Where is \w+’s hat\?"),
    ],
)
def test_exactly_one_name_is_wrong(text, pattern):
    for seed in range(10):
        made = perturb(WrongName(), [text], seed=seed)[0]
        assert len(made.edits) == 1
        assert re.fullmatch(pattern, made.text)
        assert made.text != text


def test_a_last_name_takes_the_place_of_a_last_name():
    assert all(
        is_last_name(perturb(WrongName(), ["Then Dr Palmer spoke."], seed=s)[0].meta["replacement"].capitalize())
        for s in range(10)
    )


@pytest.mark.parametrize("template", [ChangeNames(), WrongName()])
@pytest.mark.parametrize(
    "text", ["The dog sleeps in Paris.", "mali and jordan are countries", "It rained.", "In May he left Scotland."]
)
def test_places_and_months_are_no_people(template, text):
    assert outcome(template, text) == "no person named"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Laura Palmer arrived in Paris on Monday.", "Arrived on Monday."),
        ("The singer, Laura Palmer, arrived.", "The singer arrived."),
        ("Laura Palmer, the singer, arrived.", "The singer arrived."),
        ("Laura Palmer, who sings, arrived late.", "Arrived late."),
        ("The Berlin office closed.", "The office closed."),
        ("They met Robert Miller and Susan Hughes.", "They met."),
        ("According to Robert Miller, it rained.", "It rained."),
        ("He visited the Netherlands.", "He visited."),
        ("They drove from Berlin to Madrid by car.", "They drove by car."),
        ("Robert Miller's dog barks.", "Dog barks."),
        ("It grows in Spain and its neighbours.", "It grows in its neighbours."),
        ("He left after Susan Hughes arrived.", "He left after arrived."),
        ("Robert Miller, 45, resigned.", "Resigned."),
        ("Robert Miller, born in Berlin, sings.", "Sings."),
    ],
)
def test_names_go_with_what_hangs_on_them(text, expected):
    assert outcome(DropNamedEntities(), text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Paris-based firm left.", "The firm left."),
        ("The film by Oscar-winning Barry Levin was shown.", "The film was shown."),
        ("Later 74-year-old Laura Palmer sang.", "Later sang."),
        ("Anne lives in Stratford-upon-Avon now.", "Lives now."),
        ("The London-Paris train was late.", "The train was late."),
    ],
)
def test_what_a_hyphen_ties_to_a_name_goes_with_it(text, expected):
    assert outcome(DropNamedEntities(), text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("They heard BBC Radio 3 there.", "They heard there."),
        ("It is in Adams county now.", "It is now."),
        ("They met Constantine the Great there.", "They met there."),
        ("The 11th Berlin Infantry left.", "Left."),
        ("Brandon Carter is known for the Carter Constant.", "Is known."),
        ("Year of No Light played.", "Played."),
        ("The code (ISO 639-2) is old.", "The code (639-2) is old."),
    ],
)
def test_a_name_goes_whole(text, expected):
    assert outcome(DropNamedEntities(), text) == expected


def test_a_text_of_little_but_names_stays():
    text = "In Spain and Italy Anna Miller met Paul Smith, who was married to Susan Hughes of Berlin."
    assert outcome(DropNamedEntities(), text) == "too many names"


def test_names_that_are_not_there_or_all_there_is():
    assert outcome(DropNamedEntities(), "It rained all day.") == "no named entity"
    assert outcome(DropNamedEntities(), "Robert Miller!") == "nothing would be left"


def test_capitals_throughout_name_nothing_by_themselves():
    assert outcome(DropNamedEntities(), "A MAN WITH A RED HAT") == "no named entity"
    assert outcome(DropNamedEntities(), "ROBERT MILLER RESIGNED") == "RESIGNED"


def test_one_name_alone_goes():
    seen = {outcome(DropNamedEntities(which="one"), "They flew from Berlin to Madrid.", seed) for seed in range(20)}
    assert seen == {"They flew to Madrid.", "They flew from Berlin."}


def test_a_question_asks_about_somebody_else():
    for seed in range(10):
        assert re.fullmatch(
            r"Where did (?!Martha)\w+ live\?", outcome(PerturbEntities(), "Where did Martha live?", seed)
        )


def test_a_short_name_gives_no_capitals_and_a_land_before_a_noun_stays():
    made = {outcome(PerturbEntities(), "Where in the UK is it?", seed) for seed in range(10)}
    assert all(places()[text.removeprefix("Where in ").removesuffix(" is it?")] == "country" for text in made)
    assert outcome(PerturbEntities(kind="name"), "Which US states have a coast?") == "no name"


def test_a_place_becomes_a_place_of_its_kind():
    made = [outcome(PerturbEntities(), "Who rules the United States?", seed) for seed in range(10)]
    assert all(places()[text.removeprefix("Who rules ").rstrip("?")] == "country" for text in made)


@pytest.mark.parametrize(
    ("kind", "kept"), [("noun", "Why did Martha buy the {}?"), ("verb", "Why did Martha {} the dog?")]
)
def test_kinds_of_words(kind, kept):
    text = "Why did Martha buy the dog?"
    before, after = kept.split("{}")
    made = perturb(PerturbEntities(kind=kind), [text])[0]
    assert made.text.startswith(before)
    assert made.text.endswith(after)
    assert made.meta["kind"] == kind


def test_any_takes_a_name_before_a_noun_before_a_verb():
    made = perturb(
        PerturbEntities(), ["Why did Martha buy the dog?", "Why did the dog bark?", "Why did it bark?", "Why?"]
    )
    assert [m.meta["kind"] if m else None for m in made] == ["name", "noun", "verb", None]
    assert made.reasons[3] == "no entity"
    assert outcome(PerturbEntities(kind="name"), "Why did it bark?") == "no name"


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
    st.sampled_from(["Robert", "Susan", "Edward", "Nancy"]),
    st.sampled_from(["{} sleeps", "a dog for {}", "{} and a dog"]),
    st.integers(0, 9),
)
def test_nothing_but_the_name_moves(name, frame, seed):
    text = frame.format(name)
    made = perturb(ChangeNames(), [text], seed=seed)[0]
    assert [text[e.start : e.end] for e in made.edits if text[e.start : e.end].lower() not in ("a", "an")] == [name]
