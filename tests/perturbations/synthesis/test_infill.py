"""Gaps and what fills them; words masked and others predicted."""

import random
from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.core.errors import InputError, MissingExtra, SpecError
from nlgauge.core.spec import quote
from nlgauge.perturbations.base import apply_edits
from nlgauge.perturbations.perturb import perturb
from nlgauge.perturbations.synthesis import infill as module
from nlgauge.perturbations.synthesis.infill import (
    Filler,
    Gap,
    Infill,
    LexiconInfill,
    MaskAndPredict,
    check_infill,
    infill,
)
from nlgauge.text.languages import language

TEXT = "The young woman bought three red boats in the harbour."
CONTENT = {"young", "woman", "bought", "red", "boats", "harbour"}


class Parrot:
    """Fills every gap with the words it was given, and remembers what it was asked."""

    def __init__(self, *words):
        self.words, self.calls = words, []

    def fill(self, gaps, k):
        self.calls.append((list(gaps), k))
        return [[Filler(w, -i) for i, w in enumerate(self.words)][:k] for _ in gaps]


def lexicon(seed=0):
    return LexiconInfill(language(), random.Random(seed))


def gap(text, word):
    start = text.index(word)
    return Gap(text, start, start + len(word))


def changed(made):
    old, new = made.original.split(), made.text.split()
    return {a.strip(".") for a, b in zip(old, new, strict=True) if a != b}


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("boats", {"rafts", "canoes", "ferries", "kayaks", "yachts"}),  # another kind, or a kind of it
        ("woman", {"man", "businesswoman", "housewife", "nun"}),
        ("bought", {"sold"}),  # the opposite
        ("young", {"old"}),
        ("harbour", set()),  # none of our own words, and so none at all
    ],
)
def test_the_lexicon_gives_our_own_words_in_the_form_of_the_masked_one(word, words):
    (found,) = lexicon().fill([gap(TEXT, word)], 9)
    assert {f.word for f in found} == words


def test_the_best_come_first_and_many_gaps_go_in_one_call():
    found = lexicon().fill([gap(TEXT, "boats"), gap(TEXT, "woman"), gap(TEXT, "the ")], 4)
    assert [len(f) for f in found] == [4, 4, 0]  # "the" is no word with a meaning of its own
    for fillers in found:
        scores = [f.score for f in fillers]
        assert scores == sorted(scores, reverse=True)


def test_nouns_stay_in_their_field_of_meaning():
    from nlgauge.text.lexicon import supersense

    (found,) = lexicon().fill([gap("A dog sleeps.", "dog")], 6)
    assert {supersense(f.word, "noun") for f in found} == {"noun.animal"}


def test_a_gap_outside_every_word_stays_open():
    assert lexicon().fill([Gap("", 0, 0), Gap("a  b", 2, 2)], 3) == [[], []]


@pytest.mark.parametrize("seed", range(4))
def test_only_words_that_carry_meaning_are_masked(seed):
    made = perturb("mask_and_predict", TEXT, seed=seed, count=3)[0]
    assert len(changed(made)) == 3
    assert changed(made) <= CONTENT
    assert [old for old, _ in made.meta["words"]] == [
        w.strip(".") for w in TEXT.split() if w.strip(".") in changed(made)
    ]


@pytest.mark.parametrize(
    ("options", "number"),
    [({}, 1), ({"fraction": 0.5}, 3), ({"fraction": 1.0}, 4), ({"count": 2}, 2), ({"count": 99}, 4)],
)
def test_how_many_words_is_an_option_and_those_that_have_none_stay(options, number):
    assert len(changed(perturb("mask_and_predict", TEXT, **options)[0])) == number


def test_a_model_is_asked_once_for_all_gaps_of_a_text():
    parrot = Parrot("boats", "lamp", "two words", "", "…")
    made = perturb(MaskAndPredict(count=6, infill=parrot), TEXT)[0]
    ((gaps, k),) = parrot.calls
    assert [text[a:b] for text, a, b in gaps] == ["young", "woman", "bought", "red", "boats", "harbour"]
    assert k > 1
    # neither the word itself, nor what is empty, no word or more than one
    assert made.meta["words"] == [["woman", "lamp"], ["harbour", "lamp"]]  # singular nouns, as "lamp" is


@pytest.mark.parametrize("word", ["lastest", "kind of", "quickly"])
def test_what_is_no_word_or_another_part_of_speech_is_not_taken(word):
    assert perturb(MaskAndPredict(infill=Parrot(word)), "A boat left the harbour.").reasons == ["no prediction"]


def test_a_word_without_a_prediction_leaves_its_turn_to_another():
    made = perturb("mask_and_predict", ["The harbour and the ridge were old."] * 9, ids=list("abcdefghi"))
    assert {m.meta["words"][0][0] for m in made} == {"old"}


def test_one_of_the_best_so_many_words_is_drawn():
    one = MaskAndPredict(infill=Parrot("lamp", "box"), count=1, top=1)
    assert {perturb(one, TEXT, seed=seed)[0].meta["words"][0][1] for seed in range(9)} == {"lamp"}


def test_a_model_without_an_answer_leaves_the_text():
    assert perturb(MaskAndPredict(infill=Parrot("…")), TEXT).reasons == ["no prediction"]
    assert perturb(MaskAndPredict(infill=Parrot()), TEXT).reasons == ["no prediction"]


@pytest.mark.parametrize("text", ["It was he.", "?!", "12 + 3", "Who is it?"])
def test_without_words_that_carry_meaning_nothing_is_done(text):
    assert perturb("mask_and_predict", text).reasons == ["no content word"]


def test_capitals_and_articles_follow():
    assert perturb(MaskAndPredict(infill=Parrot("apple"), count=1), "a boat")[0].text == "an apple"
    assert perturb(MaskAndPredict(infill=Parrot("lamps")), "BOATS!")[0].text == "LAMPS!"


def test_a_model_that_is_not_there_is_told_before_any_text_is_read(monkeypatch, tmp_path):
    with pytest.raises(
        MissingExtra if find_spec("torch") is None else InputError, match=r"none' is unavailable|none does not exist"
    ):
        perturb(f"mask_and_predict:infill={quote(str(tmp_path / 'none'))}", [])
    monkeypatch.setattr(module, "find_spec", lambda package: None)
    with pytest.raises(MissingExtra, match=r"unavailable.*pip install 'nlgauge\[neural\]'"):
        check_infill("some-model")


def test_a_model_is_asked_by_its_name(tiny_masked):
    folder = str(tiny_masked("bert"))
    made = perturb(f"mask_and_predict:infill={quote(str(folder))}", "the cat sat on the mat", count=2)[0]
    asked = infill(folder, language(), random.Random(0))
    assert asked is infill(folder, language(), random.Random(1))  # read once
    assert len(made.meta["words"]) == 2
    for old, new in made.meta["words"]:
        assert old in ("cat", "sat", "mat")
        assert new in {f.word for row in asked.fill([gap("the cat sat on the mat", old)], 11) for f in row}


def test_what_fills_gaps_is_a_lexicon_or_has_fill():
    assert isinstance(Parrot(), Infill)
    assert isinstance(infill("lexicon", language(), random.Random(0)), LexiconInfill)
    parrot = Parrot()
    assert infill(parrot, language(), random.Random(0)) is parrot
    with pytest.raises(SpecError, match=r"infill is int, expected 'lexicon', a model's name or an object with fill"):
        check_infill(3)


@pytest.mark.parametrize("options", [{"count": 0}, {"fraction": 0.0}, {"fraction": 1.5}, {"top": 0}])
def test_options_out_of_range_are_refused(options):
    with pytest.raises(SpecError, match=r"expected .*1"):
        MaskAndPredict(**options)


def test_the_same_seed_draws_the_same_alone_and_in_a_batch():
    texts = [TEXT, "A dog sleeps.", TEXT]
    batch = [p.text for p in perturb("mask_and_predict", texts, seed=2)]
    assert batch == [perturb("mask_and_predict", t, seed=2)[0].text for t in texts]
    assert len({perturb("mask_and_predict", TEXT, seed=s)[0].text for s in range(5)}) > 1


@given(
    text=st.one_of(
        st.text(max_size=40),
        st.lists(st.sampled_from(["the", "boats", "Red", "is", "sold", ",", "."]), max_size=9).map(" ".join),
    )
)
def test_another_text_or_a_reason_whatever_comes(text):
    made = perturb("mask_and_predict", text, fraction=0.5)
    if made[0] is None:
        assert made.reasons[0]
    else:
        assert made[0].text != text
        assert made[0].text == apply_edits(text, made[0].edits)
        assert all(old.casefold() != new.casefold() for old, new in made[0].meta["words"])
