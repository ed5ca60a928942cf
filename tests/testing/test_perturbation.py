from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
import pytest

from nlgauge.core.errors import SpecError
from nlgauge.core.options import checked
from nlgauge.perturbations.perturb import Change, Edit, Inapplicable, PerturbationInfo, perturbation
from nlgauge.testing import check_perturbation
from nlgauge.testing.perturbation import fingerprint

INFO = PerturbationInfo("shout", "put a word in capitals", "same", ("say it", "say IT"), needs=frozenset())


@dataclass(frozen=True, kw_only=True)
class Shout:
    """A sound perturbation, to be broken in one place by each test."""

    mark: Literal["", "!"] = ""
    info: ClassVar = INFO

    def __post_init__(self):
        checked(self)

    def __call__(self, case, rng):
        words = [
            w
            for w in case.doc.words
            if not case.doc.between(w).isupper() and case.doc.between(w).upper() != case.doc.between(w)
        ]
        if not words:
            return Inapplicable("no word in small letters")
        word = self.pick(words, rng)
        return self.outcome(case, Edit(word.start, word.end, case.doc.between(word).upper() + self.mark))

    def pick(self, words, rng):
        return rng.choice(words)

    def outcome(self, case, edit):
        return Change([edit], {"word": edit.new})


def caught(broken, sentence, **options):
    with pytest.raises(AssertionError, match=sentence) as error:
        check_perturbation(broken, registered=False, **options)
    assert "\n" not in str(error.value)
    return str(error.value)


def variant(**changes):
    """The sound class with other methods or another `info`."""
    return dataclass(frozen=True, kw_only=True)(type("Broken", (Shout,), {"__annotations__": {}, **changes}))()


def informed(**changes):
    return variant(info=replace(INFO, **changes))


def test_a_sound_perturbation_passes():
    check_perturbation(Shout(), registered=False)
    check_perturbation(Shout(mark="!"), registered=False)  # the example is for the options by default


def test_a_registered_one_is_built_from_its_specification_and_tried_in_other_processes():
    check_perturbation(perturbation("remove_punctuation"))
    with pytest.raises(SpecError, match="unknown perturbation 'shout'"):
        check_perturbation(Shout())


def test_what_is_no_perturbation_is_told_as_such():
    class Thing:
        info = INFO

    @dataclass
    class Thawed:
        info: ClassVar = INFO

    @dataclass(frozen=True)
    class Mute:
        info: ClassVar = INFO

    @dataclass(frozen=True)
    class Nameless:
        pass

    for thing, sentence in (
        (Thing(), "Thing: .*frozen dataclass"),
        (Thawed(), "frozen dataclass"),
        (Mute(), "__call__"),
        (Nameless(), "Nameless: info is NoneType"),
    ):
        with pytest.raises(AssertionError, match=sentence):
            check_perturbation(thing, registered=False)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"needs": frozenset({"luck"})}, "info.needs names luck, expected some of english, context"),
        ({"expect": "higher"}, "info.expect is 'higher', expected lower or same"),
        ({"summary": "Puts a word in capitals."}, "info.summary is .* begins with a verb in small letters"),
        ({"example": ("one", "one")}, "info.example is not a text and what becomes of it"),
        ({"example": ("say it", "shout it")}, "never becomes 'shout it' with seeds 0 to 200, but 'SAY it', 'say IT'"),
        ({"example": ("SAY", "say")}, r"the example 'SAY' is left alone \(no word in small letters\)"),
    ],
)
def test_a_declaration_that_does_not_hold_is_caught(changes, sentence):
    assert caught(informed(**changes), sentence).startswith("shout: ")


def test_where_much_can_be_drawn_the_example_need_not_come_up():
    numbers = variant(
        __call__=lambda self, case, rng: Change([Edit(0, 0, f"{rng.randrange(10**6)} ")]),
        info=replace(INFO, example=("a", "7 a")),
    )
    check_perturbation(numbers, registered=False)


@pytest.mark.parametrize(
    ("outcome", "sentence"),
    [
        (lambda self, case, edit: None, "returns NoneType with seed 0 and text '.*', expected Change or Inapplicable"),
        (lambda self, case, edit: Change([]), "makes no edit with seed 0"),
        (lambda self, case, edit: Change([edit, edit]), "edits do not fit with seed 0"),
        (lambda self, case, edit: Change([(edit.start, edit.end, "x")]), "expected an Edit"),
        (lambda self, case, edit: Change([edit._replace(end=len(case.text) + 1)]), "edits do not fit"),
        (
            lambda self, case, edit: Change([Edit(edit.start, edit.end, case.text[edit.start : edit.end])]),
            "into what stands there",
        ),
        (
            lambda self, case, edit: (
                Change([Edit(0, 0, "x"), Edit(0, 1, "")]) if case.text[:1] == "x" else Change([edit])
            ),
            "gives back the text",
        ),
        (lambda self, case, edit: Change([edit], {"word": {edit.new}}), "meta is no plain JSON"),
        (lambda self, case, edit: Change([edit], {"share": float("nan")}), "meta is no plain JSON"),
        (lambda self, case, edit: Inapplicable("I cannot do this."), "gives the reason 'I cannot do this.'"),
        (lambda self, case, edit: Inapplicable(""), "gives the reason ''"),
        (
            lambda self, case, edit: Change([edit]) if len(case.text) > 1 else 1 / 0,
            "fails with seed 0 and text 'a' with ZeroDivisionError",
        ),
        (lambda self, case, edit: case.text.encode(), "with UnicodeEncodeError|returns bytes"),
    ],
)
def test_an_outcome_that_is_none_is_caught(outcome, sentence):
    caught(variant(outcome=outcome), sentence)


def test_numbers_of_its_own_are_caught():
    caught(variant(pick=lambda self, words, rng: random.choice(words)), "a second call changes|global random numbers")
    caught(
        variant(pick=lambda self, words, rng: words[np.random.randint(len(words))]),
        "a second call changes|global random numbers",
    )

    def drawing(self, words, rng):
        random.random()  # and nothing comes of it
        return words[0]

    caught(
        variant(pick=drawing, info=replace(INFO, example=("say it", "SAY it"))), "draws from the global random numbers"
    )


def test_a_memory_is_caught():
    seen = []

    def pick(self, words, rng):
        seen.append(len(words))
        return words[len(seen) % len(words)]

    caught(variant(pick=pick), "a second call changes what becomes of '.*': '.*', then '.*'")


def test_the_global_random_numbers_are_left_as_they_were():
    random.seed(3)
    np.random.seed(3)
    expected = random.Random(3).random()
    numpy_expected = np.random.RandomState(3).rand()
    check_perturbation(Shout(), registered=False)
    assert random.random() == expected
    assert np.random.rand() == numpy_expected


def test_an_order_of_the_texts_that_matters_is_caught():
    last = [""]

    def pick(self, words, rng):
        return words[-1] if len(last) % 2 else words[0]

    def outcome(self, case, edit):
        before, last[0] = last[0], case.text
        return Change([edit._replace(new=edit.new + ("?" if before > case.text else ""))])

    caught(variant(outcome=outcome, pick=lambda self, words, rng: words[-1]), "the order of the texts changes")


def test_one_that_takes_any_value_for_a_choice_is_caught():
    class Careless(Shout):
        def __post_init__(self):
            pass

    with pytest.raises(AssertionError, match=r"takes mark='no such value', which its type does not allow"):
        check_perturbation(Careless(), registered=False)


def test_other_values_of_options_are_held_to_the_same():
    def outcome(self, case, edit):
        return Change([edit] * (2 if self.mark else 1))

    assert caught(variant(outcome=outcome), "edits do not fit").startswith("shout:mark=!: ")
    caught(Shout(), "alternatives names volume, expected options: mark", alternatives={"volume": 3})


def test_own_texts_take_the_place_of_ours():
    failing = variant(outcome=lambda self, case, edit: Change([edit]) if "it" in case.text else None)
    check_perturbation(failing, ["say it", "say it again"], registered=False)
    caught(failing, "returns NoneType")


def test_a_fingerprint_tells_outcomes_apart():
    assert fingerprint("jumble_words") == fingerprint("jumble_words")
    assert fingerprint("jumble_words") != fingerprint("jumble_words:recase=false")
    assert len(fingerprint("remove_punctuation")) == 32
