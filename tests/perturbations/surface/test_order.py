"""Punctuation taken away or misplaced; words in another order."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.perturbations.base import apply_edits
from nlgauge.perturbations.perturb import perturb

pieces = st.sampled_from(
    [
        "The",
        "old",
        "isn't",
        "it’s",
        "U.S.",
        "2.5",
        "1,500",
        "well-known",
        "dogs'",
        ",",
        ".",
        "?!",
        "(",
        ")",
        '"',
        "“",
        "—",
        "-",
        "`",
        " ",
        " ",
        "\n",
        "猫",
        "\ud800",
    ]
)
texts = st.lists(pieces, max_size=12).map("".join) | st.text(max_size=20)


def only(name: str, text: str, seed: int = 0, **options: object) -> str | None:
    [made] = perturb(name, [text], seed=seed, **options)
    if made is None:
        return None
    assert apply_edits(text, made.edits) == made.text != text
    return made.text


# punctuation


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Well, I can try.", "Well I can try"),
        ("It isn't $1,500.50 (or 5%), is it?", "It isn't $1,500.50 or 5% is it"),
        ("The well-known U.S. pilot said: “It’s 10:30!”", "The well-known U.S. pilot said It’s 10:30"),
        ("The dogs' bowls, and Anna's.", "The dogs' bowls and Anna's"),
        ("No 1/2 measures - please …", "No 1/2 measures please"),
        ("He left—alone.", "He left alone"),  # the dash kept two words apart
        ("it is , as you see , parted already .", "it is as you see parted already"),
        ("One.\nTwo.\n", "One\nTwo\n"),
        ("渡轮七点离港。", "渡轮七点离港"),
        ("`` so '' and ` so '", "so and so"),
    ],
)
def test_punctuation_outside_words_and_numbers_goes(text, expected):
    assert only("remove_punctuation", text) == expected


@pytest.mark.parametrize("text", ["no marks at all", "isn't well-known", "2.5", "Yes"])
def test_without_punctuation_there_is_none_to_remove(text):
    assert perturb("remove_punctuation", [text]).reasons == ["no punctuation"]


@given(text=texts)
def test_removing_punctuation_takes_nothing_else_and_leaves_no_blanks_behind(text):
    made = only("remove_punctuation", text)
    if made is not None:
        letters = iter(text)
        assert all(c in letters for c in made if not c.isspace())
        assert Counter(c for c in made if c.isalnum()) == Counter(c for c in text if c.isalnum())
        assert "  " in text or "  " not in made
        assert perturb("remove_punctuation", [made]).reasons[0] in ("no punctuation", "empty", None)


def test_a_misplaced_mark_leaves_its_place_and_a_comma_stands_inside_a_phrase():
    text = "The old bus came late, and we left."
    seen = {only("remove_punctuation", text, seed, mode="misplace") for seed in range(40)}
    assert seen == {"The, old bus came late and we left."}  # the comma, moved behind the article
    for made in seen:
        assert made is not None
        assert (made.count(","), made.count(".")) == (1, 1)
        assert made.replace(",", "").replace(".", "") == text.replace(",", "").replace(".", "")


def test_a_text_without_a_comma_gets_one_and_keeps_its_full_stop():
    seen = {only("remove_punctuation", "The dog sleeps in the garden.", seed, mode="misplace") for seed in range(20)}
    assert seen == {
        "The, dog sleeps in the garden.",
        "The dog sleeps in, the garden.",
        "The dog sleeps in the, garden.",
    }


@pytest.mark.parametrize("text", ["Really?", "Yes."])
def test_a_comma_needs_a_place_to_go(text):
    assert perturb("remove_punctuation:mode=misplace", [text]).reasons == ["too short"]


@given(text=texts, seed=st.integers(0, 3))
def test_misplacing_moves_one_mark_and_no_word(text, seed):
    made = only("remove_punctuation", text, seed, mode="misplace")
    if made is not None:
        assert [c for c in made if c.isalnum()] == [c for c in text if c.isalnum()]


# order


def words(text: str) -> list[str]:
    return sorted(w.strip(",.?!:“”()").casefold() for w in text.split())


@pytest.mark.parametrize(
    "text",
    [
        "The bus came late, and we left.",
        "a man in front of a tree",
        "Isn't it well-known?",
        "THE BUS CAME",
        "He left the U.S. in 1990 (at last).",
        "it is parted .",
    ],
)
def test_words_change_places_and_marks_do_not(text):
    for seed in range(10):
        made = only("jumble_words", text, seed)
        assert made is not None
        assert words(made) == words(text)
        assert [w.casefold() for w in made.split()] != [w.casefold() for w in text.split()]
        marks = [(i, w[-1]) for i, w in enumerate(text.split()) if w[-1] in ",?)"]
        assert marks == [(i, w[-1]) for i, w in enumerate(made.split()) if w[-1] in ",?)"]


def test_the_capital_of_a_sentence_stays_at_its_head_and_names_keep_theirs():
    made = {only("jumble_words", "The bus took Anna home.", seed) for seed in range(20)}
    assert all(m and m[0].isupper() and "Anna" in m and " The" not in m for m in made)
    kept = {only("jumble_words", "German trains run.", seed) for seed in range(20)}
    assert all(m and "German" in m for m in kept)
    assert "bus The came." in {only("jumble_words", "The bus came.", seed, recase=False) for seed in range(20)}


def test_marks_are_shuffled_too_on_request():
    made = {only("jumble_words", "So, we left.", seed, keep_punctuation=False, recase=False) for seed in range(40)}
    assert any(m and not m.endswith(".") for m in made)
    assert all(m and Counter(m.replace(" ", "")) == Counter("So,weleft.") for m in made)


@pytest.mark.parametrize("text", ["Yes", "Yes.", "no No, NO", "..."])
def test_one_word_has_no_other_order(text):
    assert perturb("jumble_words", [text]).reasons == ["too short"]


@given(text=texts, seed=st.integers(0, 3))
def test_jumbling_keeps_every_letter(text, seed):
    made = only("jumble_words", text, seed, recase=False)
    if made is not None:
        assert Counter(made) == Counter(text)


@given(batch=st.lists(texts, min_size=1, max_size=3), seed=st.integers(0, 3))
@pytest.mark.parametrize("name", ["jumble_words", "remove_punctuation:mode=misplace"])
def test_a_text_fares_alike_alone_and_among_others(name, batch, seed):
    together = perturb(name, batch, seed=seed)
    assert together == [perturb(name, [text], seed=seed)[0] for text in batch]
