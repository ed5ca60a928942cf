import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nlgauge.text.porter import stem

# Examples of Porter (1980), with what all the steps together make of them
STEMS = {
    # step 1a
    "caresses": "caress", "ponies": "poni", "caress": "caress", "cats": "cat",
    # step 1b
    "feed": "feed", "agreed": "agre", "plastered": "plaster", "bled": "bled", "motoring": "motor", "sing": "sing",
    "conflated": "conflat", "troubled": "troubl", "sized": "size", "hopping": "hop", "tanned": "tan", "falling": "fall",
    "hissing": "hiss",
    "fizzed": "fizz", "failing": "fail", "filing": "file",
    # step 1c
    "happy": "happi",
    # step 2
    "relational": "relat", "conditional": "condit", "rational": "ration", "valenci": "valenc", "hesitanci": "hesit",
    "digitizer": "digit",
    "conformabli": "conform", "radicalli": "radic", "differentli": "differ", "vileli": "vile", "analogousli": "analog",
    "vietnamization": "vietnam", "predication": "predic", "operator": "oper", "feudalism": "feudal",
    "decisiveness": "decis",
    "hopefulness": "hope", "callousness": "callous", "formaliti": "formal", "sensitiviti": "sensit",
    "sensibiliti": "sensibl",
    # step 3
    "triplicate": "triplic", "formative": "form", "formalize": "formal", "electriciti": "electr",
    "electrical": "electr", "hopeful": "hope",
    "goodness": "good",
    # step 4
    "revival": "reviv", "allowance": "allow", "inference": "infer", "airliner": "airlin", "gyroscopic": "gyroscop",
    "adjustable": "adjust",
    "defensible": "defens", "irritant": "irrit", "replacement": "replac", "adjustment": "adjust", "dependent": "depend",
    "adoption": "adopt",
    "homologou": "homolog", "communism": "commun", "activate": "activ", "angulariti": "angular",
    "homologous": "homolog",
    "effective": "effect", "bowdlerize": "bowdler",
    # step 5
    "probate": "probat", "rate": "rate", "cease": "ceas", "controll": "control", "roll": "roll",
}  # fmt: skip

# Where nltk leaves the paper: irregular words, short words, dies and died, y after a consonant, bli, alli, fulli, logi,
# vowel and consonant
DEVIATIONS = {
    "skies": "sky", "dying": "die", "news": "news", "innings": "inning", "howe": "howe", "proceed": "proceed",
    "is": "is", "as": "as", "by": "by", "s": "s", "": "", "dies": "die", "died": "die", "ties": "tie", "flies": "fli",
    "tried": "tri",
    "enjoy": "enjoy", "spied": "spi", "fly": "fli", "say": "say", "possibly": "possibl", "radically": "radic",
    "joyfully": "joy",
    "geology": "geolog", "geologi": "geolog", "logi": "logi", "ate": "ate", "aged": "age", "used": "use",
}  # fmt: skip

SYLLABLES = [
    "b", "c", "st", "t", "y", "ay", "e", "ee", "i", "o", "ou", "l", "ll", "ss", "z", "w", "x", "tr", "an", "er", "a",
]  # fmt: skip
SUFFIXES = [
    "", "s", "es", "ies", "sses", "ied", "eed", "ed", "ing", "ated", "bling", "ized", "y", "ational", "tional", "enci",
    "anci", "izer", "bli",
    "alli", "entli", "eli", "ousli", "ization", "ation", "ator", "alism", "iveness", "fulness", "ousness", "aliti",
    "iviti", "biliti", "fulli",
    "logi", "icate", "ative", "alize", "iciti", "ical", "ful", "ness", "al", "ance", "ence", "er", "ic", "able", "ible",
    "ant", "ement", "ment",
    "ent", "ion", "sion", "tion", "ou", "ism", "ate", "iti", "ous", "ive", "ize", "e", "ll", "alalli", "allialli",
    "lyy", "yed", "yyy",
]  # fmt: skip


@pytest.fixture(scope="module")
def nltk_stem():
    return pytest.importorskip("nltk.stem.porter").PorterStemmer().stem


def test_the_examples_of_the_paper():
    assert {word: stem(word) for word in STEMS} == STEMS


def test_where_nltk_leaves_the_paper():
    assert {word: stem(word) for word in DEVIATIONS} == DEVIATIONS


def test_all_examples_are_nltks_too(nltk_stem):
    assert {word: nltk_stem(word) for word in STEMS | DEVIATIONS} == STEMS | DEVIATIONS


@pytest.mark.slow  # by day chains of suffixes and any letters are drawn
def test_every_suffix_after_every_short_stem_is_as_in_nltk(nltk_stem):
    stems = [
        "",
        *SYLLABLES,
        *(a + b for a in SYLLABLES for b in SYLLABLES),
        *(a + "ic" + b for a in SYLLABLES for b in SYLLABLES),
    ]
    words = {start + suffix for start in stems for suffix in SUFFIXES}
    assert len(words) > 40_000
    assert [word for word in words if stem(word) != nltk_stem(word)] == []


def test_suffixes_upon_suffixes_are_as_in_nltk(nltk_stem):
    rng = random.Random(0)
    words = {
        "".join(rng.choices(SYLLABLES, k=rng.randrange(4))) + "".join(rng.choices(SUFFIXES, k=rng.randrange(1, 4)))
        for _ in range(10_000)
    }
    assert [word for word in words if stem(word) != nltk_stem(word)] == []


@given(st.text(st.sampled_from("abcdeilmnostuyz09"), max_size=12))
@settings(max_examples=4 * settings().max_examples)  # rare combinations of pieces
def test_any_letters_are_as_in_nltk(word):
    assert stem(word) == pytest.importorskip("nltk.stem.porter").PorterStemmer().stem(word)


@given(st.text(st.characters(categories=["Ll"]), max_size=10).map(lambda word: word + "ing"))
def test_letters_of_any_script_are_as_in_nltk(word):
    if word == word.lower():  # nltk lowers the case, where we take words that are lowered
        assert stem(word) == pytest.importorskip("nltk.stem.porter").PorterStemmer().stem(word)


@given(st.text(st.sampled_from("abcdeilmnostuyz"), min_size=3, max_size=14))
def test_a_stem_is_never_empty_and_never_longer(word):
    assert 0 < len(stem(word)) <= len(word)
