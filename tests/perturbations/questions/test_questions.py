"""Questions with another question word, with none, and as statements."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError, MissingExtra
from nlgauge.perturbations.base import apply_edits
from nlgauge.perturbations.perturb import perturb
from nlgauge.perturbations.questions.questions import ChangeQuestionWord, DropQuestionWord, QuestionToAssertion
from nlgauge.perturbations.synthesis.infill import Filler, Gap
from nlgauge.text.english.questions import WH

TEMPLATES = ("change_question_word", "drop_question_word", "question_to_assertion")
QUESTIONS = [
    "When was the bridge built?",
    "where did she live",
    "WHO WROTE THE LETTER?",
    "How many people live in the old town?",
    "Which of the two is taller?",
    "“What’s the time?” he asked.",
    "It is late. Why did you come?",
    "Whose hat is this ?",
]
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


@pytest.mark.parametrize(
    ("text", "start", "rest"),
    [
        ("When was the bridge built?", "When", " was the bridge built?"),
        ("where did she live", "where", " did she live"),
        ("How many people live in the old town?", "How many", " people live in the old town?"),
        ("How old is the tower?", "How old", " is the tower?"),
        ("Who is the man who sold the house?", "Who", " is the man who sold the house?"),
        ("Whose hat is this ?", "Whose", " hat is this ?"),
        ("What’s the time?", "What", "’s the time?"),
    ],
)
def test_only_the_interrogative_changes(text, start, rest):
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("When was he born?", "Was he born?"),
        ("when was he born?", "was he born?"),
        ("How many people live here?", "People live here?"),
        ("How old is the tower?", "Is the tower?"),
        ("What's she doing?", "Is she doing?"),
        ("Who’s taken my pen?", "Has taken my pen?"),
        ("In what year did she move?", "In year did she move?"),
        ("To whom did he give it?", "Did he give it?"),
        ("Which boats came back ?", "Boats came back ?"),
        ("Firstly, how did it begin?", "Firstly, did it begin?"),
        ('He cried, "Where did she go?" and ran.', 'He cried, "Did she go?" and ran.'),
        ("WHERE IS IT?", "IS IT?"),
    ],
)
def test_the_question_word_goes_from_the_start(text, expected):
    assert one("drop_question_word", text) == expected


def test_how_may_go_alone():
    assert one("drop_question_word", "How many people live here?", drop_how_many=False) == "Many people live here?"
    assert one("drop_question_word:drop_how_many=false", "How old is it?") == "Old is it?"


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("Where did she live?", ("She lived in ", ".")),
        ("When was he born?", ("He was born in ", ".")),
        ("When will the train leave?", ("The train will leave on ", ".")),
        ("Who is the director of the museum?", ("", " is the director of the museum.")),
        ("Who are you?", ("You are ", ".")),
        ("Why does the dog bark?", ("The dog barks ", ".")),
        ("What does he want to eat?", ("He wants to eat ", ".")),
        ("What did she ask from the king?", ("She asked ", " from the king.")),
        ("What is the boy standing on?", ("The boy is standing on ", ".")),
        ("What colour is the roof?", ("The roof is ", ".")),
        ("How many boats did they see?", ("They saw ", " boats.")),
        ("How many trains are there?", ("There are ", " trains.")),
        ("How tall is the tower?", ("The tower is ", " tall.")),
        ("To whom did he give the keys?", ("He gave the keys to ", ".")),
        ("In what year did the war end?", ("The war ended in ", ".")),
        ("Which of the two is taller?", ("", " of the two is taller.")),
        ("WHERE DID SHE LIVE?", ("SHE LIVED IN ", ".")),
        ("where did she live", ("she lived in ", "")),
        ("What is the story, then?", ("The story is ", ", then.")),
        ('He cried, "Where did she go?" and ran.', ('He cried, "She went in ', '," and ran.')),
        ("Who's there?", ("", " is there.")),
        ("The song was written by whom?", ("The song was written by ", ".")),
    ],
)
def test_a_question_becomes_a_statement_with_the_subject_first(text, pattern):
    before, behind = pattern
    for seed in range(3):
        made = perturb("question_to_assertion", text, seed=seed)[0]
        assert made.text.startswith(before)
        assert made.text.endswith(behind)
        filler = made.text[len(before) : len(made.text) - len(behind)]
        assert filler.lower() == str(made.meta["filler"]).lower()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Is he here?", "He is here."),
        ("is he here", "he is here"),
        ("Did the boys go and see her?", "The boys went and saw her."),
        ("Does the plant grow?", "The plant grows."),
        ("Do you like tea?", "You like tea."),
        ("Isn’t it late?", "It isn’t late."),
        ("Can't the man on the bridge swim?", "The man on the bridge can't swim."),
        ("Are there people in the street?", "There are people in the street."),
        ("Is anyone at home?", "Someone is at home."),
        ("You like it, don't you?", "You like it."),
        ("He beat you didn't he?", "He beat you."),
        ("It isn't, is it?", "It isn't."),
        ('"Am I too late?"', '"I am too late."'),
        ("Did you see the U.S.?", "You saw the U.S."),
        ("Without the map, will they find it?", "Without the map, they will find it."),
        ("Should it not, then, be said aloud?", "It should not, then, be said aloud."),
    ],
)
def test_what_is_answered_by_yes_becomes_its_yes(text, expected):
    assert one("question_to_assertion", text) == expected


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("change_question_word", "He left.", "not a question"),
        ("change_question_word", "Is he here?", "no question word"),
        ("change_question_word", "How about tea?", "no question word"),
        ("drop_question_word", "Do you know who he is?", "no question word"),
        ("drop_question_word", "The song was written by whom?", "question word inside"),
        ("drop_question_word", "Why?", "too short"),
        ("question_to_assertion", "It is late.", "not a question"),
        ("question_to_assertion", "Tea?", "no finite verb"),
        ("question_to_assertion", "Why not?", "no finite verb"),
        ("question_to_assertion", "Who came, and why did they leave?", "two questions in one"),
        ("question_to_assertion", "What does she sing, and what songs does he like?", "two questions in one"),
        ("question_to_assertion", "Dare we hope?", "no subject found"),
    ],
)
def test_why_a_text_is_left_alone(name, text, reason):
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
def test_the_same_seed_draws_the_same_alone_and_in_a_batch(name):
    batch = perturb(name, QUESTIONS, seed=3)
    assert [p.text if p else None for p in batch] == [one(name, t, 3) for t in QUESTIONS]


@pytest.mark.parametrize("name", TEMPLATES)
def test_seeds_differ_in_what_they_draw(name):
    drawn = {tuple(p.text if p else None for p in perturb(name, QUESTIONS, seed=seed)) for seed in range(6)}
    assert len(drawn) > 1 or name == "drop_question_word"


@pytest.mark.parametrize("name", TEMPLATES)
@given(text=invented, seed=st.integers(0, 3))
def test_another_text_or_a_reason_whatever_comes(name, text, seed):
    made = perturb(name, text, seed=seed)
    if made[0] is None:
        assert made.reasons[0]
    else:
        assert made[0].text != text
        assert made[0].text == apply_edits(text, made[0].edits)


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


def test_no_draw_hangs_on_anything_but_the_stream():
    states = []
    for noise in (1, 2):
        random.seed(noise)
        states.append(one("question_to_assertion", "Where did she live?", 5))
    assert states[0] == states[1]
