"""One word misspelt, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import SpecError
from nlgauge.perturbations.base import apply_edits
from nlgauge.perturbations.perturb import perturb
from nlgauge.perturbations.surface.typos import _misspellings, _near
from nlgauge.text.tagging import known_tags

pieces = st.sampled_from(
    [
        "every",
        "Window",
        "HOUSE",
        "noon",
        "aaaa",
        "Straße",
        "ИЗБА",
        "isn't",
        "mid-air",
        "McLeod",
        "ABC1",
        "where",
        ".",
        ",",
        " ",
        " ",
        "\n",
        "猫猫猫猫",
        "ǅungla",
        "ŉame",
    ]
)
texts = st.lists(pieces, max_size=10).map("".join) | st.text(max_size=20)
KINDS = ["swap", "delete", "insert", "substitute"]


def misspelt(text: str, seed: int = 0, kind: str = "any") -> tuple[str, str] | None:
    """The word that was misspelt and what became of it."""
    [made] = perturb("typos", [text], seed=seed, kind=kind)
    if made is None:
        return None
    [edit] = made.edits
    assert apply_edits(text, made.edits) == made.text != text
    assert text[edit.start : edit.end] == made.meta["word"]
    assert edit.new == made.meta["typo"]
    assert kind in ("any", made.meta["kind"])
    return made.meta["word"], edit.new


@pytest.mark.parametrize("kind", ["any", *KINDS])
def test_one_long_word_is_misspelt_and_none_of_the_others(kind):
    text = "An odd window isn't the well-known U.S. Ford2 McLeod."
    assert {misspelt(text, seed, kind)[0] for seed in range(20)} == {"window"}  # type: ignore[index]


def test_each_kind_of_slip_is_what_it_says():
    for seed in range(30):
        word, typo = misspelt("Every window", seed, "swap") or ("", "")
        assert sorted(typo) == sorted(word)
        word, typo = misspelt("Every window", seed, "delete") or ("", "")
        assert len(typo) == len(word) - 1
        word, typo = misspelt("Every window", seed, "insert") or ("", "")
        assert len(typo) == len(word) + 1
        word, typo = misspelt("Every window", seed, "substitute") or ("", "")
        [place] = [i for i in range(len(word)) if word[i] != typo[i]]
        assert typo[place] in _near(word[place])


def test_all_kinds_come_up_unless_one_is_asked_for():
    made = [perturb("typos", ["every window was open"], seed=seed)[0] for seed in range(40)]
    assert {m.meta["kind"] for m in made if m} == set(KINDS)


@pytest.mark.parametrize("text", ["Every window", "EVERY WINDOW", "form from", "where there", "Straße", "изба", "ИЗБА"])
def test_the_first_letter_and_the_capitals_stay(text):
    for seed in range(40):
        word, typo = misspelt(text, seed) or ("", "")
        assert typo[0] == word[0]
        assert typo.isupper() == word.isupper()
        assert typo[1:].islower() == word[1:].islower()


@pytest.mark.parametrize("word", ["form", "there", "bread", "trial", "slat", "coast", "band"])
def test_what_comes_out_is_no_word_where_that_can_be_had(word):
    typos = {misspelt(f"the {word}", seed) for seed in range(60)}
    assert len(typos) > 5
    assert not [typo for typo in typos if typo and known_tags(typo[1])]


def test_a_name_is_misspelt_only_where_there_is_nothing_else():
    assert {misspelt("Yesterday Weber met Anna Lang.", seed)[0] for seed in range(30)} == {"Yesterday"}  # type: ignore[index]
    assert {misspelt("NATO said that.", seed)[0] for seed in range(30)} == {"said", "that"}  # type: ignore[index]
    assert misspelt("Weber") is not None


def test_words_that_are_often_misspelt_are_misspelt_as_people_do():
    assert misspelt("They definitely left.", kind="common") in {
        ("definitely", wrong) for wrong in _misspellings()["definitely"]
    }
    assert {misspelt("Separate rooms", seed, "common") for seed in range(5)} == {("Separate", "Seperate")}
    assert perturb("typos:kind=common", ["Boats sank."]).reasons == ["no word that is often misspelt"]


def test_the_list_of_misspellings_holds_words_and_what_differs_from_them():
    for right, wrongs in _misspellings().items():
        assert wrongs
        assert right == right.lower()
        assert all(wrong.isalpha() and wrong != right and wrong[0] == right[0] for wrong in wrongs)
        assert len(set(wrongs)) == len(wrongs)


def test_keys_are_neighbours_of_each_other():
    letters = "abcdefghijklmnopqrstuvwxyz"
    assert all(a in _near(b) for a in letters for b in _near(a))
    assert set(_near("g")) == set("fhtyvb")
    assert set(_near("Q")) == set("WA")
    assert _near("é") == ()


@pytest.mark.parametrize("text", ["a bus", "isn't", "5000", "U.S.A.", "猫猫猫猫", "well-known", "McLeod"])
def test_texts_without_a_plain_word_of_four_letters_are_left_alone(text):
    assert perturb("typos", [text]).reasons == ["no word of four letters"]


def test_a_word_that_stays_itself_is_left_alone():
    assert perturb("typos:kind=swap", ["aaaa"]).reasons == ["no word that can be misspelt"]
    assert misspelt("aaaa", kind="delete") == ("aaaa", "aaa")


def test_an_unknown_kind_is_refused():
    with pytest.raises(SpecError, match=r"typos:kind is 'swop'.*swap"):
        perturb("typos", ["window"], kind="swop")


@given(text=texts, seed=st.integers(0, 3), kind=st.sampled_from(["any", *KINDS, "common"]))
def test_any_text_keeps_all_but_one_word(text, seed, kind):
    made = misspelt(text, seed, kind)
    assert made is None or made[0].lower() != made[1].lower()
    [alone], [_, among] = (
        perturb("typos", [text], seed=seed, kind=kind),
        perturb("typos", ["window", text], seed=seed, kind=kind),
    )
    assert alone == among
