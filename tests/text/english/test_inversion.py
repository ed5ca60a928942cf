"""The parts of a clause whose auxiliary stands before its subject."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.text.english.inversion import take_apart
from nlgauge.text.languages import language

WORDS = "is are did has can the old man boys he there it this born live working in on of and not n't , very red go"


def parts(text: str, whole: bool = False) -> tuple[str, str, str | None] | None:
    """Auxiliary, subject and main verb of a clause that begins with its auxiliary."""
    doc = language().analyse(f"{text}?")
    clause = take_apart(doc, 0, len(doc.tokens) - 1, whole=whole, thing=whole)
    if clause is None:
        return None
    words = [t.text for t in doc.tokens]
    said = (clause.aux, clause.aux_last + 1), (clause.subject, clause.subject_last + 1)
    aux, subject = (" ".join(words[a:b]) for a, b in said)
    return aux, subject, words[clause.main] if clause.main is not None else None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("did she live", ("did", "she", "live")),
        ("did she really live", ("did", "she", "live")),
        ("did n't the old man in the car leave", ("did n't", "the old man in the car", "leave")),
        ("does not the old man live", ("does not", "the old man", "live")),
        ("has the rain stopped", ("has", "the rain", "stopped")),
        ("can Mary Jones swim", ("can", "Mary Jones", "swim")),
        ("did Mary Jones act in films", ("did", "Mary Jones", "act")),
        ("was the bridge built", ("was", "the bridge", "built")),
        ("is the man on the bridge waving", ("is", "the man on the bridge", "waving")),
        ("is the sky blue", ("is", "the sky", None)),
        ("is this a house", ("is", "this", None)),
        ("is this summer", ("is", "this", None)),
        ("are there boats on the lake", ("are", "there", None)),
        ("are cats and dogs allowed", ("are", "cats and dogs", "allowed")),
        ("is coal fuel", ("is", "coal", None)),
        ("are all of the boats red", ("are", "all of the boats", None)),
        ("are we to think", ("are", "we", "think")),
        ("should it not be said", ("should", "it", "be")),
    ],
)
def test_auxiliary_subject_and_verb(text, expected):
    assert parts(text) == expected


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("is the size of the old town", "the size of the old town"),
        ("is the man on the left", "the man on the left"),
        ("is the name of the man holding the book", "the name of the man holding the book"),
    ],
)
def test_with_the_rest_asked_for_a_phrase_runs_to_the_end(text, subject):
    assert parts(text, whole=True) == ("is", subject, None)


@pytest.mark.parametrize("text", ["did", "can the boat", "has he", "is , he"])
def test_without_a_subject_or_a_verb_there_is_nothing(text):
    assert parts(text) is None


@given(st.lists(st.sampled_from(WORDS.split()), min_size=1, max_size=12).map(" ".join), st.booleans())
def test_the_parts_stand_in_order(text, whole):
    doc = language().analyse(text)
    clause = take_apart(doc, 0, len(doc.tokens), whole=whole)
    if clause is not None:
        assert clause.aux <= clause.aux_last < clause.subject <= clause.subject_last < len(doc.tokens)
        assert clause.main is None or clause.subject_last < clause.main < len(doc.tokens)
