"""What every perturbation rests on: edits that rebuild the text, draws that hang on nothing but their key."""

import random
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.perturbations.base import (
    NEEDS,
    Case,
    Edit,
    Perturbation,
    PerturbationInfo,
    apply_edits,
    as_good,
    stream,
    worse,
)
from nlgauge.text.languages import language


def test_edits_are_made_in_offsets_of_the_text_as_it_came():
    assert apply_edits("one two three", [Edit(0, 3, "1"), Edit(4, 4, "and "), Edit(8, 13, "")]) == "1 and two "
    assert apply_edits("one", []) == "one"
    assert apply_edits("", [Edit(0, 0, "new")]) == "new"


@pytest.mark.parametrize(
    "edits",
    [
        [Edit(2, 1, "")],
        [Edit(0, 9, "")],
        [Edit(-1, 1, "")],
        [Edit(0, 2, "x"), Edit(1, 3, "y")],
        [Edit(2, 3, "x"), Edit(0, 1, "y")],
    ],
)
def test_edits_that_overlap_or_reach_beyond_the_text_are_a_fault(edits):
    with pytest.raises(ValueError, match="in a text of 3 characters"):
        apply_edits("abc", edits)


@given(text=st.text(), cuts=st.lists(st.integers(0, 30), max_size=6), new=st.text(max_size=3))
def test_what_no_edit_names_stays(text, cuts, new):
    at = sorted(min(c, len(text)) for c in cuts)
    at = at[: len(at) // 2 * 2]
    edits = [Edit(a, b, new) for a, b in zip(at[::2], at[1::2], strict=True)]
    kept = [text[a:b] for a, b in zip([0, *at[1::2]], [*at[::2], len(text)], strict=True)]
    assert apply_edits(text, edits) == new.join(kept)


def draws(*key: object) -> list[int]:
    rng = stream(*key)  # type: ignore[arg-type]
    return [rng.randrange(10**9) for _ in range(3)]


def test_draws_hang_on_seed_template_and_key_and_on_nothing_else():
    random.seed(1)
    first = draws(0, "typos", "seg-1")
    random.seed(2)
    assert draws(0, "typos", "seg-1") == first
    others = [
        draws(1, "typos", "seg-1"),
        draws(0, "typo", "sseg-1"),
        draws(0, "typos", "seg-2"),
        draws(0, "typosseg-1", ""),
    ]
    assert first not in others
    assert len({tuple(d) for d in others}) == len(others)


def test_draws_are_the_same_in_another_process():
    code = "from nlgauge.perturbations.base import stream; print(stream(3, 'typos', 'é\\ud800').randrange(10**9))"
    made = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": h}, capture_output=True, text=True, check=True
        ).stdout
        for h in ("1", "2")
    }
    assert made == {f"{stream(3, 'typos', 'é' + chr(0xD800)).randrange(10**9)}\n"}


def test_a_case_has_the_text_of_its_document():
    known = language()
    assert Case(known.analyse("Some text."), known).text == "Some text."


def test_a_text_is_replaced_as_a_whole():
    known = language()
    change = Case(known.analyse("Some text."), known).replaced("Other words.", turn=2)
    assert (apply_edits("Some text.", change.edits), change.meta) == ("Other words.", {"turn": 2})


def test_any_class_with_info_and_a_call_is_a_template():
    class Mine:
        info = PerturbationInfo("mine", "do nothing", "same", ("a", "b"))

        def __call__(self, case, rng):
            raise NotImplementedError

    assert isinstance(Mine(), Perturbation)
    assert not isinstance("mine", Perturbation)
    assert set(Mine.info.needs) <= NEEDS.keys()


def test_a_perturbation_without_a_name_is_called_like_its_class():
    class DropOldWords:
        info = worse("drop old words", ("an old boat", "a boat"), needs=("english", "pool"))

    class Dropped(DropOldWords):
        pass

    class Other:
        info = as_good("change nothing", ("a", "b"))

    class Named:
        info = worse("drop old words", ("an old boat", "a boat"), name="old")

    assert DropOldWords.info == PerturbationInfo(
        "drop_old_words", "drop old words", "lower", ("an old boat", "a boat"), frozenset({"english", "pool"})
    )
    assert Dropped.info.name == "drop_old_words"  # what it is was declared there
    assert (Other.info.name, Other.info.expect, Named.info.name) == ("other", "same", "old")
