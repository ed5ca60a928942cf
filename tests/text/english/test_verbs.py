"""Short and full forms, and what a text prefers."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.text.doc import Doc, Span, Token
from nlgauge.text.english.verbs import (
    STEMS,
    WITH_NOT,
    Sentence,
    _table,
    apostrophe,
    be_for,
    contracts,
    counterpart,
    is_english,
    is_loud,
    is_question,
    noun_phrases,
    possessive_mark,
    prepositional_phrases,
    pronoun_of_other_gender,
)
from nlgauge.text.languages import language
from nlgauge.text.tokenize import word_spans


def test_a_text_with_a_short_form_contracts(cases):
    for text, expected in cases:
        assert contracts(language().analyse(text)) is (expected == "yes")


def test_the_apostrophe_is_the_one_that_stands_there_more_often():
    assert apostrophe("don’t, won’t, can't") == "’"
    assert apostrophe("don’t, can't") == "'"
    assert apostrophe("") == "'"


def test_a_text_is_loud_from_four_letters_on():
    assert is_loud("STOP!")
    assert not is_loud("USA")
    assert not is_loud("STOp")
    assert not is_loud("123 !")


@pytest.mark.parametrize(
    ("subject", "tag", "form"),
    [
        ("I", "PRP", "am"),
        ("they", "PRP", "are"),
        ("dogs", "NNS", "are"),
        ("dog", "NN", "is"),
        ("she", "PRP", "is"),
        ("These", "DT", "are"),
    ],
)
def test_be_agrees_with_its_subject(subject, tag, form):
    assert be_for(subject, tag) == form


def test_stems_are_what_the_tokeniser_leaves_of_short_forms():
    cut = {full: whole[slice(*word_spans(whole)[0])] for full, whole in WITH_NOT.items()}
    assert {full for full, stem in cut.items() if stem != full} == set(STEMS.values())
    assert all(STEMS[stem] == full for full, stem in cut.items() if stem != full)


# --- Texts that templates for English take, and texts that they leave alone


def judged(text: str) -> bool:
    return is_english(language().analyse(text))


def test_english_and_what_cannot_be_told_from_it(cases):
    for text in cases:
        assert judged(text)


def test_other_languages(cases):
    for text in cases:
        assert not judged(text)


@given(text=st.text())
def test_any_text_is_judged(text):
    assert judged(text) in (True, False)


# --- Phrases by tags, on tags written down, so that no tagger has a say

TAGS = [
    "DT", "PRP$", "PDT", "JJ", "JJR", "VBN", "VBG", "CD", "$", "NN", "NNS", "NNP", "POS", "IN", "TO", "CC", ",", "PRP",
    "RB", "VBD", "HYPH", ".",
]  # fmt: skip


def tagged(line: str) -> Doc:
    """A document of one sentence from `word/TAG` pairs; a word that begins with ~ touches the one before it."""
    text, tokens = "", []
    for i, pair in enumerate(line.split()):
        word, tag = pair.rsplit("/", 1)
        text += "" if word[0] == "~" or not text else " "
        word = word.removeprefix("~")
        tokens.append(Token(i, len(text), len(text) + len(word), word, tag))
        text += word
    return Doc(text, tuple(tokens), (Span(0, len(tokens) - 1, 0, len(text)),) if tokens else ())


def found(line: str) -> list[tuple[str, str]]:
    doc = tagged(line)
    return [(doc.between(p), doc.tokens[p.head].text) for p in noun_phrases(doc)]


def test_noun_phrases_and_their_heads(cases):
    for line, expected in cases:
        assert " | ".join(map(": ".join, found(line))) == expected


def test_prepositional_phrases_begin_with_their_head(cases):
    for line, expected in cases:
        doc = tagged(line)
        phrases = prepositional_phrases(doc)
        assert [doc.between(p) for p in phrases] == (expected.split(" | ") if expected else [])
        assert all(p.head == p.first for p in phrases)


def test_no_phrase_crosses_the_end_of_a_sentence():
    text = "He saw the\nhouse"
    tokens = tuple(
        Token(i, a, b, text[a:b], tag)
        for i, ((a, b), tag) in enumerate(zip(word_spans(text), ["PRP", "VBD", "DT", "NN"], strict=True))
    )
    doc = Doc(text, tokens, (Span(0, 2, 0, 10), Span(3, 3, 11, 16)))
    assert [doc.between(p) for p in noun_phrases(doc)] == ["house"]


@given(
    pairs=st.lists(
        st.tuples(st.sampled_from(["a", "of", "very", "~-", "~&", "in", "front"]), st.sampled_from(TAGS)), max_size=15
    )
)
def test_phrases_are_in_order_and_hold_their_head(pairs):
    doc = tagged(" ".join(f"{word}/{tag}" for word, tag in pairs))
    for phrases in (noun_phrases(doc), prepositional_phrases(doc)):
        reached = -1
        for phrase in phrases:
            assert reached < phrase.first <= phrase.head <= phrase.last
            assert (phrase.start, phrase.end) == (doc.tokens[phrase.first].start, doc.tokens[phrase.last].end)
            reached = phrase.last
    assert all(
        doc.tokens[p.head].tag in ("NN", "NNS", "NNP", "CD") or doc.tokens[p.head].text in "-&"
        for p in noun_phrases(doc)
    )


@pytest.mark.parametrize(
    "unit",
    [
        "a/DT ",
        "a/JJ ",
        "a/NN ",
        "a/NN 's/POS ",
        "in/IN ",
        "a/JJ ,/, ",
        "in/IN a/NN of/IN ",
    ],
)
def test_work_is_linear_in_the_text(unit):
    def seconds(repeats: int) -> float:
        doc = tagged(unit * repeats)
        start = time.process_time()
        noun_phrases(doc)
        prepositional_phrases(doc)
        return time.process_time() - start

    # Ten times the text: quadratic work would take a hundred times as long; 40 leaves room for a busy machine.
    limit = 40 * max(min(seconds(1_000) for _ in range(3)), 1e-3)
    assert any(seconds(10_000) < limit for _ in range(3))


# --- Finite verbs: told by their neighbours, with the kind of support they need

WORDS = (
    "He she is not n't do did have 's 'd will can like likes gone to that a the dogs bark ? , . never better".split()
)


def analyse(text):
    return language().analyse(text)


def sentence(text):
    doc = analyse(text)
    return Sentence(doc, doc.sentences[0])


def finite(text, word):
    """Kind and tag of a word, read as the finite verb of a clause that begins with the sentence."""
    s = sentence(text)
    place = next(t.index for t in s.tokens if t.text == word)
    return s.finite(place, 0, lenient=False)


@pytest.mark.parametrize(
    ("text", "expected"), [("Why?", True), ("(Why?)", True), ("“Why?” she said.", False), ("Why", False), ("?!", True)]
)
def test_questions_end_with_their_mark(text, expected):
    assert is_question(analyse(text), 0) is expected


def test_the_kind_of_a_finite_verb(cases):
    for text, word, kind, tag in cases:
        assert finite(text, word) == (kind, tag)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Anna's hat is red.", "'s"),
        ("a garbage can on a pavement", "can"),
        ("We want to wait.", "wait"),
        ("a bathroom with two sinks", "sinks"),
        ("a pink stuffed bear", "stuffed"),
        ("at 7 am on Monday", "am"),
    ],
)
def test_what_only_looks_like_one_has_no_kind(text, word):
    assert finite(text, word)[0] is None


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("the old man sleeps", 0, 2),
        ("Anna's brother sleeps", 0, 2),
        ("all my friends sleep", 0, 2),
        ("they sleep", 0, 0),
        ("these are old", 0, 0),
        ("quickly he ran", 0, None),
    ],
)
def test_subjects_end_with_their_noun(text, start, end):
    assert sentence(text).subject_end(start) == end


def test_a_verb_without_a_subject_before_it_is_inverted():
    assert sentence("Is he here?").inversion(0)
    assert sentence("Where did Anna go?").inversion(1)
    assert not sentence("Anna did go?").inversion(1)
    assert sentence("Never has it rained so much.").inversion(1)


def test_there_is_a_pronoun_only_where_something_exists():
    assert sentence("There is a way.").is_pronoun(0)
    assert not sentence("He went there.").is_pronoun(2)


@given(st.lists(st.sampled_from(WORDS), max_size=10).map(" ".join))
def test_whatever_the_words_places_lie_inside_the_sentence(text):
    doc = analyse(text)
    for span in doc.sentences:
        s = Sentence(doc, span)
        for i in range(s.first, s.end):
            for place in (s.subject_end(i), s.verb_after(i, ("VB", "VBN"))):
                assert place is None or s.first <= place < s.end
    assert sentence("He ran.").low(99) == sentence("He ran.").tag(-1) == ""


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("girls", "boys"),
        ("women", "men"),
        ("gentleman", "lady"),
        ("policemen", "policewomen"),
        ("countess", "count"),
        ("ox", "cow"),
    ],
)
def test_counterparts_agree_in_number(word, other):
    assert counterpart(word).word == other


@pytest.mark.parametrize("word", ["count", "host", "god", "child", "human", "fox"])
def test_words_that_mean_more_have_none(word):
    assert counterpart(word) is None


def test_no_noun_is_its_own_counterpart_and_genders_differ():
    for word, other in _table().items():
        assert word != other.word
        back = counterpart(other.word)
        assert back is None or back.was != other.was


@pytest.mark.parametrize(
    ("word", "plural", "mark", "expected"),
    [
        ("gentlemen", True, "'", "'s"),
        ("ladies", True, "’s", "’"),
        ("actor", False, "'s", "'s"),
        ("boys", True, "'", "'"),
    ],
)
def test_possessive_marks(word, plural, mark, expected):
    assert possessive_mark(word, plural, mark) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He saw her.", ["she", None, "him", None]),
        ("She lost her hat.", ["he", None, "his", None, None]),
        ("It is his.", [None, None, "hers", None]),
        ("his dog", ["her", None]),
        ("They saw himself", [None, None, "herself"]),
    ],
)
def test_pronouns_go_by_what_follows(text, expected):
    doc = language().analyse(text)
    assert [pronoun_of_other_gender(doc, t) for t in doc.tokens] == expected
