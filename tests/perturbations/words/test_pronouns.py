"""Wrong pronouns of the same number, and pronouns for the nouns that open sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import SpecError
from nlgauge.perturbations.base import apply_edits
from nlgauge.perturbations.perturb import perturb
from nlgauge.perturbations.words.pronouns import NounsToPronouns, PronounError

TEMPLATES = ("pronoun_error", "nouns_to_pronouns")
EXCHANGED = "they them their theirs themselves we us our ours ourselves he him his himself she her hers herself".split()
TEXTS = [
    "The old bridge was closed. Drivers were angry.",
    "They know us.",
    "A BOY LOST HIS HAT.",
    "He told her that they’re late.",
    "\tShe \n left",
]
WORDS = (
    "He she they We us US her his him their the old man boys bridge Anna is was were left saw and or of in who , . ' \""
    " 's than hat It"
)
invented = st.one_of(st.text(max_size=40), st.lists(st.sampled_from(WORDS.split()), max_size=14).map(" ".join))


def one(name: str, text: str, seed: int = 0, **options: object) -> str | None:
    made = perturb(name, text, seed=seed, **options)[0]
    return made.text if made else None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("They know us.", "We know them."),
        ("We sold our house to them.", "They sold their house to us."),
        ("She lost her keys.", "He lost his keys."),
        ("He lost his keys.", "She lost her keys."),
        ("I saw her.", "I saw him."),
        ("I gave her the book.", "I gave him the book."),
        ("We met her yesterday.", "They met him yesterday."),
        ("I saw her last week.", "I saw him last week."),
        ("It was her last year at school.", "It was his last year at school."),
        ("You made her happy.", "You made him happy."),
        ("You made her cry.", "You made him cry."),
        ("A jury found her guilty.", "A jury found him guilty."),
        ("I read her last book.", "I read his last book."),
        ("I like her old and tired dog.", "I like his old and tired dog."),
        ("A friend of his was here.", "A friend of hers was here."),
        ("The fault was his, not hers.", "The fault was hers, not his."),
        ("A cousin of hers came.", "A cousin of his came."),
        ("They hurt themselves.", "We hurt ourselves."),
        ("He hurt himself.", "She hurt herself."),
        ("He loves his own old car.", "She loves her own old car."),
        ('He sold his "old" car.', 'She sold her "old" car.'),
        ("They’re late, and we're not.", "We’re late, and they're not."),
        ("HE LOST HIS HAT.", "SHE LOST HER HAT."),
        ("Theirs is bigger than ours.", "Ours is bigger than theirs."),
        ("They were here, said the man.", "We were here, said the man."),
        ("a woman holding her dog", "a woman holding his dog"),
        ("He told her that they left.", "She told him that we left."),
    ],
)
def test_every_pronoun_of_the_four_persons_is_exchanged(text, expected):
    assert one("pronoun_error", text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "I like my dog.",
        "You know it yourself.",
        "It rains.",
        "The US left.",
        "Who is it?",
        "Let's go.",
        "The boy left.",
    ],
)
def test_other_pronouns_stay(text):
    made = perturb("pronoun_error", text)
    assert (made[0], made.reasons) == (None, ["no pronoun"])


@pytest.mark.parametrize("text", ["Ask him or her.", "He/she may leave.", "Each man or woman brings his or her hat."])
def test_both_persons_in_one_breath_stay(text):
    assert perturb("pronoun_error", text).reasons == ["no pronoun"]


def test_the_set_of_persons_is_an_option():
    text = "They told him about us."
    assert one("pronoun_error", text, pronouns="he she") == "They told her about us."
    assert one("pronoun_error:pronouns=they", text) == "We told him about us."
    with pytest.raises(SpecError, match=r"pronouns has 'hee'; did you mean 'he'"):
        PronounError(pronouns="hee")
    with pytest.raises(SpecError, match="pronouns is empty"):
        PronounError(pronouns=" ")


def test_one_pronoun_alone_may_be_exchanged():
    text = "They told him about us."
    drawn = {one("pronoun_error:mode=one", text, seed) for seed in range(12)}
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The old bridge was closed. Drivers were angry.", "It was closed. They were angry."),
        ("Vaccines saved lives.", "They saved lives."),
        ("The pandemic was spreading fast.", "It was spreading fast."),
        ("My uncle sold the farm.", "He sold the farm."),
        ("The young actress with the red hat smiled.", "She smiled."),
        ("Anna and Ben came late.", "They came late."),
        ("The head of the old school resigned because he was ill.", "He resigned because he was ill."),
        ("The team are losing.", "They are losing."),
        ("The police have left.", "They have left."),
        ("The United States is large.", "It is large."),
        ("The book, which I liked, was sold.", "It was sold."),
        ("The boats that lay in the harbour sank.", "They sank."),
        ("Mary Jones has won.", "She has won."),
        ("John Smith, the baker, left early.", "He left early."),
        ("THE BRIDGE WAS CLOSED.", "IT WAS CLOSED."),
        ("NASA launched a rocket.", "It launched a rocket."),
        ("But the bridge fell.", "But it fell."),
        ("the boys are on a boat", "they are on a boat"),
        ("“The plan failed,” he said.", "“It failed,” he said."),
        ("Apples, pears and plums are cheap.", "They are cheap."),
        ("The skills mentioned are rare.", "They are rare."),
        ("The book's been sold.", "It's been sold."),
        ("In May the bridge fell. The bridge was old.", "In May the bridge fell. It was old."),
    ],
)
def test_the_subject_that_opens_a_sentence_becomes_a_pronoun_of_its_number_and_gender(text, expected):
    assert one("nouns_to_pronouns", text) == expected


@pytest.mark.parametrize("seed", range(4))
def test_where_nothing_tells_the_gender_is_drawn_once_for_a_person(seed):
    text = "The doctor came. The doctor left."
    assert one("nouns_to_pronouns", text, seed) in ("He came. He left.", "She came. She left.")


def test_what_one_sentence_tells_holds_for_all():
    assert one("nouns_to_pronouns", "The doctor came. The doctor sold her car.") == "She came. She sold her car."


@pytest.mark.parametrize(
    "text",
    [
        "He left.",
        "There was a boat.",
        "a man in front of a tree",
        "In May it rained.",
        "Nobody came.",
        "Close the door!",
        "Is the bridge closed?",
        "Yes",
        "!?",
    ],
)
def test_without_a_noun_at_the_start_nothing_is_done(text):
    made = perturb("nouns_to_pronouns", text)
    assert (made[0], made.reasons) == (None, ["no noun at the start"])


def test_one_sentence_alone_may_change():
    text = "The old bridge was closed. Drivers were angry."
    drawn = {one("nouns_to_pronouns", text, seed, mode="one") for seed in range(8)}
    assert drawn == {"It was closed. Drivers were angry.", "The old bridge was closed. They were angry."}


def test_what_was_replaced_is_told():
    assert perturb(NounsToPronouns(), "The old bridge fell.")[0].meta == {"replaced": [["The old bridge", "It"]]}
    assert perturb(PronounError(), "They fell.")[0].meta == {"pronouns": [["They", "we"]]}


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_same_seed_draws_the_same_alone_and_in_a_batch(name):
    batch = perturb(name, TEXTS, seed=3)
    assert [p.text if p else None for p in batch] == [one(name, t, 3) for t in TEXTS]


@pytest.mark.parametrize("name", TEMPLATES)
@given(text=invented, seed=st.integers(0, 2))
def test_another_text_or_a_reason_whatever_comes(name, text, seed):
    made = perturb(name, text, seed=seed)
    if made[0] is None:
        assert made.reasons[0]
    else:
        assert made[0].text != text
        assert made[0].text == apply_edits(text, made[0].edits)
