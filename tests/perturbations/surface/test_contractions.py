import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.perturbations.base import apply_edits
from nlgauge.perturbations.perturb import perturb
from nlgauge.perturbations.surface.contractions import Contractions, Expansions

WORDS = [
    "He",
    "she",
    "is",
    "not",
    "n't",
    "n’t",
    "can",
    "ca",
    "will",
    "Won't",
    "I",
    "AM",
    "'s",
    "’d",
    "'ve",
    "let",
    "us",
    "?",
    "gone",
    "\n",
]
ODD = st.one_of(st.text(), st.lists(st.sampled_from([*WORDS, "\ud800", "\u00a0"]), max_size=12).map(" ".join))


def outcome(template, text, seed=0):
    made = perturb(template, [text], seed=seed)
    return made[0].text if made[0] is not None else made.reasons[0]


# Full and short: each is what the other becomes.
BOTH_WAYS = [
    ("We are late.", "We're late."),
    ("I am not hungry.", "I'm not hungry."),
    ("She is not here.", "She isn't here."),
    ("They were not asked.", "They weren't asked."),
    ("It will not rain.", "It won't rain."),
    ("He cannot swim.", "He can't swim."),
    ("They have left.", "They've left."),
    ("He has not called.", "He hasn't called."),
    ("She has been ill.", "She's been ill."),
    ("She is ill.", "She's ill."),
    ("You will see.", "You'll see."),
    ("I would like some tea.", "I'd like some tea."),
    ("I had seen it before.", "I'd seen it before."),
    ("You had better wait.", "You'd better wait."),
    ("Will you not stay?", "Won't you stay?"),
    ("Do they not like it?", "Don't they like it?"),
    ("Let us go home.", "Let's go home."),
    ("Do not run!", "Don't run!"),
    ("There is a bus.", "There's a bus."),
    ("WE ARE HERE AND IT IS NOT COLD", "WE'RE HERE AND IT ISN'T COLD"),
]


@pytest.mark.parametrize(("full", "short"), BOTH_WAYS)
def test_each_form_becomes_the_other(full, short):
    assert outcome(Contractions(), full) == short
    assert outcome(Expansions(), short) == full


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # is, has, or whose
        ("He's gone.", "He has gone."),
        ("Mary's happy.", "Mary is happy."),
        ("John's tired and hungry.", "John is tired and hungry."),
        ("My mother's coming tomorrow.", "My mother is coming tomorrow."),
        ("It's called a lift.", "It is called a lift."),
        ("He's called me twice.", "He has called me twice."),
        ("It's made of oak.", "It is made of oak."),
        ("She's made a cake.", "She has made a cake."),
        ("He's already left.", "He has already left."),
        ("Anna's hat is red, and she's a pilot.", "Anna's hat is red, and she is a pilot."),
        ("Anna's a pilot.", "Anna is a pilot."),
        ("The dog that's barked is old.", "The dog that has barked is old."),
        ("The door that's made of oak is old.", "The door that is made of oak is old."),
        # had, would, did
        ("I'd rather stay.", "I would rather stay."),
        ("Where'd he go?", "Where did he go?"),
        ("I'd've stayed.", "I would have stayed."),
        # the question's order
        ("Isn't the dog old?", "Is the dog not old?"),
        ("It's cold, isn't it?", "It is cold, is it not?"),
        ("Why don't we wait?", "Why do we not wait?"),
        ("Aren't I clever?", "Am I not clever?"),
        # stems
        ("I ain't late, they ain't here.", "I am not late, they are not here."),
        ("They shan't win.", "They shall not win."),
        ("You shouldn't've come.", "You should not have come."),
        # either apostrophe, parted or not, in capitals
        ("We’re late, and he doesn’t care.", "We are late, and he does not care."),
        ("He did n't go , and it 's late .", "He did not go , and it is late ."),
        ("He ca n't go .", "He cannot go ."),
        ("I CAN'T SWIM. WON'T YOU HELP?", "I CANNOT SWIM. WILL YOU NOT HELP?"),
    ],
)
def test_short_forms_are_written_out(text, expected):
    assert outcome(Expansions(), text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It’s late and we are tired.", "It’s late and we’re tired."),
        ("It is not, he said.", "It isn't, he said."),
        ("We can not go.", "We can't go."),
        ("Yes, it is, and I am glad.", "Yes, it is, and I'm glad."),
        ("He is taller than I am in winter.", "He's taller than I am in winter."),
        ("What is that?", "What's that?"),
        ("I have two dogs and I have fed them.", "I have two dogs and I've fed them."),
    ],
)
def test_full_forms_are_made_short_where_speech_does(text, expected):
    assert outcome(Contractions(), text) == expected


@pytest.mark.parametrize(
    ("template", "text", "reason"),
    [
        # at the end of a clause, before punctuation, under stress
        (Contractions(), "Yes, we are.", "nothing to contract"),
        (Contractions(), "I know who they are.", "nothing to contract"),
        (Contractions(), "He is and always was kind.", "nothing to contract"),
        (Contractions(), "She is too.", "nothing to contract"),
        (Contractions(), "I know where they are now.", "nothing to contract"),
        (Contractions(), "What is it?", "nothing to contract"),
        (Contractions(), "You wouldn't like it.", "nothing to contract"),
        # a main verb, a noun
        (Contractions(), "I have two dogs.", "nothing to contract"),
        (Contractions(), "The dogs are asleep.", "nothing to contract"),
        (Expansions(), "Anna's hat and the girls' coats", "no contraction"),
        (Expansions(), "It happened at ten o'clock in the '90s.", "no contraction"),
        (Expansions(), "It is late.", "no contraction"),
        (Expansions(), "The cake that's finished is mine.", "no contraction"),  # is or has
        (Expansions(), "'s", "no contraction"),
    ],
)
def test_what_has_no_other_form_is_left_alone(template, text, reason):
    assert outcome(template, text) == reason


def test_one_of_several_places_is_drawn():
    text = "He's late, and we're waiting."
    made = {outcome(Expansions(which="one"), text, seed) for seed in range(20)}
    assert made == {"He is late, and we're waiting.", "He's late, and we are waiting."}


@pytest.mark.parametrize(
    "template", [Contractions(), Contractions(which="one"), Expansions(), Expansions(which="one")], ids=str
)
@given(text=ODD)
def test_any_text_gives_a_different_text_or_a_reason(template, text):
    [made] = outcomes = perturb(template, [text])
    if made is None:
        assert outcomes.reasons[0]
    else:
        assert made.text != text
        assert apply_edits(text, made.edits) == made.text
        assert made.expect == "same"
