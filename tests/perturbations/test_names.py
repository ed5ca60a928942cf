"""A random word of the same part of speech for a noun, a verb, an adjective."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import SpecError
from nlgauge.perturbations.names import (
    CITIES,
    COUNTRIES,
    STATES,
    ChangeNames,
    DropNamedEntities,
    NounsToPronouns,
    PerturbEntities,
    PronounError,
    WrongName,
    another_first_name,
    another_last_name,
    another_place,
    family_span,
    given_span,
)
from nlgauge.perturbations.perturb import Perturbed, apply_edits, perturb
from nlgauge.text.languages import language
from nlgauge.text.lexicon import inflect, lemma, related
from nlgauge.text.names import gender_of, is_first_name, is_last_name, places
from nlgauge.text.numbers.find import find_numbers

NAMES = ("mismatch_noun", "mismatch_verb", "mismatch_adj")
pieces = st.sampled_from([
    "The", "an", "old", "dogs", "well-known", "ate", "is", "has", "running", "apple", "TREE", "bigger", ",", ".", "’s",
    "\n", "\ud800", " ",
])  # fmt: skip
texts = st.lists(pieces, max_size=12).map(" ".join) | st.text(max_size=20)
SEEDS = range(25)


def one(name: str, text: str, seed: int = 0, **options: object) -> Perturbed | None:
    [made] = perturb(name, [text], seed=seed, **options)
    if made is not None:
        assert apply_edits(text, made.edits) == made.text != text
    return made


def test_the_new_word_bears_the_tag_of_the_old_one(cases):
    for name, text, word, tag in cases:
        for seed in SEEDS:
            made = one(name, text, seed)
            assert made is not None
            assert made.meta["word"] == word
            assert made.meta["tag"] == tag
            new = made.meta["replacement"]
            base = lemma(new, tag)
            assert inflect(base, tag) == new
            assert base != lemma(word, tag)
            assert base not in related(lemma(word, tag), {"N": "noun", "V": "verb", "J": "adj"}[tag[0]], "synonym")
            before, after = text.split(word)
            assert made.text == before + new + after or made.text.endswith(f"{new}{after}")  # or the article changed


def test_the_article_and_the_capital_fit():
    for seed in SEEDS:
        made = one("mismatch_adj", "This is an old house.", seed)
        assert (
            made.text.split()[2] == ("an" if made.meta["replacement"][0] in "aeio" else "a")
            or made.meta["replacement"][0] in "uh"
        )
        assert one("mismatch_noun", "Dogs bark.", seed).text[0].isupper()
        assert one("mismatch_noun", "BREAD BURNS", seed).text.split()[0].isupper()


def test_behind_a_and_in_the_plural_stands_what_can_be_counted():
    for seed in SEEDS:
        assert one("mismatch_noun", "This is a dog.", seed).meta["replacement"] not in {
            "money",
            "water",
            "silence",
            "furniture",
            "music",
        }
    assert one("mismatch_noun", "Bread burns.", 0) is not None


def test_auxiliaries_names_and_words_of_grammar_stay(cases):
    for name, text in cases:
        outcome = perturb(name, [text])
        assert outcome == [None]
        assert outcome.reasons == [
            {"mismatch_verb": "no verb", "mismatch_adj": "no adjective", "mismatch_noun": "no noun"}[name]
        ]


def test_a_word_of_a_kindred_meaning_on_request():
    kindred = {one("mismatch_noun", "The dog barked.", seed, semantic=True).meta["replacement"] for seed in SEEDS}
    assert kindred == {"cat", "wolf", "fox"}
    assert one("mismatch_adj", "The wall is red.", semantic=True).meta["replacement"] in related(
        "red", "adj", "sibling"
    )
    assert perturb("mismatch_adj", ["The wall is wooden."], semantic=True).reasons == ["no word of a kindred meaning"]


def test_many_words_can_be_drawn():
    assert len({one("mismatch_noun", "The dog barked.", seed).text for seed in range(100)}) > 80


@pytest.mark.parametrize("name", NAMES)
@given(text=texts, seed=st.integers(0, 9), semantic=st.booleans())
def test_no_text_is_too_odd_and_one_word_changes(name, text, seed, semantic):
    made = one(name, text, seed, semantic=semantic)
    if made is not None:
        assert len(made.text.split()) == len(text.split())
        changed = [(a, b) for a, b in zip(text.split(), made.text.split(), strict=True) if a != b]
        assert len([pair for pair in changed if {w.lower() for w in pair} != {"a", "an"}]) == 1


def person(text):
    doc = language().analyse(text)
    return doc, language().persons(doc)[0]


def words(doc, span):
    return None if span is None else doc.between(doc.span(*span))


@pytest.mark.parametrize(
    ("text", "given", "family"),
    [
        ("Robert Miller left.", "Robert", "Miller"),
        ("Then Robert left.", "Robert", None),
        ("Mr Miller left.", None, "Miller"),
        ("Robert van Dyke left.", "Robert", "van Dyke"),
    ],
)
def test_parts_of_a_name(text, given, family):
    doc, found = person(text)
    assert words(doc, given_span(doc, found)) == given
    assert words(doc, family_span(doc, found)) == family


@pytest.mark.parametrize("gender", ["f", "m"])
def test_first_names_are_of_the_gender_and_not_taken(gender):
    first = {another_first_name(random.Random(seed), gender, set()) for seed in range(300)}
    assert {gender_of(name) for name in first} == {gender}
    taken = {name.lower() for name in first}
    assert another_first_name(random.Random(0), gender, taken).lower() not in taken


def test_without_a_gender_any_clear_first_name_will_do():
    assert {gender_of(another_first_name(random.Random(seed), None, set())) for seed in range(50)} == {"f", "m"}


def test_last_names_are_no_first_names_and_not_taken():
    names = {another_last_name(random.Random(seed), {"jones"}) for seed in range(300)}
    assert "Jones" not in names
    assert not [name for name in names if is_first_name(name) or not name[0].isupper()]
    assert not [name for name in names if name.startswith("Mc") and not name[2].isupper()]


def test_a_name_is_found_even_where_all_are_taken():
    class Everything:
        def __contains__(self, name):
            return True

    assert another_last_name(random.Random(0), Everything()).endswith("son")


def test_places_keep_their_kind():
    rng = random.Random(0)
    assert another_place(rng, "Sweden", set()) in COUNTRIES
    assert another_place(rng, "Oregon", set()) in STATES
    assert another_place(rng, "Vienna", set()) in CITIES
    assert another_place(rng, "Narnia", set()) is None
    assert another_place(rng, "Sweden", {name.lower() for name in COUNTRIES}) is None


def test_our_places_are_places():
    assert {places().get(name) for name in COUNTRIES} == {"country"}
    assert {places().get(name) for name in STATES} == {"state"}
    assert {places().get(name) for name in CITIES} <= {"capital", "place"}


# --- Wrong pronouns of the same number, and pronouns for the nouns that open sentences
EXCHANGED = "they them their theirs themselves we us our ours ourselves he him his himself she her hers herself".split()


def pronouns_one(name: str, text: str, seed: int = 0, **options: object) -> str | None:
    made = perturb(name, text, seed=seed, **options)[0]
    return made.text if made else None


def test_every_pronoun_of_the_four_persons_is_exchanged(cases):
    for text, expected in cases:
        assert pronouns_one("pronoun_error", text) == expected


def test_other_pronouns_stay(cases):
    for text in cases:
        made = perturb("pronoun_error", text)
        assert (made[0], made.reasons) == (None, ["no pronoun"])


@pytest.mark.parametrize("text", ["Ask him or her.", "He/she may leave.", "Each man or woman brings his or her hat."])
def test_both_persons_in_one_breath_stay(text):
    assert perturb("pronoun_error", text).reasons == ["no pronoun"]


def test_the_set_of_persons_is_an_option():
    text = "They told him about us."
    assert pronouns_one("pronoun_error", text, pronouns="he she") == "They told her about us."
    assert pronouns_one("pronoun_error:pronouns=they", text) == "We told him about us."
    with pytest.raises(SpecError, match=r"pronouns has 'hee'; did you mean 'he'"):
        PronounError(pronouns="hee")
    with pytest.raises(SpecError, match="pronouns is empty"):
        PronounError(pronouns=" ")


def test_one_pronoun_alone_may_be_exchanged():
    text = "They told him about us."
    drawn = {pronouns_one("pronoun_error:mode=one", text, seed) for seed in range(12)}
    assert drawn == {"We told him about us.", "They told her about us.", "They told him about them."}


@given(words=st.lists(st.sampled_from([*EXCHANGED, "dog", "saw", "the"]), min_size=1, max_size=8))
def test_only_pronouns_move(words):
    text = " ".join(words)
    made = perturb("pronoun_error", text)[0]
    if made is None:
        assert not [w for w in words if w in EXCHANGED and w not in ("he", "she", "him", "her", "his", "hers")]
    else:
        new = made.text.split(" ")
        assert len(new) == len(words)
        assert all(a == b or (a in EXCHANGED and b in EXCHANGED) for a, b in zip(words, new, strict=True))


def test_the_subject_that_opens_a_sentence_becomes_a_pronoun_of_its_number_and_gender(cases):
    for text, expected in cases:
        assert pronouns_one("nouns_to_pronouns", text) == expected


@pytest.mark.parametrize("seed", range(4))
def test_where_nothing_tells_the_gender_is_drawn_once_for_a_person(seed):
    text = "The doctor came. The doctor left."
    assert pronouns_one("nouns_to_pronouns", text, seed) in ("He came. He left.", "She came. She left.")


def test_what_one_sentence_tells_holds_for_all():
    assert (
        pronouns_one("nouns_to_pronouns", "The doctor came. The doctor sold her car.") == "She came. She sold her car."
    )


def test_without_a_noun_at_the_start_nothing_is_done(cases):
    for text in cases:
        made = perturb("nouns_to_pronouns", text)
        assert (made[0], made.reasons) == (None, ["no noun at the start"])


def test_one_sentence_alone_may_change():
    text = "The old bridge was closed. Drivers were angry."
    drawn = {pronouns_one("nouns_to_pronouns", text, seed, mode="one") for seed in range(8)}
    assert drawn == {"It was closed. Drivers were angry.", "The old bridge was closed. They were angry."}


def test_what_was_replaced_is_told():
    assert perturb(NounsToPronouns(), "The old bridge fell.")[0].meta == {"replaced": [["The old bridge", "It"]]}
    assert perturb(PronounError(), "They fell.")[0].meta == {"pronouns": [["They", "we"]]}


NUMBERS_TEXTS = [
    "The ferry took 127 people to the island in 2.5 hours.",
    "In 1990 the town paid $3 million for a 5 km road.",
    "About 25% of the 19,000 seats were free on 12 May 2003.",
    "Two of the three boats left at 10:30 with an 8-year-old on board.",
    "Nothing here can be counted by anyone at all.",
    "",
    "7",
    "猫が12匹いる。",
]


@pytest.mark.parametrize("name", ["numbers_to_words", "change_numbers", "number_error"])
def test_texts_without_a_number_are_left_for_a_reason(name):
    outcomes = perturb(name, NUMBERS_TEXTS)
    assert outcomes[4:6] == [None, None]
    assert outcomes.reasons[4:6] == ["no number", "empty"]
    assert outcomes.reasons[7] == "language"


@pytest.mark.parametrize("name", ["numbers_to_words", "change_numbers", "number_error"])
@pytest.mark.parametrize("which", ["all", "one"])
def test_nothing_moves_but_numbers_and_articles(name, which):
    for outcome in perturb(name, NUMBERS_TEXTS, which=which):
        if outcome is None:
            continue
        expressions = [(n.outer_start, n.outer_end) for n in find_numbers(outcome.original)]
        for edit in outcome.edits:
            old = outcome.original[edit.start : edit.end]
            assert old in ("a", "an") or any(a <= edit.start < edit.end <= b for a, b in expressions)
        assert which == "all" or len(outcome.meta["numbers"]) == 1


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


def test_names_go_with_what_hangs_on_them(cases):
    for text, expected in cases:
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


def test_a_name_goes_whole(cases):
    for text, expected in cases:
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


@given(
    st.sampled_from(["Robert", "Susan", "Edward", "Nancy"]),
    st.sampled_from(["{} sleeps", "a dog for {}", "{} and a dog"]),
    st.integers(0, 9),
)
def test_nothing_but_the_name_moves(name, frame, seed):
    text = frame.format(name)
    made = perturb(ChangeNames(), [text], seed=seed)[0]
    assert [text[e.start : e.end] for e in made.edits if text[e.start : e.end].lower() not in ("a", "an")] == [name]
