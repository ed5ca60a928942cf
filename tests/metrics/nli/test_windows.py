import pytest
from hypothesis import given
from hypothesis import strategies as st

from nlgauge.metrics.nli.windows import _packed, premise_windows

torch = pytest.importorskip("torch")
LONG = "the cat sat. a dog lay. Rain fell today. Snow fell on the dog. Good morning."


def tokenizer(folder, limit):
    from nlgauge.models.entailment import PairTokenizer
    from nlgauge.models.locate import locate

    return PairTokenizer(locate(str(folder)), limit)


def test_sentences_are_packed_by_hand():
    # room 5: 2 + 3 fit, 4 alone, 9 alone though too long, 1 + 1 together
    assert _packed([2, 3, 4, 9, 1, 1], 5) == [(0, 2), (2, 3), (3, 4), (4, 6)]
    assert _packed([], 5) == []


@given(st.lists(st.integers(0, 12), max_size=20), st.integers(1, 15))
def test_packing_leaves_nothing_out_and_never_overfills(lengths, room):
    parts = _packed(lengths, room)
    assert [i for a, b in parts for i in range(a, b)] == list(range(len(lengths)))
    assert all(b == a + 1 or sum(lengths[a:b]) <= room for a, b in parts)


def test_a_premise_that_fits_is_one_part_and_a_long_one_several(tiny_model):
    # pieces: "the cat sat." 4, "a dog lay." 4 (they join: no capital follows), "Rain fell today." 4, "Snow fell on the
    # dog." 6, "Good morning." 3
    pairs = [("a cat", "a dog"), (LONG, "a dog"), (LONG, "the cat sat on a rug")]
    parts, contents = premise_windows(pairs, tokenizer(tiny_model("bert"), 18))  # room 15
    assert parts[0] == ["a cat"]
    assert parts[1] == ["the cat sat. a dog lay. Rain fell today.", "Snow fell on the dog. Good morning."]
    assert parts[2] == [
        "the cat sat. a dog lay.",
        "Rain fell today.",
        "Snow fell on the dog. Good morning.",
    ]  # 9 pieces left
    assert {*parts[1], *parts[2], "a cat", "a dog"} <= contents.keys()


def test_a_long_hypothesis_leaves_half_of_the_room(tiny_model):
    (parts,), _ = premise_windows([(LONG, "the cat " * 20)], tokenizer(tiny_model("bert"), 18))
    assert parts == [
        "the cat sat. a dog lay.",
        "Rain fell today.",
        "Snow fell on the dog.",
        "Good morning.",
    ]  # 7 pieces; the first will be cut


def test_a_text_without_sentences_is_one_part(tiny_model):
    (parts,), _ = premise_windows([("cat " * 40, "a dog")], tokenizer(tiny_model("bert"), 18))
    assert [part.strip() for part in parts] == [("cat " * 40).strip()]


def test_without_a_limit_nothing_is_parted(tiny_model):
    reader = tokenizer(tiny_model("t5, bytes"), None)
    reader.max_tokens = None
    assert premise_windows([(LONG, "a dog")], reader)[0] == [[LONG]]
