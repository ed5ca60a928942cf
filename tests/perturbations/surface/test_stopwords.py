"""Stop words dropped, or nothing but them kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.perturbations.base import apply_edits
from nlgauge.perturbations.perturb import perturb
from nlgauge.perturbations.surface.stopwords import stopwords
from nlgauge.text.languages import language

pieces = st.sampled_from(
    [
        "The",
        "old",
        "isn't",
        "it’s",
        "mill",
        "and/or",
        "US",
        "May",
        "dogs'",
        "'s",
        ",",
        ".",
        "?",
        "(",
        ")",
        '"',
        "—",
        " ",
        " ",
        " ",
        "\n",
        "\ud800",
    ]
)
texts = st.lists(pieces, max_size=14).map("".join) | st.text(max_size=20)


def only(name: str, text: str, **options: object) -> str | None:
    [made] = perturb(name, [text], **options)
    if made is None:
        return None
    assert apply_edits(text, made.edits) == made.text != text
    return made.text


def stopped(text: str) -> list[str]:
    doc = language().analyse(text)
    return [doc.between(w) for w, stop in zip(doc.words, stopwords(doc), strict=True) if stop]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He doesn't know what it's for.", ["He", "doesn't", "what", "it's", "for"]),
        ("I won’t, I can't, I couldn't've", ["I", "won’t", "I", "can't", "I", "couldn't've"]),
        ("The cat's bowl and Anna's", ["The", "and"]),  # clitics stay with a host that stays
        ("it 's the cat 's", ["it", "'s", "the"]),  # parted already
        ("he and/or she", ["he", "and/or", "she"]),
        ("a well-to-do on-off lamp", ["a"]),
        ("THE MILL IS OURS", ["THE", "IS", "OURS"]),
        (
            "They told us that the US left in May, and they may.",
            ["They", "us", "that", "the", "in", "and", "they", "may"],
        ),
        ("He won it against all odds", ["He", "it", "against", "all"]),
        ("", []),
    ],
)
def test_stop_words_are_told_whatever_their_capitals_and_clitics(text, expected):
    assert stopped(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The boats are in the old harbour.", "Boats old harbour."),
        ("a man in front of a tree", "man front tree"),
        ("Who is the world leader?", "World leader?"),
        ("It was, if so, cold (or so) today.", "Cold today."),
        ("I did. The bus didn't come.", "Bus come."),
        ("He said “it’s an apple”.", "Said “apple”."),
        ("The cat’s bowl isn’t full", "Cat’s bowl full"),
        ("\tThe  old\nmill  of  stone", "\tOld\nmill  stone"),
    ],
)
def test_content_words_are_left_with_the_marks_that_part_them(text, expected):
    assert only("drop_stopwords", text) == expected


def test_the_question_word_stays_on_request():
    assert only("drop_stopwords", "Who is the world leader?", keep_question_word=True) == "Who world leader?"
    assert only("drop_stopwords", "The man who left.", keep_question_word=True) == "Man left."


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("When was the shop closed", "When shop closed"),  # no mark at the end
        ("when was the shop closed ?", "when shop closed ?"),
        ("Who is the man that was there", "Who man"),  # not the relative pronoun
        ("In what year was he born?", "What year born?"),  # the word that asks, behind a preposition
        ("When he was born , he was a baby .", "Born , baby ."),  # no question
    ],
)
def test_the_word_that_asks_is_kept_with_a_mark_or_without(text, left):
    assert only("drop_stopwords", text, keep_question_word=True) == left


@pytest.mark.parametrize(
    ("text", "expected", "with_marks"),
    [
        ("The boats are in the old harbour.", "The are in the", "The are in the."),
        ("a man in front of a tree", "a in of a", "a in of a"),
        ("Sadly, it isn't hers.", "It isn't hers", ", it isn't hers."),
        ("She left the U.S. He stays.", "She the He", "She the He."),
    ],
)
def test_nothing_but_stop_words_is_left(text, expected, with_marks):
    assert only("keep_only_stopwords", text) == expected
    kept = only("keep_only_stopwords", text, keep_punctuation=True)
    assert kept is not None
    assert kept.casefold() == with_marks.casefold()


@pytest.mark.parametrize("name", ["drop_stopwords", "keep_only_stopwords"])
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Boats sank", "no stop word"),
        ("...", "no stop word"),
        ("So it is.", "only stop words"),
        ("", "empty"),
        ("Die Fähre kommt nicht und ist weg.", "language"),
    ],
)
def test_texts_of_one_kind_of_words_are_left_alone(name, text, reason):
    assert perturb(name, [text]).reasons == [reason]


@given(text=texts)
def test_what_one_drops_the_other_keeps(text):
    dropped, kept = only("drop_stopwords", text), only("keep_only_stopwords", text)
    assert (dropped is None) == (kept is None)
    if dropped is not None and kept is not None:
        letters = sorted(c for c in text.casefold() if c.isalnum())
        assert sorted(c for c in (dropped + kept).casefold() if c.isalnum()) == letters
        assert perturb("drop_stopwords", [text]).skipped == {}
