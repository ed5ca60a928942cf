import random
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import lib_ter

from nlgauge.core.segment import Segment
from nlgauge.metrics.lexical import shifts
from nlgauge.metrics.lexical.sacrebleu import Ter
from nlgauge.metrics.lexical.shifts import TooLong, edits_with_shifts
from nlgauge.runtime.runtime import Runtime


def theirs(hypothesis, reference):
    return lib_ter.translation_edit_rate(hypothesis, reference)[0]


@pytest.mark.parametrize(
    ("hypothesis", "reference", "edits"),
    [
        ("c d a b", "a b c d", 1),  # one block moved
        ("d b c a e", "a b c d e", 2),  # two words moved
        ("a b c", "", 3),
        ("", "a b c", 3),
        ("b a x", "a b", 2),  # a word moved, one too many
    ],
)
def test_shifts_and_edits_are_counted(hypothesis, reference, edits):
    assert edits_with_shifts(hypothesis.split(), reference.split()) == edits


def test_the_limits_are_those_of_sacrebleu():
    names = ("_MAX_SHIFT_SIZE", "_MAX_SHIFT_DIST", "_BEAM_WIDTH", "_MAX_SHIFT_CANDIDATES")
    assert [getattr(lib_ter, name) for name in names] == [shifts.LONGEST, shifts.FARTHEST, shifts.BEAM, shifts.MOST]


@st.composite
def edited(draw):
    """A text and the same after a few blocks were moved, replaced or doubled."""
    vocabulary = draw(st.sampled_from([2, 5, 40]))
    words = st.integers(0, vocabulary).map(str)
    text = draw(st.lists(words, max_size=45))
    other = list(text)
    for _ in range(draw(st.integers(0, 4))):
        start, target, length = (draw(st.integers(0, 45)), draw(st.integers(0, 45)), draw(st.integers(1, 5)))
        block = other[start : start + length]
        if draw(st.booleans()):
            del other[start : start + length]
        other[target:target] = draw(st.sampled_from([block, ["0"], []]))
    return text, other


@given(edited())
def test_edited_texts_cost_what_sacrebleu_says(pair):
    assert edits_with_shifts(*pair) == theirs(*pair)
    assert edits_with_shifts(*pair[::-1]) == theirs(*pair[::-1])


@given(edited())
def test_the_bits_of_rows_tell_the_way_of_the_table(pair):
    if not all(pair):
        return
    numbers = {}
    hyp, ref = (np.array([numbers.setdefault(word, len(numbers)) for word in one], dtype=np.int32) for one in pair)
    distances = shifts._Distances(hyp, ref)
    if distances._table is None:  # else the way may leave the band, and there are no bits
        by_bits = distances.errors()
        assert distances._forth.rows[-1][-1] == distances.total
        assert distances.errors() == by_bits


@pytest.mark.parametrize(("n", "m"), [(1, 150), (3, 160), (150, 2), (30, 45)])
def test_lengths_far_apart_cost_what_sacrebleu_says(n, m):
    # its band follows the quotient of the lengths, and is wider where that is above 50
    rng = random.Random(n)
    for vocabulary in (3, 60):
        hypothesis, reference = ([str(rng.randrange(vocabulary)) for _ in range(k)] for k in (n, m))
        assert edits_with_shifts(hypothesis, reference) == theirs(hypothesis, reference)


def test_long_texts_take_time_like_their_length():
    rng = random.Random(0)
    words = [f"w{rng.randrange(300)}" for _ in range(6000)]
    other = rng.sample(words, len(words))
    start = time.perf_counter()
    assert 2000 < edits_with_shifts(words, other) < 6000
    moved = [*words[40:46], *words[:40], *words[46:3000], *words[3020:3024], *words[3000:3020], *words[3024:]]
    assert edits_with_shifts(moved, words) == 2
    assert time.perf_counter() - start < 20  # a second; as sacrebleu counts them, many minutes and all memory


def test_a_pair_that_takes_too_long_is_undefined_and_named(monkeypatch):
    monkeypatch.setattr(shifts, "ROWS", 40)
    long, other = "a b c d e f g h " * 8, "h g f e d c b a " * 8
    with pytest.raises(TooLong):
        edits_with_shifts(long.split(), other.split())
    found = Ter().score([Segment("s1", long, (other,)), Segment("s2", "a x", ("a b",))], Runtime())
    assert np.isnan(found.values[0])
    assert found.values[1] == 50
    assert found.flags["too_long"].tolist() == [True, False]
    assert found.system == 50  # over what is left
