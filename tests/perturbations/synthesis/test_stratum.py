"""The table of what may still be edited: worked by hand, and what holds after any edits of any text."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.perturbations.synthesis.draws import OPERATIONS, Draws
from nlgauge.perturbations.synthesis.stratum import Stratum

TEN = "a b c d e f g h i j"
PHRASES = ("new", "two words", ",", "(so)", "今")
texts = st.text(alphabet=st.sampled_from('ab1 .,-"()今天\n'), max_size=40) | st.text(max_size=30)


def edited(text, seed, operations=OPERATIONS, tries=60):
    """A stratum after as many accepted edits as tries allow, with the texts before and the edits."""
    rng, draws, stratum, steps = random.Random(seed), Draws(), Stratum(text), []
    for _ in range(tries if len(stratum) else 0):
        operation = rng.choice(operations)
        start = rng.randrange(len(stratum)) if len(stratum) else 0
        span = {"insert": 0, "swap": draws.distance(rng) + 1}.get(operation, draws.length(rng))
        if not stratum.accepts(start, span):
            continue
        before = stratum.text
        if operation == "insert":
            edit = stratum.insert(start, rng.choice(PHRASES))
        elif operation == "replace":
            edit = stratum.replace(start, span, rng.choice(PHRASES))
        elif operation == "delete":
            edit = stratum.delete(start, span)
        else:
            edit = stratum.swap(start, span - 1)
        steps.append((before, edit))
    return stratum, steps


def test_before_the_first_edit_all_that_follows_is_free():
    assert Stratum(TEN).room == [10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]


def test_behind_an_insertion_the_rest_stays_free():
    stratum = Stratum(TEN)
    stratum.insert(3, "x y")  # behind c: what begins at or before c must end there, the new tokens are closed
    assert stratum.tokens == "a b c x y d e f g h i j".split()
    assert stratum.room == [3, 2, 1, 0, 0, 0, 6, 5, 4, 3, 2, 1, 0]


def test_what_is_deleted_leaves_the_table_with_its_tokens():
    stratum = Stratum(TEN)
    stratum.delete(4, 3)
    assert stratum.tokens == "a b c d h i j".split()
    assert stratum.room == [4, 3, 2, 1, 0, 2, 1, 0]


def test_a_replacement_is_closed_from_end_to_end():
    stratum = Stratum(TEN)
    stratum.replace(0, 2, "x y z")
    assert stratum.tokens == "x y z c d e f g h i j".split()
    assert stratum.room == [0, 0, 0, 0, 7, 6, 5, 4, 3, 2, 1, 0]


def test_between_two_tokens_that_changed_places_there_is_room_up_to_the_second():
    stratum = Stratum(TEN)
    stratum.swap(2, 4)  # c and g
    assert stratum.tokens == "a b g d e f c h i j".split()
    # behind d: e and f; behind e: f; behind f, g and c: nothing
    assert stratum.room == [2, 1, 0, 0, 2, 1, 0, 0, 2, 1, 0]
    #                       0  a  b  g  d  e  f  c  h  i  j


def test_a_run_is_accepted_up_to_the_next_edit_and_not_beyond():
    stratum = Stratum(TEN)
    stratum.delete(4, 1)
    assert [stratum.accepts(1, n) for n in (1, 2, 3, 4)] == [True, True, True, False]
    assert stratum.accepts(1, 0)  # an insertion needs a place, no length
    assert not stratum.accepts(4, 0)
    assert not stratum.accepts(9, 0)  # nothing follows
    assert [stratum.has_room(n) for n in (0, 3, 4, 5)] == [True, True, True, False]


@given(texts)
def test_a_text_is_its_tokens_and_blanks(text):
    stratum = Stratum(text)
    assert stratum.text == text
    assert len(stratum.room) == len(stratum) + 1 == len(stratum.blanks)


@given(texts, st.integers(0, 1000))
def test_undone_in_reverse_the_edits_give_the_input_back(text, seed):
    stratum, steps = edited(text, seed)
    now = stratum.text
    for before, edit in reversed(steps):
        assert before[: edit.start] + edit.new + before[edit.end :] == now
        assert now[edit.start : edit.start + len(edit.new)] == edit.new
        now = now[: edit.start] + before[edit.start : edit.end] + now[edit.start + len(edit.new) :]
        assert now == before
    assert now == text


@given(st.integers(0, 40), st.integers(0, 100_000), st.sampled_from([*((o,) for o in OPERATIONS), OPERATIONS]))
def test_no_token_is_edited_twice_and_the_others_stay_in_order(length, seed, operations):
    """Every token bears its own name, so that it can be seen what became of it."""
    names = [f"w{i}" for i in range(length)]
    rng, draws, stratum = random.Random(seed), Draws(), Stratum(" ".join(names))
    touched: set[str] = set()
    for step in range(40 if length else 0):
        operation, start = rng.choice(operations), rng.randrange(len(stratum)) if len(stratum) else 0
        span = {"insert": 0, "swap": draws.distance(rng) + 1}.get(operation, draws.length(rng))
        if not stratum.accepts(start, span):
            continue
        run = stratum.tokens[start : start + span]
        ends = {run[0], run[-1]} if operation == "swap" else set(run)
        assert not ends & touched  # of a swap the tokens between may hold nothing that was edited either
        assert operation != "swap" or not set(run) & touched
        new = {f"n{step}a", f"n{step}b"} if operation in ("insert", "replace") else set()
        if operation == "insert":
            stratum.insert(start, f"n{step}a n{step}b")
        elif operation == "replace":
            stratum.replace(start, span, f"n{step}a n{step}b")
        elif operation == "delete":
            stratum.delete(start, span)
        else:
            stratum.swap(start, span - 1)
        touched |= ends | new
        assert len(stratum.room) == len(stratum) + 1
    left = [t for t in stratum.tokens if t not in touched]
    assert left == [name for name in names if name not in touched]


@given(texts, st.integers(0, 1000))
def test_the_place_of_a_run_is_where_its_tokens_stand(text, seed):
    stratum, _ = edited(text, seed, tries=5)
    for start in range(len(stratum)):
        for span in range(1, min(3, len(stratum) - start) + 1):
            first, last = stratum.place(start, span)
            inside = stratum.text[first:last]
            assert inside.startswith(stratum.tokens[start])
            assert inside.endswith(stratum.tokens[start + span - 1])
        first, last = stratum.place(start, 0)
        assert first == last
        assert stratum.text[first:].startswith(stratum.tokens[start])


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_edit_says_no_more_than_it_changes(operation):
    stratum = Stratum("The old house stands there.")
    edits = {"insert": (1, "very"), "delete": (1, 1), "replace": (1, 1, "new"), "swap": (1, 1)}
    edit = getattr(stratum, operation)(*edits[operation])
    assert (
        edit
        == {"insert": (4, 4, "very "), "delete": (4, 8, ""), "replace": (4, 7, "new"), "swap": (4, 13, "house old")}[
            operation
        ]
    )
