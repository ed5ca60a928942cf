"""CDER: by hand, and as its recursion read cell by cell."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.metrics.edits.cder import Cder, edits_with_jumps
from nlgauge.testing import check_metric, check_options

words = st.lists(st.sampled_from("abcd"), max_size=8)


@pytest.mark.parametrize(
    ("hypothesis", "reference", "edits"),
    [
        ("a b c d", "a b c d", 0),
        ("c d a b", "a b c d", 3),  # a jump to the a, one from b back to c, one from d to the end
        ("a b x y z", "a b", 1),  # a jump over what is too much
        ("a b", "a b x y", 2),  # two words are missing
        ("a x c", "a b c", 1),
        ("a", "a a a", 2),
        ("a b", "a b a b", 1),  # a word may be visited twice: one jump back
        ("", "a b", 2),
        ("x y z", "a", 2),  # one replaced, and a jump
    ],
)
def test_by_hand(one, hypothesis, reference, edits):
    assert edits_with_jumps(hypothesis.split(), reference.split()) == edits
    assert one("cder", hypothesis, reference) == pytest.approx(edits / len(reference.split()))


@given(hypothesis=words, reference=words)
def test_rows_are_those_of_the_recursion(hypothesis, reference):
    row = [0] + [1] * len(hypothesis)
    for word in reference:
        following = [row[0] + 1]
        for i, other in enumerate(hypothesis):
            following.append(min(following[i] + 1, row[i] + (word != other), row[i + 1] + 1))
        row = [min(cost, min(following) + 1) for cost in following]
    assert edits_with_jumps(hypothesis, reference) == row[-1]


def test_long_texts_take_no_time():
    words = [f"w{i}" for i in range(5000)]  # more than are held as bits
    assert edits_with_jumps(words, words) == 0
    assert edits_with_jumps(words[2500:] + words[:2500], words) == 3  # to the first, on to the second, and to the end


def test_the_contract_holds(short_segments):
    check_metric(Cder(), short_segments)
    assert check_options(Cder()) == []
